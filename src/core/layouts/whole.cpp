// Is a save whole? Several independent mechanisms, the strongest objection first (docs/checkpoints.md).
#include <algorithm>
#include <array>
#include <bit>

#include "core/layouts/frameworks.hpp"
#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

constexpr Seconds kPointerSlack{2.0};  // pointer files are written right behind the data; times have whole seconds on some file systems
constexpr Seconds kRewriteSlack{5.0};  // a certificate is never older than the data by more than this, unless the data are being rewritten
constexpr double kSameSize = 0.98;     // reference: no large file under 98 % of its counterpart
constexpr double kImplausible = 0.10;
constexpr std::int64_t kHeavy = 100'000;
constexpr double kHole = 0.05;    // of a save's bytes: graphs and states of random generators are less, a model or an optimizer is more
constexpr double kAlike = 1.001;  // saves of one model differ by a few hundred bytes of pickled names

std::string name_of(const Save& s) { return std::string(base_name(s.path())); }

/// Rows of certificates() that speak for one directory only.
std::uint64_t directory_certificates() {
  static const auto bits = [] {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < certificates().size(); ++i) out |= certificates()[i].every_directory ? 1ULL << i : 0;
    return out;
  }();
  return bits;
}

/// Logs of the state, tokenizers, tables: they grow and come and go, and no resume depends on them.
bool is_text(std::string_view name) {
  static constexpr std::array<std::string_view, 9> endings{".json", ".jsonl", ".txt", ".csv", ".yaml", ".yml", ".model", ".md", ".log"};
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

enum class PointerSays { nothing, whole, not_yet };

/// Compares a save with the pointers in its directory.
class PointerRule {
 public:
  explicit PointerRule(const Context& c) : c_(c) {
    for (const auto& s : c.saves) {
      if (!c.pointers.contains(s.container)) continue;
      for (const auto* p : s.pieces) {
        by_name_.emplace(std::pair(s.container, p->name), &s);
        by_name_.emplace(std::pair(s.container, p->parsed.stem), &s);
      }
    }
  }

  [[nodiscard]] bool any(const Save& s) const { return c_.pointers.contains(s.container); }

  [[nodiscard]] PointerSays ask(const Save& s) const {
    const auto here = c_.pointers.find(s.container);
    if (here == c_.pointers.end()) return PointerSays::nothing;
    auto says = PointerSays::nothing;
    for (const auto& p : here->second) {
      const auto one = ask(s, p);
      if (one == PointerSays::not_yet) return one;
      if (one == PointerSays::whole) says = one;
    }
    return says;
  }

 private:
  [[nodiscard]] PointerSays ask(const Save& s, const PointerFact& p) const {
    const auto written = s.facts.weights_modified ? s.facts.weights_modified : s.facts.modified;
    const bool timed = p.mtime && written;
    const bool before_pointer = !timed || *written <= *p.mtime + kPointerSlack;
    const bool after_pointer = !timed || *written > *p.mtime + kPointerSlack;
    if (p.everything) return before_pointer ? PointerSays::whole : PointerSays::nothing;
    const auto above = compare(s, p.text);
    if (!above) {
      if (!timed) return PointerSays::nothing;
      return before_pointer ? PointerSays::whole : PointerSays::nothing;
    }
    if (!*above) return before_pointer ? PointerSays::whole : PointerSays::nothing;
    return p.after_every_save && after_pointer ? PointerSays::not_yet : PointerSays::nothing;
  }

  /// True: the save's counter is above what the pointer names. Absent: can not be told.
  [[nodiscard]] std::optional<bool> compare(const Save& s, std::string_view text) const {
    if (text.empty()) return std::nullopt;
    if (const auto it = by_name_.find(std::pair(s.container, text)); it != by_name_.end()) {
      const auto& named = *it->second;
      if (named.family != s.family) return std::nullopt;
      return !counter_equal(named, s) && counter_less(named, s);
    }
    const auto parsed = parse_name(text);
    const auto own = s.epoch && s.step ? s.step : s.step ? s.step : s.epoch ? s.epoch : s.other ? s.other : s.bare;
    if (!own || parsed.count == 0) return std::nullopt;
    const auto* counter = s.step ? parsed.find(Key::step) : s.epoch ? parsed.find(Key::epoch) : parsed.find(Key::bare);
    if (!counter) counter = &parsed.counters[parsed.count - 1];
    return *own > counter->value;
  }

  const Context& c_;
  std::map<std::pair<Index, std::string_view>, const Save*> by_name_;
};

/// What a save lacks that another one has.
struct Comparison {
  std::string lacks;     ///< explanation; empty: nothing
  bool missing = false;  ///< whole files are not there
  bool shard = false;    ///< fewer of a set of shards
  bool implausible = false;
  bool hole = false;         ///< a large file of weights is not there, and nothing makes up for its bytes
  double missing_share = 0;  ///< of the other's bytes
  bool equal = false;        ///< same shape and not one byte less
  bool larger = false;       ///< clearly more bytes: it may grow still, or its kind grows
};

Comparison compare_shape(const Save& mine, const Save& other) {
  Comparison out;
  const auto& a = mine.facts.shape;
  const auto& b = other.facts.shape;
  std::int64_t missing = 0, total = 0, own = 0;
  bool missing_weights = false;
  for (const auto& item : a) own += item.bytes;
  out.equal = true;
  auto it = a.begin();
  for (const auto& item : b) {
    total += item.bytes;
    while (it != a.end() && it->key < item.key) ++it;
    const bool there = it != a.end() && it->key == item.key;
    if (!there) {
      if (!item.weights && (item.bytes < kHeavy || is_text(item.example))) continue;
      missing += item.bytes;
      out.missing = true;
      missing_weights = missing_weights || (item.weights && item.bytes >= kHeavy);
      out.equal = false;
      if (out.lacks.empty() || item.bytes >= kHeavy)
        out.lacks = other.pieces.front()->directory == kNone ? "nothing beside it like " + std::string(item.example)
                                                             : "no " + std::string(item.example) + ", which " + name_of(other) + " has";
      continue;
    }
    if (it->bytes < item.bytes) out.equal = false;
    if (it->count < item.count) {
      out.equal = false;
      // The same data in fewer, larger shards: the world was resized.
      if (static_cast<double>(it->bytes) < 0.995 * static_cast<double>(item.bytes)) {
        out.shard = true;
        missing += item.bytes - it->bytes;
        out.lacks = std::to_string(it->count) + " of " + std::to_string(item.count) + " files like " + std::string(item.example);
      }
    } else if (item.bytes >= kHeavy && static_cast<double>(it->bytes) < kSameSize * static_cast<double>(item.bytes)) {
      out.lacks = std::string(it->example) + " is smaller than in " + name_of(other);
      if (item.weights && static_cast<double>(it->bytes) < kImplausible * static_cast<double>(item.bytes)) out.implausible = true;
    }
  }
  // Saved anew in other files (one file instead of shards), it is as large as before.
  const bool made_up = static_cast<double>(own) >= kSameSize * static_cast<double>(total);
  out.missing_share = total > 0 && !made_up ? static_cast<double>(missing) / static_cast<double>(total) : 0;
  out.hole = missing_weights && out.missing_share >= kHole;
  out.larger = static_cast<double>(own) > kAlike * static_cast<double>(total) && own > total + kHeavy / 25;
  if (!out.lacks.empty()) out.equal = false;
  return out;
}

class Judge {
 public:
  explicit Judge(Context& c) : c_(c), pointer_(c) {}

  void run() {
    for (const auto& family : c_.families) {
      std::vector<Save*> order;
      for (auto i : family.saves) order.push_back(&c_.saves[i]);
      judge_together(std::move(order));
    }
    for (const auto& group : c_.dated) {
      std::vector<Save*> order;
      for (auto i : group) order.push_back(&c_.unnumbered[i]);
      judge_together(std::move(order));
    }
    for (auto& s : c_.unnumbered)
      if (!s.timestamp) judge(s, nullptr, 0, false);
  }

 private:
  struct Opinion {
    std::string objection;   ///< a fact that says "not whole"
    std::string support;     ///< a fact that says "whole"
    bool by_size = false;    ///< of the support: it says that the sizes are those of the save before it, and nothing of the bytes
    bool larger = false;     ///< clearly larger than the save before it
    bool each_only = false;  ///< of the support: it says that each file is whole, not that all are there
    std::string doubt;       ///< something that should be there and is not; time decides
    bool strict = false;     ///< of the doubt: time does not decide
    bool shard = false, implausible = false;
  };

  [[nodiscard]] Opinion opinion_of(const Save& s, const Save* measure, std::uint64_t certificates_before) const {
    const auto& f = s.facts;
    Opinion o;
    const auto object = [&](std::string why) {
      if (o.objection.empty()) o.objection = std::move(why);
    };
    for (const auto* p : s.pieces)
      if (c_.collected.markers.contains({s.container, p->name}) || c_.collected.markers.contains({s.container, p->parsed.stem}))
        object("a marker says that it is not finished");
    if (f.files == 0) object(unseen(s) ? "nothing of it could be listed" : "empty directory");
    if (f.files > 0 && f.certificates != 0 && f.weights_files == 0 && f.shape.empty()) object("no weights in it");
    if (!f.truncated.empty()) object(std::string(f.truncated) + " is cut short");
    if (!f.empty_weights.empty()) object(std::string(f.empty_weights) + " is empty");
    if (!f.missing_shard.empty()) {
      object(f.missing_shard);
      o.shard = true;
    }
    if (!f.temp_inside.empty() && f.certificates == 0) object("holds the unfinished " + std::string(base_name(f.temp_inside)));
    if (!f.uncertified_directory.empty()) object("no .metadata in " + std::string(f.uncertified_directory));
    if (f.data_without_index) object("data without the index that is written last");
    if (f.index_without_data) object("index without data");
    if (!f.empty_certificate.empty()) object(std::string(f.empty_certificate) + " is empty");
    if (f.certificate_modified && f.heavy_modified && *f.heavy_modified > *f.certificate_modified + kRewriteSlack)
      object("its data are newer than the file that is written last");

    const auto rows = certificates();
    // Where saves before it have a file that certifies all of them, one that certifies a directory is not enough.
    const auto lacking = certificates_before & ~f.certificates;
    const bool only_a_part = lacking != 0 && (f.certificates & ~directory_certificates()) == 0;
    if (f.certificates != 0 && !only_a_part) {
      o.support = std::string(rows[static_cast<std::size_t>(std::countr_zero(f.certificates))].name) + ", written last, is there";
    } else if (lacking != 0) {
      object("no " + std::string(rows[static_cast<std::size_t>(std::countr_zero(lacking))].name) + ", which is written last");
    }
    switch (pointer_.ask(s)) {
      case PointerSays::whole:
        if (o.support.empty()) o.support = "the pointer file is at or past it";
        break;
      case PointerSays::not_yet:
        if (o.support.empty()) object("its counter is above the pointer file");
        break;
      case PointerSays::nothing:
        break;
    }
    const bool format_whole = f.weights_files > 0 && f.ok_files == f.weights_files;
    if (measure) compare(s, *measure, format_whole, o);
    if (o.support.empty() && s.linked) o.support = "a link names it";

    const auto signs = signatures();
    for (std::size_t i = 0; i < signs.size() && o.doubt.empty(); ++i) {
      if (!(f.signatures & (1ULL << i))) continue;
      if (signs[i].needs == "pointer") {
        if (!pointer_.any(s)) o.doubt = "no pointer file says that it is finished";
      } else {
        o.doubt = "no " + std::string(signs[i].needs.substr(0, signs[i].needs.find('|')));
        o.strict = signs[i].strict;
      }
    }
    if (o.support.empty() && format_whole && o.doubt.empty()) {
      // Of a file that has a sibling it is known whether more belongs to a save.
      o.each_only = s.pieces.front()->directory != kNone || (!measure && s.family != kNone);
      o.support = f.weights_files == 1 ? "its format is whole" : "the formats of all its files are whole";
    }
    if (f.tiny_model) {
      object("the model's weights are far smaller than the optimizer's states");
      o.implausible = true;
    }
    return o;
  }

  /// By time: what was written first is the measure of what was written later.
  void judge_together(std::vector<Save*> order) {
    std::stable_sort(order.begin(), order.end(), [](const Save* a, const Save* b) { return written_at(*a) < written_at(*b); });
    const Save* measure = nullptr;
    std::uint64_t certificates_before = 0;
    for (auto* s : order) {
      judge(*s, measure, certificates_before, order.size() > 1 && s != order.back());
      if (s->state == CheckpointState::complete) {
        measure = s;
        certificates_before |= s->facts.certificates;
      }
    }
    find_deleted(order);
  }

  void compare(const Save& s, const Save& measure, bool format_whole, Opinion& o) const {
    const auto cmp = compare_shape(s, measure);
    const bool other_run =
        c_.in.run_start && written_at(measure) && written_at(s) && *written_at(measure) < *c_.in.run_start && *written_at(s) >= *c_.in.run_start;
    const bool certified = !o.support.empty();
    if (cmp.equal) {
      if (o.support.empty()) {
        o.support = (cmp.larger ? "no file is smaller than in " : "same files and sizes as ") + name_of(measure);
        o.by_size = !format_whole;
        o.larger = cmp.larger;
      }
      return;
    }
    if (cmp.lacks.empty() || other_run) return;
    // What certifies itself may be smaller (a last save of weights alone), but a file of weights that all others have is missed at the next start.
    if (certified && !cmp.implausible && !cmp.hole && cmp.missing_share < 0.5) return;
    if (format_whole && !cmp.missing && !cmp.shard && !cmp.implausible) return;
    if (certified && s.facts.certificates != 0 && !cmp.implausible && !cmp.hole) return;
    if (o.objection.empty()) o.objection = cmp.lacks;
    o.shard |= cmp.shard;
    o.implausible |= cmp.implausible;
  }

  void judge(Save& s, const Save* measure, std::uint64_t certificates_before, bool newer_exists) {
    auto o = opinion_of(s, measure, certificates_before);
    if (measure && measure->facts.bytes_known) s.measure_bytes = measure->facts.bytes;
    if (!s.facts.bad.empty()) {
      s.state = CheckpointState::corrupt;
      s.why = std::string(s.facts.bad) + " is not of its format";
      return;
    }
    if (!o.objection.empty()) {
      const bool writing = fresh(c_, s, c_.quiet);
      s.state = writing ? CheckpointState::saving : CheckpointState::partial;
      s.why = o.objection;
      s.unproven = unseen(s);
      s.missing_shard = o.shard && !writing;
      s.implausible_size = o.implausible && !writing;
      return;
    }
    if (!o.doubt.empty() && o.support.empty()) {
      if (fresh(c_, s, c_.quiet)) {
        s.state = CheckpointState::saving;
        s.why = o.doubt;
        return;
      }
      const bool formats = s.facts.weights_files > 0 && s.facts.ok_files == s.facts.weights_files;
      if (o.strict || !(formats || newer_exists || o.doubt.find("pointer") == std::string::npos)) {
        s.state = CheckpointState::partial;
        s.why = o.doubt;
        return;
      }
      s.why = formats ? "the formats of all its files are whole" : "nothing in it has changed for long";
      return;
    }
    if (o.each_only && fresh(c_, s, s.pieces.front()->directory != kNone ? c_.quiet : kQuietAlone)) {
      s.state = CheckpointState::saving;
      s.unproven = true;
      s.why = "what is there is whole, but it changed just now and nothing says that no more files follow";
      return;
    }
    // Some kinds of file grow from save to save: then the size of the one before says little while the file moves.
    if (o.by_size && (growing(c_, s) || (o.larger && fresh(c_, s, kQuietSupported)))) {
      s.state = CheckpointState::saving;
      s.unproven = true;
      s.why = "as large as the save before it, and it still changes";
      return;
    }
    if (!o.support.empty()) {
      s.certified = true;
      s.why = o.support;
      return;
    }
    if (fresh(c_, s, files_only(s) && log_went_on(s) ? kQuietSupported : c_.quiet)) {
      s.state = CheckpointState::saving;
      s.unproven = true;
      s.why = "changed just now, and nothing says that it is finished";
      return;
    }
    s.why = "nothing in it has changed for long";
  }

  /// A directory of which the listing, which says that it is not whole, holds nothing: it may be unreadable as well as empty.
  [[nodiscard]] bool unseen(const Save& s) const { return c_.listing.cut && s.facts.files == 0; }

  static bool files_only(const Save& s) { return s.facts.files == s.pieces.size(); }

  /// Most loops save and train in turn: a line logged well after the last byte of the save says that they are past it.
  [[nodiscard]] bool log_went_on(const Save& s) const {
    return s.facts.modified && c_.log_modified && *c_.log_modified - *s.facts.modified >= kQuietSupported;
  }

  /// Rotation takes files away from old saves: they lack what every newer one has, and what is left of them is whole.
  void find_deleted(std::vector<Save*>& order) const {
    const Save* newer = nullptr;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      auto& s = **it;
      if (newer && s.state != CheckpointState::corrupt && s.state != CheckpointState::saving && s.facts.truncated.empty() &&
          s.facts.empty_weights.empty()) {
        const auto cmp = compare_shape(s, *newer);
        if ((cmp.missing || cmp.shard) && cmp.missing_share >= 0.01) {
          s.state = CheckpointState::partial;
          s.being_deleted = true;
          s.why = "being deleted or what rotation left: " + cmp.lacks;
          s.missing_shard = false;
          continue;
        }
      }
      if (s.state == CheckpointState::complete && (!newer || s.certified)) newer = &s;
    }
  }

  Context& c_;
  PointerRule pointer_;
};

}  // namespace

void judge_completeness(Context& context) { Judge(context).run(); }

}  // namespace trainvigil::layouts
