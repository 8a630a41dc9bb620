#include "app/commands/commands.hpp"
#include "app/output.hpp"
#include "trainvigil/wire.hpp"

namespace trainvigil::app {
namespace {

int run_probe_script(const Options&) {
  print(probe_script());
  return 0;
}

}  // namespace

Command probe_script_command() {
  return {"probe-script",
          "Print the exact script that runs on watched hosts",
          "It is fed to /bin/sh on the watched host; nothing is written there.\nExample:\n  trainvigil probe-script | less",
          {},
          {},
          run_probe_script};
}

}  // namespace trainvigil::app
