#include <gtest/gtest.h>

#include <string>

#include "trainvigil/config.hpp"

namespace trainvigil {
namespace {

constexpr const char* kJob = "[[job]]\nname = 'a'\nhost = 'gpu1'\nprocess = 'train'\n";

Config good(const std::string& text) {
  const auto config = parse_config(text, "t.toml");
  EXPECT_TRUE(config.has_value()) << (config ? "" : config.error().front().text());
  return config.value_or(Config{});
}

/// The faults as "line:column what".
std::vector<std::string> faults(const std::string& text) {
  const auto config = parse_config(text, "t.toml");
  std::vector<std::string> out;
  if (!config)
    for (const Error& error : config.error()) {
      EXPECT_EQ(error.where.rfind("t.toml:", 0), 0U);
      out.push_back(error.where.substr(7) + " " + error.what);
    }
  return out;
}

void expect_fault(const std::string& text, const std::string& begins, const std::string& holds = {}) {
  const auto found = faults(text);
  ASSERT_EQ(found.size(), 1U) << text << testing::PrintToString(found);
  EXPECT_EQ(found.front().rfind(begins, 0), 0U) << found.front();
  EXPECT_NE(found.front().find(holds), std::string::npos) << found.front();
}

TEST(Config, AllKeysOfAJob) {
  const Config config = good(R"(
interval = "45s"
[[job]]
name = "eagle3"
host = "me@gpu1:2222"
checkpoints = "/data/out"
process = "04_train|05_train"
epochs = 5
log = "/data/train.log"
end_mark = "Training completed"
expected = "155m"
deadline = "2026-11-30 18:00"
stall_after = "30m"
start_within = "1h"
user = "alice"
pid = 4242
gpus = [0, 3]
)");
  ASSERT_EQ(config.jobs.size(), 1U);
  Job job;
  job.name = "eagle3";
  job.host = "me@gpu1:2222";
  job.checkpoints = "/data/out";
  job.process = "04_train|05_train";
  job.epochs = 5;
  job.log = "/data/train.log";
  job.end_mark = "Training completed";
  job.expected = Seconds{155 * 60};
  job.deadline = "2026-11-30 18:00";
  job.stall_after = Seconds{1800};
  job.start_within = Seconds{3600};
  job.user = "alice";
  job.pid = 4242;
  job.gpus = {0, 3};
  job.interval = Seconds{45};
  EXPECT_EQ(config.jobs.front(), job);
}

TEST(Config, HostSettings) {
  const Config config = good("[host.gpu1]\ntransport = 'openssh'\nprobe_timeout = '1m'\n[host.'b.example']\n");
  EXPECT_EQ(config.hosts.at("gpu1").transport, TransportKind::openssh);
  EXPECT_EQ(config.hosts.at("gpu1").probe_timeout, Seconds{60});
  EXPECT_EQ(config.hosts.at("b.example"), HostSettings{});
}

TEST(Config, AJobWithoutANameGetsOne) {
  EXPECT_EQ(good("[[job]]\nhost='gpu1'\ncheckpoints='/data/eagle3/output/'\n").jobs.front().name, "gpu1:output");
  EXPECT_EQ(good("[[job]]\nhost='gpu1'\nprocess='04_train'\n").jobs.front().name, "gpu1:04_train");
}

TEST(ConfigFaults, UnknownKeysWithTheLikelyOne) {
  expect_fault("[[job]]\nname = 'a'\nhost = 'h'\nproces = 'x'\n", "4:1 ", "did you mean \"process\"?");
  expect_fault("[[jobs]]\nname = 'a'\n", "1:", "did you mean \"job\"?");
  expect_fault("intervall = '3s'\n", "1:1 ", "did you mean \"interval\"?");
  expect_fault("[host.gpu1]\nproxy = 'x'\n", "2:1 ", "unknown key \"proxy\" in [host.gpu1]");
  expect_fault("[host.gpu1]\ntransport = 'openshh'\n", "2:13 ", "did you mean \"openssh\"?");
}

TEST(ConfigFaults, WrongTypes) {
  expect_fault(std::string(kJob) + "epochs = 'five'\n", "5:10 ", "epochs is a text, not a whole number");
  expect_fault(std::string(kJob) + "epochs = 5.0\n", "5:10 ", "a number with a fraction");
  expect_fault("interval = 30\n", "1:12 ", "interval is a whole number, not a text");
  expect_fault(std::string(kJob) + "deadline = 2026-11-30T18:00:00Z\n", "5:12 ", "without quotes");
  expect_fault("job = 'x'\n", "1:7 ", "list of tables");
  expect_fault("[job]\nname = 'a'\n", "1:1 ", "list of tables");
  expect_fault("host = 'gpu1'\n", "1:8 ", "host is no table");
  expect_fault(std::string(kJob) + "gpus = [0, '1']\n", "5:12 ", "gpus");
}

TEST(ConfigFaults, AbsurdNumbers) {
  for (const char* line :
       {"epochs = 0", "epochs = -3", "steps = 9223372036854775807", "pid = 0", "gpus = [-1]", "gpus = [1, 1]", "gpus = []", "stall_after = '0s'",
        "expected = '-5m'", "stall_after = 'soon'", "deadline = '25:99'", "deadline = 'tomorrow'", "log = ''", "interval = '1ms'"}) {
    const auto found = faults(std::string(kJob) + line + "\n");
    ASSERT_EQ(found.size(), 1U) << line;
    EXPECT_EQ(found.front().rfind("5:", 0), 0U) << found.front();
  }
  expect_fault("probe_timeout = '0s'\n", "1:17 ");
}

TEST(ConfigFaults, BadRegularExpressions) {
  for (const char* pattern : {"(", "[a", "a{2,1}", "*"})
    expect_fault("[[job]]\nname='a'\nhost='h'\nprocess='" + std::string(pattern) + "'\n", "4:9 ", "regular expression");
}

TEST(ConfigFaults, JobsThatCanNotBe) {
  expect_fault(std::string(kJob) + "epochs = 3\nsteps = 5\n", "6:9 ", "both epochs and steps");
  expect_fault("[[job]]\nname='a'\nhost='h'\n", "1:1 ", "neither checkpoints nor process");
  expect_fault("[[job]]\nname='a'\nprocess='x'\n", "1:1 ", "no host");
  expect_fault("[[job]]\nname='a'\nhost='-oProxyCommand=x'\nprocess='x'\n", "3:6 ", "dash");
  expect_fault("[[job]]\nname='a'\nhost='h'\ncheckpoints='output'\n", "4:13 ", "absolute");
  expect_fault(std::string(kJob) + "[[job]]\nhost='h'\nname='a'\nprocess='y'\n", "7:6 ", "second job with the name \"a\"");
  expect_fault(std::string(kJob) + "end_mark = 'x'\n", "5:12 ", "log");
}

TEST(ConfigFaults, SyntaxHasAPlace) { expect_fault("interval = \n", "1:"); }

TEST(ConfigFaults, AllAreToldInTheOrderOfTheFile) {
  const auto found = faults("interval = 3\n[[job]]\nname = 'a'\nhost = 'h'\nprocess = '('\nepoch = 3\nheartbeat = '1m'\n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].rfind("1:", 0), 0U);
  EXPECT_EQ(found[1].rfind("5:", 0), 0U);
  EXPECT_EQ(found[2].rfind("6:", 0), 0U);
  EXPECT_EQ(found[3].rfind("7:", 0), 0U);
}

TEST(ConfigShow, ReadsBackTheSame) {
  const Config config =
      good(std::string("interval='500ms'\nlog_file='/tmp/a \"b\"\\\\'\n") + kJob + "gpus=[1]\nexpected='2h30m'\n[host.'a.b']\ntransport='openssh'\n");
  EXPECT_EQ(good(show_config(config)), config);
  EXPECT_EQ(good(show_config(Config{})), Config{});
}

TEST(ConfigFaults, ADirectoryIsNoConfig) {
  const auto config = load_config("/");
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().front().what, "this is a directory and no config");
}

}  // namespace
}  // namespace trainvigil
