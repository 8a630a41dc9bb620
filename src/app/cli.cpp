#include "app/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "app/output.hpp"
#include "app/setup.hpp"
#include "trainvigil/bytes.hpp"
#include "trainvigil/exit_code.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

constexpr int kHelpColumn = 34;

/// A setter's UsageError does not know which option it was for; the parser's own exceptions must not be thrown through.
struct Assigner {
  Options* options;
  std::string shown;
  std::function<void(Options&, const std::string&)> set;
  void operator()(const std::string& value) const {
    try {
      set(*options, value);
    } catch (const UsageError& e) {
      throw UsageError(shown + ": " + e.what(), e.remedy());
    }
  }
};

std::string long_name(const std::string& names) { return names.substr(names.rfind(',') == std::string::npos ? 0 : names.rfind(',') + 1); }

void add_option(CLI::App& app, const OptionSpec& spec, Options& options) {
  const Assigner assign{&options, long_name(spec.names), spec.set};
  CLI::Option* option = nullptr;
  if (spec.value.empty()) {
    option = app.add_flag(
        spec.names,
        [assign](std::int64_t times) {
          for (; times > 0; --times) assign("");
        },
        spec.help);
  } else {
    const auto assign_all = [assign, many = spec.many](const std::vector<std::string>& values) {
      if (values.size() > 1 && !many)
        throw UsageError(assign.shown + " is given " + std::to_string(values.size()) + " times", "Keep the one that is meant");
      for (const std::string& value : values) assign(value);
    };
    option = app.add_option_function<std::vector<std::string>>(spec.names, assign_all, spec.help);
    option->type_name(spec.value)->expected(1)->allow_extra_args(false)->take_all();
  }
  if (!spec.group.empty()) option->group(spec.group);
}

void add_argument(CLI::App& app, const ArgumentSpec& spec, Options& options) {
  const Assigner assign{&options, spec.name, spec.set};
  auto* option = app.add_option_function<std::string>(spec.name, assign, spec.help);
  option->type_name("")->required(spec.required);
}

/// Without their dashes, which would make any two look alike.
std::vector<std::string> known_options(const Command* command) {
  std::vector<std::string> out = {"help"};
  const auto add = [&](const std::vector<OptionSpec>& specs) {
    for (const OptionSpec& spec : specs) out.push_back(long_name(spec.names).substr(2));
  };
  add(everywhere_options());
  if (command != nullptr) add(command->options);
  return out;
}

const Command* find_command(const std::string& name) {
  for (const Command& command : all_commands())
    if (command.name == name) return &command;
  return nullptr;
}

[[noreturn]] void refuse_extras(const std::vector<std::string>& extras, const Command* command) {
  const std::string& word = extras.front();
  const std::string help = command != nullptr ? "See trainvigil " + command->name + " --help" : "See trainvigil --help";
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    const auto meant = nearest(name.substr(std::min(name.find_first_not_of('-'), name.size())), known_options(command));
    throw UsageError("unknown option " + harmless(name) + (meant ? "; did you mean \"--" + *meant + "\"?" : ""), help);
  }
  if (command != nullptr) throw UsageError("what is \"" + harmless(word) + "\" for?", help);
  std::vector<std::string> names;
  for (const Command& known : all_commands())
    if (!known.hidden) names.push_back(known.name);
  const std::string hint = did_you_mean(word, names);
  throw UsageError("unknown command \"" + harmless(word) + "\"" + (hint.empty() ? "" : "; " + hint), help);
}

/// The first word that is no option and no option's value, as the parser sees it.
const Command* command_in(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments)
    if (const Command* command = find_command(word)) return command;
  return nullptr;
}

std::string parser_remedy(const Command* command) {
  return command != nullptr ? "See trainvigil " + command->name + " --help" : "See trainvigil --help";
}

}  // namespace

Invocation parse_command_line(const std::vector<std::string>& arguments) {
  Invocation out;
  CLI::App app{"Watches training jobs that say nothing, over SSH: alive, progressing, until when."};
  app.name("trainvigil");
  app.get_formatter()->column_width(kHelpColumn);
  app.set_version_flag("--version", std::string("trainvigil ") + TRAINVIGIL_VERSION);
  app.set_help_flag("-h,--help", "This text");
  app.footer(
      "Examples:\n"
      "  trainvigil status gpu1 --checkpoints /data/run/output --process train.py --epochs 5\n"
      "  trainvigil wait gpu1 --process train.py --timeout 9m && echo done\n"
      "  trainvigil run -c trainvigil.toml\n"
      "  trainvigil demo\n"
      "Exit codes: 0 ok, 1 warning, 2 critical, 3 unknown or bad usage, 4 wait's time-out. See trainvigil(1).");
  app.require_subcommand(0, 1);
  for (const OptionSpec& spec : everywhere_options()) add_option(app, spec, out.options);
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->get_formatter()->column_width(kHelpColumn);
    sub->set_help_flag("-h,--help", "This text");
    if (command.hidden) sub->group("");
    for (const ArgumentSpec& spec : command.arguments) add_argument(*sub, spec, out.options);
    for (const OptionSpec& spec : command.options) add_option(*sub, spec, out.options);
    for (const OptionSpec& spec : everywhere_options()) add_option(*sub, spec, out.options);
    sub->footer(command.details);
    sub->parse_complete_callback([&out, &command] { out.command = &command; });
  }

  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    // The help of the command that was named, else of the program.
    const auto chosen = app.get_subcommands();
    out.text = chosen.empty() ? app.help() : chosen.front()->help();
    out.command = nullptr;
    return out;
  } catch (const CLI::CallForVersion& e) {
    out.text = std::string(e.what()) + "\n";
    out.command = nullptr;
    return out;
  } catch (const CLI::ExtrasError&) {
    const auto chosen = app.get_subcommands();
    refuse_extras(app.remaining(true), chosen.empty() ? nullptr : find_command(chosen.front()->get_name()));
  } catch (const CLI::ParseError& e) {
    throw UsageError(harmless(e.what()), parser_remedy(command_in(arguments)));
  }
  if (out.command == nullptr) throw UsageError("no command given", "See trainvigil --help, or try trainvigil demo");
  return out;
}

int run_program(const std::vector<std::string>& arguments) {
  const auto complain = [](const std::string& what, const std::string& remedy) {
    const char* joint = remedy.empty() ? "" : what.ends_with('?') ? " " : ". ";
    std::fprintf(stderr, "trainvigil: %s%s%s\n", what.c_str(), joint, remedy.c_str());
    return kExitUnknown;
  };
  try {
    const Invocation invocation = parse_command_line(arguments);
    if (invocation.command == nullptr) {
      print(invocation.text);
      return kExitOk;
    }
    return invocation.command->run(invocation.options);
  } catch (const UsageError& e) {
    return complain(e.what(), e.remedy());
  } catch (const ConfigRefused& e) {
    for (const Error& error : e.errors()) std::fprintf(stderr, "%s\n", harmless(error.text()).c_str());
    return kExitUnknown;
  } catch (const OutputLost& e) {
    if (e.reader_left()) end_by_broken_pipe();
    return complain(e.what(), "");
  } catch (const std::exception& e) {
    return complain(std::string("this should not have happened: ") + e.what(), "Please report it");
  }
}

}  // namespace trainvigil::app
