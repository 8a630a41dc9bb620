#include "trainvigil/when.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace trainvigil {
namespace {

class When : public testing::Test {
 protected:
  void SetUp() override { zone("CET-1CEST,M3.5.0,M10.5.0/3"); }
  void TearDown() override { zone("UTC0"); }
  static void zone(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
  static std::optional<double> epoch(std::string_view text, double now = 1795958495) {  // 2026-11-29 13:21:35 UTC
    const auto t = parse_when(text, watcher_time(now));
    return t ? std::optional(epoch_seconds(*t)) : std::nullopt;
  }
};

TEST_F(When, Rfc3339) {
  EXPECT_EQ(epoch("2026-11-29T13:21:35Z"), 1795958495);
  EXPECT_EQ(epoch("2026-11-29T14:21:35+01:00"), 1795958495);
  EXPECT_EQ(epoch("2026-11-29T08:51:35-04:30"), 1795958495);
  EXPECT_EQ(epoch("2026-11-29t13:21:35.5z"), 1795958495.5);
}

TEST_F(When, LocalDateAndTime) {
  EXPECT_EQ(epoch("2026-11-29 14:21"), 1795958460);
  EXPECT_EQ(epoch("2026-07-01 12:00"), 1782900000);  // summer time
}

TEST_F(When, AClockTimeIsTheNextOne) {
  EXPECT_EQ(epoch("14:22"), 1795958520);
  EXPECT_EQ(epoch("14:21"), 1795958460 + 86400);
  EXPECT_EQ(epoch("00:00"), 1795993200);
}

TEST_F(When, AClockTimeOverTheChangeToWinterTime) {
  const double saturday_noon = *epoch("2026-10-24 12:00");
  EXPECT_EQ(epoch("11:00", saturday_noon), saturday_noon + 24 * 3600);  // 23 hours by the clock, 24 in fact
}

TEST_F(When, RefusesTheRest) {
  for (const char* text : {"", "25:00", "12:60", "1:00", "12:00 ", "2026-02-30 10:00", "2026-13-01 10:00", "2026-11-29", "2026-11-29T10:00:00+25:00",
                           "2026-11-29 10:00 CET", "tomorrow", "2026-11-29T10:00:00.Z", "-1:00"})
    EXPECT_FALSE(epoch(text).has_value()) << text;
}

}  // namespace
}  // namespace trainvigil
