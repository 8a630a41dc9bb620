// Times, durations and sizes for people and for JSON.
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

std::string utc(double epoch_s) {
  // Beyond the years 0001 to 9999 RFC 3339 has no words; a host clock may say anything.
  constexpr double kFirst = -62135596800.0;
  constexpr double kLast = 253402300799.0;
  const double bounded = std::isfinite(epoch_s) ? std::fmin(std::fmax(std::floor(epoch_s), kFirst), kLast) : 0.0;
  const auto whole = static_cast<std::time_t>(bounded);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 32> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), "T%H:%M:%SZ", &parts);
  std::array<char, 32> date{};
  std::snprintf(date.data(), date.size(), "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
  return std::string(date.data()) + std::string(text.data(), n);
}

}  // namespace

std::string rfc3339(WatcherTime t) { return utc(epoch_seconds(t)); }
std::string rfc3339(HostTime t) { return utc(epoch_seconds(t)); }

std::string human_duration(Seconds d) {
  const double s = d.count();
  if (!std::isfinite(s)) return "?";
  if (s < 0) return "-" + human_duration(-d);
  std::array<char, 48> text{};
  if (s < 1) {
    std::snprintf(text.data(), text.size(), "%.0f ms", s * 1000);
    if (std::string_view(text.data()) == "0 ms" || std::string_view(text.data()) == "1000 ms") return s < 0.5 ? "0 s" : "1 s";
    return text.data();
  }
  const double whole = std::round(s);
  if (whole < 100) {
    std::snprintf(text.data(), text.size(), "%.0f s", whole);
    return text.data();
  }
  const double minutes = std::round(s / 60);
  if (minutes < 60) {
    std::snprintf(text.data(), text.size(), "%.0f min", minutes);
  } else if (minutes < 48.0 * 60) {
    std::snprintf(text.data(), text.size(), "%.0f h %02.0f min", std::floor(minutes / 60), std::fmod(minutes, 60));
  } else {
    const double hours = std::round(s / 3600);
    if (hours < 24.0 * 10000)
      std::snprintf(text.data(), text.size(), "%.0f d %02.0f h", std::floor(hours / 24), std::fmod(hours, 24));
    else
      std::snprintf(text.data(), text.size(), "%.3g d", hours / 24);
  }
  return text.data();
}

std::string human_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.95 would print as 1000.0: go on one unit earlier.
  while (std::fabs(value) >= (unit == 0 ? 1000.0 : 999.95) && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || std::fabs(value) >= 99.95 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace trainvigil
