#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/commands/commands.hpp"
#include "app/output.hpp"
#include "app/setup.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

/// `config check FILE` is what everyone types first.
Options with_file(const Options& options) {
  Options out = options;
  if (!options.second_argument.empty()) out.config = options.second_argument;
  return out;
}

int check(const Options& options) {
  const Setup setup = load_setup(with_file(options));
  if (setup.config_file.empty()) throw UsageError("there is no config", "Write one with trainvigil config init, or name it with --config FILE");
  const std::size_t jobs = setup.config.jobs.size();
  print_line(harmless(setup.config_file) + ": well, " + std::to_string(jobs) + (jobs == 1 ? " job" : " jobs"));
  return 0;
}

int show(const Options& options) {
  const Setup setup = load_setup(with_file(options));
  print("# " + (setup.config_file.empty() ? std::string("no file: the defaults") : "from " + harmless(setup.config_file)) + "\n" +
        show_config(setup.config));
  return 0;
}

int init(const Options& options) {
  const std::string path = !options.second_argument.empty() ? options.second_argument : options.config.value_or("trainvigil.toml");
  if (path == "-") {
    print(example_config());
    return 0;
  }
  // O_EXCL: what an operator wrote is never overwritten.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    if (errno == EEXIST) throw UsageError(harmless(path) + " is there already", "Give another name: trainvigil config init FILE, or - for stdout");
    throw UsageError(harmless(path) + " can not be written: " + std::strerror(errno),
                     "Give another name: trainvigil config init FILE, or - for stdout");
  }
  const std::string_view text = example_config();
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (::close(fd) != 0 || !whole) throw UsageError(harmless(path) + " could not be written whole");
  print_line("wrote " + harmless(path) + "; add a [[job]] and see trainvigil config check");
  return 0;
}

int run_config(const Options& options) {
  if (options.argument == "check") return check(options);
  if (options.argument == "show") return show(options);
  if (options.argument == "init") return init(options);
  const std::string hint = did_you_mean(options.argument, {"check", "show", "init"});
  throw UsageError("unknown action \"" + harmless(options.argument) + "\" of config" + (hint.empty() ? "" : "; " + hint),
                   "Choose check, show or init");
}

}  // namespace

Command config_command() {
  return {"config",
          "check, show (effective values) or init (write an example)",
          "Examples:\n"
          "  trainvigil config init                 write ./trainvigil.toml\n"
          "  trainvigil config check my.toml        every fault with file:line:column\n"
          "  trainvigil config show",
          {{"ACTION", "check, show or init", true, [](Options& o, const std::string& v) { o.argument = v; }},
           {"FILE", "The config; as --config", false, [](Options& o, const std::string& v) { o.second_argument = v; }}},
          {},
          run_config};
}

}  // namespace trainvigil::app
