// Where the world begins for the poller: hosts that can be looked at, and time. The live one speaks through a Transport; tests have a scripted one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/transport.hpp"
#include "trainvigil/wire.hpp"

namespace trainvigil::app {

/// One host with the jobs on it. One look at a time.
class HostWatch {
 public:
  virtual ~HostWatch() = default;
  virtual void begin(const LookOptions& options, Seconds limit) = 0;
  [[nodiscard]] virtual bool finished() const = 0;
  /// Once finished: one observation a job, in the order of the jobs, stamped `now`.
  virtual std::vector<Observation> take(WatcherTime now) = 0;
};

class World {
 public:
  virtual ~World() = default;
  virtual WatcherTime now() = 0;
  virtual std::unique_ptr<HostWatch> watch(const HostTarget& target, const std::vector<Job>& jobs) = 0;
  /// Returns when a look has finished, the operator wants to stop, or `until` has come; also at other times.
  virtual void wait(WatcherTime until) = 0;
  [[nodiscard]] virtual bool stopping() const = 0;
};

/// The real one. SIGINT and SIGTERM set stopping().
std::unique_ptr<World> make_live_world();

}  // namespace trainvigil::app
