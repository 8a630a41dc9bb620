// The grammar of one path component: which number is a counter, what it counts, and which words give the name a class.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/layouts/words.hpp"

namespace trainvigil::layouts {

enum class Key : std::uint8_t { bare, epoch, step, other };

struct Counter {
  Key key = Key::bare;
  std::int64_t value = 0;
  std::uint16_t begin = 0;  ///< of its digits in the component
  std::uint16_t end = 0;
  bool strong = false;  ///< named by a key, a store word, or alone in the name: counts even without a sibling
  bool weak = false;    ///< attached to an unknown word ("gpt2"): counts only when siblings differ in it
};

enum class NameKind : std::uint8_t {
  plain,
  temp,    ///< being written; `target` is the name it will get
  trash,   ///< being deleted
  marker,  ///< says that `target` is not finished
};

enum class NameClass : std::uint8_t { none, latest, best, final, rescue, resume };

struct Name {
  static constexpr std::size_t kMaxCounters = 4;
  NameKind kind = NameKind::plain;
  NameClass cls = NameClass::none;
  ExtKind ext_kind = ExtKind::none;
  bool aux = false;
  bool negative = false;
  bool scratch = false;     ///< of a directory: what lies in it is made from saves (samples, evaluations), not one of them
  bool store = false;       ///< holds a store word
  bool checkpoint = false;  ///< holds a word that means nothing but checkpoint
  bool timestamp = false;   ///< holds a date
  bool index = false;       ///< a run index ("version_3")
  std::string_view target;
  std::string_view stem;  ///< without extension
  std::string_view ext;
  std::array<Counter, kMaxCounters> counters{};
  std::size_t count = 0;
  std::optional<std::int64_t> version;      ///< trailing "-v1"
  std::optional<std::int64_t> shard;        ///< last shard index in the name
  std::optional<std::int64_t> shard_total;  ///< "-of-N"
  std::uint64_t pattern = 0;                ///< equal for names that differ only in counters, metrics, shards, versions and class words

  [[nodiscard]] const Counter* find(Key key) const {
    for (std::size_t i = 0; i < count; ++i)
      if (counters[i].key == key) return &counters[i];
    return nullptr;
  }
  [[nodiscard]] bool keyed() const { return find(Key::epoch) || find(Key::step) || find(Key::other); }
  [[nodiscard]] bool strong() const {
    for (std::size_t i = 0; i < count; ++i)
      if (counters[i].strong) return true;
    return false;
  }
};

/// Parses one component. Total: any bytes give a Name; views point into `component`, which must outlive it.
Name parse_name(std::string_view component);

/// 64-bit FNV-1a, continued from `seed`.
constexpr std::uint64_t kHashSeed = 14695981039346656037ULL;
constexpr std::uint64_t hash_byte(std::uint64_t h, unsigned char c) { return (h ^ c) * 1099511628211ULL; }
constexpr std::uint64_t hash_text(std::uint64_t h, std::string_view s) {
  for (char c : s) h = hash_byte(h, static_cast<unsigned char>(c));
  return h;
}

}  // namespace trainvigil::layouts
