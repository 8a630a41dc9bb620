// What trains on a host, as jobs that could be watched: read from command lines and GPUs.
#pragma once

#include <string>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::app {

/// The job to look with: it matches what training processes are usually started as; who holds a GPU comes along by itself.
Job discovery_job(const std::string& host);

struct Discovered {
  Job job;  ///< ready for the config; checkpoints only where the command line names them
  std::string cmdline;
  std::int64_t pid = 0;
  std::string relative_directory;  ///< what it saves into, as written where only the process knows from where on
};

/// One for each process that holds a GPU or looks like a training, launchers and workers left out; each pattern finds its own process again.
std::vector<Discovered> discover(const std::string& host, const Observation& observation);

}  // namespace trainvigil::app
