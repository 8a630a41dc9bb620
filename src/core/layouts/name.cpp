#include "core/layouts/name.hpp"

#include <algorithm>

#include "core/layouts/unfinished_names.hpp"

namespace trainvigil::layouts {
namespace {

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool letter(char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80; }

enum class Part : std::uint8_t { word, digits, separator };
enum class Use : std::uint8_t { literal, counter, metric, shard, dropped, time };

struct Token {
  Part part = Part::separator;
  Use use = Use::literal;
  Role role = Role::none;
  std::uint16_t begin = 0;
  std::uint16_t end = 0;
};

constexpr std::size_t kMaxTokens = 48;
constexpr std::size_t kMaxName = 255;  // longest component a file system gives

class Parser {
 public:
  Parser(Name& name, std::string_view lower) : name_(name), s_(lower) {}

  void run() {
    tokenize();
    find_times();
    classify_words();
    for (std::size_t i = 0; i < count_; ++i)
      if (tokens_[i].part == Part::digits && tokens_[i].use == Use::literal) classify_number(i);
    drop_weak();
    hash();
  }

 private:
  [[nodiscard]] std::string_view text(const Token& t) const { return s_.substr(t.begin, t.end - t.begin); }
  [[nodiscard]] std::string_view text(std::size_t i) const { return i < count_ ? text(tokens_[i]) : std::string_view{}; }
  [[nodiscard]] bool is(std::size_t i, Part part) const { return i < count_ && tokens_[i].part == part; }

  void tokenize() {
    for (std::size_t i = 0; i < s_.size() && count_ < kMaxTokens;) {
      const auto begin = i;
      Part part = Part::separator;
      if (digit(s_[i])) {
        part = Part::digits;
        while (i < s_.size() && digit(s_[i])) ++i;
      } else if (letter(s_[i])) {
        part = Part::word;
        while (i < s_.size() && letter(s_[i])) ++i;
      } else {
        ++i;
      }
      tokens_[count_++] = {part, Use::literal, Role::none, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(i)};
    }
  }

  static bool plausible_date(std::string_view y, std::string_view m, std::string_view d) {
    return y.size() == 4 && (y.starts_with("19") || y.starts_with("20")) && m.size() == 2 && d.size() == 2 && m >= "01" && m <= "12" && d >= "01" &&
           d <= "31";
  }

  /// "10-00-00" or "10:00:00": hour, minute and second.
  [[nodiscard]] bool time_of_day(std::size_t i) const {
    const auto two = [&](std::size_t k, std::string_view limit) { return is(k, Part::digits) && text(k).size() == 2 && text(k) < limit; };
    return two(i, "24") && is(i + 1, Part::separator) && two(i + 2, "60") && text(i + 3) == text(i + 1) && two(i + 4, "60") && text(i + 1) != "." &&
           !is(i + 5, Part::digits);
  }

  /// The "Nov29" before a time of day.
  void mark_day_before(std::size_t i) {
    if (i >= 3 && is(i - 1, Part::separator) && is(i - 2, Part::digits) && is(i - 3, Part::word) && text(i - 2).size() <= 2 &&
        text(i - 3).size() == 3)
      tokens_[i - 2].use = Use::time;
  }

  /// Marks dates and the times that follow them, so that no year is taken for a counter.
  void find_times() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (tokens_[i].part != Part::digits) continue;
      const auto t = text(i);
      std::size_t last = i;
      if (t.size() == 8 && plausible_date(t.substr(0, 4), t.substr(4, 2), t.substr(6, 2))) {
        last = i;
      } else if (t.size() == 14 && plausible_date(t.substr(0, 4), t.substr(4, 2), t.substr(6, 2))) {
        last = i;
      } else if (t.size() == 10 && t[0] == '1' && t[1] >= '4' && t[1] <= '9') {
        last = i;
      } else if (is(i + 2, Part::digits) && is(i + 4, Part::digits) && plausible_date(t, text(i + 2), text(i + 4))) {
        last = i + 4;
      } else if (time_of_day(i)) {
        last = i + 4;
        mark_day_before(i);
      } else {
        continue;
      }
      name_.timestamp = true;
      for (std::size_t k = i; k <= last; ++k)
        if (tokens_[k].part == Part::digits) tokens_[k].use = Use::time;
      // Hours, minutes, seconds and a tie-breaker: up to four short runs with nothing but separators (or a "t") between.
      std::size_t k = last + 1;
      for (int runs = 0; runs < 4; ++runs) {
        while (k < count_ && (tokens_[k].part == Part::separator || text(k) == "t")) ++k;
        if (!is(k, Part::digits) || (text(k).size() != 2 && !(runs == 0 && (text(k).size() == 4 || text(k).size() == 6)))) break;
        tokens_[k].use = Use::time;
        ++k;
      }
    }
  }

  void classify_words() {
    bool store = false, more_than_a_state = false;
    for (std::size_t i = 0; i < count_; ++i) {
      auto& t = tokens_[i];
      if (t.part != Part::word) continue;
      t.role = role_of(text(t));
      switch (t.role) {
        case Role::store: {
          store = true;
          const auto word = text(t);
          more_than_a_state |= !word.starts_with("state") && word != "dict";
          if (word.starts_with("ch") || word.starts_with("ckpt") || word.starts_with("cp") || word.starts_with("save") || word == "snapshot")
            name_.checkpoint = true;
          break;
        }
        case Role::latest:
          name_.cls = NameClass::latest;
          break;
        case Role::best:
          name_.cls = NameClass::best;
          break;
        case Role::final:
          if (name_.cls == NameClass::none) name_.cls = NameClass::final;
          break;
        case Role::rescue:
          name_.cls = NameClass::rescue;
          break;
        case Role::aux:
          name_.aux = true;
          break;
        case Role::resume:
          if (name_.cls == NameClass::none) name_.cls = NameClass::resume;
          break;
        case Role::negative:
          name_.negative = name_.scratch = true;
          break;
        case Role::shelf:
          name_.negative = true;
          break;
        default:
          break;
      }
    }
    name_.store = store && (more_than_a_state || !name_.negative);  // "dataset_state_dict_39" holds no weights
  }

  /// The word before token i with nothing but separators between; an ordinal suffix ("2nd") is looked through.
  [[nodiscard]] std::optional<std::size_t> word_before(std::size_t i) const {
    while (i > 0) {
      --i;
      if (tokens_[i].part == Part::separator) continue;
      if (tokens_[i].part != Part::word) return std::nullopt;
      if (tokens_[i].role != Role::ordinal) return i;
      if (i >= 1 && tokens_[i - 1].part == Part::digits) --i;
    }
    return std::nullopt;
  }

  static Key key_of(Role role) {
    switch (role) {
      case Role::key_epoch:
        return Key::epoch;
      case Role::key_step:
        return Key::step;
      default:
        return Key::other;
    }
  }
  static bool is_key(Role role) { return role == Role::key_epoch || role == Role::key_step || role == Role::key_other; }

  [[nodiscard]] std::optional<std::int64_t> number(std::size_t i) const {
    std::int64_t value = 0;
    for (char c : text(i)) {
      if (value > (INT64_MAX - 9) / 10) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return value;
  }

  /// A decimal point or an exponent makes it a measurement.
  [[nodiscard]] bool decimal(std::size_t i) const {
    const auto dot = [&](std::size_t k) { return is(k, Part::separator) && text(k) == "."; };
    if (dot(i + 1) && is(i + 2, Part::digits)) return true;
    if (i >= 2 && dot(i - 1) && is(i - 2, Part::digits)) return true;
    if (i >= 1 && dot(i - 1) && i == 1) return true;  // ".5"
    if (is(i + 1, Part::word) && text(i + 1) == "e" &&
        (is(i + 2, Part::digits) || (is(i + 2, Part::separator) && text(i + 2) == "-" && is(i + 3, Part::digits))))
      return true;
    if (i >= 2 && is(i - 1, Part::word) && text(i - 1) == "e" && is(i - 2, Part::digits)) return true;
    return i >= 3 && is(i - 1, Part::separator) && text(i - 1) == "-" && is(i - 2, Part::word) && text(i - 2) == "e" && is(i - 3, Part::digits);
  }

  void add(std::size_t i, Key key, bool strong, bool weak) {
    const auto value = number(i);
    if (!value || name_.count == Name::kMaxCounters) return;
    auto& t = tokens_[i];
    std::int64_t scale = 1;
    if (is(i + 1, Part::word) && (i + 2 >= count_ || is(i + 2, Part::separator))) {
      if (text(i + 1) == "k") scale = 1000;
      if (text(i + 1) == "m") scale = 1000000;
    }
    t.use = Use::counter;
    name_.counters[name_.count++] = {key, *value > INT64_MAX / scale ? *value : *value * scale, t.begin, t.end, strong, weak};
  }

  void classify_number(std::size_t i) {
    auto& t = tokens_[i];
    const bool attached = i > 0 && tokens_[i - 1].part == Part::word;
    const auto before = word_before(i);
    const Role role = before ? tokens_[*before].role : Role::none;
    const bool equals = i > 0 && text(i - 1) == "=";
    if (decimal(i)) {
      t.use = Use::metric;
      return;
    }
    // "00002-of-00004": index and total.
    if (is(i + 1, Part::separator) && is(i + 2, Part::word) && text(i + 2) == "of" && is(i + 3, Part::separator) && is(i + 4, Part::digits)) {
      name_.shard = number(i);
      name_.shard_total = number(i + 4);
      t.use = tokens_[i + 4].use = Use::shard;
      return;
    }
    const bool state_of_rank = before && role == Role::store && *before >= 2 && tokens_[*before - 2].role == Role::shard;  // "rng_state_3"
    if (role == Role::shard || state_of_rank) {
      t.use = Use::shard;
      name_.shard = number(i);
      return;
    }
    if (i >= 2 && tokens_[i - 2].use == Use::shard && is(i - 1, Part::separator) && !equals) {  // "mp_rank_00_000"
      t.use = Use::shard;
      return;
    }
    if (before && text(*before) == "v" && attached) {
      if (i + 1 >= count_ && *before > 0 && is(*before - 1, Part::separator)) {
        name_.version = number(i);
        t.use = tokens_[*before].use = tokens_[*before - 1].use = Use::dropped;
      }
      return;
    }
    // "epoch_2nd_00007": the second stage, and its epoch.
    if (is(i + 1, Part::word) && tokens_[i + 1].role == Role::ordinal && more_digits(i + 2)) return;
    const bool number_after_next = is(i + 2, Part::digits) || (is(i + 2, Part::separator) && is(i + 3, Part::digits));
    if (is_key(role)) return add(i, key_of(role), true, false);
    // "12epoch", "100000_steps": the key stands behind and no other number claims it.
    const std::size_t next = is(i + 1, Part::word) ? i + 1 : i + 2;
    if (is(next, Part::word) && is_key(tokens_[next].role) && (next == i + 1 || is(i + 1, Part::separator)) &&
        !(is(next + 1, Part::digits) || (is(next + 1, Part::separator) && is(next + 2, Part::digits))))
      return add(i, key_of(tokens_[next].role), true, false);
    if (equals || role == Role::metric) {
      t.use = Use::metric;
      return;
    }
    if (role == Role::index) {
      name_.index = true;
      return;
    }
    if (role == Role::noise) return;
    const bool glued_behind = is(i + 1, Part::word) && text(i + 1) != "k" && text(i + 1) != "m";
    if (glued_behind) return;  // "7b", "3d", "16bit"
    const bool alone = count_ == 1 || (!before && number_after_next == false && no_words());
    if (attached && role != Role::store) return add(i, Key::bare, false, true);
    add(i, Key::bare, role == Role::store || alone, false);
  }

  [[nodiscard]] bool more_digits(std::size_t from) const {
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(from, count_)), tokens_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [](const Token& t) { return t.part == Part::digits; });
  }

  [[nodiscard]] bool no_words() const {
    return std::none_of(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(count_), [](const Token& t) { return t.part == Part::word; });
  }

  /// Numbers glued to unknown words matter only where nothing better is there.
  void drop_weak() {
    const bool better = std::any_of(name_.counters.begin(), name_.counters.begin() + static_cast<std::ptrdiff_t>(name_.count),
                                    [](const Counter& c) { return !c.weak; });
    const bool keyed = name_.keyed();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < name_.count; ++i) {
      const auto& c = name_.counters[i];
      const bool drop = (better && c.weak) || (keyed && c.key == Key::bare);
      if (!drop) {
        name_.counters[kept++] = c;
        continue;
      }
      for (std::size_t k = 0; k < count_; ++k)
        if (tokens_[k].begin == c.begin) tokens_[k].use = Use::literal;
    }
    name_.count = kept;
  }

  void hash() {
    std::uint64_t h = kHashSeed;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto& t = tokens_[i];
      if (t.use == Use::dropped) continue;
      if (t.use == Use::counter) {
        h = hash_byte(h, '#');
        continue;
      }
      if (t.use == Use::metric) {
        // A score is one thing, whether it has a decimal point or not.
        if (!(i >= 2 && text(i - 1) == "." && tokens_[i - 2].use == Use::metric)) h = hash_byte(h, '*');
        continue;
      }
      const bool before_score = t.part == Part::separator && i + 1 < count_ && tokens_[i + 1].use == Use::metric;
      const bool sign = before_score && text(t) == "-" && i > 0 && tokens_[i - 1].part == Part::separator;
      if (sign || (before_score && text(t) == "." && i > 0 && tokens_[i - 1].use == Use::metric)) continue;
      if (t.use == Use::shard) {
        h = hash_byte(h, '%');
        continue;
      }
      if (t.use == Use::time) {
        h = hash_byte(h, '@');
        continue;
      }
      // "-last" behind a counter says which save it is, not which family.
      const bool class_word = t.part == Part::word && t.role == Role::latest && name_.count > 0;
      const bool before_class = t.part == Part::separator && is(i + 1, Part::word) && tokens_[i + 1].role == Role::latest && name_.count > 0;
      if (class_word || before_class) continue;
      h = hash_text(h, text(t));
    }
    name_.pattern = h;
  }

  Name& name_;
  std::string_view s_;
  std::array<Token, kMaxTokens> tokens_{};
  std::size_t count_ = 0;
};

}  // namespace

Name parse_name(std::string_view component) {
  Name name;
  name.stem = component;
  if (component.empty() || component.size() > kMaxName) return name;
  std::array<char, kMaxName> buffer{};
  std::transform(component.begin(), component.end(), buffer.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string_view lower(buffer.data(), component.size());

  const auto unfinished = unfinished_name(component, lower);
  name.kind = unfinished.kind;
  name.target = unfinished.target;
  if (name.kind != NameKind::plain) return name;

  const auto ext = extension_of(lower);
  name.ext_kind = ext.kind;
  name.stem = component.substr(0, component.size() - ext.text.size());
  name.ext = component.substr(name.stem.size());
  Parser(name, lower.substr(0, name.stem.size())).run();
  return name;
}

}  // namespace trainvigil::layouts
