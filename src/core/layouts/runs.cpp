// Which saves are this run's, and which an earlier run left that this one does not build on.
#include <algorithm>

#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

constexpr Seconds kMinute{60.0};  // reference: leftovers are older than a lower counter by more than a minute
constexpr Seconds kOneSecond{1.0};

/// Copies (cp, rsync, object stores) give a whole family one time: then only counters order it.
bool times_tell(const Context& c, const Family& family) {
  std::optional<HostTime> lo, hi;
  for (auto i : family.saves) {
    const auto t = written_at(c.saves[i]);
    if (!t) continue;
    if (!lo || *t < *lo) lo = t;
    if (!hi || *t > *hi) hi = t;
  }
  return lo && hi && *hi - *lo > kOneSecond;
}

void mark_stale(Save& s, std::string why) {
  s.state = CheckpointState::stale;
  s.run = CheckpointRun::earlier;
  s.why = std::move(why);
}

bool complete(const Save& s) { return s.state == CheckpointState::complete; }

class FamilyRuns {
 public:
  FamilyRuns(Context& c, Family& family, bool main) : c_(c), family_(family), main_(main) {}

  void run() {
    label();
    if (!times_tell(c_, family_)) return;
    superseded();
    overtaken();
    if (c_.in.run_start) from_before();
  }

 private:
  Save& at(std::size_t i) { return c_.saves[family_.saves[i]]; }

  void label() {
    for (auto i : family_.saves) {
      auto& s = c_.saves[i];
      const auto t = written_at(s);
      if (c_.in.run_start && t) s.run = *t >= *c_.in.run_start ? CheckpointRun::this_run : CheckpointRun::earlier;
    }
  }

  /// "-v1": of saves with the same counters the latest is the live one.
  void superseded() {
    for (std::size_t i = 0; i + 1 < family_.saves.size(); ++i) {
      auto& s = at(i);
      auto& next = at(i + 1);
      if (!counter_equal(s, next) || s.cls != next.cls) continue;
      const auto a = written_at(s), b = written_at(next);
      if (complete(s) && complete(next) && a && b && *b - *a > kMinute)
        mark_stale(s, "the same counter was written again later as " + std::string(base_name(next.path())));
    }
  }

  /// In one run times rise with the counter: a save older than a whole one with a lower counter is of an earlier run.
  void overtaken() {
    const Save* latest = nullptr;
    for (std::size_t i = 0; i < family_.saves.size(); ++i) {
      auto& s = at(i);
      const auto t = written_at(s);
      if (!t) continue;
      const bool older = latest && *written_at(*latest) - *t > kMinute;
      if (older && !being_written(s)) {
        mark_stale(s, "older than " + std::string(base_name(latest->path())) + ", whose counter is not above it");
      } else if (complete(s) && (!latest || *t > *written_at(*latest))) {
        latest = &s;
      }
    }
  }

  static bool being_written(const Save& s) { return s.state == CheckpointState::saving; }

  /// Saves from before the run's start count only while the run has saved nothing, or when its first save lies above them.
  void from_before() {
    const Save* first = nullptr;
    for (std::size_t i = 0; i < family_.saves.size() && !first; ++i)
      if (at(i).run == CheckpointRun::this_run && complete(at(i))) first = &at(i);
    if (!first) return;
    for (auto i : family_.saves) {
      auto& s = c_.saves[i];
      if (s.run != CheckpointRun::earlier || s.state == CheckpointState::stale) continue;
      const bool below_all = counter_less(s, *first) && !counter_equal(s, *first);
      const bool below_first_seen = !main_ || !c_.memory.first_own || !s.value || *s.value < *c_.memory.first_own;
      if (!below_all || !below_first_seen) mark_stale(s, "of an earlier run, and this run's first save is not above it");
    }
  }

  Context& c_;
  Family& family_;
  bool main_;
};

}  // namespace

Index main_family(const Context& c) {
  Index best = kNone;
  const auto rank = [&](const Family& f) {
    std::optional<HostTime> newest;
    for (auto i : f.saves)
      if (const auto t = written_at(c.saves[i]); t && (!newest || *t > *newest)) newest = t;
    const bool wanted = (c.in.epochs && f.unit == Unit::epoch) || (c.in.steps && f.unit == Unit::step);
    return std::tuple(wanted, newest, f.saves.size());
  };
  for (Index i = 0; i < c.families.size(); ++i)
    if (best == kNone || rank(c.families[best]) < rank(c.families[i])) best = i;
  return best;
}

void judge_runs(Context& c) {
  const Index main = main_family(c);
  if (main != kNone)  // what was seen before rotation took it away still tells where this run began
    for (auto i : c.families[main].saves) {
      const auto& s = c.saves[i];
      const auto t = written_at(s);
      if (!complete(s) || !s.value || !c.in.run_start || !t || *t < *c.in.run_start) continue;
      if (!c.memory.first_own || *s.value < *c.memory.first_own) c.memory.first_own = s.value;
      if (!c.memory.highest_own || *s.value > *c.memory.highest_own) c.memory.highest_own = s.value;
    }
  for (Index i = 0; i < c.families.size(); ++i) FamilyRuns(c, c.families[i], i == main).run();
}

}  // namespace trainvigil::layouts
