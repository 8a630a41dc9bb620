// The memory between two calls: `check` must say at every turn what one long `run` would have said.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

std::string story(bool store) {
  Scenario s;
  std::string out;
  const auto note = [&] {
    out += std::string(to_string(s.last.phase)) + "/" + to_string(s.last.level) + "/" + s.last.cause.value_or("-") + "/" + s.last.summary + "\n";
    if (!store) return;
    JobState fresh;
    EXPECT_TRUE(fresh.parse(s.state.serialize()));
    s.state = std::move(fresh);
  };
  s.workers = 2;
  s.healthy(2);
  note();
  for (int i = 0; i < 25; ++i) s.look(), note();
  s.epoch(2);
  s.look(), note();
  s.outage(90), note();
  s.look(), note();
  s.spin();
  s.io_rate = 0;
  s.worker_cpu_rate = 0;
  for (int i = 0; i < 12; ++i) s.look(), note();
  s.alive = false;
  s.look(), note();
  s.look(5), note();
  return out;
}

TEST(State, StoredAndReadBackAtEveryTurnGivesTheSameVerdicts) {
  const std::string live = story(false);
  EXPECT_EQ(live, story(true));
  EXPECT_NE(live.find("stalled/critical/gpu-spin"), std::string::npos);
  EXPECT_NE(live.find("crashed/critical"), std::string::npos);
}

TEST(State, StaysSmallHoweverLongTheRun) {
  Scenario s;
  s.workers = 16;
  s.job.epochs = 5000;
  s.healthy(1);
  for (int n = 1; n < 700; ++n) {
    s.looks(120);
    s.epoch(n);
    if (s.listing.entries.size() > 25) s.listing.entries.erase(s.listing.entries.begin(), s.listing.entries.begin() + 5);
    s.look();
  }
  EXPECT_LT(s.state.serialize().size(), 64U * 1024);
  EXPECT_EQ(s.last.progress.done, 700);
}

TEST(State, TextFromElsewhereIsRefused) {
  JobState state;
  EXPECT_FALSE(state.parse("{\"version\":999}"));
  EXPECT_FALSE(state.parse("not json"));
  EXPECT_FALSE(state.parse(""));
  EXPECT_TRUE(state.parse(state.serialize()));
}

}  // namespace
}  // namespace trainvigil::test
