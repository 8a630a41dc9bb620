#include <cstdio>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/logging.hpp"
#include "app/output.hpp"
#include "app/wait_rule.hpp"
#include "app/watching.hpp"
#include "trainvigil/exit_code.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

WaitFor wait_for_value(const std::string& text) {
  if (text == "completed") return WaitFor::completed;
  if (text == "checkpoint") return WaitFor::checkpoint;
  if (text == "change") return WaitFor::change;
  const std::string hint = did_you_mean(text, {"completed", "checkpoint", "change"});
  throw UsageError("\"" + harmless(text) + "\" is nothing to wait for" + (hint.empty() ? "" : "; " + hint), "Choose completed, checkpoint or change");
}

void show(const Verdict& verdict, const Options& options) {
  if (options.json)
    print_line(format_json(verdict));
  else
    print(format_text(verdict, text_style(options)));
}

/// On stderr, beside the verdicts: an expired time-out must not look like an answer.
void tell_time_is_up(const std::vector<Job>& jobs, const std::vector<std::optional<Verdict>>& latest, Seconds timeout) {
  std::string words = "trainvigil: --timeout: nothing to wake for within " + human_duration(timeout);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    words += "; " + harmless(jobs[i].name) + " " +
             (latest[i] ? std::string("is ") + to_string(latest[i]->phase) : "was not seen yet: no look was finished");
  std::fprintf(stderr, "%s\n", words.c_str());
}

int run_wait(const Options& options) {
  Watching watching(options);
  std::vector<WaitRule> rules(watching.jobs().size(), WaitRule(options.wait_for, options.accept_finished));
  std::vector<std::optional<Verdict>> latest(rules.size());
  std::vector<bool> told(rules.size(), false);
  std::optional<WaitEnd> end;
  PollOptions poll;
  if (options.timeout) poll.until = watching.world().now() + *options.timeout;
  const PollEnd how = watching.poll(poll, [&](const Turn& turn) {
    latest[turn.index] = turn.verdict;
    end = rules[turn.index].see(turn.verdict, turn.observation.reach, turn.settled);
    if (end) show(turn.verdict, options);
    if (const auto over = rules[turn.index].over_before(); over && !told[turn.index]) {
      told[turn.index] = true;
      log_warning(turn.job.name + ": already " + to_string(*over) + " at the first look; waiting for another run (--accept-finished counts it)");
    }
    return !end.has_value();
  });
  if (end) {
    log_info(end->why);
    return end->code;
  }
  for (const auto& verdict : latest)
    if (verdict) show(*verdict, options);
  if (how == PollEnd::time_is_up) tell_time_is_up(watching.jobs(), latest, *options.timeout);
  return how == PollEnd::time_is_up ? kExitTimeout : kExitUnknown;
}

}  // namespace

Command wait_command() {
  return {"wait",
          "Block until something is worth waking for",
          "Default: completed, ended, crashed or stalled. Outages are waited through; host key, authentication and usage faults return at once.\n"
          "Exit codes: 0 what was waited for, 1 ended (cannot tell whether complete), 2 crashed or stalled, 3 unknown, 4 --timeout passed first.\n"
          "Examples:\n"
          "  trainvigil wait gpu1 --checkpoints /data/run/output --process train.py && ./evaluate.sh\n"
          "  trainvigil wait --job eagle3-10k --for checkpoint --timeout 9m",
          {target_argument()},
          together({{{"--for", "WHAT", "completed, checkpoint (the next one) or change",
                      [](Options& o, const std::string& v) { o.wait_for = wait_for_value(v); }, ""},
                     {"--timeout", "DURATION", "Leave with 4 after this time",
                      [](Options& o, const std::string& v) { o.timeout = duration_value(v); }, ""},
                     {"--accept-finished", "", "A run that is over at the first look counts",
                      [](Options& o, const std::string&) { o.accept_finished = true; }, ""},
                     interval_option(),
                     job_option()},
                    describing_options()}),
          run_wait};
}

}  // namespace trainvigil::app
