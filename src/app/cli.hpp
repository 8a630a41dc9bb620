// The command line: words in, a command and its options out.
#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"

namespace trainvigil::app {

/// What to do: run `command`, or print `text` (help, version) and leave with 0.
struct Invocation {
  const Command* command = nullptr;
  Options options;
  std::string text;
};

/// `arguments` without the program's name. Throws UsageError.
Invocation parse_command_line(const std::vector<std::string>& arguments);

/// Parses, runs, and turns every error into one line on stderr. The process's exit code.
int run_program(const std::vector<std::string>& arguments);

}  // namespace trainvigil::app
