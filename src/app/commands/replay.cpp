#include <algorithm>
#include <cstdio>
#include <string_view>

#include "app/commands/commands.hpp"
#include "app/memory.hpp"
#include "app/output.hpp"
#include "app/overrides.hpp"
#include "app/setup.hpp"
#include "trainvigil/exit_code.hpp"
#include "trainvigil/trace.hpp"

namespace trainvigil::app {
namespace {

void print_explanation(const Explanation& explanation, bool json) {
  if (explanation.text.empty()) return;
  std::string text;
  std::string_view rest = explanation.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += (text.empty() ? "    " : "\n    ") + harmless(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // Beside JSON lines there is no room for prose.
  if (json)
    std::fprintf(stderr, "%s\n", text.c_str());
  else
    print_line(text);
}

int run_replay(const Options& options) {
  if (options.described.epochs && options.described.steps)
    throw UsageError("both --epochs and --steps are given", "Keep the one that the checkpoints count");
  auto reader = TraceReader::open(options.argument);
  if (!reader) refuse(reader.error());
  const Job job = overridden(reader->header().job, options.described);
  HeldMemory memory(reader->header().prior);
  std::optional<Level> last;
  Observation observation;
  for (;;) {
    const auto more = reader->next(observation);
    if (!more) {
      std::fprintf(stderr, "trainvigil: %s\n", harmless(more.error().text()).c_str());
      return kExitUnknown;
    }
    if (!*more) break;
    Explanation explanation;
    const auto verdict = poll_once(memory, job, observation, options.explain ? &explanation : nullptr);
    if (!verdict) refuse(verdict.error());
    print_line(options.json ? format_json(*verdict) : format_line(*verdict));
    if (options.explain) print_explanation(explanation, options.json);
    last = verdict->level;
  }
  if (!last) throw UsageError(harmless(options.argument) + " holds no observation", "Record one with trainvigil run --record FILE");
  return exit_code(*last);
}

}  // namespace

Command replay_command() {
  return {"replay",
          "Judge recorded observations: one verdict a record, no network, no clock",
          "The describing options override the trace's header. Exit code: that of the last verdict; 3 for a bad or truncated trace.\n"
          "Examples:\n"
          "  trainvigil run gpu1 --process train.py --record run.jsonl\n"
          "  trainvigil replay run.jsonl --explain\n"
          "  trainvigil replay run.jsonl --stall-after 20m --json",
          {{"TRACE", "A file that run --record wrote", true, [](Options& o, const std::string& v) { o.argument = v; }}},
          together({{{"--explain", "", "Say why the judge said what it said", [](Options& o, const std::string&) { o.explain = true; }, ""}},
                    describing_options()}),
          run_replay};
}

}  // namespace trainvigil::app
