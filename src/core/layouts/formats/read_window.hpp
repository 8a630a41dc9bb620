// The bytes of a file that have been read so far, and little-endian numbers in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/integrity.hpp"

namespace trainvigil::formats_of_files {

class Window {
 public:
  Window(std::int64_t size, const std::vector<ByteChunk>& chunks, const std::vector<StretchSum>& sums) : size_(size) {
    for (const auto& c : chunks) chunks_.push_back(&c);
    std::sort(chunks_.begin(), chunks_.end(),
              [](const ByteChunk* a, const ByteChunk* b) { return std::pair(a->offset, a->bytes.size()) < std::pair(b->offset, b->bytes.size()); });
    for (const auto& s : sums) sums_[{s.offset, s.length}] = s.crc32;
  }

  [[nodiscard]] std::int64_t size() const { return size_; }

  /// The bytes [offset, offset + length), when one chunk holds them all.
  [[nodiscard]] std::optional<std::string_view> at(std::int64_t offset, std::int64_t length) const {
    if (offset < 0 || length < 0 || offset > size_ || length > size_ - offset) return std::nullopt;
    auto it = std::upper_bound(chunks_.begin(), chunks_.end(), offset, [](std::int64_t value, const ByteChunk* c) { return value < c->offset; });
    // Reads of one file overlap little: what holds these bytes is among the last that begin before them.
    for (int looked = 0; it != chunks_.begin() && looked < 16; ++looked) {
      const auto& c = **--it;
      const auto have = static_cast<std::int64_t>(c.bytes.size());
      if (offset - c.offset <= have && length <= have - (offset - c.offset))
        return std::string_view(c.bytes).substr(static_cast<std::size_t>(offset - c.offset), static_cast<std::size_t>(length));
    }
    return std::nullopt;
  }

  /// CRC-32 of a stretch that the host has read.
  [[nodiscard]] std::optional<std::uint32_t> sum(std::int64_t offset, std::int64_t length) const {
    const auto known = sums_.find({offset, length});
    return known == sums_.end() ? std::nullopt : std::optional(known->second);
  }

  [[nodiscard]] std::optional<std::uint64_t> number(std::int64_t offset, int width) const {
    const auto bytes = at(offset, width);
    if (!bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (int i = width - 1; i >= 0; --i) value = (value << 8U) | static_cast<unsigned char>((*bytes)[static_cast<std::size_t>(i)]);
    return value;
  }

 private:
  std::int64_t size_;
  std::vector<const ByteChunk*> chunks_;  ///< by offset
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> sums_;
};

inline IntegrityStep verdict(Integrity integrity, std::string why, std::optional<std::int64_t> expected = std::nullopt) {
  IntegrityStep step;
  step.verdict = integrity;
  step.why = std::move(why);
  step.expected_bytes = expected;
  return step;
}

inline IntegrityStep more(std::vector<ByteRange> ranges) {
  IntegrityStep step;
  step.more = std::move(ranges);
  return step;
}

// Each is given a window that holds the head and the tail of the file (kHead and kTail bytes, or all of it).
inline constexpr std::int64_t kHead = 512;
inline constexpr std::int64_t kTail = 1088;  // a tar ends in 1024 zero bytes; the rest is room for the trailers of the others

IntegrityStep check_safetensors(const Window& w, bool whole);
IntegrityStep check_zip(const Window& w, bool whole, bool must_be_zip);
IntegrityStep check_numpy(const Window& w);
IntegrityStep check_hdf5(const Window& w);
IntegrityStep check_table(const Window& w, bool whole);
IntegrityStep check_pickle(const Window& w, bool whole);
IntegrityStep check_gguf(const Window& w, bool whole);
IntegrityStep check_json(const Window& w);
IntegrityStep check_tar(const Window& w);
IntegrityStep check_ubjson(const Window& w);

/// Whether the tail holds the end record of a zip archive, whatever the head says.
bool ends_like_zip(const Window& w);

}  // namespace trainvigil::formats_of_files
