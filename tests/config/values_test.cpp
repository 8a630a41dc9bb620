#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "trainvigil/config.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil {
namespace {

TEST(Suggest, DistanceCountsASwapAsOne) {
  EXPECT_EQ(edit_distance("epochs", "epochs"), 0);
  EXPECT_EQ(edit_distance("epochs", "epcohs"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, OnlyWhatMayBeASlip) {
  EXPECT_EQ(nearest("statsu", {"run", "status"}), "status");
  EXPECT_EQ(nearest("frobnicate", {"run", "status"}), std::nullopt);
  EXPECT_EQ(did_you_mean("xyz", {"run"}), "");
}

TEST(HostFault, KnowsWhatSshWouldTakeForSomethingElse) {
  for (const char* host : {"gpu1", "me@gpu1", "gpu1:2222", "me@10.0.0.1:22", "local", "[::1]:22", "fe80::1", "me@[::1]", "CORP.x@h_1"})
    EXPECT_FALSE(host_fault(host)) << host;
  for (const char* host :
       {"", "-oProxyCommand=x", "user@-oProxyCommand=x", "host name", "host;id", "host:99999", "host:", "host:2x", "@host", "user@", "a\nb", "$(id)"})
    EXPECT_TRUE(host_fault(host)) << host;
}

TEST(Places, ConfigByTheOrderOfTheContract) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "tv-places";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "xdg" / "trainvigil");
  std::map<std::string, std::string> variables;
  const Environment environment = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  variables["HOME"] = folder / "home";
  variables["XDG_CONFIG_HOME"] = folder / "xdg";
  const std::string user = folder / "xdg" / "trainvigil" / "trainvigil.toml";
  EXPECT_NE(find_config(std::nullopt, environment), user);
  std::ofstream(user) << "";
  EXPECT_EQ(find_config(std::nullopt, environment), user);
  variables["TRAINVIGIL_CONFIG"] = "/nowhere.toml";
  EXPECT_EQ(find_config(std::nullopt, environment), "/nowhere.toml") << "a slip in the variable must be seen";
  EXPECT_EQ(find_config("mine.toml", environment), "mine.toml");
}

TEST(Places, StateDirByTheOrderOfTheContract) {
  std::map<std::string, std::string> variables;
  const Environment environment = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_FALSE(find_state_dir(std::nullopt, "", environment).has_value());
  variables["HOME"] = "/home/a";
  EXPECT_EQ(*find_state_dir(std::nullopt, "", environment), "/home/a/.local/state/trainvigil");
  variables["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(*find_state_dir(std::nullopt, "", environment), "/home/a/.local/state/trainvigil");
  variables["XDG_STATE_HOME"] = "/x";
  EXPECT_EQ(*find_state_dir(std::nullopt, "", environment), "/x/trainvigil");
  EXPECT_EQ(*find_state_dir(std::nullopt, "/configured", environment), "/configured");
  variables["STATE_DIRECTORY"] = "/var/lib/trainvigil:/other";
  EXPECT_EQ(*find_state_dir(std::nullopt, "/configured", environment), "/var/lib/trainvigil");
  EXPECT_EQ(*find_state_dir("/given", "/configured", environment), "/given");
}

}  // namespace
}  // namespace trainvigil
