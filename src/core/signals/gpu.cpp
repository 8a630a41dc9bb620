// The GPU witness: do the job's GPUs work, compared with this run's own usual? Utilisation alone is no witness (a wait in a collective reads 100 %),
// so power and memory traffic are asked too. The rules and numbers come from 931 series of public telemetry; each constant names what it was measured
// on.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

constexpr double kWorkActivity = 0.35;  // dense and light jobs stay above this share of their dynamic range; spinning ranks reached 0.27
constexpr double kSpinUtil = 95;        // a waiting kernel counts as fully busy
constexpr double kIdleUtil = 5;
constexpr double kIdleShare = 0.3;      // of the usual utilisation: tiny models never exceed a few per cent
constexpr double kBaselineRatio = 1.2;  // below this P_b / P_0 power tells nothing about activity
constexpr double kWorkOverIdle = 1.6;   // before a baseline: power of work over context-held idle power
constexpr double kSpinOverIdle = 1.5;   // spinning costs 1.0 to 1.35 times the idle power
constexpr double kIdleOfLimit = 0.24;   // context-held idle power, 0.16 to 0.27 of the limit by model
constexpr std::size_t kBaselineLooks = 10;

enum class State { work, light, busy, spin, held, unread };  // busy: full utilisation and nothing else told; work or a wait

GpuMemory& memory_of(GpusMemory& memory, int index) {
  const auto at = std::find_if(memory.gpus.begin(), memory.gpus.end(), [&](const GpuMemory& g) { return g.index == index; });
  if (at != memory.gpus.end()) return *at;
  memory.gpus.emplace_back();
  memory.gpus.back().index = index;
  return memory.gpus.back();
}

bool meets(const std::vector<std::int64_t>& pids, const Life& life) {
  return std::any_of(pids.begin(), pids.end(), [&](std::int64_t pid) { return std::binary_search(life.pids.begin(), life.pids.end(), pid); });
}

// The job's GPUs: told by the operator, else those that a process of the tree holds, else those remembered from earlier looks. Where no GPU lists any
// process although memory is held (another pid namespace), every GPU with memory in use has to serve.
std::vector<const Gpu*> jobs_gpus(const Look& look, const Life& life, const GpusMemory& memory) {
  std::vector<const Gpu*> out;
  bool pids_told = false;
  for (const Gpu& g : *look.seen.gpus) pids_told = pids_told || (g.pids && !g.pids->empty());
  for (const Gpu& g : *look.seen.gpus) {
    const bool remembered = std::any_of(memory.gpus.begin(), memory.gpus.end(), [&](const GpuMemory& m) { return m.index == g.index; });
    bool mine = remembered;
    if (look.job.gpus) {
      mine = std::find(look.job.gpus->begin(), look.job.gpus->end(), g.index) != look.job.gpus->end();
    } else if (g.pids && meets(*g.pids, life)) {
      mine = true;
    } else if (!remembered && !pids_told && life.main != nullptr) {
      mine = g.mem_used_mib.value_or(0) > 200;  // free GPUs read 0 to 28 MiB through nvidia-smi, 10 times that is nobody's noise
    }
    if (mine) out.push_back(&g);
  }
  return out;
}

double idle_power(const GpuMemory& m, const Gpu& g) {
  double idle = m.idle_w.value_or(g.power_limit_w ? kIdleOfLimit * *g.power_limit_w : 0);
  if (m.power.size() >= kBaselineLooks && !m.idle_w) idle = std::min(idle, 0.6 * m.power.median());
  return idle;
}

std::optional<double> activity(const GpuMemory& m, const Gpu& g) {
  if (!g.power_w || m.power.size() < kBaselineLooks) return std::nullopt;
  const double idle = idle_power(m, g);
  const double busy = m.power.median();
  if (idle <= 0 || busy < kBaselineRatio * idle) return std::nullopt;
  return (*g.power_w - idle) / (busy - idle);
}

State judge(const GpuMemory& m, const Gpu& g) {
  if (!g.util_pct && !g.power_w) return State::unread;
  const bool baseline = m.power.size() >= kBaselineLooks || (m.util.size() >= kBaselineLooks && m.power.size() == 0);
  const auto active = activity(m, g);
  const double idle = idle_power(m, g);
  const double usual_util = baseline ? m.util.median() : 0;
  const double usual_mem = baseline ? m.mem_util.median() : 0;
  const double util = g.util_pct.value_or(0);
  const double peak = std::max(util, g.util_max_pct.value_or(util));
  const bool mem_low = g.mem_util_pct ? *g.mem_util_pct <= std::max(2.0, 0.1 * usual_mem) : true;
  const bool power_low = g.power_w && ((idle > 0 && *g.power_w <= kSpinOverIdle * idle) || (active && *active < kWorkActivity));
  const bool power_high = g.power_w && ((active && *active >= kWorkActivity) || (!active && idle > 0 && *g.power_w >= kWorkOverIdle * idle));
  if (g.util_pct && util >= kSpinUtil && mem_low && !power_high) {
    if (power_low) return State::spin;
    // Without power a wait looks like work, unless this run never runs so full and its memory traffic is gone.
    if (!g.power_w && baseline && g.mem_util_pct && usual_mem >= 5 && usual_util < 95) return State::spin;
  }
  if (g.util_pct && util >= kSpinUtil && !g.power_w && !g.mem_util_pct) return State::busy;
  if (power_high || (g.mem_util_pct && *g.mem_util_pct >= 5)) return State::work;
  const bool active_undefined = !active.has_value();
  if (active_undefined && g.util_pct && peak >= std::max(1.0, kIdleShare * usual_util) && !(util >= kSpinUtil && power_low)) return State::work;
  if (g.util_pct && peak < kIdleUtil && (!baseline || peak < std::max(0.5, kIdleShare * usual_util))) return State::held;
  if (!g.util_pct) return power_low ? State::held : State::light;
  return State::light;
}

void learn(GpuMemory& m, const Gpu& g, State state) {
  // Idle power counts only when nothing ran at all; power meters average a second or more, so one idle look after work may still read high: the
  // lowest value is the one that settles.
  if (state == State::held && g.power_w && g.util_pct.value_or(100) < 1) m.idle_w = std::min(m.idle_w.value_or(*g.power_w), *g.power_w);
  if (state != State::work && state != State::busy) return;
  if (g.power_w) m.power.add(static_cast<float>(*g.power_w));
  if (g.util_pct) m.util.add(static_cast<float>(*g.util_pct));
  if (g.mem_util_pct) m.mem_util.add(static_cast<float>(*g.mem_util_pct));
}

bool throttled_hard(const Gpu& g) {
  if (!g.throttle) return false;
  // 0x8 hardware slowdown, 0x40 hardware thermal, 0x80 power brake (nvml.h, clocks throttle reasons)
  const unsigned long bits = std::strtoul(g.throttle->c_str(), nullptr, 16);
  return (bits & (0x8UL | 0x40UL | 0x80UL)) != 0;
}

void report_faults(const Look& look, const Life& life, GpusMemory& memory, Statement& out) {
  const Observation& o = look.seen;
  if (o.gpus) {
    const int listed = static_cast<int>(o.gpus->size());
    if (listed < memory.most_seen) out.find("gpu-lost");
    memory.most_seen = std::max(memory.most_seen, listed);
    for (const Gpu& g : *o.gpus) {
      if (!g.fault) continue;
      out.find(g.fault->find("reset") != std::string::npos ? "gpu-needs-reset" : "gpu-lost");
    }
  }
  if (o.gpu_error) {
    const std::string& e = *o.gpu_error;
    const bool lost =
        e.find("is lost") != std::string::npos || e.find("Unable to determine the device handle") != std::string::npos ||
        (memory.most_seen > 0 && (e.find("No devices were found") != std::string::npos || e.find("No supported GPUs") != std::string::npos));
    if (lost) out.find("gpu-lost");
    if (!o.gpus || o.gpus->empty()) out.find("gpu-unreadable", Level::ok);
  } else if (!o.gpus && memory.held && life.main != nullptr) {
    out.find("gpu-unreadable", Level::ok);
  }
}

}  // namespace

void gpu_signal(const Look& look, const Life& life, JobState::Impl& state, Statement& out, std::vector<GpuSummary>* summary) {
  GpusMemory& memory = state.run.gpu;
  // Not asked this time: what an earlier look read still stands, but nothing is learned or counted from it twice.
  const auto sensor = look.seen.sensors.find("gpu");
  const bool stale = sensor != look.seen.sensors.end() && sensor->second.status == SensorStatus::stale;
  if (stale && !look.seen.gpus && !look.seen.gpu_error) return;
  report_faults(look, life, memory, out);
  if (!look.seen.gpus) {
    ++memory.unread_looks;
    const std::string why = look.seen.gpu_error ? *look.seen.gpu_error : "no GPU tool, or it did not answer";
    if (memory.held || look.seen.gpu_error)
      out.say({.signal = "gpu-activity", .source = Source::gpu, .says = "unread", .detail = why.substr(0, 160)});
    if (!memory.held && !look.seen.gpu_error) out.find("gpu-dark", Level::ok);
    return;
  }
  memory.unread_looks = 0;
  // Where the process table could not be read, the run is presumed to live as it did.
  const bool asked = look.job.process || look.job.pid;
  const bool lives = life.main != nullptr || (!life.read && (!asked || (state.run.main && state.run.gone_looks == 0)));
  const auto mine = jobs_gpus(look, life, memory);
  int work = 0, light = 0, busy = 0, spin = 0, held = 0, unread = 0;
  double power = 0, util_low = 101, util_high = -1, usual = 0;
  bool power_known = false;
  for (const Gpu* g : mine) {
    if (!lives) {
      if (summary != nullptr) summary->push_back({g->index, g->util_pct, g->mem_used_mib, g->mem_total_mib, g->power_w, std::nullopt});
      continue;
    }
    GpuMemory& m = memory_of(memory, g->index);
    State s = judge(m, *g);
    if (!stale) learn(m, *g, s);
    if (summary != nullptr) summary->push_back({g->index, g->util_pct, g->mem_used_mib, g->mem_total_mib, g->power_w, activity(m, *g)});
    work += s == State::work;
    light += s == State::light;
    busy += s == State::busy;
    spin += s == State::spin;
    held += s == State::held;
    unread += s == State::unread;
    if (g->power_w) {
      power += *g->power_w;
      usual += m.power.median();
      power_known = true;
    }
    if (g->util_pct) {
      util_low = std::min(util_low, *g->util_pct);
      util_high = std::max(util_high, *g->util_pct);
    }
    if (!stale) m.slow_looks = throttled_hard(*g) && s != State::held && activity(m, *g).value_or(1) < 0.6 ? m.slow_looks + 1 : 0;
    if (m.slow_looks >= 3) out.find("gpu-slow");
  }
  if (mine.empty() || !lives) {
    if (life.main != nullptr && look.seen.gpus->empty()) out.find("gpu-dark", Level::ok);
    const bool ghost =
        std::any_of(mine.begin(), mine.end(), [](const Gpu* g) { return g->mem_used_mib.value_or(0) > 1024 && g->pids && g->pids->empty(); });
    if (ghost && state.run.gone_looks > 4) out.find("gpu-ghost", Level::ok);
    return;
  }
  memory.held = true;
  if (unread == static_cast<int>(mine.size())) {
    out.find("gpu-dark", Level::ok);
    out.say({.signal = "gpu-activity", .source = Source::gpu, .says = "dark", .detail = "the GPUs tell neither use nor power"});
    return;
  }
  if (!memory.moved_at) memory.moved_at = look.now;
  // Some work and some wait for long: the ones that wait are no witness of life. While any works, the run works.
  Claim claim = work > 0 ? Claim::progress : (light + busy > 0 ? Claim::moves : (spin > 0 ? Claim::spin : Claim::still));
  // One GPU fully busy without any power reading beside an idle one, for long, is a split collective; the judge still needs a second source.
  const bool blind_split = (claim == Claim::progress || busy > 0) && held > 0 && !power_known && util_high >= kSpinUtil && util_low < 1;
  if (blind_split && memory.worked) {
    if (!memory.split_since) memory.split_since = look.now;
    if (look.now - *memory.split_since > Seconds{180}) claim = Claim::spin;
  } else {
    memory.split_since.reset();
  }
  const bool moving = claim == Claim::progress || claim == Claim::moves;
  if (!stale) {
    if (claim != Claim::spin) {
      memory.spin_since.reset();
    } else if (!memory.spin_since) {
      memory.spin_since = look.now;
    }
    if (moving) {
      if (memory.still_looks > 0) memory.longest_idle = std::max(memory.longest_idle, look.now - *memory.moved_at);
      memory.moved_at = look.now;
      memory.still_looks = 0;
      if (claim == Claim::progress || busy > 0) memory.worked = true;
    } else {
      ++memory.still_looks;
    }
  }
  const WatcherTime since = memory.split_since && claim == Claim::spin ? *memory.split_since : *memory.moved_at;
  std::string detail = text("%zu GPU%s", mine.size(), mine.size() == 1 ? "" : "s");
  if (util_high >= 0) detail += util_low == util_high ? text(", %.0f %% busy", util_high) : text(", %.0f to %.0f %% busy", util_low, util_high);
  if (power_known) detail += text(", %.0f W", power);
  if (power_known && usual > 0) detail += text(" of usually %.0f W", usual);
  if (!moving) detail += ", no work for " + say_duration(look.now - since);
  const char* says =
      claim == Claim::progress ? "work" : (claim == Claim::moves ? (light > 0 ? "light" : "busy") : (claim == Claim::spin ? "spin" : "held"));
  const char* cause = claim == Claim::still ? "gpu-idle-held" : (held > 0 ? "gpu-split" : "gpu-spin");
  out.say({.signal = "gpu-activity",
           .source = Source::gpu,
           .claim = claim,
           .since = since,
           .looks = memory.still_looks,
           .stale = stale,
           .weak = busy > 0 && work + light == 0 && claim == Claim::moves,
           .cause = cause,
           .says = says,
           .detail = std::move(detail)});
}

}  // namespace trainvigil
