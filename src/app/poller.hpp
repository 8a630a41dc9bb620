// Many hosts, side by side: looks at each when it is due, has every observation judged, and looks again at once where a verdict asks for it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/memory.hpp"
#include "app/world.hpp"

namespace trainvigil::app {

/// Of a look's limit, what the sensors on the host may take; the rest is for connecting and the way back.
inline constexpr double kSensorShare = 2.0 / 3.0;

/// A host and those of the jobs that are on it.
struct HostPlan {
  HostTarget target;
  std::vector<std::size_t> jobs;  ///< indices into the poller's jobs; not empty
  Seconds interval{30};
  Seconds limit{30};  ///< of one whole look
};

struct PollOptions {
  bool once = false;  ///< every host is looked at until its verdicts are settled, then it is over
  bool verify_all = false;
  std::optional<WatcherTime> until;  ///< give up then
  std::optional<Seconds> tick;       ///< call on_tick at least this often
  std::function<void()> on_tick;
};

/// One observation of one job, judged.
struct Turn {
  std::size_t index = 0;
  const Job& job;
  const Observation& observation;
  const Verdict& verdict;
  bool settled = true;  ///< false: a confirming look follows within seconds
};

enum class PollEnd { all_looked, enough, stopped, time_is_up };

class Poller {
 public:
  Poller(World& world, Memory& memory, std::vector<Job> jobs, std::vector<HostPlan> hosts);
  /// `on_turn` says whether to go on. Fails only when no job can be judged at all (no history).
  using OnTurn = std::function<bool(const Turn&)>;
  Result<PollEnd> run(const PollOptions& options, const OnTurn& on_turn);

 private:
  struct Host {
    HostPlan plan;
    std::unique_ptr<HostWatch> watch;
    WatcherTime due{};                      ///< the next look of the rhythm
    std::optional<WatcherTime> confirm_at;  ///< a look out of turn, wanted by `doubtful`
    std::vector<bool> doubtful;             ///< which jobs the confirming look is for; by position in plan.jobs
    int confirmed = 0;                      ///< confirming looks in a row
    bool looking = false;
    bool confirming = false;  ///< the look under way is a confirming one
    bool finished = false;    ///< `once`: settled
  };
  void begin_due(const PollOptions& options);
  Result<bool> finish(Host& host, const PollOptions& options, const OnTurn& on_turn);
  [[nodiscard]] WatcherTime next_event(const PollOptions& options, WatcherTime now) const;

  World& world_;
  Memory& memory_;
  std::vector<Job> jobs_;
  std::vector<Host> hosts_;
};

}  // namespace trainvigil::app
