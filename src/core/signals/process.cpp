// The process witness: does the run's tree use CPU and I/O the way it usually does? CPU and I/O of one process are one source.
#include <algorithm>
#include <cmath>

#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

// A process that waits uses next to nothing, but runtimes keep timers and heartbeat threads: 2 % of a core is the bound that real stalled jobs stay
// below (telemetry of parked and hung processes), 3 % of the usual rate serves trees of many busy processes.
constexpr double kQuietCores = 0.02;
constexpr double kQuietShare = 0.03;
constexpr double kQuietBytesPerSecond = 16384;
constexpr double kStoppedIoShare = 0.02;
// Only a rhythm that is really there can be missed: I/O in four of five looks, 64 KiB a second on average.
constexpr double kSteadyIo = 0.8;
constexpr double kUsualIoFloor = 65536;
constexpr int kUsualLooks = 5;
constexpr double kUsualShare = 0.5;
constexpr double kAverageWeight = 0.1;

struct Rates {
  std::optional<double> cpu, io, worker_cpu;
};

double io_of(const Process& p) {
  if (!p.read_bytes && !p.write_bytes) return -1;
  return static_cast<double>(p.read_bytes.value_or(0)) + static_cast<double>(p.write_bytes.value_or(0));
}

Rates measure(const Look& look, const Life& life, ProcessMemory& memory) {
  std::vector<Counter> now;
  const double at = look.host_now ? epoch_seconds(*look.host_now) : epoch_seconds(look.now);
  const double dt = at - memory.counters_at;
  Rates rates;
  for (const Process& p : *look.seen.processes) {
    if (now.size() >= kMostProcesses) break;
    if (!std::binary_search(life.pids.begin(), life.pids.end(), p.pid)) continue;
    Counter c{{p.pid, p.start_ticks.value_or(-1)}, p.cpu_s.value_or(-1), io_of(p)};
    if (dt > 0.05) {
      const auto old = std::find_if(memory.counters.begin(), memory.counters.end(), [&](const Counter& k) { return k.id == c.id; });
      if (old != memory.counters.end()) {
        if (c.cpu_s >= 0 && old->cpu_s >= 0) {
          const double cores = std::max(0.0, c.cpu_s - old->cpu_s) / dt;
          rates.cpu = rates.cpu.value_or(0) + cores;
          if (life.main != nullptr && p.pid != life.main->pid) rates.worker_cpu = rates.worker_cpu.value_or(0) + cores;
        }
        if (c.io_bytes >= 0 && old->io_bytes >= 0) rates.io = rates.io.value_or(0) + std::max(0.0, c.io_bytes - old->io_bytes) / dt;
      } else if (!memory.counters.empty() && c.cpu_s > 0 && look.host_now && p.start && epoch_seconds(*p.start) > memory.counters_at) {
        // Born since the last look: all of its CPU time fell into this turn. Compilers and data loaders come and go like that.
        rates.cpu = rates.cpu.value_or(0) + c.cpu_s / dt;
      }
    }
    now.push_back(c);
  }
  memory.counters = std::move(now);
  memory.counters_at = at;
  memory.last_cpu = rates.cpu.value_or(-1);
  memory.last_io = rates.io.value_or(-1);
  memory.last_worker_cpu = rates.worker_cpu.value_or(-1);
  return rates;
}

void remember_states(const Look& look, const Life& life, ProcessMemory& memory) {
  memory.state = life.main->state;
  const bool stopped = life.main->state == 'T' || life.main->state == 't';
  if (!stopped) {
    memory.stopped_looks = 0;
    memory.stopped_since.reset();
  } else if (++memory.stopped_looks == 1) {
    memory.stopped_since = look.now;
  }
  memory.dstate_looks = life.main->state == 'D' ? memory.dstate_looks + 1 : 0;
}

}  // namespace

void process_signal(const Look& look, const Life& life, RunMemory& run, Statement& out) {
  ProcessMemory& memory = run.process;
  if (!life.read) {
    if (!look.job.process && !look.job.pid) return;  // nobody asked for a process
    out.say({.signal = "main-process", .source = Source::process, .says = "unread", .detail = "the process table could not be read"});
    return;
  }
  if (life.main == nullptr) {
    if (run.main) {
      std::string detail = text("pid %lld is gone%s", static_cast<long long>(run.main->pid), life.zombie ? ", a zombie is left" : "");
      if (life.leftovers > 0) detail += text(", %d of its workers are left", life.leftovers);
      out.say({.signal = "main-process", .source = Source::process, .says = "gone", .detail = std::move(detail)});
      if (life.leftovers > 0) out.find("workers-left");
      if (life.zombie) out.find("process-zombie");
    } else {
      out.say({.signal = "main-process", .source = Source::process, .says = "absent", .detail = "no process matches"});
    }
    memory.counters.clear();
    memory.busy_looks = 0;
    return;
  }
  const Rates rates = measure(look, life, memory);
  remember_states(look, life, memory);
  if (!memory.moved_at) memory.moved_at = look.now;
  if (!memory.io_at) memory.io_at = look.now;
  memory.busy_looks = rates.cpu && *rates.cpu >= 0.5 ? memory.busy_looks + 1 : 0;

  Claim claim = Claim::none;
  if (rates.cpu || rates.io) {
    const bool cpu_quiet = !rates.cpu || *rates.cpu < std::max(kQuietCores, kQuietShare * memory.usual_cpu);
    const bool io_quiet = !rates.io || *rates.io < std::max(kQuietBytesPerSecond, kStoppedIoShare * memory.usual_io);
    const bool knows = memory.usual_looks >= kUsualLooks;
    const bool io_stopped = knows && memory.io_steady >= kSteadyIo && memory.usual_io >= kUsualIoFloor && rates.io && io_quiet;
    const bool workers_stopped = knows && memory.usual_worker_cpu >= 0.1 && rates.worker_cpu.value_or(0) < 0.05 * memory.usual_worker_cpu;
    claim = cpu_quiet && io_quiet ? Claim::still : (io_stopped || (workers_stopped && io_quiet) ? Claim::busy_wait : Claim::moves);
    memory.still_looks = claim == Claim::still ? memory.still_looks + 1 : 0;
    memory.wait_looks = claim == Claim::moves ? 0 : memory.wait_looks + 1;
    if (claim != Claim::still) memory.moved_at = look.now;
    if (claim == Claim::moves) memory.io_at = look.now;
  }
  const WatcherTime since = claim == Claim::busy_wait ? *memory.io_at : *memory.moved_at;
  std::string detail = text("pid %lld", static_cast<long long>(life.main->pid));
  if (life.main->state) detail += text(", state %c", *life.main->state);
  if (rates.cpu) detail += text(", %.2f cores", *rates.cpu);
  if (rates.io) detail += ", I/O " + say_bytes(*rates.io) + "/s";
  if (claim == Claim::still) detail += ", nothing moved for " + say_duration(look.now - since);
  if (claim == Claim::busy_wait) detail += ", I/O of the run stopped " + say_duration(look.now - since) + " ago";
  const bool as_usual = claim == Claim::moves && memory.usual_looks >= kUsualLooks && rates.cpu.value_or(0) >= kUsualShare * memory.usual_cpu &&
                        (!rates.io || *rates.io >= kUsualShare * std::min(memory.usual_io, kUsualIoFloor));
  const bool stopped = life.main->state == 'T';
  const char* cause = stopped ? "process-stopped" : (memory.dstate_looks >= 3 ? "process-dstate" : "");
  if (stopped) out.find("process-stopped");
  const char* says = stopped ? "stopped" : claim == Claim::still ? "still" : (claim == Claim::busy_wait ? "busy-wait" : "alive");
  out.say({.signal = "main-process",
           .source = Source::process,
           .claim = claim,
           .since = since,
           .looks = claim == Claim::busy_wait ? memory.wait_looks : memory.still_looks,
           .as_usual = as_usual,
           .cause = cause,
           .says = says,
           .detail = std::move(detail)});
}

void learn_process_rhythm(ProcessMemory& memory) {
  if (memory.last_cpu < 0) return;
  const double weight = memory.usual_looks < kUsualLooks ? 1.0 / (memory.usual_looks + 1) : kAverageWeight;
  const auto average = [&](double& usual, double value) { usual += weight * (value - usual); };
  average(memory.usual_cpu, memory.last_cpu);
  if (memory.last_worker_cpu >= 0) average(memory.usual_worker_cpu, memory.last_worker_cpu);
  if (memory.last_io >= 0) {
    average(memory.usual_io, memory.last_io);
    average(memory.io_steady, memory.last_io >= kQuietBytesPerSecond ? 1.0 : 0.0);
  }
  if (memory.usual_looks < 1000) ++memory.usual_looks;
}

}  // namespace trainvigil
