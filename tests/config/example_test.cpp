// The commented example is part of the program: it has to say what the program does.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "trainvigil/config.hpp"

namespace trainvigil {
namespace {

/// The settings that are off (a # and no blank) switched on.
std::string all_on() {
  std::istringstream in{std::string(example_config())};
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool off = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out += (off ? line.substr(1) : line) + '\n';
  }
  return out;
}

TEST(ExampleConfig, EqualsTheDefaults) {
  const auto config = parse_config(example_config(), "example");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(*config, Config{});
}

TEST(ExampleConfig, WhatIsOffIsWrittenRightly) {
  const auto config = parse_config(all_on(), "example");
  ASSERT_TRUE(config.has_value()) << config.error().front().text();
  EXPECT_EQ(config->jobs.size(), 1U);
  EXPECT_EQ(config->hosts.size(), 1U);
}

TEST(ExampleConfig, ShowsEveryKey) {
  const std::string text = all_on();
  for (const std::string& key : config_keys()) {
    const std::string bare = key.substr(key.find('.') == std::string::npos ? 0 : key.find('.') + 1);
    // Totals exclude each other; the second is in the comment.
    EXPECT_NE(text.find(bare + " = "), std::string::npos) << key;
  }
}

TEST(ExampleConfig, IsTheFileThatIsInstalled) {
  std::ifstream in(TV_SOURCE_DIR "/config/trainvigil.toml", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, example_config());
}

}  // namespace
}  // namespace trainvigil
