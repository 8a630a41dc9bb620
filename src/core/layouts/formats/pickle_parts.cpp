// `.metadata` of torch.distributed.checkpoint: a pickle whose `storage_data` maps every tensor to {relative_path, offset, length} (torch's
// distributed/checkpoint/filesystem.py, class _StorageInfo). The stack of the pickle machine is followed with values that are numbers, texts,
// dictionaries of those three keys, or of no interest; no class of the pickle is looked up.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/layouts/formats/pickle.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kLargestFile = 1LL << 60;

struct Value {
  enum class Kind : std::uint8_t { other, number, text, dictionary };
  Kind kind = Kind::other;
  std::int64_t number = 0;  ///< of a dictionary: which one
  std::string_view text;
};

/// What a dictionary holds under the three keys.
struct Place {
  std::string_view file;
  std::optional<std::int64_t> offset, length;
};

std::int64_t little_endian(std::string_view bytes, bool with_sign) {
  std::uint64_t v = with_sign && !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) ? ~0ULL : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) v = (v << 8U) | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int64_t>(v);
}

class Machine {
 public:
  /// False: this is no pickle that makes sense.
  bool run(std::string_view pickle) {
    PickleWalk walk(pickle);
    for (;;) {
      const auto step = walk.next();
      if (step.kind == PickleStep::Kind::stop) return true;
      if (step.kind != PickleStep::Kind::operation || !take(step)) return false;
    }
  }

  PartList parts;

 private:
  void push(Value v = {}) { stack_.push_back(v); }
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  bool pop(std::size_t n) {
    if (stack_.size() < floor() + n) return false;
    stack_.resize(stack_.size() - n);
    return true;
  }
  bool pop_mark() {
    if (marks_.empty()) return false;
    stack_.resize(marks_.back());
    marks_.pop_back();
    return true;
  }
  bool replace(std::size_t n, Value by = {}) { return pop(n) && (push(by), true); }

  bool remember(std::uint64_t key) {
    if (stack_.empty()) return false;
    memo_[key] = stack_.back();
    return true;
  }
  bool recall(std::uint64_t key) {
    const auto known = memo_.find(key);
    if (known == memo_.end()) return false;
    push(known->second);
    return true;
  }

  void set(const Value& dictionary, const Value& key, const Value& value) {
    if (dictionary.kind != Value::Kind::dictionary || key.kind != Value::Kind::text) return;
    auto& place = places_[static_cast<std::size_t>(dictionary.number)];
    if (key.text == "relative_path" && value.kind == Value::Kind::text) place.file = value.text;
    if (value.kind != Value::Kind::number) return;
    if (key.text == "offset") place.offset = value.number;
    if (key.text == "length") place.length = value.number;
  }

  bool set_items() {
    if (marks_.empty()) return false;
    const auto first = marks_.back();
    if (first == 0 || (stack_.size() - first) % 2 != 0) return false;
    for (auto i = first; i + 1 < stack_.size(); i += 2) set(stack_[first - 1], stack_[i], stack_[i + 1]);
    return pop_mark();
  }

  /// An object gets its state: the one that is looked for is a dictionary with a file, an offset and a length.
  bool build() {
    if (stack_.size() < floor() + 2) return false;
    const auto state = stack_.back();
    if (state.kind == Value::Kind::dictionary) {
      const auto& place = places_[static_cast<std::size_t>(state.number)];
      if (!place.file.empty() && place.offset && place.length && *place.offset >= 0 && *place.length >= 0 && *place.offset <= kLargestFile &&
          *place.length <= kLargestFile) {
        auto& end = parts[std::string(place.file)];
        end = std::max(end.value_or(0), *place.offset + *place.length);
      }
    }
    return pop(1);
  }

  bool new_dictionary() {
    places_.emplace_back();
    push({Value::Kind::dictionary, static_cast<std::int64_t>(places_.size()) - 1, {}});
    return true;
  }

  bool take(const PickleStep& step) {
    const auto text = [&] { return push({Value::Kind::text, 0, step.argument}), true; };
    const auto number = [&](bool with_sign) {
      if (step.argument.size() > 8) return push(), true;
      return push({Value::Kind::number, little_endian(step.argument, with_sign), {}}), true;
    };
    switch (step.op) {
      case 0x80:
      case 0x95:
      case 0x98:  // protocol, frame, readonly
        return true;
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':
        return pop(1);
      case '1':
      case 'e':
      case 0x90:  // what was collected goes into the object below
        return pop_mark();
      case '2':
        if (stack_.empty()) return false;
        push(Value(stack_.back()));
        return true;
      case 'X':
      case 0x8c:
      case 0x8d:
        return text();
      case 'K':
      case 'M':
        return number(false);
      case 'J':
      case 0x8a:
        return number(true);
      case '}':
        return new_dictionary();
      case 'd':
        return pop_mark() && new_dictionary();
      case 't':
      case 'l':
      case 'o':
      case 'i':
      case 0x91:
        return pop_mark() && (push(), true);
      case 0x85:
      case 'Q':
        return replace(1);
      case 0x86: {  // (None, {…}): state of a class with slots
        if (stack_.empty()) return false;
        const Value second = stack_.back();
        return replace(2, second.kind == Value::Kind::dictionary ? second : Value{});
      }
      case 0x87:
      case 0x92:
        return replace(3);
      case 'R':
      case 0x81:
      case 0x93:
        return replace(2);
      case 'a':
        return pop(1);
      case 's':
        if (stack_.size() < floor() + 3) return false;
        set(stack_[stack_.size() - 3], stack_[stack_.size() - 2], stack_.back());
        return pop(2);
      case 'u':
        return set_items();
      case 'b':
        return build();
      case 'h':
      case 'j':
        return recall(static_cast<std::uint64_t>(little_endian(step.argument, false)));
      case 'q':
      case 'r':
        return remember(static_cast<std::uint64_t>(little_endian(step.argument, false)));
      case 0x94:
        return remember(memo_.size());
      case 'g':
      case 'p':
      case 'P':  // protocol 0, which torch never writes
        return false;
      default:  // constants, classes, bytes
        push();
        return true;
    }
  }

  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Value> memo_;
  std::vector<Place> places_;
};

}  // namespace

std::optional<PartList> parts_of_metadata(std::string_view pickle) {
  Machine machine;
  if (!machine.run(pickle)) return std::nullopt;
  return std::move(machine.parts);
}

}  // namespace trainvigil::formats_of_files
