#include "trainvigil/bytes.hpp"

#include <cstdint>
#include <cstdio>

namespace trainvigil {
namespace {

struct Rune {
  std::uint32_t code = 0;
  std::size_t length = 0;  // 0: not valid UTF-8 here
};

// Decodes one code point strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
Rune decode(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  std::size_t length = 0;
  std::uint32_t code = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
    code = first & 0x1FU;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    code = first & 0x0FU;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    code = first & 0x07U;
  } else {
    return {};
  }
  if (at + length > s.size()) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length};
}

void append_hex(std::string& out, unsigned char c) {
  static constexpr char digits[] = "0123456789abcdef";
  out += "\\x";
  out += digits[c >> 4U];
  out += digits[c & 0x0FU];
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool looks_like_escape(std::string_view s, std::size_t at) {
  return at + 3 < s.size() && s[at] == '\\' && s[at + 1] == 'x' && hex_value(s[at + 2]) >= 0 && hex_value(s[at + 3]) >= 0;
}

// What could move the cursor, change colours, or reorder the line when printed.
bool harmful(std::uint32_t code) {
  return code < 0x20 || code == 0x7F || (code >= 0x80 && code < 0xA0) || (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

}  // namespace

std::string escape_bytes(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const Rune rune = decode(bytes, i);
    if (rune.length == 0 || looks_like_escape(bytes, i)) {
      append_hex(out, static_cast<unsigned char>(bytes[i]));
      ++i;
    } else {
      out.append(bytes, i, rune.length);
      i += rune.length;
    }
  }
  return out;
}

std::string unescape_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (looks_like_escape(text, i)) {
      out += static_cast<char>(hex_value(text[i + 2]) * 16 + hex_value(text[i + 3]));
      i += 4;
    } else {
      out += text[i];
      ++i;
    }
  }
  return out;
}

std::string harmless(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const Rune rune = decode(bytes, i);
    const std::size_t length = rune.length == 0 ? 1 : rune.length;
    if (rune.length == 0 || harmful(rune.code)) {
      for (std::size_t k = 0; k < length; ++k) append_hex(out, static_cast<unsigned char>(bytes[i + k]));
    } else {
      out.append(bytes, i, length);
    }
    i += length;
  }
  return out;
}

std::string shortened(std::string_view bytes, std::size_t columns) {
  constexpr std::string_view kDots = "...";
  std::string out = harmless(bytes);
  const auto begins = [&](std::size_t at) { return (static_cast<unsigned char>(out[at]) & 0xC0U) != 0x80U; };
  std::size_t keep = 0;  // where the dots would go
  std::size_t seen = 0;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (!begins(at)) continue;
    if (seen + kDots.size() == columns) keep = at;
    if (++seen > columns) {
      out.resize(keep);
      return out += kDots.substr(0, columns);
    }
  }
  return out;
}

}  // namespace trainvigil
