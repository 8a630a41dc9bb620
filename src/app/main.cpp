#include <csignal>

#include "app/cli.hpp"

int main(int argc, char** argv) {
  // A reader that goes away (head, a closed pipe to a probe) is an error of that write, not the end of the watch.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a limit of the file size (ulimit -f): EFBIG can be told, the signal kills without a word.
  std::signal(SIGXFSZ, SIG_IGN);
  return trainvigil::app::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
