#include "core/judge/stall.hpp"

#include <algorithm>

namespace trainvigil {
namespace {

bool alarming(Claim c) { return c == Claim::still || c == Claim::spin || c == Claim::busy_wait; }
bool alive_claim(Claim c) { return c == Claim::progress || c == Claim::moves || c == Claim::writes; }

// Which pairs of claims speak of the same thing. Busy CPU objects to "still" but is just what a wait in a collective looks like.
bool agree(const Testimony& a, const Testimony& b) {
  if (a.source == b.source) return false;
  const auto one = [&](Claim x, Claim y) { return (a.claim == x && b.claim == y) || (a.claim == y && b.claim == x); };
  return one(Claim::still, Claim::still) || one(Claim::still, Claim::spin) || one(Claim::spin, Claim::busy_wait) ||
         one(Claim::still, Claim::overdue) || one(Claim::spin, Claim::overdue) || one(Claim::busy_wait, Claim::overdue);
}

std::string describe(const Testimony& t) { return std::string(t.signal) + " says " + std::string(t.says) + " (" + t.detail + ")"; }

}  // namespace

Seconds stall_limit(const Job& job, const JobState::Impl& state, bool spinning) {
  if (job.stall_after) return *job.stall_after;
  const Seconds floor = spinning ? Patience::spin : Patience::idle;
  const Seconds polls{Patience::looks * state.usual_interval};
  return std::min(Patience::most, std::max({floor, Patience::quiet_gaps * state.run.longest_quiet, polls}));
}

std::optional<Stall> find_stall(const Facts& facts, const JobState::Impl& state) {
  const auto& all = facts.testimonies;
  const WatcherTime now = facts.look.now;
  const ProcessMemory& process = state.run.process;
  if (process.stopped_looks >= Patience::looks && process.stopped_since) {
    // Stopped by a signal: it can not move, whatever other witnesses still see settle.
    const WatcherTime since = *process.stopped_since;
    if (now - since >= stall_limit(facts.look.job, state, false)) return Stall{since, "process-stopped", "the process is stopped by a signal"};
  }
  std::optional<Stall> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      const Testimony &a = all[i], &b = all[k];
      if (!agree(a, b)) continue;
      const bool overdue = a.claim == Claim::overdue || b.claim == Claim::overdue;
      const Testimony& witness = a.claim == Claim::overdue ? b : a;
      const bool long_overdue = a.long_overdue || b.long_overdue;
      const bool spinning = a.claim == Claim::spin || b.claim == Claim::spin;
      // Who objects? Busy CPU does not object to idle GPUs once the checkpoint that the rhythm promised is long overdue, unless it is busy in just
      // the way it is while training.
      const bool objected = std::any_of(all.begin(), all.end(), [&](const Testimony& t) {
        if (!alive_claim(t.claim) || (t.weak && overdue)) return false;
        if (t.claim == Claim::moves && long_overdue && witness.source == Source::gpu) return t.as_usual;
        return true;
      });
      if (objected) continue;
      const WatcherTime since = overdue ? witness.since : std::max(a.since, b.since);
      Seconds limit = stall_limit(facts.look.job, state, spinning);
      if (overdue && witness.source == Source::gpu && !facts.look.job.stall_after) {
        limit = std::max({limit, Patience::most, Patience::quiet_gaps * state.run.gpu.longest_idle});
      }
      const int looks = overdue ? witness.looks : std::min(a.looks, b.looks);
      if (now - since < limit || looks < Patience::looks) continue;
      // The GPU names what kind of standstill it is; a process that is stopped or in D state explains it better.
      std::string cause;
      for (const Testimony* t : {&a, &b}) {
        if (t->cause.empty()) continue;
        if (cause.empty() || t->source == Source::process) cause = t->cause;
      }
      // A third witness may name it better than the two that proved it.
      for (const Testimony& t : all) {
        if (cause.empty() && alarming(t.claim)) cause = t.cause;
      }
      if (!found || since < found->since) found = Stall{since, cause, describe(a) + "; " + describe(b)};
    }
  }
  return found;
}

void follow_standstill(const Facts& facts, RunMemory& run, std::optional<WatcherTime> since) {
  CheckpointMemory& memory = run.checkpoint;
  const auto last_end = memory.ends.empty() ? std::nullopt : std::optional(watcher_time(memory.ends.back().at));
  if (run.process.stopped_since) since = since ? std::min(*since, *run.process.stopped_since) : *run.process.stopped_since;
  // What was still before the last unit ended has cost that unit nothing that can be told apart.
  if (since && !memory.stands_since) memory.stands_since = last_end ? std::max(*since, *last_end) : *since;
  if (since || run.stalled || !memory.stands_since) return;
  const WatcherTime began = *memory.stands_since;
  memory.stands_since.reset();
  // A unit that ended meanwhile was being worked on: the run did not stand still.
  if (last_end && *last_end > began) return;
  memory.stood_s += std::max(0.0, (facts.look.now - began).count());
}

void learn_quiet_gaps(const Facts& facts, RunMemory& run) {
  bool moving = false, quiet = false;
  WatcherTime since{};
  for (const Testimony& t : facts.testimonies) {
    moving = moving || alive_claim(t.claim);
    if (alarming(t.claim)) {
      quiet = true;
      since = std::max(since, t.since);
    }
  }
  if (quiet && !moving) {
    if (!run.quiet_since) run.quiet_since = since;
    return;
  }
  if (!moving || !run.quiet_since) return;
  if (run.work_began)
    run.longest_quiet = std::max(run.longest_quiet, std::min(facts.look.now - *run.quiet_since, Patience::most / Patience::quiet_gaps));
  run.quiet_since.reset();
}

}  // namespace trainvigil
