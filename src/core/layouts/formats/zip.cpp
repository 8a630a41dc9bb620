// Zip archives: torch.save since 1.6, Keras, NumPy's npz. The directory stands at the end, so its last record says whether all was written.
#include <algorithm>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kEnd = 22;      // end of central directory without comment
constexpr std::int64_t kLocator = 20;  // of the zip64 end record
constexpr std::int64_t kEnd64 = 56;    // the zip64 end record without extension
constexpr std::int64_t kLongestComment = 65'535;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // "look into the zip64 record"

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
    if (position + kEnd + static_cast<std::int64_t>(*comment) == w.size()) return position;
    trailing = true;
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

/// Walks the entries of the directory: as many as promised, ending where it ends.
bool walk(std::string_view bytes, std::uint64_t entries) {
  std::size_t at = 0;
  const auto u16 = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]) | (static_cast<unsigned char>(bytes[i + 1]) << 8U));
  };
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (at + 46 > bytes.size() || bytes.substr(at, 4) != "PK\x01\x02") return false;
    at += 46 + u16(at + 28) + u16(at + 30) + u16(at + 32);
  }
  return at == bytes.size();
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
  const auto want = whole ? std::min(d->size, kLargestRead) : 4;
  const auto bytes = w.at(d->offset, want);
  if (!bytes) return more({{d->offset, want}});
  if (!bytes->starts_with("PK\x01\x02")) return verdict(Integrity::bad, "no directory where the end record says");
  if (whole && want == d->size && !walk(*bytes, d->entries)) return verdict(Integrity::bad, "the directory is damaged");
  return verdict(Integrity::ok, "the directory at its end is whole");
}

IntegrityStep check_tar(const Window& w) {
  const auto tail = w.at(std::max<std::int64_t>(0, w.size() - 1024), std::min<std::int64_t>(w.size(), 1024));
  const bool ended = tail && tail->size() == 1024 && tail->find_first_not_of('\0') == std::string_view::npos && w.size() % 512 == 0;
  if (ended) return verdict(Integrity::ok, "ends as a tar archive");
  return verdict(Integrity::truncated, "the end mark of the tar archive is missing");
}

}  // namespace trainvigil::formats_of_files
