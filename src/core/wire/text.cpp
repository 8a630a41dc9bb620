#include "core/wire/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace trainvigil::wire {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte << 24U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1U) ^ ((crc & 0x80000000U) != 0 ? 0x04C11DB7U : 0U);  // polynomial of POSIX cksum
    table[byte] = crc;
  }
  return table;
}

constexpr auto kCrcTable = make_crc_table();

std::uint32_t crc_step(std::uint32_t crc, unsigned char byte) { return (crc << 8U) ^ kCrcTable[((crc >> 24U) ^ byte) & 0xFFU]; }

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("/._+,:=@-").find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return parts;
    text.remove_prefix(from);
    const auto to = text.find_first_of(" \t");
    parts.push_back(text.substr(0, to));
    if (to == std::string_view::npos) return parts;
    text.remove_prefix(to);
  }
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string request_word(std::string_view bytes) {
  if (bytes.empty()) return "-";
  if (bytes == "-") return "\\0055";
  std::string word;
  word.reserve(bytes.size());
  for (const char c : bytes) {
    if (plain(c)) {
      word += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    word += "\\0";
    word += static_cast<char>('0' + (byte >> 6U));
    word += static_cast<char>('0' + ((byte >> 3U) & 7U));
    word += static_cast<char>('0' + (byte & 7U));
  }
  return word;
}

std::string decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) continue;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return bytes;
}

std::string decode_hex(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 2);
  int high = -1;
  for (const char c : text) {
    const int value = hex_value(c);
    if (value < 0) continue;
    if (high < 0) {
      high = value;
    } else {
      bytes += static_cast<char>(high * 16 + value);
      high = -1;
    }
  }
  return bytes;
}

void Cksum::add(std::string_view bytes) {
  for (const char c : bytes) crc_ = crc_step(crc_, static_cast<unsigned char>(c));
  length_ += bytes.size();
}

std::string Cksum::text() const {
  std::uint32_t crc = crc_;
  for (std::uint64_t rest = length_; rest != 0; rest >>= 8U) crc = crc_step(crc, static_cast<unsigned char>(rest & 0xFFU));
  return std::to_string(static_cast<std::uint32_t>(~crc)) + ":" + std::to_string(length_);
}

}  // namespace trainvigil::wire
