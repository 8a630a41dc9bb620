// The estimate: an interval that widens while no news comes, from unit completion times with the first one set apart.
#include <gtest/gtest.h>

#include <cmath>

#include "core/eta/estimate.hpp"
#include "scenario.hpp"

namespace trainvigil::test {
namespace {

constexpr double kStart = 1'764'400'000;

Estimate at(const std::vector<double>& units, double total, double after_last = 0, std::optional<Seconds> expected = {}, double spacing = 1) {
  static std::vector<UnitEnd> ends;
  ends.clear();
  double t = kStart;
  double done = 0;
  for (const double d : units) ends.push_back({done += spacing, t += d});
  EtaInput in;
  in.ends = &ends;
  in.began = kStart;
  in.total = total * spacing;
  in.expected = expected;
  in.now = t + after_last;
  return estimate(in);
}

double remaining(const Estimate& e, double now) { return epoch_seconds(*e.eta->end.p50) - now; }

TEST(Eta, NothingKnownGivesNothing) { EXPECT_FALSE(at({}, 5).eta.has_value()); }

TEST(Eta, FirstUnitIsSetApart) {
  const Estimate e = at({3600, 600, 600, 600}, 10);
  EXPECT_NEAR(remaining(e, kStart + 5400), 3600, 60);
}

TEST(Eta, OneSingleStallIsIgnoredARecurringPauseIsCharged) {
  const double once = remaining(at({600, 600, 600, 2400, 600, 600}, 12), kStart + 5400);
  EXPECT_NEAR(once, 3600, 60);
  const double often = remaining(at({600, 600, 1200, 600, 1200, 600, 1200, 600}, 16), kStart + 6600);
  EXPECT_GT(often, 8 * 600 + 800);
}

TEST(Eta, LateUnitIsExpectedToNeedAsMuchMore) {
  const double now = kStart + 1800 + 900;
  EXPECT_NEAR(remaining(at({600, 600, 600}, 5, 900), now), 300 + 600, 1);
}

TEST(Eta, UpperBoundNeverFallsWithoutNews) {
  Scenario s;
  s.healthy(3);
  double told = 0;
  for (int i = 0; i < 60; ++i) {
    s.look();
    ASSERT_TRUE(s.last.eta && s.last.eta->end.p90);
    const double p90 = epoch_seconds(*s.last.eta->end.p90);
    EXPECT_GE(p90, told);
    told = p90;
  }
}

TEST(Eta, StepsOfUnevenSpacingCountByTheirRate) {
  static std::vector<UnitEnd> ends{{500, kStart + 500}, {1000, kStart + 1000}, {1100, kStart + 1100}, {2000, kStart + 2000}};
  EtaInput in;
  in.ends = &ends;
  in.began = kStart;
  in.total = 4000;
  in.now = kStart + 2000;
  EXPECT_NEAR(remaining(estimate(in), kStart + 2000), 2000, 40);
}

TEST(Eta, StaysWhereTheFirstSaveWasTheFirstSignOfTraining) {
  Scenario s;  // no GPU, little CPU: only its checkpoints show that it trains
  s.gpus.clear();
  s.cpu_rate = 0.2;
  s.look();
  s.start();
  s.looks(600);
  s.epoch(0);
  s.look();
  for (int i = 0; i < 10; ++i) {
    s.look();
    ASSERT_TRUE(s.last.eta && s.last.eta->end.p50) << i;
  }
}

TEST(Eta, ExpectedPullsTheFirstEstimate) {
  const double plain = remaining(at({2040}, 5), kStart + 2040);
  const double told = remaining(at({2040}, 5, 0, Seconds{155 * 60}), kStart + 2040);
  const double truth = 155 * 60 - 2040;
  EXPECT_LT(std::abs(told - truth), std::abs(plain - truth));
}

TEST(Eta, NextCheckpointHasItsOwnInterval) {
  const Estimate e = at({600, 600, 600, 600}, 10, 100);
  ASSERT_TRUE(e.eta->next_checkpoint.p50);
  EXPECT_NEAR(epoch_seconds(*e.eta->next_checkpoint.p50), kStart + 3000, 1);
  EXPECT_LE(*e.eta->next_checkpoint.p10, *e.eta->next_checkpoint.p50);
  EXPECT_GT(*e.eta->next_checkpoint.p90, *e.eta->next_checkpoint.p50);
}

TEST(Eta, OrderedForAnyInput) {
  unsigned seed = 1;
  const auto random = [&] { return seed = seed * 1664525 + 1013904223, static_cast<double>(seed >> 8) / (1 << 24); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> units;
    for (double n = random() * 40; n > 0; --n) units.push_back(0.001 + 5000 * random() * random());
    const Estimate e = at(units, static_cast<double>(units.size()) + 1 + std::floor(random() * 30), 9000 * random() * random());
    if (!e.eta || !e.eta->end.p50) continue;
    EXPECT_LE(*e.eta->end.p10, *e.eta->end.p50);
    EXPECT_LE(*e.eta->end.p50, *e.eta->end.p90);
    EXPECT_LE(*e.eta->next_checkpoint.p10, *e.eta->next_checkpoint.p50);
    EXPECT_LE(*e.eta->next_checkpoint.p50, *e.eta->next_checkpoint.p90);
  }
}

TEST(Eta, WithExpectedAndAnEpochWhoseBeginNobodySawTheBasisDoesNotDenyIt) {
  static std::vector<UnitEnd> ends{{1, kStart + 600}};
  EtaInput in;
  in.ends = &ends;
  in.began = kStart + 700;  // a process that was started after that save
  in.first_done = 1;
  in.total = 5;
  in.expected = Seconds{3000};
  in.now = kStart + 900;
  const Estimate e = estimate(in);
  ASSERT_TRUE(e.eta);
  EXPECT_EQ(e.eta->basis, "no whole interval seen yet; from what earlier runs took");
  EXPECT_EQ(at({}, 5, 0, Seconds{3000}).eta->basis, "no unit done yet; from what earlier runs took");
}

double minutes_left(const Scenario& s) { return (*s.last.eta->end.p50 - s.last.time).count() / 60; }

TEST(Eta, ARunThatGoesOnFromAnEarlierOnesSaveHasOnlyItsOwnUnitsInItsFirstInterval) {
  Scenario s;
  s.job.epochs = 20;
  for (int n = 0; n < 5; ++n) s.epoch(n, 40'000 - n * 600);
  s.look();
  s.start();
  s.work();
  s.looks(600);
  s.epoch(5);
  s.look();
  ASSERT_TRUE(s.last.eta && s.last.eta->end.p50);
  // 14 units of ten minutes are left; six of them did not happen in the first ten.
  EXPECT_GT((*s.last.eta->end.p50 - s.last.time).count(), 14 * 600 * 0.5);
}

TEST(Eta, AStalledTimeBelongsToNoUnit) {
  Scenario s;
  s.healthy(2);
  s.looks(300);
  const double before = minutes_left(s);
  const double share = *s.last.progress.fraction;
  s.hold();  // the file system is dead for two hours
  s.cpu_rate = s.io_rate = 0;
  s.looks(7200);
  ASSERT_EQ(s.last.phase, Phase::stalled);
  EXPECT_NEAR(*s.last.progress.fraction, share, 0.03) << "nothing was worked on";
  s.work();
  s.cpu_rate = 1;
  s.io_rate = 4e6;
  s.looks(90);
  ASSERT_EQ(s.last.phase, Phase::training);
  EXPECT_NEAR(minutes_left(s), before, 3);
  s.looks(240);
  s.epoch(2);
  s.look();
  s.looks(60);
  ASSERT_TRUE(s.last.eta);
  EXPECT_NEAR(minutes_left(s), 19, 4) << "two epochs of ten minutes, and what the stall took is in neither";
  EXPECT_EQ(s.last.eta->basis.find("pauses"), std::string::npos);
}

TEST(Eta, AStopOfAFewMinutesBelongsToNoUnitEither) {
  Scenario s;
  s.healthy(2);
  s.looks(300);
  const double before = minutes_left(s);
  s.hold();
  s.process_state = 'T';
  s.cpu_rate = s.io_rate = 0;
  s.looks(240);
  ASSERT_EQ(s.last.phase, Phase::training) << "too short for a stall";
  EXPECT_NEAR(minutes_left(s), before, 2);
  s.process_state = 'R';
  s.work();
  s.cpu_rate = 1;
  s.io_rate = 4e6;
  s.looks(60);
  EXPECT_NEAR(minutes_left(s), before - 1, 2);
}

TEST(Eta, AStalledTimeIsRememberedBetweenTwoCalls) {
  Scenario s;
  s.healthy(2);
  s.hold();
  s.cpu_rate = s.io_rate = 0;
  s.looks(7200);
  ASSERT_EQ(s.last.phase, Phase::stalled);
  JobState again;
  ASSERT_TRUE(again.parse(s.state.serialize()));
  s.state = std::move(again);
  s.work();
  s.cpu_rate = 1;
  s.io_rate = 4e6;
  s.looks(90);
  ASSERT_EQ(s.last.phase, Phase::training);
  JobState once_more;
  ASSERT_TRUE(once_more.parse(s.state.serialize()));
  s.state = std::move(once_more);
  s.look();
  EXPECT_NEAR(minutes_left(s), 28, 4);
}

}  // namespace
}  // namespace trainvigil::test
