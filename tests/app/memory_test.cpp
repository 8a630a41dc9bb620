#include "app/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace trainvigil::app {
namespace {

Observation seen(double time) {
  Observation out;
  out.watcher_time = watcher_time(time);
  out.host.time = host_time(time);
  out.processes.emplace();
  return out;
}

Job job() {
  Job out;
  out.name = "j";
  out.host = "h";
  out.process = "x";
  return out;
}

/// Stands in for the judge: says which deadline and prior it got.
Verdict noted(const Job& job, const Observation& o) {
  Verdict v;
  v.time = o.watcher_time;
  v.job = job.name;
  return v;
}

class StoredMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("tv-memory-" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST(HeldMemory, TimeNeverRunsBackwards) {
  HeldMemory memory({});
  Observation first = seen(100);
  Observation second = seen(90);
  ASSERT_TRUE(poll_once(memory, job(), first).has_value());
  EXPECT_EQ(poll_once(memory, job(), second)->time, watcher_time(100));
  EXPECT_EQ(second.watcher_time, watcher_time(100));
}

TEST(HeldMemory, ADeadlineIsResolvedAtTheFirstTurnAndStays) {
  setenv("TZ", "UTC0", 1);
  tzset();
  HeldMemory memory({});
  Job j = job();
  j.deadline = "18:00";
  std::vector<std::optional<WatcherTime>> got;
  for (const double time : {60.0, 86400.0 * 3}) {
    Observation o = seen(time);
    ASSERT_TRUE(memory
                    .turn(j, o,
                          [&](const Job& effective, const Prior&, JobState&) {
                            got.push_back(effective.deadline_at);
                            return noted(effective, o);
                          })
                    .has_value());
  }
  EXPECT_EQ(got, (std::vector<std::optional<WatcherTime>>(2, watcher_time(18 * 3600))));
}

TEST_F(StoredMemoryTest, AnotherProcessGoesOnWhereThisOneStopped) {
  History history = History::open(folder_).value();
  StoredMemory mine(history);
  Observation o = seen(100);
  ASSERT_TRUE(poll_once(mine, job(), o).has_value());
  History other_history = History::open(folder_).value();
  StoredMemory other(other_history);
  Observation later = seen(50);  // its look began earlier, its turn came later
  ASSERT_TRUE(poll_once(other, job(), later).has_value());
  EXPECT_EQ(later.watcher_time, watcher_time(100)) << "a job's time does not run backwards between processes either";
  EXPECT_EQ(history.remembered(job())->generation, 2U);
  Observation last = seen(130);
  ASSERT_TRUE(poll_once(mine, job(), last).has_value());
  EXPECT_EQ(history.remembered(job())->generation, 3U);
}

TEST_F(StoredMemoryTest, AClockThatWasWrongOnceDoesNotStopTheWatch) {
  History history = History::open(folder_).value();
  {
    StoredMemory memory(history);
    Observation o = seen(1e9);
    ASSERT_TRUE(poll_once(memory, job(), o).has_value());
  }
  StoredMemory memory(history);
  Observation o = seen(1e6);
  ASSERT_TRUE(poll_once(memory, job(), o).has_value());
  EXPECT_EQ(o.watcher_time, watcher_time(1e6));
}

TEST_F(StoredMemoryTest, ARecordingBeginsAnewButKnowsEarlierRuns) {
  History history = History::open(folder_).value();
  StoredMemory first(history);
  Observation o = seen(100);
  ASSERT_TRUE(poll_once(first, job(), o).has_value());
  const std::string before = history.remembered(job())->state;
  StoredMemory afresh(history, true);
  Observation again = seen(200);
  std::string began_with;
  ASSERT_TRUE(afresh
                  .turn(job(), again,
                        [&](const Job& j, const Prior&, JobState& state) {
                          began_with = state.serialize();
                          return noted(j, again);
                        })
                  .has_value());
  EXPECT_EQ(began_with, JobState().serialize());
  EXPECT_NE(before, began_with);
}

TEST_F(StoredMemoryTest, AHistoryThatFailsLaterDoesNotEndTheWatch) {
  History history = History::open(folder_).value();
  StoredMemory memory(history);
  Observation first = seen(100);
  ASSERT_TRUE(poll_once(memory, job(), first).has_value());
  // Somebody makes a mess of the file: from now on every turn fails.
  std::filesystem::resize_file(folder_ / "history.sqlite", 100);
  std::filesystem::remove(folder_ / "history.sqlite-wal");
  for (const double time : {130.0, 160.0}) {
    Observation next = seen(time);
    const auto verdict = poll_once(memory, job(), next);
    ASSERT_TRUE(verdict.has_value());
    EXPECT_EQ(verdict->time, watcher_time(time));
  }
}

TEST_F(StoredMemoryTest, SeveralCheckpointsOfOneListingAreAllStored) {
  History history = History::open(folder_).value();
  StoredMemory memory(history);
  Job j = job();
  j.checkpoints = "/out";
  const auto listing = std::make_shared<Listing>();
  for (int step = 100; step <= 400; step += 100) {
    const std::string path = "checkpoint-" + std::to_string(step);
    listing->entries.push_back({path, FileType::directory, {}, host_time(step), {}, Integrity::unchecked, {}});
    listing->entries.push_back({path + "/model.safetensors", FileType::file, 1000, host_time(step), {}, Integrity::ok, {}});
    listing->entries.push_back({path + "/trainer_state.json", FileType::file, 100, host_time(step + 1), {}, Integrity::unchecked, {}});
  }
  Observation o = seen(1000);
  o.files = listing;
  ASSERT_TRUE(poll_once(memory, j, o).has_value());
  EXPECT_EQ(history.checkpoints("j", 10)->size(), 4U);
}

}  // namespace
}  // namespace trainvigil::app
