#include "formats/local_time.hpp"

#include <array>
#include <cmath>
#include <ctime>

namespace trainvigil::formats {
namespace {

std::tm local_parts(WatcherTime t) {
  const double seconds = epoch_seconds(t);
  const auto whole = static_cast<std::time_t>(std::isfinite(seconds) && std::fabs(seconds) < 1e11 ? std::floor(seconds) : 0.0);
  std::tm parts{};
  localtime_r(&whole, &parts);
  return parts;
}

std::string print(const std::tm& parts, const char* shape) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), shape, &parts)};
}

}  // namespace

std::string local_clock(WatcherTime t, WatcherTime relative_to) {
  const std::tm parts = local_parts(t);
  const std::tm base = local_parts(relative_to);
  const bool same_day = parts.tm_year == base.tm_year && parts.tm_yday == base.tm_yday;
  return print(parts, same_day ? "%H:%M" : parts.tm_year == base.tm_year ? "%a %d %b %H:%M" : "%Y-%m-%d %H:%M");
}

std::string local_stamp(WatcherTime t) { return print(local_parts(t), "%Y-%m-%d %H:%M:%S"); }

std::string zone_name(WatcherTime t) { return print(local_parts(t), "%Z"); }

}  // namespace trainvigil::formats
