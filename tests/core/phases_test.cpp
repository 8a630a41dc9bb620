// The phases of the contract, each reached by the plain case and left alone by its trap.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

TEST(Phases, WaitingNamesTheNearestCommandLine) {
  Scenario s;
  Observation o = s.observe();
  Process near;
  near.pid = 7;
  near.cmdline = "python trian.py";
  o.near_misses = {near};
  const Verdict v = advance(s.job, s.prior, s.state, o);
  EXPECT_EQ(v.phase, Phase::waiting);
  EXPECT_EQ(v.level, Level::ok);
  EXPECT_NE(v.summary.find("python trian.py"), std::string::npos);
}

TEST(Phases, NeverStartedOnlyWhenAsked) {
  Scenario s;
  s.looks(3600);
  EXPECT_FALSE(s.found("never-started"));
  s.job.start_within = Seconds{600};
  s.look();
  EXPECT_TRUE(s.found("never-started"));
  EXPECT_EQ(s.last.level, Level::warning);
}

TEST(Phases, StartingEndsWithGpuWork) {
  Scenario s;
  s.look();
  s.start();
  s.hold();
  EXPECT_EQ(s.looks(120).phase, Phase::starting);
  s.work();
  EXPECT_EQ(s.look().phase, Phase::training);
}

TEST(Phases, ResumeThatSkipsBatchesForHoursStaysStarting) {
  Scenario s;
  s.look();
  s.start();
  s.hold();
  EXPECT_EQ(s.looks(5 * 3600).phase, Phase::starting);
  EXPECT_EQ(s.last.level, Level::ok);
  EXPECT_FALSE(s.found("start-too-long"));
}

TEST(Phases, StartWithoutCpuAndIoIsTooLong) {
  Scenario s;
  s.look();
  s.start();
  s.hold();
  s.look();
  s.cpu_rate = 0;
  s.io_rate = 0;
  s.looks(1500);
  EXPECT_FALSE(s.found("start-too-long"));
  s.looks(600);
  EXPECT_TRUE(s.found("start-too-long"));
  EXPECT_EQ(s.last.phase, Phase::starting);
}

TEST(Phases, CpuJobStartsToTrainByItsCpu) {
  Scenario s;
  s.look();
  s.start();
  s.gpus.clear();
  s.look();
  s.look();
  EXPECT_EQ(s.look().phase, Phase::training);
}

TEST(Phases, KilledIsCrashedAtTheSecondLookOnly) {
  Scenario s;
  s.healthy(2);
  s.alive = false;
  const Verdict first = s.look();
  EXPECT_EQ(first.phase, Phase::training);
  ASSERT_TRUE(first.look_again_in.has_value());
  EXPECT_LE(first.look_again_in->count(), 10);
  const Verdict second = s.look(5);
  EXPECT_EQ(second.phase, Phase::crashed);
  EXPECT_EQ(second.level, Level::critical);
  EXPECT_FALSE(second.cause.has_value());
  ASSERT_TRUE(second.last_good.has_value());
  EXPECT_EQ(second.last_good->path, "1");
}

TEST(Phases, OneMissedProcessTableRowIsNoCrash) {
  Scenario s;
  s.healthy(1);
  s.alive = false;
  s.look();
  s.alive = true;
  EXPECT_EQ(s.look(5).phase, Phase::training);
  EXPECT_EQ(s.last.level, Level::ok);
}

TEST(Phases, AllUnitsDoneIsCompletedWhateverTheProcessDoes) {
  Scenario s;
  s.healthy(5);
  EXPECT_EQ(s.last.phase, Phase::completed);
  EXPECT_EQ(s.last.progress.fraction, 1.0);
  s.cpu_rate = 0;
  s.hold();
  s.looks(240);
  EXPECT_FALSE(s.found("finished-but-alive"));
  s.looks(120);
  EXPECT_TRUE(s.found("finished-but-alive"));
  EXPECT_EQ(s.last.level, Level::warning);
  s.alive = false;
  s.look();
  s.look(5);
  EXPECT_EQ(s.last.phase, Phase::completed);
}

TEST(Phases, GoneWithoutTotalIsEnded) {
  Scenario s;
  s.job.epochs.reset();
  s.healthy(2);
  s.alive = false;
  s.look();
  EXPECT_EQ(s.look(5).phase, Phase::ended);
  EXPECT_EQ(s.last.level, Level::warning);
}

TEST(Phases, NeverSeenAliveWithSomeUnitsDoneIsEnded) {
  Scenario s;
  s.epoch(0, 4000);
  s.epoch(1, 2000);
  EXPECT_EQ(s.look().phase, Phase::ended);
}

TEST(Phases, NeverSeenAliveWithAllUnitsDoneIsCompleted) {
  Scenario s;
  for (int n = 0; n < 5; ++n) s.epoch(n, 4000 - 600 * n);
  EXPECT_EQ(s.look().phase, Phase::completed);
}

TEST(Phases, EndMarkBelowTheTotalIsCompletedEarly) {
  Scenario s;
  s.job.log = "/log";
  s.job.end_mark = "stopped early";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(2);
  s.log = LogFacts{200, host_time(s.now), "epoch 2\ntraining stopped early\n"};
  s.look();
  EXPECT_EQ(s.last.phase, Phase::training) << "the listing may be older than the log: it gets another look";
  EXPECT_TRUE(s.last.look_again_in);
  s.look(2);
  EXPECT_EQ(s.last.phase, Phase::completed);
  EXPECT_TRUE(s.found("ended-early"));
  EXPECT_EQ(s.last.level, Level::warning);
}

TEST(Phases, EndMarkThatIsReadBeforeTheLastSaveIsListedIsNoEarlyEnd) {
  Scenario s;
  s.job.log = "/log";
  s.job.end_mark = "training finished";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(4);
  s.looks(570);
  s.log = LogFacts{200, host_time(s.now), "training finished\n"};
  s.look();
  EXPECT_FALSE(s.found("ended-early"));
  s.epoch(4, 1);
  s.look(2);
  EXPECT_EQ(s.last.phase, Phase::completed);
  EXPECT_FALSE(s.found("ended-early"));
}

TEST(Phases, EndMarkOfAnEarlierAttemptInAnAppendedLogProvesNothing) {
  Scenario s;
  s.job.log = "/log";
  s.job.end_mark = "stopped early";
  s.log = LogFacts{5000, host_time(s.now - 86400), "training stopped early\n"};
  s.look();
  s.start();
  s.work();
  s.log = LogFacts{5020, host_time(s.now + 30), "training stopped early\nstep 1 loss 3\n"};
  s.look();
  s.look();
  EXPECT_EQ(s.last.phase, Phase::training);
}

TEST(Phases, SavingWinsWhateverTheGpuDoes) {
  Scenario s;
  s.healthy(1);
  s.spin();
  s.cpu_rate = 0.5;
  s.put("1/config.json", 1400, 0, Integrity::unchecked);
  s.put("1/model.safetensors", 100'000'000, 0, Integrity::truncated);
  s.look();
  s.listing.entries.back().bytes = 900'000'000;
  s.listing.entries.back().mtime = host_time(s.now + 30);
  EXPECT_EQ(s.look().phase, Phase::saving);
  EXPECT_EQ(s.last.level, Level::ok);
  EXPECT_NE(s.last.summary.find("a checkpoint is being written (19 %)"), std::string::npos) << s.last.summary;
}

TEST(Phases, DeletingTheOnlyCheckpointBeforeTheNewOneIsWholeIsWarnedOf) {
  Scenario s;
  s.healthy(1);
  EXPECT_FALSE(s.found("no-complete-checkpoint"));
  s.listing.entries.clear();
  s.put("1/config.json", 1400, 0, Integrity::unchecked);
  s.put("1/model.safetensors", 100'000'000, 0, Integrity::truncated);
  s.look();
  EXPECT_TRUE(s.found("no-complete-checkpoint"));
  EXPECT_EQ(s.last.level, Level::warning);
  EXPECT_EQ(s.last.phase, Phase::saving);
  s.listing.entries.clear();
  s.epoch(1);
  s.look();
  EXPECT_FALSE(s.found("no-complete-checkpoint"));
}

TEST(Phases, AFirstSaveThatNothingCertifiesIsWaitedForAndIsNoDamage) {
  Scenario s;
  s.look();
  s.start();
  s.work();
  s.looks(600);
  s.put("0/config.json", 1400, 50, Integrity::unchecked);
  s.put("0/model.safetensors", 100'000'000, 2);
  s.look(1);
  EXPECT_EQ(s.last.phase, Phase::saving);
  for (int i = 0; i < 10; ++i) {
    s.look();
    EXPECT_FALSE(s.found("checkpoint-partial")) << i;
  }
  ASSERT_TRUE(s.last.last_good);
  EXPECT_EQ(s.last.last_good->path, "0");
  EXPECT_EQ(s.last.phase, Phase::training);
}

TEST(Phases, PathThatIsNoDirectoryIsAFinding) {
  Scenario s;
  s.files_error = "Not a directory";
  s.look();
  EXPECT_TRUE(s.found("directory-unreadable"));
  EXPECT_EQ(s.last.level, Level::warning);
}

TEST(Phases, UnreachableIsNeverCrashedAndKeepsTheLast) {
  Scenario s;
  s.healthy(2);
  const auto before = s.last;
  const Verdict v = s.outage(1200);
  EXPECT_EQ(v.phase, Phase::unreachable);
  EXPECT_EQ(v.level, Level::unknown);
  EXPECT_EQ(v.cause, "connect-failed");
  ASSERT_TRUE(v.last.has_value());
  EXPECT_EQ(v.last->phase, Phase::training);
  EXPECT_EQ(v.progress.done, before.progress.done);
  EXPECT_FALSE(v.gpus.has_value());
  EXPECT_FALSE(v.processes.has_value());
  EXPECT_FALSE(v.host_time.has_value());
  EXPECT_EQ(s.look().phase, Phase::training);
}

TEST(Phases, CrashDuringAnOutageIsFoundAtTheFirstLooksAfterIt) {
  Scenario s;
  s.healthy(2);
  s.outage(600);
  s.alive = false;
  s.look();
  EXPECT_EQ(s.look(5).phase, Phase::crashed);
}

TEST(Phases, AnUnreadProcessTableMovesNoPhaseAndIsNoCrash) {
  Scenario s;
  s.healthy(1);
  s.processes_read = false;
  s.look();
  EXPECT_EQ(s.last.phase, Phase::training);
  s.looks(300);
  EXPECT_NE(s.last.phase, Phase::crashed);
  EXPECT_FALSE(s.last.processes.has_value());
  EXPECT_TRUE(s.found("probe-partial"));
}

TEST(Phases, BlindFirstLookIsUnknownAndNotWaiting) {
  Scenario s;
  s.processes_read = false;
  EXPECT_EQ(s.look().phase, Phase::unknown);
  EXPECT_EQ(s.last.level, Level::unknown);
}

TEST(Phases, EmptyTableWhoseReadingWasDeniedIsNoCrash) {
  Scenario s;
  s.healthy(1);
  s.alive = false;
  s.sensors["process"] = {SensorStatus::denied, std::nullopt, std::nullopt};
  s.looks(60);
  EXPECT_EQ(s.last.phase, Phase::training);
}

TEST(Phases, NothingReadableForLongIsUnknownAndSaysWhatWasLast) {
  Scenario s;
  s.healthy(1);
  s.processes_read = false;
  s.gpus_read = false;
  s.looks(300);
  EXPECT_EQ(s.last.phase, Phase::unknown);
  EXPECT_EQ(s.last.level, Level::unknown);
  ASSERT_TRUE(s.last.last.has_value());
  EXPECT_EQ(s.last.last->phase, Phase::training);
}

TEST(Phases, CheckpointsWithoutAMatchingProcessAreAContradiction) {
  Scenario s;
  s.look();
  s.epoch(0);
  s.look();
  EXPECT_EQ(s.last.phase, Phase::unknown);
  EXPECT_EQ(s.last.confidence, Confidence::low);
}

TEST(Phases, DirectoryAloneTrainsInItsRhythmAndEndsWithoutAlarm) {
  Scenario s;
  s.job.process.reset();
  s.processes_read = false;
  s.gpus_read = false;
  for (int n = 0; n < 3; ++n) {
    s.looks(600);
    s.epoch(n);
    s.look();
  }
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_EQ(s.last.level, Level::ok);
  EXPECT_FALSE(s.found("probe-partial"));
  ASSERT_TRUE(s.last.eta && s.last.eta->end.p50);
  s.looks(7200);
  EXPECT_EQ(s.last.phase, Phase::ended);
}

TEST(Phases, PreemptedIsWaitingWithoutAlarm) {
  Scenario s;
  s.job.log = "/log";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(1);
  s.alive = false;
  s.log = LogFacts{200, host_time(s.now), "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***\n"};
  s.look();
  s.look(5);
  EXPECT_EQ(s.last.phase, Phase::waiting);
  EXPECT_EQ(s.last.level, Level::ok);
  EXPECT_TRUE(s.found("preempted"));
}

}  // namespace
}  // namespace trainvigil::test
