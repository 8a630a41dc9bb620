// Two clocks that can not be mixed, and the unit of every duration in trainvigil.
//
// Host time is the clock of the watched host (file times, process starts); watcher time is the clock of the machine that runs trainvigil. The two may
// differ by hours, so subtracting one from the other does not compile. Neither has now(): the core is pure and time comes in with an observation.
#pragma once

#include <chrono>

namespace trainvigil {

/// Seconds with a fraction. Every duration inside trainvigil is of this type unless a header says otherwise.
using Seconds = std::chrono::duration<double>;

struct HostClock {
  using duration = Seconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<HostClock, duration>;
  static constexpr bool is_steady = false;
};

struct WatcherClock {
  using duration = Seconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WatcherClock, duration>;
  static constexpr bool is_steady = true;  // contract: watcher_time never runs backwards
};

/// Seconds since 1970-01-01T00:00:00Z by the clock of the watched host.
using HostTime = HostClock::time_point;
/// Seconds since 1970-01-01T00:00:00Z by the clock of the watching machine.
using WatcherTime = WatcherClock::time_point;

constexpr HostTime host_time(double epoch_s) { return HostTime{Seconds{epoch_s}}; }
constexpr WatcherTime watcher_time(double epoch_s) { return WatcherTime{Seconds{epoch_s}}; }
constexpr double epoch_seconds(HostTime t) { return t.time_since_epoch().count(); }
constexpr double epoch_seconds(WatcherTime t) { return t.time_since_epoch().count(); }

}  // namespace trainvigil
