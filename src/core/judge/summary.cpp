#include "core/judge/summary.hpp"

#include <algorithm>
#include <cmath>

#include "trainvigil/bytes.hpp"

namespace trainvigil {
namespace {

std::string unit_word(std::optional<Unit> unit) { return unit ? to_string(*unit) : "unit"; }

std::string say_progress(const Reckoning& r) {
  if (!r.done) return "nothing finished yet";
  if (r.total) return text("%s %.0f of %.0f done", unit_word(r.unit).c_str(), *r.done, *r.total);
  return text("%s %.0f done", unit_word(r.unit).c_str(), *r.done);
}

std::string say_until(const Verdict& v) {
  if (!v.eta || !v.eta->end.p50) return {};
  std::string out = ", ends in about " + say_duration(*v.eta->end.p50 - v.time);
  if (v.eta->end.p10 && v.eta->end.p90) out += " (" + say_duration(*v.eta->end.p10 - v.time) + " to " + say_duration(*v.eta->end.p90 - v.time) + ")";
  return out;
}

std::string say_last_good(const Verdict& v, const Reckoning& r) {
  if (!v.last_good) return "no complete checkpoint is there";
  // Beside "nothing finished yet" a bare name would read as a contradiction.
  const bool left_over = !r.done && v.last_good->run == CheckpointRun::earlier;
  return "resume from " + harmless(v.last_good->path) + (left_over ? ", which an earlier run left" : "");
}

/// A command line may be a compiler's: this much shows which program it is.
constexpr std::size_t kNearMissColumns = 120;

/// " (45 %)" of the save that is being written; nothing where its final size is not known.
std::string say_written(const CheckpointView& view) {
  for (const SaveInProgress& save : view.in_progress)
    if (const auto share = written_share(save); share && !save.leftover) return text(" (%d %%)", static_cast<int>(*share * 100));
  return {};
}

const char* reach_sentence(Reach reach) {
  switch (reach) {
    case Reach::resolve_failed:
      return "the name of the host is not known";
    case Reach::connect_failed:
      return "there is no connection to the host";
    case Reach::auth_failed:
      return "the host refuses the log-in";
    case Reach::host_key_unknown:
      return "the key of the host is not on record here";
    case Reach::host_key_changed:
      return "the key of the host is not the one on record";
    case Reach::host_key_revoked:
      return "the key of the host is revoked";
    case Reach::probe_timeout:
      return "the host did not answer in time";
    case Reach::shell_failed:
      return "the log-in leads to no shell that starts the probe";
    case Reach::ok:
      break;
  }
  return "the host could not be looked at";
}

bool kernel_unread(const Look& look) { return !look.seen.kernel.has_value(); }

std::string say_cause(const Verdict& v, const Look& look) {
  if (v.cause) return " (" + *v.cause + ")";
  if (kernel_unread(look)) return " (cause not proven; the kernel log could not be read)";
  return " (cause not proven)";
}

std::string say_stall(const Verdict& v, const JobState::Impl& state, const Reckoning& r, const Look& look) {
  const RunMemory& run = state.run;
  WatcherTime moved = run.first_seen.value_or(look.now);
  for (const auto& t : {run.process.io_at, run.gpu.moved_at}) {
    if (t) moved = std::max(moved, *t);
  }
  std::string out = "stalled" + (v.cause ? " (" + *v.cause + ")" : std::string{}) + ": nothing has moved for " + say_duration(look.now - moved) +
                    ", " + say_progress(r);
  const WatcherTime progress = run.checkpoint.progressed_at.value_or(run.work_began.value_or(moved));
  if (!run.gpu.gpus.empty()) {
    const double hours = static_cast<double>(run.gpu.gpus.size()) * (look.now - progress).count() / 3600;
    out += text("; %.1f GPU-hours since the last progress", hours);
  }
  return out + "; " + say_last_good(v, r);
}

}  // namespace

std::string summarize(const Verdict& v, const JobState::Impl& state, const Reckoning& r, const Look& look, const std::string& because) {
  const RunMemory& run = state.run;
  switch (v.phase) {
    case Phase::waiting: {
      if (v.cause == "preempted") return "waiting: preempted, the scheduler will start it again; " + say_progress(r);
      std::string out = "waiting: nothing of the job is there yet";
      if (look.job.process) out += ", no process matches '" + harmless(*look.job.process) + "'";
      if (look.seen.near_misses && !look.seen.near_misses->empty()) {
        out += "; nearest: " + shortened(look.seen.near_misses->front().cmdline, kNearMissColumns);
      }
      return out;
    }
    case Phase::starting:
      return "starting: the process has been running for " +
             say_duration(look.now - look.to_watcher(run.start).value_or(run.first_seen.value_or(look.now))) + " and shows no training yet";
    case Phase::training:
      return "training: " + say_progress(r) + say_until(v);
    case Phase::saving:
      return "saving: a checkpoint is being written" + say_written(run.checkpoint.view) + ", " + say_progress(r) + say_until(v);
    case Phase::stalled:
      return say_stall(v, state, r, look);
    case Phase::crashed: {
      std::string out = "crashed" + say_cause(v, look) + ": the main process is gone";
      if (run.gone_at) out += " for " + say_duration(look.now - *run.gone_at);
      return out + ", " + say_progress(r) + "; " + say_last_good(v, r);
    }
    case Phase::completed: {
      std::string out = "completed: " + say_progress(r);
      if (run.completed_by_mark) out += ", the log holds the end mark";
      if (look.now - run.completed_at.value_or(look.now) > Patience::lingering && run.gone_looks == 0 && run.main) {
        out += "; the process has not exited for " + say_duration(look.now - *run.completed_at);
      }
      return out;
    }
    case Phase::ended:
      return "ended: no process is there and nothing proves how it ended, " + say_progress(r) + "; " + say_last_good(v, r);
    case Phase::unreachable:
      break;
    case Phase::unknown:
      return "unknown: " + because + ", " + say_progress(r);
  }
  return to_string(v.phase);
}

std::string summarize_unreachable(const Observation& seen, const JobState::Impl& state) {
  std::string out = std::string("unreachable: ") + reach_sentence(seen.reach);
  if (state.looked_at) out += text("; %s when last seen %s ago", to_string(state.phase), say_duration(seen.watcher_time - *state.looked_at).c_str());
  return out;
}

std::string explain_change(const Verdict& v, Phase before, const Ruling& ruling, const std::vector<Testimony>& testimonies) {
  std::string out = std::string(to_string(before)) + " -> " + to_string(v.phase);
  if (v.cause) out += " (" + *v.cause + ")";
  out += ": " + ruling.because + "\n";
  for (const Testimony& t : testimonies) {
    if (t.detail.empty()) continue;
    out += "  " + std::string(t.signal) + " (" + to_string(t.source) + ") says " + std::string(t.says) + ": " + harmless(t.detail) + "\n";
  }
  if (!ruling.otherwise.empty()) out += "  what would have changed it: " + ruling.otherwise + "\n";
  return out;
}

}  // namespace trainvigil
