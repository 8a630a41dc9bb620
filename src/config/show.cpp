// Config → TOML with every effective value.
#include <array>
#include <cstdio>

#include "trainvigil/config.hpp"
#include "trainvigil/duration.hpp"

namespace trainvigil {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", byte);
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

void line(std::string& out, const char* key, const std::string& value) { out += std::string(key) + " = " + value + "\n"; }

template <typename T, typename Print>
void optional_line(std::string& out, const char* key, const std::optional<T>& value, Print print) {
  if (value) line(out, key, print(*value));
}

void job_lines(std::string& out, const Job& job) {
  const auto text = [](const std::string& value) { return quoted(value); };
  const auto duration = [](Seconds value) { return quoted(format_duration(value)); };
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  out += "[[job]]\n";
  line(out, "name", quoted(job.name));
  line(out, "host", quoted(job.host));
  optional_line(out, "checkpoints", job.checkpoints, text);
  optional_line(out, "process", job.process, text);
  optional_line(out, "epochs", job.epochs, number);
  optional_line(out, "steps", job.steps, number);
  optional_line(out, "log", job.log, text);
  optional_line(out, "end_mark", job.end_mark, text);
  optional_line(out, "expected", job.expected, duration);
  optional_line(out, "deadline", job.deadline, text);
  optional_line(out, "stall_after", job.stall_after, duration);
  optional_line(out, "start_within", job.start_within, duration);
  optional_line(out, "user", job.user, text);
  optional_line(out, "pid", job.pid, number);
  optional_line(out, "gpus", job.gpus, [](const std::vector<int>& gpus) {
    std::string list;
    for (const int gpu : gpus) list += (list.empty() ? "" : ", ") + std::to_string(gpu);
    return "[" + list + "]";
  });
}

}  // namespace

std::string show_job(const Job& job) {
  std::string out;
  job_lines(out, job);
  return out;
}

std::string show_config(const Config& config) {
  std::string out;
  line(out, "interval", quoted(format_duration(config.interval)));
  line(out, "heartbeat", quoted(format_duration(config.heartbeat)));
  line(out, "probe_timeout", quoted(format_duration(config.probe_timeout)));
  if (!config.state_dir.empty()) line(out, "state_dir", quoted(config.state_dir));
  if (!config.ssh_config.empty()) line(out, "ssh_config", quoted(config.ssh_config));
  if (!config.log_file.empty()) line(out, "log_file", quoted(config.log_file));
  for (const Job& job : config.jobs) {
    out += "\n";
    job_lines(out, job);
    line(out, "interval", quoted(format_duration(job.interval)));
  }
  for (const auto& [name, host] : config.hosts) {
    out += "\n[host." + quoted(name) + "]\n";
    line(out, "transport", host.transport == TransportKind::openssh ? "\"openssh\"" : "\"libssh\"");
    if (host.probe_timeout) line(out, "probe_timeout", quoted(format_duration(*host.probe_timeout)));
  }
  return out;
}

}  // namespace trainvigil
