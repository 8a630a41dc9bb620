// Options that several commands share, and how single values are read.
#include <charconv>

#include "app/command.hpp"
#include "trainvigil/bytes.hpp"
#include "trainvigil/config.hpp"
#include "trainvigil/duration.hpp"
#include "trainvigil/when.hpp"

namespace trainvigil::app {
namespace {

constexpr const char* kDescribing = "What the job is (without these, the jobs of the config)";
constexpr const char* kEverywhere = "Everywhere";

std::string quoted(const std::string& text) { return "\"" + harmless(text) + "\""; }

std::string filled(const std::string& text) {
  if (text.empty()) throw UsageError("the value is empty", "Leave the option out, or give it a value");
  return text;
}

std::string when_value(const std::string& text) {
  if (!parse_when(text, watcher_time(0))) throw UsageError(quoted(text) + " is no point in time", std::string("Write it like ") + kWhenForms);
  return text;
}

}  // namespace

bool Options::describes() const {
  Job none;
  Job given = described;
  given.host.clear();
  return !(given == none);
}

Seconds duration_value(const std::string& text) {
  const auto out = parse_duration(text);
  if (!out || *out <= Seconds{0}) throw UsageError(quoted(text) + " is no duration", "Write it like 90s, 15m, 2h30m, 1d or 500ms");
  return *out;
}

std::int64_t count_value(const std::string& text) {
  std::int64_t out = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault != std::errc{} || end != text.data() + text.size() || out < 1 || out > 1'000'000'000'000)
    throw UsageError(quoted(text) + " is no whole number above 0", "Write it like 5 or 20000");
  return out;
}

std::string regex_value(const std::string& text) {
  if (const auto fault = regex_fault(text)) throw UsageError(*fault, "Write a POSIX extended regular expression, as for grep -E");
  return text;
}

std::vector<OptionSpec> everywhere_options() {
  return {
      {"-c,--config", "FILE", "Read this config", [](Options& o, const std::string& v) { o.config = filled(v); }, kEverywhere},
      {"--state-dir", "DIR", "Keep the history there", [](Options& o, const std::string& v) { o.state_dir = filled(v); }, kEverywhere},
      {"-F,--ssh-config", "FILE", "Another file than ~/.ssh/config", [](Options& o, const std::string& v) { o.ssh_config = filled(v); }, kEverywhere},
      {"--probe-timeout", "DURATION", "Limit of one whole look (30s)", [](Options& o, const std::string& v) { o.probe_timeout = duration_value(v); },
       kEverywhere},
      {"--json", "", "JSON on stdout", [](Options& o, const std::string&) { o.json = true; }, kEverywhere},
      {"--no-color", "", "No colours, as with NO_COLOR", [](Options& o, const std::string&) { o.no_color = true; }, kEverywhere},
      {"-v,--verbose", "", "Say more on stderr; twice: everything", [](Options& o, const std::string&) { ++o.verbose; }, kEverywhere},
  };
}

std::vector<OptionSpec> describing_options() {
  return {
      {"--checkpoints", "DIR", "Directory that the run saves into", [](Options& o, const std::string& v) { o.described.checkpoints = filled(v); },
       kDescribing},
      {"--process", "REGEX", "Matches the command line of the training process",
       [](Options& o, const std::string& v) { o.described.process = regex_value(v); }, kDescribing},
      {"--epochs", "N", "How many epochs there are to do", [](Options& o, const std::string& v) { o.described.epochs = count_value(v); },
       kDescribing},
      {"--steps", "N", "How many optimizer steps there are to do", [](Options& o, const std::string& v) { o.described.steps = count_value(v); },
       kDescribing},
      {"--log", "FILE", "File that the run prints into", [](Options& o, const std::string& v) { o.described.log = filled(v); }, kDescribing},
      {"--end-mark", "REGEX", "In the log: the run ended well", [](Options& o, const std::string& v) { o.described.end_mark = regex_value(v); },
       kDescribing},
      {"--name", "NAME", "Name of the job (host and last part of directory or pattern)",
       [](Options& o, const std::string& v) { o.described.name = filled(v); }, kDescribing},
      {"--expected", "DURATION", "What a previous run took in all",
       [](Options& o, const std::string& v) { o.described.expected = duration_value(v); }, kDescribing},
      {"--stall-after", "DURATION", "Stalled after this time, instead of what is learned",
       [](Options& o, const std::string& v) { o.described.stall_after = duration_value(v); }, kDescribing},
      {"--deadline", "TIME", "When it must be done", [](Options& o, const std::string& v) { o.described.deadline = when_value(v); }, kDescribing},
  };
}

OptionSpec interval_option(const std::string& usual) {
  return {"--interval", "DURATION", "Time between two looks (" + usual + ")",
          [](Options& o, const std::string& v) { o.interval = duration_value(v); }, ""};
}

OptionSpec job_option() {
  return {"--job", "NAME", "Only this job of the config; may be repeated", [](Options& o, const std::string& v) { o.jobs.push_back(filled(v)); },
          "",      true};
}

ArgumentSpec target_argument() {
  return {"TARGET", "[user@]host[:port], an alias of ~/.ssh/config, or local", false, [](Options& o, const std::string& v) {
            if (const auto fault = host_fault(v))
              throw UsageError(quoted(v) + " is no TARGET: " + *fault, "Write [user@]host[:port], an alias of ~/.ssh/config, or local");
            o.target = v;
          }};
}

std::vector<OptionSpec> together(std::initializer_list<std::vector<OptionSpec>> groups) {
  std::vector<OptionSpec> out;
  for (const auto& group : groups) out.insert(out.end(), group.begin(), group.end());
  return out;
}

}  // namespace trainvigil::app
