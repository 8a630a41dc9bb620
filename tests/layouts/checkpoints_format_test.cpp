#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

CheckpointView view() {
  CheckpointView v;
  v.unit = Unit::epoch;
  Checkpoint c;
  c.path = "ep\xff\n\x1b[31m";
  c.value = 0;
  c.done = 1;
  c.unit = Unit::epoch;
  c.bytes = 4'700'000'000;
  c.modified = host_time(1'764'422'460);
  c.why = "training_state.json, written last, is there";
  c.run = CheckpointRun::this_run;
  v.checkpoints.push_back(c);
  Checkpoint bare;
  bare.path = "last.pt";
  bare.state = CheckpointState::saving;
  v.checkpoints.push_back(bare);
  return v;
}

TEST(CheckpointsJson, HasTheKeysOfTheContract) {
  const auto json = nlohmann::json::parse(format_checkpoints_json(view()));
  EXPECT_EQ(json["schema"], "trainvigil.checkpoints/1");
  EXPECT_EQ(json["unit"], "epoch");
  const auto& first = json["checkpoints"].at(0);
  EXPECT_EQ(unescape_bytes(first["path"].get<std::string>()), "ep\xff\n\x1b[31m");
  EXPECT_EQ(first["modified"], "2025-11-29T13:21:00Z");
  EXPECT_EQ(first["state"], "complete");
  EXPECT_EQ(first["done"], 1);
  EXPECT_TRUE(json.at("cut").is_null());
  auto cut = view();
  cut.cut = "the oldest are left out";
  EXPECT_EQ(nlohmann::json::parse(format_checkpoints_json(cut))["cut"], "the oldest are left out");
  const auto& second = json["checkpoints"].at(1);
  for (const char* key : {"value", "done", "unit", "bytes", "modified"}) EXPECT_TRUE(second.at(key).is_null()) << key;
}

TEST(CheckpointsTable, IsHarmlessAndAligned) {
  const auto text = format_checkpoints_table(view(), host_time(1'764'422'495), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("4.7 GB"), std::string::npos);
  EXPECT_NE(text.find("35 s ago"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(format_checkpoints_table({}, std::nullopt, {}), "No checkpoint there.\n");
}

}  // namespace
}  // namespace trainvigil
