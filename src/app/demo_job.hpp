// A stand-in for a training job: burns a little CPU, prints a log, writes small real checkpoints.
#pragma once

#include <string>

#include "trainvigil/time.hpp"

namespace trainvigil::app {

struct DemoJob {
  std::string directory;  ///< checkpoints go to directory/0, directory/1 …
  int epochs = 5;
  Seconds epoch{3};
};

/// Trains until all epochs are saved. The process's exit code.
int train(const DemoJob& job);

}  // namespace trainvigil::app
