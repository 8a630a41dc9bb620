#include "app/single_look.hpp"

#include <algorithm>

#include "app/command.hpp"

namespace trainvigil::app {

std::vector<Observation> look_at_all(const std::vector<Job>& jobs, const std::vector<HostPlan>& hosts, const LookOptions& options) {
  const auto world = make_live_world();
  std::vector<std::unique_ptr<HostWatch>> watches;
  for (const HostPlan& host : hosts) {
    std::vector<Job> here;
    for (const std::size_t index : host.jobs) here.push_back(jobs.at(index));
    LookOptions look = options;
    look.budget = host.limit * kSensorShare;
    watches.push_back(world->watch(host.target, here));
    watches.back()->begin(look, host.limit);
  }
  while (!std::all_of(watches.begin(), watches.end(), [](const auto& watch) { return watch->finished(); })) {
    if (world->stopping()) throw UsageError("stopped before the answer was there");
    world->wait(world->now() + Seconds{60});
  }
  std::vector<Observation> out(jobs.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    auto seen = watches[i]->take(world->now());
    for (std::size_t k = 0; k < seen.size() && k < hosts[i].jobs.size(); ++k) out[hosts[i].jobs[k]] = std::move(seen[k]);
  }
  return out;
}

}  // namespace trainvigil::app
