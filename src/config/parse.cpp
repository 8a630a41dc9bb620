// TOML text → Config, or everything that is wrong with it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "config/reader.hpp"
#include "trainvigil/suggest.hpp"
#include "trainvigil/when.hpp"

namespace trainvigil {
namespace {

using config::Limits;
using config::Problems;
using config::TableReader;

constexpr std::int64_t kMostUnits = 1'000'000'000'000;  // beyond any optimizer's steps
constexpr std::int64_t kHighestPid = 1 << 22;           // PID_MAX_LIMIT of Linux on 64 bit
constexpr int kHighestGpu = 1023;

void take(std::optional<Seconds> value, Seconds& into) {
  if (value) into = *value;
}

void take(std::optional<std::string> value, std::string& into) {
  if (value) into = std::move(*value);
}

Job read_job(const toml::table& table, const Config& defaults, Problems& problems) {
  const std::size_t known_faults = problems.count();
  TableReader in(table, "[[job]]", problems);
  Job job;
  job.interval = defaults.interval;
  take(in.text("name"), job.name);
  take(in.text("host"), job.host);
  job.checkpoints = in.text("checkpoints");
  job.process = in.regex("process");
  job.epochs = in.integer("epochs", 1, kMostUnits);
  job.steps = in.integer("steps", 1, kMostUnits);
  job.log = in.text("log");
  job.end_mark = in.regex("end_mark");
  job.expected = in.duration("expected", {Seconds{1}});
  job.deadline = in.text("deadline");
  job.stall_after = in.duration("stall_after", {Seconds{1}});
  job.start_within = in.duration("start_within", {Seconds{1}});
  job.user = in.text("user");
  job.pid = in.integer("pid", 1, kHighestPid);
  job.gpus = in.integers("gpus", 0, kHighestGpu);
  take(in.duration("interval", {Seconds{0.1}, Seconds{86400}}), job.interval);
  in.refuse_the_rest();

  if (table.get("host") == nullptr) {
    problems.add(table.source(), "a [[job]] has no host", "Give host = \"…\": an alias of ~/.ssh/config, user@host, or \"local\"");
  } else if (!job.host.empty()) {
    if (const auto what = host_fault(job.host)) in.fault("host", *what, "Write [user@]host[:port], an alias of ~/.ssh/config, or \"local\"");
  }
  // A key that was refused may be what is missing: no second complaint about the same mistake.
  if (const auto fault = job_fault(job); fault && problems.count() == known_faults) {
    const auto relative = [](const std::optional<std::string>& path) { return path && path->front() != '/'; };
    const char* at = job.epochs && job.steps ? "steps" : relative(job.checkpoints) ? "checkpoints" : relative(job.log) ? "log" : "end_mark";
    in.fault(at, fault->what, fault->remedy);
  }
  if (job.deadline && !parse_when(*job.deadline, watcher_time(0)))
    in.fault("deadline", "deadline is no point in time", std::string("Write it like ") + kWhenForms);
  if (table.get("name") != nullptr && !job.name.empty()) {
    if (const auto what = name_fault(job.name)) in.fault("name", *what);
  } else if (!job.host.empty() && (job.checkpoints || job.process)) {
    job.name = default_job_name(job);
  }
  return job;
}

HostSettings read_host(const std::string& name, const toml::table& table, Problems& problems) {
  TableReader in(table, "[host." + name + "]", problems);
  HostSettings out;
  if (const auto transport = in.text("transport")) {
    if (*transport == "openssh") {
      out.transport = TransportKind::openssh;
    } else if (*transport != "libssh") {
      const std::string hint = did_you_mean(*transport, {"libssh", "openssh"});
      in.fault("transport", "transport \"" + *transport + "\" is unknown" + (hint.empty() ? "" : "; " + hint),
               hint.empty() ? "Choose \"libssh\" or \"openssh\"" : "");
    }
  }
  out.probe_timeout = in.duration("probe_timeout", {Seconds{1}, Seconds{3600}});
  in.refuse_the_rest();
  return out;
}

void read_jobs(const toml::node* node, Config& config, Problems& problems) {
  if (node == nullptr) return;
  const auto* list = node->as_array();
  if (list == nullptr || !list->is_homogeneous(toml::node_type::table)) {
    problems.add(node->source(), "job is no list of tables", "Begin each job with [[job]], in two pairs of brackets");
    return;
  }
  std::map<std::string, toml::source_region> names;
  for (const toml::node& item : *list) {
    const toml::table& table = *item.as_table();
    Job job = read_job(table, config, problems);
    const toml::node* written = table.get("name");
    const auto& place = written != nullptr ? written->source() : table.source();
    const auto [earlier, fresh] = names.emplace(job.name, place);
    if (!fresh && !job.name.empty())
      problems.add(place, "a second job with the name \"" + job.name + "\"",
                   "The first is in line " + std::to_string(earlier->second.begin.line) + "; give each its own name");
    config.jobs.push_back(std::move(job));
  }
}

void read_hosts(const toml::node* node, Config& config, Problems& problems) {
  if (node == nullptr) return;
  const auto* hosts = node->as_table();
  if (hosts == nullptr) {
    problems.add(node->source(), "host is no table", "Write [host.NAME] and its settings below");
    return;
  }
  for (auto&& [key, value] : *hosts) {
    const std::string name(key.str());
    if (const auto* table = value.as_table())
      config.hosts[name] = read_host(name, *table, problems);
    else
      problems.add(key.source(), "host." + name + " is no table", "Write [host.NAME] and its settings below; a [[job]] names its own host");
  }
}

}  // namespace

ConfigResult<Config> parse_config(std::string_view text, const std::string& file) {
  Problems problems(file);
  Config config;
  try {
    const toml::table root = toml::parse(text, file);
    TableReader in(root, "the top level", problems);
    take(in.duration("interval", {Seconds{0.1}, Seconds{86400}}), config.interval);
    take(in.duration("heartbeat", {Seconds{1}, Seconds{86400.0 * 30}}), config.heartbeat);
    take(in.duration("probe_timeout", {Seconds{1}, Seconds{3600}}), config.probe_timeout);
    take(in.text("state_dir"), config.state_dir);
    take(in.text("ssh_config"), config.ssh_config);
    take(in.text("log_file"), config.log_file);
    read_jobs(in.node("job"), config, problems);
    read_hosts(in.node("host"), config, problems);
    in.refuse_the_rest();
  } catch (const toml::parse_error& e) {
    problems.add(e.source(), std::string(e.description()));
  }
  if (!problems.empty()) return tl::unexpected<ConfigErrors>(problems.take());
  return config;
}

ConfigResult<Config> load_config(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return tl::unexpected<ConfigErrors>({Error{"this is a directory and no config", path, "Give a file", false}});
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad())
    return tl::unexpected<ConfigErrors>({Error{"the config can not be read", path, "Check that the file is there and readable", false}});
  return parse_config(text, path);
}

}  // namespace trainvigil
