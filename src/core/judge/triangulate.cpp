#include "core/judge/triangulate.hpp"

#include <algorithm>
#include <array>

#include "core/judge/stall.hpp"

namespace trainvigil {
namespace {

bool has_claim(const std::vector<Testimony>& all, Claim claim) {
  return std::any_of(all.begin(), all.end(), [&](const Testimony& t) { return t.claim == claim; });
}

const Testimony* of_source(const std::vector<Testimony>& all, Source source, Claim claim) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Testimony& t) { return t.source == source && t.claim == claim; });
  return at == all.end() ? nullptr : &*at;
}

// Sources for and against a phase; two for and none against is high confidence (contract section 4).
Confidence weigh(const std::vector<Testimony>& all, std::initializer_list<Claim> pro, std::initializer_list<Claim> contra, int others = 0) {
  std::array<bool, 6> for_it{}, against{};
  const auto in = [](std::initializer_list<Claim> list, Claim c) { return std::find(list.begin(), list.end(), c) != list.end(); };
  for (const Testimony& t : all) {
    if (in(pro, t.claim)) for_it[static_cast<std::size_t>(t.source)] = true;
    if (in(contra, t.claim)) against[static_cast<std::size_t>(t.source)] = true;
  }
  const auto n = std::count(for_it.begin(), for_it.end(), true) + others;
  if (std::count(against.begin(), against.end(), true) > 0 || n == 0) return Confidence::low;
  return n >= 2 ? Confidence::high : Confidence::medium;
}

enum class End { open, by_units, by_mark, by_artefact };

constexpr Seconds kNoRhythmYet{3600};

End proven_end(const Facts& f, const RunMemory& run, bool gone) {
  const Reckoning& r = f.reckoning;
  if (r.done && r.total && *r.total > 0 && *r.done >= *r.total) return End::by_units;
  if (run.log.end_mark) return End::by_mark;
  // A final artefact is believed only once the process is gone: some trainers write "best" weights there all along.
  const CheckpointView& view = run.checkpoint.view;
  if (gone && view.end_artefact && (run.work_began || !run.main)) return End::by_artefact;
  return End::open;
}

// Was so little left that no further save was to be expected? Then nobody can tell a good end from a bad one.
bool less_than_a_save_left(const Facts& f) {
  const Reckoning& r = f.reckoning;
  if (!r.done || !r.total) return false;
  return *r.total - *r.done < f.estimate.spacing - 1e-9;
}

void begin_work(const Facts& f, RunMemory& run) {
  if (run.work_began || f.life.main == nullptr) return;
  const bool gpu = of_source(f.testimonies, Source::gpu, Claim::progress) != nullptr || run.gpu.worked;
  const bool log = of_source(f.testimonies, Source::log, Claim::progress) != nullptr;
  const bool saved = !run.checkpoint.ends.empty() || run.checkpoint.growing_bytes >= 0;
  const bool cpu_job = !run.gpu.held && run.process.busy_looks >= 2;
  if (gpu || log || saved || cpu_job) run.work_began = f.look.now;
}

Ruling alive(const Facts& f, JobState::Impl& state, Statement& out) {
  RunMemory& run = state.run;
  Ruling r;
  begin_work(f, run);
  const bool idle_gpu = of_source(f.testimonies, Source::gpu, Claim::still) != nullptr;
  const auto stall = run.work_began ? find_stall(f, state) : std::nullopt;
  learn_quiet_gaps(f, run);
  const Testimony* writing = of_source(f.testimonies, Source::checkpoint, Claim::writes);

  if (stall && writing == nullptr) {
    run.stalled = true;
    run.recovery_looks = 0;
    follow_standstill(f, run, stall->since);
    if (run.cause.empty()) run.cause = stall->cause;
    r.phase = Phase::stalled;
    r.cause = run.cause;
    r.confidence = weigh(f.testimonies, {Claim::still, Claim::spin, Claim::busy_wait, Claim::overdue}, {Claim::progress, Claim::writes});
    r.because = stall->because;
    r.otherwise = "any work of a GPU, CPU or I/O of the tree, a growing file or a progress line would have kept it training";
    return r;
  }
  if (run.stalled) {
    // One twitch is no recovery: it takes progress, or movement at two looks running.
    const bool progress = has_claim(f.testimonies, Claim::progress) || writing != nullptr;
    const bool moves = has_claim(f.testimonies, Claim::moves);
    run.recovery_looks = moves || progress ? run.recovery_looks + 1 : 0;
    if (!progress && run.recovery_looks < 2) {
      r.phase = Phase::stalled;
      r.cause = run.cause;
      r.confidence = Confidence::low;
      r.because = "it was stalled and has shown no progress since";
      return r;
    }
    run.stalled = false;
    run.cause.clear();
  }
  follow_standstill(f, run, std::nullopt);
  if (writing != nullptr) {
    r.phase = Phase::saving;
    r.confidence = weigh(f.testimonies, {Claim::writes, Claim::progress, Claim::moves}, {});
    r.because = "bytes of a save grow";
    return r;
  }
  if (!run.work_began) {
    r.phase = Phase::starting;
    r.confidence = weigh(f.testimonies, {Claim::moves, Claim::still}, {});
    r.because = "the main process is there and shows no training yet";
    r.otherwise = "GPU work, a checkpoint of this run or a progress line in the log ends the start";
    const WatcherTime moved = run.process.moved_at.value_or(f.look.now);
    if (f.look.now - moved > Patience::start) out.find("start-too-long");
    return r;
  }
  r.phase = Phase::training;
  r.confidence = weigh(f.testimonies, {Claim::progress, Claim::moves}, {Claim::spin});
  r.because = "the main process lives and is within its own rhythm";
  r.otherwise = "two sources that agree on a standstill for " + say_duration(stall_limit(f.look.job, state, !idle_gpu)) + " make it stalled";
  // Findings of activity come only when they outlast the run's own rhythm.
  const Testimony* gpu = nullptr;
  for (const Testimony& t : f.testimonies) {
    if (t.source == Source::gpu) gpu = &t;
  }
  if (gpu != nullptr && gpu->claim == Claim::still && of_source(f.testimonies, Source::process, Claim::moves) != nullptr) {
    const Seconds patience = std::max(Patience::unused_gpu, 1.5 * run.gpu.longest_idle);
    if (f.look.now - gpu->since > patience) out.find("gpu-unused");
  }
  if (gpu != nullptr && gpu->claim == Claim::spin && run.gpu.spin_since) {
    const Seconds patience = 2 * std::max(stall_limit(f.look.job, state, true), run.gpu.longest_idle);
    if (f.look.now - *run.gpu.spin_since > patience) out.find(gpu->cause);
  }
  return r;
}

Ruling gone(const Facts& f, JobState::Impl& state, Statement& out) {
  RunMemory& run = state.run;
  Ruling r;
  const bool terminal = state.phase == Phase::crashed || state.phase == Phase::completed || state.phase == Phase::ended;
  if (!terminal && run.gone_looks < 2 && !run.rebooted) {
    r.phase = state.phase;
    r.cause = run.cause;
    r.confidence = Confidence::low;
    r.look_again_in = Seconds{5};
    r.because = "the main process was missed once; a second look is due";
    return r;
  }
  r.since = run.gone_at;
  const End end = run.completed_at ? End::by_units : proven_end(f, run, true);
  const std::string cause{proven_cause(f.look, f.life, state)};
  // What explained a standstill does not explain the death after it; what was proven at the death stays proven.
  if (!terminal || run.cause.empty() || run.cause == "workers-left") run.cause = cause;
  if (run.completed_at || end != End::open) {
    if (!run.completed_at) run.completed_by_mark = end == End::by_mark;
    run.cause.clear();
    r.phase = Phase::completed;
    r.confidence = weigh(f.testimonies, {}, {}, 2);
    r.because = end == End::by_mark ? "the log holds the end mark"
                                    : (end == End::by_artefact ? "the final artefact is there" : "the last unit's checkpoint is complete");
    return r;
  }
  if (f.life.leftovers > 0) out.find("workers-left");
  if (run.cause == "preempted") {
    r.phase = Phase::waiting;
    out.find("preempted", Level::ok);
    r.cause = run.cause;
    r.confidence = Confidence::medium;
    r.because = "the scheduler took the host away and will start the job again";
    return r;
  }
  // Progress that comes after the death of the process is not its own: somebody contradicts.
  const auto& ends = run.checkpoint.ends;
  if (run.gone_at && !ends.empty() && watcher_time(ends.back().at) - *run.gone_at > Seconds{60}) {
    r.phase = Phase::unknown;
    r.because = "the process is gone and yet checkpoints come";
    return r;
  }
  const bool decisive = !run.cause.empty() && run.cause != "workers-left";
  const bool open = f.reckoning.total && !less_than_a_save_left(f);
  r.phase = decisive || open || f.life.leftovers > 0 ? Phase::crashed : Phase::ended;
  if (r.phase == Phase::crashed) r.cause = run.cause;
  r.confidence = r.phase == Phase::ended ? Confidence::low : (decisive || f.reckoning.done ? Confidence::high : Confidence::medium);
  r.because = r.phase == Phase::crashed ? "the main process is gone at two looks and the end is not proven"
                                        : "the main process is gone and nothing proves how it ended";
  r.otherwise = "a complete checkpoint of the last unit, a final artefact or the end mark in the log would have made it completed";
  return r;
}

// No process of it was ever seen: only the files speak.
Ruling never_seen(const Facts& f, JobState::Impl& state) {
  RunMemory& run = state.run;
  Ruling r;
  r.confidence = Confidence::medium;
  const CheckpointMemory& saves = run.checkpoint;
  const bool progress = of_source(f.testimonies, Source::checkpoint, Claim::progress) != nullptr;
  const bool writes = saves.growing_bytes >= 0 && saves.quiet_looks < 2;
  const bool asked = f.look.job.process || f.look.job.pid;
  if (proven_end(f, run, true) != End::open) {
    r.phase = Phase::completed;
    r.because = asked ? "all units are there and no process is" : "all units are there";
    return r;
  }
  if (!asked) {
    // Watched by its directory alone: it lives as long as its rhythm holds, an hour where it has shown none yet.
    if (writes) {
      r.phase = Phase::saving;
      r.because = "bytes of a save grow";
      return r;
    }
    if (saves.progressed_at) {
      const double until = f.estimate.overdue_at.value_or(epoch_seconds(*saves.progressed_at) + kNoRhythmYet.count());
      const bool in_rhythm = epoch_seconds(f.look.now) <= until;
      r.phase = in_rhythm ? Phase::training : Phase::ended;
      r.because = in_rhythm ? "checkpoints come in their rhythm" : "the checkpoints stay away; no process was asked for, so nobody can say why";
      return r;
    }
  } else if (f.life.read && (progress || (writes && saves.growth_seen))) {
    r.phase = Phase::unknown;
    r.confidence = Confidence::low;
    r.because = "checkpoints come, but no process matches the pattern";
    return r;
  }
  const bool units = run.checkpoint.highest_done.value_or(0) > 0 || !run.checkpoint.view.checkpoints.empty();
  r.phase = units ? Phase::ended : Phase::waiting;
  r.because = units ? "units were done and no process is there" : "nothing of the job is there";
  return r;
}

}  // namespace

Ruling triangulate(const Facts& f, JobState::Impl& state, Statement& out) {
  RunMemory& run = state.run;
  const bool exceeded = f.reckoning.done && f.reckoning.total && *f.reckoning.done > *f.reckoning.total + 1e-9;
  if (exceeded) out.find("total-exceeded");
  if (f.life.main != nullptr) {
    const End end = proven_end(f, run, false);
    if (exceeded && run.completed_at && !run.completed_by_mark) run.completed_at.reset();
    // One look reads log and listing side by side: a mark that is newer than the listing may belong to a save that the listing lacks.
    const bool below = f.reckoning.done && f.reckoning.total && *f.reckoning.done < *f.reckoning.total;
    const bool unconfirmed = end == End::by_mark && below && run.log.marked_at == f.look.now;
    if (!run.completed_at && end != End::open && !(end == End::by_units && exceeded) && !unconfirmed) {
      run.completed_at = f.look.now;
      run.completed_by_mark = end == End::by_mark;
    }
    if (run.completed_at) {
      run.stalled = false;
      run.cause.clear();
      Ruling r;
      r.phase = Phase::completed;
      r.since = run.completed_at;
      r.confidence = weigh(f.testimonies, {Claim::still}, {}, 1);
      r.because = run.completed_by_mark ? "the log holds the end mark" : "the last unit's checkpoint is complete";
      if (f.look.now - *run.completed_at > Patience::lingering) out.find("finished-but-alive");
      return r;
    }
    Ruling r = alive(f, state, out);
    if (unconfirmed) r.look_again_in = Seconds{2};
    return r;
  }
  if (!f.life.read && (f.look.job.process || f.look.job.pid)) {
    Ruling r;
    r.phase = state.phase;
    r.cause = run.cause;
    r.confidence = Confidence::low;
    r.because = "the process table could not be read; a partial look moves no phase";
    const bool blind_from_the_start = !state.table_read;
    if ((blind_from_the_start || state.partial_looks >= Patience::looks) && !has_claim(f.testimonies, Claim::progress) &&
        !has_claim(f.testimonies, Claim::writes)) {
      r.phase = Phase::unknown;
      r.because = blind_from_the_start ? "the process table could not be read" : "the process table could not be read for several looks";
    }
    return r;
  }
  if (run.main) return gone(f, state, out);
  return never_seen(f, state);
}

}  // namespace trainvigil
