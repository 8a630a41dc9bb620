#include "app/watching.hpp"

#include <algorithm>

#include "app/logging.hpp"
#include "trainvigil/exit_code.hpp"

namespace trainvigil::app {
namespace {

Setup begin(const Options& options) {
  const auto early = start_logging(options.verbose, "");
  if (!early) refuse(early.error());
  Setup setup = load_setup(options);
  const auto logging = start_logging(options.verbose, options.log_file.value_or(setup.config.log_file));
  if (!logging) refuse(logging.error());
  return setup;
}

History opened(const Options& options, const Setup& setup, const std::vector<Job>& jobs) {
  History history = open_history(options, setup.config, WithoutRoom::go_on);
  warn_of_namesakes(history, jobs);
  return history;
}

}  // namespace

Watching::Watching(const Options& options, bool afresh)
    : setup_(begin(options)),
      jobs_(choose_jobs(options, setup_)),
      history_(opened(options, setup_, jobs_)),
      world_(make_live_world()),
      memory_(history_, afresh),
      poller_(*world_, memory_, jobs_, plan_hosts(jobs_, options, setup_.config)) {}

void Watching::tell_reach(const Turn& turn) {
  const Observation& o = turn.observation;
  if (o.reach == Reach::ok) {
    if (told_.erase(turn.job.host) > 0) log_warning(turn.job.host + ": reached again");
    return;
  }
  std::string words = turn.job.host + ": " + o.error.value_or(to_string(o.reach));
  if (o.remedy && !o.remedy->empty()) words += ". " + *o.remedy;
  std::string& told = told_[turn.job.host];
  if (told == words) return;
  log_warning(words);
  told = std::move(words);
}

PollEnd Watching::poll(const PollOptions& options, const Poller::OnTurn& on_turn, bool tell) {
  const auto end = poller_.run(options, [&](const Turn& turn) {
    const bool go_on = on_turn(turn);
    // What ends the watch has been shown with all that there is to say.
    if (tell && go_on) tell_reach(turn);
    return go_on;
  });
  if (!end) refuse(end.error());
  return *end;
}

std::vector<std::optional<Verdict>> look_once(Watching& watching, bool tell) {
  std::vector<std::optional<Verdict>> out(watching.jobs().size());
  PollOptions poll;
  poll.once = true;
  watching.poll(
      poll,
      [&](const Turn& turn) {
        out[turn.index] = turn.verdict;
        return true;
      },
      tell);
  return out;
}

int worst_exit_code(const std::vector<std::optional<Verdict>>& verdicts) {
  Level worst = Level::ok;
  for (const auto& verdict : verdicts) worst = std::max(worst, verdict ? verdict->level : Level::unknown);
  return exit_code(worst);
}

}  // namespace trainvigil::app
