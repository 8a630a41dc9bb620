// The verdict: where the run is, how urgent, why, how far, until when. Everything a format needs; nothing a format may change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/checkpoint.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil {

enum class Phase { waiting, starting, training, saving, stalled, crashed, completed, ended, unreachable, unknown };
/// Ordered by urgency as exit codes see it: ok < unknown < warning < critical.
enum class Level { ok, unknown, warning, critical };
enum class Confidence { high, medium, low };

struct Evidence {
  std::string signal;  ///< the witness
  std::string source;  ///< checkpoint process gpu log host scheduler
  std::string says;    ///< one word: fresh, work, spin, alive, gone …
  std::string detail;  ///< the numbers, for a person
};

struct Interval {  ///< an 80 % interval, watcher time
  std::optional<WatcherTime> p10, p50, p90;
};

struct Progress {
  std::optional<Unit> unit;
  std::optional<double> done;  ///< units finished
  std::optional<double> total;
  std::optional<double> fraction;  ///< 0..1, below 1 until completed
  bool estimated = false;          ///< the share of the running unit is in `fraction`
};

struct Eta {
  Interval end;
  Interval next_checkpoint;
  std::string basis;  ///< what it rests on, for a person
};

struct GpuSummary {
  int index = 0;
  std::optional<double> util_pct;
  std::optional<std::int64_t> mem_used_mib, mem_total_mib;
  std::optional<double> power_w;
  std::optional<double> activity;  ///< share of the run's own dynamic range of power, 0..1 and a little beyond
};

struct ProcessSummary {
  std::optional<int> count;
  std::optional<std::int64_t> main_pid;
  std::optional<char> state;
};

struct LastKnown {
  Phase phase{};
  WatcherTime time{};
};

struct Verdict {
  WatcherTime time{};
  std::optional<HostTime> host_time;
  std::string job, host;
  std::optional<std::string> run;  ///< identity of the run; absent before one was seen
  Phase phase = Phase::unknown;
  Level level = Level::ok;
  std::optional<std::string> cause;  ///< finding that explains the phase
  Confidence confidence = Confidence::low;
  std::optional<WatcherTime> since;  ///< when the phase began
  std::string summary;
  std::vector<Evidence> evidence;
  std::vector<std::string> findings;  ///< sorted by level, then name
  Progress progress;
  std::optional<Eta> eta;
  std::optional<Checkpoint> checkpoint;  ///< newest of any state
  std::optional<Checkpoint> last_good;
  std::optional<std::vector<GpuSummary>> gpus;
  std::optional<ProcessSummary> processes;
  std::optional<LastKnown> last;
  std::optional<std::string> remedy;  ///< of a host that could not be looked at: what mends it
  /// A second look within this time would confirm or refute what this one suspects; the app takes it. Not part of the JSON.
  std::optional<Seconds> look_again_in;
};

const char* to_string(Phase);
const char* to_string(Level);
const char* to_string(Confidence);
const char* to_string(Reach);
const char* to_string(Unit);
const char* to_string(CheckpointState);
const char* to_string(CheckpointRun);
const char* to_string(FileType);
const char* to_string(Integrity);
const char* to_string(SensorStatus);

/// The level a finding has by the contract's table; ok for a note, critical for the causes of crashed and stalled.
Level level_of_finding(std::string_view finding);

}  // namespace trainvigil
