// The host witness: boots, the kernel's log, disk space, clocks; and the causes of death that are proven by any of the sources.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

constexpr double kSkew_s = 60;  // contract: clock-skew
constexpr std::int64_t kFullBytes = 16 << 20;
constexpr double kShmFullShare = 0.10;  // of /dev/shm left: data loaders die of the rest within minutes

// The one place where the two clocks meet: to say that they differ.
double skew_seconds(HostTime host, WatcherTime watcher) { return epoch_seconds(host) - epoch_seconds(watcher); }

std::int64_t number_after(const std::string& line, const char* words) {
  const auto at = line.find(words);
  if (at == std::string::npos) return -1;
  return std::strtoll(line.c_str() + at + std::char_traits<char>::length(words), nullptr, 10);
}

bool newer_than_run(const KernelEvent& e, const RunMemory& run) { return !run.start || !e.time || *e.time >= *run.start; }

bool of_this_tree(std::int64_t pid, const RunMemory& run) {
  if (run.main && run.main->pid == pid) return true;
  return std::any_of(run.process.tree.begin(), run.process.tree.end(), [&](const ProcessId& id) { return id.pid == pid; });
}

bool oom_killed(const KernelEvent& e, const RunMemory& run) {
  if (e.kind != "oom-kill" || !newer_than_run(e, run)) return false;
  std::int64_t pid = number_after(e.line, "Killed process ");
  if (pid < 0) pid = number_after(e.line, ",pid=");
  return pid > 0 && of_this_tree(pid, run);
}

int xid_number(const KernelEvent& e) {
  // "NVRM: Xid (PCI:0000:41:00): 79, pid=…"
  const auto at = e.line.find("Xid (");
  if (at == std::string::npos) return -1;
  const auto colon = e.line.find("): ", at);
  return colon == std::string::npos ? -1 : std::atoi(e.line.c_str() + colon + 3);
}

// 79 fell off the bus, 119 GSP time-out, 154 reset needed came with lost progress in real reports; 48, 64, 74, 94, 95 are uncorrectable memory,
// failed row remapping and NVLink errors by NVIDIA's Xid catalogue. 13, 31, 43, 45, 63 are the program's own faults or consequences of its end.
bool grave_xid(int xid) {
  static constexpr std::array grave{48, 64, 74, 79, 94, 95, 119, 120, 154};
  return std::find(grave.begin(), grave.end(), xid) != grave.end();
}

void kernel_lines(const Look& look, const RunMemory& run, Statement& out) {
  if (!look.seen.kernel) return;
  for (const KernelEvent& e : *look.seen.kernel) {
    if (!newer_than_run(e, run)) continue;
    if (e.kind == "xid") {
      const int xid = xid_number(e);
      out.find("xid", grave_xid(xid) ? Level::warning : Level::ok);
      out.say({.signal = "kernel", .source = Source::host, .says = "xid", .detail = e.line.substr(0, 160)});
      if (xid == 79) out.find("gpu-lost");
    }
    if (oom_killed(e, run)) out.say({.signal = "kernel", .source = Source::host, .says = "oom-kill", .detail = e.line.substr(0, 160)});
  }
}

void disk_space(const Look& look, const RunMemory& run, Statement& out) {
  if (look.seen.disk) {
    const Disk& d = *look.seen.disk;
    if (d.free_bytes && *d.free_bytes < kFullBytes) {
      out.find("disk-full");
      out.say({.signal = "disk", .source = Source::host, .says = "full", .detail = say_bytes(static_cast<double>(*d.free_bytes)) + " left"});
    } else if (d.free_bytes && run.checkpoint.view.bytes_per_save) {
      // Two further saves must fit for a calm night. A run that deletes its old saves uses no more room than it did at its last save, so there only
      // space that others took since then is a danger.
      const double save = static_cast<double>(*run.checkpoint.view.bytes_per_save);
      const double free = static_cast<double>(*d.free_bytes);
      const double written = std::clamp(run.checkpoint.growing_bytes, 0.0, save);
      const bool reuses = run.checkpoint.view.rotated || run.checkpoint.view.in_place;
      const bool as_before = reuses && run.checkpoint.free_at_save && free > *run.checkpoint.free_at_save - written - 0.25 * save;
      if (save > 0 && !as_before && free < (reuses ? 1 : 2) * save - written) {
        out.find("disk-low");
        out.say({.signal = "disk",
                 .source = Source::host,
                 .says = "low",
                 .detail = say_bytes(static_cast<double>(*d.free_bytes)) + " left, a save takes " + say_bytes(save)});
      }
    }
    if (d.free_inodes && *d.free_inodes == 0) out.find("inodes-full");
  }
  if (look.seen.shm && look.seen.shm->free_bytes && look.seen.shm->total_bytes && *look.seen.shm->total_bytes > 0) {
    const double share = static_cast<double>(*look.seen.shm->free_bytes) / static_cast<double>(*look.seen.shm->total_bytes);
    if (share < kShmFullShare) out.find("shm-full");
  }
}

bool gpu_is_lost(const Observation& o) {
  if (o.gpu_error &&
      (o.gpu_error->find("is lost") != std::string::npos || o.gpu_error->find("Unable to determine the device handle") != std::string::npos)) {
    return true;
  }
  return o.gpus && std::any_of(o.gpus->begin(), o.gpus->end(), [](const Gpu& g) { return g.fault && g.fault->find("lost") != std::string::npos; });
}

}  // namespace

void host_signal(const Look& look, const Life& life, JobState::Impl& state, Statement& out) {
  const Observation& o = look.seen;
  if (o.host.time && std::abs(skew_seconds(*o.host.time, look.now)) > kSkew_s) {
    out.find("clock-skew", Level::ok);
    out.say({.signal = "clock",
             .source = Source::host,
             .says = "skew",
             .detail = "the host's clock is " + say_duration(Seconds{std::abs(skew_seconds(*o.host.time, look.now))}) +
                       (skew_seconds(*o.host.time, look.now) > 0 ? " ahead" : " behind")});
  }
  bool partial = false;
  for (const auto& [name, report] : o.sensors) {
    partial = partial || report.status == SensorStatus::timeout;
    if (report.status == SensorStatus::cut && name == "files") out.find("listing-cut", Level::ok);
    if (report.ms && *report.ms > 10'000) out.find("probe-slow", Level::ok);
  }
  const bool asked = look.job.process || look.job.pid;
  if (partial || (asked && !o.processes)) out.find("probe-partial", Level::ok);
  state.partial_looks = asked && !o.processes ? state.partial_looks + 1 : 0;
  if (life.rebooted) out.say({.signal = "boot", .source = Source::host, .says = "rebooted", .detail = "the boot id changed"});
  kernel_lines(look, state.run, out);
  disk_space(look, state.run, out);
}

std::string_view proven_cause(const Look& look, const Life& life, const JobState::Impl& state) {
  const RunMemory& run = state.run;
  if (run.rebooted) return "rebooted";
  if (look.seen.kernel) {
    for (const KernelEvent& e : *look.seen.kernel) {
      if (oom_killed(e, run)) return "oom-kill";
    }
    for (const KernelEvent& e : *look.seen.kernel) {
      if (e.kind == "xid" && newer_than_run(e, run) && xid_number(e) == 79) return "gpu-lost";
    }
  }
  if (gpu_is_lost(look.seen)) return "gpu-lost";
  if (look.seen.disk && look.seen.disk->free_bytes && *look.seen.disk->free_bytes < kFullBytes) return "disk-full";
  static constexpr std::array<std::string_view, 10> told{"oom-cuda",     "disk-full", "shm-full",  "gpu-ecc", "gpu-lost",
                                                         "nccl-timeout", "oom-kill",  "traceback", "signal",  "preempted"};
  const auto at = std::find(told.begin(), told.end(), run.log.cause);
  if (at != told.end()) return *at;
  if (life.leftovers > 0) return "workers-left";
  return {};
}

}  // namespace trainvigil
