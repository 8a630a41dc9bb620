// Standstill: never by one witness, never before the run's own rhythm is over, never missed when two agree.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

TEST(Stall, IdleGpuAndStillProcessAgree) {
  Scenario s;
  s.healthy(1);
  s.hold();
  s.cpu_rate = 0.002;
  s.io_rate = 0;
  s.looks(240);
  EXPECT_EQ(s.last.phase, Phase::training);
  s.looks(150);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_EQ(s.last.level, Level::critical);
  EXPECT_EQ(s.last.cause, "gpu-idle-held");
  EXPECT_EQ(s.last.confidence, Confidence::high);
}

TEST(Stall, SpinningCollectiveIsFoundAtFullUtilisation) {
  Scenario s;
  s.healthy(1);
  s.spin();
  s.io_rate = 0;
  s.looks(270);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_EQ(s.last.cause, "gpu-spin");
}

TEST(Stall, SplitGpusAreNamed) {
  Scenario s;
  s.healthy(1);
  s.gpus = {s.gpu(0, 0, 75, 0), s.gpu(1, 100, 92, 0), s.gpu(2, 100, 92, 0)};
  s.io_rate = 0;
  s.looks(270);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_EQ(s.last.cause, "gpu-split");
}

TEST(Stall, OneWitnessIsNotEnough) {
  Scenario gpu_only;
  gpu_only.healthy(1);
  gpu_only.hold();  // evaluation on the CPU
  gpu_only.looks(1800);
  EXPECT_NE(gpu_only.last.phase, Phase::stalled);
  EXPECT_TRUE(gpu_only.found("gpu-unused"));

  Scenario process_only;
  process_only.healthy(1);
  process_only.cpu_rate = 0;
  process_only.io_rate = 0;
  process_only.looks(1800);
  EXPECT_NE(process_only.last.phase, Phase::stalled);
}

TEST(Stall, StoppedProcessAloneSuffices) {
  Scenario s;
  s.healthy(1);
  s.gpus_read = false;
  s.process_state = 'T';
  s.cpu_rate = 0;
  s.io_rate = 0;
  s.looks(420);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_EQ(s.last.cause, "process-stopped");
}

TEST(Stall, GivenLimitReplacesTheLearnedOnes) {
  Scenario s;
  s.job.stall_after = Seconds{3};
  s.job.interval = Seconds{0.5};
  s.look();
  s.start();
  s.work();
  s.looks(10, 0.5);
  s.hold();
  s.cpu_rate = 0;
  s.io_rate = 0;
  s.looks(2, 0.5);
  EXPECT_EQ(s.last.phase, Phase::training);
  s.looks(3, 0.5);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

TEST(Stall, LimitGrowsWithTheRunsOwnQuietGaps) {
  Scenario s;
  s.healthy(1);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(210);  // a quiet gap that ends by itself
  s.work();
  s.cpu_rate = 1;
  s.io_rate = 4e6;
  s.looks(300);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(480);
  EXPECT_EQ(s.last.phase, Phase::training);
  s.looks(420);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

TEST(Stall, SaveThatStopsGrowingBecomesAStall) {
  Scenario s;
  s.healthy(1);
  s.hold();
  s.put("1/config.json", 1400, 0, Integrity::unchecked);
  s.put("1/model.safetensors", 300'000'000, 0, Integrity::truncated);
  s.cpu_rate = 0;
  s.io_rate = 0;
  s.look();
  EXPECT_EQ(s.last.phase, Phase::saving);
  s.looks(480);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_TRUE(s.found("checkpoint-partial"));
}

TEST(Stall, FailedLooksDoNotCountAsStandstill) {
  Scenario s;
  s.healthy(1);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.look();
  s.outage(3600);
  s.work();
  s.cpu_rate = 1;
  s.io_rate = 4e6;
  EXPECT_EQ(s.look().phase, Phase::training);
  EXPECT_EQ(s.last.level, Level::ok);
}

TEST(Stall, RecoveryNeedsProgressOrLastingMovement) {
  Scenario s;
  s.healthy(1);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(420);
  ASSERT_EQ(s.last.phase, Phase::stalled);
  s.cpu_rate = 0.3;
  s.look();
  EXPECT_EQ(s.last.phase, Phase::stalled);
  s.cpu_rate = 0;
  s.looks(60);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  s.work();
  s.cpu_rate = 1;
  s.io_rate = 4e6;
  EXPECT_EQ(s.look().phase, Phase::training);
}

TEST(Stall, SummaryCountsTheLostGpuHours) {
  Scenario s;
  s.healthy(1);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(420);
  EXPECT_NE(s.last.summary.find("GPU-hours since the last progress"), std::string::npos);
  EXPECT_NE(s.last.summary.find("resume from 0"), std::string::npos);
}

TEST(Stall, HungWithoutAnyGpuReadingNeedsTheMissedCheckpoint) {
  Scenario s;
  s.gpus_read = false;
  s.healthy(3);
  s.cpu_rate = s.io_rate = 0;
  s.looks(420);
  EXPECT_EQ(s.last.phase, Phase::training);
  s.looks(600);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

}  // namespace
}  // namespace trainvigil::test
