// Single sensors against stand-ins: a healthy, failing, slow, hanging or frozen nvidia-smi, missing and huge directories, files half written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "probe/shell_harness.hpp"
#include "trainvigil/integrity.hpp"

namespace trainvigil {
namespace {

using namespace trainvigil::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sensors : public ::testing::Test {
 protected:
  Sensors() {
    dir_.write("run/0/model.bin", "x");
    job_.name = "test";
    job_.checkpoints = dir_.path("run");
  }
  /// `body` answers the query of readings, `$loop` is set when it is to go on until it is ended.
  void nvidia_smi(const std::string& body, const std::string& apps = "exit 0") {
    dir_.script("bin/nvidia-smi", "echo \"$*\" >>'" + dir_.path("calls") +
                                      "'\nloop=; case \"$*\" in *-lms*) loop=1 ;; esac\ncase \"$1\" in --query-compute-apps*) " + apps +
                                      " ;; esac\n" + body);
  }
  int calls() const {
    std::ifstream file(dir_.path("calls"));
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }
  void start(const std::string& name = "sh") {
    shell_ = std::make_unique<Shell>(shell_command(name), std::vector<std::string>{"PATH=" + dir_.path("bin") + ":/usr/bin:/bin"});
    probe_ = ProbeConversation::make({job_}, 0xfffffff0U);
  }
  Observation look(const LookOptions& options = {}) {
    auto seen = shell_->look(*probe_, options);
    if (seen.size() == 1) return seen[0];
    ADD_FAILURE() << "the look did not end: " << shell_->sent.substr(shell_->sent.find("tv_main; exit")) << "\n---\n" << shell_->got;
    return {};
  }
  TempDir dir_;
  Job job_;
  std::unique_ptr<Shell> shell_;
  std::shared_ptr<ProbeConversation> probe_;
};

constexpr const char* kTwoGpus = R"(
  while :; do
    n=$((n + 10))
    echo "0, GPU-aa, NVIDIA A100, $n, 50, 40000, 81920, 300.5, 400.00, 1410, 64, 0x0000000000000004"
    echo "1, GPU-bb, NVIDIA A100, 0, 0, 4, 81920, [N/A], [N/A], 210, 30, 0x0000000000000001"
    [ -n "$loop" ] || exit 0
    sleep 0.02
  done)";

class GpuInEveryShell : public Sensors, public ::testing::WithParamInterface<std::string> {};

TEST_P(GpuInEveryShell, ABurstIsReadEndedAndAveraged) {
  if (shell_command(GetParam()).empty()) GTEST_SKIP() << GetParam() << " is not installed";
  nvidia_smi(kTwoGpus, "echo 'GPU-aa, 4242, 39000'; echo 'GPU-aa, [N/A], 1'; exit 0");
  start(GetParam());
  const Observation seen = look();
  ASSERT_TRUE(seen.gpus) << seen.gpu_error.value_or("");
  ASSERT_EQ(seen.gpus->size(), 2U);
  const Gpu& busy = (*seen.gpus)[0];
  EXPECT_EQ(busy.readings, 5);
  EXPECT_EQ(busy.util_pct, 30.0);
  EXPECT_EQ(busy.util_max_pct, 50.0);
  EXPECT_EQ(busy.power_w, 300.5);
  EXPECT_EQ(busy.throttle, "0x0000000000000004");
  EXPECT_THAT(busy.pids.value(), ElementsAre(4242));
  EXPECT_FALSE((*seen.gpus)[1].power_w);
  EXPECT_TRUE((*seen.gpus)[1].pids->empty());
  EXPECT_FALSE(seen.gpu_exit) << "we ended it ourselves";
  EXPECT_EQ(status_of(seen, "gpu"), SensorStatus::ok);
}
INSTANTIATE_TEST_SUITE_P(Installed, GpuInEveryShell, ::testing::Values("dash", "bash", "busybox", "mksh", "yash"),
                         [](const auto& shell) { return shell.param; });

TEST_F(Sensors, AToolThatIsNotThereIsAbsentAndNotZero) {
  start();
  const Observation seen = look();
  EXPECT_FALSE(seen.gpus);
  EXPECT_EQ(status_of(seen, "gpu"), SensorStatus::absent);
}

TEST_F(Sensors, AFailingToolKeepsItsWordsAndItsExitStatus) {
  nvidia_smi("echo 'Failed to initialize NVML: Driver/library version mismatch'; echo 'NVML library version: 535.161'; exit 18");
  start();
  const Observation seen = look();
  EXPECT_FALSE(seen.gpus);
  EXPECT_EQ(seen.gpu_exit, 18);
  EXPECT_EQ(seen.gpu_error, "Failed to initialize NVML: Driver/library version mismatch; NVML library version: 535.161");
  EXPECT_TRUE(seen.files);
}

TEST_F(Sensors, RowsCountEvenWhenTheToolFails) {
  nvidia_smi(
      "echo '0, GPU-aa, A100, 97, 50, 40000, 81920, 300, 400, 1410, 64, 0x4'; echo 'WARNING: infoROM is corrupted at gpu 0000:B3:00.0'; exit 14");
  start();
  const Observation seen = look();
  ASSERT_TRUE(seen.gpus);
  EXPECT_EQ(seen.gpus->size(), 1U);
  EXPECT_EQ(seen.gpu_exit, 14);
  EXPECT_THAT(seen.gpu_error.value_or(""), HasSubstr("infoROM is corrupted"));
}

TEST_F(Sensors, ALostGpuIsAFaultAndCostsNoOther) {
  nvidia_smi(
      "echo '0, GPU-aa, A100, [GPU requires reset], 1, 2, 3, 4, 5, 6, 7, 0x1'; echo '1, GPU-bb, A100, 97, 1, 2, 3, 4, 5, 6, 7, 0x1'\n"
      "echo 'Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU'; exit 15");
  start();
  const Observation seen = look();
  ASSERT_TRUE(seen.gpus && seen.gpus->size() == 2);
  EXPECT_EQ((*seen.gpus)[0].fault, "GPU requires reset");
  EXPECT_FALSE((*seen.gpus)[0].util_pct);
  EXPECT_EQ((*seen.gpus)[1].util_pct, 97.0);
  EXPECT_FALSE((*seen.gpus)[1].fault);
  EXPECT_THAT(seen.gpu_error.value_or(""), HasSubstr("GPU is lost"));
}

TEST_F(Sensors, AFieldTheDriverDoesNotKnowCostsOnlyItselfAndIsRemembered) {
  nvidia_smi(
      "case \"$*\" in *clocks_throttle*) echo 'Field \"clocks_throttle_reasons.active\" is not a valid field to query.'; exit 2 ;; esac\n"
      "echo '0, GPU-aa, A100, 97, 50, 40000, 81920, 300, 400, 1410, 64'");
  start();
  const Observation seen = look();
  ASSERT_TRUE(seen.gpus) << seen.gpu_error.value_or("");
  EXPECT_EQ((*seen.gpus)[0].util_pct, 97.0);
  EXPECT_FALSE((*seen.gpus)[0].throttle);
  EXPECT_FALSE(seen.gpu_error);
  const int after_first = calls();
  ASSERT_TRUE(eventually(Seconds(60), [this, after_first] { return look().gpus && calls() > after_first; }))
      << "asked again when ten times its cost has passed";
  EXPECT_EQ(calls() - after_first, 2) << "one query of readings, one of processes";
}

TEST_F(Sensors, AHangingToolIsEndedWhenTimeIsNearlyUp) {
  nvidia_smi("exec sleep 600");
  start();
  probe_->ask({});
  ASSERT_FALSE(shell_->pump(*probe_, Seconds(3), [this] { return probe_->answered(); }));
  probe_->hurry();
  // Both queries hang: each is ended when it is reached.
  ASSERT_TRUE(eventually(Seconds(30), [this] {
    if (shell_->pump(*probe_, Seconds(1), [this] { return probe_->answered(); })) return true;
    probe_->hurry();
    return false;
  }));
  const auto seen = probe_->take(watcher_time(1));
  EXPECT_FALSE(seen[0].gpus);
  EXPECT_EQ(status_of(seen[0], "gpu"), SensorStatus::timeout);
  EXPECT_EQ(status_of(seen[0], "files"), SensorStatus::ok);
}

TEST_F(Sensors, AFrozenToolCostsOnlyItsOwnReadingAndIsNeverStartedTwice) {
  // Deaf to TERM, as a process that hangs in a driver is.
  nvidia_smi("trap '' TERM; while :; do sleep 1; done");
  start();
  probe_->ask({});
  shell_->pump(*probe_, Seconds(4), [this] { return calls() > 0 && probe_->answered(); });
  probe_->hurry();
  shell_->pump(*probe_, Seconds(1), [this] { return probe_->answered(); });
  ASSERT_TRUE(probe_->settle_for_less());
  ASSERT_TRUE(probe_->answered());
  const auto first = probe_->take(watcher_time(1));
  EXPECT_EQ(status_of(first[0], "gpu"), SensorStatus::timeout);
  EXPECT_TRUE(first[0].files);
  for (int i = 0; i < 2; ++i) {
    const Observation next = look();
    EXPECT_EQ(status_of(next, "gpu"), SensorStatus::timeout);
    EXPECT_FALSE(next.gpus);
    EXPECT_TRUE(next.files);
    EXPECT_TRUE(next.host.time);
  }
  EXPECT_EQ(calls(), 1);
}

TEST_F(Sensors, ASlowToolIsNotAskedMoreOftenThanTenTimesItsCost) {
  nvidia_smi("sleep 1\necho '0, GPU-aa, A100, 97, 50, 40000, 81920, 300, 400, 1410, 64, 0x4'");
  start();
  EXPECT_TRUE(look().gpus);
  const int before = calls();
  const Observation next = look();
  EXPECT_TRUE(next.gpus) << "the last reading, and it says so";
  EXPECT_EQ(status_of(next, "gpu"), SensorStatus::stale);
  EXPECT_EQ(calls(), before);
}

TEST_F(Sensors, AConfirmingLookLeavesTheGpuAlone) {
  nvidia_smi(kTwoGpus);
  start();
  const Observation seen = look({.verify_all = false, .quick = true});
  EXPECT_FALSE(seen.gpus);
  EXPECT_TRUE(seen.files);
  EXPECT_EQ(calls(), 0);
}

TEST_F(Sensors, DirectoriesThatAreMissingOrNoneAreToldApart) {
  job_.checkpoints = dir_.path("nowhere");
  start();
  const Observation missing = look();
  EXPECT_FALSE(missing.files);
  EXPECT_EQ(missing.files_error, "missing");
  EXPECT_EQ(status_of(missing, "files"), SensorStatus::absent);
  job_.checkpoints = dir_.path("run/0/model.bin");
  start();
  EXPECT_EQ(look().files_error, "Not a directory");
}

TEST_F(Sensors, AnUnreadableDirectoryIsDenied) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  std::filesystem::permissions(dir_.path("run"), std::filesystem::perms::none);
  start();
  EXPECT_EQ(look().files_error, "denied");
  std::filesystem::permissions(dir_.path("run"), std::filesystem::perms::owner_all);
}

TEST_F(Sensors, ThousandsOfEntriesComeWholeAndUnmixed) {
  nvidia_smi(kTwoGpus);
  for (int i = 0; i < 3000; ++i) dir_.write("run/a-rather-long-name-of-a-checkpoint-file-to-fill-the-pipe-" + std::to_string(i) + ".bin", "");
  start();
  const Observation seen = look();
  ASSERT_TRUE(seen.files);
  EXPECT_EQ(seen.files->entries.size(), 3002U);
  EXPECT_FALSE(seen.files->cut);
  EXPECT_TRUE(seen.gpus);
}

TEST_F(Sensors, DeeperThanTheLimitIsCutAndItIsSaid) {
  dir_.write("run/1/2/3/4/5/6/7/8/deep", "x");
  start();
  const Observation seen = look();
  ASSERT_TRUE(seen.files);
  EXPECT_TRUE(seen.files->cut);
  EXPECT_EQ(find_entry(seen, "1/2/3/4/5/6/7/8"), nullptr);
}

std::string safetensors(std::size_t data_bytes) {
  std::string header = R"({"w":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + std::string(data_bytes, 'w');
}

TEST_F(Sensors, FilesAreCheckedByTinyReadsOnce) {
  if (!integrity_readable("model.safetensors", 4000)) GTEST_SKIP() << "no format can be judged yet";
  dir_.write("run/0/model.safetensors", safetensors(4000));
  dir_.write("run/1/model.safetensors", safetensors(2500));
  start();
  const Observation seen = look();
  ASSERT_NE(find_entry(seen, "0/model.safetensors"), nullptr);
  EXPECT_EQ(find_entry(seen, "0/model.safetensors")->integrity, Integrity::ok);
  EXPECT_EQ(find_entry(seen, "1/model.safetensors")->integrity, Integrity::truncated);
  const int reads = shell_->requests('R');
  EXPECT_GT(reads, 0);
  EXPECT_EQ(look().files, seen.files);
  EXPECT_EQ(shell_->requests('R'), reads) << "nothing new, nothing read";
  dir_.write("run/1/model.safetensors", safetensors(4000));
  EXPECT_EQ(find_entry(look(), "1/model.safetensors")->integrity, Integrity::ok);
}

TEST_F(Sensors, LongProgressFilesAreReadAtBothEndsOnly) {
  std::string state = "{\n  \"epoch\": 0.5,\n  \"global_step\": 500,\n  \"log_history\": [\n";
  for (int i = 0; i < 4000; ++i) state += "    {\n      \"global_step\": 7,\n      \"loss\": 1.5\n    },\n";
  state += "    {}\n  ],\n  \"max_steps\": 5000,\n  \"num_train_epochs\": 3\n}\n";
  dir_.write("run/checkpoint-500/trainer_state.json", state);
  std::string table = "epoch,train/loss\n";
  for (int i = 1; i <= 3000; ++i) table += std::to_string(i) + ",0.5\n";
  dir_.write("run/results.csv", table);
  start();
  const Observation seen = look();
  ASSERT_TRUE(seen.files && seen.files->state_files.size() == 2);
  EXPECT_EQ(seen.files->state_files[0].text, R"({"epoch":0.5,"global_step":500,"max_steps":5000,"num_train_epochs":3})");
  const std::string& text = seen.files->state_files[1].text;
  EXPECT_TRUE(text.starts_with("epoch,train/loss\n2")) << text.substr(0, 40);
  EXPECT_TRUE(text.ends_with("3000,0.5\n"));
  EXPECT_LT(text.size(), 5000U);
}

TEST_F(Sensors, BusyboxToolsAloneAreEnough) {
  if (shell_command("busybox").empty()) GTEST_SKIP() << "busybox is not installed";
  std::filesystem::create_directories(dir_.path("bin"));
  for (const char* tool :
       {"find", "stat", "grep", "awk", "tr", "dd", "od", "base64", "cksum", "date", "df", "tail", "sed", "ls", "readlink", "id", "sh", "dmesg"}) {
    std::filesystem::create_symlink(shell_command("busybox")[0], dir_.path(std::string("bin/") + tool));
  }
  dir_.write("run/odd \n name", "1234");
  dir_.write("run/latest", "step5");
  std::filesystem::create_symlink("to\nwhere", dir_.path("run/link"));
  dir_.write("train.log", "step 1\n");
  job_.log = dir_.path("train.log");
  Shell trainer({"/bin/sleep", "301"});
  job_.process = "sleep 301";
  start("busybox");
  const Observation seen = look();
  EXPECT_NE(shell_->got.find("lister=stat"), std::string::npos);
  ASSERT_TRUE(seen.files) << seen.files_error.value_or("");
  ASSERT_NE(find_entry(seen, "odd \n name"), nullptr);
  EXPECT_EQ(find_entry(seen, "odd \n name")->bytes, 4);
  ASSERT_NE(find_entry(seen, "link"), nullptr);
  EXPECT_EQ(find_entry(seen, "link")->target, "to\nwhere");
  ASSERT_EQ(seen.files->state_files.size(), 1U);
  EXPECT_EQ(seen.files->state_files[0].text, "step5");
  EXPECT_EQ(seen.log->tail, "step 1\n");
  EXPECT_TRUE(seen.host.time);
  EXPECT_TRUE(seen.disk && seen.disk->free_bytes);
  ASSERT_TRUE(seen.processes);
  EXPECT_TRUE(std::any_of(seen.processes->begin(), seen.processes->end(), [&trainer](const Process& p) { return p.pid == trainer.pid(); }));
}

TEST_F(Sensors, TheLogIsSentAgainOnlyWhenItChanged) {
  dir_.write("train.log", "step 1\n");
  job_.log = dir_.path("train.log");
  start();
  EXPECT_EQ(look().log->tail, "step 1\n");
  EXPECT_EQ(look().log->tail, "step 1\n");
  dir_.write("train.log", "step 1\nstep 2\n");
  EXPECT_EQ(look().log->tail, "step 1\nstep 2\n");
  std::filesystem::remove(dir_.path("train.log"));
  const Observation gone = look();
  EXPECT_FALSE(gone.log);
  EXPECT_EQ(status_of(gone, "log"), SensorStatus::absent);
}

TEST_F(Sensors, OneRoundTripWhenThereIsNothingNew) {
  job_.process = "no-such-process-anywhere";
  start();
  look();
  look();
  const auto before = shell_->sent.size();
  const LookOptions quick{.verify_all = false, .quick = true};
  look(quick);
  // All requests of a look leave together: none of them follows an answer.
  const std::string requests = shell_->sent.substr(before);
  for (const char kind : {'F', 'P', 'D', 'S', 'M'}) {
    EXPECT_EQ(std::count(requests.begin(), requests.end(), '\n'), 5) << requests;
    EXPECT_NE(requests.find(std::string("TV1 ") + kind), std::string::npos);
  }
}

TEST_F(Sensors, NothingMatchesThenTheNearestAreNamed) {
  dir_.script("train_llama_v2.sh", "echo >started; exec sleep 300");
  Shell trainer({"/bin/sh", "-c", "cd " + dir_.path() + " && exec sh -c 'echo >started; sleep 300; exit' train_llama_v2.py"});
  ASSERT_TRUE(eventually(Seconds(20), [this] { return std::filesystem::exists(dir_.path("started")); }));
  job_.process = "run_llama_v1";
  start();
  const Observation seen = look({.verify_all = false, .quick = true});
  ASSERT_TRUE(seen.processes);
  EXPECT_TRUE(seen.processes->empty());
  ASSERT_TRUE(seen.near_misses);
  EXPECT_TRUE(std::any_of(seen.near_misses->begin(), seen.near_misses->end(),
                          [](const Process& p) { return p.cmdline.find("train_llama_v2.py") != std::string::npos; }));
}

TEST_F(Sensors, OnlookersAndTheProbeItselfNeverMatch) {
  dir_.write("my_unique_train.py", "x");
  Shell pager({"/usr/bin/tail", "-f", dir_.path("my_unique_train.py")});
  job_.process = "my_unique_train|/proc/|/bin/[a-z]*sh -s|nvidia-smi|find .*-printf";
  job_.user = "0";
  start();
  const Observation seen = look({.verify_all = false, .quick = true});
  ASSERT_TRUE(seen.processes);
  for (const Process& process : *seen.processes) {
    EXPECT_NE(process.pid, pager.pid());
    EXPECT_NE(process.pid, shell_->pid());
    EXPECT_NE(process.ppid, shell_->pid());
  }
}

TEST_F(Sensors, AChildOfTheProbeThatBeginsDuringTheScanDoesNotMatch) {
  if (shell_command("bash").empty()) GTEST_SKIP() << "bash is not installed, whose environment can bring functions";
  // The request for the GPUs waits until /proc has been listed once, the scan waits then until nvidia-smi and the child that called it are there,
  // and these stay until the command lines have been sent.
  nvidia_smi("until [ -e '" + dir_.path("sent") + "' ]; do sleep 0.02; done");
  const std::string listed = "'" + dir_.path("listed") + "'", calls = "'" + dir_.path("calls") + "'";
  shell_ = std::make_unique<Shell>(
      shell_command("bash"),
      std::vector<std::string>{"PATH=" + dir_.path("bin") + ":/usr/bin:/bin",
                               "BASH_FUNC_read%%=() { builtin read \"$@\" || return; case ${line-} in 'TV1 G'*) until [ -e " + listed +
                                   " ]; do sleep 0.02; done ;; esac; }",
                               "BASH_FUNC_echo%%=() { builtin echo \"$@\"; : >" + listed + "; until [ -e " + calls + " ]; do sleep 0.02; done; }"});
  job_.process = "/bash -s|nvidia-smi";
  probe_ = ProbeConversation::make({job_}, 3);
  probe_->ask({});
  ASSERT_TRUE(shell_->pump(*probe_, Seconds(60), [this] { return shell_->got.find(" end:\n") != std::string::npos; })) << shell_->got;
  dir_.write("sent", "");
  ASSERT_TRUE(shell_->pump(*probe_, Seconds(60), [this] { return probe_->answered(); })) << shell_->got;
  const Observation seen = probe_->take(watcher_time(1)).at(0);
  ASSERT_TRUE(seen.processes);
  for (const Process& process : *seen.processes) EXPECT_NE(process.ppid, shell_->pid()) << process.cmdline;
}

TEST_F(Sensors, AJobMayNameItsProcessByNumber) {
  Shell trainer({"/bin/sleep", "300"});
  job_.pid = trainer.pid();
  start();
  const Observation seen = look({.verify_all = false, .quick = true});
  ASSERT_TRUE(seen.processes && seen.processes->size() == 1);
  EXPECT_EQ((*seen.processes)[0].main, true);
  EXPECT_EQ((*seen.processes)[0].cmdline, "/bin/sleep 300");
}

TEST_F(Sensors, WithoutAProcessGroupOfItsOwnNothingStaysEither) {
  nvidia_smi("echo $$ >'" + dir_.path("pid") + "'; exec sleep 600");
  shell_ = std::make_unique<Shell>(shell_command("sh"), std::vector<std::string>{"PATH=" + dir_.path("bin") + ":/usr/bin:/bin"}, false);
  probe_ = ProbeConversation::make({job_}, 3);
  probe_->ask({});
  shell_->pump(*probe_, Seconds(20),
               [this] { return std::filesystem::exists(dir_.path("pid")) && std::filesystem::file_size(dir_.path("pid")) > 0; });
  std::ifstream file(dir_.path("pid"));
  pid_t pid = 0;
  ASSERT_TRUE(file >> pid);
  shell_->close_input();
  EXPECT_TRUE(shell_->ended(Seconds(20)));
  EXPECT_TRUE(eventually(Seconds(10), [pid] { return ::kill(pid, 0) != 0; }));
}

}  // namespace
}  // namespace trainvigil
