#include "app/commands/commands.hpp"
#include "app/output.hpp"
#include "app/watching.hpp"
#include "trainvigil/exit_code.hpp"

namespace trainvigil::app {
namespace {

int run_check(const Options& options) {
  Watching watching(options);
  const auto verdicts = look_once(watching, options.json);
  const int code = worst_exit_code(verdicts);
  if (options.quiet && code == kExitOk) return code;
  std::vector<Verdict> seen;
  for (const auto& verdict : verdicts)
    if (verdict) seen.push_back(*verdict);
  if (options.json) {
    for (const Verdict& verdict : seen) print_line(format_json(verdict));
  } else {
    print_line(format_nagios(seen));
  }
  return code;
}

}  // namespace

Command check_command() {
  return {"check",
          "Look once for cron, Nagios or Icinga: one line with perfdata",
          "Exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. The history is kept between calls.\n"
          "Examples:\n"
          "  trainvigil check gpu1 --checkpoints /data/run/output --process train.py\n"
          "  */5 * * * * alice trainvigil check --quiet     (cron mails only when something is wrong)",
          {target_argument()},
          together({{{"--quiet", "", "Print nothing while OK", [](Options& o, const std::string&) { o.quiet = true; }, ""}},
                    describing_options(),
                    {job_option()}}),
          run_check};
}

}  // namespace trainvigil::app
