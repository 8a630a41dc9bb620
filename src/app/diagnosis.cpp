#include "app/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "trainvigil/format.hpp"
#include "trainvigil/judge.hpp"

namespace trainvigil::app {
namespace {

constexpr std::size_t kNearMissColumns = 120;
constexpr double kSkewSeconds = 60;  // from here on `clock-skew` is a finding (contract section 4)

/// Which step of the way fails with which reach; the steps before it have worked.
std::size_t failing_step(Reach reach) {
  switch (reach) {
    case Reach::resolve_failed:
      return 0;
    case Reach::connect_failed:
      return 1;
    case Reach::host_key_unknown:
    case Reach::host_key_changed:
    case Reach::host_key_revoked:
      return 2;
    case Reach::auth_failed:
      return 3;
    case Reach::shell_failed:
    case Reach::probe_timeout:
      return 4;
    case Reach::ok:
      break;
  }
  return 5;
}

constexpr std::array<const char*, 5> kWay = {"resolve", "connect", "host key", "auth", "shell"};

std::string sensor_words(const Observation& o, const char* sensor) {
  const auto found = o.sensors.find(sensor);
  if (found == o.sensors.end()) return "not answered";
  std::string out = trainvigil::to_string(found->second.status);
  if (found->second.ms) out += ", " + human_duration(Seconds{*found->second.ms / 1000});
  return out;
}

std::string count(std::size_t n, const char* one, const char* many) { return std::to_string(n) + " " + (n == 1 ? one : many); }

Step proc_step(const Job& job, const Observation& o) {
  const bool asked = job.pid || (job.process && *job.process != "^$");  // "^$" stands for a host without a described job
  if (!asked) return {"/proc", StepResult::well, o.processes ? "readable" : "not asked for: no --process", ""};
  if (!o.processes)
    return {"/proc", StepResult::fails, "the process table was not read: " + sensor_words(o, "process"),
            "See whether /proc is mounted, and with which hidepid, on the host"};
  // Counted by the judge itself: a shell or an editor with the pattern in its command line is none of the job's.
  JobState state;
  const Verdict verdict = advance(job, {}, state, o);
  if (verdict.processes && verdict.processes->main_pid) {
    const auto all = static_cast<std::size_t>(std::max(verdict.processes->count.value_or(1), 1));
    return {"/proc", StepResult::well, count(all, "process", "processes") + " of the job, pid " + std::to_string(*verdict.processes->main_pid), ""};
  }
  std::string detail = "no process matches " + job.process.value_or("");
  const auto& nearest = o.processes->empty() ? o.near_misses : o.processes;
  if (nearest && !nearest->empty() && !nearest->front().cmdline.empty())
    detail += "; nearest: " + shortened(nearest->front().cmdline, kNearMissColumns);
  return {"/proc", StepResult::note, detail, "Well before the job starts; else look at --process"};
}

Step gpu_step(const Observation& o) {
  if (o.gpus && !o.gpus->empty()) return {"nvidia-smi", StepResult::well, count(o.gpus->size(), "GPU", "GPUs"), ""};
  if (o.gpu_error) return {"nvidia-smi", StepResult::fails, *o.gpu_error, "Run nvidia-smi on the host; until it works the GPU is no witness"};
  const auto sensor = o.sensors.find("gpu");
  const bool absent = sensor == o.sensors.end() || sensor->second.status == SensorStatus::absent || sensor->second.status == SensorStatus::ok;
  if (absent) return {"nvidia-smi", StepResult::note, "not there: GPUs stay dark, the other witnesses judge alone", ""};
  return {"nvidia-smi", StepResult::fails, sensor_words(o, "gpu"),
          "Run nvidia-smi on the host; a driver that hangs is often mended by a reboot only"};
}

Step directory_step(const Job& job, const Observation& o) {
  if (o.files) {
    const bool cut = o.files->cut;
    return {"directory", cut ? StepResult::note : StepResult::well,
            count(o.files->entries.size(), "entry", "entries") + (cut ? ", cut: " + o.files->cut_why.value_or("too many") : ""), ""};
  }
  const std::string why = o.files_error.value_or(sensor_words(o, "files"));
  if (why == "missing")
    return {"directory", StepResult::note, *job.checkpoints + " is not there", "Well before the first save; else look at --checkpoints"};
  return {"directory", StepResult::fails, *job.checkpoints + ": " + why,
          "See that the user who logs in may list it, and that its file system answers"};
}

Step clock_step(const Observation& o) {
  if (!o.host.time) return {"clock skew", StepResult::note, "the host did not tell its time", ""};
  // The one place where the two clocks are held against each other: that is the question here.
  const double skew = epoch_seconds(*o.host.time) - epoch_seconds(o.watcher_time);
  const std::string words = "the host's clock is " + human_duration(Seconds{std::fabs(skew)}) + (skew < 0 ? " behind" : " ahead");
  if (std::fabs(skew) <= kSkewSeconds) return {"clock skew", StepResult::well, words, ""};
  return {"clock skew", StepResult::note, words, "Verdicts do not depend on it; people comparing times do. Start chrony or systemd-timesyncd"};
}

}  // namespace

const char* to_string(StepResult result) {
  switch (result) {
    case StepResult::well:
      return "ok";
    case StepResult::note:
      return "note";
    case StepResult::fails:
      return "FAIL";
    case StepResult::not_reached:
      break;
  }
  return "-";
}

std::vector<Step> diagnose(const Job& job, const Observation& o) {
  std::vector<Step> out;
  const std::size_t failing = failing_step(o.reach);
  for (std::size_t i = 0; i < kWay.size(); ++i) {
    if (job.host == "local" && i < 4) continue;
    Step step{kWay[i], i < failing ? StepResult::well : StepResult::not_reached, "", ""};
    if (i == failing) step = {kWay[i], StepResult::fails, o.error.value_or(trainvigil::to_string(o.reach)), o.remedy.value_or("")};
    out.push_back(std::move(step));
  }
  if (o.reach != Reach::ok) {
    for (const char* name : {"/proc", "nvidia-smi", "clock skew"}) out.push_back({name, StepResult::not_reached, "", ""});
    return out;
  }
  out.push_back(proc_step(job, o));
  out.push_back(gpu_step(o));
  if (job.checkpoints) out.push_back(directory_step(job, o));
  if (job.log) {
    const bool read = o.log && o.log->bytes;
    out.push_back({"log", read ? StepResult::well : StepResult::note, read ? human_bytes(*o.log->bytes) : *job.log + ": " + sensor_words(o, "log"),
                   read ? "" : "Well before the job writes it; else look at --log"});
  }
  out.push_back(clock_step(o));
  return out;
}

}  // namespace trainvigil::app
