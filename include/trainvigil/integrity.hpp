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

/// What a packed stretch is once it is unpacked (deflate).
struct Inflated {
  std::uint32_t crc32 = 0;
  std::uint32_t bytes = 0;  ///< modulo 2^32
};

/// Bytes that are too many to be sent: the host reads them, and only their checksum comes.
struct Stretch {
  std::int64_t offset = 0;
  std::int64_t length = 0;           ///< > 0; of what is not packed at most kLongestStretch
  std::optional<Inflated> inflated;  ///< packed; the checksum is that of the unpacked bytes
};
inline constexpr std::int64_t kLongestStretch = 1 << 30;

struct StretchSum {
  std::int64_t offset = 0, length = 0;
  std::uint32_t crc32 = 0;
};

struct IntegrityStep {
  std::vector<ByteRange> more;                 ///< not empty: read these as well and ask again
  std::vector<Stretch> stretches;              ///< not empty (only of a whole format): have these read as well and ask again
  Integrity verdict = Integrity::unchecked;    ///< valid when both are empty
  std::optional<std::int64_t> expected_bytes;  ///< final size where the header tells it
  std::string why;
};

/// Says whether reading this file can tell anything (by name), so that others are left alone.
bool integrity_readable(std::string_view path, std::int64_t bytes);

inline constexpr int kMostIntegrityRounds = 40;  ///< of one file; nearly all need one or two

/// Call first with no chunks, then with all chunks read so far, until it asks for nothing more: at most kMostIntegrityRounds rounds.
/// `whole_format`: also check what costs more reads (`checkpoints --verify`); with all sums that have come so far.
IntegrityStep check_integrity(std::string_view path, std::int64_t bytes, const std::vector<ByteChunk>& chunks, bool whole_format = false,
                              const std::vector<StretchSum>& sums = {});

}  // namespace trainvigil
