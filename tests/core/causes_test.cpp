// Causes and findings: only what is proven is named.
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

Verdict die(Scenario& s) {
  s.alive = false;
  s.look();
  return s.look(5);
}

TEST(Causes, OomKillNamesThePidThatWasRemembered) {
  Scenario s;
  s.healthy(1);
  s.kernel->push_back({"oom-kill", host_time(s.now), "Out of memory: Killed process 4242 (python) total-vm:98304000kB, anon-rss:61440000kB"});
  EXPECT_EQ(die(s).cause, "oom-kill");
}

TEST(Causes, OomKillOfAStrangerOrBeforeTheRunIsNone) {
  Scenario s;
  s.kernel->push_back({"oom-kill", host_time(s.now - 9000), "Out of memory: Killed process 4242 (python) total-vm:1kB"});
  s.healthy(1);
  s.kernel->push_back({"oom-kill", host_time(s.now), "Out of memory: Killed process 999 (firefox) total-vm:1kB"});
  const Verdict v = die(s);
  EXPECT_EQ(v.phase, Phase::crashed);
  EXPECT_FALSE(v.cause.has_value());
}

TEST(Causes, UnreadableKernelLogIsSaid) {
  Scenario s;
  s.kernel.reset();
  s.healthy(1);
  EXPECT_NE(die(s).summary.find("kernel log could not be read"), std::string::npos);
}

TEST(Causes, RebootNeedsNoSecondLook) {
  Scenario s;
  s.healthy(1);
  s.outage(300);
  s.alive = false;
  s.boot = "boot-2";
  const Verdict v = s.look();
  EXPECT_EQ(v.phase, Phase::crashed);
  EXPECT_EQ(v.cause, "rebooted");
}

TEST(Causes, RecycledPidIsAnotherProcess) {
  Scenario s;
  s.healthy(1);
  const auto before = s.last.run;
  s.ticks += 5000;  // same pid, other start
  s.started = s.now + 10;
  s.hold();
  s.look();
  EXPECT_NE(s.last.run, before);
  EXPECT_EQ(s.last.phase, Phase::starting) << "a new run has begun";
}

TEST(Causes, WorkersWithoutTheirMainProcessAreNoRun) {
  Scenario s;
  s.workers = 4;
  s.healthy(2);
  const Verdict v = die(s);
  EXPECT_EQ(v.phase, Phase::crashed);
  EXPECT_EQ(v.cause, "workers-left");
  EXPECT_EQ(std::count(v.findings.begin(), v.findings.end(), "workers-left"), 1);
  EXPECT_TRUE(s.found("workers-left"));
}

TEST(Causes, WorkerBornAfterTheLastLookIsNoNewRunEither) {
  Scenario s;
  s.healthy(2);
  s.workers = 2;
  s.worker_start = s.now - 1;  // forked a second before the main process died, never seen beside it
  const Verdict v = die(s);
  EXPECT_EQ(v.phase, Phase::crashed);
  EXPECT_EQ(v.cause, "workers-left");
}

TEST(Causes, AnotherJobWithTheSamePatternTakesOverAsARunOfItsOwn) {
  Scenario s;
  s.healthy(1);
  Process other;
  other.pid = 99;
  other.ppid = 1;
  other.state = 'R';
  other.start_ticks = s.ticks + 500;
  other.start = host_time(s.started + 5);
  other.matched = true;
  other.cmdline = "python train.py --other";
  s.others.push_back(other);
  s.look();
  EXPECT_EQ(s.last.processes->main_pid, s.pid);
  s.alive = false;
  s.look();
  EXPECT_EQ(s.last.processes->main_pid, 99);
}

TEST(Causes, ZombieIsDead) {
  Scenario s;
  s.healthy(1);
  s.process_state = 'Z';
  s.cmdline.clear();
  s.look();
  EXPECT_EQ(s.look(5).phase, Phase::crashed);
  EXPECT_TRUE(s.found("process-zombie"));
}

TEST(Causes, LogTellsTheGravestThing) {
  for (const auto& [line, cause] : std::vector<std::pair<std::string, std::string>>{
           {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "oom-cuda"},
           {"OSError: [Errno 28] No space left on device", "disk-full"},
           {"RuntimeError: DataLoader worker (pid 13) is killed by signal: Bus error.", "shm-full"},
           {"RuntimeError: CUDA error: uncorrectable ECC error encountered", "gpu-ecc"},
           {"[E218] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)", "nccl-timeout"},
           {"ValueError: x", "traceback"}}) {
    Scenario s;
    s.job.log = "/log";
    s.log = LogFacts{100, host_time(s.now), "hello\n"};
    s.healthy(1);
    s.log = LogFacts{400, host_time(s.now), "Traceback (most recent call last):\n  File \"train.py\"\n" + line + "\n"};
    EXPECT_EQ(die(s).cause, cause) << line;
  }
}

TEST(Causes, SegmentationFaultAfterTheEndIsNoCrash) {
  Scenario s;
  s.job.epochs.reset();
  s.job.log = "/log";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(2);
  s.log = LogFacts{300, host_time(s.now), "I FINISHED Optimization - training time: 0:03:54\nSegmentation fault (core dumped)\n"};
  EXPECT_EQ(die(s).phase, Phase::completed);
}

TEST(Causes, FullDiskDuringASave) {
  Scenario s;
  s.disk = Disk{900'000'000'000, 1'000'000'000'000, 1000};
  s.healthy(1);
  s.put("1/model.safetensors", 300'000'000, 0, Integrity::truncated);
  s.look();
  s.disk->free_bytes = 0;
  const Verdict v = die(s);
  EXPECT_EQ(v.cause, "disk-full");
  EXPECT_TRUE(s.found("checkpoint-partial"));
  EXPECT_EQ(v.last_good->path, "0");
}

TEST(Causes, DiskLowBeforeItIsTooLate) {
  Scenario s;
  s.disk = Disk{100'000'000'000, 1'000'000'000'000, 1000};
  s.healthy(1);
  EXPECT_FALSE(s.found("disk-low"));
  s.disk->free_bytes = 6'000'000'000;  // a save takes 4.7 GB
  s.look();
  EXPECT_TRUE(s.found("disk-low"));
}

TEST(Causes, GpuLostIsNamedInAllItsSpellings) {
  for (const char* text : {"Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost. Reboot the system to recover this GPU",
                           "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error"}) {
    Scenario s;
    s.healthy(1);
    s.gpus_read = false;
    s.gpu_error = text;
    EXPECT_EQ(die(s).cause, "gpu-lost") << text;
  }
}

TEST(Causes, DriverMismatchWhileTheJobRunsIsANote) {
  Scenario s;
  s.healthy(1);
  s.gpus_read = false;
  s.gpu_error = "Failed to initialize NVML: Driver/library version mismatch";
  s.looks(1800);
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_EQ(s.last.level, Level::ok);
  EXPECT_TRUE(s.found("gpu-unreadable"));
}

TEST(Causes, XidIsGraded) {
  Scenario s;
  s.healthy(1);
  s.kernel->push_back({"xid", host_time(s.now), "NVRM: Xid (PCI:0000:41:00): 45, pid=4242, Ch 00000010"});
  EXPECT_EQ(s.look().level, Level::ok);
  EXPECT_TRUE(s.found("xid"));
  s.kernel->push_back({"xid", host_time(s.now), "NVRM: Xid (PCI:0000:41:00): 79, pid=4242, GPU has fallen off the bus."});
  EXPECT_EQ(s.look().level, Level::warning);
  EXPECT_TRUE(s.found("gpu-lost"));
}

TEST(Causes, NanLossIsToldWhileItTrains) {
  Scenario s;
  s.job.log = "/log";
  s.log = LogFacts{100, host_time(s.now), "hello\n"};
  s.healthy(1);
  s.log = LogFacts{900, host_time(s.now), "Steps: 2%| 92679/5900000 [19:15:43<1185:20:02, 1.36it/s, backward=0.177, loss=nan, lr=4.99e-5]"};
  s.look();
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_TRUE(s.found("nan-loss"));
}

TEST(Causes, ClockSkewIsANoteAndSpoilsNoAge) {
  Scenario s;
  s.skew = -5000;
  s.healthy(2);
  EXPECT_TRUE(s.found("clock-skew"));
  EXPECT_EQ(s.last.phase, Phase::training);
  EXPECT_EQ(s.last.progress.done, 2);
  ASSERT_TRUE(s.last.eta && s.last.eta->end.p50);
  EXPECT_GT(*s.last.eta->end.p50, s.last.time);
  EXPECT_LT((*s.last.eta->end.p50 - s.last.time).count(), 3600);
}

TEST(Causes, StaleCheckpointsOfAnEarlierRunAreNoProgress) {
  Scenario s;
  for (int n = 0; n < 4; ++n) s.epoch(n, 90000 - 600 * n);
  s.look();
  s.start();
  s.hold();
  s.looks(60);
  s.work();
  s.looks(600);
  s.listing.entries.erase(s.listing.entries.begin(), s.listing.entries.begin() + 5);  // epoch 0 is written anew
  s.epoch(0);
  s.look();
  EXPECT_EQ(s.last.progress.done, 1);
  EXPECT_TRUE(s.found("checkpoint-stale"));
  EXPECT_EQ(s.last.phase, Phase::training);
}

TEST(Causes, RestartLoopIsSeen) {
  Scenario s;
  for (int life = 0; life < 3; ++life) {
    s.pid += 100;
    s.ticks += 9000;
    s.start();
    s.hold();
    s.looks(120);
    s.alive = false;
    s.look();
    s.look(5);
  }
  s.pid += 100;
  s.ticks += 9000;
  s.start();
  s.look();
  EXPECT_TRUE(s.found("restart-loop"));
}

TEST(Causes, DeadlineAtRisk) {
  Scenario s;
  s.job.deadline_at = watcher_time(s.now + 2000);
  s.healthy(2);
  EXPECT_TRUE(s.found("deadline-at-risk"));
}

TEST(Causes, MissingDirectoryIsANoteBeforeTheFirstSaveAndAWarningLater) {
  Scenario s;
  s.files_error = "missing";
  s.look();
  s.start();
  s.work();
  s.look();
  EXPECT_TRUE(s.found("directory-missing"));
  EXPECT_EQ(s.last.level, Level::ok);
  s.files_error.reset();
  s.epoch(0);
  s.look();
  s.files_error = "missing";
  s.look();
  EXPECT_TRUE(s.found("directory-missing"));
  EXPECT_EQ(s.last.level, Level::warning);
  EXPECT_EQ(s.last.phase, Phase::training);
}

}  // namespace
}  // namespace trainvigil::test
