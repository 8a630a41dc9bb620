#include "app/poller.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scripted_world.hpp"

namespace trainvigil::app {
namespace {

/// Judges by the text in Observation::error: what the poller does with verdicts is the question here, not the judge.
class ScriptedMemory : public Memory {
 public:
  Result<Verdict> turn(const Job& job, Observation& observation, const Judge&) override {
    if (fails) return fail("no history");
    Verdict v;
    v.time = observation.watcher_time;
    v.job = job.name;
    v.summary = observation.error.value_or("");
    if (v.summary == "suspect") v.look_again_in = Seconds{3};
    return v;
  }
  bool fails = false;
};

Observation observation(const std::string& says) {
  Observation out;
  out.error = says;
  return out;
}

class PollerTest : public testing::Test {
 protected:
  void host(const std::string& name, int jobs, Seconds interval = Seconds{30}) {
    HostPlan plan;
    plan.target.name = name;
    plan.interval = interval;
    for (int i = 0; i < jobs; ++i) {
      plan.jobs.push_back(jobs_.size());
      Job job;
      job.name = name + std::to_string(i);
      job.host = name;
      jobs_.push_back(job);
    }
    plans_.push_back(plan);
  }
  void answers(const std::string& name, std::vector<std::string> says, Seconds takes = Seconds{1}) {
    world_.script(name, takes, [says] {
      std::vector<Observation> out;
      for (const std::string& word : says) out.push_back(observation(word));
      return out;
    });
  }
  PollEnd run(const PollOptions& options) {
    Poller poller(world_, memory_, jobs_, plans_);
    const auto end = poller.run(options, [&](const Turn& turn) {
      turns_.push_back(turn.job.name + " " + turn.verdict.summary + (turn.settled ? "" : " (unsettled)"));
      times_.push_back(epoch_seconds(turn.verdict.time) - 1'000'000);
      return turns_.size() < enough_;
    });
    return end.value();
  }
  static PollOptions once() {
    PollOptions out;
    out.once = true;
    return out;
  }

  ScriptedWorld world_;
  ScriptedMemory memory_;
  std::vector<Job> jobs_;
  std::vector<HostPlan> plans_;
  std::vector<std::string> turns_;
  std::vector<double> times_;
  std::size_t enough_ = 1000;
};

TEST_F(PollerTest, OnceLooksAtEveryHostSideBySide) {
  host("a", 2);
  host("b", 1);
  answers("a", {"x", "y"}, Seconds{10});
  answers("b", {"z"}, Seconds{1});
  EXPECT_EQ(run(once()), PollEnd::all_looked);
  EXPECT_EQ(turns_, (std::vector<std::string>{"b0 z", "a0 x", "a1 y"})) << "a slow host must not hold up the others";
  EXPECT_LT(times_.back(), 11);
}

TEST_F(PollerTest, ASuspicionIsConfirmedBeforeItIsSettled) {
  host("a", 2);
  answers("a", {"suspect", "fine"});
  answers("a", {"crashed", "fine"});
  run(once());
  EXPECT_EQ(turns_, (std::vector<std::string>{"a0 suspect (unsettled)", "a1 fine", "a0 crashed"}))
      << "the confirming look is for the doubtful job alone";
  ASSERT_EQ(world_.looks.size(), 2U);
  EXPECT_FALSE(world_.looks[0].quick);
  EXPECT_TRUE(world_.looks[1].quick);
  EXPECT_NEAR((world_.looks[1].at - world_.looks[0].at).count(), 1 + 3, 0.1);
}

TEST_F(PollerTest, ASuspicionThatNeverSettlesDoesNotHammerTheHost) {
  host("a", 1);
  answers("a", {"suspect"});
  EXPECT_EQ(run(once()), PollEnd::all_looked);
  EXPECT_EQ(turns_.size(), 4U);
  EXPECT_EQ(turns_.back(), "a0 suspect");
}

TEST_F(PollerTest, TheRhythmDoesNotDriftAndSkipsWhatWasMissed) {
  host("a", 1, Seconds{10});
  answers("a", {"x"}, Seconds{2});
  answers("a", {"x"}, Seconds{25});
  answers("a", {"x"}, Seconds{2});
  enough_ = 4;
  EXPECT_EQ(run({}), PollEnd::enough);
  std::vector<double> begun;
  for (const auto& look : world_.looks) begun.push_back(std::round((look.at - world_.looks[0].at).count()));
  EXPECT_EQ(begun, (std::vector<double>{0, 10, 35, 40}));
}

TEST_F(PollerTest, GivesUpWhenTheTimeIsUpEvenDuringALook) {
  host("a", 1);
  answers("a", {"x"}, Seconds{1000});
  PollOptions options;
  options.until = world_.now() + Seconds{9};
  EXPECT_EQ(run(options), PollEnd::time_is_up);
  EXPECT_LT((world_.now() - *options.until).count(), 1);
}

TEST_F(PollerTest, StopsWhenTheOperatorWants) {
  host("a", 1);
  answers("a", {"x"}, Seconds{1000});
  world_.on_wait = [&] { world_.stop = true; };
  EXPECT_EQ(run({}), PollEnd::stopped);
  EXPECT_TRUE(turns_.empty());
}

TEST_F(PollerTest, TicksWhileNothingHappens) {
  host("a", 1, Seconds{3600});
  answers("a", {"x"});
  int ticks = 0;
  PollOptions options;
  options.until = world_.now() + Seconds{100};
  options.tick = Seconds{10};
  options.on_tick = [&] { ++ticks; };
  run(options);
  EXPECT_GE(ticks, 10);
}

TEST_F(PollerTest, AMemoryThatFailsIsAnError) {
  host("a", 1);
  answers("a", {"x"});
  memory_.fails = true;
  Poller poller(world_, memory_, jobs_, plans_);
  EXPECT_FALSE(poller.run(once(), [](const Turn&) { return true; }).has_value());
}

}  // namespace
}  // namespace trainvigil::app
