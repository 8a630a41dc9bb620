// Tables of LevelDB, which TensorFlow's indices are: blocks with a checksum behind each, and a footer that says where the block of blocks is
// (leveldb doc/table_format.md, table/format.cc).
#include <algorithm>

#include "core/layouts/formats/read_window.hpp"
#include "trainvigil/checksum.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kFooter = 48, kTrailer = 5;   // of the table; of a block: its compression and checksum
constexpr std::int64_t kLongest = 8 * kLargestRead;  // 100 bytes a tensor

std::optional<std::uint64_t> varint(std::string_view& s) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 63 && !s.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(s[0]);
    s.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (!(byte & 0x80U)) return value;
  }
  return std::nullopt;
}

struct Block {
  std::int64_t offset = 0, length = 0;  ///< without its trailer
};

std::optional<Block> block(std::string_view& handle) {
  const auto offset = varint(handle), length = varint(handle);
  if (!offset || !length || *offset > (1ULL << 60U) || *length > (1ULL << 60U)) return std::nullopt;
  return Block{static_cast<std::int64_t>(*offset), static_cast<std::int64_t>(*length)};
}

/// Of the block and its trailer.
bool sum_is_right(std::string_view bytes) {
  std::uint32_t stored = 0;
  for (std::size_t i = 4; i-- > 0;) stored = (stored << 8U) | static_cast<unsigned char>(bytes[bytes.size() - 4 + i]);
  return masked_crc32c(bytes.substr(0, bytes.size() - 4)) == stored;
}

/// Where the blocks of data are, by the values of the block of blocks. Absent: not as a block is built.
std::optional<std::vector<Block>> blocks_in(std::string_view index) {
  if (index.size() < 4) return std::nullopt;
  std::uint32_t restarts = 0;
  for (std::size_t i = 4; i-- > 0;) restarts = (restarts << 8U) | static_cast<unsigned char>(index[index.size() - 4 + i]);
  if (restarts > (index.size() - 4) / 4) return std::nullopt;
  auto entries = index.substr(0, index.size() - 4 - 4 * static_cast<std::size_t>(restarts));
  std::vector<Block> out;
  while (!entries.empty()) {
    const auto shared = varint(entries), own = varint(entries), value = varint(entries);
    if (!shared || !own || !value || *own > entries.size() || *value > entries.size() - *own) return std::nullopt;
    auto handle = entries.substr(static_cast<std::size_t>(*own), static_cast<std::size_t>(*value));
    const auto b = block(handle);
    if (!b) return std::nullopt;
    out.push_back(*b);
    entries.remove_prefix(static_cast<std::size_t>(*own + *value));
  }
  return out;
}

}  // namespace

IntegrityStep check_table(const Window& w, bool whole) {
  constexpr std::string_view magic("\x57\xFB\x80\x8B\x24\x75\x47\xDB", 8);
  const auto bytes = w.at(w.size() - kFooter, kFooter);
  const auto head = w.at(0, std::min<std::int64_t>(2, w.size()));
  // A bundle's first key is empty: shared 0, unshared 0. Other things are also called ".index".
  const bool looks_like_table = head && *head == std::string_view("\0\0", 2);
  if (!bytes || !bytes->ends_with(magic))
    return looks_like_table ? verdict(Integrity::truncated, "the footer of the table is missing") : verdict(Integrity::unchecked, "no table");
  auto handles = *bytes;
  const auto meta = block(handles), index = block(handles);
  if (!meta || !index) return verdict(Integrity::bad, "the footer of the table is damaged");
  if (index->offset + index->length + kTrailer + kFooter != w.size())
    return verdict(Integrity::bad, "the table's index is not where its footer says");
  if (index->length > kLargestRead - kTrailer || (whole && w.size() > kLongest))
    return verdict(Integrity::unchecked, "the table is too long to read");

  const auto index_bytes = w.at(index->offset, index->length + kTrailer);
  if (!index_bytes) return more({{index->offset, index->length + kTrailer}});
  if (!sum_is_right(*index_bytes)) return verdict(Integrity::bad, "the checksum of the table's index is wrong");
  if (!whole) return verdict(Integrity::ok, "the index of the table is whole");

  if ((*index_bytes)[static_cast<std::size_t>(index->length)] != 0) return verdict(Integrity::unchecked, "the table is packed");
  auto blocks = blocks_in(index_bytes->substr(0, static_cast<std::size_t>(index->length)));
  if (!blocks) return verdict(Integrity::bad, "the table's index is damaged");
  blocks->push_back(*meta);
  std::vector<ByteRange> missing;
  for (const auto& b : *blocks) {
    if (b.length > kLargestRead - kTrailer) return verdict(Integrity::unchecked, "a block of the table is too long to read");
    if (b.offset + b.length + kTrailer > w.size() - kFooter) return verdict(Integrity::bad, "a block of the table lies outside of it");
    const auto content = w.at(b.offset, b.length + kTrailer);
    if (!content) {
      missing.push_back({b.offset, b.length + kTrailer});
    } else if (!sum_is_right(*content)) {
      return verdict(Integrity::bad, "the checksum of a block is wrong");
    }
  }
  if (!missing.empty()) return more(std::move(missing));
  return verdict(Integrity::ok, "the checksums of all blocks are right");
}

}  // namespace trainvigil::formats_of_files
