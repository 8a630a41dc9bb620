// Files written by the real libraries, where they are installed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "layouts/integrity_fixture.hpp"

namespace trainvigil {
namespace {

namespace fs = std::filesystem;

class RealFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "trainvigil-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    const auto list = folder / "made";
    const std::string command =
        "/usr/bin/python3 -B '" TV_SOURCE_DIR "/tests/layouts/make_files.py' '" + folder.string() + "' > '" + list.string() + "' 2> /dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no /usr/bin/python3";
    std::istringstream lines(test::slurp(list.string()));
    for (std::string name; std::getline(lines, name);) names.push_back(name);
    if (names.empty()) GTEST_SKIP() << "python3 made no files";
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }

  fs::path folder;
  std::vector<std::string> names;
};

TEST_F(RealFiles, WholeOnesAreOk) {
  for (const auto& name : names) {
    for (const bool all : {false, true}) {
      const auto step = test::integrity_of(name, test::slurp(folder / name), all);
      EXPECT_EQ(step.verdict, name == "legacy.pt" ? Integrity::unchecked : Integrity::ok) << name << ": " << step.why;
    }
  }
}

TEST_F(RealFiles, CutOnesAreNot) {
  for (const auto& name : names) {
    const auto content = test::slurp(folder / name);
    const std::set<std::size_t> keeps{
        0, 1, 4, 8, 60, content.size() / 3, content.size() / 2, content.size() - 98, content.size() - 22, content.size() - 1};
    for (const auto keep : keeps) {
      if (keep >= content.size()) continue;
      const auto step = test::integrity_of(name, content.substr(0, keep));
      EXPECT_NE(step.verdict, Integrity::ok) << name << " cut to " << keep << " of " << content.size();
    }
    for (const std::size_t cut : {1U, 8U, 100U})
      EXPECT_NE(test::integrity_of(name, content.substr(cut)).verdict, Integrity::ok) << name << " without its first " << cut;
  }
}

}  // namespace
}  // namespace trainvigil
