#include "app/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "app/setup.hpp"

namespace trainvigil::app {
namespace {

bool pipe_ignored() {
  struct sigaction now {};
  return ::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// As it was when the program began.
const bool g_pipe_ignored = pipe_ignored();

}  // namespace

OutputLost::OutputLost(int error)
    : std::runtime_error(std::string("stdout can not be written: ") + std::strerror(error)), reader_left_(error == EPIPE) {}

void end_by_broken_pipe() {
  // For its sockets the program ignores the signal; where whoever started it ignored it already, coreutils complain and so do we.
  if (g_pipe_ignored) return;
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) throw OutputLost(errno);
}

void print_line(std::string_view text) { print(std::string(text) + '\n'); }

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool can_redraw() { return stdout_is_terminal() && environment("TERM").value_or("dumb") != "dumb"; }

TextStyle text_style(const Options& options) {
  TextStyle style;
  style.verbose = options.verbose > 0;
  if (!stdout_is_terminal()) return style;
  const auto filled = [](const char* name) {
    const auto value = environment(name);
    return value && !value->empty() ? *value : std::string{};
  };
  style.color = !options.no_color && filled("NO_COLOR").empty() && filled("TERM") != "dumb";
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  return style;
}

}  // namespace trainvigil::app
