#include "trainvigil/history.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace trainvigil {
namespace {

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("tv-history-" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  History open() {
    auto history = History::open(folder_);
    EXPECT_TRUE(history.has_value()) << (history ? "" : history.error().text());
    return *std::move(history);
  }

  static Job job(const std::string& name = "eagle3", const std::string& directory = "/data/out") {
    Job out;
    out.name = name;
    out.host = "gpu1";
    out.checkpoints = directory;
    return out;
  }

  static Observation seen(double time) {
    Observation out;
    out.watcher_time = watcher_time(time);
    return out;
  }

  static Verdict verdict(double time, Phase phase, const std::string& run = "run-1") {
    Verdict out;
    out.time = watcher_time(time);
    out.phase = phase;
    out.level = phase == Phase::crashed ? Level::critical : Level::ok;
    if (!run.empty()) out.run = run;
    out.summary = "a sentence";
    return out;
  }

  static Checkpoint checkpoint(std::int64_t number, double began, double modified) {
    Checkpoint out;
    out.path = std::to_string(number);
    out.done = number + 1;
    out.unit = Unit::epoch;
    out.bytes = 1000;
    out.began = host_time(began);
    out.modified = host_time(modified);
    out.run = CheckpointRun::this_run;
    return out;
  }

  static void turn(History& history, const Job& j, const Observation& o, const Verdict& v, const std::string& state = "s") {
    const auto done = history.turn(j, o, [&](const Remembered&) { return Turned{state, std::nullopt, v}; });
    ASSERT_TRUE(done.has_value()) << done.error().text();
  }

  std::filesystem::path folder_;
};

TEST_F(HistoryTest, StateComesBackInTheNextTurn) {
  {
    History history = open();
    const auto done = history.turn(job(), seen(100), [](const Remembered& r) {
      EXPECT_EQ(r.generation, 0U);
      EXPECT_EQ(r.state, "");
      EXPECT_EQ(r.time, std::nullopt);
      return Turned{std::string("bytes\0with NUL", 14), watcher_time(500), verdict(100, Phase::training)};
    });
    EXPECT_TRUE(done.has_value());
  }
  History again = open();
  const auto done = again.turn(job(), seen(200), [](const Remembered& r) {
    EXPECT_EQ(r.generation, 1U);
    EXPECT_EQ(r.state, std::string("bytes\0with NUL", 14));
    EXPECT_EQ(r.time, watcher_time(100));
    EXPECT_EQ(r.deadline_at, watcher_time(500));
    return Turned{"x", std::nullopt, verdict(200, Phase::training)};
  });
  EXPECT_TRUE(done.has_value());
}

TEST_F(HistoryTest, AnotherDeadlineIsResolvedAnew) {
  History history = open();
  Job j = job();
  j.deadline = "18:00";
  ASSERT_TRUE(history.turn(j, seen(1), [](const Remembered&) { return Turned{"", watcher_time(9), verdict(1, Phase::training)}; }).has_value());
  EXPECT_EQ(history.remembered(j)->deadline_at, watcher_time(9));
  j.deadline = "19:00";
  EXPECT_EQ(history.remembered(j)->deadline_at, std::nullopt);
}

TEST_F(HistoryTest, OneNameWithAnotherTargetIsKeptApart) {
  History history = open();
  turn(history, job("same", "/a"), seen(1), verdict(1, Phase::training), "state of a");
  turn(history, job("same", "/b"), seen(2), verdict(2, Phase::waiting), "state of b");
  EXPECT_EQ(history.remembered(job("same", "/a"))->state, "state of a");
  EXPECT_EQ(history.remembered(job("same", "/b"))->state, "state of b");
  EXPECT_EQ(*history.namesakes(job("same", "/a")), std::vector<std::string>{"gpu1, /b"});
  EXPECT_TRUE(history.namesakes(job("other", "/a"))->empty());
}

TEST_F(HistoryTest, AThrowingJudgeLeavesNothingBehind) {
  History history = open();
  EXPECT_THROW(static_cast<void>(history.turn(job(), seen(1), [](const Remembered&) -> Turned { throw std::runtime_error("no"); })),
               std::runtime_error);
  EXPECT_TRUE(history.job_names()->empty());
  turn(history, job(), seen(2), verdict(2, Phase::training));
  EXPECT_EQ(history.remembered(job())->generation, 1U);
}

TEST_F(HistoryTest, OnlyChangesAreStoredAsChanges) {
  History history = open();
  for (int i = 0; i < 5; ++i) turn(history, job(), seen(i), verdict(i, Phase::training));
  turn(history, job(), seen(6), verdict(6, Phase::crashed));
  const auto changes = *history.changes("eagle3", 10);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].phase, Phase::crashed);
  EXPECT_EQ(changes[0].level, Level::critical);
  EXPECT_EQ(changes[0].run, "run-1");
  EXPECT_EQ(changes[1].time, watcher_time(0));
  EXPECT_EQ(history.runs(std::nullopt, 10)->size(), 1U);
  EXPECT_TRUE(history.changes("other", 10)->empty());
}

TEST_F(HistoryTest, ACompletedRunTeachesTheNextOne) {
  History history = open();
  Observation observation = seen(0);
  Process main;
  main.pid = 42;
  main.start = host_time(1000);
  observation.processes = {main};
  for (int epoch = 0; epoch < 3; ++epoch) {
    Verdict v = verdict(epoch, epoch == 2 ? Phase::completed : Phase::training);
    v.processes = ProcessSummary{1, 42, 'R'};
    const double saved = 1000 + 600 * (epoch + 1) + (epoch == 0 ? 300 : 0);  // the first one holds the warm-up
    v.checkpoint = v.last_good = checkpoint(epoch, saved - 20 - epoch, saved);
    observation.watcher_time = v.time;
    EXPECT_FALSE(history.remembered(job())->prior.total) << "only a completed run teaches";
    turn(history, job(), observation, v);
  }
  const Prior prior = history.remembered(job())->prior;
  EXPECT_EQ(prior.total, Seconds{1800});
  EXPECT_EQ(prior.save, Seconds{22});
  ASSERT_TRUE(prior.unit);
  EXPECT_EQ(*prior.unit, Seconds{600});
  EXPECT_EQ(history.runs("eagle3", 1)->front().total, Seconds{1800});
  EXPECT_EQ(history.checkpoints("eagle3", 10)->size(), 3U);
  EXPECT_EQ(history.remembered(job("eagle3", "/elsewhere"))->prior, Prior{}) << "another target learns by itself";
}

TEST_F(HistoryTest, AResumedRunDoesNotTeachTheWholeTime) {
  History history = open();
  Observation observation = seen(0);
  Process main;
  main.pid = 42;
  main.start = host_time(1000);
  observation.processes = {main};
  for (int epoch = 7; epoch < 10; ++epoch) {
    Verdict v = verdict(epoch, epoch == 9 ? Phase::completed : Phase::training);
    v.processes = ProcessSummary{1, 42, 'R'};
    v.last_good = checkpoint(epoch, 0, 1000 + 600 * (epoch - 6));
    turn(history, job(), observation, v);
  }
  EXPECT_EQ(history.remembered(job())->prior.total, std::nullopt);
  EXPECT_EQ(history.remembered(job())->prior.unit, Seconds{600});
}

TEST_F(HistoryTest, SilencesEndByThemselvesOrWhenAsked) {
  History history = open();
  ASSERT_TRUE(history.silence({"a", watcher_time(100), "moving"}).has_value());
  ASSERT_TRUE(history.silence({"a", watcher_time(200), "still moving"}).has_value());
  ASSERT_EQ(history.silences(watcher_time(150))->size(), 1U);
  EXPECT_EQ(history.silences(watcher_time(150))->front().reason, "still moving");
  EXPECT_TRUE(history.silences(watcher_time(200))->empty());
  EXPECT_TRUE(*history.end_silence("a"));
  EXPECT_FALSE(*history.end_silence("a"));
}

TEST_F(HistoryTest, PathsAreBytes) {
  History history = open();
  Verdict v = verdict(1, Phase::training);
  v.checkpoint = checkpoint(0, 1, 2);
  v.checkpoint->path = "caf\xE9\n0";
  turn(history, job(), seen(1), v);
  EXPECT_EQ(history.checkpoints(std::nullopt, 1)->front().path, "caf\xE9\n0");
}

void count_up(const std::filesystem::path& folder, const Job& job, int turns) {
  auto history = History::open(folder);
  ASSERT_TRUE(history.has_value()) << history.error().text();
  for (int i = 0; i < turns; ++i) {
    const auto done = history->turn(job, Observation{}, [](const Remembered& r) {
      Verdict v;
      v.run = "r";
      return Turned{std::to_string((r.state.empty() ? 0 : std::stoi(r.state)) + 1), std::nullopt, v};
    });
    ASSERT_TRUE(done.has_value()) << done.error().text();
  }
}

constexpr int kTurns = 60;

TEST_F(HistoryTest, TwoThreadsLoseNoTurn) {
  std::thread other(count_up, folder_, job(), kTurns);
  count_up(folder_, job(), kTurns);
  other.join();
  EXPECT_EQ(open().remembered(job())->state, std::to_string(2 * kTurns));
  EXPECT_EQ(open().runs(std::nullopt, 10)->size(), 1U);
}

TEST_F(HistoryTest, TwoProcessesLoseNoTurnAndMakeTheFileTogether) {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      count_up(folder_, job(), kTurns);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open().remembered(job())->state, std::to_string(2 * kTurns));
}

TEST_F(HistoryTest, AFileOfANewerProgramIsRefused) {
  { open(); }
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "history.sqlite").c_str(), &raw), SQLITE_OK);
  sqlite3_exec(raw, "PRAGMA user_version = 9999", nullptr, nullptr, nullptr);
  sqlite3_close(raw);
  const auto history = History::open(folder_);
  ASSERT_FALSE(history.has_value());
  EXPECT_NE(history.error().what.find("newer"), std::string::npos);
}

TEST_F(HistoryTest, ADamagedFileIsASentence) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "history.sqlite") << std::string(5000, 'x');
  const auto history = History::open(folder_);
  ASSERT_FALSE(history.has_value());
  EXPECT_NE(history.error().what.find("damaged"), std::string::npos) << history.error().text();
}

TEST_F(HistoryTest, APlaceThatCanNotBeWrittenIsASentence) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "a-file") << "x";
  const auto history = History::open(folder_ / "a-file" / "state");
  ASSERT_FALSE(history.has_value());
  EXPECT_NE(history.error().remedy.find("--state-dir"), std::string::npos);
}

TEST_F(HistoryTest, AllThatCameBetweenTwoLooksIsStored) {
  History history = open();
  Verdict v = verdict(10, Phase::training);
  v.checkpoint = v.last_good = checkpoint(3, 1, 4);
  std::vector<Checkpoint> all;
  for (int n = 0; n < 4; ++n) all.push_back(checkpoint(n, n, n + 1));
  const auto done = history.turn(job(), seen(10), [&](const Remembered&) { return Turned{"s", std::nullopt, v, all}; });
  ASSERT_TRUE(done.has_value());
  const std::vector<StoredCheckpoint> stored = history.checkpoints("eagle3", 10).value();
  ASSERT_EQ(stored.size(), 4U);
  for (const StoredCheckpoint& c : stored) EXPECT_EQ(c.run, "run-1");
}

TEST_F(HistoryTest, OnAFullDiskWhatIsThereIsStillKnown) {
  {
    History history = open();
    turn(history, job(), seen(100), verdict(100, Phase::training), "what was remembered");
  }
  auto copy = History::copy_in_memory(folder_);
  ASSERT_TRUE(copy.has_value()) << copy.error().text();
  EXPECT_EQ(copy->remembered(job())->state, "what was remembered");
  turn(*copy, job(), seen(200), verdict(200, Phase::crashed), "new");
  EXPECT_EQ(copy->remembered(job())->state, "new");
  EXPECT_EQ(open().remembered(job())->state, "what was remembered") << "the file is left alone";
}

TEST_F(HistoryTest, WithoutAFileTheCopyIsEmpty) {
  auto copy = History::copy_in_memory(folder_ / "a?b#c%41");
  ASSERT_TRUE(copy.has_value()) << copy.error().text();
  EXPECT_TRUE(copy->job_names()->empty());
}

}  // namespace
}  // namespace trainvigil
