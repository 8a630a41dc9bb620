// Small files next to checkpoints that say how far the run is: which ones are read, and which part of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/integrity.hpp"

namespace trainvigil::wire {

/// What to read of the file at `path`; nullopt: it is none of those that tell progress.
std::optional<std::vector<ByteRange>> state_file_ranges(std::string_view path, std::int64_t bytes);

/// The pieces read, put together: whole files as they are; of a table the header and the last lines; of a long JSON file an object of those of its
/// own members that stand in the pieces, so that what a reader gets is JSON again.
std::string state_file_text(std::string_view path, std::int64_t bytes, const std::vector<ByteChunk>& chunks);

/// Whether the file is of a format that tells if it is whole, so that it is worth the judgement of check_integrity.
bool state_file_has_a_format(std::string_view path);

}  // namespace trainvigil::wire
