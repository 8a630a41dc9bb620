#include <algorithm>
#include <cstdint>

#include "app/commands/commands.hpp"
#include "app/json_text.hpp"
#include "app/logging.hpp"
#include "app/output.hpp"
#include "app/setup.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

template <typename T>
std::optional<std::string> word(const std::optional<T>& value) {
  return value ? std::optional<std::string>(to_string(*value)) : std::nullopt;
}

std::string json_of(const StoredRun& r) {
  JsonObject progress;
  progress.text("unit", word(r.progress.unit))
      .number("done", r.progress.done)
      .number("total", r.progress.total)
      .number("fraction", r.progress.fraction);
  JsonObject out;
  out.prose("job", r.job).text("host", r.host).text("run", r.run).text("phase", to_string(r.phase)).text("first_seen", rfc3339(r.first_seen));
  out.text("last_seen", rfc3339(r.last_seen)).raw("progress", progress.str());
  return out.number("total_s", r.total ? std::optional(r.total->count()) : std::nullopt).str();
}

std::string json_of(const StoredChange& c) {
  JsonObject out;
  out.prose("job", c.job).text("host", c.host).text("run", c.run).text("time", rfc3339(c.time)).text("phase", to_string(c.phase));
  return out.text("level", to_string(c.level)).text("cause", c.cause).prose("summary", c.summary).str();
}

std::string json_of(const StoredCheckpoint& c) {
  JsonObject out;
  out.prose("job", c.job).text("host", c.host).text("run", c.run).text("path", c.path).text("unit", word(c.unit)).integer("done", c.done);
  out.integer("bytes", c.bytes).text("state", to_string(c.state)).text("first_seen", rfc3339(c.first_seen));
  return out.text("modified", c.modified ? std::optional(rfc3339(*c.modified)) : std::nullopt).str();
}

template <typename T>
std::vector<std::string> json_of_all(const std::vector<T>& rows) {
  std::vector<std::string> out;
  for (const T& row : rows) out.push_back(json_of(row));
  return out;
}

template <typename T>
T or_refuse(Result<T> result) {
  if (!result) refuse(result.error());
  return *std::move(result);
}

std::string words_of(const StoredRun& r) {
  std::string out = rfc3339(r.first_seen) + "  " + harmless(r.job) + "  " + to_string(r.phase);
  if (r.progress.fraction) out += "  " + std::to_string(static_cast<int>(*r.progress.fraction * 100)) + " %";
  if (r.total) out += "  took " + human_duration(*r.total);
  return out + "  last seen " + rfc3339(r.last_seen) + "  run " + harmless(r.run);
}

int run_history(const Options& options) {
  const auto logging = start_logging(options.verbose, "");
  if (!logging) refuse(logging.error());
  if (options.jobs.size() > 1) throw UsageError("history shows one job or all", "Give --job once, or not at all");
  const Setup setup = load_setup(options);
  History history = open_history(options, setup.config);
  std::optional<std::string> job;
  if (!options.jobs.empty()) {
    job = options.jobs.front();
    const auto names = or_refuse(history.job_names());
    if (std::find(names.begin(), names.end(), *job) == names.end()) {
      const std::string hint = did_you_mean(*job, names);
      throw UsageError("nothing is stored of a job \"" + harmless(*job) + "\"" + (hint.empty() ? "" : "; " + hint));
    }
  }
  const auto runs = or_refuse(history.runs(job, options.limit));
  const auto changes = or_refuse(history.changes(job, options.limit));
  const auto checkpoints = or_refuse(history.checkpoints(job, options.limit));
  if (options.json) {
    JsonObject out;
    out.text("schema", "trainvigil.history/1").list("runs", json_of_all(runs)).list("checkpoints", json_of_all(checkpoints));
    print_line(out.list("changes", json_of_all(changes)).str());
    return 0;
  }
  if (runs.empty() && changes.empty()) print_line("nothing is stored yet");
  if (!runs.empty()) print_line("Runs, the newest first");
  for (const StoredRun& run : runs) print_line("  " + words_of(run));
  if (!checkpoints.empty()) print_line("Checkpoints");
  for (const StoredCheckpoint& c : checkpoints)
    print_line("  " + rfc3339(c.first_seen) + "  " + harmless(c.job) + "  " + harmless(c.path) + "  " + to_string(c.state) +
               (c.bytes ? "  " + human_bytes(*c.bytes) : ""));
  if (!changes.empty()) print_line("Changes");
  for (const StoredChange& c : changes)
    print_line("  " + rfc3339(c.time) + "  " + harmless(c.job) + "  " + to_string(c.level) + "  " + to_string(c.phase) + "  " + harmless(c.summary));
  return 0;
}

}  // namespace

Command history_command() {
  return {"history",
          "Stored runs, checkpoints and changes of phase",
          "Examples:\n"
          "  trainvigil history --job eagle3-10k\n"
          "  trainvigil history --json --limit 1000",
          {},
          {job_option(),
           {"--limit", "N", "At most so many of each (50)",
            [](Options& o, const std::string& v) { o.limit = static_cast<int>(std::min<std::int64_t>(count_value(v), 1'000'000)); }, ""}},
          run_history};
}

}  // namespace trainvigil::app
