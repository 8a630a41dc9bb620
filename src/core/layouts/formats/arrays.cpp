// NumPy arrays and HDF5 files: formats that tell their own size.
#include <algorithm>
#include <array>
#include <charconv>

#include "core/layouts/formats/read_window.hpp"
#include "trainvigil/checksum.hpp"

namespace trainvigil::formats_of_files {
namespace {

/// Bytes of one element of a NumPy type string; absent when it can not be told (objects).
std::optional<std::int64_t> item_size(std::string_view descr) {
  if (descr.size() < 3) return std::nullopt;
  const char kind = descr[1];
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), n);
  const std::string_view rest(end, static_cast<std::size_t>(descr.data() + descr.size() - end));
  if (error != std::errc{} || n < 0 || n > 1'000'000) return std::nullopt;
  if ((kind == 'm' || kind == 'M') && rest.starts_with('[')) return n;  // "<M8[ns]"
  if (!rest.empty()) return std::nullopt;
  if (std::string_view("biufcmMSV").find(kind) != std::string_view::npos) return n;
  return kind == 'U' ? std::optional(4 * n) : std::nullopt;
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

/// Sizes of record types as NumPy writes them: [('name', '<f4'), ('other', [('x', '<i2')], (3,)), …].
class Descr {
 public:
  explicit Descr(std::string_view text) : text_(text) {}

  /// Of the type that begins here; absent: not understood.
  std::optional<std::int64_t> type(int depth = 0) {
    skip();
    if (text_.starts_with('\'')) return string() ? item_size(last_) : std::nullopt;
    if (!take('[') || depth > 8) return std::nullopt;
    std::int64_t sum = 0;
    while (!take(']')) {
      const auto field = take('(') ? one(depth) : std::nullopt;
      if (!field || *field > (1LL << 40) || !take(')')) return std::nullopt;
      sum += *field;
      if (sum > (1LL << 40)) return std::nullopt;
      take(',');
    }
    return sum;
  }

 private:
  /// 'name', type and perhaps a shape; the name may be a pair of title and name.
  std::optional<std::int64_t> one(int depth) {
    if (take('(')) {
      if (!string() || !take(',') || !string() || !take(')')) return std::nullopt;
    } else if (!string()) {
      return std::nullopt;
    }
    if (!take(',')) return std::nullopt;
    const auto size = type(depth + 1);
    if (!size || !take(',')) return size;
    if (!take('(')) return std::nullopt;
    const auto end = std::min(text_.find(')'), text_.size());
    const auto count = elements_of(text_.substr(0, end));
    text_.remove_prefix(end);
    if (!take(')') || !count || (*size > 0 && *count > (1LL << 40) / *size)) return std::nullopt;
    return *size * *count;
  }

  void skip() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool string() {
    skip();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const auto end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return false;
    last_ = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return last_.find('\\') == std::string_view::npos;
  }

  std::string_view text_, last_;
};

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
    return header->find('\0') != std::string_view::npos ? verdict(Integrity::truncated, "the header is not written yet")
                                                        : verdict(Integrity::bad, "the header does not describe an array");
  const auto size = Descr(header->substr(descr_at + 8)).type();
  const auto elements = elements_of(*between(*header, "'shape':", '(', ')'));
  if (!size || !elements || (*size > 0 && *elements > (1LL << 60) / *size))
    return verdict(Integrity::unchecked, "a type whose size is not known here");
  const auto expected = data + *size * *elements;
  if (w.size() < expected) return verdict(Integrity::truncated, "shorter than its header tells", expected);
  if (w.size() > expected) return verdict(Integrity::unchecked, "more than one array", expected);
  return verdict(Integrity::ok, "exactly as long as its header tells", expected);
}

IntegrityStep check_hdf5(const Window& w) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  // A user block may stand before the superblock: 512 bytes or a power of two times that.
  constexpr std::array<std::int64_t, 13> places{0, 512, 1024, 2048, 4096, 8192, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20};
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
  if (!old) {
    const auto block = w.at(base, 44), sum = w.at(base + 44, 4);
    if (!block || !sum) return verdict(Integrity::truncated, "the superblock is cut short");
    if (lookup3(*block) != *w.number(base + 44, 4)) return verdict(Integrity::bad, "the superblock's checksum is wrong");
  }
  // Both count from the beginning of the file. Where the superblock stands elsewhere than its base tells, a user block was put before it or taken
  // away, and the end has moved along (H5Fsuper_cache.c of the library).
  const auto expected = static_cast<std::int64_t>(*end) + base - static_cast<std::int64_t>(*start);
  if (w.size() < expected) return verdict(Integrity::truncated, "shorter than its superblock tells", expected);
  if (w.size() > expected) return verdict(Integrity::unchecked, "longer than its superblock tells");
  return verdict(Integrity::ok, "ends where its superblock says", expected);
}

}  // namespace trainvigil::formats_of_files
