// Which process is the run, and is it still the same life? Identity is boot id + pid + start ticks; the pattern only finds it the first time.
#include <regex.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

ProcessId id_of(const Process& p) {
  if (p.start_ticks) return {p.pid, *p.start_ticks};
  return {p.pid, p.start ? static_cast<std::int64_t>(epoch_seconds(*p.start)) : -1};
}

// Start times computed from ticks can differ by a second between two looks (the boot time is rounded), so ids without ticks are compared loosely.
bool same(const ProcessId& known, const Process& p) {
  if (known.pid != p.pid) return false;
  if (p.start_ticks) return known.ticks == *p.start_ticks;
  if (!p.start || known.ticks < 0) return true;
  return std::abs(known.ticks - static_cast<std::int64_t>(epoch_seconds(*p.start))) <= 2;
}

bool dead(const Process& p) { return p.state == 'Z' || p.state == 'X' || p.state == 'x'; }

std::string_view basename(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Programs that start or carry a training but are none themselves (contract section 1, "main process"), and readers of files with its name.
bool launcher(const Process& p) {
  static constexpr std::array names{
      "sh",    "bash",        "dash",   "ash",    "zsh",         "ksh",       "mksh",  "fish",      "tcsh",     "csh",    "busybox", "sudo",
      "su",    "doas",        "tmux",   "screen", "nohup",       "ssh",       "sshd",  "srun",      "sbatch",   "salloc", "timeout", "env",
      "nice",  "ionice",      "stdbuf", "script", "time",        "setsid",    "xargs", "watch",     "unbuffer", "chrt",   "taskset", "numactl",
      "flock", "systemd-run", "docker", "podman", "singularity", "apptainer", "vi",    "vim",       "nvim",     "nano",   "emacs",   "less",
      "more",  "tail",        "cat",    "grep",   "rg",          "pgrep",     "pkill", "trainvigil"};
  std::string_view program = p.cmdline;
  program = program.substr(0, program.find(' '));
  if (program.empty()) program = p.comm;
  program = basename(program);
  if (program.starts_with('-')) program.remove_prefix(1);  // a login shell
  if (program.ends_with(':')) program.remove_suffix(1);    // "sshd: user@notty", "tmux: server"
  return std::find(names.begin(), names.end(), program) != names.end();
}

class Pattern {
 public:
  explicit Pattern(const std::string& text) : ok_(regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~Pattern() {
    if (ok_) regfree(&regex_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  [[nodiscard]] bool matches(const std::string& line) const { return ok_ && regexec(&regex_, line.c_str(), 0, nullptr, 0) == 0; }

 private:
  regex_t regex_{};
  bool ok_;
};

const Process* by_pid(const std::vector<Process>& all, std::int64_t pid) {
  for (const Process& p : all) {
    if (p.pid == pid) return &p;
  }
  return nullptr;
}

bool holds_gpu(const Look& look, std::int64_t pid) {
  if (!look.seen.gpus) return false;
  for (const Gpu& g : *look.seen.gpus) {
    if (g.pids && std::find(g.pids->begin(), g.pids->end(), pid) != g.pids->end()) return true;
  }
  return false;
}

// The chain of parents, bounded: a table read while processes come and go can hold a loop.
bool descends_from(const std::vector<Process>& all, const Process& p, std::int64_t ancestor) {
  const Process* at = &p;
  for (int depth = 0; depth < 64; ++depth) {
    if (!at->ppid || *at->ppid <= 1 || *at->ppid == at->pid) return false;
    if (*at->ppid == ancestor) return true;
    at = by_pid(all, *at->ppid);
    if (at == nullptr) return false;
  }
  return false;
}

bool listed(const std::vector<ProcessId>& ids, const Process& p) {
  return std::any_of(ids.begin(), ids.end(), [&](const ProcessId& id) { return same(id, p); });
}

// A worker of the run, also one that was born after the last look: it began while the main process still lived, and was no job of its own then.
bool known_worker(const RunMemory& run, const Process& p) {
  if (listed(run.process.tree, p)) return true;
  if (!run.main || same(*run.main, p) || run.gone_looks == 0 || !run.start || !run.last_seen_host || !p.start) return false;
  return *p.start > *run.start && *p.start <= *run.last_seen_host && !listed(run.process.bystanders, p);
}

std::vector<bool> matching(const Look& look, const std::vector<Process>& all, const RunMemory& run) {
  std::vector<bool> out(all.size(), false);
  const bool told = std::any_of(all.begin(), all.end(), [](const Process& p) { return p.matched.has_value(); });
  std::optional<Pattern> pattern;
  if (!told && look.job.process) pattern.emplace(*look.job.process);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Process& p = all[i];
    if (dead(p) || launcher(p) || known_worker(run, p)) continue;
    if (look.job.pid && p.pid != *look.job.pid) continue;
    if (look.job.user && p.user && *p.user != *look.job.user) continue;
    out[i] = told ? p.matched.value_or(false) : (pattern ? pattern->matches(p.cmdline) : look.job.pid.has_value());
  }
  return out;
}

const Process* elect(const Look& look, const std::vector<Process>& all, const RunMemory& run) {
  for (const Process& p : all) {
    if (p.main.value_or(false) && !dead(p)) return &p;
  }
  if (std::any_of(all.begin(), all.end(), [](const Process& p) { return p.main.has_value(); })) return nullptr;
  const std::vector<bool> match = matching(look, all, run);
  const Process* best = nullptr;
  bool best_gpu = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!match[i]) continue;
    bool has_matching_ancestor = false;
    bool gpu = holds_gpu(look, all[i].pid);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k == i) continue;
      if (match[k] && descends_from(all, all[i], all[k].pid)) has_matching_ancestor = true;
      if (!gpu && holds_gpu(look, all[k].pid) && descends_from(all, all[k], all[i].pid)) gpu = true;
    }
    if (has_matching_ancestor) continue;
    const bool older = best == nullptr || id_of(all[i]).ticks < id_of(*best).ticks;
    if (best == nullptr || (gpu && !best_gpu) || (gpu == best_gpu && older)) {
      best = &all[i];
      best_gpu = gpu;
    }
  }
  return best;
}

// An empty table whose reading failed or was cut is no table: the process may be in the part that is missing.
bool unreadable(const Observation& o) {
  if (!o.processes->empty()) return false;
  for (const char* name : {"process", "processes"}) {
    const auto sensor = o.sensors.find(name);
    if (sensor == o.sensors.end()) continue;
    const SensorStatus status = sensor->second.status;
    if (status == SensorStatus::timeout || status == SensorStatus::denied || status == SensorStatus::cut || status == SensorStatus::absent)
      return true;
  }
  return false;
}

void collect_tree(const std::vector<Process>& all, RunMemory& run, Life& life) {
  std::vector<ProcessId> tree;
  for (const Process& p : all) {
    if (dead(p)) continue;
    const bool mine = life.main != nullptr && (p.pid == life.main->pid || descends_from(all, p, life.main->pid));
    const bool worker = known_worker(run, p);
    if (!mine && !worker) continue;
    life.pids.push_back(p.pid);
    ++life.count;
    if (life.main == nullptr && worker) ++life.leftovers;
    if (tree.size() < kMostProcesses && (life.main == nullptr || p.pid != life.main->pid)) tree.push_back(id_of(p));
  }
  std::sort(life.pids.begin(), life.pids.end());
  if (life.main != nullptr) {
    std::sort(tree.begin(), tree.end());
    run.process.tree = std::move(tree);
    run.process.bystanders.clear();
    for (const Process& p : all) {
      const bool other = p.matched.value_or(false) && !dead(p) && !launcher(p) && !std::binary_search(life.pids.begin(), life.pids.end(), p.pid);
      if (other && run.process.bystanders.size() < kMostBystanders) run.process.bystanders.push_back(id_of(p));
    }
  }
}

}  // namespace

void begin_run(JobState::Impl& state) {
  if (state.run.main || state.run.completed_at) {
    PastRun past;
    past.first_seen = state.run.first_seen ? epoch_seconds(*state.run.first_seen) : 0;
    past.ended = state.run.last_seen ? epoch_seconds(*state.run.last_seen) : 0;
    past.done = state.run.checkpoint.seen_new ? state.run.checkpoint.highest_done.value_or(0) : 0;
    past.phase = to_string(state.phase);
    state.past.push_back(std::move(past));
    if (state.past.size() > 8) state.past.erase(state.past.begin());
  }
  RunMemory next;
  // The directory outlives the run: what is known of its files saves reading them as new.
  next.checkpoint.ever_listed = state.run.checkpoint.ever_listed;
  next.gpu.most_seen = state.run.gpu.most_seen;
  next.log.base = state.run.log.bytes.value_or(0);
  state.run = std::move(next);
  ++state.runs;
  state.told_p90 = state.told_next_p90 = 0;
  state.told_done = -1;
}

Life find_life(const Look& look, JobState::Impl& state) {
  Life life;
  const Observation& o = look.seen;
  if (o.host.boot_id) {
    life.rebooted = state.run.boot_id && *state.run.boot_id != *o.host.boot_id;
    state.boot_id = o.host.boot_id;
  }
  if (life.rebooted && state.run.main) state.run.rebooted = true;
  if (!o.processes || unreadable(o)) return life;
  life.read = true;
  state.table_read = true;
  const std::vector<Process>& all = *o.processes;
  if (state.run.main && !life.rebooted) {
    for (const Process& p : all) {
      if (!same(*state.run.main, p)) continue;
      if (dead(p)) {
        life.zombie = true;
      } else {
        life.main = &p;
      }
      break;
    }
  }
  if (life.main == nullptr) {
    if (state.run.main) ++state.run.gone_looks;
    const Process* elected = elect(look, all, state.run);
    if (elected != nullptr && !(life.zombie && state.run.main->pid == elected->pid)) {
      const bool first = !state.run.main.has_value();
      const bool begins = !first || state.run.completed_at || state.phase == Phase::ended || state.phase == Phase::completed ||
                          state.run.checkpoint.highest_done.has_value();
      if (begins) begin_run(state);
      RunMemory& run = state.run;
      run.main = id_of(*elected);
      run.boot_id = o.host.boot_id;
      run.start = elected->start;
      run.cmdline = elected->cmdline.substr(0, 512);
      run.first_seen = look.now;
      const auto started = look.to_watcher(elected->start);
      // A minute or three looks: what was not seen to begin may be in the middle of anything.
      run.joined_late = started && look.now - *started > Seconds{std::max(90.0, 3 * state.usual_interval)};
      if (!begins && !run.joined_late) run.log.base = run.log.bytes.value_or(0);
      life.main = elected;
      life.new_run = true;
      life.zombie = false;
    }
  }
  RunMemory& run = state.run;
  if (life.main != nullptr) {
    run.last_seen = look.now;
    run.last_seen_host = look.host_now;
    run.gone_looks = 0;
    run.gone_at.reset();
    run.zombie = false;
    run.rebooted = false;
    if (!run.boot_id) run.boot_id = o.host.boot_id;
    if (!run.start) run.start = life.main->start;
  } else if (run.main) {
    if (!run.gone_at) run.gone_at = look.now;
    run.zombie = life.zombie;
  }
  life.matched_any = life.main != nullptr;
  collect_tree(all, run, life);
  return life;
}

}  // namespace trainvigil
