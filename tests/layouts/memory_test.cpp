// What is remembered between listings: rewrites of in-place saves, growth, the first save of a run, rotation.
#include <gtest/gtest.h>

#include "trainvigil/checkpoint.hpp"

namespace trainvigil {
namespace {

constexpr double kStart = 1'800'000'000;

FileEntry file(std::string path, std::int64_t bytes, double at, Integrity integrity = Integrity::ok) {
  FileEntry e;
  e.path = std::move(path);
  e.bytes = bytes;
  e.mtime = host_time(kStart + at);
  e.integrity = integrity;
  return e;
}

class Watch : public testing::Test {
 protected:
  CheckpointView look(double at, std::vector<FileEntry> entries) {
    Listing listing;
    listing.entries = std::move(entries);
    LayoutInput in;
    in.listing = &listing;
    in.now = host_time(kStart + at);
    in.run_start = start;
    in.alive = true;
    in.epochs = 10;
    return judge_listing(in, memory);
  }

  LayoutMemory memory;
  std::optional<HostTime> start = host_time(kStart);
};

TEST_F(Watch, CountsRewritesOfAnInPlaceSave) {
  look(10, {});
  EXPECT_EQ(look(100, {file("last.pt", 20'000'000, 100, Integrity::truncated)}).checkpoints.at(0).done, 0);
  auto view = look(130, {file("last.pt", 60'000'000, 110)});
  EXPECT_TRUE(view.in_place);
  EXPECT_EQ(view.checkpoints.at(0).done, 1);
  EXPECT_EQ(view.checkpoints.at(0).state, CheckpointState::complete);
  EXPECT_EQ(look(160, {file("last.pt", 60'000'000, 110)}).checkpoints.at(0).done, 1);
  EXPECT_EQ(look(200, {file("last.pt", 60'000'000, 195)}).checkpoints.at(0).done, 2) << "a save between two looks";
  EXPECT_EQ(look(300, {file("last.pt", 10'000'000, 300, Integrity::truncated)}).checkpoints.at(0).done, 2);
  EXPECT_EQ(look(330, {file("last.pt", 60'000'000, 310)}).checkpoints.at(0).done, 3) << "once for a save that was seen growing";
}

TEST_F(Watch, DoesNotGuessRewritesWhenItCameLate) {
  EXPECT_EQ(look(5000, {file("last.pt", 60'000'000, 4900)}).checkpoints.at(0).done, std::nullopt);
  EXPECT_EQ(look(5100, {file("last.pt", 60'000'000, 5090)}).checkpoints.at(0).done, std::nullopt);
}

TEST_F(Watch, AnEarlierRunsInPlaceSaveIsNoRewriteOfThisOne) {
  EXPECT_EQ(look(10, {file("last.pt", 60'000'000, -9000)}).checkpoints.at(0).done, 0);
  EXPECT_EQ(look(200, {file("last.pt", 60'000'000, 190)}).checkpoints.at(0).done, 1);
}

TEST_F(Watch, AShrunkenFileIsBeingWritten) {
  look(10, {});
  look(100, {file("ckpt.pt", 60'000'000, 50, Integrity::unchecked)});
  EXPECT_EQ(look(130, {file("ckpt.pt", 20'000'000, 130, Integrity::unchecked)}).checkpoints.at(0).state, CheckpointState::saving);
}

TEST_F(Watch, ASaveThatStillChangesIsNotCalledWholeBecauseTheFileServersClockIsBehind) {
  const double behind = -600;
  look(100, {});
  // Uncertified, each file whole in itself, times ten minutes old although they were written just now.
  auto view = look(130, {file("0/model.safetensors", 60'000'000, 125 + behind)});
  EXPECT_EQ(view.checkpoints.at(0).state, CheckpointState::saving);
  view = look(160, {file("0/model.safetensors", 60'000'000, 125 + behind), file("0/extra.safetensors", 60'000'000, 150 + behind)});
  EXPECT_EQ(view.checkpoints.at(0).state, CheckpointState::saving);
  const std::vector<FileEntry> whole{file("0/model.safetensors", 60'000'000, 125 + behind), file("0/extra.safetensors", 60'000'000, 150 + behind)};
  EXPECT_EQ(look(180, whole).checkpoints.at(0).state, CheckpointState::saving);
  EXPECT_EQ(look(240, whole).checkpoints.at(0).state, CheckpointState::complete);
}

TEST_F(Watch, ASaveFromTheFutureIsWholeOnceNothingChanges) {
  const std::vector<FileEntry> ahead{file("ckpt.pt", 60'000'000, 900, Integrity::unchecked)};
  EXPECT_EQ(look(100, ahead).checkpoints.at(0).state, CheckpointState::saving);
  EXPECT_EQ(look(130, ahead).checkpoints.at(0).state, CheckpointState::saving);
  EXPECT_EQ(look(170, ahead).checkpoints.at(0).state, CheckpointState::complete);
}

TEST_F(Watch, AnOldSaveThatLosesFilesIsNotBeingWritten) {
  const auto save = [](int n, double at) {
    const auto dir = "epoch_" + std::to_string(n) + "/";
    return std::vector<FileEntry>{file(dir + "a.safetensors", 60'000'000, at), file(dir + "b.safetensors", 60'000'000, at)};
  };
  std::vector<FileEntry> both = save(1, 100), second = save(2, 700);
  both.insert(both.end(), second.begin(), second.end());
  look(800, both);
  both.erase(both.begin());
  const auto view = look(830, both);
  ASSERT_EQ(view.checkpoints.size(), 2U);
  EXPECT_EQ(view.checkpoints.at(1).state, CheckpointState::partial);
  EXPECT_TRUE(view.checkpoints.at(1).being_deleted);
}

TEST_F(Watch, LooksFarApartLeaveItToTheTimes) {
  look(100, {});
  EXPECT_EQ(look(700, {file("0/model.safetensors", 60'000'000, 300)}).checkpoints.at(0).state, CheckpointState::complete);
}

TEST_F(Watch, TheSaveBeforeItTellsHowLargeASaveGets) {
  const std::vector<FileEntry> first{file("0/model.safetensors", 60'000'000, 100), file("0/optim.safetensors", 40'000'000, 110)};
  look(400, first);
  auto both = first;
  both.push_back(file("1/model.safetensors", 25'000'000, 500, Integrity::truncated));
  const auto view = look(500, both);
  ASSERT_EQ(view.in_progress.size(), 1U);
  EXPECT_EQ(view.in_progress.at(0).expected_bytes, 100'000'000);
  EXPECT_EQ(written_share(view.in_progress.at(0)), 0.25);
  auto whole = both;
  whole.back() = file("1/model.safetensors", 60'000'000, 510);
  whole.push_back(file("1/optim.safetensors", 50'000'000, 512));
  EXPECT_TRUE(look(530, whole).in_progress.empty());
}

TEST_F(Watch, AFileWithoutEndMarkIsNotWholeWhileItGrowsBeyondTheOneBefore) {
  const auto first = file("epoch_1.pt", 10'000'000, 100, Integrity::unchecked);
  look(400, {first});
  look(430, {first, file("epoch_2.pt", 9'999'000, 429, Integrity::unchecked)});
  const auto view = look(460, {first, file("epoch_2.pt", 10'000'500, 458, Integrity::unchecked)});
  EXPECT_EQ(view.checkpoints.at(0).state, CheckpointState::saving) << "as large as the first one, and it grew since the last look";
  EXPECT_EQ(look(490, {first, file("epoch_2.pt", 10'000'600, 461, Integrity::unchecked)}).checkpoints.at(0).state, CheckpointState::saving);
  EXPECT_EQ(look(520, {first, file("epoch_2.pt", 10'000'600, 461, Integrity::unchecked)}).checkpoints.at(0).state, CheckpointState::complete);
}

TEST_F(Watch, ASaveOfWhichNothingCouldBeListedHasNoSizeAndIsNoDamage) {
  Listing listing;
  FileEntry directory;
  directory.path = "checkpoint-100";
  directory.type = FileType::directory;
  directory.mtime = host_time(kStart);
  listing.entries = {directory};
  listing.cut = true;
  LayoutInput in;
  in.listing = &listing;
  in.now = host_time(kStart + 900);
  auto view = judge_listing(in, memory);
  ASSERT_EQ(view.checkpoints.size(), 1U);
  EXPECT_EQ(view.checkpoints.at(0).bytes, std::nullopt);
  EXPECT_TRUE(view.checkpoints.at(0).unproven);
  EXPECT_EQ(view.checkpoints.at(0).why, "nothing of it could be listed");
  listing.cut = false;
  view = judge_listing(in, memory);
  EXPECT_EQ(view.checkpoints.at(0).bytes, 0);
  EXPECT_FALSE(view.checkpoints.at(0).unproven);
  EXPECT_EQ(view.checkpoints.at(0).why, "empty directory");
}

TEST_F(Watch, RemembersWhereTheRunBeganAfterRotation) {
  const auto old = [](int epoch) { return file("epoch_" + std::to_string(epoch) + ".pth", 60'000'000, -90'000 + epoch * 600); };
  look(100, {old(1), old(2), old(3), old(4), old(5)});
  look(1000, {file("epoch_1.pth", 60'000'000, 900), old(2), old(3), old(4), old(5)});
  look(2000, {file("epoch_2.pth", 60'000'000, 1900), old(3), old(4), old(5)});
  // Its first own save was 1; that it is gone makes the old third one no part of this run.
  const auto view = look(4000, {old(3), file("epoch_4.pth", 60'000'000, 3900), old(5)});
  for (const auto& c : view.checkpoints) EXPECT_EQ(c.state, c.value == 4 ? CheckpointState::complete : CheckpointState::stale) << c.path;
  ASSERT_NE(last_good(view), nullptr);
  EXPECT_EQ(last_good(view)->value, 4);
}

TEST_F(Watch, SaysWhenRotationTookOneAway) {
  look(1000, {file("epoch_1.pth", 60'000'000, 500)});
  look(2000, {file("epoch_1.pth", 60'000'000, 500), file("epoch_2.pth", 60'000'000, 1500)});
  EXPECT_TRUE(look(2100, {file("epoch_2.pth", 60'000'000, 1500)}).rotated);
  EXPECT_FALSE(look(2200, {file("epoch_2.pth", 60'000'000, 1500)}).rotated);
}

TEST_F(Watch, MemoryStaysSmall) {
  std::vector<FileEntry> entries;
  for (int i = 0; i < 5000; ++i) entries.push_back(file("epoch_" + std::to_string(i) + ".pth", 60'000'000, i));
  look(9000, entries);
  EXPECT_LE(memory.files.size(), 256U);
}

TEST_F(Watch, OfASaveThatTheListingHoldsInPartNothingIsSaid) {
  Listing listing;
  for (int save = 1; save <= 4; ++save) {
    // Of the second one the first half is older than what the listing holds.
    for (int shard = save == 2 ? 5 : 1; shard <= 9 && save > 1; ++shard)
      listing.entries.push_back(file("checkpoint-" + std::to_string(save) + "00/model-0000" + std::to_string(shard) + "-of-00009.safetensors",
                                     60'000'000, save * 10'000 + shard * 10));
  }
  listing.entries.push_back(file("step_7.pt", 60'000'000, 20'045));
  listing.cut = true;
  LayoutInput in;
  in.listing = &listing;
  in.now = host_time(kStart + 50'000);
  LayoutMemory uncut, cut;
  EXPECT_EQ(judge_listing(in, uncut).checkpoints.size(), 4U);
  listing.cut_before = host_time(kStart + 20'045);
  listing.cut_why = "the oldest are left out";
  const auto view = judge_listing(in, cut);
  EXPECT_EQ(view.cut, "the oldest are left out");
  ASSERT_EQ(view.checkpoints.size(), 3U) << "a single file is there or is not";
  for (const auto& c : view.checkpoints) EXPECT_NE(c.path, "checkpoint-200");
}

TEST_F(Watch, AnyListingIsAnswered) {
  std::vector<FileEntry> entries;
  const std::string deep = [] {
    std::string s;
    for (int i = 0; i < 300; ++i) s += "d/";
    return s + "epoch_1.pt";
  }();
  for (const std::string& path :
       {std::string(), std::string("."), std::string("./"), std::string("/"), std::string("//a"), std::string("a//epoch_1.pt"),
        std::string("\xff\xfe\n\x1b[31m_5.pt"), deep, std::string(4000, 'x') + "_1.pt", std::string("epoch_99999999999999999999999.pt"),
        std::string("checkpoint-"), std::string("-"), std::string("5"), std::string("_5_6_7_8_9_10_11.pt")}) {
    for (auto type : {FileType::file, FileType::directory, FileType::link, FileType::other}) {
      FileEntry e;
      e.path = path;
      e.type = type;
      entries.push_back(e);
    }
  }
  EXPECT_NO_THROW(look(100, entries));
  EXPECT_NO_THROW(look(200, entries));
}

}  // namespace
}  // namespace trainvigil
