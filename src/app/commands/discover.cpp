#include <cstdio>

#include "app/commands/commands.hpp"
#include "app/discovery.hpp"
#include "app/json_text.hpp"
#include "app/logging.hpp"
#include "app/output.hpp"
#include "app/setup.hpp"
#include "app/single_look.hpp"
#include "trainvigil/exit_code.hpp"

namespace trainvigil::app {
namespace {

std::string json_of(const Discovered& found) {
  JsonObject out;
  out.prose("name", found.job.name).text("host", found.job.host).text("process", found.job.process).text("checkpoints", found.job.checkpoints);
  return out.integer("epochs", found.job.epochs).integer("steps", found.job.steps).integer("pid", found.pid).text("cmdline", found.cmdline).str();
}

int run_discover(const Options& options) {
  const auto logging = start_logging(options.verbose, "");
  if (!logging) refuse(logging.error());
  const Setup setup = load_setup(options);
  const std::vector<Job> jobs = {discovery_job(options.target)};
  const Observation seen = look_at_all(jobs, plan_hosts(jobs, options, setup.config), {}).front();
  if (seen.reach != Reach::ok || !seen.processes)
    throw UsageError(harmless(options.target + ": " + seen.error.value_or(to_string(seen.reach))),
                     harmless(seen.remedy.value_or("See trainvigil doctor")));
  const auto all = discover(options.target, seen);
  if (options.json) {
    std::vector<std::string> rows;
    for (const Discovered& found : all) rows.push_back(json_of(found));
    print_line(JsonObject().text("schema", "trainvigil.discovered/1").list("jobs", rows).str());
    return kExitOk;
  }
  if (all.empty()) std::fprintf(stderr, "trainvigil: nothing that trains was found on %s\n", harmless(options.target).c_str());
  bool first = true;
  for (const Discovered& found : all) {
    print((first ? "" : "\n") + std::string("# pid ") + std::to_string(found.pid) + ": " + shortened(found.cmdline, 160) + "\n" +
          show_job(found.job));
    if (!found.job.checkpoints)
      print_line("#checkpoints = \"/…" + (found.relative_directory.empty() ? "\"    # the directory that it saves into"
                                                                           : "/" + harmless(found.relative_directory) +
                                                                                 "\"    # it saves into that, from where it was started on"));
    first = false;
  }
  return kExitOk;
}

}  // namespace

Command discover_command() {
  ArgumentSpec target = target_argument();
  target.required = true;
  return {"discover",
          "Find what trains on a host and print ready [[job]] tables",
          "Reads command lines and GPUs; look over what it prints before you add it to the config.\n"
          "Example:\n"
          "  trainvigil discover gpu1 >> trainvigil.toml",
          {target},
          {},
          run_discover};
}

}  // namespace trainvigil::app
