// Short phrases that the text formats share.
#pragma once

#include <string>
#include <string_view>

#include "trainvigil/verdict.hpp"

namespace trainvigil::formats {

/// "1 of 5 epochs", "700 steps", "5 epochs in all, none counted yet"; empty when nothing is known.
std::string progress_phrase(const Progress& progress);
/// "15:27 (14:30 to 17:36)" in local time without zone; empty when the interval holds nothing. A bare point only where the range is within a minute.
std::string interval_phrase(const Interval& interval, WatcherTime now);
/// Percent of the work, rounded down so that 100 % means the end and nothing else.
std::string percent_phrase(double fraction);
/// "eagle3-10k on gpu1", made harmless.
std::string subject_phrase(const Verdict& verdict);
/// Columns that a UTF-8 text takes; one a code point (what is printed here is harmless text).
int columns(std::string_view text);
/// At most `width` columns; what is left out is marked.
std::string cut(std::string_view text, int width);
/// Breaks between words so that no line is wider than `width` where that can be had; lines after the first start with `indent` blanks.
std::string wrap(std::string_view text, int width, int indent);

}  // namespace trainvigil::formats
