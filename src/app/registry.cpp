#include "app/commands/commands.hpp"

namespace trainvigil::app {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      status_command(), run_command(), check_command(), wait_command(), replay_command(), config_command(), probe_script_command(),
  };
  return commands;
}

}  // namespace trainvigil::app
