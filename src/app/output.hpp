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
  explicit OutputLost(int error);
  /// Whoever read the pipe has seen enough: nothing to tell anybody.
  [[nodiscard]] bool reader_left() const { return reader_left_; }

 private:
  bool reader_left_;
};

/// Ends the program the way a pipe whose reader left ends any other; returns where that signal is ignored.
void end_by_broken_pipe();

/// Writes at once, so that a reader of a pipe sees each line when it is there. Throws OutputLost.
void print(std::string_view text);
void print_line(std::string_view text);

bool stdout_is_terminal();
/// A terminal that can move its cursor.
bool can_redraw();
/// Colours only on a terminal, not with NO_COLOR, not with --no-color; the terminal's width, 80 elsewhere.
TextStyle text_style(const Options& options);

}  // namespace trainvigil::app
