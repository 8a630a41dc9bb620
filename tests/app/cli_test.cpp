#include "app/cli.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "trainvigil/suggest.hpp"

namespace trainvigil::app {
namespace {

Options parsed(const std::vector<std::string>& words) {
  const Invocation out = parse_command_line(words);
  EXPECT_NE(out.command, nullptr);
  return out.options;
}

/// The sentence and the remedy of a refusal.
std::string refused(const std::vector<std::string>& words) {
  try {
    parse_command_line(words);
  } catch (const UsageError& e) {
    return std::string(e.what()) + " / " + e.remedy();
  }
  return "taken";
}

TEST(Cli, DescribingOptions) {
  const Options o = parsed({"status",        "me@gpu1:22", "--checkpoints", "/data/out", "--process", "a|b", "--epochs",   "5",
                            "--log",         "/l",         "--end-mark",    "done",      "--name",    "n",   "--expected", "2h30m",
                            "--stall-after", "90s",        "--deadline",    "18:00",     "--json",    "-v",  "-v"});
  EXPECT_EQ(o.target, "me@gpu1:22");
  EXPECT_TRUE(o.describes());
  EXPECT_EQ(o.described.checkpoints, "/data/out");
  EXPECT_EQ(o.described.epochs, 5);
  EXPECT_EQ(o.described.expected, Seconds{9000});
  EXPECT_EQ(o.described.stall_after, Seconds{90});
  EXPECT_TRUE(o.json);
  EXPECT_EQ(o.verbose, 2);
}

TEST(Cli, EverywhereOptionsStandBeforeOrAfterTheCommand) {
  EXPECT_EQ(parsed({"-c", "x.toml", "status"}).config, "x.toml");
  EXPECT_EQ(parsed({"status", "-c", "x.toml"}).config, "x.toml");
  EXPECT_EQ(parsed({"probe-script", "--state-dir=/s"}).state_dir, "/s");
  EXPECT_EQ(parsed({"check", "-F", "f", "--probe-timeout", "500ms"}).probe_timeout, Seconds{0.5});
}

TEST(Cli, JobsMayBeRepeatedAndNothingElse) {
  EXPECT_EQ(parsed({"run", "--job", "a", "--job", "b"}).jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(refused({"run", "--interval", "1s", "--interval", "2s"}).find("--interval is given 2 times"), std::string::npos);
}

TEST(Cli, TellsWhatWasProbablyMeant) {
  EXPECT_EQ(refused({"statsu"}), "unknown command \"statsu\"; did you mean \"status\"? / See trainvigil --help");
  EXPECT_EQ(refused({"status", "local", "--epcohs", "3"}), "unknown option --epcohs; did you mean \"--epochs\"? / See trainvigil status --help");
  EXPECT_EQ(refused({"status", "local", "--frob=3"}), "unknown option --frob / See trainvigil status --help");
  EXPECT_NE(refused({"status", "a", "b"}).find("\"b\""), std::string::npos);
}

TEST(Cli, RefusesAbsurdValuesAndNamesTheOption) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"--epochs", "0"},        {"--epochs", "-3"},      {"--epochs", "many"},     {"--epochs", "99999999999999999999"},
      {"--steps", "1.5"},       {"--stall-after", "0s"}, {"--stall-after", "-3s"}, {"--expected", "12"},
      {"--deadline", "25:99"},  {"--process", "("},      {"--end-mark", "[a"},     {"--checkpoints", ""},
      {"--probe-timeout", "0s"}};
  for (const auto& [option, value] : bad)
    EXPECT_EQ(refused({"status", "local", option, value}).rfind(option, 0), 0U)
        << option << " " << value << ": " << refused({"status", "local", option, value});
}

TEST(Cli, ATargetIsNeverAnOption) {
  for (const char* target : {"-oProxyCommand=x", "user@-oProxyCommand=x", "host name", "host;id", "host:99999", ""})
    EXPECT_NE(refused({"status", "--process", "x", "--", target}).find("TARGET"), std::string::npos) << target;
}

TEST(Cli, HelpAndVersion) {
  const std::string help = parse_command_line({"--help"}).text;
  for (const Command& command : all_commands()) EXPECT_EQ(help.find("  " + command.name + " ") != std::string::npos, !command.hidden) << command.name;
  EXPECT_NE(parse_command_line({"run", "--help"}).text.find("--record"), std::string::npos);
  EXPECT_NE(parse_command_line({"demo", "--help"}).text.find("looks (1s)"), std::string::npos) << "what it really does";
  EXPECT_EQ(parse_command_line({"--version"}).text.rfind("trainvigil ", 0), 0U);
  EXPECT_NE(refused({}).find("no command"), std::string::npos);
}

TEST(Cli, EveryCommandHasExamplesAndNoOptionTwice) {
  for (const Command& command : all_commands()) {
    EXPECT_EQ(command.details.find("xample") != std::string::npos, !command.hidden) << command.name;
    std::vector<std::string> names;
    for (const auto& specs : {command.options, everywhere_options()})
      for (const OptionSpec& spec : specs) {
        EXPECT_EQ(std::count(names.begin(), names.end(), spec.names), 0) << command.name << " " << spec.names;
        names.push_back(spec.names);
      }
  }
}

}  // namespace
}  // namespace trainvigil::app
