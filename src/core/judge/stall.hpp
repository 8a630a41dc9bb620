#pragma once

#include <optional>
#include <string>

#include "core/judge/triangulate.hpp"

namespace trainvigil {

struct Stall {
  WatcherTime since{};  ///< nothing has moved since
  std::string cause;
  std::string because;
};

/// Two sources that agree, for longer than the run's rhythm allows, with nobody objecting; or a stopped process alone.
std::optional<Stall> find_stall(const Facts& facts, const JobState::Impl& state);

/// Follows stretches in which everything is still, and learns the longest that ended by itself.
/// Keeps account of the time in which the run was stalled or stopped: it belongs to no unit. `since`: of a standstill that was found just now.
void follow_standstill(const Facts& facts, RunMemory& run, std::optional<WatcherTime> since);
void learn_quiet_gaps(const Facts& facts, RunMemory& run);

}  // namespace trainvigil
