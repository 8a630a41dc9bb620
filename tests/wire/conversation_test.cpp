// The conversation against a scripted other side: what it asks, what it believes, and what it makes of silence and noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "trainvigil/wire.hpp"

namespace trainvigil {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReady = "\nTV1 READY 2 pid=50 ticks=100 page=4096 cores=8 btime=1000 lister=find encode=base64\n";
constexpr const char* kStat = ") R 1 7 7 0 -1 0 1 2 3 4 1500 250 9 9 20 0 57 0 12300 1000 20 18";

/// The requests that are waiting, by kind: the number and the words after it.
struct Asked {
  std::string seq, words;
};

class TheConversation : public ::testing::Test {
 protected:
  void start(std::vector<Job> jobs, std::uint32_t nonce = 100) {
    probe_ = ProbeConversation::make(std::move(jobs), nonce);
    probe_->opened();
    std::string script;
    for (std::string piece = probe_->take_output(4096); !piece.empty(); piece = probe_->take_output(4096)) script += piece;
    EXPECT_EQ(script, probe_script());
    probe_->received(kReady);
  }
  Job job() const {
    Job job;
    job.name = "j";
    job.checkpoints = "/data/run";
    job.process = "train";
    return job;
  }
  std::multimap<char, Asked> requests() {
    std::multimap<char, Asked> asked;
    std::string text;
    for (std::string piece = probe_->take_output(100); !piece.empty(); piece = probe_->take_output(100)) text += piece;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      EXPECT_TRUE(line.starts_with("TV1 ")) << line;
      asked.emplace(line[4], Asked{line.substr(6, 8), line.size() > 15 ? line.substr(15) : ""});
      at = end + 1;
    }
    return asked;
  }
  static std::string answer(const Asked& asked, const std::vector<std::string>& lines, const std::string& status = "ok") {
    std::string text;
    for (const auto& line : lines) text += asked.seq + " " + line + "\n";
    return text + asked.seq + "." + status + " 100.00 100.25\n";
  }
  static std::vector<std::string> facts(std::vector<std::string> more = {}) {
    std::vector<std::string> lines{"now:1100.5", "/proc/uptime:100.5 3", "/proc/loadavg:0.5 1 1 1/2 9", "/proc/sys/kernel/random/boot_id:boot-1"};
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  }
  /// Ends everything but the kinds in `open` without content.
  void end_others(const std::multimap<char, Asked>& asked, const std::string& open) {
    for (const auto& [kind, request] : asked) {
      if (open.find(kind) == std::string::npos) probe_->received(request.seq + ".absent 1 2\n");
    }
  }
  std::shared_ptr<ProbeConversation> probe_;
};

TEST_F(TheConversation, NothingIsAskedBeforeTheScriptIsThere) {
  probe_ = ProbeConversation::make({job()}, 1);
  probe_->opened();
  probe_->ask({});
  std::string sent;
  for (std::string piece = probe_->take_output(1000); !piece.empty(); piece = probe_->take_output(1000)) sent += piece;
  EXPECT_EQ(sent, probe_script());
  EXPECT_FALSE(probe_->ready());
  probe_->received("motd\n");
  EXPECT_TRUE(probe_->take_output(1000).empty());
  probe_->received(kReady);
  EXPECT_TRUE(probe_->ready());
  EXPECT_FALSE(requests().empty());
  EXPECT_FALSE(probe_->answered());
}

TEST_F(TheConversation, ALookThatIsAnsweredByteByByte) {
  start({job()});
  probe_->ask({});
  const auto asked = requests();
  EXPECT_EQ(asked.count('D'), 1U);
  std::string text = answer(asked.find('P')->second, facts());
  text += answer(asked.find('F')->second,
                 {"last:900 0", "/proc/7/status:PPid:\t1", "/proc/7/status:Uid:\t0\t0\t0\t0", "/proc/7/cmdline:python\x01train.py\x01", "end:"});
  for (const char c : text) probe_->received(std::string_view(&c, 1));
  end_others(asked, "PF");
  const auto more = requests();
  ASSERT_EQ(more.count('P'), 1U) << "what the scan found is asked for in the same look";
  EXPECT_THAT(more.find('P')->second.words, HasSubstr("7"));
  probe_->received(answer(more.find('P')->second, facts({std::string("/proc/7/stat:7 (python") + kStat})));
  ASSERT_EQ(more.count('U'), 1U);
  probe_->received(answer(more.find('U')->second, {"alice"}));
  ASSERT_TRUE(probe_->answered());
  const auto seen = probe_->take(watcher_time(55));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].watcher_time, watcher_time(55));
  EXPECT_EQ(seen[0].host.time, host_time(1100.5));
  EXPECT_EQ(seen[0].host.cores, 8);
  ASSERT_TRUE(seen[0].processes && seen[0].processes->size() == 1);
  const Process& process = (*seen[0].processes)[0];
  EXPECT_EQ(process.user, "alice");
  EXPECT_EQ(process.matched, true);
  EXPECT_FALSE(process.main) << "core finds it";
  EXPECT_EQ(process.start, host_time(1123));
  EXPECT_EQ(process.cpu_s, 17.5);
  EXPECT_EQ(process.rss_kib, 80);
  EXPECT_EQ(process.cmdline, "python train.py");
  EXPECT_FALSE(seen[0].gpus);
}

TEST_F(TheConversation, LinesThatWereNotAskedForAreNotBelieved) {
  start({job()});
  probe_->ask({});
  const auto asked = requests();
  probe_->received("deadbeef now:1\ndeadbeef.ok 1 2\n00000000.ok\n  " + asked.find('P')->second.seq + " now:5\n");
  probe_->received(answer(asked.find('P')->second, facts()));
  probe_->received(answer(asked.find('P')->second, {"now:7"})) /* once more: too late */;
  end_others(asked, "P");
  ASSERT_TRUE(probe_->answered());
  EXPECT_EQ(probe_->take(watcher_time(1))[0].host.time, host_time(1100.5));
}

TEST_F(TheConversation, SilenceOfSomeIsTheirTimeoutAndNotTheHosts) {
  start({job()});
  probe_->ask({});
  auto asked = requests();
  EXPECT_FALSE(probe_->settle_for_less()) << "nothing has come: the look has failed";
  probe_->received(answer(asked.find('P')->second, facts()));
  probe_->received(asked.find('G')->second.seq + "!4711\n" + asked.find('D')->second.seq + "!4712\n");
  probe_->hurry();
  const auto kill = requests();
  ASSERT_EQ(kill.count('K'), 1U);
  EXPECT_THAT(kill.find('K')->second.words, HasSubstr("4711"));
  EXPECT_THAT(kill.find('K')->second.words, HasSubstr("4712"));
  ASSERT_TRUE(probe_->settle_for_less());
  EXPECT_TRUE(probe_->answered());
  auto seen = probe_->take(watcher_time(1))[0];
  EXPECT_EQ(seen.sensors.at("gpu").status, SensorStatus::timeout);
  EXPECT_EQ(seen.sensors.at("files").status, SensorStatus::timeout);
  EXPECT_EQ(seen.sensors.at("host").status, SensorStatus::ok);
  EXPECT_EQ(seen.files_error, "timeout");
  EXPECT_FALSE(seen.files || seen.gpus || seen.processes || seen.disk);
  // The answer that comes after all belongs to no look; the sensor is still taken and says so.
  probe_->received(answer(asked.find('D')->second, {"~0f 1 2 late", "~0x 0"}));
  probe_->ask({});
  asked = requests();
  EXPECT_THAT(asked.find('D')->second.words, HasSubstr("d0 - "));
  probe_->received(asked.find('D')->second.seq + ".busy\n" + asked.find('G')->second.seq + ".busy\n");
  probe_->received(answer(asked.find('P')->second, facts()));
  end_others(asked, "PDG");
  seen = probe_->take(watcher_time(2))[0];
  EXPECT_EQ(seen.sensors.at("gpu").status, SensorStatus::timeout) << "the call of the first look hangs still";
  EXPECT_FALSE(seen.files || seen.gpus);
  probe_->ask({});
  asked = requests();
  EXPECT_THAT(asked.find('D')->second.words, HasSubstr("d0 - ")) << "a busy slot is never waited for";
  EXPECT_THAT(asked.find('P')->second.words, HasSubstr("p w "));
}

TEST_F(TheConversation, AKilledWalkIsNoListing) {
  start({job()});
  probe_->ask({});
  const auto asked = requests();
  const std::string mark = asked.find('D')->second.words.substr(5, 9);
  probe_->received(answer(asked.find('P')->second, facts()));
  probe_->received(answer(asked.find('D')->second, {mark + "f 1 2 a", mark + "x 143"}));
  end_others(asked, "PD");
  const auto seen = probe_->take(watcher_time(1))[0];
  EXPECT_FALSE(seen.files);
  EXPECT_EQ(seen.files_error, "timeout");
  EXPECT_EQ(seen.sensors.at("files").status, SensorStatus::timeout);
}

TEST_F(TheConversation, AProcessOfTheSamePidButAnotherStartIsAnother) {
  start({job()});
  probe_->ask({});
  auto asked = requests();
  probe_->received(answer(asked.find('F')->second, {"last:900 0", "/proc/7/status:Uid:\t0\t0\t0\t0", "/proc/7/cmdline:train\x01", "end:"}));
  probe_->received(answer(asked.find('P')->second, facts()));
  end_others(asked, "PF");
  asked = requests();
  probe_->received(answer(asked.find('P')->second, facts({std::string("/proc/7/stat:7 (train") + kStat})));
  end_others(asked, "P");
  ASSERT_TRUE(probe_->answered());
  EXPECT_EQ(probe_->take(watcher_time(1))[0].processes->size(), 1U);
  probe_->ask({});
  asked = requests();
  std::string other = kStat;
  other.replace(other.find("12300"), 5, "99999");
  probe_->received(answer(asked.find('F')->second, {"last:900 900"}));
  probe_->received(answer(asked.find('P')->second, facts({"/proc/7/stat:7 (train" + other})));
  end_others(asked, "PF");
  const auto kernel = requests();
  EXPECT_EQ(kernel.count('M'), 1U) << "one has gone: the kernel may know why";
  end_others(kernel, "");
  ASSERT_TRUE(probe_->answered());
  const auto seen = probe_->take(watcher_time(2))[0];
  ASSERT_TRUE(seen.processes);
  EXPECT_TRUE(seen.processes->empty());
}

TEST_F(TheConversation, EndlessNoiseIsAFailureWithARemedy) {
  probe_ = ProbeConversation::make({job()}, 1);
  probe_->opened();
  for (int i = 0; i < 100 && !probe_->broken(); ++i) probe_->received(std::string(4096, 'x') + "\n");
  ASSERT_TRUE(probe_->broken());
  EXPECT_EQ(probe_->broken()->reach, Reach::shell_failed);
  EXPECT_FALSE(probe_->broken()->remedy.empty());
  probe_->opened();
  EXPECT_FALSE(probe_->broken()) << "another shell, another chance";
}

TEST_F(TheConversation, AProbeOfAnotherVersionIsRefused) {
  probe_ = ProbeConversation::make({job()}, 1);
  probe_->opened();
  probe_->received("TV1 READY 99 pid=5\n");
  ASSERT_TRUE(probe_->broken());
  EXPECT_FALSE(probe_->broken()->retry);
  EXPECT_FALSE(probe_->ready());
}

TEST_F(TheConversation, JobsOfOneHostShareOneLookAndTheirDirectory) {
  Job first = job(), second = job(), third = job();
  second.process = "other";
  third.checkpoints = "/data/it's \n";
  start({first, second, third});
  probe_->ask({});
  const auto asked = requests();
  EXPECT_EQ(asked.count('D'), 2U);
  EXPECT_EQ(asked.count('P'), 1U);
  EXPECT_EQ(asked.count('G'), 1U);
  bool quoted = false;
  for (const auto& [kind, request] : asked) quoted = quoted || request.words.find("/data/it\\0047s\\0040\\0012") != std::string::npos;
  EXPECT_TRUE(quoted);
  probe_->received(answer(asked.find('P')->second, facts()));
  end_others(asked, "P");
  EXPECT_EQ(probe_->take(watcher_time(1)).size(), 3U);
}

TEST_F(TheConversation, GarbageInAnswersNeverHurts) {
  std::uint32_t random = 12345;
  for (int round = 0; round < 200; ++round) {
    start({job()}, static_cast<std::uint32_t>(round));
    probe_->ask({});
    const auto asked = requests();
    for (const auto& [kind, request] : asked) {
      std::vector<std::string> lines;
      for (int i = 0; i < 8; ++i) {
        static const std::vector<std::string> starts{
            "/proc/7/stat:", "/proc/7/cmdline:", "row:", "app:", "~", "last:", "size:", "disk:", "df:", "source:dmesg", "", "now:"};
        std::string line = starts[(random >> 8U) % starts.size()];
        for (int k = 0; k < 20; ++k) {
          random = random * 1664525U + 1013904223U;
          const char c = static_cast<char>(random >> 24U);
          line += c == '\n' ? ' ' : c;
        }
        lines.push_back(line);
      }
      probe_->received(answer(request, lines));
    }
    for (int more = 0; more < 5 && !probe_->answered(); ++more) {
      for (const auto& [kind, request] : requests()) probe_->received(answer(request, {"x"}));
    }
    EXPECT_TRUE(probe_->answered());
    EXPECT_EQ(probe_->take(watcher_time(1)).size(), 1U);
  }
}

TEST(Unreachable, SaysWhyAndWhatMendsIt) {
  const auto seen = unreachable_observation({Reach::auth_failed, "Permission denied (publickey)", "add the key", false}, watcher_time(9));
  EXPECT_EQ(seen.reach, Reach::auth_failed);
  EXPECT_EQ(seen.error, "Permission denied (publickey)");
  EXPECT_EQ(seen.remedy, "add the key");
  EXPECT_EQ(seen.watcher_time, watcher_time(9));
  EXPECT_FALSE(seen.processes || seen.files || seen.gpus);
}

}  // namespace
}  // namespace trainvigil
