#include <algorithm>

#include "app/commands/commands.hpp"
#include "app/diagnosis.hpp"
#include "app/json_text.hpp"
#include "app/logging.hpp"
#include "app/output.hpp"
#include "app/setup.hpp"
#include "app/single_look.hpp"
#include "trainvigil/exit_code.hpp"

namespace trainvigil::app {
namespace {

/// A bare TARGET is enough to see how far one gets.
std::vector<Job> jobs_of(const Options& options, const Setup& setup) {
  const bool known = std::any_of(setup.config.jobs.begin(), setup.config.jobs.end(), [&](const Job& job) { return job.host == options.target; });
  if (options.target.empty() || options.describes() || known) return choose_jobs(options, setup);
  Job job;
  job.name = job.host = options.target;
  job.process = "^$";
  return {job};
}

Step state_step(const Options& options, const Config& config) {
  const auto directory = find_state_dir(options.state_dir, config.state_dir, environment);
  if (!directory) return {"state", StepResult::fails, directory.error().what, directory.error().remedy};
  const auto history = History::open(*directory);
  if (!history) return {"state", StepResult::fails, history.error().where + ": " + history.error().what, history.error().remedy};
  return {"state", StepResult::well, *directory, ""};
}

void print_steps(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    std::string name = step.name;
    name.resize(std::max<std::size_t>(name.size(), 12), ' ');
    std::string result = to_string(step.result);
    result.resize(5, ' ');
    print_line("  " + name + result + harmless(step.detail));
    if (!step.remedy.empty()) print_line("                   " + harmless(step.remedy));
  }
}

std::string json_of(const Step& step) {
  return JsonObject()
      .text("step", step.name)
      .text("result", step.result == StepResult::fails ? "fails" : to_string(step.result))
      .text("detail", step.detail)
      .text("remedy", step.remedy)
      .str();
}

int run_doctor(const Options& options) {
  const auto logging = start_logging(options.verbose, "");
  if (!logging) refuse(logging.error());
  const Setup setup = load_setup(options);
  const std::vector<Job> jobs = jobs_of(options, setup);
  std::vector<Step> own = {{"config", StepResult::well, setup.config_file.empty() ? "no file, the defaults" : setup.config_file, ""},
                           state_step(options, setup.config)};
  bool fails = own.back().result == StepResult::fails;
  if (!options.json) print_steps(own);
  const auto observations = look_at_all(jobs, plan_hosts(jobs, options, setup.config), {});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::vector<Step> steps = diagnose(jobs[i], observations[i]);
    fails = fails || std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.result == StepResult::fails; });
    if (options.json) {
      std::vector<std::string> rows;
      for (const Step& step : own) rows.push_back(json_of(step));
      for (const Step& step : steps) rows.push_back(json_of(step));
      print_line(JsonObject().text("schema", "trainvigil.doctor/1").prose("job", jobs[i].name).text("host", jobs[i].host).list("steps", rows).str());
    } else {
      print_line(harmless(jobs[i].name) + (jobs[i].name == jobs[i].host ? "" : " on " + harmless(jobs[i].host)));
      print_steps(steps);
    }
  }
  return fails ? kExitCritical : kExitOk;
}

}  // namespace

Command doctor_command() {
  return {"doctor",
          "What works on the way to a job, and what mends the rest",
          "Exit codes: 0 all well, 2 something fails.\n"
          "Examples:\n"
          "  trainvigil doctor gpu1\n"
          "  trainvigil doctor gpu1 --checkpoints /data/run/output --process train.py",
          {target_argument()},
          together({{job_option()}, describing_options()}),
          run_doctor};
}

}  // namespace trainvigil::app
