// Everything that is remembered of a job between two observations, grouped by the witness that uses it. All containers are bounded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/checkpoint.hpp"
#include "trainvigil/judge.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {

/// pid + start ticks name a process of one boot; where ticks are not told, its start time to the second does.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t ticks = -1;
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
  friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

/// The last few values of a reading, for medians that follow the run.
class Ring {
 public:
  void add(float value) {
    values[next] = value;
    next = (next + 1) % values.size();
    if (count < values.size()) ++count;
  }
  [[nodiscard]] std::size_t size() const { return count; }
  /// Cached: it changes only when a value was added.
  [[nodiscard]] double median() const;

  std::array<float, 31> values{};
  std::size_t next = 0;
  std::size_t count = 0;

 private:
  mutable std::size_t cached_next_ = SIZE_MAX;
  mutable std::size_t cached_count_ = 0;
  mutable double cached_ = 0;
};

struct GpuMemory {
  int index = 0;
  std::optional<double> idle_w;              ///< lowest power seen while the context was held and nothing ran
  Ring power, util, mem_util;                ///< while it worked
  std::optional<std::int64_t> mem_free_mib;  ///< memory used before the job took it
  int slow_looks = 0;
};

struct Counter {
  ProcessId id;
  double cpu_s = -1;     ///< -1: not readable
  double io_bytes = -1;  ///< read + written
};

/// A unit's end: how many units were done, and when, on the watcher's time line.
struct UnitEnd {
  double done = 0;
  double at = 0;       ///< seconds since the epoch
  double stood_s = 0;  ///< what CheckpointMemory::stood_s was then
};

struct ProcessMemory {
  std::vector<Counter> counters;      ///< of the last look; at most kMostProcesses
  double counters_at = 0;             ///< host time if told, else watcher time
  std::vector<ProcessId> tree;        ///< descendants seen; at most kMostProcesses
  std::vector<ProcessId> bystanders;  ///< other processes that match, seen beside the run: jobs of their own; at most kMostBystanders
  double last_cpu = -1, last_io = -1, last_worker_cpu = -1;  ///< rates of the last look; -1: not known
  double usual_cpu = 0;                                      ///< cores, moving average over looks with training work
  double usual_io = 0;                                       ///< bytes a second, likewise
  double usual_worker_cpu = 0;
  double io_steady = 0;  ///< share of those looks with I/O
  int usual_looks = 0;
  std::optional<WatcherTime> moved_at;  ///< CPU or I/O last moved
  std::optional<WatcherTime> io_at;     ///< I/O or workers last moved
  int still_looks = 0, wait_looks = 0;
  int busy_looks = 0;  ///< consecutive looks with half a core or more
  int stopped_looks = 0, dstate_looks = 0;
  std::optional<WatcherTime> stopped_since;
  std::optional<char> state;
};
inline constexpr std::size_t kMostProcesses = 256;
inline constexpr std::size_t kMostBystanders = 32;

struct GpusMemory {
  std::vector<GpuMemory> gpus;          ///< the job's
  std::optional<WatcherTime> moved_at;  ///< last look with work or light use
  int still_looks = 0;
  bool worked = false;      ///< work was seen in this run
  bool held = false;        ///< the job ever held a GPU
  Seconds longest_idle{0};  ///< longest stretch without work that ended by itself
  std::optional<WatcherTime> split_since;
  std::optional<WatcherTime> spin_since;  ///< spinning at every look since
  int most_seen = 0;                      ///< GPUs of the host ever listed
  int unread_looks = 0;
};

struct CheckpointMemory {
  LayoutMemory layout;
  CheckpointView view;                     ///< of the last listing
  std::shared_ptr<const Listing> listing;  ///< not stored: only to see that nothing changed
  bool judged = false;
  std::optional<WatcherTime> judged_at;
  std::vector<UnitEnd> ends;  ///< own unit ends in order; at most kMostEnds, the oldest thinned out
  int dropped_ends = 0;
  std::optional<double> first_done;          ///< units that were done when this run began (a resume)
  std::optional<WatcherTime> progressed_at;  ///< the last own progress was made
  std::optional<WatcherTime> grew_at;        ///< bytes of a save last grew
  double growing_bytes = -1;                 ///< bytes of unfinished saves at the last look
  std::string growing_name;
  int quiet_looks = 0;       ///< looks since a save last grew
  bool growth_seen = false;  ///< bytes grew between two looks, not only fresh when first seen
  std::optional<WatcherTime> save_began;
  Seconds longest_save{0};
  std::optional<double> free_at_save;  ///< bytes left on the file system when the last save was completed
  bool was_complete = false;           ///< a complete checkpoint was there once
  bool seen_new = false;               ///< progress was seen to come, not only found
  int missing_looks = 0;
  bool ever_listed = false;
  std::optional<double> highest_done;
  double stood_s = 0;                       ///< seconds of this run in which it was stalled or stopped, and which are over
  std::optional<WatcherTime> stands_since;  ///< it is stalled or stopped now
};
inline constexpr std::size_t kMostEnds = 128;

struct LogMemory {
  std::optional<std::int64_t> bytes;
  std::int64_t base = 0;  ///< what was there before this run: its lines prove nothing
  std::optional<WatcherTime> grew_at;
  int growths = 0;  ///< looks with growth in this run
  int silent_looks = 0;
  Seconds longest_silence{0};
  bool end_mark = false;
  std::optional<WatcherTime> marked_at;  ///< the end mark was first seen
  bool nan_now = false;
  std::string cause;  ///< the gravest thing its tail told, a finding's name
};

struct RunMemory {
  std::optional<ProcessId> main;
  std::optional<std::string> boot_id;
  std::string cmdline;
  std::optional<HostTime> start;  ///< of the main process
  std::optional<WatcherTime> first_seen;
  std::optional<WatcherTime> last_seen;    ///< alive
  std::optional<HostTime> last_seen_host;  ///< the same moment by the host's clock
  int gone_looks = 0;
  std::optional<WatcherTime> gone_at;  ///< first look without it
  bool rebooted = false;
  bool zombie = false;
  std::optional<WatcherTime> work_began;  ///< first sign of training; absent before
  bool joined_late = false;               ///< it was under way when first seen
  std::optional<WatcherTime> completed_at;
  bool completed_by_mark = false;
  Seconds longest_quiet{0};  ///< longest stretch in which every source was still, and which ended by itself
  std::optional<WatcherTime> quiet_since;
  bool stalled = false;
  int recovery_looks = 0;
  std::string cause;  ///< cause of the phase of alarm, kept while it lasts
  double worked_gpu_seconds = 0;
  ProcessMemory process;
  GpusMemory gpu;
  CheckpointMemory checkpoint;
  LogMemory log;
  int uneasy_looks = 0;  ///< looks running at which nobody saw it train at its usual pace
};

struct PastRun {
  double first_seen = 0;
  double ended = 0;
  double done = 0;
  std::string phase;
};

struct JobState::Impl {
  bool fresh = true;
  Prior prior;
  Phase phase = Phase::waiting;  ///< last phase that was looked at, never unreachable or unknown
  std::optional<WatcherTime> since;
  Phase shown = Phase::waiting;  ///< what the last verdict said
  std::optional<WatcherTime> shown_since;
  std::optional<WatcherTime> looked_at;  ///< last look that reached the host
  std::optional<WatcherTime> first_look;
  std::optional<WatcherTime> unreachable_since;
  std::optional<std::string> boot_id;
  int runs = 0;
  std::vector<PastRun> past;  ///< the last few runs
  RunMemory run;
  bool table_read = false;  ///< the process table was read once
  int partial_looks = 0;
  double usual_interval = 30;  ///< seconds between looks, moving average
  double told_p90 = 0;         ///< the end's p90 told last, and at which unit: it does not fall without news
  double told_next_p90 = 0;
  double told_done = -1;
  // What an unreachable poll repeats as last known.
  Progress last_progress;
  std::optional<Eta> last_eta;
  std::optional<Checkpoint> last_checkpoint, last_good;
  std::uint64_t polls = 0;
};

/// Forgets the run and begins a new one; what outlives a run (history of runs, interval) stays.
void begin_run(JobState::Impl& state);

}  // namespace trainvigil
