#include "core/wire/inflate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace trainvigil::wire {
namespace {

constexpr int kLongestCode = 15;

/// Bits of a byte stream, lowest first. Past the end they are zero and `dry` says so.
class Bits {
 public:
  explicit Bits(std::string_view bytes) : bytes_(bytes) {}

  std::uint32_t take(int count) {
    while (held_ < count) {
      if (at_ >= bytes_.size()) dry_ = true;
      const std::uint64_t next = at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0U;
      buffer_ |= next << static_cast<unsigned>(held_);
      held_ += 8;
    }
    const auto value = static_cast<std::uint32_t>(buffer_ & ((std::uint64_t{1} << static_cast<unsigned>(count)) - 1));
    buffer_ >>= static_cast<unsigned>(count);
    held_ -= count;
    return value;
  }
  void to_byte() { take(held_ % 8); }
  [[nodiscard]] bool dry() const { return dry_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t buffer_ = 0;
  int held_ = 0;
  bool dry_ = false;
};

/// Canonical Huffman codes: how many there are of each length, and the symbols in the order of their codes.
class Codes {
 public:
  explicit Codes(const std::uint8_t* lengths, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) ++of_length_[lengths[i]];
    of_length_[0] = 0;
    std::array<std::uint16_t, kLongestCode + 2> first{};
    for (std::size_t length = 1; length <= kLongestCode; ++length) first[length + 1] = static_cast<std::uint16_t>(first[length] + of_length_[length]);
    for (std::size_t i = 0; i < count; ++i)
      if (lengths[i] != 0) symbols_[first[lengths[i]]++] = static_cast<std::uint16_t>(i);
  }

  [[nodiscard]] std::optional<unsigned> next(Bits& bits) const {
    std::int32_t code = 0, first = 0, index = 0;
    for (std::size_t length = 1; length <= kLongestCode; ++length) {
      code |= static_cast<std::int32_t>(bits.take(1));
      const std::int32_t count = of_length_[length];
      if (code - first < count) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += count;
      first = (first + count) * 2;
      code *= 2;
    }
    return std::nullopt;
  }

 private:
  std::array<std::uint16_t, kLongestCode + 1> of_length_{};
  std::array<std::uint16_t, 288> symbols_{};
};

class Inflater {
 public:
  Inflater(std::string_view packed, std::size_t most) : bits_(packed), most_(most) {}

  /// Whether the stream came to its end.
  bool run() {
    for (bool last = false; !last;) {
      last = bits_.take(1) == 1;
      const auto kind = bits_.take(2);
      const bool good = kind == 0 ? stored() : kind == 1 ? coded(fixed_letters(), fixed_distances()) : kind == 2 && dynamic();
      if (!good || bits_.dry()) return false;
    }
    bits_.to_byte();
    return true;
  }
  Bits& bits() { return bits_; }
  std::string take_bytes() { return std::move(out_); }

 private:
  bool stored() {
    bits_.to_byte();
    const auto length = bits_.take(16), inverse = bits_.take(16);
    if ((length ^ inverse) != 0xFFFFU) return false;
    for (std::uint32_t i = 0; i < length; ++i) {
      const auto byte = bits_.take(8);
      if (bits_.dry() || out_.size() >= most_) return false;
      out_ += static_cast<char>(byte);
    }
    return true;
  }

  static const Codes& fixed_letters() {
    static const Codes codes = [] {
      std::array<std::uint8_t, 288> lengths{};
      for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
      return Codes(lengths.data(), lengths.size());
    }();
    return codes;
  }
  static const Codes& fixed_distances() {
    static const Codes codes = [] {
      std::array<std::uint8_t, 30> lengths{};
      lengths.fill(5);
      return Codes(lengths.data(), lengths.size());
    }();
    return codes;
  }

  bool dynamic() {
    static constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const std::size_t letters = bits_.take(5) + 257, distances = bits_.take(5) + 1, lengths_sent = bits_.take(4) + 4;
    if (letters > 286 || distances > 30) return false;
    std::array<std::uint8_t, 320> lengths{};
    for (std::size_t i = 0; i < lengths_sent; ++i) lengths[order[i]] = static_cast<std::uint8_t>(bits_.take(3));
    const Codes of_lengths(lengths.data(), order.size());
    lengths.fill(0);
    for (std::size_t i = 0; i < letters + distances;) {
      const auto symbol = of_lengths.next(bits_);
      if (!symbol || bits_.dry()) return false;
      if (*symbol < 16) {
        lengths[i++] = static_cast<std::uint8_t>(*symbol);
        continue;
      }
      if (*symbol == 16 && i == 0) return false;
      const std::uint8_t value = *symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
      const std::size_t times = *symbol == 16 ? 3 + bits_.take(2) : *symbol == 17 ? 3 + bits_.take(3) : 11 + bits_.take(7);
      if (i + times > letters + distances) return false;
      for (std::size_t k = 0; k < times; ++k) lengths[i++] = value;
    }
    return coded(Codes(lengths.data(), letters), Codes(lengths.data() + letters, distances));
  }

  bool coded(const Codes& letters, const Codes& distances) {
    static constexpr std::array<std::uint16_t, 29> length_base{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                               31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::array<std::uint8_t, 29> length_bits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::array<std::uint16_t, 30> distance_base{
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    for (;;) {
      const auto symbol = letters.next(bits_);
      if (!symbol || bits_.dry()) return false;
      if (*symbol == 256) return true;
      if (*symbol < 256) {
        if (out_.size() >= most_) return false;
        out_ += static_cast<char>(*symbol);
        continue;
      }
      if (*symbol - 257 >= length_base.size()) return false;
      const std::size_t length = length_base[*symbol - 257] + bits_.take(length_bits[*symbol - 257]);
      const auto far = distances.next(bits_);
      if (!far || *far >= distance_base.size()) return false;
      const std::size_t distance = distance_base[*far] + bits_.take(*far < 2 ? 0 : static_cast<int>(*far / 2 - 1));
      if (bits_.dry() || distance > out_.size() || out_.size() + length > most_) return false;
      for (std::size_t k = 0; k < length; ++k) out_ += out_[out_.size() - distance];
    }
  }

  Bits bits_;
  std::size_t most_;
  std::string out_;
};

std::uint32_t crc32(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
      values[i] = crc;
    }
    return values;
  }();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU];
  return ~crc;
}

/// Where the packed data begin, behind a header with its optional fields.
std::optional<std::size_t> behind_header(std::string_view packed) {
  if (packed.size() < 10 || !packed.starts_with("\x1f\x8b\x08")) return std::nullopt;
  const auto flags = static_cast<unsigned char>(packed[3]);
  std::size_t at = 10;
  if ((flags & 4U) != 0) {
    if (packed.size() < at + 2) return std::nullopt;
    at += 2 + static_cast<unsigned char>(packed[at]) + 256U * static_cast<unsigned char>(packed[at + 1]);
  }
  for (const unsigned text : {8U, 16U}) {
    if ((flags & text) == 0) continue;
    at = packed.find('\0', std::min(at, packed.size()));
    if (at == std::string_view::npos) return std::nullopt;
    ++at;
  }
  if ((flags & 2U) != 0) at += 2;
  return at <= packed.size() ? std::optional(at) : std::nullopt;
}

}  // namespace

Inflated inflate_gzip(std::string_view packed, std::size_t most) {
  Inflated result;
  const auto begin = behind_header(packed);
  if (!begin) return result;
  Inflater inflater(packed.substr(*begin), most);
  const bool ended = inflater.run();
  const auto crc = inflater.bits().take(32), length = inflater.bits().take(32);
  result.bytes = inflater.take_bytes();
  result.whole = ended && !inflater.bits().dry() && length == static_cast<std::uint32_t>(result.bytes.size()) && crc == crc32(result.bytes);
  return result;
}

}  // namespace trainvigil::wire
