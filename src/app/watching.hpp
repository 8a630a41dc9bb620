// What status, check, wait and run have in common: jobs, history, world and poller, in the order in which they must be torn down.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/memory.hpp"
#include "app/options.hpp"
#include "app/poller.hpp"
#include "app/setup.hpp"
#include "app/world.hpp"

namespace trainvigil::app {

class Watching {
 public:
  /// Throws UsageError or ConfigRefused. `afresh`: see StoredMemory.
  explicit Watching(const Options& options, bool afresh = false);

  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] History& history() { return history_; }
  [[nodiscard]] World& world() { return *world_; }
  /// Polls, and tells on stderr (`tell`) why a host can not be reached and what mends that, once for each reason. An error of the history ends in a
  /// UsageError.
  PollEnd poll(const PollOptions& options, const Poller::OnTurn& on_turn, bool tell = true);

 private:
  void tell_reach(const Turn& turn);

  Setup setup_;
  std::vector<Job> jobs_;
  History history_;
  std::unique_ptr<World> world_;
  StoredMemory memory_;
  Poller poller_;
  std::map<std::string, std::string> told_;  ///< by host
};

/// The last verdict of every job after one look each, confirmed where that was wanted; in the order of the jobs.
/// `tell`: see Watching::poll; formats for people say it themselves. Absent entries only when the operator stopped it.
std::vector<std::optional<Verdict>> look_once(Watching& watching, bool tell);
/// The worst counts; 3 where there is none.
int worst_exit_code(const std::vector<std::optional<Verdict>>& verdicts);

}  // namespace trainvigil::app
