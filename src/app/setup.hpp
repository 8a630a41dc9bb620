// Command line and config together: which jobs, on which hosts, how.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "app/poller.hpp"
#include "trainvigil/config.hpp"
#include "trainvigil/history.hpp"

namespace trainvigil::app {

/// A config with faults: each becomes a line on stderr.
class ConfigRefused : public std::runtime_error {
 public:
  explicit ConfigRefused(ConfigErrors errors) : std::runtime_error("bad config"), errors_(std::move(errors)) {}
  [[nodiscard]] const ConfigErrors& errors() const { return errors_; }

 private:
  ConfigErrors errors_;
};

struct Setup {
  Config config;            ///< defaults when there is no file
  std::string config_file;  ///< empty: none was found
};

/// On this machine a path may be written from the current directory on; elsewhere that means nothing, and stays as it is.
void make_absolute(std::optional<std::string>& path, const std::string& host);

/// The process's environment.
std::optional<std::string> environment(const char* name);

/// Reads the config by the contract's order. Throws ConfigRefused.
Setup load_setup(const Options& options);
/// The jobs that a command is about; never empty. Throws UsageError.
std::vector<Job> choose_jobs(const Options& options, const Setup& setup);
std::vector<HostPlan> plan_hosts(const std::vector<Job>& jobs, const Options& options, const Config& config);

enum class WithoutRoom { refuse, go_on };
/// Opens the history. Throws UsageError when it can not be used; when only its disk is full, `go_on` warns and gives one that forgets.
History open_history(const Options& options, const Config& config, WithoutRoom without_room = WithoutRoom::refuse);
/// Says on stderr which names of jobs it knows with other targets.
void warn_of_namesakes(History& history, const std::vector<Job>& jobs);

/// Throws the error as a UsageError: exit code 3, one sentence, the remedy.
[[noreturn]] void refuse(const Error& error);

}  // namespace trainvigil::app
