#include "trainvigil/duration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace trainvigil {
namespace {

using UnitName = std::pair<std::string_view, std::int64_t>;  // milliseconds a unit
constexpr std::array<UnitName, 5> kUnits{{{"d", 86'400'000}, {"h", 3'600'000}, {"ms", 1}, {"m", 60'000}, {"s", 1'000}}};
constexpr double kLongest_ms = 10'000.0 * 86'400'000.0;

bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Seconds> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double total_ms = 0;
  while (!text.empty()) {
    double value = 0;
    std::size_t at = 0;
    while (at < text.size() && digit(text[at])) value = value * 10 + (text[at++] - '0');
    if (at == 0) return std::nullopt;
    if (at < text.size() && text[at] == '.') {
      const std::size_t point = at++;
      for (double place = 0.1; at < text.size() && digit(text[at]); place /= 10) value += place * (text[at++] - '0');
      if (at == point + 1) return std::nullopt;
    }
    text.remove_prefix(at);
    bool known = false;
    for (const auto& [name, milliseconds] : kUnits) {
      if (!text.starts_with(name)) continue;
      total_ms += value * static_cast<double>(milliseconds);
      text.remove_prefix(name.size());
      known = true;
      break;
    }
    if (!known || !(total_ms <= kLongest_ms)) return std::nullopt;
  }
  return Seconds{std::round(total_ms) / 1000.0};
}

std::string format_duration(Seconds duration) {
  auto left = static_cast<std::int64_t>(std::llround(std::min(duration.count() * 1000.0, kLongest_ms)));
  if (left <= 0) return "0s";
  std::string out;
  for (const auto& [name, milliseconds] : std::array<UnitName, 5>{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}}) {
    if (left < milliseconds) continue;
    out += std::to_string(left / milliseconds);
    out += name;
    left %= milliseconds;
  }
  return out;
}

}  // namespace trainvigil
