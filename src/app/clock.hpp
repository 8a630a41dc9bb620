// The watcher's clock: wall time that never runs backwards.
#pragma once

#include <functional>

#include "trainvigil/time.hpp"

namespace trainvigil::app {

/// Wall time as it was at the start, carried on by the monotonic clock; steps forward with the wall clock (suspend, NTP), never back.
class Clock {
 public:
  using Source = std::function<Seconds()>;
  Clock();
  Clock(Source wall, Source steady);
  WatcherTime now();

 private:
  Source wall_;
  Source steady_;
  Seconds offset_;  ///< wall minus steady, as large as it ever was
  Seconds latest_{0};
};

}  // namespace trainvigil::app
