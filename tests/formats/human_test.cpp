#include <gtest/gtest.h>

#include <limits>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

TEST(Rfc3339, WholeSecondsInUtc) {
  EXPECT_EQ(rfc3339(watcher_time(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(watcher_time(1795958495.9)), "2026-11-29T13:21:35Z");
  EXPECT_EQ(rfc3339(host_time(-0.5)), "1969-12-31T23:59:59Z");
}

TEST(Rfc3339, AnAbsurdClockStaysAWellFormedTime) {
  EXPECT_EQ(rfc3339(host_time(1e300)), "9999-12-31T23:59:59Z");
  EXPECT_EQ(rfc3339(host_time(-1e300)), "0001-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(host_time(std::numeric_limits<double>::quiet_NaN())), "1970-01-01T00:00:00Z");
}

TEST(HumanDuration, TwoUnitsAtMost) {
  EXPECT_EQ(human_duration(Seconds{0}), "0 s");
  EXPECT_EQ(human_duration(Seconds{0.25}), "250 ms");
  EXPECT_EQ(human_duration(Seconds{0.9996}), "1 s");
  EXPECT_EQ(human_duration(Seconds{35}), "35 s");
  EXPECT_EQ(human_duration(Seconds{99.6}), "2 min");
  EXPECT_EQ(human_duration(Seconds{1800}), "30 min");
  EXPECT_EQ(human_duration(Seconds{3599}), "1 h 00 min");
  EXPECT_EQ(human_duration(Seconds{7500}), "2 h 05 min");
  EXPECT_EQ(human_duration(Seconds{3 * 86400 + 3600}), "3 d 01 h");
  EXPECT_EQ(human_duration(Seconds{-35}), "-35 s");
  EXPECT_EQ(human_duration(Seconds{std::numeric_limits<double>::infinity()}), "?");
}

TEST(HumanBytes, PowersOfThousand) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(999960), "1.0 MB");
  EXPECT_EQ(human_bytes(4'700'000'000), "4.7 GB");
  EXPECT_EQ(human_bytes(123'456'789), "123 MB");
  EXPECT_EQ(human_bytes(std::numeric_limits<std::int64_t>::max()), "9.2 EB");
}

}  // namespace
}  // namespace trainvigil
