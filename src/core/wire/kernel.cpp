#include "core/wire/kernel.hpp"

#include <chrono>

#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

/// "2026-11-29T12:00:00.123456+01:00" as rsyslog writes it.
std::optional<double> rfc3339(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') return std::nullopt;
  const auto year = to_integer(text.substr(0, 4)), month = to_integer(text.substr(5, 2)), day = to_integer(text.substr(8, 2)),
             hour = to_integer(text.substr(11, 2)), minute = to_integer(text.substr(14, 2));
  const auto zone = text.find_first_of("Z+-", 19);
  if (!year || !month || !day || !hour || !minute || zone == std::string_view::npos) return std::nullopt;
  const auto second = to_number(text.substr(17, zone - 17));
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!second || !date.ok()) return std::nullopt;
  double time = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) * 86400.0 +
                static_cast<double>(*hour * 3600 + *minute * 60) + *second;
  const auto offset = text.substr(zone);
  if (offset.size() >= 6) {
    const auto h = to_integer(offset.substr(1, 2)), m = to_integer(offset.substr(4, 2));
    if (!h || !m) return std::nullopt;
    time -= (offset[0] == '-' ? -1.0 : 1.0) * static_cast<double>(*h * 3600 + *m * 60);
  }
  return time;
}

std::optional<double> time_of(std::string_view source, std::string_view line, std::optional<double> boot) {
  const auto first = line.substr(0, line.find(' '));
  if (source == "journal") return to_number(first);
  if (source == "kern.log") return rfc3339(first);  // its "[seconds]" may be of an earlier boot
  const auto open = line.find('['), close = line.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || !boot) return std::nullopt;
  const auto since_boot = to_number(trimmed(line.substr(open + 1, close - open - 1)));
  return since_boot ? std::optional(*boot + *since_boot) : std::nullopt;
}

std::string kind_of(std::string_view line) {
  const auto has = [line](std::string_view word) { return line.find(word) != std::string_view::npos; };
  if (has("NVRM: Xid")) return "xid";
  if (has("oom-kill") || has("Out of memory") || has("illed process") || has("oom_reaper")) return "oom-kill";
  return "other";
}

}  // namespace

std::vector<KernelEvent> parse_kernel(const std::vector<std::string>& lines, std::optional<double> boot) {
  std::vector<KernelEvent> events;
  std::string_view source;
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (consume(text, "source:")) {
      source = text;
      continue;
    }
    if (trimmed(text).empty() || text.front() == '~') continue;  // the mark's trailer
    KernelEvent event{kind_of(text), std::nullopt, std::string(text.substr(0, 1000))};
    if (const auto time = time_of(source, text, boot)) event.time = host_time(*time);
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace trainvigil::wire
