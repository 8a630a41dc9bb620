#include <algorithm>
#include <memory>

#include "app/changes.hpp"
#include "app/commands/commands.hpp"
#include "app/logging.hpp"
#include "app/recorder.hpp"
#include "app/reporter.hpp"
#include "app/systemd.hpp"
#include "app/watching.hpp"
#include "trainvigil/exit_code.hpp"

namespace trainvigil::app {
namespace {

int run_run(const Options& options) {
  Watching watching(options, options.record.has_value());
  const auto& jobs = watching.jobs();
  if (options.record && jobs.size() != 1)
    throw UsageError("--record writes one job, and there are " + std::to_string(jobs.size()), "Pick one with --job NAME");
  std::unique_ptr<Recorder> recorder;
  TraceHeader header;
  if (options.record) {
    recorder = std::make_unique<Recorder>(*options.record);
    const auto remembered = watching.history().remembered(jobs.front());
    if (!remembered) refuse(remembered.error());
    header.prior = remembered->prior;
  }
  const auto record = [&](const Turn& turn) {
    if (!recorder->begun()) {
      header.job = turn.job;
      // The deadline as the first turn understood it, so that a replay on another day does the same.
      if (const auto remembered = watching.history().remembered(turn.job)) header.job.deadline_at = remembered->deadline_at;
      recorder->begin(header);
    }
    recorder->add(turn.observation);
  };

  const auto reporter = make_reporter(options, jobs.size(), options.heartbeat.value_or(watching.setup().config.heartbeat));
  std::vector<std::optional<Verdict>> latest(jobs.size());
  PollOptions poll;
  if (const auto tick = watchdog_interval()) {
    poll.tick = tick;
    poll.on_tick = [] { notify_service_manager("WATCHDOG=1"); };
  }
  log_info("watching " + std::to_string(jobs.size()) + (jobs.size() == 1 ? " job" : " jobs"));
  notify_service_manager("READY=1\nSTATUS=watching " + std::to_string(jobs.size()) + (jobs.size() == 1 ? " job" : " jobs"));
  const PollEnd end = watching.poll(poll, [&](const Turn& turn) {
    reporter->report(turn);
    if (recorder) record(turn);
    latest[turn.index] = turn.verdict;
    if (!options.until_done || !turn.settled) return true;
    return !std::all_of(latest.begin(), latest.end(), [](const auto& verdict) { return verdict && is_over(verdict->phase); });
  });
  notify_service_manager("STOPPING=1");
  return end == PollEnd::stopped ? kExitOk : worst_exit_code(latest);
}

}  // namespace

Command run_command() {
  return {"run",
          "Watch in the foreground: poll until stopped",
          "A line at each change and at least each --heartbeat; with --json a verdict a line at every poll. SIGINT and SIGTERM end it with 0;\n"
          "with --until-done the worst final level is the exit code.\n"
          "Examples:\n"
          "  trainvigil run\n"
          "  trainvigil run gpu1 --checkpoints /data/run/output --until-done\n"
          "  trainvigil run --json --log-file /var/log/trainvigil.log",
          {target_argument()},
          together({{interval_option(),
                     {"--heartbeat", "DURATION", "Print each job at least this often (10m)",
                      [](Options& o, const std::string& v) { o.heartbeat = duration_value(v); }, ""},
                     {"--log-file", "FILE", "Log to this file as well; it is rotated", [](Options& o, const std::string& v) { o.log_file = v; }, ""},
                     {"--record", "FILE", "Write what is seen of one job for replay; its memory begins anew",
                      [](Options& o, const std::string& v) { o.record = v; }, ""},
                     {"--until-done", "", "Leave once every job is completed, ended or crashed",
                      [](Options& o, const std::string&) { o.until_done = true; }, ""},
                     job_option()},
                    describing_options()}),
          run_run};
}

}  // namespace trainvigil::app
