// Saves that are written again and again under one name, and what is being written now.
#include <algorithm>

#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

constexpr double kSameSize = 0.98;
constexpr Seconds kCompanionQuiet{5.0};  // it decides nothing, so a short pause is enough

std::optional<Unit> unit_of_rewrites(const LayoutInput& in) { return in.epochs ? Unit::epoch : Unit::save; }

class InPlace {
 public:
  explicit InPlace(Context& c) : c_(c) {}

  void run() {
    for (auto& s : c_.unnumbered) {
      shorter_than_companion(s);
      shrunk(s);
      count(s);
    }
  }

 private:
  /// `last` shorter than `best` beside it is being overwritten; once all is quiet it was stripped on purpose.
  void shorter_than_companion(Save& s) const {
    if (s.state != CheckpointState::complete || !fresh(c_, s, c_.quiet) || s.facts.ok_files == s.facts.weights_files) return;
    for (const auto& other : c_.unnumbered) {
      if (&other == &s || other.container != s.container || other.cls == s.cls || s.pieces.front()->parsed.ext != other.pieces.front()->parsed.ext)
        continue;
      if (other.facts.modified && s.facts.modified && *other.facts.modified < *s.facts.modified &&
          static_cast<double>(s.facts.bytes) < kSameSize * static_cast<double>(other.facts.bytes)) {
        s.state = CheckpointState::saving;
        s.why = "smaller than " + std::string(base_name(other.path())) + " and changed just now";
        return;
      }
    }
    const bool same = std::any_of(c_.unnumbered.begin(), c_.unnumbered.end(), [&](const Save& other) {
      return &other != &s && other.container == s.container && other.facts.bytes == s.facts.bytes && other.state == CheckpointState::complete;
    });
    if (same) s.why = "as large as the one beside it";
  }

  [[nodiscard]] const LayoutMemory::Seen* remembered(const Save& s) const {
    for (const auto* p : s.pieces)
      for (auto i : p->entries)
        if (const auto it = c_.memory.files.find(c_.listing.entries[i].path); it != c_.memory.files.end()) return &it->second;
    return nullptr;
  }

  /// Opened for writing again: the size falls below what it was.
  void shrunk(Save& s) const {
    if (s.state != CheckpointState::complete || s.facts.ok_files == s.facts.weights_files) return;
    for (const auto* p : s.pieces)
      for (auto i : p->entries) {
        const auto& e = c_.listing.entries[i];
        const auto it = c_.memory.files.find(e.path);
        if (it == c_.memory.files.end() || !it->second.bytes || !e.bytes) continue;
        if (static_cast<double>(*e.bytes) < kSameSize * static_cast<double>(*it->second.bytes) && fresh(c_, s, c_.quiet)) {
          s.state = CheckpointState::saving;
          s.why = "smaller than at the last look";
        }
      }
  }

  void count(Save& s) {
    auto& rewrites = c_.memory.rewrites;
    const std::string key(s.path());
    const auto known = rewrites.find(key);
    const auto written = s.facts.modified;
    const bool own = c_.in.run_start && written && *written >= *c_.in.run_start;
    if (c_.in.run_start && written) s.run = own ? CheckpointRun::this_run : CheckpointRun::earlier;
    s.unit = unit_of_rewrites(c_.in);
    const bool first_look = !c_.memory.seen_at.has_value();
    const auto* before = remembered(s);
    if (known == rewrites.end()) {
      // Its count is known from the start only when no rewrite can have been missed.
      const bool untouched = c_.in.run_start && !own;
      const bool appeared = !first_look && !before;
      if (untouched) {
        rewrites.emplace(key, 0);
      } else if (appeared && s.state == CheckpointState::complete) {
        rewrites.emplace(key, 1);
      } else if (appeared) {
        rewrites.emplace(key, 0);
        pending(key, written);
      }
    } else if (s.state == CheckpointState::complete) {
      const auto pend = c_.memory.growing_since.find(key);
      const bool was_unfinished = pend != c_.memory.growing_since.end();
      const bool moved = before && before->mtime != written && written;
      if ((was_unfinished || moved) && (own || !c_.in.run_start)) ++known->second;
      if (was_unfinished) c_.memory.growing_since.erase(pend);
    } else {
      pending(key, written);
    }
    if (const auto it = rewrites.find(key); it != rewrites.end()) s.done = it->second;
    constexpr std::size_t kMost = 64;
    if (rewrites.size() > kMost) rewrites.erase(rewrites.begin());
  }

  void pending(const std::string& key, std::optional<HostTime> written) {
    constexpr std::size_t kMost = 64;
    if (c_.memory.growing_since.size() < kMost) c_.memory.growing_since.emplace(key, c_.in.now.value_or(written.value_or(host_time(0))));
  }

  Context& c_;
};

}  // namespace

void judge_in_place(Context& context) { InPlace(context).run(); }

std::vector<SaveInProgress> in_progress(const Context& c) {
  std::vector<SaveInProgress> out;
  for (const auto& t : c.collected.temps) {
    SaveInProgress p;
    p.path = std::string(t.path);
    std::int64_t bytes = 0, expected = 0;
    bool known = !t.entries.empty(), grew = false;
    for (auto i : t.entries) {
      const auto& e = c.listing.entries[i];
      known = known && e.bytes.has_value();
      bytes += e.bytes.value_or(0);
      expected += e.expected_bytes.value_or(e.bytes.value_or(0));
      if (e.mtime && (!p.modified || *e.mtime > *p.modified)) p.modified = e.mtime;
      grew = grew || c.grew[i];
    }
    if (!p.modified) p.modified = t.mtime;
    if (known) p.bytes = bytes;
    if (expected > bytes) p.expected_bytes = expected;
    const auto age = age_of(c, p.modified);
    p.leftover = !grew && (c.in.alive == false || (age && *age >= c.quiet));
    p.why = p.leftover ? "a temporary name that nothing has written to for long" : "a temporary name";
    out.push_back(std::move(p));
  }
  const auto add = [&](const Save& s) {
    if (s.state != CheckpointState::saving) return;
    SaveInProgress p;
    p.path = std::string(s.path());
    if (s.facts.bytes_known) p.bytes = s.facts.bytes;
    // Headers know only of the files that are there already; the save before it knows of all.
    if (const auto expected = std::max(s.facts.expected_bytes, s.measure_bytes.value_or(0)); expected > s.facts.bytes) p.expected_bytes = expected;
    p.modified = s.facts.modified;
    p.why = s.why;
    out.push_back(std::move(p));
  };
  for (const auto& s : c.saves) add(s);
  for (const auto& s : c.unnumbered) add(s);
  for (const auto& s : c.saves)
    for (const auto* companion : s.companions)
      for (auto i : companion->entries) {
        const auto& e = c.listing.entries[i];
        const auto age = age_of(c, e.mtime);
        if (c.grew[i] || e.integrity == Integrity::truncated ||
            (age && *age < kCompanionQuiet && c.in.alive != false && e.integrity != Integrity::ok)) {
          out.push_back({std::string(companion->path), e.bytes, std::nullopt, e.mtime,
                         "a companion of " + std::string(base_name(s.path())) + " that changed just now", false});
          break;
        }
      }
  return out;
}

}  // namespace trainvigil::layouts
