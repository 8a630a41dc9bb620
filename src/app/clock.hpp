// The watcher's clock: wall time that never runs backwards.
#pragma once

#include <functional>

#include "trainvigil/time.hpp"

namespace trainvigil::app {

/// Follows the wall clock forward at once (suspend, NTP). When that was set back, goes on a little slower than time passes until the two meet.
class Clock {
 public:
  using Source = std::function<Seconds()>;
  Clock();
  Clock(Source wall, Source steady);
  WatcherTime now();

 private:
  Source wall_;
  Source steady_;
  Seconds steady_then_;  ///< at the last call
  Seconds latest_;
};

}  // namespace trainvigil::app
