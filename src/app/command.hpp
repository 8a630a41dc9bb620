// A command: its words, its options and what it does. One file a command, one line in registry.cpp.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace trainvigil::app {

/// Bad usage: one clear sentence and the remedy.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& what, std::string remedy = {}) : std::runtime_error(what), remedy_(std::move(remedy)) {}
  [[nodiscard]] const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

struct OptionSpec {
  std::string names;  ///< "-c,--config"
  std::string value;  ///< "FILE"; empty: a flag
  std::string help;
  std::function<void(Options&, const std::string&)> set;  ///< throws UsageError; called once for each time that it is given
  std::string group;                                      ///< heading in the help
  bool many = false;                                      ///< may be given more than once
};

struct ArgumentSpec {
  std::string name;
  std::string help;
  bool required = false;
  std::function<void(Options&, const std::string&)> set;
};

struct Command {
  std::string name;
  std::string summary;  ///< one line
  std::string details;  ///< exit codes, examples: shown below the options
  std::vector<ArgumentSpec> arguments;
  std::vector<OptionSpec> options;
  int (*run)(const Options&) = nullptr;
  bool hidden = false;
};

/// In the order of the help.
const std::vector<Command>& all_commands();

/// Options that several commands share.
std::vector<OptionSpec> everywhere_options();
std::vector<OptionSpec> describing_options();
OptionSpec interval_option(const std::string& usual = "30s");
OptionSpec job_option();
ArgumentSpec target_argument();
std::vector<OptionSpec> together(std::initializer_list<std::vector<OptionSpec>> groups);

/// Reads one value or throws UsageError.
Seconds duration_value(const std::string& text);
std::int64_t count_value(const std::string& text);
std::string regex_value(const std::string& text);

}  // namespace trainvigil::app
