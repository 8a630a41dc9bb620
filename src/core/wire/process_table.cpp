#include "core/wire/process_table.hpp"

#include <algorithm>

namespace trainvigil::wire {
namespace {

constexpr std::size_t kMostFollowed = 2000;  ///< a pattern that matches everything must not make the question endless
constexpr std::size_t kMostNearMisses = 4;

/// The ancestors of `pid` as far as the scan tells, nearest first.
std::vector<std::int64_t> ancestors(const Scan& scan, std::int64_t pid) {
  std::vector<std::int64_t> chain;
  for (auto at = scan.found.find(pid); at != scan.found.end() && at->second.ppid && chain.size() < 64; at = scan.found.find(chain.back())) {
    chain.push_back(*at->second.ppid);
  }
  return chain;
}

/// The probe's own processes, and those that started it: on this machine the watcher itself, whose command line holds the pattern.
std::set<std::int64_t> own_processes(const Scan& scan, std::int64_t shell_pid) {
  std::set<std::int64_t> own{shell_pid};
  for (const std::int64_t pid : ancestors(scan, shell_pid)) {
    if (pid > 1) own.insert(pid);  // 1 may well be the job, in a container
  }
  for (const auto& [pid, process] : scan.found) {
    const auto chain = ancestors(scan, pid);
    if (std::find(chain.begin(), chain.end(), shell_pid) != chain.end()) own.insert(pid);
  }
  return own;
}

}  // namespace

ProcessTable::ProcessTable(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    Watch watch;
    if (job.process) watch.pattern.emplace(*job.process);
    watch.pid = job.pid;
    watch.user = job.user;
    if (job.gpus) watch.gpus.emplace(job.gpus->begin(), job.gpus->end());
    watches_.push_back(std::move(watch));
  }
}

void ProcessTable::forget() {
  known_.clear();
  users_.clear();
  ever_scanned_ = false;
  for (Watch& watch : watches_) watch.near_misses.clear();
}

void ProcessTable::begin_look() {
  scanned_ = facts_ = lost_one_ = false;
  for (auto& [pid, known] : known_) known.seen = known.asked = false;
  for (std::size_t job = 0; job < watches_.size(); ++job) {
    const auto pid = watches_[job].pid;
    if (!pid) continue;
    Known& known = known_[*pid];
    known.facts.pid = *pid;
    known.matched.insert(job);
    known.members.insert(job);
  }
}

std::vector<std::int64_t> ProcessTable::followed() const {
  std::vector<std::int64_t> pids;
  for (const auto& [pid, known] : known_) pids.push_back(pid);
  return pids;
}

std::vector<std::int64_t> ProcessTable::take_new() {
  std::vector<std::int64_t> pids;
  for (auto& [pid, known] : known_) {
    if (known.seen || known.asked) continue;
    known.asked = true;
    pids.push_back(pid);
  }
  return pids;
}

bool ProcessTable::misses_one() const {
  for (std::size_t job = 0; job < watches_.size(); ++job) {
    if (!watches_[job].pattern) continue;
    const bool found = std::any_of(known_.begin(), known_.end(), [job](const auto& item) { return item.second.matched.contains(job); });
    if (!found) return true;
  }
  return false;
}

std::vector<std::int64_t> ProcessTable::take_unnamed() {
  std::vector<std::int64_t> pids;
  for (auto& [pid, known] : known_) {
    if (known.named) continue;
    known.named = true;
    pids.push_back(pid);
  }
  return pids;
}

std::vector<std::int64_t> ProcessTable::unknown_users() const {
  std::set<std::int64_t> uids;
  for (const auto& [pid, known] : known_) {
    if (known.uid && !users_.contains(*known.uid)) uids.insert(*known.uid);
  }
  return {uids.begin(), uids.end()};
}

void ProcessTable::add_facts(const std::vector<std::int64_t>& asked, const ProcessFacts& facts, const HostConstants& host) {
  facts_ = true;
  for (const std::int64_t pid : asked) {
    const auto known = known_.find(pid);
    if (known == known_.end()) continue;
    const auto stat = facts.stats.find(pid);
    Process& process = known->second.facts;
    if (stat == facts.stats.end() || (process.start_ticks && *process.start_ticks != stat->second.start_ticks)) {
      if (!known->second.matched.empty()) lost_one_ = true;
      known_.erase(known);
      continue;
    }
    const StatLine& line = stat->second;
    known->second.seen = known->second.asked = true;
    process.pid = pid;
    process.ppid = line.ppid;
    process.state = line.state;
    process.start_ticks = line.start_ticks;
    process.cpu_s = static_cast<double>(line.cpu_ticks) / host.ticks_per_s;
    process.rss_kib = line.rss_pages * (host.page_bytes / 1024);
    // Another program in the same process (a launcher that ended in exec): what it is called has to be read again.
    if (!process.comm.empty() && process.comm != line.comm) known->second.named = false;
    process.threads = static_cast<int>(std::clamp<std::int64_t>(line.threads, 0, 1 << 30));
    process.comm = line.comm;
    if (host.boot_time) process.start = host_time(*host.boot_time + static_cast<double>(line.start_ticks) / host.ticks_per_s);
    const auto io = facts.io.find(pid);
    process.read_bytes = io == facts.io.end() ? std::nullopt : io->second.read_bytes;
    process.write_bytes = io == facts.io.end() ? std::nullopt : io->second.write_bytes;
  }
}

void ProcessTable::match(std::int64_t pid, const Scanned& process) {
  if (process.cmdline.empty() || is_onlooker(process.argv0) || starts_a_watcher(process.cmdline)) return;
  for (std::size_t job = 0; job < watches_.size(); ++job) {
    const Watch& watch = watches_[job];
    if (watch.pid || !watch.pattern || !watch.pattern->matches(process.cmdline)) continue;
    if (known_.size() >= kMostFollowed && !known_.contains(pid)) return;
    Known& known = known_[pid];
    known.facts.pid = pid;
    known.matched.insert(job);
    known.members.insert(job);
  }
}

void ProcessTable::adopt_descendants(const Scan& scan, std::int64_t shell_pid) {
  for (const auto& [pid, process] : scan.found) {
    std::set<std::size_t> jobs;
    for (const std::int64_t ancestor : ancestors(scan, pid)) {
      if (ancestor == shell_pid) break;
      const auto known = known_.find(ancestor);
      if (known == known_.end()) continue;
      jobs.insert(known->second.members.begin(), known->second.members.end());
    }
    if (jobs.empty() || (known_.size() >= kMostFollowed && !known_.contains(pid))) continue;
    Known& known = known_[pid];
    known.facts.pid = pid;
    known.members.insert(jobs.begin(), jobs.end());
  }
}

void ProcessTable::add_scan(const Scan& scan, bool complete, std::int64_t shell_pid) {
  const auto own = own_processes(scan, shell_pid);
  for (const auto& [pid, process] : scan.found) {
    if (!own.contains(pid)) match(pid, process);
  }
  adopt_descendants(scan, shell_pid);
  for (const auto& [pid, process] : scan.found) {
    const auto known = known_.find(pid);
    if (known == known_.end()) continue;
    // A title may change and a command line may become unreadable: the last one that could be read stays.
    if (!process.cmdline.empty()) {
      known->second.facts.cmdline = process.cmdline;
      known->second.argv0 = process.argv0;
    }
    if (process.uid) known->second.uid = process.uid;
    known->second.named = true;
  }
  if (!complete) return;
  ever_scanned_ = ever_scanned_ || scan.full;
  scanned_ = ever_scanned_;
  if (scan.full) find_near_misses(scan, own);
}

void ProcessTable::find_near_misses(const Scan& scan, const std::set<std::int64_t>& own) {
  for (Watch& watch : watches_) {
    watch.near_misses.clear();
    if (!watch.pattern) continue;
    std::vector<std::pair<std::size_t, Process>> candidates;
    for (const auto& [pid, process] : scan.found) {
      if (own.contains(pid) || is_onlooker(process.argv0) || starts_a_watcher(process.cmdline)) continue;
      const std::size_t shared = watch.pattern->likeness(process.cmdline);
      if (shared == 0 || watch.pattern->matches(process.cmdline)) continue;
      Process near;
      near.pid = pid;
      near.ppid = process.ppid;
      near.cmdline = process.cmdline;
      candidates.emplace_back(shared, std::move(near));
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (candidates.size() > kMostNearMisses) candidates.resize(kMostNearMisses);
    for (auto& [shared, near] : candidates) watch.near_misses.push_back(std::move(near));
  }
}

void ProcessTable::set_gpu_holders(const std::map<std::int64_t, std::set<int>>& holders) {
  for (auto at = known_.begin(); at != known_.end();) {
    Known& known = at->second;
    const auto holder = holders.find(at->first);
    known.gpus = holder == holders.end() ? std::set<int>{} : holder->second;
    at = known.gpus.empty() && known.members.empty() ? known_.erase(at) : std::next(at);
  }
  for (const auto& [pid, gpus] : holders) {
    if (known_.size() >= kMostFollowed) return;
    Known& known = known_[pid];
    known.facts.pid = pid;
    known.gpus = gpus;
  }
}

bool ProcessTable::of_user(const Watch& watch, const Known& known) const {
  if (!watch.user || !known.uid) return true;
  if (*watch.user == std::to_string(*known.uid)) return true;
  const auto name = users_.find(*known.uid);
  return name == users_.end() || name->second == *watch.user;
}

Process ProcessTable::as_process(std::size_t job, const Known& known) const {
  Process process = known.facts;
  process.matched = known.matched.contains(job);
  if (watches_[job].pid == process.pid) process.main = true;
  if (known.uid) {
    const auto name = users_.find(*known.uid);
    process.user = name == users_.end() ? std::to_string(*known.uid) : name->second;
  }
  return process;
}

std::optional<std::vector<Process>> ProcessTable::processes(std::size_t job) const {
  const Watch& watch = watches_[job];
  if (!watch.wanted() || !facts_) return std::nullopt;
  std::vector<Process> found;
  bool members = false, unanswered = false;
  for (const auto& [pid, known] : known_) {
    const bool member = known.members.contains(job);
    if (!known.seen) {
      unanswered = unanswered || member;
      continue;
    }
    // A stranger on a GPU is told of when the GPU is this job's, or when nobody else claims both.
    const bool on_gpu = !known.gpus.empty() && known.members.empty() &&
                        (!watch.gpus || std::any_of(known.gpus.begin(), known.gpus.end(), [&watch](int gpu) { return watch.gpus->contains(gpu); }));
    if ((!member && !on_gpu) || (member && !of_user(watch, known))) continue;
    members = members || member;
    found.push_back(as_process(job, known));
  }
  if (!members && (unanswered || (!scanned_ && !watch.pid))) return std::nullopt;
  return found;
}

std::optional<std::vector<Process>> ProcessTable::near_misses(std::size_t job) const {
  const Watch& watch = watches_[job];
  if (!watch.pattern || watch.near_misses.empty()) return std::nullopt;
  const bool matched = std::any_of(known_.begin(), known_.end(), [job](const auto& known) { return known.second.matched.contains(job); });
  return matched ? std::nullopt : std::optional(watch.near_misses);
}

}  // namespace trainvigil::wire
