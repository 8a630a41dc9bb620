// Where a job's memory lives between two turns, and the one function that makes a turn.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "trainvigil/history.hpp"
#include "trainvigil/judge.hpp"
#include "trainvigil/result.hpp"

namespace trainvigil::app {

class Memory {
 public:
  virtual ~Memory() = default;
  using Judge = std::function<Verdict(const Job&, const Prior&, JobState&)>;
  /// Loads the job's state, has `judge` work on it, and keeps it; a memory that others share is locked meanwhile. The job that `judge` gets has its
  /// deadline resolved. May move observation.watcher_time forward, so that it never runs backwards for a job.
  virtual Result<Verdict> turn(const Job& job, Observation& observation, const Judge& judge) = 0;
};

/// One turn: what status, run, check, wait and replay all do with an observation.
Result<Verdict> poll_once(Memory& memory, const Job& job, Observation& observation, Explanation* explanation = nullptr);

/// Held in this process alone: a replay.
class HeldMemory : public Memory {
 public:
  explicit HeldMemory(Prior prior) : prior_(prior) {}
  Result<Verdict> turn(const Job& job, Observation& observation, const Judge& judge) override;

 private:
  Prior prior_;
  JobState state_;
  std::optional<WatcherTime> deadline_at_;
  std::optional<WatcherTime> latest_;
};

/// Kept in the history, shared with other processes.
class StoredMemory : public Memory {
 public:
  /// `afresh`: the job's memory begins anew with this process (a recording that replay must understand by itself).
  explicit StoredMemory(History& history, bool afresh = false) : history_(history), afresh_(afresh) {}
  /// A failing history is told once through the log; the watch goes on with what this process holds. Only a first turn without any history fails.
  Result<Verdict> turn(const Job& job, Observation& observation, const Judge& judge) override;

 private:
  struct Held {
    JobState state;
    std::uint64_t generation = 0;  ///< of the history that `state` stands for
    std::optional<WatcherTime> deadline_at;
    Prior prior;
    std::shared_ptr<const Listing> recorded;  ///< all of its checkpoints are in the history
    bool begun = false;
  };
  Held& held(const Job& job);

  History& history_;
  bool afresh_;
  bool complained_ = false;
  std::map<std::string, Held> held_;
};

}  // namespace trainvigil::app
