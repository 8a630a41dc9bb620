// Lists of the files that make up a save: `model.safetensors.index.json` and the like, and `.metadata` of torch.distributed.checkpoint. What is kept
// of them, in traces too, is a digest: {"parts":{"NAME":LENGTH}}, where LENGTH is the least length the file must have, or null where the list tells
// none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace trainvigil {

using PartList = std::map<std::string, std::optional<std::int64_t>, std::less<>>;

/// Whether files of this name are such lists.
bool is_part_list(std::string_view path);

/// Absent: the content names no parts, or is not understood.
std::optional<PartList> read_part_list(std::string_view path, std::string_view content);

std::string part_list_digest(const PartList& parts);
std::optional<PartList> parse_part_list_digest(std::string_view digest);

}  // namespace trainvigil
