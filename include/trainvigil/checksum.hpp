// Checksums of the file formats, and how the one that every POSIX host can compute becomes the one that zip archives store.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainvigil {

/// CRC-32 of zip and gzip.
std::uint32_t crc32(std::string_view bytes);

/// CRC-32 of `a` followed by `b`, from those of `a` and of `b`, which is `b_bytes` long.
std::uint32_t crc32_joined(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes);

/// CRC-32 of `bytes` bytes for which POSIX `cksum` printed `cksum` after the bits of each byte had been put into opposite order. Both are remainders
/// of one polynomial: cksum takes the bits from the other end, begins with 0 and appends the length.
std::uint32_t crc32_from_cksum(std::uint32_t cksum, std::uint64_t bytes);

/// CRC-32C, masked as the tables of LevelDB and TensorFlow store it (leveldb util/crc32c.h).
std::uint32_t masked_crc32c(std::string_view bytes);

/// Jenkins' lookup3 ("hashlittle", start 0), which HDF5 stores behind its metadata (HDF5 file format specification, version 2 and later superblocks).
std::uint32_t lookup3(std::string_view bytes);

}  // namespace trainvigil
