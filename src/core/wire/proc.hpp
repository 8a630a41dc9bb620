// Decoding of what the kernel tells of the host and its processes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/frame.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

/// What READY says of the host.
struct HostConstants {
  double ticks_per_s = 100;  ///< unit of CPU times in /proc
  std::int64_t page_bytes = 4096;
  std::optional<int> cores;
  std::optional<double> boot_time;  ///< seconds since the epoch, by the kernel
  std::int64_t shell_pid = 0;       ///< the resident shell's
  bool base64 = false;              ///< how bytes of files are sent; else hexadecimal
};

/// `words_of_ready`: those behind "TV1 READY". What is not there, or absurd, is as usual.
HostConstants parse_ready(const std::vector<std::string_view>& words_of_ready);

struct StatLine {
  std::int64_t pid = 0, ppid = 0, start_ticks = 0, cpu_ticks = 0, threads = 0, rss_pages = 0;
  char state = '?';
  std::string comm;
};

/// One /proc/PID/stat. The name in parentheses may hold anything, so that the fields are counted from the last ')'.
std::optional<StatLine> parse_stat(std::string_view text);

struct IoCounters {
  std::optional<std::int64_t> read_bytes, write_bytes;
};

/// Answer of request P.
struct ProcessFacts {
  std::optional<double> now, uptime, load1;
  std::optional<std::string> boot_id;
  std::map<std::int64_t, StatLine> stats;
  std::map<std::int64_t, IoCounters> io;
};
ProcessFacts parse_process_facts(const std::vector<std::string>& lines);

struct Scanned {
  std::optional<std::int64_t> ppid, uid;
  std::string argv0;  ///< the first argument alone: with blanks in a path it can not be told from `cmdline`
  std::string cmdline;
};

/// Answer of request F.
struct Scan {
  std::optional<std::int64_t> last_pid;  ///< the newest pid the kernel had handed out before the scan
  bool full = false;                     ///< all processes were looked at
  std::map<std::int64_t, Scanned> found;
};
Scan parse_scan(const std::vector<std::string>& lines);

}  // namespace trainvigil::wire
