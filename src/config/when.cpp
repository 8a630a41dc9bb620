#include "trainvigil/when.hpp"

#include <cmath>
#include <ctime>

namespace trainvigil {
namespace {

/// Reads fixed-width numbers and marks from the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return text_.empty(); }
  bool mark(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool number(int digits, int lowest, int highest, int& out) {
    if (text_.size() < static_cast<std::size_t>(digits)) return false;
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      const char c = text_[static_cast<std::size_t>(i)];
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    if (value < lowest || value > highest) return false;
    text_.remove_prefix(static_cast<std::size_t>(digits));
    out = value;
    return true;
  }
  bool fraction(double& out) {
    double place = 0.1;
    out = 0;
    bool any = false;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      out += place * (text_.front() - '0');
      place /= 10;
      text_.remove_prefix(1);
      any = true;
    }
    return any;
  }

 private:
  std::string_view text_;
};

bool read_date(Cursor& in, std::tm& parts) {
  if (!in.number(4, 1970, 9999, parts.tm_year) || !in.mark("-") || !in.number(2, 1, 12, parts.tm_mon) || !in.mark("-") ||
      !in.number(2, 1, 31, parts.tm_mday))
    return false;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return true;
}

bool read_clock(Cursor& in, std::tm& parts) { return in.number(2, 0, 23, parts.tm_hour) && in.mark(":") && in.number(2, 0, 59, parts.tm_min); }

/// mktime and timegm make the 1st of March of the 30th of February; an operator did not mean that.
std::optional<double> epoch_of(std::tm parts, bool utc) {
  const std::tm asked = parts;
  parts.tm_isdst = -1;
  const std::time_t t = utc ? timegm(&parts) : std::mktime(&parts);
  if (t == static_cast<std::time_t>(-1) || parts.tm_mday != asked.tm_mday || parts.tm_mon != asked.tm_mon) return std::nullopt;
  return static_cast<double>(t);
}

std::optional<WatcherTime> clock_only(std::string_view text, WatcherTime now) {
  Cursor in(text);
  std::tm wanted{};
  if (!read_clock(in, wanted) || !in.done()) return std::nullopt;
  const auto today = static_cast<std::time_t>(std::floor(epoch_seconds(now)));
  std::tm parts{};
  localtime_r(&today, &parts);
  for (int day = 0; day < 2; ++day) {
    std::tm candidate = parts;
    candidate.tm_mday += day;
    candidate.tm_hour = wanted.tm_hour;
    candidate.tm_min = wanted.tm_min;
    candidate.tm_sec = 0;
    candidate.tm_isdst = -1;
    const auto t = static_cast<double>(std::mktime(&candidate));
    if (t > epoch_seconds(now)) return watcher_time(t);
  }
  return std::nullopt;
}

}  // namespace

std::optional<WatcherTime> parse_when(std::string_view text, WatcherTime now) {
  if (text.size() == 5) return clock_only(text, now);
  Cursor in(text);
  std::tm parts{};
  if (!read_date(in, parts) || !in.mark("Tt ") || !read_clock(in, parts)) return std::nullopt;
  double fraction = 0;
  if (in.mark(":")) {
    if (!in.number(2, 0, 60, parts.tm_sec)) return std::nullopt;
    if (in.mark(".") && !in.fraction(fraction)) return std::nullopt;
  }
  std::optional<double> epoch;
  if (in.done()) {
    epoch = epoch_of(parts, false);
  } else if (in.mark("Zz")) {
    epoch = epoch_of(parts, true);
  } else {
    const bool east = in.mark("+");
    int hours = 0;
    int minutes = 0;
    if ((!east && !in.mark("-")) || !in.number(2, 0, 23, hours) || !in.mark(":") || !in.number(2, 0, 59, minutes)) return std::nullopt;
    epoch = epoch_of(parts, true);
    if (epoch) *epoch += (east ? -60.0 : 60.0) * (hours * 60 + minutes);
  }
  if (!epoch || !in.done()) return std::nullopt;
  return watcher_time(*epoch + fraction);
}

}  // namespace trainvigil
