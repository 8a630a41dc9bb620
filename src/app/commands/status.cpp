#include "app/commands/commands.hpp"
#include "app/output.hpp"
#include "app/watching.hpp"

namespace trainvigil::app {
namespace {

int run_status(const Options& options) {
  Watching watching(options);
  const auto verdicts = look_once(watching, options.json);
  const TextStyle style = text_style(options);
  bool first = true;
  for (const auto& verdict : verdicts) {
    if (!verdict) continue;
    if (options.json) {
      print_line(format_json(*verdict));
    } else {
      print((first ? "" : "\n") + format_text(*verdict, style));
    }
    first = false;
  }
  return worst_exit_code(verdicts);
}

}  // namespace

Command status_command() {
  return {"status",
          "Look once: where the run is, how far, until when",
          "Exit codes: 0 ok, 1 warning, 2 critical, 3 unknown. Several jobs: the worst counts.\n"
          "Examples:\n"
          "  trainvigil status gpu1 --checkpoints /data/run/output --process train.py --epochs 5\n"
          "  trainvigil status --job eagle3-10k --json",
          {target_argument()},
          together({describing_options(), {job_option()}}),
          run_status};
}

}  // namespace trainvigil::app
