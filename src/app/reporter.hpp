// How `run` tells what it sees: JSON at every poll, a line at each change, or live lines on a terminal.
#pragma once

#include <memory>

#include "app/options.hpp"
#include "app/poller.hpp"
#include "trainvigil/time.hpp"

namespace trainvigil::app {

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void report(const Turn& turn) = 0;
};

/// `jobs`: how many there are; `heartbeat`: the longest silence about a job.
std::unique_ptr<Reporter> make_reporter(const Options& options, std::size_t jobs, Seconds heartbeat);

}  // namespace trainvigil::app
