#include "formats/phrases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "formats/local_time.hpp"
#include "trainvigil/format.hpp"

namespace trainvigil::formats {
namespace {

std::string number(double value) {
  std::array<char, 32> text{};
  const bool whole = std::fabs(value - std::round(value)) < 0.005;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.1f", value);
  return text.data();
}

}  // namespace

std::string progress_phrase(const Progress& progress) {
  if (!progress.done && !progress.total) return {};
  const double counted = progress.total.value_or(progress.done.value_or(0));
  std::string unit = progress.unit ? to_string(*progress.unit) : "unit";
  if (counted != 1) unit += 's';
  if (!progress.done) return number(*progress.total) + " " + unit + " in all, none counted yet";
  if (!progress.total) return number(*progress.done) + " " + unit + " done";
  return number(*progress.done) + " of " + number(*progress.total) + " " + unit;
}

std::string interval_phrase(const Interval& interval, WatcherTime now) {
  const auto clock = [&](const std::optional<WatcherTime>& t) { return local_clock(*t, now); };
  // All within one minute: three times the same would tell no more.
  if (interval.p10 && interval.p90 && clock(interval.p10) == clock(interval.p90)) return clock(interval.p50 ? interval.p50 : interval.p10);
  if (interval.p50 && interval.p10 && interval.p90) return clock(interval.p50) + " (" + clock(interval.p10) + " to " + clock(interval.p90) + ")";
  if (interval.p10 && interval.p90) return clock(interval.p10) + " to " + clock(interval.p90);
  if (interval.p50 && interval.p90) return "about " + clock(interval.p50) + ", at the latest " + clock(interval.p90);
  if (interval.p50) return "about " + clock(interval.p50);
  if (interval.p10) return "not before " + clock(interval.p10);
  if (interval.p90) return "before " + clock(interval.p90);
  return {};
}

std::string percent_phrase(double fraction) {
  const double percent = std::floor(std::clamp(fraction, 0.0, 1.0) * 100 + 1e-9);
  return number(percent) + " %";
}

std::string subject_phrase(const Verdict& verdict) {
  std::string out = harmless(verdict.job);
  if (!verdict.host.empty() && verdict.host != "local") out += " on " + harmless(verdict.host);
  return out;
}

int columns(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut(std::string_view text, int width) {
  if (columns(text) <= width) return std::string(text);
  int left = std::max(width - 3, 0);
  std::size_t at = 0;
  while (at < text.size() && (left > 0 || (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) --left;
    ++at;
  }
  return std::string(text.substr(0, at)) + "...";
}

std::string wrap(std::string_view text, int width, int indent) {
  std::string out;
  int column = 0;
  bool line_empty = true;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    const int wide = columns(word);
    if (!line_empty && column + 1 + wide > width) {
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
      line_empty = true;
    }
    if (!line_empty) {
      out += ' ';
      ++column;
    }
    out += word;
    column += wide;
    line_empty = false;
  }
  return out;
}

}  // namespace trainvigil::formats
