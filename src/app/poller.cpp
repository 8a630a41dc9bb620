#include "app/poller.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainvigil::app {
namespace {

/// What a verdict suspects is confirmed or refuted by one look; more in a row would hammer the host while nothing gets clearer.
constexpr int kMostConfirming = 3;
/// First looks of many hosts do not all begin in the same instant.
constexpr Seconds kStagger{0.02};
constexpr Seconds kLongestWait{60};

}  // namespace

Poller::Poller(World& world, Memory& memory, std::vector<Job> jobs, std::vector<HostPlan> hosts)
    : world_(world), memory_(memory), jobs_(std::move(jobs)) {
  const WatcherTime now = world_.now();
  for (HostPlan& plan : hosts) {
    Host& host = hosts_.emplace_back();
    std::vector<Job> here;
    for (const std::size_t index : plan.jobs) here.push_back(jobs_.at(index));
    host.watch = world_.watch(plan.target, here);
    host.due = now + std::min(kStagger * static_cast<double>(hosts_.size() - 1), plan.interval);
    host.doubtful.assign(plan.jobs.size(), false);
    host.plan = std::move(plan);
  }
}

void Poller::begin_due(const PollOptions& options) {
  const WatcherTime now = world_.now();
  for (Host& host : hosts_) {
    if (host.looking || host.finished) continue;
    const bool confirm = host.confirm_at && *host.confirm_at <= now;
    if (!confirm && host.due > now) continue;
    LookOptions look;
    look.verify_all = options.verify_all;
    // A look of the rhythm that is due anyway serves as the confirming one, and sees more.
    host.confirming = confirm && host.due > now;
    look.quick = host.confirming;
    look.budget = host.plan.limit * kSensorShare;
    if (!host.confirming) {
      const double missed = std::floor((now - host.due) / host.plan.interval);
      host.due += host.plan.interval * (missed + 1);
    }
    host.confirm_at.reset();
    host.looking = true;
    host.watch->begin(look, host.plan.limit);
  }
}

Result<bool> Poller::finish(Host& host, const PollOptions& options, const OnTurn& on_turn) {
  host.looking = false;
  std::vector<Observation> seen = host.watch->take(world_.now());
  const bool confirming = std::exchange(host.confirming, false);
  host.confirmed = confirming ? host.confirmed + 1 : 0;
  const std::vector<bool> asked = std::exchange(host.doubtful, std::vector<bool>(host.plan.jobs.size(), false));
  bool go_on = true;
  for (std::size_t i = 0; i < host.plan.jobs.size() && i < seen.size(); ++i) {
    // The quick look was for the doubtful ones; it saw too little to be an observation of the others.
    if (confirming && !asked[i]) continue;
    const std::size_t index = host.plan.jobs[i];
    const auto verdict = poll_once(memory_, jobs_[index], seen[i]);
    if (!verdict) return tl::unexpected<Error>(verdict.error());
    const bool again = verdict->look_again_in && host.confirmed < kMostConfirming;
    if (again) {
      const WatcherTime at = world_.now() + *verdict->look_again_in;
      host.confirm_at = host.confirm_at ? std::min(*host.confirm_at, at) : at;
      host.doubtful[i] = true;
    }
    go_on = on_turn({index, jobs_[index], seen[i], *verdict, !again}) && go_on;
  }
  if (options.once && !host.confirm_at) host.finished = true;
  return go_on;
}

WatcherTime Poller::next_event(const PollOptions& options, WatcherTime now) const {
  WatcherTime next = now + std::min(options.tick.value_or(kLongestWait), kLongestWait);
  if (options.until) next = std::min(next, *options.until);
  for (const Host& host : hosts_) {
    if (host.looking || host.finished) continue;
    next = std::min(next, host.due);
    if (host.confirm_at) next = std::min(next, *host.confirm_at);
  }
  return next;
}

Result<PollEnd> Poller::run(const PollOptions& options, const OnTurn& on_turn) {
  for (;;) {
    if (world_.stopping()) return PollEnd::stopped;
    if (options.until && world_.now() >= *options.until) return PollEnd::time_is_up;
    begin_due(options);
    if (options.on_tick) options.on_tick();
    bool any = false;
    for (Host& host : hosts_) {
      if (!host.looking || !host.watch->finished()) continue;
      any = true;
      const auto go_on = finish(host, options, on_turn);
      if (!go_on) return tl::unexpected<Error>(go_on.error());
      if (!*go_on) return PollEnd::enough;
    }
    if (options.once && std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.finished; })) return PollEnd::all_looked;
    if (!any) world_.wait(next_event(options, world_.now()));
  }
}

}  // namespace trainvigil::app
