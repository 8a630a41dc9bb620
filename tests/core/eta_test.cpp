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

}  // namespace
}  // namespace trainvigil::test
