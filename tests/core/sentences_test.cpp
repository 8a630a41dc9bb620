// The verdict's sentence: what a person reads first may not contradict itself, run on, or lose what is needed next.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

TEST(Sentences, WhatAnEarlierRunLeftIsNamedAsSuchWhenThisOneFinishedNothing) {
  Scenario s;
  for (int n = 0; n < 5; ++n) s.epoch(n, 90'000 - 600 * n);
  s.start();
  s.hold();
  s.looks(60);
  s.work();
  s.looks(300);
  s.alive = false;
  s.gpus.clear();
  s.looks(90);
  ASSERT_EQ(s.last.phase, Phase::crashed);
  ASSERT_FALSE(s.last.progress.done) << "this run built on none";
  EXPECT_NE(s.last.summary.find("nothing finished yet; resume from 4, which an earlier run left"), std::string::npos) << s.last.summary;
}

TEST(Sentences, WhatThisRunSavedNeedsNoSuchWords) {
  Scenario s;
  s.healthy(2);
  s.alive = false;
  s.gpus.clear();
  s.looks(90);
  EXPECT_TRUE(s.last.summary.ends_with("epoch 2 of 5 done; resume from 1")) << s.last.summary;
}

TEST(Sentences, ALongCompilerLineIsCut) {
  Scenario s;
  Observation o = s.observe();
  Process compiler;
  compiler.cmdline = "ccache g++ -o train.o " + std::string(600, 'x');
  o.near_misses = {compiler};
  const Verdict v = advance(s.job, s.prior, s.state, o);
  EXPECT_TRUE(v.summary.ends_with("xxx...")) << v.summary;
  EXPECT_LT(v.summary.size(), 240U) << v.summary;
}

TEST(Sentences, AChangedHostKeyKeepsItsFingerprintAndItsRemedy) {
  Scenario s;
  Observation o;
  o.watcher_time = watcher_time(s.now);
  o.reach = Reach::host_key_changed;
  o.error = std::string(250, 'x') + " the host offers ED25519 SHA256:abc";
  o.remedy = "Find out why";
  const Verdict v = advance(s.job, s.prior, s.state, o);
  EXPECT_EQ(v.summary, "unreachable: the key of the host is not the one on record");
  EXPECT_EQ(v.remedy, "Find out why");
  EXPECT_TRUE(v.evidence.at(0).detail.ends_with("SHA256:abc"));
}

}  // namespace
}  // namespace trainvigil::test
