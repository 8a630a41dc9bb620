// A job: what the operator asks to have watched, with every setting that has an effect on the verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/time.hpp"

namespace trainvigil {

/// What the counters of checkpoints count. `save` is an ordinal of saves.
enum class Unit { epoch, step, save };

struct Job {
  std::string name;
  std::string host;                        ///< as the operator wrote it: `[user@]host[:port]`, an ssh alias, or `local`
  std::optional<std::string> checkpoints;  ///< absolute path on the watched host
  std::optional<std::string> process;      ///< POSIX extended regular expression, matched against the whole command line
  std::optional<std::int64_t> epochs;      ///< > 0; at most one of epochs and steps
  std::optional<std::int64_t> steps;       ///< > 0
  std::optional<std::string> log;          ///< path on the watched host
  std::optional<std::string> end_mark;     ///< POSIX extended regular expression; in the log: the run ended well
  std::optional<Seconds> expected;         ///< what a previous run took in all
  std::optional<std::string> deadline;     ///< as given; app resolves it into deadline_at before judging
  std::optional<WatcherTime> deadline_at;
  std::optional<Seconds> stall_after;    ///< replaces the learned limits
  std::optional<Seconds> start_within;   ///< off by default
  std::optional<std::string> user;       ///< only processes of this user
  std::optional<std::int64_t> pid;       ///< only this main process
  std::optional<std::vector<int>> gpus;  ///< indices of the job's GPUs
  Seconds interval{30.0};                ///< planned distance of two polls

  friend bool operator==(const Job&, const Job&) = default;
};

/// What history knew of earlier runs of the same job; travels in a trace's header so that replay gives the same verdicts.
struct Prior {
  std::optional<Seconds> total;  ///< wall time of an earlier completed run, start to last checkpoint
  std::optional<Seconds> unit;   ///< median seconds a unit (epoch or step) took
  std::optional<Seconds> save;   ///< longest save seen
  friend bool operator==(const Prior&, const Prior&) = default;
};

}  // namespace trainvigil
