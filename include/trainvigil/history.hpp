// The history: what is remembered of jobs between two calls of the program, in one SQLite file that several processes may use at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/result.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {

/// What is known of a job before an observation is judged.
struct Remembered {
  std::string state;                       ///< JobState::serialize() of the last turn; empty when there was none
  std::uint64_t generation = 0;            ///< counts the turns of the job; 0: this is the first
  std::optional<WatcherTime> time;         ///< of the last turn
  std::optional<WatcherTime> deadline_at;  ///< as resolved at the job's first turn with this deadline
  Prior prior;                             ///< of earlier completed runs
};

/// What a turn leaves behind.
struct Turned {
  std::string state;
  std::optional<WatcherTime> deadline_at;  ///< Job::deadline as this turn understood it
  Verdict verdict;
  std::vector<Checkpoint> checkpoints = {};  ///< all that the look saw, where any may be new; the verdict's own are stored anyway
};

struct StoredRun {
  std::string job, host, run;
  WatcherTime first_seen{}, last_seen{};
  Phase phase = Phase::unknown;  ///< the last that was known
  Progress progress;
  std::optional<Seconds> total;  ///< start to last checkpoint, of completed ones
};

struct StoredChange {
  std::string job, host;
  std::optional<std::string> run;
  WatcherTime time{};
  Phase phase = Phase::unknown;
  Level level = Level::ok;
  std::optional<std::string> cause;
  std::string summary;
};

struct StoredCheckpoint {
  std::string job, host;
  std::optional<std::string> run;
  std::string path;  ///< relative, raw bytes
  std::optional<std::int64_t> done, bytes;
  std::optional<Unit> unit;
  std::optional<HostTime> modified;
  WatcherTime first_seen{};
  CheckpointState state = CheckpointState::complete;
};

struct Silence {
  std::string job;
  WatcherTime until{};
  std::string reason;
};

/// Not thread safe; each thread opens its own. Every error is a sentence for the operator.
class History {
 public:
  /// Creates the directory and the file when they are missing and brings an older file up to date; refuses one of a newer program.
  static Result<History> open(const std::string& directory);
  /// For a disk that is full: what could be read of the file there, in memory; what is added is gone with the object.
  static Result<History> copy_in_memory(const std::string& directory);
  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  using Judge = std::function<Turned(const Remembered&)>;
  /// One turn of one job: load, judge, save, all or nothing, and no other process in between. The look happens before.
  Result<void> turn(const Job& job, const Observation& observation, const Judge& judge);
  /// The same for what is only read: the Prior of a recording.
  Result<Remembered> remembered(const Job& job);

  /// Descriptions of other targets that carry the same name: "gpu2, /data/other".
  Result<std::vector<std::string>> namesakes(const Job& job);

  /// Newest first, at most `limit`; of the job with this name, or of all when absent.
  Result<std::vector<StoredRun>> runs(const std::optional<std::string>& job, int limit);
  Result<std::vector<StoredChange>> changes(const std::optional<std::string>& job, int limit);
  Result<std::vector<StoredCheckpoint>> checkpoints(const std::optional<std::string>& job, int limit);
  /// Names of all jobs ever seen.
  Result<std::vector<std::string>> job_names();

  Result<void> silence(const Silence& silence);      ///< replaces an earlier one of the job
  Result<bool> end_silence(const std::string& job);  ///< false: there was none
  Result<std::vector<Silence>> silences(WatcherTime now);

 private:
  struct Impl;
  explicit History(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainvigil
