// The command line as values. Filled by cli.cpp, read by commands; knows nothing of the parser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainvigil/job.hpp"

namespace trainvigil::app {

enum class WaitFor { trouble_or_end, completed, checkpoint, change };

struct Options {
  // Everywhere.
  std::optional<std::string> config, state_dir, ssh_config;
  std::optional<Seconds> probe_timeout;
  bool no_config = false;  ///< demo: whatever is configured here is not part of it
  bool json = false;
  bool no_color = false;
  int verbose = 0;

  // What is watched.
  std::string target;
  std::vector<std::string> jobs;         ///< --job: names of jobs of the config
  Job described;                         ///< the describing options; host is `target`
  [[nodiscard]] bool describes() const;  ///< any describing option was given

  // One command's own.
  std::optional<Seconds> interval, heartbeat;
  std::optional<std::string> log_file, record;
  bool until_done = false;
  bool quiet = false;
  WaitFor wait_for = WaitFor::trouble_or_end;
  std::optional<Seconds> timeout;
  bool accept_finished = false;
  std::optional<std::string> from_trace;
  bool last_good = false;
  bool verify = false;
  bool explain = false;
  std::string argument;         ///< TRACE, ACTION, JOB …
  std::string second_argument;  ///< a file or duration after it
  std::string reason;
  bool list = false;
  std::optional<std::string> end;  ///< silence --end JOB
  std::optional<int> epochs;       ///< demo
  int limit = 50;
};

}  // namespace trainvigil::app
