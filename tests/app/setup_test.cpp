#include "app/setup.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/command.hpp"
#include "app/overrides.hpp"

namespace trainvigil::app {
namespace {

Setup configured() {
  const auto config = parse_config(
      "[[job]]\nname='a'\nhost='gpu1'\nprocess='x'\n"
      "[[job]]\nname='b'\nhost='gpu1'\nprocess='y'\ninterval='5s'\n"
      "[[job]]\nname='c'\nhost='gpu2'\nprocess='z'\n"
      "[host.gpu2]\ntransport='openssh'\nprobe_timeout='7s'\n",
      "t.toml");
  return {config.value(), "t.toml"};
}

std::vector<std::string> names(const Options& options) {
  std::vector<std::string> out;
  for (const Job& job : choose_jobs(options, configured())) out.push_back(job.name);
  return out;
}

std::string refused(const Options& options, const Setup& setup) {
  try {
    choose_jobs(options, setup);
  } catch (const UsageError& e) {
    return std::string(e.what()) + " / " + e.remedy();
  }
  return "taken";
}

TEST(ChooseJobs, FromTheConfig) {
  Options options;
  EXPECT_EQ(names(options), (std::vector<std::string>{"a", "b", "c"}));
  options.target = "gpu1";
  EXPECT_EQ(names(options), (std::vector<std::string>{"a", "b"}));
  options.jobs = {"b"};
  EXPECT_EQ(names(options), (std::vector<std::string>{"b"}));
}

TEST(ChooseJobs, DescribedOnTheCommandLine) {
  Options options;
  options.target = "gpu9";
  options.described.checkpoints = "/data/out/";
  options.interval = Seconds{1};
  const std::vector<Job> jobs = choose_jobs(options, configured());
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].name, "gpu9:out");
  EXPECT_EQ(jobs[0].host, "gpu9");
  EXPECT_EQ(jobs[0].interval, Seconds{1});
}

TEST(ChooseJobs, PathsOfThisMachineMayBeRelative) {
  Options options;
  options.target = "local";
  options.described.checkpoints = "output";
  EXPECT_EQ(choose_jobs(options, {}).front().checkpoints, (std::filesystem::current_path() / "output").string());
  options.target = "gpu1";
  EXPECT_NE(refused(options, {}).find("absolute"), std::string::npos);
}

TEST(ChooseJobs, RefusalsNameTheWayOut) {
  Options options;
  EXPECT_NE(refused(options, {}).find("config"), std::string::npos);
  options.described.epochs = 3;
  EXPECT_NE(refused(options, {}).find("TARGET"), std::string::npos);
  options.target = "gpu1";
  EXPECT_NE(refused(options, {}).find("neither --checkpoints nor --process"), std::string::npos);
  options.described = {};
  options.target = "gpu7";
  EXPECT_NE(refused(options, configured()).find("no job for \"gpu7\""), std::string::npos);
  options.target.clear();
  options.jobs = {"aa"};
  EXPECT_NE(refused(options, configured()).find("did you mean \"a\"?"), std::string::npos);
}

TEST(PlanHosts, JobsOfAHostShareOneLookAtTheShortestInterval) {
  const app::Setup setup = configured();
  Options options;
  const auto jobs = choose_jobs(options, setup);
  auto plans = plan_hosts(jobs, options, setup.config);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].jobs, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(plans[0].interval, Seconds{5});
  EXPECT_EQ(plans[0].limit, Seconds{30});
  EXPECT_EQ(plans[1].target.kind, TransportKind::openssh);
  EXPECT_EQ(plans[1].limit, Seconds{7});
  options.probe_timeout = Seconds{3};
  options.ssh_config = "/dev/null";
  plans = plan_hosts(jobs, options, setup.config);
  EXPECT_EQ(plans[1].limit, Seconds{3});
  EXPECT_EQ(plans[0].target.ssh_config, "/dev/null");
}

TEST(Overridden, TheCommandLineWins) {
  Job header;
  header.name = "recorded";
  header.epochs = 5;
  header.deadline = "18:00";
  header.deadline_at = watcher_time(9);
  header.checkpoints = "/data";
  Job given;
  EXPECT_EQ(overridden(header, given), header);
  given.steps = 100;
  given.deadline = "19:00";
  const Job out = overridden(header, given);
  EXPECT_EQ(out.steps, 100);
  EXPECT_EQ(out.epochs, std::nullopt);
  EXPECT_EQ(out.deadline_at, std::nullopt) << "another deadline is resolved anew";
  EXPECT_EQ(out.checkpoints, "/data");
  given.epochs = 3;
  EXPECT_THROW(overridden(header, given), UsageError);
}

TEST(PlanHosts, AnSshConfigThatIsNotThereIsToldBeforeAnythingStarts) {
  Options options;
  options.target = "gpu1";
  options.described.process = "x";
  options.ssh_config = "/nonexistent/ssh_config";
  const auto plan = [&] { return plan_hosts(choose_jobs(options, app::Setup{}), options, Config{}); };
  try {
    plan();
    FAIL() << "taken";
  } catch (const UsageError& e) {
    EXPECT_EQ(std::string(e.what()), "the ssh config \"/nonexistent/ssh_config\" can not be read: No such file or directory");
    EXPECT_NE(e.remedy().find("-F"), std::string::npos);
  }
  options.ssh_config = "none";
  EXPECT_EQ(plan().size(), 1U) << "a word that ssh knows";
  options.target = "local";
  options.ssh_config = "/nonexistent/ssh_config";
  EXPECT_EQ(plan().size(), 1U) << "nothing here goes by ssh";
}

}  // namespace
}  // namespace trainvigil::app
