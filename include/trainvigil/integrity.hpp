// Integrity by tiny reads: which bytes of a file to read, and what they say. Pure; the reading itself is done by the probe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/observation.hpp"

namespace trainvigil {

struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t length = 0;  ///< > 0, at most kLargestRead
};
inline constexpr std::int64_t kLargestRead = 1 << 20;  ///< a safetensors header is 10 to 400 kB (reference: its format notes)

struct ByteChunk {
  std::int64_t offset = 0;
  std::string bytes;  ///< may be shorter than asked when the file ends
};

struct IntegrityStep {
  std::vector<ByteRange> more;                 ///< not empty: read these as well and ask again
  Integrity verdict = Integrity::unchecked;    ///< valid when `more` is empty
  std::optional<std::int64_t> expected_bytes;  ///< final size where the header tells it
  std::string why;
};

/// Says whether reading this file can tell anything (by name), so that others are left alone.
bool integrity_readable(std::string_view path, std::int64_t bytes);

inline constexpr int kMostIntegrityRounds = 40;  ///< of one file; nearly all need one or two

/// Call first with no chunks, then with all chunks read so far, until `more` is empty: at most kMostIntegrityRounds rounds.
/// `whole_format`: also check what costs more reads (`checkpoints --verify`).
IntegrityStep check_integrity(std::string_view path, std::int64_t bytes, const std::vector<ByteChunk>& chunks, bool whole_format = false);

}  // namespace trainvigil
