#include "app/setup.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/command.hpp"
#include "app/logging.hpp"
#include "trainvigil/bytes.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

/// Without it no host can be reached, now or later: that is told at once. `none` is a word of ssh's own.
void check_ssh_config(const std::string& file) {
  if (file.empty() || file == "none" || ::access(file.c_str(), R_OK) == 0) return;
  throw UsageError("the ssh config \"" + harmless(file) + "\" can not be read: " + std::strerror(errno),
                   "Give the right one with -F FILE, or leave that out for ~/.ssh/config");
}

std::string quoted(const std::string& text) { return "\"" + harmless(text) + "\""; }

Job described_job(const Options& options, const Config& config) {
  if (options.target.empty()) throw UsageError("options describe a job, but there is no TARGET", "Name the host, or local for this machine");
  if (!options.jobs.empty()) throw UsageError("--job picks jobs of the config, the other options describe one", "Use either");
  Job job = options.described;
  job.host = options.target;
  job.interval = options.interval.value_or(config.interval);
  make_absolute(job.checkpoints, job.host);
  make_absolute(job.log, job.host);
  if (!job.checkpoints && !job.process) throw UsageError("neither --checkpoints nor --process is given", "Give at least one of them");
  if (const auto fault = job_fault(job)) throw UsageError(fault->what, fault->remedy);
  if (job.name.empty()) job.name = default_job_name(job);
  if (const auto fault = name_fault(job.name)) throw UsageError("--name: " + *fault);
  return job;
}

std::vector<Job> configured_jobs(const Options& options, const Setup& setup) {
  const std::string file = setup.config_file.empty() ? "there is no config" : harmless(setup.config_file);
  std::vector<Job> out;
  for (const Job& job : setup.config.jobs) {
    const bool here = options.target.empty() || job.host == options.target;
    const bool picked = options.jobs.empty() || std::find(options.jobs.begin(), options.jobs.end(), job.name) != options.jobs.end();
    if (!here || !picked) continue;
    out.push_back(job);
    if (options.interval) out.back().interval = *options.interval;
  }
  std::vector<std::string> names;
  for (const Job& job : setup.config.jobs) names.push_back(job.name);
  for (const std::string& wanted : options.jobs) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    const std::string hint = did_you_mean(wanted, names);
    throw UsageError("no job " + quoted(wanted) + " in the config" + (hint.empty() ? "" : "; " + hint), "See trainvigil config show (" + file + ")");
  }
  if (!out.empty()) return out;
  if (!options.target.empty())
    throw UsageError("no job for " + quoted(options.target) + ": " + file,
                     "Describe one with --checkpoints DIR or --process REGEX, or add a [[job]] with this host");
  throw UsageError("no job to look at: " + file,
                   "Give a TARGET with --checkpoints DIR or --process REGEX, or write a config (trainvigil config init)");
}

}  // namespace

void make_absolute(std::optional<std::string>& path, const std::string& host) {
  if (!path || host != "local" || path->empty() || path->front() == '/') return;
  std::error_code fault;
  const auto absolute = std::filesystem::absolute(*path, fault);
  if (!fault) path = absolute.lexically_normal().string();
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void refuse(const Error& error) { throw UsageError(error.where.empty() ? error.what : error.where + ": " + error.what, error.remedy); }

Setup load_setup(const Options& options) {
  Setup out;
  if (options.no_config) return out;
  const auto file = find_config(options.config, environment);
  if (!file) return out;
  auto config = load_config(*file);
  if (!config) throw ConfigRefused(std::move(config.error()));
  out.config = *std::move(config);
  out.config_file = *file;
  return out;
}

std::vector<Job> choose_jobs(const Options& options, const Setup& setup) {
  if (options.describes()) return {described_job(options, setup.config)};
  return configured_jobs(options, setup);
}

std::vector<HostPlan> plan_hosts(const std::vector<Job>& jobs, const Options& options, const Config& config) {
  std::vector<HostPlan> out;
  if (std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.host != "local"; }))
    check_ssh_config(options.ssh_config.value_or(config.ssh_config));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    auto plan = std::find_if(out.begin(), out.end(), [&](const HostPlan& p) { return p.target.name == job.host; });
    if (plan == out.end()) {
      HostPlan fresh;
      fresh.target.name = job.host;
      fresh.target.ssh_config = options.ssh_config.value_or(config.ssh_config);
      fresh.limit = config.probe_timeout;
      fresh.interval = job.interval;
      if (const auto host = config.hosts.find(job.host); host != config.hosts.end()) {
        fresh.target.kind = host->second.transport;
        fresh.limit = host->second.probe_timeout.value_or(fresh.limit);
      }
      if (job.host == "local") fresh.target.kind = TransportKind::local;
      fresh.limit = options.probe_timeout.value_or(fresh.limit);
      out.push_back(std::move(fresh));
      plan = std::prev(out.end());
    }
    plan->jobs.push_back(i);
    plan->interval = std::min(plan->interval, job.interval);
  }
  return out;
}

History open_history(const Options& options, const Config& config, WithoutRoom without_room) {
  const auto directory = find_state_dir(options.state_dir, config.state_dir, environment);
  if (!directory) refuse(directory.error());
  auto history = History::open(*directory);
  if (history) return *std::move(history);
  if (!history.error().no_room || without_room == WithoutRoom::refuse) refuse(history.error());
  // A look is worth more than its memory, and a full disk is what jobs die of.
  auto copy = History::copy_in_memory(*directory);
  if (!copy) refuse(history.error());
  log_warning(history.error().text() + ". Until then nothing new is remembered");
  return *std::move(copy);
}

void warn_of_namesakes(History& history, const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    const auto others = history.namesakes(job);
    if (!others || others->empty()) continue;
    log_warning("the name " + quoted(job.name) + " is known with another target (" + others->back() + "); its history is kept apart");
  }
}

}  // namespace trainvigil::app
