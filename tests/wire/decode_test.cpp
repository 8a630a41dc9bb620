// The decoders one by one: real outputs, gaps, faults, hostile bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wire/frame.hpp"
#include "core/wire/gpu.hpp"
#include "core/wire/kernel.hpp"
#include "core/wire/listing.hpp"
#include "core/wire/log_view.hpp"
#include "core/wire/pattern.hpp"
#include "core/wire/proc.hpp"
#include "core/wire/state_files.hpp"
#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Text, WordsOfRequestsHoldNothingAShellOrALineCouldMistake) {
  EXPECT_EQ(request_word("/data/run-1/a_b.pt"), "/data/run-1/a_b.pt");
  EXPECT_EQ(request_word(""), "-");
  EXPECT_EQ(request_word("-"), "\\0055");
  EXPECT_EQ(request_word("a b\n'$\xff*"), "a\\0040b\\0012\\0047\\0044\\0377\\0052");
}

TEST(Text, CksumIsThatOfPosix) {
  Cksum sum;  // printf 'hello\n' | cksum
  sum.add("hel");
  sum.add("lo\n");
  EXPECT_EQ(sum.text(), "3015617425:6");
  EXPECT_EQ(Cksum().text(), "4294967295:0");
}

TEST(Text, Encodings) {
  EXPECT_EQ(decode_base64("aGVs\nbG8="), "hello");
  EXPECT_EQ(decode_base64("=!?"), "");
  EXPECT_EQ(decode_hex(" 68 65\n6C 6c 6f 7"), "hello");
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(to_integer("12x"), std::nullopt);
  EXPECT_EQ(to_integer(""), std::nullopt);
  EXPECT_EQ(to_integer("99999999999999999999"), std::nullopt);
  EXPECT_EQ(to_number("1.5"), 1.5);
  EXPECT_EQ(to_number("nan"), std::nullopt);
  EXPECT_EQ(to_number("inf"), std::nullopt);
}

TEST(Frame, LinesAreTheSameWhateverThePieces) {
  const std::string stream = "one\n\ntwo\nthree";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    LineCutter cutter;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < stream.size(); at += size)
      cutter.feed(std::string_view(stream).substr(at, size), [&lines](std::string_view l) { lines.emplace_back(l); });
    EXPECT_THAT(lines, ElementsAre("one", "", "two"));
  }
}

TEST(Frame, AnEndlessLineIsDroppedAndTheNextOneRead) {
  LineCutter cutter;
  std::vector<std::string> lines;
  const auto keep = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (int i = 0; i < 100; ++i) cutter.feed(std::string(4096, 'x'), keep);
  cutter.feed("end of it\nnext\n", keep);
  EXPECT_THAT(lines, ElementsAre("next"));
}

TEST(Frame, RecordsAreRecognisedByTheirNumber) {
  const auto record = parse_record("0000002a hello");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->seq, 42U);
  EXPECT_EQ(record->text, "hello");
  EXPECT_EQ(parse_record("0000002a.ok 1 2")->kind, RecordKind::end);
  for (const auto* noise : {"", "0000002a", "000002a hello", "0000002g hello", "Last login: today", "0000002a?x", "-000002a x"})
    EXPECT_FALSE(parse_record(noise)) << noise;
}

TEST(Frame, AnAnswerIsBounded) {
  Answer answer;
  const std::string text(4000, 'x');
  for (int i = 0; i < 2000; ++i) answer.add({1, RecordKind::line, text});
  EXPECT_TRUE(answer.cut);
  EXPECT_LE(answer.lines.size() * 4000, Answer::kMostBytes);
}

TEST(Proc, TheNameMayHoldAnything) {
  const std::string fields = "S 1 4242 4242 0 -1 4194560 1 2 3 4 1500 250 9 9 20 0 57 0 123456 1000000 2048 184467";
  const auto stat = parse_stat("4242 (py) S 1 (x\n) Z 9) " + fields);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "py) S 1 (x\n) Z 9");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->cpu_ticks, 1750);
  EXPECT_EQ(stat->threads, 57);
  EXPECT_EQ(stat->start_ticks, 123456);
  EXPECT_EQ(stat->rss_pages, 2048);
  for (const auto* broken : {"", "1", "1 (a", "1 (a) ", "1 (a) S 1", ") (", "x (a) S 1 2 3"}) EXPECT_FALSE(parse_stat(broken)) << broken;
}

TEST(Proc, ANameWithANewlineCanNotForgeAnotherProcess) {
  const std::string fields = ") S 1 7 7 0 -1 0 1 2 3 4 15 25 9 9 20 0 1 0 99 1000 20 18";
  const auto facts = parse_process_facts({"now:1764422464.900000000", "/proc/uptime:86400.50 1", "/proc/loadavg:3.10 1 1 1/2 3",
                                          "/proc/7/stat:7 (evil", "/proc/7/stat:8 (fake" + fields, "/proc/7/io:rchar: 100",
                                          "/proc/7/io:read_bytes: 300", "/proc/7/io:wchar: 5", "/proc/7/io:write_bytes: 0"});
  EXPECT_EQ(facts.now, 1764422464.9);
  EXPECT_EQ(facts.load1, 3.1);
  ASSERT_EQ(facts.stats.size(), 1U);
  EXPECT_EQ(facts.stats.at(7).comm, "evil\n8 (fake");
  EXPECT_EQ(facts.io.at(7).read_bytes, 300);
  EXPECT_EQ(facts.io.at(7).write_bytes, 5);
}

TEST(Proc, ADateWithoutFractionsStillTellsTheTime) {
  EXPECT_EQ(parse_process_facts({"now:1764422464.%N"}).now, 1764422464.0);
  EXPECT_EQ(parse_process_facts({"now:"}).now, std::nullopt);
}

TEST(Proc, ScansGiveParentsOwnersAndCommandLines) {
  const auto scan = parse_scan({"last:5000 0", "/proc/12/status:PPid:\t1", "/proc/12/status:Uid:\t0\t1000\t0\t0",
                                std::string("/proc/12/cmdline:/opt/my python\x01-c\x01") + "a", "/proc/12/cmdline:b\x01", "/proc/x/cmdline:no",
                                "/proc/13", "end:"});
  EXPECT_TRUE(scan.full);
  EXPECT_EQ(scan.last_pid, 5000);
  ASSERT_EQ(scan.found.size(), 1U);
  EXPECT_EQ(scan.found.at(12).ppid, 1);
  EXPECT_EQ(scan.found.at(12).uid, 1000);
  EXPECT_EQ(scan.found.at(12).argv0, "/opt/my python");
  EXPECT_EQ(scan.found.at(12).cmdline, "/opt/my python -c a\nb");
}

TEST(PatternMatching, ExtendedExpressionsOnTheWholeLine) {
  EXPECT_TRUE(Pattern("04_train\\.py|other").matches("python -u 04_train.py --x"));
  EXPECT_FALSE(Pattern("^train").matches("python train"));
  EXPECT_FALSE(Pattern("((").matches("(("));
  EXPECT_GT(Pattern("run_llama").likeness("python Train_LLaMA.py"), 0U);
  EXPECT_EQ(Pattern("run_llama").likeness("sshd"), 0U);
}

TEST(PatternMatching, WhatStartsAnotherWatcherIsNoneOfTheJobs) {
  for (const auto* line : {"timeout 9m trainvigil wait gpu1 --process 04_train", "sudo /usr/local/bin/trainvigil run", "trainvigil"})
    EXPECT_TRUE(starts_a_watcher(line)) << line;
  for (const auto* line : {"python /home/trainvigil/04_train.py", "bash trainvigil.sh 04_train", "", " "})
    EXPECT_FALSE(starts_a_watcher(line)) << line;
}

TEST(PatternMatching, OnlookersAreKnownByTheirProgram) {
  for (const auto* name : {"vim", "/usr/bin/vim.basic", "tail", "/usr/bin/less", "sshd: me@notty", "-view", "trainvigil", "/usr/sbin/sshd", "grep"})
    EXPECT_TRUE(is_onlooker(name)) << name;
  for (const auto* name : {"python", "/bin/bash", "sudo", "tmux", "torchrun", "/home/tail/python", ""}) EXPECT_FALSE(is_onlooker(name)) << name;
}

GpuAnswer rows(const std::vector<std::string>& text, const std::vector<std::string>& fields) {
  std::vector<std::string> lines;
  for (const auto& row : text) lines.push_back("row:" + row);
  return parse_gpu_answer(lines, fields);
}

TEST(GpuRows, RealOutputsWithUnits) {
  const std::vector<std::string> fields{"index", "memory.used", "utilization.gpu"};
  const auto answer = rows({"0, 24875 MiB, 100 %", "7, 7433 MiB, 62 %", "rc:0"}, fields);
  ASSERT_EQ(answer.gpus.size(), 2U);
  EXPECT_EQ(answer.gpus[1].index, 7);
  EXPECT_EQ(answer.gpus[1].mem_used_mib, 7433);
  EXPECT_EQ(answer.gpus[1].util_pct, 62.0);
  EXPECT_FALSE(answer.exit);
  EXPECT_FALSE(answer.error);
}

TEST(GpuRows, WhatIsNotToldIsAbsentAndNeverZero) {
  const std::vector<std::string> fields{"index", "utilization.gpu", "memory.used", "power.draw", "clocks.sm", "temperature.gpu"};
  for (const auto* gap : {"[N/A]", "N/A", "[Not Supported]", "Not Supported", "[Insufficient Permissions]", "[Unknown Error]", ""}) {
    const auto answer = rows({std::string("0, ") + gap + ", " + gap + ", " + gap + ", " + gap + ", 38"}, fields);
    ASSERT_EQ(answer.gpus.size(), 1U) << gap;
    EXPECT_FALSE(answer.gpus[0].util_pct || answer.gpus[0].mem_used_mib || answer.gpus[0].power_w || answer.gpus[0].sm_mhz) << gap;
    EXPECT_EQ(answer.gpus[0].temp_c, 38.0);
    EXPECT_FALSE(answer.gpus[0].fault) << gap;
  }
}

TEST(GpuRows, FaultsAreKeptWordForWord) {
  const std::vector<std::string> fields{"index", "temperature.gpu", "utilization.gpu", "memory.used"};
  EXPECT_EQ(rows({"0, [GPU requires reset], [GPU requires reset], 0 MiB"}, fields).gpus[0].fault, "GPU requires reset");
  EXPECT_EQ(rows({"0, [GPU is lost], 1, 0"}, fields).gpus[0].fault, "GPU is lost");
  EXPECT_EQ(rows({"0, ERR!, 1, 0"}, fields).gpus[0].fault, "ERR!");
}

TEST(GpuRows, MessagesAreNoRows) {
  const std::vector<std::string> fields{"index", "memory.used", "utilization.gpu"};
  for (const auto* text : {"No devices were found",
                           "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is "
                           "installed and running.",
                           "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost. Reboot the system to recover this GPU",
                           "a, b, c", "-1, 2, 3", "0, 1"}) {
    const auto answer = rows({text, "rc:255"}, fields);
    EXPECT_TRUE(answer.gpus.empty()) << text;
    EXPECT_EQ(answer.error, text);
    EXPECT_EQ(answer.exit, 255);
  }
  EXPECT_EQ(rows({"Field \"power.draw\" is not a valid field to query."}, fields).refused_field, "power.draw");
}

TEST(GpuRows, WithoutAnAnswerNothingIsKnownOfProcesses) {
  const std::vector<std::string> fields{"index", "uuid"};
  auto answer = parse_gpu_answer({"row:0, GPU-a", "app:GPU-a, 17, 100", "app:rc:0"}, fields);
  EXPECT_THAT(answer.gpus.at(0).pids.value(), ElementsAre(17));
  answer = parse_gpu_answer({"row:0, GPU-a", "app:failed", "app:rc:9"}, fields);
  EXPECT_FALSE(answer.gpus.at(0).pids);
}

TEST(Listing, NamesWithNewlinesAreWholeAndForgeNothing) {
  const auto walk = parse_walk({"~1d 4096 5.5 0", "~1f 7 6.25 0/a", "f 9 9 forged", "", "~1l 1 7.0 last", "~1t 0", "two", "~1x 0"}, "~1");
  ASSERT_EQ(walk.entries.size(), 3U);
  EXPECT_EQ(walk.entries[1].path, "0/a\nf 9 9 forged\n");
  EXPECT_EQ(walk.entries[1].bytes, 7);
  EXPECT_EQ(walk.entries[1].mtime, host_time(6.25));
  EXPECT_EQ(walk.entries[0].bytes, std::nullopt);
  EXPECT_EQ(walk.entries[2].target, "0\ntwo");
  EXPECT_TRUE(walk.finished);
}

TEST(Listing, TheWayWithoutPrintf) {
  const auto walk = parse_walk({"~141ed 4096 5 ./0", "~181a4 7 6 ./0/a", "~1a1ff 1 7 ./last", "~1x 0", "~1L 0 0 ./last", "~1t 0"}, "~1");
  ASSERT_EQ(walk.entries.size(), 3U);
  EXPECT_EQ(walk.entries[1].path, "0/a");
  EXPECT_EQ(walk.entries[1].type, FileType::file);
  EXPECT_EQ(walk.entries[2].type, FileType::link);
  EXPECT_EQ(walk.entries[2].mtime, host_time(7));
  EXPECT_EQ(walk.entries[2].target, "0");
}

TEST(Listing, AWalkThatWasKilledIsNotFinished) {
  EXPECT_FALSE(parse_walk({"~1f 7 6.25 a", "~1x 143"}, "~1").finished);
  EXPECT_FALSE(parse_walk({"~1f 7 6.25 a"}, "~1").finished);
}

TEST(Listing, SumsAreThoseOfItsEntries) {
  const auto walk =
      parse_walk({"~1d 4096 5.5 0", "~1n 0", "~1f 7 6.25 0/a", "b", "~1l 1 7.9 last", "~1t 0", "~1s 3 7 18 10 9.5 2 1 m 4.250", "~1x 0"}, "~1");
  ASSERT_TRUE(walk.summary);
  Sums sums;
  for (const FileEntry& entry : walk.entries) sums.add(entry);
  EXPECT_EQ(sums, walk.summary->sums);
  EXPECT_EQ(walk.summary->last_change, 9.5);
  EXPECT_EQ(walk.summary->left_out, 2);
  EXPECT_TRUE(walk.summary->over);
  EXPECT_EQ(walk.summary->lean, "m");
  EXPECT_EQ(walk.summary->floor, "4.250");
  EXPECT_EQ(walk.listed_anew, std::vector<std::string>{"0"});
  for (const FileEntry& entry : walk.entries) sums.remove(entry);
  EXPECT_EQ(sums, Sums{});
  EXPECT_FALSE(parse_walk({"~1s 3 7 18", "~1x 0"}, "~1").summary);
}

TEST(KernelLog, TimesOfTheThreeSources) {
  auto events = parse_kernel({"source:dmesg", "[  100.500000] Out of memory: Killed process 4242 (python) total-vm:1kB",
                              "[200.0] NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.", "~1x 0"},
                             1000.0);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, "oom-kill");
  EXPECT_EQ(events[0].time, host_time(1100.5));
  EXPECT_EQ(events[1].kind, "xid");
  events = parse_kernel(
      {"source:kern.log", "2026-11-29T13:00:00.5+01:00 gpu1 kernel: [100.5] oom-kill:constraint", "Nov 29 13:00:00 gpu1 kernel: [1.0] Out of memory"},
      1000.0);
  EXPECT_EQ(events.at(0).time, host_time(1795953600.5));
  EXPECT_EQ(events.at(1).time, std::nullopt) << "no year, and the count may be of an earlier boot";
  events = parse_kernel({"source:journal", "1764422465.25 gpu1 kernel: NVRM: Xid"}, std::nullopt);
  EXPECT_EQ(events.at(0).time, host_time(1764422465.25));
}

TEST(Disks, BothWays) {
  auto disks = parse_disks({"shm:4096 100 50 7", "disk:4096 1000 500 0"});
  EXPECT_EQ(disks.shm->free_inodes, 7);
  EXPECT_EQ(disks.disk->total_bytes, 4096000);
  EXPECT_EQ(disks.disk->free_bytes, 2048000);
  EXPECT_EQ(disks.disk->free_inodes, std::nullopt) << "a file system that does not count them";
  disks = parse_disks({"df:my nfs host:/x y 2000 1500 500 75% /mnt/my data", "dfi:my nfs host:/x y 100 40 60 40% /mnt/my data"});
  EXPECT_EQ(disks.disk->free_bytes, 512000);
  EXPECT_EQ(disks.disk->free_inodes, 60);
  EXPECT_FALSE(parse_disks({"disk:x", "df:", "dfi:-"}).disk);
}

TEST(StateFiles, WhichAreReadAndHowMuch) {
  EXPECT_TRUE(state_file_ranges("checkpoint-5/trainer_state.json", 100));
  EXPECT_TRUE(state_file_ranges("latest_checkpointed_iteration.txt", 3));
  EXPECT_TRUE(state_file_ranges("checkpoint", 300));
  EXPECT_FALSE(state_file_ranges("latest.pt", 5'000'000'000)) << "a checkpoint, not a pointer";
  EXPECT_FALSE(state_file_ranges("checkpoint", 5'000'000));
  EXPECT_FALSE(state_file_ranges("model.bin", 10));
  EXPECT_FALSE(state_file_ranges("latest", 0));
  EXPECT_EQ(state_file_ranges("a/trainer_state.json", 1'000'000)->size(), 2U);
}

TEST(StateFiles, LinesBeginWhole) {
  EXPECT_EQ(state_file_text("log.txt", 100'000, {{95'904, "half a line\n{\"epoch\": 3}\n"}}), "{\"epoch\": 3}\n");
  EXPECT_EQ(state_file_text("results.csv", 100'000, {{0, "epoch,loss\n1,2\n"}, {95'904, "9,1\n40,1\n41,1\n"}}), "epoch,loss\n40,1\n41,1\n");
  EXPECT_EQ(state_file_text("results.csv", 100'000, {}), "");
  EXPECT_EQ(state_file_text("a/trainer_state.json", 100'000, {{0, "\xff{"}, {95'904, "}"}}), "\xff{");
}

}  // namespace
}  // namespace trainvigil::wire
