#include "app/commands/commands.hpp"

namespace trainvigil::app {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      status_command(), run_command(),     check_command(),   wait_command(),   checkpoints_command(),  doctor_command(), discover_command(),
      replay_command(), history_command(), silence_command(), config_command(), probe_script_command(), demo_command(),   demo_job_command(),
  };
  return commands;
}

}  // namespace trainvigil::app
