#include "app/clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainvigil::app {
namespace {

/// An hour too far ahead is made up for in ten; durations are off by a tenth meanwhile, which no verdict depends on.
constexpr double kSlowest = 0.9;

Seconds system_wall() { return std::chrono::system_clock::now().time_since_epoch(); }
Seconds system_steady() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

Clock::Clock() : Clock(system_wall, system_steady) {}

Clock::Clock(Source wall, Source steady) : wall_(std::move(wall)), steady_(std::move(steady)), steady_then_(steady_()), latest_(wall_()) {}

WatcherTime Clock::now() {
  const Seconds steady = steady_();
  const Seconds elapsed = std::max(steady - steady_then_, Seconds{0});
  steady_then_ = steady;
  latest_ = std::max(latest_ + elapsed * kSlowest, wall_());
  return WatcherTime{latest_};
}

}  // namespace trainvigil::app
