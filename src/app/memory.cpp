#include "app/memory.hpp"

#include <algorithm>
#include <utility>

#include "app/checkpoint_view.hpp"
#include "app/logging.hpp"
#include "trainvigil/when.hpp"

namespace trainvigil::app {
namespace {

/// A stored time that lies further ahead than this was written by a clock gone wrong; waiting for it to come would blind the watch.
constexpr Seconds kClockGoneWrong{86400};

std::optional<WatcherTime> resolve_deadline(const Job& job, const std::optional<WatcherTime>& known, WatcherTime now) {
  if (job.deadline_at) return job.deadline_at;
  if (known || !job.deadline) return known;
  return parse_when(*job.deadline, now);
}

}  // namespace

Result<Verdict> poll_once(Memory& memory, const Job& job, Observation& observation, Explanation* explanation) {
  return memory.turn(job, observation, [&](const Job& effective, const Prior& prior, JobState& state) {
    return advance(effective, prior, state, observation, explanation);
  });
}

Result<Verdict> HeldMemory::turn(const Job& job, Observation& observation, const Judge& judge) {
  if (latest_) observation.watcher_time = std::max(observation.watcher_time, *latest_);
  latest_ = observation.watcher_time;
  deadline_at_ = resolve_deadline(job, deadline_at_, observation.watcher_time);
  Job effective = job;
  effective.deadline_at = deadline_at_;
  return judge(effective, prior_, state_);
}

StoredMemory::Held& StoredMemory::held(const Job& job) {
  std::string key;
  for (const std::string& part : {job.name, job.host, job.checkpoints.value_or(""), job.process.value_or("")}) key += part + '\0';
  return held_[key];
}

Result<Verdict> StoredMemory::turn(const Job& job, Observation& observation, const Judge& judge) {
  Held& mine = held(job);
  std::optional<Verdict> verdict;
  const auto decide = [&] {
    Job effective = job;
    effective.deadline_at = mine.deadline_at = resolve_deadline(job, mine.deadline_at, observation.watcher_time);
    verdict = judge(effective, mine.prior, mine.state);
    mine.begun = true;
  };
  const auto stored = history_.turn(job, observation, [&](const Remembered& remembered) {
    // A recording goes its own way even when others turn the same job: replay knows only what was recorded.
    if (!mine.begun || (!afresh_ && mine.generation != remembered.generation)) {
      const bool wrong_clock = remembered.time && *remembered.time - observation.watcher_time > kClockGoneWrong;
      const bool fresh = (afresh_ && !mine.begun) || wrong_clock || remembered.state.empty();
      mine.state = JobState();
      if (!fresh && !mine.state.parse(remembered.state))
        log_warning(job.name + ": what was remembered is of another version; its memory begins anew");
      mine.prior = remembered.prior;
      mine.deadline_at = remembered.deadline_at;
      if (remembered.time && !wrong_clock) observation.watcher_time = std::max(observation.watcher_time, *remembered.time);
    }
    mine.generation = remembered.generation;
    decide();
    Turned turned{mine.state.serialize(), mine.deadline_at, *verdict, {}};
    // Several may have come since the last look; of a listing that is the same object nothing is new.
    if (observation.files && observation.files != mine.recorded) turned.checkpoints = checkpoint_view(mine.state).checkpoints;
    return turned;
  });
  if (stored) {
    ++mine.generation;
    if (observation.files) mine.recorded = observation.files;
    if (std::exchange(complained_, false)) log_warning("the history can be written again");
    return *std::move(verdict);
  }
  if (!mine.begun && !stored.error().no_room) return tl::unexpected<Error>(stored.error());
  if (!std::exchange(complained_, true)) log_error(stored.error().text());
  if (!verdict) decide();
  return *std::move(verdict);
}

}  // namespace trainvigil::app
