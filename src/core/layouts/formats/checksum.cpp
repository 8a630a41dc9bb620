#include "trainvigil/checksum.hpp"

#include <array>
#include <bit>

namespace trainvigil {
namespace {

constexpr std::uint32_t kReflected = 0xEDB88320;  // 0x04C11DB7 read from the other end
constexpr std::uint32_t kForward = 0x04C11DB7;
constexpr std::uint32_t kCastagnoli = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> reflected_table(std::uint32_t polynomial) {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto r = i;
    for (int k = 0; k < 8; ++k) r = (r & 1U) ? (r >> 1U) ^ polynomial : r >> 1U;
    table[i] = r;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> forward_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto r = i << 24U;
    for (int k = 0; k < 8; ++k) r = (r & 0x80000000U) ? (r << 1U) ^ kForward : r << 1U;
    table[i] = r;
  }
  return table;
}

std::uint32_t remainder(const std::array<std::uint32_t, 256>& table, std::string_view bytes) {
  std::uint32_t r = 0xFFFFFFFF;
  for (const char c : bytes) r = (r >> 8U) ^ table[(r ^ static_cast<unsigned char>(c)) & 0xFFU];
  return ~r;
}

/// a × b modulo the polynomial; the highest bit is x^0.
std::uint32_t times(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000U; bit != 0; bit >>= 1U) {
    if (a & bit) product ^= b;
    b = (b & 1U) ? (b >> 1U) ^ kReflected : b >> 1U;
  }
  return product;
}

/// The remainder after `bytes` bytes of zeros.
std::uint32_t advanced(std::uint32_t r, std::uint64_t bytes) {
  std::uint32_t power = 0x80000000U >> 8U;  // x^8
  for (; bytes != 0; bytes >>= 1U) {
    if (bytes & 1U) r = times(power, r);
    power = times(power, power);
  }
  return r;
}

std::uint32_t bits_turned(std::uint32_t v) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i, v >>= 1U) out = (out << 1U) | (v & 1U);
  return out;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto table = reflected_table(kReflected);
  return remainder(table, bytes);
}

std::uint32_t crc32_joined(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes) { return advanced(a, b_bytes) ^ b; }

std::uint32_t crc32_from_cksum(std::uint32_t cksum, std::uint64_t bytes) {
  static constexpr auto table = forward_table();
  static constexpr auto step_of = [] {
    std::array<std::uint8_t, 256> inverse{};
    for (std::uint32_t i = 0; i < 256; ++i) inverse[table[i] & 0xFFU] = static_cast<std::uint8_t>(i);
    return inverse;
  }();
  std::uint32_t r = ~cksum;
  int count = 0;
  for (auto n = bytes; n != 0; n >>= 8U) ++count;
  for (int i = count - 1; i >= 0; --i) {  // take the length off again, its last byte first
    const std::uint32_t step = step_of[r & 0xFFU];
    r = ((r ^ table[step]) >> 8U) | ((step ^ static_cast<std::uint32_t>((bytes >> (8 * i)) & 0xFFU)) << 24U);
  }
  return ~(advanced(0xFFFFFFFF, bytes) ^ bits_turned(r));
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr auto table = reflected_table(kCastagnoli);
  return std::rotr(remainder(table, bytes), 15) + 0xA282EAD8U;
}

std::uint32_t lookup3(std::string_view bytes) {
  std::uint32_t a = 0xDEADBEEF + static_cast<std::uint32_t>(bytes.size()), b = a, c = a;
  const auto word = [&](std::size_t at) {
    std::uint32_t v = 0;
    for (std::size_t i = 4; i-- > 0;) v = (v << 8U) | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    return v;
  };
  const auto stir = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int turn) {
    x = (x - z) ^ std::rotl(z, turn);
    z += y;
  };
  std::size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    stir(a, b, c, 4), stir(b, c, a, 6), stir(c, a, b, 8), stir(a, b, c, 16), stir(b, c, a, 19), stir(c, a, b, 4);
  }
  if (at == bytes.size()) return c;
  a += word(at), b += word(at + 4), c += word(at + 8);
  const auto settle = [](std::uint32_t& x, std::uint32_t y, int turn) { x = (x ^ y) - std::rotl(y, turn); };
  settle(c, b, 14), settle(a, c, 11), settle(b, a, 25), settle(c, b, 16), settle(a, c, 4), settle(b, a, 14), settle(c, b, 24);
  return c;
}

}  // namespace trainvigil
