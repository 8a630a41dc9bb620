// One observation: all that one poll saw of one job, including that it could not look. Every measured field is optional: absent means "not observed",
// never zero. Field names are those of the trace format (docs/trace-format.md). Produced by wire (live) or trace (replay); read by layouts and
// signals.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/time.hpp"

namespace trainvigil {

/// Whether the host could be looked at; all but `ok` are the reach findings of the contract.
enum class Reach {
  ok,
  resolve_failed,
  connect_failed,
  auth_failed,
  host_key_unknown,
  host_key_changed,
  host_key_revoked,
  probe_timeout,
  shell_failed
};

struct HostFacts {
  std::optional<HostTime> time;  ///< the host's own now, taken by the same probe
  std::optional<std::string> boot_id;
  std::optional<Seconds> uptime;
  std::optional<int> cores;
  std::optional<double> load1;
};

struct Process {
  std::int64_t pid = 0;
  std::optional<std::int64_t> ppid;
  std::optional<char> state;  ///< R S D T Z … of /proc/PID/stat
  std::optional<HostTime> start;
  std::optional<std::int64_t> start_ticks;  ///< field 22 of /proc/PID/stat; with pid and boot id the identity of a process
  std::optional<double> cpu_s;              ///< user + system CPU seconds used so far, of this process alone
  std::optional<std::int64_t> read_bytes;   ///< of /proc/PID/io (rchar or read_bytes, what the probe could read); only differences count
  std::optional<std::int64_t> write_bytes;
  std::optional<std::int64_t> rss_kib;
  std::optional<int> threads;
  std::optional<bool> main;     ///< set by the producer when it knows the main process; else found by core
  std::optional<bool> matched;  ///< the job's pattern matched (else it is a descendant or a GPU holder)
  std::optional<std::string> user;
  std::string comm;     ///< short name; empty when unknown
  std::string cmdline;  ///< arguments joined by one blank; empty for zombies and when unreadable
};

struct Gpu {
  int index = 0;
  std::optional<std::string> uuid;
  std::optional<std::string> name;
  std::optional<double> util_pct;  ///< mean of the poll's readings, 0..100
  std::optional<double> util_max_pct;
  std::optional<int> readings;  ///< how many readings the means are of
  std::optional<double> mem_util_pct;
  std::optional<std::int64_t> mem_used_mib;
  std::optional<std::int64_t> mem_total_mib;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<double> sm_mhz;
  std::optional<double> temp_c;
  std::optional<std::string> throttle;            ///< bit mask as nvidia-smi prints it
  std::optional<std::vector<std::int64_t>> pids;  ///< compute processes; absent: not asked or not answered
  std::optional<std::string> fault;               ///< "GPU requires reset", "GPU is lost", "ERR!": text of a cell that is a fault
};

enum class FileType { file, directory, link, other };
/// What tiny reads said of a file's format. `unchecked`: not read, or the format can not be told.
enum class Integrity { ok, truncated, bad, unchecked };

struct FileEntry {
  std::string path;  ///< relative to the checkpoint directory, raw bytes
  FileType type = FileType::file;
  std::optional<std::int64_t> bytes;
  std::optional<HostTime> mtime;
  std::optional<std::string> target;  ///< of a link
  Integrity integrity = Integrity::unchecked;
  std::optional<std::int64_t> expected_bytes;  ///< final size where the header tells it (a save's own progress bar)
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

/// A small file of the checkpoint directory that the probe read (trainer_state.json, latest …).
struct StateFile {
  std::string path;  ///< relative, raw bytes
  std::string text;  ///< its content (bounded); JSON files as their text
  friend bool operator==(const StateFile&, const StateFile&) = default;
};

struct Listing {
  std::vector<FileEntry> entries;
  std::vector<StateFile> state_files;
  bool cut = false;  ///< a limit of depth, entries or bytes was hit
  std::optional<std::string> cut_why;
  std::optional<HostTime> cut_before;  ///< of a cut one: older entries were left out, so that saves from around then are there in part
  friend bool operator==(const Listing&, const Listing&) = default;
};

struct Disk {
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> total_bytes;
  std::optional<std::int64_t> free_inodes;
};

struct LogFacts {
  std::optional<std::int64_t> bytes;
  std::optional<HostTime> mtime;
  std::optional<std::string> tail;  ///< last few KiB, raw bytes
};

struct KernelEvent {
  std::string kind;  ///< "oom-kill", "xid", or other
  std::optional<HostTime> time;
  std::string line;
};

enum class SensorStatus { ok, timeout, denied, cut, absent, stale };

struct SensorReport {
  SensorStatus status = SensorStatus::ok;
  std::optional<double> ms;      ///< what it cost on the host
  std::optional<HostTime> time;  ///< when it was read
};

struct Observation {
  WatcherTime watcher_time{};
  Reach reach = Reach::ok;
  std::optional<std::string> error;   ///< text for a reach that is not ok, or a remark
  std::optional<std::string> remedy;  ///< what mends it
  HostFacts host;
  std::optional<std::vector<Process>> processes;    ///< absent: the process table was not read; empty: nothing there
  std::optional<std::vector<Process>> near_misses;  ///< when nothing matched: command lines nearest to the pattern
  std::optional<std::vector<Gpu>> gpus;             ///< absent: not read
  std::optional<std::string> gpu_error;             ///< nvidia-smi's own words when it failed (or partly failed)
  std::optional<int> gpu_exit;                      ///< its exit status when not 0
  /// Absent: not listed (see files_error). The producer keeps the same pointer while nothing changed: equality of pointers means equality of content.
  std::shared_ptr<const Listing> files;
  std::optional<std::string> files_error;  ///< "missing", "denied", "timeout", or the tool's words
  std::optional<Disk> disk;                ///< of the checkpoint directory's file system
  std::optional<Disk> shm;                 ///< of /dev/shm
  std::optional<LogFacts> log;
  std::optional<std::vector<KernelEvent>> kernel;            ///< absent: not readable; empty: quiet
  std::map<std::string, SensorReport, std::less<>> sensors;  ///< "host" "process" "gpu" "files" "disk" "log" "kernel" "state"
};

}  // namespace trainvigil
