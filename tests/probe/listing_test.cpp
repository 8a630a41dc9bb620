// The listing over the wire: what a look costs in bytes when nothing, little or much has changed, that it is right afterwards, and what is left out
// of one that is too long.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <random>

#include "probe/shell_harness.hpp"

namespace trainvigil {
namespace {

using namespace trainvigil::testing;
namespace fs = std::filesystem;

/// Which tools the host has.
enum class Host { usual, busybox, no_gzip, no_awk };

class Listings : public ::testing::Test {
 protected:
  void SetUp() override {
    job_.name = "test";
    job_.checkpoints = dir_.path("run");
    fs::create_directories(dir_.path("run"));
  }
  void start(Host host = Host::usual) {
    const std::string busybox = shell_command("busybox").empty() ? "" : shell_command("busybox")[0];
    std::string path = "/usr/bin:/bin";
    std::vector<std::string> command = shell_command("sh");
    fs::create_directories(dir_.path("bin"));
    const std::vector<std::string> tools{"find", "stat", "awk", "gzip", "base64", "date", "ls",  "readlink",
                                         "dd",   "od",   "sh",  "grep", "tr",     "sed",  "tail"};
    for (const std::string& tool : tools) {
      std::error_code ignored;
      fs::remove(dir_.path("bin/" + tool), ignored);
      if (host == Host::busybox) fs::create_symlink(busybox, dir_.path("bin/" + tool));
      if (host == Host::no_gzip && tool == "gzip") dir_.script("bin/gzip", "exit 1");
      if (host == Host::no_awk && tool == "awk") dir_.script("bin/awk", "exit 1");
    }
    if (host == Host::busybox) command = shell_command("busybox");
    shell_ = std::make_unique<Shell>(command, std::vector<std::string>{"PATH=" + dir_.path("bin") + ":" + path});
  }
  void new_watcher(std::vector<Job> jobs = {}) { probe_ = ProbeConversation::make(jobs.empty() ? std::vector<Job>{job_} : jobs, 0xfffffff0U); }
  Observation look(ProbeConversation& probe, Shell& shell) {
    const auto seen = shell.look(probe, {}, Seconds(90));
    if (!seen.empty()) return seen[0];
    ADD_FAILURE() << "the look did not end";
    return {};
  }
  /// One look, and the bytes that answered its requests for listings.
  Observation look() {
    const auto sent = shell_->sent.size(), got = shell_->got.size();
    const Observation seen = look(*probe_, *shell_);
    listing_bytes_ = bytes_of('D', sent, got);
    return seen;
  }
  [[nodiscard]] std::size_t bytes_of(char kind, std::size_t sent_from, std::size_t got_from) const {
    std::size_t bytes = 0;
    const std::string word = std::string("TV1 ") + kind + " ";
    for (auto at = shell_->sent.find(word, sent_from); at != std::string::npos; at = shell_->sent.find(word, at + 1)) {
      const std::string seq = "\n" + shell_->sent.substr(at + 6, 8);
      for (auto line = shell_->got.find(seq, got_from); line != std::string::npos; line = shell_->got.find(seq, line + 1))
        bytes += std::min(shell_->got.find('\n', line + 1), shell_->got.size()) - line;
    }
    return bytes;
  }
  static std::string facts(char type, std::int64_t bytes, std::int64_t seconds, const std::string& target) {
    return type + std::string(" ") + std::to_string(type == 'f' ? bytes : 0) + " " + std::to_string(seconds) + " " + target;
  }
  static std::map<std::string, std::string> told(const Observation& seen) {
    std::map<std::string, std::string> out;
    if (!seen.files) return {{"", seen.files_error.value_or("?")}};
    for (const FileEntry& e : seen.files->entries)
      out[e.path] = facts("fdl?"[static_cast<int>(e.type)], e.bytes.value_or(0), static_cast<std::int64_t>(e.mtime ? epoch_seconds(*e.mtime) : 0),
                          e.target.value_or(""));
    return out;
  }
  /// What is there in truth.
  std::map<std::string, std::string> truth() const {
    std::map<std::string, std::string> out;
    const fs::path top = dir_.path("run");
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      struct stat s {};
      EXPECT_EQ(::lstat(entry.path().c_str(), &s), 0);
      const char type = S_ISDIR(s.st_mode) ? 'd' : S_ISLNK(s.st_mode) ? 'l' : 'f';
      out[entry.path().string().substr(top.string().size() + 1)] =
          facts(type, s.st_size, s.st_mtim.tv_sec, type == 'l' ? fs::read_symlink(entry.path()).string() : "");
    }
    return out;
  }
  void grow(const std::string& name, std::size_t bytes) const { dir_.write(name, std::string(bytes, 'x')); }
  /// A last change that shares its second with no other, whatever the clock's grain: else all that does comes with it again. File times are of the
  /// coarse clock, which is a tick behind.
  void settle() const {
    timespec begin{}, now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &begin);
    do {
      ::usleep(10'000);
      ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (now.tv_sec == begin.tv_sec);
    dir_.write("run/settled/file", "");
  }
  void sparse(const std::string& name, std::int64_t bytes, double age_s) const {
    dir_.write(name, "");
    EXPECT_EQ(::truncate(dir_.path(name).c_str(), bytes), 0);
    set_age(name, age_s);
  }
  void set_age(const std::string& name, double age_s) const {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= static_cast<std::time_t>(age_s);
    const std::array<timespec, 2> times{now, now};
    EXPECT_EQ(::utimensat(AT_FDCWD, dir_.path(name).c_str(), times.data(), 0), 0);
  }

  TempDir dir_;
  Job job_;
  std::unique_ptr<Shell> shell_;
  std::shared_ptr<ProbeConversation> probe_;
  std::size_t listing_bytes_ = 0;
};

class ListingsOfAHost : public Listings, public ::testing::WithParamInterface<Host> {};

TEST_P(ListingsOfAHost, LaterLooksSendOnlyWhatChanged) {
  if (GetParam() == Host::no_gzip || GetParam() == Host::no_awk) GTEST_SKIP() << "as the usual host, or always the whole listing";
  if (GetParam() == Host::busybox && shell_command("busybox").empty()) GTEST_SKIP() << "busybox is not installed";
  for (int save = 0; save < 40; ++save) {
    for (int file = 0; file < 50; ++file) grow("run/checkpoint-" + std::to_string(save) + "/shard-" + std::to_string(file) + "-of-50", 10);
  }
  fs::create_symlink("checkpoint-39", dir_.path("run/last"));
  settle();
  start(GetParam());
  new_watcher();
  const Observation first = look();
  ASSERT_TRUE(first.files);
  EXPECT_EQ(first.files->entries.size(), 40U * 51 + 3);
  EXPECT_EQ(told(first), truth());
  // What was made while the first walk went on, or may have been, comes once more; afterwards nothing does.
  look();
  const std::size_t whole = 40 * 51 * 50;
  const auto step = [&](const std::string& what, std::size_t most_bytes) {
    EXPECT_EQ(told(look()), truth()) << what;
    EXPECT_LT(listing_bytes_, most_bytes) << what;
    EXPECT_LT(most_bytes, whole);
  };
  grow("run/checkpoint-40/shard-0-of-50", 10);
  step("a new save", 8000);
  grow("run/checkpoint-40/shard-0-of-50", 999);
  step("a file that grew", 8000);
  EXPECT_EQ(look().files, look().files) << "nothing new: the same listing";
  EXPECT_LT(listing_bytes_, 8000U);
  grow("run/checkpoint-7/shard-3-of-50", 77);
  set_age("run/checkpoint-7/shard-3-of-50", 86400);
  step("a copy that keeps its old time", 12000);
  fs::remove(dir_.path("run/checkpoint-8/shard-3-of-50"));
  step("a file that is gone", 16000);
  fs::remove_all(dir_.path("run/checkpoint-9"));
  step("a save that is gone", 16000);
  fs::rename(dir_.path("run/checkpoint-10"), dir_.path("run/checkpoint-99"));
  step("a save that was renamed", 24000);
  fs::rename(dir_.path("run/checkpoint-11/shard-4-of-50"), dir_.path("run/checkpoint-11/shard-x-of-50"));
  step("a file of another name", 16000);
  fs::remove(dir_.path("run/last"));
  fs::create_symlink("checkpoint-40", dir_.path("run/last"));
  step("a link to something else", 16000);
  dir_.write("run/odd \n name/with\nlines", "1");
  dir_.write("run/\nfirst/\n\nsecond", "12");
  step("names with newlines", 24000);
  fs::remove_all(dir_.path("run/odd \n name"));
  EXPECT_EQ(told(look()), truth()) << "names with newlines are gone";
}

TEST_P(ListingsOfAHost, ADirectoryThatMovedDeepDownIsFollowed) {
  if (GetParam() == Host::busybox && shell_command("busybox").empty()) GTEST_SKIP() << "busybox is not installed";
  grow("run/a/b/c/d/one", 5);
  grow("run/z/keep", 5);
  start(GetParam());
  new_watcher();
  look();
  fs::rename(dir_.path("run/a/b"), dir_.path("run/z/b"));
  EXPECT_EQ(told(look()), truth());
  fs::remove_all(dir_.path("run/z"));
  EXPECT_EQ(told(look()), truth());
  fs::remove_all(dir_.path("run"));
  EXPECT_EQ(look().files_error, "missing");
  grow("run/new", 1);
  EXPECT_EQ(told(look()), truth());
}

INSTANTIATE_TEST_SUITE_P(With, ListingsOfAHost, ::testing::Values(Host::usual, Host::busybox, Host::no_gzip, Host::no_awk), [](const auto& host) {
  switch (host.param) {
    case Host::usual:
      return "usual";
    case Host::busybox:
      return "busybox";
    case Host::no_gzip:
      return "no_gzip";
    case Host::no_awk:
      break;
  }
  return "no_awk";
});

TEST_F(Listings, OneDirectoryOfManyFilesIsNotSentAgainForOneOfThem) {
  for (int i = 0; i < 5000; ++i) grow("run/step_" + std::to_string(i), 3);
  settle();
  start();
  new_watcher();
  ASSERT_TRUE(look().files);
  look();
  grow("run/step_5000", 3);
  EXPECT_EQ(told(look()), truth());
  EXPECT_LT(listing_bytes_, 20'000U);
  fs::remove(dir_.path("run/step_17"));
  EXPECT_EQ(told(look()), truth());
}

TEST_F(Listings, ALostSessionCostsNoListing) {
  for (int i = 0; i < 2000; ++i) grow("run/" + std::to_string(i % 50) + "/file-" + std::to_string(i), 3);
  settle();
  start();
  new_watcher();
  look();
  look();
  start();
  probe_->opened();
  grow("run/7/new", 3);
  EXPECT_EQ(told(look()), truth());
  EXPECT_LT(listing_bytes_, 16'000U) << shell_->sent.substr(shell_->sent.find("tv_main; exit"));
  new_watcher();
  probe_->opened();
  start();
  EXPECT_EQ(told(look()), truth()) << "a watcher that starts again knows nothing and asks for all";
}

/// Forty directories share the bounded answer, so that each share is soon full.
class Cut : public Listings {
 protected:
  static constexpr int kJobs = 40;
  static constexpr std::size_t kShare = 2'500'000 / kJobs;
  void watch() {
    std::vector<Job> jobs(kJobs, job_);
    for (int i = 1; i < kJobs; ++i) jobs[static_cast<std::size_t>(i)].checkpoints = dir_.path("none-" + std::to_string(i));
    start();
    new_watcher(jobs);
  }
  /// Letters that no packing makes shorter.
  std::string noise(std::size_t length) {
    std::string text;
    while (text.size() < length) text += static_cast<char>('\x80' + random_() % 0x7f);
    return text;
  }
  std::minstd_rand random_{17};
};

TEST_F(Cut, ManySmallFilesCrowdOutNoCheckpoint) {
  sparse("run/latest", 6, 90000);
  for (int i = 1; i <= 5; ++i) sparse("run/step_" + std::to_string(i * 1000) + ".pt", 500'000'000, 86400 - i * 600);
  for (int i = 0; i < 2000; ++i) sparse("run/" + noise(100) + std::to_string(i), 10, i);
  for (int i = 0; i < 500; ++i) sparse("run/sample-" + noise(60) + ".png", 300'000, 1);
  watch();
  const Observation seen = look();
  ASSERT_TRUE(seen.files);
  EXPECT_TRUE(seen.files->cut);
  ASSERT_TRUE(seen.files->cut_why);
  EXPECT_NE(seen.files->cut_why->find("small files"), std::string::npos) << *seen.files->cut_why;
  EXPECT_EQ(status_of(seen, "files"), SensorStatus::cut);
  for (const char* path : {"step_1000.pt", "step_5000.pt", "latest"}) EXPECT_NE(find_entry(seen, path), nullptr) << path;
  EXPECT_GT(seen.files->entries.size(), 100U);
  EXPECT_LT(listing_bytes_, 4 * kShare) << "no more than four answers of its share";
  // Later looks are as short as those of a whole listing, and as right.
  look();
  sparse("run/step_6000.pt", 500'000'000, 0);
  const Observation later = look();
  EXPECT_NE(find_entry(later, "step_6000.pt"), nullptr);
  EXPECT_NE(find_entry(later, "step_1000.pt"), nullptr);
  EXPECT_TRUE(later.files->cut);
  EXPECT_LT(listing_bytes_, kShare);
}

TEST_F(Cut, OfManySavesTheNewestStay) {
  for (int save = 0; save < 60; ++save) {
    const std::string name = "run/checkpoint-" + std::to_string(save);
    for (int file = 0; file < 40; ++file) sparse(name + "/" + noise(60) + std::to_string(file), 200'000, (60 - save) * 3600);
    set_age(name, (60 - save) * 3600);
  }
  sparse("run/results.csv", 500, 100 * 3600);
  watch();
  const Observation seen = look();
  ASSERT_TRUE(seen.files && seen.files->cut);
  ASSERT_TRUE(seen.files->cut_before);
  std::map<std::string, int> files;
  for (const FileEntry& entry : seen.files->entries) ++files[entry.path.substr(0, entry.path.find('/'))];
  EXPECT_EQ(files["checkpoint-59"], 41);
  EXPECT_EQ(files["checkpoint-58"], 41);
  EXPECT_EQ(files["checkpoint-55"], 41);
  EXPECT_EQ(files["checkpoint-0"], 0);
  EXPECT_EQ(files["results.csv"], 1) << "what tells progress stays, however old";
  EXPECT_LT(listing_bytes_, 4 * kShare);
}

TEST_F(Cut, WhereAllTimesAreEqualSomeStayAndItIsSaid) {
  for (int i = 0; i < 2000; ++i) sparse("run/" + noise(100) + std::to_string(i), 10, 5000);
  watch();
  const Observation seen = look();
  ASSERT_TRUE(seen.files && seen.files->cut && seen.files->cut_why);
  EXPECT_GT(seen.files->entries.size(), 100U);
}

}  // namespace
}  // namespace trainvigil
