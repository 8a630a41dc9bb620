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

TEST(CheckpointsJson, SaysWhatIsBeingWrittenAndHowMuchOfIt) {
  CheckpointView v = view();
  v.in_progress.push_back({"1", 2'000'000'000, 4'700'000'000, host_time(1'764'422'460), "no training_state.json", false});
  v.in_progress.push_back({"tmp-x", 5, std::nullopt, std::nullopt, "a temporary name", true});
  const auto json = nlohmann::json::parse(format_checkpoints_json(v));
  EXPECT_EQ(unescape_bytes(json["last_good"].get<std::string>()), v.checkpoints.at(0).path);
  const auto& first = json["in_progress"].at(0);
  EXPECT_EQ(first["expected_bytes"], 4'700'000'000);
  EXPECT_DOUBLE_EQ(first["fraction"].get<double>(), 0.425);
  EXPECT_EQ(first["leftover"], false);
  const auto& second = json["in_progress"].at(1);
  for (const char* key : {"expected_bytes", "fraction", "modified"}) EXPECT_TRUE(second.at(key).is_null()) << key;
  EXPECT_NE(format_checkpoints_table(v, std::nullopt, {}).find("2.0 GB of 4.7 GB (42 %)"), std::string::npos)
      << format_checkpoints_table(v, std::nullopt, {});
  const auto none = nlohmann::json::parse(format_checkpoints_json({}));
  EXPECT_TRUE(none["last_good"].is_null());
  EXPECT_TRUE(none["error"].is_null());
  const auto lost = nlohmann::json::parse(format_checkpoints_json({}, "gpu1: no route to host"));
  EXPECT_EQ(lost["error"], "gpu1: no route to host");
  EXPECT_EQ(lost["checkpoints"], nlohmann::json::array());
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
