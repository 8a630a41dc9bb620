#include <algorithm>
#include <vector>

#include "app/clock.hpp"
#include "app/commands/commands.hpp"
#include "app/json_text.hpp"
#include "app/logging.hpp"
#include "app/output.hpp"
#include "app/setup.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

void print_silences(const std::vector<Silence>& all, WatcherTime now, bool json) {
  if (json) {
    std::vector<std::string> rows;
    for (const Silence& s : all) rows.push_back(JsonObject().prose("job", s.job).text("until", rfc3339(s.until)).text("reason", s.reason).str());
    print_line(JsonObject().text("schema", "trainvigil.silences/1").list("silences", rows).str());
    return;
  }
  if (all.empty()) print_line("no job is silenced");
  for (const Silence& s : all)
    print_line(harmless(s.job) + "  until " + rfc3339(s.until) + " (" + human_duration(s.until - now) + ")" +
               (s.reason.empty() ? "" : "  " + harmless(s.reason)));
}

/// A slip in a name would silence nothing and tell nobody.
void check_known(const std::string& job, History& history, const Config& config) {
  std::vector<std::string> names;
  for (const Job& known : config.jobs) names.push_back(known.name);
  if (const auto stored = history.job_names()) names.insert(names.end(), stored->begin(), stored->end());
  if (std::find(names.begin(), names.end(), job) != names.end()) return;
  const std::string hint = did_you_mean(job, names);
  throw UsageError("no job \"" + harmless(job) + "\" in config or history" + (hint.empty() ? "" : "; " + hint), "See trainvigil history");
}

int run_silence(const Options& options) {
  const auto logging = start_logging(options.verbose, "");
  if (!logging) refuse(logging.error());
  const int asked = (options.list ? 1 : 0) + (options.end ? 1 : 0) + (options.argument.empty() ? 0 : 1);
  if (asked != 1) throw UsageError("silence does one thing at a time", "Give JOB and DURATION, or --list, or --end JOB");
  const Setup setup = load_setup(options);
  History history = open_history(options, setup.config);
  const WatcherTime now = Clock().now();
  if (options.list) {
    const auto all = history.silences(now);
    if (!all) refuse(all.error());
    print_silences(*all, now, options.json);
    return 0;
  }
  if (options.end) {
    const auto ended = history.end_silence(*options.end);
    if (!ended) refuse(ended.error());
    if (!*ended) throw UsageError("\"" + harmless(*options.end) + "\" is not silenced", "See trainvigil silence --list");
    return 0;
  }
  if (options.second_argument.empty()) throw UsageError("for how long?", "Write trainvigil silence JOB 2h");
  const Seconds length = duration_value(options.second_argument);
  check_known(options.argument, history, setup.config);
  const Silence silence{options.argument, now + length, options.reason};
  if (const auto done = history.silence(silence); !done) refuse(done.error());
  print_silences({silence}, now, options.json);
  return 0;
}

}  // namespace

Command silence_command() {
  return {"silence",
          "No notifications of a job for a while; verdicts and exit codes stay true",
          "Examples:\n"
          "  trainvigil silence eagle3-10k 2h --reason \"moving the data\"\n"
          "  trainvigil silence --list\n"
          "  trainvigil silence --end eagle3-10k",
          {{"JOB", "Name of the job", false, [](Options& o, const std::string& v) { o.argument = v; }},
           {"DURATION", "For how long: 90s 15m 2h30m 1d", false, [](Options& o, const std::string& v) { o.second_argument = v; }}},
          {{"--reason", "TEXT", "Why", [](Options& o, const std::string& v) { o.reason = v; }, ""},
           {"--list", "", "What is silenced", [](Options& o, const std::string&) { o.list = true; }, ""},
           {"--end", "JOB", "Notify again", [](Options& o, const std::string& v) { o.end = v; }, ""}},
          run_silence};
}

}  // namespace trainvigil::app
