#include "app/diagnosis.hpp"

#include <gtest/gtest.h>

#include "app/json_text.hpp"

namespace trainvigil::app {
namespace {

Job job() {
  Job out;
  out.host = "gpu1";
  out.process = "train";
  out.checkpoints = "/data";
  return out;
}

std::string told(const Job& j, const Observation& o) {
  std::string out;
  for (const Step& step : diagnose(j, o)) out += step.name + "=" + to_string(step.result) + " ";
  return out;
}

TEST(Diagnosis, AllWell) {
  Observation o;
  o.host.time = host_time(0);
  Process main;
  main.pid = 42;
  main.cmdline = "python train.py";
  o.processes = {main};
  o.gpus = {Gpu{}};
  o.files = std::make_shared<Listing>();
  EXPECT_EQ(told(job(), o), "resolve=ok connect=ok host key=ok auth=ok shell=ok /proc=ok nvidia-smi=ok directory=ok clock skew=ok ");
}

TEST(Diagnosis, TheFirstStepThatFailsHasTheRemedyAndTheRestIsNotReached) {
  Observation o;
  o.reach = Reach::host_key_unknown;
  o.error = "the host key is unknown";
  o.remedy = "ssh gpu1 once";
  const auto steps = diagnose(job(), o);
  EXPECT_EQ(told(job(), o).rfind("resolve=ok connect=ok host key=FAIL auth=- shell=- ", 0), 0U);
  EXPECT_EQ(steps[2].remedy, "ssh gpu1 once");
}

TEST(Diagnosis, WhatIsNotThereYetIsNoFailure) {
  Observation o;
  o.host.time = host_time(-3600);
  o.processes.emplace();
  o.files_error = "missing";
  EXPECT_EQ(told(job(), o), "resolve=ok connect=ok host key=ok auth=ok shell=ok /proc=note nvidia-smi=note directory=note clock skew=note ");
}

TEST(Diagnosis, WhatCanNotBeReadIs) {
  Observation o;
  o.gpu_error = "Driver/library version mismatch";
  o.files_error = "denied";
  EXPECT_EQ(told(job(), o), "resolve=ok connect=ok host key=ok auth=ok shell=ok /proc=FAIL nvidia-smi=FAIL directory=FAIL clock skew=note ");
}

TEST(Diagnosis, HereThereIsNoSsh) {
  Job j = job();
  j.host = "local";
  EXPECT_EQ(told(j, Observation{}).rfind("shell=ok ", 0), 0U);
}

TEST(JsonObject, EscapesAndKeepsNull) {
  EXPECT_EQ(
      JsonObject().text("a", "q\"\\\n\xFF").number("b", std::nullopt).integer("c", 3).boolean("d", true).number("e", 0.5).list("f", {"1", "2"}).str(),
      R"({"a":"q\"\\\u000a\\xff","b":null,"c":3,"d":true,"e":0.5,"f":[1,2]})");
  EXPECT_EQ(JsonObject().str(), "{}");
}

TEST(Diagnosis, OnlookersAreNoProcessesOfTheJob) {
  Observation o;
  const auto add = [&](std::int64_t pid, std::int64_t parent, const std::string& cmdline) {
    Process p;
    p.pid = pid;
    p.ppid = parent;
    p.cmdline = cmdline;
    p.matched = true;
    o.processes->push_back(p);
  };
  const auto said = [&] { return diagnose(job(), o)[5].detail; };
  o.processes.emplace();
  add(10, 1, "bash -c tail -f train.log | less");
  add(11, 10, "tail -f train.log");
  EXPECT_EQ(said(), "no process matches train; nearest: bash -c tail -f train.log | less");
  add(20, 1, "python train.py");
  add(21, 20, "python train.py");
  EXPECT_EQ(said(), "2 processes of the job, pid 20");
}

TEST(Diagnosis, ALongNearMissIsCut) {
  Observation o;
  o.processes.emplace();
  Process compiler;
  compiler.cmdline = std::string(600, 'x');
  o.near_misses = {compiler};
  EXPECT_LT(diagnose(job(), o)[5].detail.size(), 180U);
}

}  // namespace
}  // namespace trainvigil::app
