#include <algorithm>
#include <cstdio>

#include "app/checkpoint_view.hpp"
#include "app/commands/commands.hpp"
#include "app/logging.hpp"
#include "app/memory.hpp"
#include "app/output.hpp"
#include "app/overrides.hpp"
#include "app/setup.hpp"
#include "app/single_look.hpp"
#include "trainvigil/exit_code.hpp"
#include "trainvigil/trace.hpp"

namespace trainvigil::app {
namespace {

/// The checkpoints of one job as one observation shows them, or why there is nothing to show.
struct Shown {
  Job job;
  CheckpointView view;
  std::optional<HostTime> now;
  std::string unknown;   ///< not empty: the directory could not be read
  bool missing = false;  ///< the directory is not there
};

Shown shown_after(const Job& job, const Observation& last, const CheckpointView& view) {
  Shown out{job, {}, last.host.time, {}, false};
  if (last.reach != Reach::ok) {
    out.unknown = job.host + ": " + last.error.value_or(to_string(last.reach)) + (last.remedy ? ". " + *last.remedy : "");
  } else if (last.files) {
    out.view = view;
  } else if (last.files_error == "missing") {
    out.missing = true;
  } else {
    out.unknown = job.checkpoints.value_or("") + " can not be read: " + last.files_error.value_or("not listed");
  }
  return out;
}

/// The judge itself looks at the listing, with what it remembers of the run, so that `status` and this command never differ. Nothing is kept.
Shown judged(const Job& job, Observation observation, const std::optional<std::string>& remembered, const Prior& prior) {
  JobState state;
  if (remembered && !state.parse(*remembered)) state = JobState();
  advance(job, prior, state, observation);
  return shown_after(job, observation, checkpoint_view(state));
}

/// Whole archives are read: two busy cores summed up 4.7 GB in 26 s, which makes 100 GB.
constexpr Seconds kVerifyLimit{600};

/// What was not read to its end is not called whole by its format, and who asks should know.
void warn_of_unread(const Job& job, const Observation& seen, bool verify) {
  const auto state = seen.sensors.find("state");
  if (seen.reach != Reach::ok || !seen.files || state == seen.sensors.end() || state->second.status == SensorStatus::ok) return;
  std::fprintf(stderr, "trainvigil: %s: not every file could be %s%s\n", harmless(job.name).c_str(), verify ? "verified" : "looked into",
               state->second.status == SensorStatus::absent ? ": the host lacks tr, cksum or gzip"
                                                            : " in time; the newest ones were read first. Give more: --probe-timeout 1h");
}

std::vector<Shown> look(const Options& options) {
  const Setup setup = load_setup(options);
  std::vector<Job> jobs = choose_jobs(options, setup);
  std::erase_if(jobs, [](const Job& job) { return !job.checkpoints; });
  if (jobs.empty()) throw UsageError("no checkpoint directory to look into", "Give --checkpoints DIR");
  if (options.last_good && jobs.size() > 1)
    throw UsageError("--last-good prints one path, and there are " + std::to_string(jobs.size()) + " jobs", "Pick one with --job NAME");
  const auto directory = find_state_dir(options.state_dir, setup.config.state_dir, environment);
  // The list is worth having without a history, too.
  std::optional<History> history;
  if (directory)
    if (auto opened = History::open(*directory)) history.emplace(*std::move(opened));
  LookOptions how;
  how.quick = true;  // the GPUs have no say in this
  how.catch_up = true;
  how.verify_all = options.verify;
  auto plans = plan_hosts(jobs, options, setup.config);
  if (options.verify && !options.probe_timeout)
    for (HostPlan& plan : plans) plan.limit = std::max(plan.limit, kVerifyLimit);
  const auto observations = look_at_all(jobs, plans, how);
  std::vector<Shown> out;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Remembered known;
    if (history)
      if (auto found = history->remembered(jobs[i])) known = *std::move(found);
    out.push_back(judged(jobs[i], observations[i], known.state.empty() ? std::nullopt : std::optional(known.state), known.prior));
    warn_of_unread(jobs[i], observations[i], options.verify);
  }
  return out;
}

/// `cut`: the trace ends within a line.
Shown from_trace(const Options& options, bool& cut) {
  auto reader = TraceReader::open(*options.from_trace);
  if (!reader) refuse(reader.error());
  Job job = overridden(reader->header().job, options.described);
  make_absolute(job.checkpoints, job.host);
  if (options.last_good && (!job.checkpoints || job.checkpoints->front() != '/'))
    throw UsageError("the trace does not tell the absolute path of the checkpoint directory", "Give it with --checkpoints DIR");
  JobState state;
  Observation observation;
  bool any = false;
  for (;;) {
    const auto more = reader->next(observation);
    if (!more) {
      std::fprintf(stderr, "trainvigil: %s\n", harmless(more.error().text()).c_str());
      cut = true;
    }
    if (!more || !*more) break;
    advance(job, reader->header().prior, state, observation);
    any = true;
  }
  if (!any) throw UsageError(harmless(*options.from_trace) + " holds no observation", "Record one with trainvigil run --record FILE");
  return shown_after(job, observation, checkpoint_view(state));
}

int print_last_good(const Shown& shown) {
  const Checkpoint* good = last_good(shown.view);
  if (good == nullptr && shown.view.cut) {
    std::fprintf(stderr, "trainvigil: no complete checkpoint in the part that could be listed\n");
    return kExitUnknown;
  }
  if (good == nullptr) {
    std::fprintf(stderr, "trainvigil: no complete checkpoint there\n");
    return kExitCritical;
  }
  const std::string directory = shown.job.checkpoints.value_or("");
  const bool slash = !directory.empty() && directory.back() == '/';
  print_line(good->path.empty() || good->path == "." ? directory : directory + (slash ? "" : "/") + good->path);
  return kExitOk;
}

int run_checkpoints(const Options& options) {
  const auto logging = start_logging(options.verbose, "");
  if (!logging) refuse(logging.error());
  bool cut = false;
  if (options.from_trace && !options.target.empty()) throw UsageError("both a TARGET and --from-trace are given", "Use either");
  const std::vector<Shown> all = options.from_trace ? std::vector<Shown>{from_trace(options, cut)} : look(options);
  int code = kExitOk;
  const TextStyle style = text_style(options);
  for (const Shown& shown : all) {
    if (shown.view.cut)
      std::fprintf(stderr, "trainvigil: %s: the listing was cut: %s\n", harmless(shown.job.checkpoints.value_or("")).c_str(),
                   harmless(*shown.view.cut).c_str());
    const std::string directory = shown.job.checkpoints.value_or("");
    if (shown.missing) std::fprintf(stderr, "trainvigil: %s: there is no %s\n", harmless(shown.job.host).c_str(), harmless(directory).c_str());
    if (!shown.unknown.empty()) {
      std::fprintf(stderr, "trainvigil: %s\n", harmless(shown.unknown).c_str());
      code = kExitUnknown;
    }
    if (options.last_good) {
      if (shown.unknown.empty()) code = print_last_good(shown);
    } else if (options.json) {
      const std::string error = shown.missing ? directory + " is missing" : shown.unknown;
      print_line(format_checkpoints_json(shown.view, error.empty() ? std::nullopt : std::optional(error)));
    } else if (shown.unknown.empty() && !shown.missing) {
      if (all.size() > 1) print_line(harmless(shown.job.name) + ":");
      print(format_checkpoints_table(shown.view, shown.now, style));
      if (!shown.job.process && !shown.view.checkpoints.empty())
        std::fprintf(stderr, "trainvigil: with --process REGEX it can be told which of them are this run's, and a save cut short at once\n");
    }
  }
  return cut ? kExitUnknown : code;
}

}  // namespace

Command checkpoints_command() {
  return {"checkpoints",
          "Every checkpoint with its state; or the newest that is safe to resume from",
          "--verify proves of zip archives (torch.save since 1.6, .keras, .npz) that every byte is the one that was written: the host reads them, "
          "niced, and\n"
          "sends checksums only. Of TensorFlow's indices it proves the same. Of the others it proves that nothing is missing: safetensors, NumPy, "
          "GGUF and HDF5\n"
          "hold no checksum of their numbers. It takes up to 10 minutes; --probe-timeout sets another limit.\n"
          "Exit codes of --last-good: 0 printed, 2 none there (and nothing on stdout), 3 unknown.\n"
          "Examples:\n"
          "  trainvigil checkpoints gpu1 --checkpoints /data/run/output\n"
          "  python train.py --resume \"$(trainvigil checkpoints local --checkpoints ./output --last-good)\"",
          {target_argument()},
          together({{{"--last-good", "", "Print only the absolute path of the newest complete one",
                      [](Options& o, const std::string&) { o.last_good = true; }, ""},
                     {"--verify", "", "Read every file, not only the new ones, and all of it where its format has checksums",
                      [](Options& o, const std::string&) { o.verify = true; }, ""},
                     {"--from-trace", "FILE", "Look at a trace's last observation instead of a host",
                      [](Options& o, const std::string& v) { o.from_trace = v; }, ""},
                     job_option()},
                    describing_options()}),
          run_checkpoints};
}

}  // namespace trainvigil::app
