#include "app/discovery.hpp"

#include <gtest/gtest.h>
#include <regex.h>

#include "trainvigil/config.hpp"

namespace trainvigil::app {
namespace {

Process process(std::int64_t pid, std::int64_t parent, const std::string& cmdline) {
  Process out;
  out.pid = pid;
  out.ppid = parent;
  out.cmdline = cmdline;
  return out;
}

Gpu gpu(int index, std::vector<std::int64_t> pids) {
  Gpu out;
  out.index = index;
  out.pids = std::move(pids);
  return out;
}

bool matches(const std::string& pattern, const std::string& text) {
  regex_t compiled{};
  EXPECT_EQ(regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB), 0);
  const bool out = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return out;
}

TEST(Discovery, OneJobForATreeWithItsGpusDirectoryAndTotal) {
  Observation o;
  o.processes = {process(10, 1, "bash run.sh"), process(11, 10, "python 04_train.py --output_dir /data/out --num_train_epochs=5"),
                 process(12, 11, "python 04_train.py --output_dir /data/out"), process(20, 1, "python -m jupyter lab")};
  o.gpus = {gpu(0, {12}), gpu(1, {11})};
  const auto found = discover("gpu1", o);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pid, 11);
  EXPECT_EQ(found[0].job.checkpoints, "/data/out");
  EXPECT_EQ(found[0].job.epochs, 5);
  EXPECT_EQ(found[0].job.gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(found[0].job.name, "gpu1:out");
  EXPECT_TRUE(matches(*found[0].job.process, found[0].cmdline));
  EXPECT_FALSE(matches(*found[0].job.process, "python 04_trainXpy"));
}

TEST(Discovery, WithoutAGpuToolWhatLooksLikeTraining) {
  Observation o;
  o.processes = {process(5, 1, "python3 train.py --max_steps 100"), process(6, 1, "/opt/a+b/train.py --save-dir rel"),
                 process(8, 1, "python3 -m http.server"), process(7, 1, "python3 train.py")};
  const auto found = discover("local", o);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].job.steps, 100);
  EXPECT_FALSE(found[1].job.checkpoints) << "a relative directory means nothing to the watcher";
  EXPECT_EQ(found[1].relative_directory, "rel");
  EXPECT_EQ(found[0].job.name, "local:train.py") << "a name is no regular expression";
  EXPECT_NE(found[0].job.name, found[2].job.name);
}

TEST(Discovery, WhatItPrintsIsConfig) {
  Observation o;
  o.processes = {process(5, 1, "python3 \"tr(ain\".py --max_steps 9 --output_dir /a\"b")};
  std::string text;
  for (const Discovered& found : discover("gpu1", o)) text += show_job(found.job);
  const auto config = parse_config(text, "t");
  ASSERT_TRUE(config.has_value()) << config.error().front().text() << text;
  EXPECT_EQ(config->jobs.size(), 1U);
}

TEST(Discovery, AHostWithNothingOnIt) { EXPECT_TRUE(discover("gpu1", Observation{}).empty()); }

TEST(Discovery, DirectoriesByTheOptionsThatFrameworksHave) {
  for (const char* option :
       {"--output_dir=/d", "--output-dir /d", "--save_dir /d", "--ckpt_dir=/d", "hydra.run.dir=/d", "--logdir /d", "--out_dir /d", "-o /d",
        "trainer.default_root_dir=/d", "--work-dir=/d", "-output_dir /d", "--output_dir rel --save_dir /d", "--logdir /l --ckpt_dir /d"}) {
    Observation o;
    o.processes = {process(5, 1, std::string("python train.py ") + option)};
    const auto found = discover("h", o);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].job.checkpoints, "/d") << option;
  }
  Observation o;
  o.processes = {process(5, 1, "python train.py o=/d --olog=/d -o rel")};
  EXPECT_FALSE(discover("h", o)[0].job.checkpoints);
}

TEST(Discovery, OnlyWhatHoldsAGpuOrSaysThatItTrains) {
  const auto count = [](const std::string& cmdline, bool gpu_held) {
    Observation o;
    o.processes = {process(5, 1, cmdline)};
    if (gpu_held) o.gpus = {gpu(0, {5})};
    return discover("h", o).size();
  };
  EXPECT_EQ(count("python3 /usr/share/unattended-upgrades/shutdown.py --wait", false), 0U);
  EXPECT_EQ(count("python3 -m http.server", false), 0U);
  EXPECT_EQ(count("python3 serve.py", true), 1U);
  for (const char* cmdline :
       {"python3 04_train.py", "/usr/bin/python3 /opt/bin/torchrun --nproc 8 run.py", "python -m torch.distributed.run main.py",
        "accelerate launch main.py", "deepspeed main.py", "python run_sft.py", "python Finetune.py", "python main.py --epochs 3"})
    EXPECT_EQ(count(cmdline, false), 1U) << cmdline;
}

}  // namespace
}  // namespace trainvigil::app
