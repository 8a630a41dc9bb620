// Every listing of data/*.txt is judged as it says; order of entries and names of unrelated files do not matter.
#include <gtest/gtest.h>

#include <random>

#include "layouts/listing_fixture.hpp"

namespace trainvigil {
namespace {

using test::Fixture;

class Frameworks : public testing::TestWithParam<Fixture> {};

CheckpointView judge(const Fixture& f) {
  LayoutMemory memory;
  return judge_listing(f.input(), memory);
}

TEST_P(Frameworks, IsJudgedAsWritten) {
  const auto& f = GetParam();
  const auto view = judge(f);
  SCOPED_TRACE(f.name + "\n" + test::describe(view));
  auto have = test::numbered_of(view);
  auto want = f.numbered;
  std::sort(have.begin(), have.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(have, want);
  for (const auto& [path, state] : f.unnumbered) {
    const auto it =
        std::find_if(view.checkpoints.begin(), view.checkpoints.end(), [&path = path](const Checkpoint& c) { return c.path == path && !c.value; });
    ASSERT_NE(it, view.checkpoints.end()) << path;
    EXPECT_EQ(test::text_of(it->state), state) << path;
  }
  for (const auto& path : f.in_progress)
    EXPECT_TRUE(std::any_of(view.in_progress.begin(), view.in_progress.end(), [&](const SaveInProgress& p) { return p.path == path; })) << path;
  if (f.progress) {
    ASSERT_TRUE(view.progress);
    const auto number = [](std::optional<double> v) { return v ? std::to_string(static_cast<std::int64_t>(*v)) : "-"; };
    EXPECT_EQ(number(view.progress->done) + "/" + number(view.progress->total) + " " + test::text_of(view.progress->unit), *f.progress);
  }
  EXPECT_EQ(view.end_artefact.value_or(""), f.end.value_or(""));
}

TEST_P(Frameworks, OrderOfTheListingDoesNotMatter) {
  auto f = GetParam();
  const auto view = judge(f);
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(f.listing.entries.begin(), f.listing.entries.end(), random);
    std::shuffle(f.listing.state_files.begin(), f.listing.state_files.end(), random);
    const auto again = judge(f);
    EXPECT_EQ(again.checkpoints, view.checkpoints) << f.name << "\n" << test::describe(view) << test::describe(again);
    EXPECT_EQ(again.end_artefact, view.end_artefact);
  }
}

TEST_P(Frameworks, ACompleteSaveWhoseLargestFileIsCutShortIsNotComplete) {
  const auto& f = GetParam();
  const auto view = judge(f);
  for (const auto& c : view.checkpoints) {
    if (c.state != CheckpointState::complete) continue;
    auto cut = f;
    FileEntry* largest = nullptr;
    for (auto& e : cut.listing.entries)
      if (e.type == FileType::file && (e.path == c.path || e.path.starts_with(c.path + "/")) && (!largest || e.bytes > largest->bytes)) largest = &e;
    if (!largest || largest->bytes.value_or(0) < 100'000) continue;
    largest->bytes = *largest->bytes / 3;
    largest->integrity = Integrity::truncated;
    for (const auto& again : judge(cut).checkpoints) {
      if (again.path == c.path) {
        EXPECT_NE(again.state, CheckpointState::complete) << f.name << " " << c.path;
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<Fixture>& fixture) {
  std::string name;
  for (char c : fixture.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + std::to_string(fixture.index);
}

INSTANTIATE_TEST_SUITE_P(Listings, Frameworks, testing::ValuesIn(test::read_fixtures("frameworks.txt")), test_name);
INSTANTIATE_TEST_SUITE_P(PartLists, Frameworks, testing::ValuesIn(test::read_fixtures("part_lists.txt")), test_name);
INSTANTIATE_TEST_SUITE_P(MoreListings, Frameworks, testing::ValuesIn(test::read_fixtures("more_frameworks.txt")), test_name);

}  // namespace
}  // namespace trainvigil
