// Where the configuration and the history are looked for.
#include <filesystem>
#include <system_error>

#include "trainvigil/config.hpp"

namespace trainvigil {
namespace {

std::optional<std::string> filled(const Environment& environment, const char* name) {
  auto value = environment(name);
  if (value && value->empty()) value.reset();
  return value;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// $XDG_…/trainvigil; the specification has relative values ignored.
std::optional<std::string> user_dir(const Environment& environment, const char* variable, const char* below_home) {
  const auto xdg = filled(environment, variable);
  if (xdg && xdg->front() == '/') return *xdg + "/trainvigil";
  const auto home = filled(environment, "HOME");
  if (home) return *home + "/" + below_home + "/trainvigil";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_config(const std::optional<std::string>& given, const Environment& environment) {
  if (given) return given;
  if (auto named = filled(environment, "TRAINVIGIL_CONFIG")) return named;
  if (is_there("trainvigil.toml")) return "trainvigil.toml";
  if (const auto user = user_dir(environment, "XDG_CONFIG_HOME", ".config")) {
    const std::string path = *user + "/trainvigil.toml";
    if (is_there(path)) return path;
  }
  const std::string system = "/etc/trainvigil/trainvigil.toml";
  if (is_there(system)) return system;
  return std::nullopt;
}

Result<std::string> find_state_dir(const std::optional<std::string>& given, const std::string& configured, const Environment& environment) {
  if (given) return *given;
  // systemd gives a list separated by colons when a unit has several.
  if (const auto service = filled(environment, "STATE_DIRECTORY")) return service->substr(0, service->find(':'));
  if (!configured.empty()) return configured;
  if (const auto user = user_dir(environment, "XDG_STATE_HOME", ".local/state")) return *user;
  return fail("there is no place for the history: HOME is not set", "Give --state-dir DIR");
}

}  // namespace trainvigil
