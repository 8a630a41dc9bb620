// Looks that are not judged by the poller: `checkpoints` and `doctor`.
#pragma once

#include <vector>

#include "app/poller.hpp"

namespace trainvigil::app {

/// One look at every host, side by side; an observation for each job, in their order. Throws UsageError when the operator stops it.
std::vector<Observation> look_at_all(const std::vector<Job>& jobs, const std::vector<HostPlan>& hosts, const LookOptions& options);

}  // namespace trainvigil::app
