#include "app/wait_rule.hpp"

#include <gtest/gtest.h>

namespace trainvigil::app {
namespace {

Verdict verdict(Phase phase, const std::string& run = "1") {
  Verdict out;
  out.phase = phase;
  out.run = run;
  return out;
}

Verdict with_checkpoint(int number, double modified) {
  Verdict out = verdict(Phase::training);
  out.last_good = Checkpoint{};
  out.last_good->path = std::to_string(number);
  out.last_good->modified = host_time(modified);
  return out;
}

/// The code that `wait` ends with after these verdicts, or -1 while it waits.
int code(WaitFor wanted, const std::vector<Verdict>& verdicts, bool accept = false) {
  WaitRule rule(wanted, accept);
  for (const Verdict& v : verdicts)
    if (const auto end = rule.see(v, Reach::ok, true)) return end->code;
  return -1;
}

TEST(WaitRule, DefaultEndsWithTheEndOrTrouble) {
  const Verdict training = verdict(Phase::training);
  EXPECT_EQ(code(WaitFor::trouble_or_end, {training, verdict(Phase::saving), training}), -1);
  EXPECT_EQ(code(WaitFor::trouble_or_end, {training, verdict(Phase::completed)}), 0);
  EXPECT_EQ(code(WaitFor::trouble_or_end, {training, verdict(Phase::ended)}), 1);
  EXPECT_EQ(code(WaitFor::trouble_or_end, {training, verdict(Phase::crashed)}), 2);
  EXPECT_EQ(code(WaitFor::trouble_or_end, {training, verdict(Phase::stalled)}), 2);
  EXPECT_EQ(code(WaitFor::trouble_or_end, {verdict(Phase::stalled)}), 2) << "a stalled run is not over: it counts at the first look";
}

TEST(WaitRule, ForCompletedSleepsThroughAStall) {
  const Verdict training = verdict(Phase::training);
  EXPECT_EQ(code(WaitFor::completed, {training, verdict(Phase::stalled)}), -1);
  EXPECT_EQ(code(WaitFor::completed, {training, verdict(Phase::crashed)}), 2);
  EXPECT_EQ(code(WaitFor::completed, {training, verdict(Phase::ended)}), 1);
}

TEST(WaitRule, ForTheNextCheckpointAfterTheCall) {
  EXPECT_EQ(code(WaitFor::checkpoint, {with_checkpoint(0, 10), with_checkpoint(0, 10)}), -1);
  EXPECT_EQ(code(WaitFor::checkpoint, {with_checkpoint(0, 10), with_checkpoint(1, 20)}), 0);
  EXPECT_EQ(code(WaitFor::checkpoint, {verdict(Phase::starting), with_checkpoint(0, 10)}), 0);
  EXPECT_EQ(code(WaitFor::checkpoint, {with_checkpoint(1, 20), with_checkpoint(0, 10)}), -1) << "the newest was deleted: nothing new";
  EXPECT_EQ(code(WaitFor::checkpoint, {with_checkpoint(0, 10), with_checkpoint(0, 30)}), 0) << "rewritten in place";
  EXPECT_EQ(code(WaitFor::checkpoint, {with_checkpoint(0, 10), verdict(Phase::crashed)}), 2);
}

TEST(WaitRule, ForAChangeOfPhaseLevelOrFindings) {
  Verdict silent = verdict(Phase::training);
  silent.findings = {"log-silent"};
  EXPECT_EQ(code(WaitFor::change, {verdict(Phase::training), verdict(Phase::training)}), -1);
  EXPECT_EQ(code(WaitFor::change, {verdict(Phase::training), verdict(Phase::saving)}), 0);
  EXPECT_EQ(code(WaitFor::change, {verdict(Phase::training), silent}), 0);
}

TEST(WaitRule, ARunThatWasOverCountsOnlyWhenAccepted) {
  for (const WaitFor wanted : {WaitFor::trouble_or_end, WaitFor::completed}) {
    EXPECT_EQ(code(wanted, {verdict(Phase::completed), verdict(Phase::completed)}), -1);
    EXPECT_EQ(code(wanted, {verdict(Phase::completed)}, true), 0);
    EXPECT_EQ(code(wanted, {verdict(Phase::crashed)}, true), 2);
    EXPECT_EQ(code(wanted, {verdict(Phase::completed), verdict(Phase::training, "2"), verdict(Phase::completed, "2")}), 0) << "the next run counts";
    EXPECT_EQ(code(wanted, {verdict(Phase::crashed), verdict(Phase::crashed, "2")}), 2) << "even one that came and went between two looks";
  }
}

TEST(WaitRule, OutagesAreWaitedThroughAndFaultsOfAccessAreNot) {
  WaitRule rule(WaitFor::change, false);
  EXPECT_FALSE(rule.see(verdict(Phase::unreachable), Reach::connect_failed, true));
  EXPECT_FALSE(rule.see(verdict(Phase::training), Reach::ok, true)) << "the first look that reached the host is what is compared with";
  EXPECT_FALSE(rule.see(verdict(Phase::unreachable), Reach::probe_timeout, true));
  EXPECT_FALSE(rule.see(verdict(Phase::training), Reach::ok, true));
  for (const Reach reach : {Reach::auth_failed, Reach::host_key_unknown, Reach::host_key_changed, Reach::host_key_revoked}) {
    WaitRule fresh(WaitFor::trouble_or_end, false);
    const auto end = fresh.see(verdict(Phase::unreachable), reach, true);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code, 3);
  }
}

TEST(WaitRule, ASuspicionWaitsForItsConfirmation) {
  WaitRule rule(WaitFor::trouble_or_end, false);
  EXPECT_FALSE(rule.see(verdict(Phase::training), Reach::ok, false));
  EXPECT_FALSE(rule.see(verdict(Phase::crashed), Reach::ok, true)) << "the confirmation belongs to the first look: it was over before";
  EXPECT_EQ(rule.over_before(), Phase::crashed);
}

}  // namespace
}  // namespace trainvigil::app
