// What people and monitoring servers see of a verdict, word for word.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

constexpr double kNow = 1795958495;  // 2026-11-29 14:21:35 CET

Verdict training() {
  Verdict v;
  v.time = watcher_time(kNow);
  v.host_time = host_time(kNow - 1);
  v.job = "eagle3-10k";
  v.host = "gpu1";
  v.run = "r";
  v.phase = Phase::training;
  v.confidence = Confidence::high;
  v.since = watcher_time(kNow - 4500);
  v.summary = "epoch 2 of 5 is running and everything moves";
  v.evidence = {{"checkpoint", "checkpoint", "fresh", "0/ complete, 4.7 GB, 35 s ago"}, {"gpu", "gpu", "work", "99 % at 380 W"}};
  v.findings = {"log-silent"};
  v.progress = {Unit::epoch, 1, 5, 0.203, true};
  v.eta = Eta{{watcher_time(kNow + 4120), watcher_time(kNow + 7560), watcher_time(kNow + 15300)},
              {std::nullopt, watcher_time(kNow + 60), std::nullopt},
              "one interval"};
  Checkpoint c;
  c.path = "0";
  c.bytes = 4'700'000'000;
  c.modified = host_time(kNow - 36);
  v.checkpoint = v.last_good = c;
  return v;
}

Verdict crashed() {
  Verdict v = training();
  v.phase = Phase::crashed;
  v.level = Level::critical;
  v.cause = "oom-kill";
  v.summary = "the process is gone";
  v.progress.fraction = 0.4;
  v.eta.reset();
  Checkpoint half;
  half.path = "1";
  half.state = CheckpointState::partial;
  half.bytes = 1'000'000;
  half.why = "a shard is missing";
  half.modified = host_time(kNow - 3600);
  v.checkpoint = half;
  v.findings = {"checkpoint-partial"};
  return v;
}

class Formats : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "CET-1", 1);
    tzset();
  }
  void TearDown() override {
    setenv("TZ", "UTC0", 1);
    tzset();
  }
};

TEST_F(Formats, TextOfAHealthyRun) {
  EXPECT_EQ(format_text(training(), {}),
            "eagle3-10k on gpu1: epoch 2 of 5 is running and everything moves\n"
            "  [#####......................] 20 %, 1 of 5 epochs (the running one estimated)\n"
            "  end       16:27 (15:30 to 18:36) CET, in 2 h 06 min\n"
            "  next save about 14:22 CET, in 60 s\n"
            "  basis     one interval\n"
            "  phase     training since 13:06 CET (1 h 15 min), ok, confidence high\n"
            "  checkpoint fresh 0/ complete, 4.7 GB, 35 s ago\n"
            "  gpu        work  99 % at 380 W\n"
            "  findings  log-silent\n");
}

TEST_F(Formats, TextOfACrashNamesWhatToResumeFrom) {
  const std::string text = format_text(crashed(), {});
  EXPECT_NE(text.find("cause oom-kill"), std::string::npos) << text;
  EXPECT_NE(text.find("  newest    1 partial, 1.0 MB, 1 h 00 min old (a shard is missing)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  last good 0 complete, 4.7 GB, 35 s old\n"), std::string::npos) << text;
}

TEST_F(Formats, ColoursOnlyWhenAsked) {
  EXPECT_EQ(format_text(crashed(), {}).find('\x1b'), std::string::npos);
  TextStyle style;
  style.color = true;
  EXPECT_EQ(format_text(crashed(), style).rfind("\x1b[1;31meagle3-10k on gpu1", 0), 0U);
}

TEST_F(Formats, TextKeepsToTheWidth) {
  Verdict v = crashed();
  v.summary = "a sentence that is a good deal longer than the sixty columns of a small terminal and has to be broken between words";
  v.evidence.push_back({"log", "log", "traceback", "several words that do not fit beside the signal either and go on below, aligned with the first"});
  TextStyle style;
  style.width = 60;
  std::istringstream lines(format_text(v, style));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60U) << line;
}

TEST_F(Formats, NothingIsKnownAndNothingIsInvented) {
  Verdict v;
  v.job = "j";
  v.host = "h";
  v.phase = Phase::unreachable;
  v.level = Level::unknown;
  v.cause = "connect-failed";
  v.summary = "could not look";
  v.last = LastKnown{Phase::training, watcher_time(-60)};
  EXPECT_EQ(format_text(v, {}),
            "j on h: could not look\n"
            "  phase     unreachable, unknown, confidence low, cause connect-failed\n"
            "  last      training at 00:59 CET\n");
}

TEST_F(Formats, HostileNamesStayOnTheirLineAndMoveNothing) {
  Verdict v = training();
  v.job = "x\x1b[2J\ny|z";
  v.host = "h\r";
  v.summary = "bad \x1b]0;title\x07 | 'x'=1\nTRAINVIGIL OK";
  v.evidence = {{"a\tb", "c", "d\n",
                 "e\x9B"
                 "31m"}};
  v.findings = {"f\n"};
  v.checkpoint->path = v.last_good->path = "\xE2\x80\xAEtxt\x1b[A";
  v.checkpoint->path += "1";
  v.cause = "c\x08";
  const auto tame = [](const std::string& text, std::size_t lines) {
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == '\x7f'; }))
        << text;
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), lines) << text;
    EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
  };
  TextStyle wide;
  wide.width = 400;
  tame(format_text(v, wide), 10);
  tame(format_line(v), 0);
  tame(format_live(v, wide), 0);
  const std::string nagios = format_nagios({v});
  tame(nagios, 0);
  EXPECT_EQ(std::count(nagios.begin(), nagios.end(), '|'), 1) << nagios;
}

TEST_F(Formats, OneLine) {
  EXPECT_EQ(format_line(training()),
            "2026-11-29 14:21:35 CET  eagle3-10k on gpu1  ok  training  20 %  end 16:27 (15:30 to 18:36)  epoch 2 of 5 is running and everything "
            "moves  [log-silent]");
}

TEST_F(Formats, LiveLineIsNeverWiderThanTheTerminal) {
  TextStyle style;
  for (style.width = 10; style.width < 120; ++style.width) EXPECT_LT(format_live(training(), style).size(), static_cast<std::size_t>(style.width));
  style.width = 100;
  EXPECT_EQ(format_live(training(), style), "eagle3-10k on gpu1  training  [####................] 20 %  end 16:27 (15:30 to 18:36)  log-silent");
}

TEST_F(Formats, NagiosLine) {
  EXPECT_EQ(format_nagios({training()}),
            "TRAINVIGIL OK - eagle3-10k on gpu1: epoch 2 of 5 is running and everything moves | 'eagle3-10k progress'=20.3%;;;0;100 'eagle3-10k "
            "done'=1;;;0;5 "
            "'eagle3-10k remaining'=7560s;;;0 'eagle3-10k checkpoint age'=35s;;;0");
}

TEST_F(Formats, NagiosSaysWhatItWarnsOf) {
  Verdict v = training();
  v.level = Level::warning;
  v.findings = {"checkpoint-partial", "log-silent"};
  EXPECT_NE(format_nagios({v}).find("everything moves [checkpoint-partial, log-silent] |"), std::string::npos) << format_nagios({v});
}

TEST_F(Formats, NagiosWorstFirstAndUnknownBetweenOkAndWarning) {
  Verdict fine = training();
  fine.job = "fine";
  Verdict dark = training();
  dark.job = "dark";
  dark.level = Level::unknown;
  dark.summary = "could not look";
  Verdict dead = crashed();
  dead.job = "dead";
  const std::string line = format_nagios({fine, dark, dead});
  EXPECT_EQ(
      line.rfind("TRAINVIGIL CRITICAL - CRITICAL dead on gpu1: the process is gone; UNKNOWN dark on gpu1: could not look; OK fine on gpu1: ", 0), 0U)
      << line;
  EXPECT_EQ(format_nagios({fine, dark}).rfind("TRAINVIGIL UNKNOWN - ", 0), 0U);
  EXPECT_EQ(format_nagios({}), "TRAINVIGIL UNKNOWN - no job to look at");
}

TEST_F(Formats, AnUnknownNumberIsLeftOutNotZero) {
  Verdict v;
  v.job = "j";
  v.host = "h";
  v.summary = "s";
  EXPECT_EQ(format_nagios({v}), "TRAINVIGIL OK - j on h: s");
}

TEST_F(Formats, FullBarMeansTheEnd) {
  Verdict v = training();
  v.progress.fraction = 0.9999;
  EXPECT_NE(format_text(v, {}).find("99 %"), std::string::npos);
  EXPECT_NE(format_text(v, {}).find("#.]"), std::string::npos);
}

TEST_F(Formats, ARangeWithinAMinuteIsOneTime) {
  Verdict v = training();
  v.eta->end = {watcher_time(kNow + 60), watcher_time(kNow + 61), watcher_time(kNow + 62)};
  EXPECT_NE(format_text(v, {}).find("  end       14:22 CET, in 61 s\n"), std::string::npos) << format_text(v, {});
  EXPECT_NE(format_line(v).find("  end 14:22  epoch"), std::string::npos) << format_line(v);
}

TEST_F(Formats, ATotalAloneIsASentenceOfItsOwn) {
  Verdict v = training();
  v.progress = {Unit::epoch, std::nullopt, 5, std::nullopt, false};
  EXPECT_NE(format_text(v, {}).find("  progress  5 epochs in all, none counted yet\n"), std::string::npos) << format_text(v, {});
}

Verdict out_of_reach() {
  Verdict v;
  v.job = "j";
  v.host = "h";
  v.phase = Phase::unreachable;
  v.level = Level::unknown;
  v.cause = "host-key-changed";
  v.findings = {"host-key-changed"};
  v.summary = "unreachable: the key of the host is not the one on record";
  v.evidence = {{"reach", "host", "host-key-changed", "the host offers ED25519 SHA256:abc"}};
  v.remedy = "Find out why: ssh h";
  return v;
}

TEST_F(Formats, AHostOutOfReachIsToldOnceThenTheEvidenceThenTheRemedy) {
  EXPECT_EQ(format_text(out_of_reach(), {}),
            "j on h: unreachable: the key of the host is not the one on record\n"
            "  phase     unreachable, unknown, confidence low, cause host-key-changed\n"
            "  reach host-key-changed the host offers ED25519 SHA256:abc\n"
            "  remedy    Find out why: ssh h\n");
  EXPECT_EQ(
      format_nagios({out_of_reach()}),
      "TRAINVIGIL UNKNOWN - j on h: unreachable: the key of the host is not the one on record; the host offers ED25519 SHA256:abc. Find out why: "
      "ssh h");
  EXPECT_NE(format_json(out_of_reach()).find(R"("remedy":"Find out why: ssh h")"), std::string::npos);
  EXPECT_NE(format_json(training()).find(R"("remedy":null)"), std::string::npos);
}

TEST_F(Formats, WhatStandsEscapedInANameIsNotEscapedAgain) {
  Verdict v = training();
  v.job = "gpu1:lat\\xe9";  // the name of a directory that is no UTF-8, as it is made printable
  v.summary = "resume from \\xe9";
  const std::string json = format_json(v);
  EXPECT_NE(json.find(R"("job":"gpu1:lat\\xe9")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("summary":"resume from \\xe9")"), std::string::npos) << json;
  v.job = "raw\xE9";
  EXPECT_NE(format_json(v).find(R"("job":"raw\\xe9")"), std::string::npos);
}

}  // namespace
}  // namespace trainvigil
