// Durations as people write them: 90s 15m 2h30m 1d 500ms. Used by the command line, the config and the trace alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainvigil/time.hpp"

namespace trainvigil {

/// One or more whole or decimal numbers, each followed by ms, s, m, h or d, largest first is usual but not required. Refused: a number without a
/// unit, negative values, blanks, more than 10,000 days.
std::optional<Seconds> parse_duration(std::string_view text);

/// The shortest text that parse_duration reads back to the same milliseconds: "155m" becomes "2h35m".
std::string format_duration(Seconds duration);

}  // namespace trainvigil
