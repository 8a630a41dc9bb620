// The program's own log: stderr for a person, a rotating file for `run`. Verdicts never go here; they are the program's output.
#pragma once

#include <string>

#include "trainvigil/result.hpp"

namespace trainvigil::app {

/// `verbose` 0: warnings on stderr; 1: also what happens; 2: everything. `file` empty: none.
Result<void> start_logging(int verbose, const std::string& file);

void log_debug(const std::string& text);
void log_info(const std::string& text);
void log_warning(const std::string& text);
void log_error(const std::string& text);

}  // namespace trainvigil::app
