#include "trainvigil/part_list.hpp"

#include <nlohmann/json.hpp>

#include "core/layouts/formats/pickle.hpp"

namespace trainvigil {
namespace {

constexpr std::size_t kMostParts = 20'000;  // as many as a listing has entries
constexpr std::size_t kLongestName = 1'000;

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// transformers, diffusers: {"weight_map": {"tensor": "file", …}}. Files lie beside the index.
std::optional<PartList> of_index(std::string_view content) {
  const auto json = nlohmann::json::parse(content, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object()) return std::nullopt;
  PartList parts;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) return std::nullopt;
    const auto& name = file.get_ref<const std::string&>();
    if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string::npos) return std::nullopt;
    parts.emplace(name, std::nullopt);
    if (parts.size() > kMostParts) return std::nullopt;
  }
  return parts;
}

}  // namespace

bool is_part_list(std::string_view path) {
  const auto name = base_name(path);
  return name.ends_with(".index.json") || name == ".metadata";
}

std::optional<PartList> read_part_list(std::string_view path, std::string_view content) {
  auto parts = base_name(path) == ".metadata" ? formats_of_files::parts_of_metadata(content) : of_index(content);
  if (!parts || parts->empty() || parts->size() > kMostParts) return std::nullopt;
  return parts;
}

std::string part_list_digest(const PartList& parts) {
  auto list = nlohmann::json::object();
  for (const auto& [name, bytes] : parts) list[name] = bytes ? nlohmann::json(*bytes) : nlohmann::json();
  return nlohmann::json{{"parts", std::move(list)}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<PartList> parse_part_list_digest(std::string_view digest) {
  const auto json = nlohmann::json::parse(digest, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto list = json.find("parts");
  if (list == json.end() || !list->is_object() || list->size() > kMostParts) return std::nullopt;
  PartList parts;
  for (const auto& [name, bytes] : list->items())
    parts.emplace(name, bytes.is_number_integer() ? std::optional(bytes.get<std::int64_t>()) : std::nullopt);
  return parts;
}

}  // namespace trainvigil
