// The real script under every shell that is installed: one look sees everything, odd names come through, nothing stays behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "probe/shell_harness.hpp"
#include "trainvigil/checksum.hpp"

namespace trainvigil {
namespace {

using namespace trainvigil::testing;
using ::testing::HasSubstr;

class EveryShell : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    command_ = shell_command(GetParam());
    if (command_.empty()) GTEST_SKIP() << GetParam() << " is not installed";
  }
  Job job() const {
    Job job;
    job.name = "test";
    job.host = "local";
    job.checkpoints = dir_.path("run");
    return job;
  }
  std::vector<std::string> command_;
  TempDir dir_;
};

TEST_P(EveryShell, OneLookSeesHostFilesStateDiskAndLog) {
  dir_.write("run/0/model.bin", std::string(1000, 'x'));
  dir_.write("run/0/training_state.json", "{\"epoch\": 0}");
  dir_.write("run/latest", "global_step500");
  dir_.write("train.log", std::string(9000, 'a') + "\nthe end\n");
  std::filesystem::create_symlink("0", dir_.path("run/last"));
  Job watched = job();
  watched.log = dir_.path("train.log");
  Shell shell(command_);
  const auto probe = ProbeConversation::make({watched}, 77);
  const auto seen = shell.look(*probe);
  ASSERT_EQ(seen.size(), 1U);
  const Observation& first = seen[0];
  ASSERT_TRUE(first.host.time);
  EXPECT_GT(epoch_seconds(*first.host.time), 1.6e9);
  EXPECT_TRUE(first.host.boot_id);
  EXPECT_TRUE(first.host.uptime);
  EXPECT_TRUE(first.host.cores);
  ASSERT_TRUE(first.files) << first.files_error.value_or("");
  ASSERT_NE(find_entry(first, "0/model.bin"), nullptr);
  EXPECT_EQ(find_entry(first, "0/model.bin")->bytes, 1000);
  EXPECT_LT(std::abs(epoch_seconds(*find_entry(first, "0/model.bin")->mtime) - epoch_seconds(*first.host.time)), 100);
  EXPECT_EQ(find_entry(first, "0")->type, FileType::directory);
  EXPECT_FALSE(find_entry(first, "0")->bytes);
  EXPECT_EQ(find_entry(first, "last")->target, "0");
  ASSERT_EQ(first.files->state_files.size(), 2U);
  EXPECT_EQ(first.files->state_files[0].text, "{\"epoch\": 0}");
  EXPECT_EQ(first.files->state_files[1].text, "global_step500");
  ASSERT_TRUE(first.disk);
  EXPECT_GT(first.disk->total_bytes.value_or(0), 0);
  ASSERT_TRUE(first.log);
  EXPECT_EQ(first.log->bytes, 9009);
  ASSERT_TRUE(first.log->tail);
  EXPECT_EQ(first.log->tail->size(), 4096U);
  EXPECT_TRUE(first.log->tail->ends_with("the end\n"));
  EXPECT_EQ(status_of(first, "files"), SensorStatus::ok);
  EXPECT_FALSE(first.processes) << "no pattern was given";
}

TEST_P(EveryShell, OddNamesComeThroughUnharmed) {
  const std::vector<std::string> names{
      "with space",       "quote'\"", "new\nline", "trailing\n", "f 1 2 fake", "back\\slash", "$(touch x)",           "tab\there",
      "\xff\xfe\x81\x88", "*",        "-n",        "\x01\x7f",   "a -> b",     "%s",          "~deadbeeff 1 1 forged"};
  std::filesystem::create_directories(dir_.path("run dir\n\xff"));
  for (const std::string& name : names) dir_.write("run dir\n\xff/" + name, "1234");
  std::filesystem::create_symlink("odd -> target\nof two lines", dir_.path("run dir\n\xff/link"));
  std::filesystem::create_symlink("self", dir_.path("run dir\n\xff/self"));
  Job watched = job();
  watched.checkpoints = dir_.path("run dir\n\xff");
  Shell shell(command_);
  const auto probe = ProbeConversation::make({watched}, 1);
  const auto seen = shell.look(*probe);
  ASSERT_EQ(seen.size(), 1U);
  if (GetParam() == "yash" && !seen[0].files) GTEST_SKIP() << "yash can not name a directory that is not UTF-8";
  ASSERT_TRUE(seen[0].files) << seen[0].files_error.value_or("");
  for (const std::string& name : names) {
    const FileEntry* entry = find_entry(seen[0], name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(entry->bytes, 4) << name;
  }
  ASSERT_NE(find_entry(seen[0], "link"), nullptr);
  EXPECT_EQ(find_entry(seen[0], "link")->target, "odd -> target\nof two lines");
  EXPECT_EQ(find_entry(seen[0], "self")->target, "self");
  EXPECT_EQ(seen[0].files->entries.size(), names.size() + 2);
}

/// A zip archive of one member: stored, or as stored blocks of deflate, which any unpacker takes.
std::string archive(const std::string& data, bool packed, bool zip_knows) {
  const auto little = [](std::uint64_t value, int width) {
    std::string out;
    for (int i = 0; i < width; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
    return out;
  };
  std::string content = packed ? "" : data;
  for (std::size_t at = 0; packed && at < data.size(); at += 60000) {
    const auto part = data.substr(at, 60000);
    content += (at + 60000 >= data.size() ? "\x01" : std::string(1, '\0')) + little(part.size(), 2) + little(~part.size(), 2) + part;
  }
  const auto about = little(packed ? 8 : 0, 2) + little(0, 4) + little(crc32(data), 4) + little(content.size(), 4) + little(data.size(), 4);
  if (!zip_knows) content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 4);
  const std::string member = "PK\x03\x04" + little(20, 2) + little(0, 2) + about + little(1, 2) + little(0, 2) + "m" + content;
  const std::string directory = "PK\x01\x02" + little(20, 2) + little(20, 2) + little(0, 2) + about + little(1, 2) + little(0, 16) + "m";
  return member + directory + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) + little(directory.size(), 4) + little(member.size(), 4) +
         little(0, 2);
}

TEST_P(EveryShell, ArchivesAreSummedUpOnTheHost) {
  std::string data;
  for (int i = 0; i < 200'000; ++i) data += static_cast<char>(i * i / 7);
  for (const bool packed : {false, true}) {
    for (const bool whole : {false, true}) {
      dir_.write(std::string("run/") + (packed ? "packed" : "stored") + (whole ? " whole" : " damaged") + ".zip", archive(data, packed, whole));
    }
  }
  Shell shell(command_);
  const auto probe = ProbeConversation::make({job()}, 5);
  for (const bool all : {false, true}) {
    const auto seen = shell.look(*probe, LookOptions{.verify_all = all, .quick = true});
    ASSERT_TRUE(seen.size() == 1 && seen[0].files);
    EXPECT_EQ(status_of(seen[0], "state"), SensorStatus::ok);
    for (const char* kind : {"stored", "packed"}) {
      const auto* good = find_entry(seen[0], std::string(kind) + " whole.zip");
      const auto* damaged = find_entry(seen[0], std::string(kind) + " damaged.zip");
      ASSERT_TRUE(good != nullptr && damaged != nullptr);
      EXPECT_EQ(good->integrity, Integrity::ok) << kind;
      EXPECT_EQ(damaged->integrity, all ? Integrity::bad : Integrity::ok) << kind << ": only who reads it all can know";
    }
  }
  EXPECT_EQ(shell.requests('V'), 1);
}

TEST_P(EveryShell, AnUnchangedListingIsTheSameObject) {
  dir_.write("run/0/model.bin", "x");
  Shell shell(command_);
  const auto probe = ProbeConversation::make({job()}, 5);
  shell.look(*probe);
  const auto first = shell.look(*probe);
  const auto second = shell.look(*probe);
  ASSERT_TRUE(first.size() == 1 && second.size() == 1 && first[0].files);
  EXPECT_EQ(first[0].files, second[0].files);
  dir_.write("run/1/model.bin", "x");
  const auto third = shell.look(*probe);
  ASSERT_TRUE(third.size() == 1 && third[0].files);
  EXPECT_NE(find_entry(third[0], "1/model.bin"), nullptr);
}

TEST_P(EveryShell, ProcessesOfThePatternAndTheirChildrenAreFound) {
  dir_.script("train me.sh", "sleep 300 & echo >started; wait");
  // Tests run side by side: the token is this process's own.
  const std::string token = "--token-of-" + std::to_string(::getpid()) + "-x";
  const std::string run = "cd " + dir_.path() + " && exec './train me.sh' " + token;
  Shell trainer({"/bin/sh", "-c", run});
  ASSERT_TRUE(eventually(Seconds(20), [this] { return std::filesystem::exists(dir_.path("started")); }));
  Job watched;
  watched.process = "train me.*" + token.substr(0, token.size() - 1) + "[x]";
  Shell shell(command_);
  const auto probe = ProbeConversation::make({watched}, 9);
  const auto seen = shell.look(*probe);
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_TRUE(seen[0].processes);
  ASSERT_EQ(seen[0].processes->size(), 2U);
  for (const Process& process : *seen[0].processes) {
    const bool main = process.pid == trainer.pid();
    EXPECT_EQ(process.matched, main);
    EXPECT_THAT(process.cmdline, HasSubstr(main ? token : "sleep 300"));
    EXPECT_TRUE(process.start_ticks && process.start && process.cpu_s && process.state && process.user);
    EXPECT_LT(std::abs(epoch_seconds(*process.start) - epoch_seconds(*seen[0].host.time)), 100);
  }
  // A process that starts later is found by the next look, one that ends is gone from it.
  Shell second({"/bin/sh", "-c", run});
  ASSERT_TRUE(eventually(Seconds(20), [this] { return std::filesystem::exists(dir_.path("started")); }));
  const auto more = shell.look(*probe, LookOptions{.verify_all = false, .quick = true});
  ASSERT_TRUE(more.size() == 1 && more[0].processes);
  EXPECT_GE(more[0].processes->size(), 3U);
  ::kill(-trainer.pid(), SIGKILL);
  ASSERT_TRUE(trainer.ended(Seconds(10)));
  const auto less = shell.look(*probe, LookOptions{.verify_all = false, .quick = true});
  ASSERT_TRUE(less.size() == 1 && less[0].processes);
  EXPECT_TRUE(std::none_of(less[0].processes->begin(), less[0].processes->end(), [&trainer](const Process& p) { return p.pid == trainer.pid(); }));
}

TEST_P(EveryShell, AtTheEndOfInputNothingStays) {
  dir_.script("bin/nvidia-smi", "sleep 600");
  std::filesystem::create_directories(dir_.path("run"));
  Shell shell(command_, {"PATH=" + dir_.path("bin") + ":/usr/bin:/bin"});
  const auto probe = ProbeConversation::make({job()}, 3);
  probe->ask({});
  shell.pump(*probe, Seconds(20), [&shell] { return alive_in_session(shell.pid()) > 2; });
  const pid_t leader = shell.pid();
  shell.close_input();
  EXPECT_TRUE(shell.ended(Seconds(20)));
  EXPECT_TRUE(eventually(Seconds(10), [leader] { return alive_in_session(leader) == 0; })) << alive_in_session(leader);
}

TEST_P(EveryShell, NoiseBeforeTheStartDoesNoHarm) {
  dir_.write("run/a", "1");
  std::vector<std::string> command = command_;
  std::string start;
  for (const auto& word : command) start += " " + word;
  // A start-up file that prints, leaves a line open, imitates the announcement and sets what could mislead.
  const std::string rc =
      "echo motd; echo 'TV1 READY 2 pid=1'; IFS=abc; export IFS; LC_ALL=xx; export LC_ALL; read line; printf 'no newline'; exec" + start;
  Shell shell({"/bin/bash", "-c", rc});
  if (shell_command("bash").empty()) GTEST_SKIP() << "bash is not installed";
  const auto probe = ProbeConversation::make({job()}, 4);
  const auto seen = shell.look(*probe);
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_TRUE(seen[0].files);
  EXPECT_EQ(seen[0].files->entries.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Installed, EveryShell, ::testing::Values("sh", "dash", "bash", "busybox", "mksh", "yash"),
                         [](const auto& shell) { return shell.param; });

}  // namespace
}  // namespace trainvigil
