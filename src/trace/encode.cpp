#include "trace/fields.hpp"
#include "trainvigil/duration.hpp"
#include "trainvigil/trace.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {
namespace {

using namespace trace_json;

Json encode(const Process& p) {
  return {{"pid", p.pid},
          {"ppid", or_null(p.ppid)},
          {"state", or_null(p.state)},
          {"start", or_null(p.start)},
          {"start_ticks", or_null(p.start_ticks)},
          {"cpu_s", or_null(p.cpu_s)},
          {"read_bytes", or_null(p.read_bytes)},
          {"write_bytes", or_null(p.write_bytes)},
          {"rss_kib", or_null(p.rss_kib)},
          {"threads", or_null(p.threads)},
          {"main", or_null(p.main)},
          {"matched", or_null(p.matched)},
          {"user", or_null(p.user)},
          {"comm", escape_bytes(p.comm)},
          {"cmdline", escape_bytes(p.cmdline)}};
}

Json encode(const Gpu& g) {
  Json j{{"index", g.index},
         {"uuid", or_null(g.uuid)},
         {"name", or_null(g.name)},
         {"util_pct", or_null(g.util_pct)},
         {"util_max_pct", or_null(g.util_max_pct)},
         {"readings", or_null(g.readings)},
         {"mem_util_pct", or_null(g.mem_util_pct)},
         {"mem_used_mib", or_null(g.mem_used_mib)},
         {"mem_total_mib", or_null(g.mem_total_mib)},
         {"power_w", or_null(g.power_w)},
         {"power_limit_w", or_null(g.power_limit_w)},
         {"sm_mhz", or_null(g.sm_mhz)},
         {"temp_c", or_null(g.temp_c)},
         {"throttle", or_null(g.throttle)},
         {"fault", or_null(g.fault)},
         {"pids", nullptr}};
  if (g.pids) j["pids"] = *g.pids;
  return j;
}

Json encode(const FileEntry& f) {
  Json j{{"path", escape_bytes(f.path)}, {"type", to_string(f.type)}, {"bytes", or_null(f.bytes)}, {"mtime", or_null(f.mtime)}};
  if (f.type == FileType::link) j["target"] = or_null(f.target);
  if (f.type == FileType::file) j["integrity"] = to_string(f.integrity);
  if (f.expected_bytes) j["expected_bytes"] = *f.expected_bytes;
  return j;
}

Json encode(const std::optional<Disk>& d) {
  if (!d) return nullptr;
  return {{"free_bytes", or_null(d->free_bytes)}, {"total_bytes", or_null(d->total_bytes)}, {"free_inodes", or_null(d->free_inodes)}};
}

Json encode(const std::optional<std::vector<Process>>& list) {
  if (!list) return nullptr;
  Json j = Json::array();
  for (const Process& p : *list) j.push_back(encode(p));
  return j;
}

Json encode_state_files(const std::vector<StateFile>& files) {
  Json out = Json::array();
  for (const StateFile& f : files) {
    Json entry{{"path", escape_bytes(f.path)}};
    Json content = Json::parse(f.text, nullptr, false);
    if (content.is_object()) {
      entry["json"] = std::move(content);
    } else {
      entry["text"] = escape_bytes(f.text);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

Json encode_job(const Job& job) {
  Json j{{"name", escape_bytes(job.name)}, {"host", escape_bytes(job.host)}};
  const auto put = [&](const char* key, const auto& value) {
    if (value) j[key] = or_null(value);
  };
  const auto put_duration = [&](const char* key, const std::optional<Seconds>& value) {
    if (value) j[key] = format_duration(*value);
  };
  put("checkpoints", job.checkpoints);
  put("process", job.process);
  put("epochs", job.epochs);
  put("steps", job.steps);
  put("log", job.log);
  put("end_mark", job.end_mark);
  put_duration("expected", job.expected);
  put("deadline", job.deadline);
  put("deadline_at", job.deadline_at);
  put_duration("stall_after", job.stall_after);
  put_duration("start_within", job.start_within);
  put("user", job.user);
  put("pid", job.pid);
  if (job.gpus) j["gpus"] = *job.gpus;
  j["interval"] = format_duration(job.interval);
  return j;
}

// Whatever slipped through escape_bytes must not make the writer throw: a record is worth more than a byte of it.
std::string dump(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string encode_trace_header(const TraceHeader& header) {
  Json j{{"schema", "trainvigil.trace/1"}, {"job", encode_job(header.job)}};
  const Prior& prior = header.prior;
  if (prior != Prior{}) j["prior"] = {{"total_s", or_null(prior.total)}, {"unit_s", or_null(prior.unit)}, {"save_s", or_null(prior.save)}};
  return dump(j);
}

std::string encode_observation(const Observation& o) {
  Json j{{"schema", "trainvigil.observation/1"},
         {"watcher_time", plain(epoch_seconds(o.watcher_time))},
         {"reach", to_string(o.reach)},
         {"error", or_null(o.error)}};
  if (o.remedy) j["remedy"] = or_null(o.remedy);
  if (o.reach != Reach::ok) return dump(j);
  j["host"] = {{"time", or_null(o.host.time)},
               {"boot_id", or_null(o.host.boot_id)},
               {"uptime_s", or_null(o.host.uptime)},
               {"cores", or_null(o.host.cores)},
               {"load1", or_null(o.host.load1)}};
  j["processes"] = encode(o.processes);
  if (o.near_misses) j["near_misses"] = encode(o.near_misses);
  j["gpus"] = nullptr;
  if (o.gpus) {
    j["gpus"] = Json::array();
    for (const Gpu& g : *o.gpus) j["gpus"].push_back(encode(g));
  }
  j["gpu_error"] = or_null(o.gpu_error);
  if (o.gpu_exit) j["gpu_exit"] = *o.gpu_exit;
  j["files"] = nullptr;
  if (o.files) {
    j["files"] = Json::array();
    for (const FileEntry& f : o.files->entries) j["files"].push_back(encode(f));
    if (o.files->cut) j["files_cut"] = escape_bytes(o.files->cut_why.value_or("a limit was hit"));
    if (o.files->cut && o.files->cut_before) j["files_cut_before"] = epoch_seconds(*o.files->cut_before);
  }
  j["files_error"] = or_null(o.files_error);
  j["disk"] = encode(o.disk);
  if (o.shm) j["shm"] = encode(o.shm);
  j["log"] = nullptr;
  if (o.log) j["log"] = {{"bytes", or_null(o.log->bytes)}, {"mtime", or_null(o.log->mtime)}, {"tail", or_null(o.log->tail)}};
  j["kernel"] = nullptr;
  if (o.kernel) {
    j["kernel"] = Json::array();
    for (const KernelEvent& e : *o.kernel)
      j["kernel"].push_back({{"kind", escape_bytes(e.kind)}, {"time", or_null(e.time)}, {"line", escape_bytes(e.line)}});
  }
  j["state_files"] = o.files ? encode_state_files(o.files->state_files) : Json::array();
  j["sensors"] = Json::object();
  for (const auto& [name, report] : o.sensors) {
    j["sensors"][escape_bytes(name)] = {{"status", to_string(report.status)}, {"ms", or_null(report.ms)}, {"time", or_null(report.time)}};
  }
  return dump(j);
}

}  // namespace trainvigil
