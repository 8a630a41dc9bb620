// Situations that people reported from real clusters, each with the reading that fooled somebody. The verdict must be the right one, not the tempting
// one.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

Gpu reading(int index, double util, std::int64_t used, std::int64_t total, double power, double limit, double mem_util = 0) {
  Gpu g;
  g.index = index;
  g.util_pct = util;
  g.mem_used_mib = used;
  g.mem_total_mib = total;
  g.power_w = power;
  g.power_limit_w = limit;
  g.mem_util_pct = mem_util;
  g.pids = std::vector<std::int64_t>{4242};
  return g;
}

TEST(Situations, CollectiveHangReadsFullUtilisationAtASixthOfThePower) {
  Scenario s;
  s.healthy(1);
  s.gpus = {reading(0, 100, 60000, 81559, 620, 700, 60)};
  s.looks(600);
  s.gpus = {reading(0, 100, 60000, 81559, 101, 700, 0)};
  s.io_rate = 0;
  s.looks(600);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

TEST(Situations, HangJoinedInTheMiddleNeedsNoBaseline) {
  // Three cards at 100 % and a quarter of the limit, seen for the first time; the host's CPU burns, nothing is read or written.
  Scenario s;
  s.started = s.now - 7200;
  s.alive = true;
  for (int n = 0; n < 3; ++n) s.epoch(n, 6600 - 600 * n);
  s.gpus = {reading(0, 100, 7579, 16152, 78, 300), reading(1, 100, 7513, 16152, 69, 300), reading(2, 100, 9215, 16152, 72, 300)};
  s.io_rate = 0;
  s.looks(2400);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

TEST(Situations, DataLoaderDeadlockHoldsTheMemory) {
  Scenario s;
  s.workers = 4;
  s.healthy(1);
  s.gpus = {reading(0, 0, 10500, 12196, 60, 250)};
  s.cpu_rate = s.io_rate = s.worker_cpu_rate = 0;
  s.looks(420);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_EQ(s.last.level, Level::critical);
}

TEST(Situations, FreshCheckpointAndBusyGpusAtTheVeryMomentOfTheHang) {
  Scenario s;
  s.healthy(2);  // the last look saw the checkpoint appear
  s.one_gpu(99, 95, 0);
  s.io_rate = 0;
  s.look();
  EXPECT_EQ(s.last.phase, Phase::training) << "a fresh checkpoint proves progress up to that moment";
  s.looks(300);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

TEST(Situations, SaveThatHangsIsFoundBeforeTheWatchdogKillsTheJob) {
  Scenario s;
  s.job.log = "/log";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(1);
  s.log = LogFacts{180, host_time(s.now), "INFO - Saving latest checkpoint\n"};
  s.put("1/model.safetensors", 200'000'000, 0, Integrity::truncated);
  s.gpus = {s.gpu(0, 0, 75, 0), s.gpu(1, 100, 92, 0)};
  s.cpu_rate = s.io_rate = 0;
  s.looks(900);
  EXPECT_EQ(s.last.phase, Phase::stalled) << "well before the watchdog's twenty minutes";
  s.log = LogFacts{
      400, host_time(s.now),
      "INFO - Saving latest checkpoint\n[rank7]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1512677) ran for 1200027 ms\n"};
  s.alive = false;
  s.look();
  s.look(5);
  EXPECT_EQ(s.last.phase, Phase::crashed);
  EXPECT_EQ(s.last.cause, "nccl-timeout");
}

TEST(Situations, FinishedButTheClientNeverExits) {
  Scenario s;
  s.job.log = "/log";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(5);
  s.log = LogFacts{300, host_time(s.now), "wandb: Waiting for W&B process to finish, PID 1234\nwandb: Program ended successfully.\n"};
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(1800);
  EXPECT_EQ(s.last.phase, Phase::completed);
  EXPECT_EQ(s.last.level, Level::warning);
  EXPECT_TRUE(s.found("finished-but-alive"));
}

TEST(Situations, StorageHangIsNamedByItsState) {
  Scenario s;
  s.healthy(1);
  s.process_state = 'D';
  s.cpu_rate = s.io_rate = 0;
  s.hold();
  s.files_error = "timeout";
  s.sensors["files"] = {SensorStatus::timeout, std::nullopt, std::nullopt};
  s.looks(480);
  EXPECT_EQ(s.last.phase, Phase::stalled);
  EXPECT_EQ(s.last.cause, "process-dstate");
}

TEST(Situations, BlockBufferedLogIsNoHang) {
  Scenario s;
  s.job.log = "/log";
  s.log = LogFacts{100, host_time(s.now), "init\n"};
  s.healthy(0);
  s.looks(1800);
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_EQ(s.last.level, Level::ok);
  EXPECT_TRUE(s.found("log-silent"));
}

TEST(Situations, FullSharedMemoryIsWarnedOfBeforeTheBusError) {
  Scenario s;
  s.healthy(1);
  s.shm = Disk{1'100'000'000, 24'000'000'000, std::nullopt};
  s.look();
  EXPECT_TRUE(s.found("shm-full"));
  EXPECT_EQ(s.last.level, Level::warning);
}

TEST(Situations, HostShutDownAndBootedAgain) {
  Scenario s;
  s.healthy(1);
  s.outage(990);
  s.boot = "boot-2";
  s.ticks = 900;  // an unrelated process took the pid
  s.others.clear();
  s.alive = false;
  s.look();
  EXPECT_EQ(s.last.phase, Phase::crashed);
  EXPECT_EQ(s.last.cause, "rebooted");
}

TEST(Situations, FieldsTheDriverDoesNotTellCostOnlyThemselves) {
  Scenario s;
  s.healthy(1);
  for (Gpu& g : s.gpus) {
    g.power_w.reset();
    g.mem_util_pct.reset();
    g.temp_c.reset();
  }
  s.looks(1800);
  EXPECT_EQ(s.last.phase, Phase::training);
  ASSERT_TRUE(s.last.gpus && !s.last.gpus->empty());
  EXPECT_FALSE(s.last.gpus->front().power_w.has_value());
  EXPECT_EQ(s.last.gpus->front().util_pct, 98);
}

TEST(Situations, FullUtilisationAloneIsNoProofOfWork) {
  // A driver that tells utilisation and nothing else: a wait and work read the same, so the late checkpoint and the stopped I/O decide.
  Scenario s;
  const auto bare = [&] {
    for (Gpu& g : s.gpus) {
      g.power_w.reset();
      g.mem_util_pct.reset();
    }
  };
  s.look();
  s.start();
  s.work();
  s.gpus[0].util_pct = 100;
  bare();
  for (int n = 0; n < 3; ++n) {
    s.looks(600);
    s.epoch(n);
    s.look();
  }
  s.looks(400);
  EXPECT_EQ(s.last.phase, Phase::training);
  s.io_rate = 0;
  s.looks(900);
  EXPECT_EQ(s.last.phase, Phase::stalled);
}

TEST(Situations, SlicedGpuThatAlwaysReadsZeroIsIgnoredWhileProgressHappens) {
  Scenario s;
  s.look();
  s.start();
  s.gpus = {reading(0, 0, 2716, 3000, 37, 250)};
  s.gpus[0].pids = std::vector<std::int64_t>{};
  for (int n = 0; n < 4; ++n) {
    s.looks(600);
    s.epoch(n);
    s.look();
  }
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_NE(s.last.level, Level::critical);
  EXPECT_EQ(s.last.progress.done, 4);
}

TEST(Situations, PhantomUtilisationOfAnIdleGpuIsNoLife) {
  Scenario s;
  s.healthy(1);
  s.alive = false;
  s.gpus = {reading(0, 99, 4, 81920, 60, 400)};
  s.gpus[0].pids = std::vector<std::int64_t>{};
  s.look();
  EXPECT_EQ(s.look(5).phase, Phase::crashed);
}

TEST(Situations, AllGpusGoneFromTheHost) {
  Scenario s;
  s.healthy(1);
  s.gpus_read = false;
  s.gpu_error = "Failed to initialize NVML: No supported GPUs were found\nUnable to determine the number of GPUs";
  s.look();
  EXPECT_EQ(s.last.phase, Phase::training) << "the process lives; nobody called it crashed yet";
  EXPECT_TRUE(s.found("gpu-lost"));
  EXPECT_EQ(s.last.level, Level::warning);
}

TEST(Situations, LeftoverTemporaryCheckpointIsNoSaveForEver) {
  Scenario s;
  s.put("tmp-checkpoint-400/model.safetensors", 1'000'000'000, 40'000, Integrity::truncated);
  s.healthy(1);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(600);
  EXPECT_EQ(s.last.phase, Phase::stalled) << "alarms are not suppressed by an old temporary entry";
}

TEST(Situations, TinyWeightsFileIsNoGoodCheckpoint) {
  Scenario s;
  s.healthy(2);
  s.put("2/config.json", 1400, 0, Integrity::unchecked);
  s.put("2/model.safetensors", 138'000, 0);
  s.put("2/optimizer_state_dict.pt", 3'000'000'000, 0);
  s.put("2/scheduler_state_dict.pt", 1500, 0);
  s.looks(300);
  EXPECT_EQ(s.last.level, Level::warning);
  ASSERT_TRUE(s.last.last_good.has_value());
  EXPECT_EQ(s.last.last_good->path, "1");
}

TEST(Situations, FirstReachOfTheLastEpochStaysCompleted) {
  Scenario s;
  s.healthy(5);
  EXPECT_EQ(s.last.phase, Phase::completed);
  s.listing.entries.clear();
  s.epoch(0);  // the restart logic begins anew in the same place, within the same process
  s.looks(120);
  EXPECT_EQ(s.last.phase, Phase::completed);
}

TEST(Situations, WatchersOfTheJobAreNotTheJob) {
  Scenario s;
  s.healthy(1);
  s.alive = false;
  for (const char* line : {"zsh -c pgrep -f train", "pgrep -f train", "vim train.py", "tail -f train.log", "sshd: user@notty train"}) {
    Process p;
    p.pid = 900 + static_cast<std::int64_t>(s.others.size());
    p.ppid = 1;
    p.state = 'S';
    p.start_ticks = 5;
    p.matched = true;
    p.cmdline = line;
    s.others.push_back(p);
  }
  s.look();
  EXPECT_EQ(s.look(5).phase, Phase::crashed);
}

TEST(Situations, TitleChangedByTheProgramIsStillTheSameRun) {
  Scenario s;
  s.healthy(1);
  const auto run = s.last.run;
  s.cmdline = "ray::TrainWorker";
  s.looks(120);
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_EQ(s.last.run, run);
}

TEST(Situations, LauncherShellIsNotTheMainProcess) {
  Scenario s;
  s.look();
  Process shell;
  shell.pid = 100;
  shell.ppid = 1;
  shell.state = 'S';
  shell.start_ticks = 5;
  shell.matched = true;
  shell.cmdline = "bash -c python train.py";
  s.others.push_back(shell);
  s.start();
  s.work();
  s.looks(120);
  ASSERT_TRUE(s.last.processes.has_value());
  EXPECT_EQ(s.last.processes->main_pid, s.pid);
}

TEST(Situations, OtherPidNamespaceShowsNoPidsOnTheGpu) {
  Scenario s;
  s.look();
  s.start();
  s.work();
  s.gpus[0].pids = std::vector<std::int64_t>{};
  s.looks(600);
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_FALSE(s.found("gpu-ghost"));
  ASSERT_TRUE(s.last.gpus.has_value());
  EXPECT_EQ(s.last.gpus->size(), 1U);
}

TEST(Situations, HostKeyChangedIsNoCrash) {
  Scenario s;
  s.healthy(1);
  const Verdict v = s.outage(60, Reach::host_key_changed);
  EXPECT_EQ(v.phase, Phase::unreachable);
  EXPECT_EQ(v.cause, "host-key-changed");
  EXPECT_EQ(v.level, Level::unknown);
}

TEST(Situations, SlowIsNotStalled) {
  Scenario s;
  s.healthy(3);
  s.cpu_rate = 0.7;
  s.one_gpu(60, 200, 20);
  s.looks(36.0 * 600 / 4);
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_NE(s.last.level, Level::critical);
}

TEST(Situations, CompileOfTheFirstBatchesDoesNotSpoilTheEstimate) {
  Scenario s;
  s.look();
  s.start();
  s.work();
  s.looks(3600);  // the first epoch with the compiler in it
  s.epoch(0);
  s.look();
  ASSERT_TRUE(s.last.eta && s.last.eta->end.p90 && s.last.eta->end.p10);
  EXPECT_GT((*s.last.eta->end.p90 - *s.last.eta->end.p10).count(), 3600) << "a wide range, no bare clock time";
  for (int n = 1; n < 4; ++n) {
    s.looks(600);
    s.epoch(n);
    s.look();
  }
  ASSERT_TRUE(s.last.eta && s.last.eta->end.p50);
  EXPECT_LT((*s.last.eta->end.p50 - s.last.time).count(), 900);
}

}  // namespace
}  // namespace trainvigil::test
