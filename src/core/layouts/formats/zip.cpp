// Zip archives: torch.save since 1.6, Keras, NumPy's npz. The directory stands at the end, so its last record says whether all was written.
#include "core/layouts/formats/zip.hpp"

#include <algorithm>

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kEnd = 22;      // end of central directory without comment
constexpr std::int64_t kLocator = 20;  // of the zip64 end record
constexpr std::int64_t kEnd64 = 56;    // the zip64 end record without extension
constexpr std::int64_t kLongestComment = 65'535;
constexpr std::int64_t kLongestDirectory = 8 * kLargestRead;  // 80 bytes a tensor
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;                   // "look into the zip64 record"

/// Where an end record whose comment reaches exactly to the end of the file stands; absent: not in what was read.
std::optional<std::int64_t> find_end(const Window& w, std::int64_t reach, bool& trailing) {
  const auto from = std::max<std::int64_t>(0, w.size() - reach);
  const auto bytes = w.at(from, w.size() - from);
  if (!bytes) return std::nullopt;
  for (auto at = bytes->rfind("PK\x05\x06"); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : bytes->rfind("PK\x05\x06", at - 1)) {
    const auto position = from + static_cast<std::int64_t>(at);
    const auto comment = w.number(position + 20, 2);
    if (!comment) continue;
    const auto end = position + kEnd + static_cast<std::int64_t>(*comment);
    if (end == w.size()) return position;
    trailing = trailing || end < w.size();  // beyond it: the comment is cut short
  }
  return std::nullopt;
}

struct CentralDirectory {
  std::int64_t offset = 0, size = 0, end = 0;
  std::uint64_t entries = 0;
};

std::optional<CentralDirectory> directory_of(const Window& w, std::int64_t end) {
  CentralDirectory d;
  const auto entries = w.number(end + 10, 2), size = w.number(end + 12, 4), offset = w.number(end + 16, 4);
  if (!entries || !size || !offset) return std::nullopt;
  d = {static_cast<std::int64_t>(*offset), static_cast<std::int64_t>(*size), end, *entries};
  const auto locator = w.number(end - kLocator, 4);
  if (locator != std::optional<std::uint64_t>(0x07064B50)) {
    if (*size == kIn64 || *offset == kIn64) return std::nullopt;
    return d;
  }
  const auto record = w.number(end - kLocator + 8, 8);
  if (!record || *record > static_cast<std::uint64_t>(end - kLocator - kEnd64)) return std::nullopt;
  const auto at = static_cast<std::int64_t>(*record);
  const auto signature = w.number(at, 4), length = w.number(at + 4, 8);
  const auto entries64 = w.number(at + 32, 8), size64 = w.number(at + 40, 8), offset64 = w.number(at + 48, 8);
  if (!signature || *signature != 0x06064B50 || !length || at + 12 + static_cast<std::int64_t>(*length) != end - kLocator) return std::nullopt;
  if (!entries64 || !size64 || !offset64 || *size64 > (1ULL << 62U) || *offset64 > (1ULL << 62U)) return std::nullopt;
  d = {static_cast<std::int64_t>(*offset64), static_cast<std::int64_t>(*size64), at, *entries64};
  return d;
}

}  // namespace

bool ends_like_zip(const Window& w) {
  bool trailing = false;
  return w.size() > kEnd && find_end(w, kEnd, trailing).has_value();
}

IntegrityStep check_zip(const Window& w, bool whole, bool must_be_zip) {
  const auto head = w.at(0, 4);
  if (!head) return verdict(Integrity::truncated, "shorter than a zip archive");
  if (*head != "PK\x03\x04") {
    if (head->starts_with("PK\x05\x06")) return verdict(Integrity::unchecked, "an archive without content");
    return must_be_zip || ends_like_zip(w) ? verdict(Integrity::bad, "does not begin as a zip archive")
                                           : verdict(Integrity::unchecked, "no zip archive");
  }
  bool trailing = false;
  const auto near = std::min(w.size(), kTail);
  auto end = find_end(w, near, trailing);
  if (!end) {
    const auto far = std::min(w.size(), kLongestComment + kEnd + kLocator + kEnd64);
    if (far > near && !w.at(w.size() - far, far)) return more({{w.size() - far, far}});
    end = find_end(w, far, trailing);
    if (!end)
      return trailing ? verdict(Integrity::unchecked, "something follows the archive")
                      : verdict(Integrity::truncated, "the directory at its end is missing");
  }
  const auto d = directory_of(w, *end);
  if (!d) return verdict(Integrity::bad, "the end record is damaged");
  if (d->offset + d->size != d->end) return verdict(Integrity::bad, "the directory is not where the end record says");
  if (d->entries == 0) return verdict(Integrity::unchecked, "an archive without content");
  const auto first = w.at(d->offset, 4);
  if (!first && !whole) return more({{d->offset, 4}});
  if (first && *first != "PK\x01\x02") return verdict(Integrity::bad, "no directory where the end record says");
  if (!whole) return verdict(Integrity::ok, "the directory at its end is whole");

  if (d->size > kLongestDirectory) return verdict(Integrity::unchecked, "the directory is too long to read");
  std::string directory;
  std::vector<ByteRange> missing;
  for (std::int64_t at = 0; at < d->size; at += kLargestRead) {
    const auto part = std::min(kLargestRead, d->size - at);
    if (const auto bytes = w.at(d->offset + at, part)) {
      directory += *bytes;
    } else {
      missing.push_back({d->offset + at, part});
    }
  }
  if (!missing.empty()) return more(std::move(missing));
  return check_zip_members(w, directory, d->entries, d->offset);
}

}  // namespace trainvigil::formats_of_files
