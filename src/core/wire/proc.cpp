#include "core/wire/proc.hpp"

#include <algorithm>

#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

struct ProcLine {
  std::int64_t pid = 0;
  std::string_view file, text;
};

/// "/proc/123/stat:text" as grep prints it.
std::optional<ProcLine> parse_proc_line(std::string_view line) {
  if (!consume(line, "/proc/")) return std::nullopt;
  const auto slash = line.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto pid = to_integer(line.substr(0, slash));
  line.remove_prefix(slash + 1);
  const auto colon = line.find(':');
  if (!pid || *pid <= 0 || colon == std::string_view::npos) return std::nullopt;
  return ProcLine{*pid, line.substr(0, colon), line.substr(colon + 1)};
}

void greatest(std::optional<std::int64_t>& into, std::string_view text) {
  // Both kinds of counters only ever rise, so does the greater of them: bytes asked for by calls, or bytes that went through pages (mmap).
  if (const auto value = to_integer(trimmed(text)); value && *value >= 0) into = std::max(into.value_or(0), *value);
}

void add_io(IoCounters& io, std::string_view text) {
  if (consume(text, "rchar:") || consume(text, "read_bytes:")) {
    greatest(io.read_bytes, text);
  } else if (consume(text, "wchar:") || consume(text, "write_bytes:")) {
    greatest(io.write_bytes, text);
  }
}

}  // namespace

HostConstants parse_ready(const std::vector<std::string_view>& words_of_ready) {
  HostConstants constants;
  for (std::string_view part : words_of_ready) {
    if (consume(part, "pid=")) constants.shell_pid = to_integer(part).value_or(0);
    if (consume(part, "ticks=")) constants.ticks_per_s = std::clamp(to_number(part).value_or(100), 1.0, 1e6);
    if (consume(part, "page=")) constants.page_bytes = std::clamp<std::int64_t>(to_integer(part).value_or(4096), 1024, 1 << 20);
    if (consume(part, "btime=")) constants.boot_time = to_number(part);
    if (consume(part, "encode=")) constants.base64 = part == "base64";
    if (consume(part, "cores=")) {
      const auto cores = to_integer(part);
      if (cores && *cores > 0 && *cores < 1'000'000) constants.cores = static_cast<int>(*cores);
    }
  }
  return constants;
}

std::optional<StatLine> parse_stat(std::string_view text) {
  const auto open = text.find(" (");
  const auto close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) return std::nullopt;
  StatLine stat;
  stat.comm = text.substr(open + 2, close - open - 2);
  const auto fields = words(text.substr(close + 2));  // fields[0] is field 3 of proc(5)
  const auto pid = to_integer(text.substr(0, open));
  constexpr std::size_t kNeeded = 22;  // up to rss, field 24
  if (!pid || *pid <= 0 || fields.size() < kNeeded || fields[0].size() != 1) return std::nullopt;
  const auto ppid = to_integer(fields[1]), user = to_integer(fields[11]), system = to_integer(fields[12]), threads = to_integer(fields[17]),
             start = to_integer(fields[19]), rss = to_integer(fields[21]);
  if (!ppid || !user || !system || !threads || !start || !rss || *user < 0 || *system < 0) return std::nullopt;
  constexpr std::int64_t kAbsurd = std::int64_t{1} << 60;
  if (*user > kAbsurd || *system > kAbsurd) return std::nullopt;
  stat.pid = *pid;
  stat.state = fields[0][0];
  stat.ppid = *ppid;
  stat.cpu_ticks = *user + *system;
  stat.threads = *threads;
  stat.start_ticks = *start;
  stat.rss_pages = *rss;
  return stat;
}

ProcessFacts parse_process_facts(const std::vector<std::string>& lines) {
  ProcessFacts facts;
  std::map<std::int64_t, std::string> stats;  // a process name may hold a newline: lines of one file belong together
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (consume(text, "now:")) {
      facts.now = to_number(text);
      if (!facts.now) facts.now = to_number(text.substr(0, text.find('.')));  // a date without %N
    } else if (consume(text, "/proc/uptime:")) {
      facts.uptime = to_number(text.substr(0, text.find(' ')));
    } else if (consume(text, "/proc/loadavg:")) {
      facts.load1 = to_number(text.substr(0, text.find(' ')));
    } else if (consume(text, "/proc/sys/kernel/random/boot_id:")) {
      if (!text.empty()) facts.boot_id = std::string(trimmed(text));
    } else if (const auto proc = parse_proc_line(text)) {
      if (proc->file == "io") add_io(facts.io[proc->pid], proc->text);
      if (proc->file != "stat") continue;
      std::string& stat = stats[proc->pid];
      if (!stat.empty()) stat += '\n';
      stat += proc->text;
    }
  }
  for (const auto& [pid, text] : stats) {
    const auto stat = parse_stat(text);
    if (stat && stat->pid == pid) facts.stats.emplace(pid, *stat);
  }
  return facts;
}

Scan parse_scan(const std::vector<std::string>& lines) {
  Scan scan;
  std::map<std::int64_t, std::string> raw;
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (consume(text, "last:")) {
      const auto parts = words(text);
      if (!parts.empty()) scan.last_pid = to_integer(parts[0]);
      scan.full = parts.size() > 1 && parts[1] == "0";
      continue;
    }
    const auto proc = parse_proc_line(text);
    if (!proc) continue;
    std::string_view rest = proc->text;
    if (proc->file == "cmdline") {
      const auto [at, fresh] = raw.try_emplace(proc->pid);
      if (!fresh) at->second += '\n';
      at->second += rest;
      scan.found[proc->pid];
    } else if (proc->file == "status") {
      Scanned& process = scan.found[proc->pid];
      if (consume(rest, "PPid:")) process.ppid = to_integer(trimmed(rest));
      if (consume(rest, "Uid:")) {
        const auto ids = words(rest);
        if (ids.size() > 1) process.uid = to_integer(ids[1]);  // the effective one, as ps shows
      }
    }
  }
  for (auto& [pid, text] : raw) {
    Scanned& process = scan.found[pid];
    process.argv0 = text.substr(0, text.find('\x01'));
    while (!text.empty() && (text.back() == '\x01' || text.back() == '\n')) text.pop_back();
    std::replace(text.begin(), text.end(), '\x01', ' ');
    process.cmdline = std::move(text);
  }
  return scan;
}

}  // namespace trainvigil::wire
