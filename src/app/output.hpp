// What a command prints: verdicts and answers, to stdout and nowhere else.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "app/options.hpp"
#include "trainvigil/format.hpp"

namespace trainvigil::app {

/// stdout is gone or full.
class OutputLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes at once, so that a reader of a pipe sees each line when it is there. Throws OutputLost.
void print(std::string_view text);
void print_line(std::string_view text);

bool stdout_is_terminal();
/// A terminal that can move its cursor.
bool can_redraw();
/// Colours only on a terminal, not with NO_COLOR, not with --no-color; the terminal's width, 80 elsewhere.
TextStyle text_style(const Options& options);

}  // namespace trainvigil::app
