// One turn of the judge: the witnesses in order, the triangulation, the estimate, the verdict.
#include <algorithm>
#include <cmath>

#include "core/eta/estimate.hpp"
#include "core/judge/summary.hpp"
#include "core/judge/triangulate.hpp"
#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

// 6 units times this are 20: paused and shared machines give units of up to 25 times the level in public logs, with nothing broken.
constexpr double kCalmFactor = 10.0 / 3.0;

Verdict unreachable(const Job& job, JobState::Impl& state, const Observation& seen) {
  Verdict v;
  v.time = seen.watcher_time;
  v.job = job.name;
  v.host = job.host;
  v.phase = Phase::unreachable;
  v.level = Level::unknown;
  v.cause = to_string(seen.reach);
  v.confidence = Confidence::low;
  if (!state.unreachable_since) state.unreachable_since = seen.watcher_time;
  v.since = state.unreachable_since;
  v.findings = {to_string(seen.reach)};
  v.summary = summarize_unreachable(seen, state);
  v.remedy = seen.remedy;
  if (state.looked_at) v.last = LastKnown{state.phase, *state.looked_at};
  v.progress = state.last_progress;
  v.eta = state.last_eta;
  v.checkpoint = state.last_checkpoint;
  v.last_good = state.last_good;
  v.evidence.push_back({"reach", "host", to_string(seen.reach), seen.error.value_or("")});
  return v;
}

std::string run_id(const RunMemory& run) {
  const std::string boot = run.boot_id ? run.boot_id->substr(0, 8) : "boot?";
  return text("%s-%lld-%lld", boot.c_str(), static_cast<long long>(run.main->pid), static_cast<long long>(run.main->ticks));
}

/// Unit ends as if the run had never stood still: each is moved by the standstills that came after it, so that no interval, and not the one that runs
/// now, contains one. `with_open`: with the one that lasts still.
std::vector<UnitEnd> working_ends(const Look& look, const CheckpointMemory& memory, bool with_open, double& moved) {
  std::vector<UnitEnd> ends = memory.ends;
  const double open = with_open && memory.stands_since ? std::max(0.0, (look.now - *memory.stands_since).count()) : 0;
  moved = memory.stood_s + open;
  for (UnitEnd& end : ends) end.at += moved - end.stood_s;
  return ends;
}

EtaInput eta_input(const Look& look, const Job& job, const JobState::Impl& state, const Reckoning& reckoning, const std::vector<UnitEnd>& working,
                   double moved) {
  const RunMemory& run = state.run;
  EtaInput in;
  in.ends = &working;
  in.dropped_ends = run.checkpoint.dropped_ends;
  in.total = reckoning.total;
  in.first_done = run.checkpoint.first_done.value_or(0);
  in.now = epoch_seconds(look.now);
  in.expected = job.expected ? job.expected : state.prior.total;
  in.prior_unit = state.prior.unit;
  // Work that was first noticed by its save says nothing about when it began.
  const auto& ends = run.checkpoint.ends;
  if (run.work_began && !run.joined_late && (ends.empty() || epoch_seconds(*run.work_began) < ends.front().at)) {
    in.began = epoch_seconds(*run.work_began);
    in.began_is_work = true;
  } else if (const auto start = look.to_watcher(run.start)) {
    in.began = epoch_seconds(*start);
  } else if (run.first_seen && !run.joined_late) {
    in.began = epoch_seconds(*run.first_seen);
  }
  if (in.began > 0) in.began += moved;
  return in;
}

// p90 does not fall without news: a bound told to a person stays told until the next unit is done.
void hold_upper_bounds(JobState::Impl& state, const Reckoning& reckoning, Eta& eta) {
  const double done = reckoning.done.value_or(-1);
  if (done != state.told_done) {
    state.told_done = done;
    state.told_p90 = state.told_next_p90 = 0;
  }
  const auto hold = [](std::optional<WatcherTime>& p90, double& told) {
    if (!p90) return;
    told = std::max(told, epoch_seconds(*p90));
    p90 = watcher_time(told);
  };
  hold(eta.end.p90, state.told_p90);
  hold(eta.next_checkpoint.p90, state.told_next_p90);
}

Progress progress_of(const Reckoning& r, const Estimate& e, Phase phase) {
  Progress p;
  p.unit = r.unit;
  p.done = r.done;
  p.total = r.total;
  if (phase == Phase::completed && r.total) {
    p.fraction = r.done && *r.done < *r.total ? std::max(0.0, *r.done / *r.total) : 1.0;
    return p;
  }
  if (!r.total || *r.total <= 0) return p;
  const bool alive = phase == Phase::training || phase == Phase::saving || phase == Phase::stalled;
  double done = r.done.value_or(0);
  if (!r.done && !alive) return p;
  if (alive && e.share) {
    done += *e.share * e.spacing;
    p.estimated = true;
  }
  p.fraction = std::clamp(done / *r.total, 0.0, 0.9999);
  return p;
}

Level level_of(Phase phase) {
  switch (phase) {
    case Phase::stalled:
    case Phase::crashed:
      return Level::critical;
    case Phase::ended:
      return Level::warning;
    case Phase::unreachable:
    case Phase::unknown:
      return Level::unknown;
    default:
      return Level::ok;
  }
}

void sort_findings(std::vector<Finding>& findings) {
  // Several witnesses may find the same: the gravest level stays.
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return a.name != b.name ? a.name < b.name : a.level > b.level; });
  findings.erase(std::unique(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.name == b.name; }), findings.end());
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.level > b.level; });
}

void add_own_findings(const Look& look, const JobState::Impl& state, const Reckoning& reckoning, const Estimate& e, const Ruling& ruling,
                      Statement& out) {
  const RunMemory& run = state.run;
  const bool alive = ruling.phase == Phase::training || ruling.phase == Phase::saving;
  if (ruling.phase == Phase::training && e.overdue_at && epoch_seconds(look.now) > *e.overdue_at) {
    // While others see the run train at its usual pace, a late checkpoint is a slow unit for much longer than when nobody does.
    const double level = e.level.value_or(0);
    const UnitEnd& end = run.checkpoint.ends.back();
    const double last = end.at + run.checkpoint.stood_s - end.stood_s;
    if (run.uneasy_looks >= Patience::looks || epoch_seconds(look.now) > last + kCalmFactor * (*e.overdue_at - last) || level <= 0)
      out.find("checkpoint-overdue");
  }
  // News for ten minutes; from then on the slower pace is this run's own.
  if (alive && e.slowed && look.now - watcher_time(run.checkpoint.ends.back().at) < Seconds{600}) out.find("slowdown");
  if (alive && look.job.deadline_at && e.eta && e.eta->end.p50 && *e.eta->end.p50 > *look.job.deadline_at) out.find("deadline-at-risk");
  if (ruling.phase == Phase::completed && run.completed_by_mark && reckoning.done && reckoning.total && *reckoning.done < *reckoning.total)
    out.find("ended-early");
  if (ruling.phase == Phase::waiting && look.job.start_within && state.first_look && look.now - *state.first_look > *look.job.start_within)
    out.find("never-started");
  // Three lives within an hour and none of them finished a unit: it restarts in a loop.
  int fruitless = 0;
  for (const PastRun& p : state.past) {
    if (epoch_seconds(look.now) - p.first_seen < 3600 && p.done <= 0 && p.phase != "completed") ++fruitless;
  }
  if (fruitless >= 2 && run.checkpoint.ends.empty()) out.find("restart-loop");
}

void quote(const std::vector<Testimony>& testimonies, Verdict& v) {
  for (const Testimony& t : testimonies) {
    if (t.detail.empty() && t.says.empty()) continue;
    v.evidence.push_back({std::string(t.signal), to_string(t.source), std::string(t.says), t.detail});
  }
}

const Checkpoint* newest_checkpoint(const CheckpointView& view) { return view.checkpoints.empty() ? nullptr : &view.checkpoints.front(); }

}  // namespace

Verdict advance(const Job& job, const Prior& prior, JobState& job_state, const Observation& seen, Explanation* explain) {
  JobState::Impl& state = job_state.impl();
  if (state.fresh) {
    state.prior = prior;
    state.fresh = false;
    state.usual_interval = job.interval.count();
  }
  const Phase shown_before = state.shown;
  if (seen.reach != Reach::ok) {
    Verdict v = unreachable(job, state, seen);
    state.shown = Phase::unreachable;
    if (explain != nullptr && shown_before != Phase::unreachable)
      explain->text = std::string(to_string(shown_before)) + " -> unreachable: " + v.summary + "\n";
    return v;
  }
  const Look look{job, seen, seen.watcher_time, seen.host.time};
  if (state.looked_at && !state.unreachable_since) {
    const double turn = (look.now - *state.looked_at).count();
    // Confirming looks within seconds are no part of the rhythm.
    if (turn > 0.5 * state.usual_interval && turn < 3600) state.usual_interval += 0.2 * (turn - state.usual_interval);
  }
  if (!state.first_look) state.first_look = look.now;

  const Life life = find_life(look, state);
  Statement statement;
  std::vector<GpuSummary> gpus;
  process_signal(look, life, state.run, statement);
  checkpoint_signal(look, life, state, statement);
  gpu_signal(look, life, state, statement, &gpus);
  log_signal(look, life, state.run, statement);
  host_signal(look, life, state, statement);

  const Reckoning reckoning = reckon(job, state.run);
  double moved = 0;
  std::vector<UnitEnd> working = working_ends(look, state.run.checkpoint, false, moved);
  Estimate e = estimate(eta_input(look, job, state, reckoning, working, moved));
  auto& said = statement.testimonies;
  const bool long_overdue = e.overdue_at && epoch_seconds(look.now) > *e.overdue_at;
  if (e.late_at && life.main != nullptr && epoch_seconds(look.now) > *e.late_at) {
    const WatcherTime last = watcher_time(state.run.checkpoint.ends.back().at);
    Testimony t;
    t.signal = "checkpoint-rhythm";
    t.source = Source::checkpoint;
    t.claim = Claim::overdue;
    t.since = last;
    t.looks = Patience::looks;
    t.long_overdue = long_overdue;
    t.says = long_overdue ? "overdue" : "late";
    t.detail =
        "the last was completed " + say_duration(look.now - last) + " ago, usually one comes every " + say_duration(Seconds{e.level.value_or(0)});
    said.push_back(std::move(t));
  }
  const Facts facts{look, life, reckoning, e, said};
  const Ruling ruling = triangulate(facts, state, statement);

  // What is late was judged with the standstill in it; what a person is told of the running unit is not.
  if (state.run.checkpoint.stands_since) {
    working = working_ends(look, state.run.checkpoint, true, moved);
    const Estimate told = estimate(eta_input(look, job, state, reckoning, working, moved));
    e.share = told.share;
    e.eta = told.eta;
  }

  const bool training_now =
      std::any_of(said.begin(), said.end(), [](const Testimony& t) { return t.claim == Claim::progress && !t.stale; }) ||
      (!state.run.gpu.held && ruling.phase == Phase::training) ||
      // A GPU that may work or wait: the process decides, and teaches only while it moves.
      (std::any_of(said.begin(), said.end(), [](const Testimony& t) { return t.weak; }) &&
       std::any_of(said.begin(), said.end(), [](const Testimony& t) { return t.source == Source::process && t.claim == Claim::moves; }));
  if (training_now && life.main != nullptr && ruling.phase == Phase::training) learn_process_rhythm(state.run.process);
  const bool calm =
      std::any_of(said.begin(), said.end(), [](const Testimony& t) { return t.as_usual || (t.source == Source::gpu && t.claim == Claim::progress); });
  state.run.uneasy_looks = calm ? 0 : state.run.uneasy_looks + 1;
  add_own_findings(look, state, reckoning, e, ruling, statement);
  if (!ruling.cause.empty() && (ruling.phase == Phase::stalled || ruling.phase == Phase::crashed)) statement.find(state.run.cause, Level::critical);
  sort_findings(statement.findings);

  // What outlives this look.
  if (ruling.phase == Phase::completed && !state.run.completed_at) state.run.completed_at = state.run.gone_at.value_or(look.now);
  if (ruling.phase != Phase::unknown) {
    if (state.phase != ruling.phase || !state.since) state.since = ruling.since.value_or(look.now);
    state.phase = ruling.phase;
  }
  if (state.shown != ruling.phase || !state.shown_since) state.shown_since = ruling.phase == Phase::unknown ? look.now : state.since;
  state.shown = ruling.phase;
  state.unreachable_since.reset();

  Verdict v;
  v.time = look.now;
  v.host_time = look.host_now;
  v.job = job.name;
  v.host = job.host;
  if (state.run.main) v.run = run_id(state.run);
  v.phase = ruling.phase;
  v.level = level_of(ruling.phase);
  if (!ruling.cause.empty() && (ruling.phase == Phase::crashed || ruling.phase == Phase::stalled || ruling.phase == Phase::waiting))
    v.cause = ruling.cause;
  v.confidence = ruling.confidence;
  v.since = state.shown_since;
  for (const Finding& f : statement.findings) {
    v.findings.emplace_back(f.name);
    // Only warnings lift the level; a cause that stands among them belongs to a phase that is critical already.
    if (f.level == Level::warning && (v.level == Level::ok)) v.level = Level::warning;
  }
  quote(said, v);
  v.progress = progress_of(reckoning, e, ruling.phase);
  const bool runs =
      ruling.phase == Phase::starting || ruling.phase == Phase::training || ruling.phase == Phase::saving || ruling.phase == Phase::unknown;
  if (runs && e.eta) {
    if (reckoning.total_untranslated) e.eta->basis += "; --epochs can not be compared with steps without a state file";
    hold_upper_bounds(state, reckoning, *e.eta);
    // The end is at hand and no further save is to come: nothing that a clock could tell.
    if (e.eta->end.p50 || e.eta->next_checkpoint.p50) v.eta = std::move(e.eta);
  }
  const CheckpointView& view = state.run.checkpoint.view;
  if (const Checkpoint* c = newest_checkpoint(view)) v.checkpoint = *c;
  if (const Checkpoint* c = last_good(view)) v.last_good = *c;
  if (seen.gpus) v.gpus = std::move(gpus);
  if (life.read) {
    v.processes.emplace();
    v.processes->count = life.count;
    if (life.main != nullptr) {
      v.processes->main_pid = life.main->pid;
      v.processes->state = life.main->state;
    }
  }
  if (ruling.phase == Phase::unknown) v.last = LastKnown{state.phase, state.looked_at.value_or(look.now)};
  v.summary = summarize(v, state, reckoning, look, ruling.because);
  v.look_again_in = ruling.look_again_in;
  state.looked_at = look.now;
  state.last_progress = v.progress;
  state.last_eta = v.eta;
  state.last_checkpoint = v.checkpoint;
  state.last_good = v.last_good;
  ++state.polls;
  if (explain != nullptr && v.phase != shown_before) explain->text = explain_change(v, shown_before, ruling, said);
  return v;
}

}  // namespace trainvigil
