// One function a command; registry.cpp lists them.
#pragma once

#include "app/command.hpp"

namespace trainvigil::app {

Command status_command();
Command run_command();
Command check_command();
Command wait_command();
Command checkpoints_command();
Command doctor_command();
Command discover_command();
Command replay_command();
Command history_command();
Command silence_command();
Command config_command();
Command probe_script_command();
Command demo_command();
Command demo_job_command();

}  // namespace trainvigil::app
