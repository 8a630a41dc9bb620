// The processes that matter to the jobs of one host, remembered from look to look: what the patterns matched, what descends from it, and who holds a
// GPU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/wire/pattern.hpp"
#include "core/wire/proc.hpp"
#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

class ProcessTable {
 public:
  explicit ProcessTable(const std::vector<Job>& jobs);

  /// The host was started again: no pid means what it meant.
  void forget();
  void begin_look();

  /// All pids whose facts this look wants (request P).
  [[nodiscard]] std::vector<std::int64_t> followed() const;
  /// Pids found since, not asked for yet; handing them out takes them off the list.
  std::vector<std::int64_t> take_new();
  /// Pids whose command line and owner are unknown (request F by pid); handing them out takes them off the list.
  std::vector<std::int64_t> take_unnamed();
  /// Owners without a name that a job's `user` has to be compared with.
  [[nodiscard]] std::vector<std::int64_t> unknown_users() const;

  /// `asked` are the pids of the request: one of them without facts is gone, one with another start is another process.
  void add_facts(const std::vector<std::int64_t>& asked, const ProcessFacts& facts, const HostConstants& host);
  void add_scan(const Scan& scan, bool complete, std::int64_t shell_pid);
  void add_user(std::int64_t uid, const std::string& name) { users_[uid] = name; }
  /// pid -> indices of the GPUs it holds.
  void set_gpu_holders(const std::map<std::int64_t, std::set<int>>& holders);

  /// A process that a pattern had matched was not there any more in this look.
  /// A job's pattern matches nothing yet: its process may be one that is there and has only to become it by exec.
  [[nodiscard]] bool misses_one() const;
  [[nodiscard]] bool lost_one() const { return lost_one_; }
  /// Absent when this look can not say.
  [[nodiscard]] std::optional<std::vector<Process>> processes(std::size_t job) const;
  [[nodiscard]] std::optional<std::vector<Process>> near_misses(std::size_t job) const;

 private:
  struct Known {
    Process facts;
    std::optional<std::int64_t> uid;
    std::string argv0;
    std::set<std::size_t> matched, members;  ///< jobs whose pattern matched it / whose tree it belongs to
    std::set<int> gpus;
    bool seen = false, named = false, asked = false;
  };
  struct Watch {
    std::optional<Pattern> pattern;
    std::optional<std::int64_t> pid;
    std::optional<std::string> user;
    std::optional<std::set<int>> gpus;
    std::vector<Process> near_misses;
    [[nodiscard]] bool wanted() const { return pattern || pid; }
  };

  void match(std::int64_t pid, const Scanned& process);
  void adopt_descendants(const Scan& scan, std::int64_t shell_pid);
  void find_near_misses(const Scan& scan, const std::set<std::int64_t>& own);
  [[nodiscard]] bool of_user(const Watch& watch, const Known& known) const;
  [[nodiscard]] Process as_process(std::size_t job, const Known& known) const;

  std::vector<Watch> watches_;
  std::map<std::int64_t, Known> known_;
  std::map<std::int64_t, std::string> users_;
  bool ever_scanned_ = false;  ///< all processes were looked at at least once
  bool scanned_ = false;       ///< this look knows of every process that is new
  bool facts_ = false;         ///< this look's facts have come
  bool lost_one_ = false;
};

}  // namespace trainvigil::wire
