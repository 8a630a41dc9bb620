#include "app/clock.hpp"

#include <gtest/gtest.h>

namespace trainvigil::app {
namespace {

TEST(Clock, NeverRunsBackwards) {
  Seconds wall{1000};
  Seconds steady{5};
  Clock clock([&] { return wall; }, [&] { return steady; });
  EXPECT_EQ(clock.now(), watcher_time(1000));
  wall = Seconds{400};  // somebody set the clock back
  steady = Seconds{15};
  EXPECT_EQ(clock.now(), watcher_time(1009));
  wall = Seconds{9000};  // and forward; or the machine slept, which the steady clock does not count
  steady = Seconds{16};
  EXPECT_EQ(clock.now(), watcher_time(9000));
  wall = Seconds{1};
  steady = Seconds{17};
  EXPECT_EQ(clock.now(), watcher_time(9000.9));
  wall = Seconds{9001.5};  // met again
  EXPECT_EQ(clock.now(), watcher_time(9001.5));
}

}  // namespace
}  // namespace trainvigil::app
