// What tiny reads say of files that are whole, cut short, emptied, zeroed and damaged. Above all: no whole file is called broken, no broken one ok.
#include <gtest/gtest.h>

#include <random>

#include "layouts/integrity_fixture.hpp"

namespace trainvigil {
namespace {

using test::integrity_of;

struct Sample {
  std::string name;
  std::string content;
  Integrity whole = Integrity::ok;
};

std::vector<Sample> samples() {
  const std::vector<std::pair<std::string, std::string>> members{
      {"m/data.pkl", std::string(300, 'p')}, {"m/data/0", std::string(9000, 'w')}, {"m/version", "3\n"}};
  return {
      {"model.safetensors", test::safetensors(5000)},
      {"padded.safetensors", test::safetensors(10, "       ")},
      {"long-header.safetensors", test::safetensors(10, std::string(1'500'000, ' '))},
      {"optimizer.pt", test::zip(members, true)},
      {"best.pth", test::zip(members, false)},
      {"commented.zip", test::zip(members, false, "made by a test")},
      {"long-comment.zip", test::zip(members, false, std::string(60'000, 'c'))},
      {"weights.npz", test::zip(members, false)},
      {"model.keras", test::zip(members, false)},
      {"a.npy", test::npy(700)},
      {"model.weights.h5", test::hdf5(20'000)},
      {"ckpt-1.index", test::table(4000)},
      {"state.pkl", std::string("\x80\x04\x95\x05\0\0\0\0\0\0\0\x8c\x02hi\x94.", 17)},
      {".metadata", std::string("\x80\x02}q\0X\x01\0\0\0aq\x01K\x01s.", 17)},
      {"trainer_state.json", "{\"epoch\": 1.0, \"loss\": NaN, \"log_history\": [{\"text\": \"a } b \\\" c\"}], \"max_steps\": 5}\n"},
      {"config.json", "{\n  \"a\": [1, 2, {}]\n}"},
      {"old.pt", std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e\x80\x02M\xe9\x03.", 21) + std::string(5000, 'r'),
       Integrity::unchecked},
      {"model.gguf", test::gguf(0, false)},
      {"large.pkl", "\x80\x04\x96" + test::little(3'000'000, 8) + std::string(3'000'000, '.') + "\x94.", Integrity::unchecked},
      {"other.bin", std::string(5000, 'b'), Integrity::unchecked},
      {"metrics.json", "{\"a\": 1}\n{\"a\": 2}\n", Integrity::unchecked},
  };
}

TEST(Integrity, WholeFilesAreNeverCalledBroken) {
  for (const auto& s : samples()) {
    for (const bool all : {false, true}) {
      const auto step = integrity_of(s.name, s.content, all);
      const bool seen_whole = all && s.name == "large.pkl";
      EXPECT_EQ(step.verdict, seen_whole ? Integrity::ok : s.whole) << s.name << ": " << step.why;
    }
  }
}

TEST(Integrity, FilesCutAnywhereAreNeverCalledOk) {
  std::mt19937 random(3);
  for (const auto& s : samples()) {
    if (s.whole != Integrity::ok) continue;
    for (int round = 0; round < 40; ++round) {
      const auto keep = std::uniform_int_distribution<std::size_t>(0, s.content.size() - 1)(random);
      if (s.name.ends_with(".json") && s.content.find_last_not_of('\n') < keep) continue;
      const auto step = integrity_of(s.name, s.content.substr(0, keep));
      EXPECT_NE(step.verdict, Integrity::ok) << s.name << " cut to " << keep << " of " << s.content.size();
    }
  }
}

TEST(Integrity, FilesWithoutTheirFirstBytesAreNeverCalledOk) {
  for (const auto& s : samples()) {
    if (s.whole != Integrity::ok) continue;
    for (std::size_t cut : {1U, 4U, 8U}) {
      if (s.name.ends_with(".json") && cut > 1) continue;
      EXPECT_NE(integrity_of(s.name, s.content.substr(std::min(cut, s.content.size()))).verdict, Integrity::ok) << s.name << " without " << cut;
    }
  }
}

TEST(Integrity, EmptyAndZeroedFilesAreCutShort) {
  for (const auto& s : samples()) {
    if (s.name == "other.bin") continue;
    EXPECT_EQ(integrity_of(s.name, "").verdict, Integrity::truncated) << s.name;
    EXPECT_EQ(integrity_of(s.name, std::string(s.content.size(), '\0')).verdict, Integrity::truncated) << s.name;
  }
}

TEST(Integrity, SafetensorsTellsItsFinalSizeWhileItIsWritten) {
  const auto content = test::safetensors(5000);
  const auto step = integrity_of("model.safetensors", content.substr(0, 4000));
  EXPECT_EQ(step.verdict, Integrity::truncated);
  EXPECT_EQ(step.expected_bytes, static_cast<std::int64_t>(content.size()));
}

TEST(Integrity, SafetensorsWithHolesOrWrongLengthsIsBad) {
  auto content = test::safetensors(100);
  const auto at = content.find("[0,400]");
  content.replace(at, 7, "[4,400]");
  EXPECT_EQ(integrity_of("m.safetensors", content).verdict, Integrity::bad);
  EXPECT_EQ(integrity_of("m.safetensors", test::safetensors(100) + "x").verdict, Integrity::bad);
  EXPECT_EQ(integrity_of("m.safetensors", std::string(300, 'x')).verdict, Integrity::bad);
}

TEST(Integrity, GgufBehindALongVocabularyIsReadOnlyWhenAllIs) {
  const auto content = test::gguf(300'000);
  EXPECT_EQ(integrity_of("m.gguf", content).verdict, Integrity::unchecked);
  EXPECT_EQ(integrity_of("m.gguf", content, true).verdict, Integrity::ok);
  EXPECT_EQ(integrity_of("m.gguf", content.substr(0, content.size() - 29), true).verdict, Integrity::truncated);
  EXPECT_EQ(integrity_of("m.gguf", content + std::string(100, 'x'), true).verdict, Integrity::unchecked);
  EXPECT_EQ(integrity_of("m.gguf", test::gguf()).verdict, Integrity::ok);
  EXPECT_EQ(integrity_of("m.gguf", test::gguf().substr(0, 390)).verdict, Integrity::unchecked);
  const auto step = integrity_of("m.gguf", test::gguf().substr(0, 380));
  EXPECT_EQ(step.verdict, Integrity::truncated);
  EXPECT_EQ(step.expected_bytes, static_cast<std::int64_t>(test::gguf(0, false).size()));
}

TEST(Integrity, ALargePickleIsFollowedOnlyWhenAllIsRead) {
  const std::string blob(3'000'000, '.');
  const std::string content =
      std::string("\x80\x04", 2) + "\x96" + test::little(blob.size(), 8) + blob + "\x94\x8e" + test::little(blob.size(), 8) + blob + "\x94\x86.";
  EXPECT_EQ(integrity_of("m.pkl", content).verdict, Integrity::unchecked) << "its last byte alone proves nothing";
  EXPECT_EQ(integrity_of("m.pkl", content, true).verdict, Integrity::ok);
  // Every byte of the arrays is the mark of a pickle's end.
  EXPECT_EQ(integrity_of("m.pkl", content.substr(0, 2'000'000), true).verdict, Integrity::truncated);
  EXPECT_EQ(integrity_of("m.pkl", content.substr(0, 5'000'000), true).verdict, Integrity::truncated);
}

TEST(Integrity, HdfThatAWriterHasOpenIsNotWhole) {
  EXPECT_EQ(integrity_of("m.h5", test::hdf5(20'000, 1)).verdict, Integrity::truncated);
  EXPECT_EQ(integrity_of("m.h5", std::string(512, 'u') + test::hdf5(20'000)).verdict, Integrity::ok) << "a user block was put before it";
  EXPECT_EQ(integrity_of("m.h5", std::string(512, 'u') + test::hdf5(20'000).substr(0, 19'999)).verdict, Integrity::truncated);
  EXPECT_EQ(integrity_of("m.h5", std::string(65'536, '\0') + test::hdf5(20'000)).verdict, Integrity::ok) << "nothing was put into the user block";
}

TEST(Integrity, AFileThatShrinksBetweenReadsEndsTheQuestions) {
  std::vector<ByteChunk> chunks{{0, ""}, {3000, ""}};
  const auto step = check_integrity("model.safetensors", 5000, chunks);
  EXPECT_TRUE(step.more.empty());
  EXPECT_EQ(step.verdict, Integrity::truncated);
}

TEST(Integrity, AnyBytesAreAnswered) {
  std::mt19937 random(11);
  for (const auto& s : samples()) {
    for (int round = 0; round < 60; ++round) {
      auto content = s.content.substr(0, 4000);
      for (int k = 0; k < 20; ++k) content[std::uniform_int_distribution<std::size_t>(0, content.size() - 1)(random)] = static_cast<char>(random());
      EXPECT_NO_THROW(integrity_of(s.name, content, round % 2 == 0)) << s.name;
    }
  }
}

TEST(Integrity, NamesWithoutAFormatAreLeftAlone) {
  EXPECT_FALSE(integrity_readable("__0_0.distcp", 5000));
  EXPECT_FALSE(integrity_readable("train.log", 5000));
  EXPECT_TRUE(integrity_readable("a/b/model.safetensors", 5000));
  EXPECT_TRUE(integrity_readable("a/.metadata", 5000));
}

}  // namespace
}  // namespace trainvigil
