#include "transport/base64.hpp"

#include <cstdint>

namespace trainvigil::transport {
namespace {
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = (group << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kLetters[(group >> (18 - 6 * k)) & 63U] : '=';
  }
  return out;
}

std::string base64_decode(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::size_t value = kLetters.find(c);
    if (value == std::string_view::npos) break;
    group = ((group << 6U) | static_cast<std::uint32_t>(value)) & 0xffffffU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>((group >> bits) & 0xffU);
  }
  return out;
}

}  // namespace trainvigil::transport
