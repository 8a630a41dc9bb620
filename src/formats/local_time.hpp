// Clock times as a person at the watching machine reads them.
#pragma once

#include <string>

#include "trainvigil/time.hpp"

namespace trainvigil::formats {

/// "14:21", or "Mon 30 Nov 02:10" where the day is not that of `relative_to`. Without zone, so that a line can name it once.
std::string local_clock(WatcherTime t, WatcherTime relative_to);
/// "2026-11-29 14:21:35".
std::string local_stamp(WatcherTime t);
/// "CET": the abbreviation that holds at `t`.
std::string zone_name(WatcherTime t);

}  // namespace trainvigil::formats
