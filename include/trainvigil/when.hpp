// Points in time as operators write them. Reads the local time zone, so it is no part of the core.
#pragma once

#include <optional>
#include <string_view>

#include "trainvigil/time.hpp"

namespace trainvigil {

inline constexpr const char* kWhenForms = "2026-11-30T18:00:00Z, 2026-11-30 18:00 or 18:00";

/// RFC 3339; `YYYY-MM-DD HH:MM[:SS]` in local time; `HH:MM`, the next time that the local clock shows it after `now`. Refuses everything else.
std::optional<WatcherTime> parse_when(std::string_view text, WatcherTime now);

}  // namespace trainvigil
