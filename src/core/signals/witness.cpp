#include "core/signals/witness.hpp"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace trainvigil {

const char* to_string(Source source) {
  switch (source) {
    case Source::checkpoint:
      return "checkpoint";
    case Source::process:
      return "process";
    case Source::gpu:
      return "gpu";
    case Source::log:
      return "log";
    case Source::scheduler:
      return "scheduler";
    case Source::host:
      break;
  }
  return "host";
}

std::string text(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  if (length <= 0) return {};
  return {buffer, std::min(static_cast<std::size_t>(length), sizeof buffer - 1)};
}

std::string say_duration(Seconds d) {
  const double s = std::max(0.0, d.count());
  if (s < 99.5) return text("%.0f s", s);
  if (s < 5940) return text("%.0f min", s / 60);
  const auto minutes = static_cast<long>(std::llround(s / 60));
  if (minutes < 48 * 60) return text("%ld h %02ld min", minutes / 60, minutes % 60);
  return text("%ld d %ld h", minutes / 1440, minutes % 1440 / 60);
}

std::string say_bytes(double bytes) {
  if (bytes >= 1e12) return text("%.1f TB", bytes / 1e12);
  if (bytes >= 1e9) return text("%.1f GB", bytes / 1e9);
  if (bytes >= 1e6) return text("%.1f MB", bytes / 1e6);
  if (bytes >= 1e3) return text("%.1f kB", bytes / 1e3);
  return text("%.0f B", bytes);
}

}  // namespace trainvigil
