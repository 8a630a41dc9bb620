#include "app/clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trainvigil::app {
namespace {

Seconds system_wall() { return std::chrono::system_clock::now().time_since_epoch(); }
Seconds system_steady() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

Clock::Clock() : Clock(system_wall, system_steady) {}

Clock::Clock(Source wall, Source steady) : wall_(std::move(wall)), steady_(std::move(steady)), offset_(wall_() - steady_()) {}

WatcherTime Clock::now() {
  const Seconds steady = steady_();
  offset_ = std::max(offset_, wall_() - steady);
  latest_ = std::max(latest_, steady + offset_);
  return WatcherTime{latest_};
}

}  // namespace trainvigil::app
