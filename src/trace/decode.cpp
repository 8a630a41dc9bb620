#include <regex.h>

#include <algorithm>
#include <array>

#include "trace/fields.hpp"
#include "trainvigil/duration.hpp"
#include "trainvigil/trace.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {
namespace {

using namespace trace_json;

template <typename Enum, std::size_t N>
std::optional<Enum> word(const std::optional<std::string>& text, const std::array<Enum, N>& all) {
  if (!text) return std::nullopt;
  for (const Enum e : all) {
    if (*text == to_string(e)) return e;
  }
  return std::nullopt;
}

constexpr std::array kReaches{Reach::ok,
                              Reach::resolve_failed,
                              Reach::connect_failed,
                              Reach::auth_failed,
                              Reach::host_key_unknown,
                              Reach::host_key_changed,
                              Reach::host_key_revoked,
                              Reach::probe_timeout,
                              Reach::shell_failed};
constexpr std::array kTypes{FileType::file, FileType::directory, FileType::link, FileType::other};
constexpr std::array kIntegrities{Integrity::ok, Integrity::truncated, Integrity::bad, Integrity::unchecked};
constexpr std::array kStatuses{SensorStatus::ok,  SensorStatus::timeout, SensorStatus::denied,
                               SensorStatus::cut, SensorStatus::absent,  SensorStatus::stale};

HostFacts host_facts(const Json& j) {
  return {host_moment(j, "time"), bytes(j, "boot_id"), seconds(j, "uptime_s"), small_integer(j, "cores"), number(j, "load1")};
}

std::optional<Process> process(const Json& j) {
  const auto pid = integer(j, "pid");
  if (!pid) return std::nullopt;
  Process p;
  p.pid = *pid;
  p.ppid = integer(j, "ppid");
  if (const auto state = bytes(j, "state"); state && !state->empty()) p.state = state->front();
  p.start = host_moment(j, "start");
  p.start_ticks = integer(j, "start_ticks");
  p.cpu_s = number(j, "cpu_s");
  p.read_bytes = integer(j, "read_bytes");
  p.write_bytes = integer(j, "write_bytes");
  p.rss_kib = integer(j, "rss_kib");
  p.threads = small_integer(j, "threads");
  p.main = boolean(j, "main");
  p.matched = boolean(j, "matched");
  p.user = bytes(j, "user");
  p.comm = bytes(j, "comm").value_or("");
  p.cmdline = bytes(j, "cmdline").value_or("");
  return p;
}

std::optional<std::vector<Process>> processes(const Json& j, const char* key) {
  const Json* list = member(j, key);
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<Process> out;
  out.reserve(list->size());
  for (const Json& entry : *list) {
    if (auto p = process(entry)) out.push_back(std::move(*p));
  }
  return out;
}

std::optional<Gpu> gpu(const Json& j) {
  const auto index = small_integer(j, "index");
  if (!index) return std::nullopt;
  Gpu g;
  g.index = *index;
  g.uuid = bytes(j, "uuid");
  g.name = bytes(j, "name");
  g.util_pct = number(j, "util_pct");
  g.util_max_pct = number(j, "util_max_pct");
  g.readings = small_integer(j, "readings");
  g.mem_util_pct = number(j, "mem_util_pct");
  g.mem_used_mib = integer(j, "mem_used_mib");
  g.mem_total_mib = integer(j, "mem_total_mib");
  g.power_w = number(j, "power_w");
  g.power_limit_w = number(j, "power_limit_w");
  g.sm_mhz = number(j, "sm_mhz");
  g.temp_c = number(j, "temp_c");
  g.throttle = bytes(j, "throttle");
  g.fault = bytes(j, "fault");
  if (const Json* pids = member(j, "pids"); pids != nullptr && pids->is_array()) {
    g.pids.emplace();
    for (const Json& pid : *pids) {
      if (pid.is_number_integer()) g.pids->push_back(pid.get<std::int64_t>());
    }
  }
  return g;
}

// Sizes are added up: what no file can have is not observed.
std::optional<std::int64_t> size(const Json& j, const char* key) {
  constexpr std::int64_t most = std::int64_t{1} << 56;
  const auto v = integer(j, key);
  return v && *v >= 0 && *v < most ? v : std::nullopt;
}

std::shared_ptr<const Listing> listing(const Json& j, const Observation* previous) {
  const Json* files = member(j, "files");
  if (files == nullptr || !files->is_array()) return nullptr;
  auto out = std::make_shared<Listing>();
  out->entries.reserve(files->size());
  for (const Json& entry : *files) {
    auto path = bytes(entry, "path");
    if (!path) continue;
    FileEntry f;
    f.path = std::move(*path);
    f.type = word(bytes(entry, "type"), kTypes).value_or(FileType::other);
    f.bytes = size(entry, "bytes");
    f.mtime = host_moment(entry, "mtime");
    f.target = bytes(entry, "target");
    f.integrity = word(bytes(entry, "integrity"), kIntegrities).value_or(Integrity::unchecked);
    f.expected_bytes = integer(entry, "expected_bytes");
    out->entries.push_back(std::move(f));
  }
  if (const Json* state = member(j, "state_files"); state != nullptr && state->is_array()) {
    for (const Json& entry : *state) {
      auto path = bytes(entry, "path");
      if (!path) continue;
      const Json* content = member(entry, "json");
      out->state_files.push_back({std::move(*path), content != nullptr ? content->dump() : bytes(entry, "text").value_or("")});
    }
  }
  if (const auto why = bytes(j, "files_cut")) {
    out->cut = true;
    out->cut_why = why;
    out->cut_before = host_moment(j, "files_cut_before");
  }
  if (previous != nullptr && previous->files != nullptr && *previous->files == *out) return previous->files;
  return out;
}

std::optional<Disk> disk(const Json& j, const char* key) {
  const Json* d = member(j, key);
  if (d == nullptr) return std::nullopt;
  return Disk{integer(*d, "free_bytes"), integer(*d, "total_bytes"), integer(*d, "free_inodes")};
}

void read_sensors(const Json& j, Observation& o) {
  const Json* sensors = member(j, "sensors");
  if (sensors == nullptr || !sensors->is_object()) return;
  for (const auto& [name, report] : sensors->items()) {
    const auto status = word(bytes(report, "status"), kStatuses);
    if (status) o.sensors[name] = {*status, number(report, "ms"), host_moment(report, "time")};
  }
}

// As the config writes it ("155m"), or a number of seconds.
std::optional<Seconds> duration(const Json& j, const char* key) {
  if (const auto text = bytes(j, key)) return parse_duration(*text);
  return seconds(j, key);
}

bool is_regex(const std::string& text) {
  regex_t regex;
  if (regcomp(&regex, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  regfree(&regex);
  return true;
}

Result<Json> parse_line(std::string_view line, const char* schema) {
  Json j = Json::parse(line, nullptr, false);
  if (j.is_discarded()) return fail("not a whole JSON object", "The trace may have been cut short; record it again");
  const auto name = bytes(j, "schema");
  if (!name || *name != schema) {
    return fail("expected schema " + std::string(schema) + (name ? ", found " + harmless(*name) : ", found none"),
                "Give a file that `run --record` wrote");
  }
  return j;
}

}  // namespace

Result<TraceHeader> decode_trace_header(std::string_view line) {
  const auto parsed = parse_line(line, "trainvigil.trace/1");
  if (!parsed) return tl::unexpected(parsed.error());
  TraceHeader header;
  if (const Json* j = member(*parsed, "job")) {
    Job& job = header.job;
    job.name = bytes(*j, "name").value_or("");
    job.host = bytes(*j, "host").value_or("");
    job.checkpoints = bytes(*j, "checkpoints");
    job.process = bytes(*j, "process");
    job.epochs = integer(*j, "epochs");
    job.steps = integer(*j, "steps");
    job.log = bytes(*j, "log");
    job.end_mark = bytes(*j, "end_mark");
    job.expected = duration(*j, "expected");
    job.deadline = bytes(*j, "deadline");
    if (const auto at = number(*j, "deadline_at")) job.deadline_at = watcher_time(*at);
    job.stall_after = duration(*j, "stall_after");
    job.start_within = duration(*j, "start_within");
    job.user = bytes(*j, "user");
    job.pid = integer(*j, "pid");
    if (const Json* gpus = member(*j, "gpus"); gpus != nullptr && gpus->is_array()) {
      job.gpus.emplace();
      for (const Json& index : *gpus) {
        if (index.is_number_integer()) job.gpus->push_back(index.get<int>());
      }
    }
    job.interval = duration(*j, "interval").value_or(job.interval);
    for (const auto& total : {job.epochs, job.steps}) {
      if (total && *total < 1) return fail("the job's total is not above 0", "Mend the header, or give --epochs or --steps");
    }
    for (const auto& pattern : {job.process, job.end_mark}) {
      if (pattern && !is_regex(*pattern))
        return fail("'" + harmless(*pattern) + "' is no extended regular expression", "Mend the header, or give --process or --end-mark");
    }
  } else {
    return fail("a trace without a job", "Give a file that `run --record` wrote");
  }
  if (const Json* j = member(*parsed, "prior")) header.prior = {seconds(*j, "total_s"), seconds(*j, "unit_s"), seconds(*j, "save_s")};
  return header;
}

Result<Observation> decode_observation(std::string_view line, const Observation* previous) {
  const auto parsed = parse_line(line, "trainvigil.observation/1");
  if (!parsed) return tl::unexpected(parsed.error());
  const Json& j = *parsed;
  const auto time = number(j, "watcher_time");
  if (!time || std::abs(*time) > 1e11) return fail("an observation without a possible watcher_time", "Give a file that `run --record` wrote");
  const auto reach = word(bytes(j, "reach"), kReaches);
  if (!reach) return fail("an observation with an unknown reach", "Give a file that this version of trainvigil wrote");
  Observation o;
  o.watcher_time = watcher_time(*time);
  o.reach = *reach;
  o.error = bytes(j, "error");
  o.remedy = bytes(j, "remedy");
  if (const Json* host = member(j, "host")) o.host = host_facts(*host);
  o.processes = processes(j, "processes");
  o.near_misses = processes(j, "near_misses");
  if (const Json* gpus = member(j, "gpus"); gpus != nullptr && gpus->is_array()) {
    o.gpus.emplace();
    for (const Json& entry : *gpus) {
      if (auto g = gpu(entry)) o.gpus->push_back(std::move(*g));
    }
  }
  o.gpu_error = bytes(j, "gpu_error");
  o.gpu_exit = small_integer(j, "gpu_exit");
  o.files = listing(j, previous);
  o.files_error = bytes(j, "files_error");
  o.disk = disk(j, "disk");
  o.shm = disk(j, "shm");
  if (const Json* log = member(j, "log")) o.log = LogFacts{integer(*log, "bytes"), host_moment(*log, "mtime"), bytes(*log, "tail")};
  if (const Json* kernel = member(j, "kernel"); kernel != nullptr && kernel->is_array()) {
    o.kernel.emplace();
    for (const Json& event : *kernel)
      o.kernel->push_back({bytes(event, "kind").value_or(""), host_moment(event, "time"), bytes(event, "line").value_or("")});
  }
  read_sensors(j, o);
  return o;
}

}  // namespace trainvigil
