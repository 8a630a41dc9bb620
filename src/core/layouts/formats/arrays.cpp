// NumPy arrays, HDF5 files and the tables of TensorFlow's indices: formats that tell their own size.
#include <algorithm>
#include <array>
#include <charconv>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

/// Bytes of one element of a NumPy type string; 0 when it can not be told (objects, records).
std::int64_t item_size(std::string_view descr) {
  if (descr.size() < 3) return 0;
  const char kind = descr[1];
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), n);
  if (error != std::errc{} || end != descr.data() + descr.size() || n <= 0 || n > 1'000'000) return 0;
  if (std::string_view("biufcmMSV").find(kind) != std::string_view::npos) return n;
  return kind == 'U' ? 4 * n : 0;
}

std::optional<std::string_view> between(std::string_view text, std::string_view key, char open, char close) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const auto begin = text.find(open, at + key.size());
  if (begin == std::string_view::npos) return std::nullopt;
  const auto end = text.find(close, begin + 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(text.substr(begin + 1, end - begin - 1));
}

std::optional<std::int64_t> elements_of(std::string_view shape) {
  std::int64_t product = 1;
  while (!shape.empty()) {
    const auto comma = std::min(shape.find(','), shape.size());
    auto part = shape.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty()) {
      std::int64_t n = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
      if (error != std::errc{} || n < 0 || (n > 0 && product > (1LL << 56) / n)) return std::nullopt;
      product *= n;
    }
    shape = comma < shape.size() ? shape.substr(comma + 1) : std::string_view{};
  }
  return product;
}

}  // namespace

IntegrityStep check_numpy(const Window& w) {
  const auto magic = w.at(0, std::min<std::int64_t>(w.size(), 6));
  if (magic && !std::string_view("\x93NUMPY").starts_with(*magic)) return verdict(Integrity::bad, "does not begin as a NumPy array");
  const auto major = w.number(6, 1);
  if (!major || w.size() < 12) return verdict(Integrity::truncated, "the header is cut short");
  if (*major < 1 || *major > 3) return verdict(Integrity::unchecked, "a version that is not known here");
  const int width = *major == 1 ? 2 : 4;
  const auto length = w.number(8, width);
  if (!length || *length > static_cast<std::uint64_t>(kLargestRead)) return verdict(Integrity::unchecked, "the header is too long to read");
  const auto data = 8 + width + static_cast<std::int64_t>(*length);
  if (data > w.size()) return verdict(Integrity::truncated, "the header is cut short");
  const auto header = w.at(8 + width, static_cast<std::int64_t>(*length));
  if (!header) return more({{8 + width, static_cast<std::int64_t>(*length)}});
  const auto descr_at = header->find("'descr':");
  if (descr_at == std::string_view::npos || !between(*header, "'shape':", '(', ')'))
    return verdict(Integrity::bad, "the header does not describe an array");
  auto after = header->substr(descr_at + 8);
  while (after.starts_with(' ')) after.remove_prefix(1);
  if (!after.starts_with('\'')) return verdict(Integrity::unchecked, "records, whose size is not computed here");
  const auto size = item_size(between(*header, "'descr':", '\'', '\'').value_or(std::string_view{}));
  const auto elements = elements_of(*between(*header, "'shape':", '(', ')'));
  if (size == 0 || !elements) return verdict(Integrity::unchecked, "a type whose size is not known here");
  const auto expected = data + size * *elements;
  if (w.size() < expected) return verdict(Integrity::truncated, "shorter than its header tells", expected);
  if (w.size() > expected) return verdict(Integrity::unchecked, "more than one array", expected);
  return verdict(Integrity::ok, "exactly as long as its header tells", expected);
}

IntegrityStep check_hdf5(const Window& w) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  constexpr std::array<std::int64_t, 6> places{0, 512, 1024, 2048, 4096, 8192};  // a user block may stand before the superblock
  std::int64_t base = -1;
  std::vector<ByteRange> missing;
  for (auto place : places) {
    if (place + 8 > w.size()) break;
    const auto bytes = w.at(place, 8);
    if (!bytes) {
      missing.push_back({place, std::min<std::int64_t>(64, w.size() - place)});
    } else if (*bytes == signature) {
      base = place;
      break;
    }
  }
  if (base < 0) {
    if (!missing.empty()) return more(std::move(missing));
    const auto start = w.at(0, std::min<std::int64_t>(w.size(), 8));
    return start && start->size() < 8 && signature.starts_with(*start) ? verdict(Integrity::truncated, "shorter than its signature")
                                                                       : verdict(Integrity::bad, "no HDF5 signature");
  }
  const auto version = w.number(base + 8, 1);
  if (!version) return verdict(Integrity::truncated, "the superblock is cut short");
  if (*version > 3) return verdict(Integrity::unchecked, "a superblock version that is not known here");
  const bool old = *version < 2;
  const auto offset_size = w.number(base + (old ? 13 : 9), 1);
  const auto flags = old ? w.number(base + 20, 4) : w.number(base + 11, 1);
  const std::int64_t addresses = *version == 0 ? 24 : *version == 1 ? 28 : 12;
  const auto start = w.number(base + addresses, 8);
  const auto end = w.number(base + addresses + 16, 8);
  if (!offset_size || !flags || !start || !end) return verdict(Integrity::truncated, "the superblock is cut short");
  if (*offset_size != 8) return verdict(Integrity::unchecked, "addresses that are not of 8 bytes");
  if (*flags & 1U) return verdict(Integrity::truncated, "a writer has it open, or died while it had");
  if (*end > (1ULL << 62U) || *start > (1ULL << 62U)) return verdict(Integrity::bad, "the superblock's addresses are not possible");
  // The stored end counts from the beginning of the file in some writers and from the base address in others.
  const auto with_base = static_cast<std::int64_t>(*start + *end), plain = static_cast<std::int64_t>(*end);
  if (w.size() == with_base || w.size() == plain) return verdict(Integrity::ok, "ends where its superblock says", w.size());
  if (w.size() < plain) return verdict(Integrity::truncated, "shorter than its superblock tells", with_base);
  return verdict(Integrity::unchecked, "longer than its superblock tells");
}

namespace {

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

}  // namespace

IntegrityStep check_table(const Window& w) {
  constexpr std::int64_t footer = 48, block_trailer = 5;
  constexpr std::string_view magic("\x57\xFB\x80\x8B\x24\x75\x47\xDB", 8);
  const auto bytes = w.at(w.size() - footer, footer);
  const auto head = w.at(0, std::min<std::int64_t>(2, w.size()));
  // A bundle's first key is empty: shared 0, unshared 0. Other things are also called ".index".
  const bool looks_like_table = head && *head == std::string_view("\0\0", 2);
  if (!bytes || !bytes->ends_with(magic))
    return looks_like_table ? verdict(Integrity::truncated, "the footer of the table is missing") : verdict(Integrity::unchecked, "no table");
  auto handles = *bytes;
  const auto meta_offset = varint(handles), meta_size = varint(handles), offset = varint(handles), size = varint(handles);
  if (!meta_offset || !meta_size || !offset || !size || *offset > (1ULL << 60U) || *size > (1ULL << 60U))
    return verdict(Integrity::bad, "the footer of the table is damaged");
  if (static_cast<std::int64_t>(*offset + *size) + block_trailer + footer != w.size())
    return verdict(Integrity::bad, "the table's index is not where its footer says");
  return verdict(Integrity::ok, "the footer of the table is whole");
}

}  // namespace trainvigil::formats_of_files
