// What the counters count, and how many units are finished: the label in the name, else the table of facts, else the numbers themselves.
#include <algorithm>
#include <set>

#include "core/layouts/frameworks.hpp"
#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

struct Meaning {
  std::optional<Unit> unit;
  std::int64_t base = 0;
  bool known = false;
};

class FamilyUnits {
 public:
  FamilyUnits(const Context& c, Family& family) : c_(c), family_(family) {
    for (auto i : family.saves) inside_ |= c.saves[i].facts.inside;
  }

  void run() {
    if (family_.has_epoch && family_.has_step) return epoch_and_step();
    if (family_.has_epoch) return single(&Save::epoch, Key::epoch, {Unit::epoch, 0, false});
    if (family_.has_step) return single(&Save::step, Key::step, {Unit::step, 0, false});
    if (family_.has_other) return single(&Save::other, Key::other, {std::nullopt, 0, true});
    single(&Save::bare, Key::bare, {});
  }

 private:
  [[nodiscard]] const Save& at(std::size_t i) const { return c_.saves[family_.saves[i]]; }

  static const Counter* counter_of(const Name& n, std::int64_t value) {
    for (std::size_t i = 0; i < n.count; ++i)
      if (n.counters[i].value == value) return &n.counters[i];
    return nullptr;
  }

  [[nodiscard]] bool beside(const Save& s, std::string_view glob) const {
    const auto it = c_.beside.find(s.container);
    if (it == c_.beside.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](std::string_view name) { return glob_match(glob, name); });
  }

  [[nodiscard]] bool row_matches_piece(const UnitRow& row, const Save& s, const Piece& piece, std::int64_t value) const {
    if (row.type != Type::any && (row.type == Type::directory) != (piece.directory != kNone)) return false;
    const bool bundle = row.ext == ".index" && piece.parsed.ext.starts_with(".data-");  // its index is written last
    if (!row.ext.empty() && piece.parsed.ext != row.ext && !bundle) return false;
    if (row.below != 0 && value >= row.below) return false;
    const auto* counter = counter_of(piece.parsed, value);
    if (!counter) return false;
    const auto before = piece.name.substr(0, counter->begin);
    const auto after = piece.parsed.stem.size() > counter->end ? piece.parsed.stem.substr(counter->end) : std::string_view{};
    const auto digits = piece.name.substr(counter->begin, static_cast<std::size_t>(counter->end - counter->begin));
    if (row.prefix == "^") {
      if (!before.empty()) return false;
    } else if (!row.prefix.empty() && (row.prefix_whole ? before != row.prefix : !before.ends_with(row.prefix))) {
      return false;
    }
    if (!row.suffix.empty() && !after.starts_with(row.suffix)) return false;
    if (row.width != 0 && static_cast<int>(digits.size()) != row.width) return false;
    if (row.padded && !(digits.size() > 1 && digits[0] == '0')) return false;
    if (!row.parent.empty() && c_.collected.directories[s.container].name != row.parent) return false;
    return row.beside.empty() || beside(s, row.beside);
  }

  /// A row holds for a family when the names of all its members fit and one of them shows what it wants to see.
  [[nodiscard]] bool row_matches(std::size_t r, std::optional<std::int64_t> Save::*counter) const {
    const auto& row = unit_rows()[r];
    if (!row.inside.empty() && !(inside_ & inside_bit(r))) return false;
    bool any = false;
    for (auto i : family_.saves) {
      const auto& s = c_.saves[i];
      const auto value = s.*counter;
      if (!value) continue;
      const bool fits = std::any_of(s.pieces.begin(), s.pieces.end(), [&](const Piece* p) { return row_matches_piece(row, s, *p, *value); });
      // Widths grow and values pass limits; what a name is made of does not change.
      if (!fits && row.padded) continue;
      if (!fits) return false;
      any = true;
    }
    return any;
  }

  Meaning meaning(std::optional<std::int64_t> Save::*counter, Key key, Meaning otherwise) const {
    const auto rows = unit_rows();
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r].key == key && row_matches(r, counter)) return {rows[r].unit, rows[r].base, true};
    return otherwise;
  }

  std::vector<std::int64_t> values(std::optional<std::int64_t> Save::*counter) const {
    std::vector<std::int64_t> all;
    all.reserve(family_.saves.size());
    for (auto i : family_.saves)
      if (const auto v = c_.saves[i].*counter) all.push_back(*v);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  /// 4999, 9999: the index of the last finished one.
  static bool index_of_last(const std::vector<std::int64_t>& v) {
    return v.size() >= 2 && v.back() >= 99 && std::all_of(v.begin(), v.end(), [](std::int64_t x) { return x % 10 == 9; });
  }

  Meaning guess(const std::vector<std::int64_t>& v, Key key, Meaning m) const {
    if (m.known) return m;
    if (key == Key::epoch) {
      m.base = !v.empty() && v.front() == 0 ? 1 : 0;
      return m;
    }
    if (key == Key::bare) {
      // The last save of a run may lie off the grid.
      const auto grid_end = v.size() >= 3 ? v.end() - 1 : v.end();
      const bool tens =
          v.size() >= 2 && std::adjacent_find(v.begin(), grid_end, [](std::int64_t a, std::int64_t b) { return (b - a) % 10 != 0; }) == grid_end;
      const bool large = !v.empty() && (v.back() > 1000 || (v.size() == 1 && v.back() >= 100 && v.back() % 10 == 0));
      if (tens || large || c_.in.steps) m.unit = Unit::step;
      if (!m.unit && c_.in.epochs) m.unit = Unit::epoch;
      const bool consecutive =
          v.size() >= 2 && std::adjacent_find(v.begin(), v.end(), [](std::int64_t a, std::int64_t b) { return b - a != 1; }) == v.end();
      if (m.unit != Unit::step && !v.empty() && v.front() == 0 && (consecutive || v.size() == 1 || m.unit)) m.base = 1;
    }
    if (key == Key::bare && m.unit == Unit::step && index_of_last(v)) m.base = 1;
    return m;
  }

  void single(std::optional<std::int64_t> Save::*counter, Key key, Meaning otherwise) {
    const auto m = guess(values(counter), key, meaning(counter, key, otherwise));
    family_.unit = m.unit;
    for (auto i : family_.saves) {
      auto& s = c_.saves[i];
      s.value = s.*counter;
      s.unit = m.unit;
      if (s.value) s.done = *s.value + (s.half_epoch ? 0 : m.base);
    }
  }

  void epoch_and_step() {
    const auto first = guess(values(&Save::epoch), Key::epoch, meaning(&Save::epoch, Key::epoch, {Unit::epoch, 0, false}));
    const auto steps = guess(values(&Save::step), Key::step, meaning(&Save::step, Key::step, {Unit::step, 0, false}));
    const bool by_epoch = c_.in.epochs.has_value();
    family_.unit = by_epoch ? Unit::epoch : Unit::step;
    // Steps that fall as the epoch grows are counted within the epoch.
    bool within = false;
    for (std::size_t i = 1; i < family_.saves.size(); ++i) within |= at(i).epoch > at(i - 1).epoch && at(i).step < at(i - 1).step;
    std::set<std::int64_t> seen, shared;
    for (auto i : family_.saves)
      if (c_.saves[i].epoch && c_.saves[i].version == std::nullopt && c_.saves[i].cls != NameClass::latest && !seen.insert(*c_.saves[i].epoch).second)
        shared.insert(*c_.saves[i].epoch);
    for (auto i : family_.saves) {
      auto& s = c_.saves[i];
      s.unit = family_.unit;
      s.value = by_epoch ? s.epoch : s.step;
      if (!s.value) continue;
      if (by_epoch) {
        // Several saves in one epoch: it is finished only once the next one has begun, so only the epochs before it count.
        s.done = *s.epoch + (shared.contains(*s.epoch) || s.half_epoch ? 0 : first.base);
      } else if (!within || s.epoch == 0) {
        s.done = *s.step + steps.base;
      }
    }
  }

  const Context& c_;
  Family& family_;
  std::uint64_t inside_ = 0;
};

}  // namespace

void assign_units(const Context& context) {
  for (auto& family : context.families) FamilyUnits(context, family).run();
}

}  // namespace trainvigil::layouts
