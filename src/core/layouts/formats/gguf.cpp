// GGUF (ggml docs/gguf.md): a header, key-value pairs, the tensors' places, then the tensors. Nothing marks the end, but the places tell where it is.
#include <algorithm>
#include <array>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kUsualInfo = 64 * 1024;  // enough where no tokenizer's vocabulary is inside
constexpr std::int64_t kWholeInfo = 16 * kLargestRead;
constexpr std::uint64_t kMost = 10'000'000;  // far above any model's tensors or keys
constexpr std::uint64_t kLargest = 1ULL << 60U;

struct Type {
  std::uint32_t elements = 0, bytes = 0;
};

/// Elements and bytes of a block, by ggml_type (ggml.h; sizes as in gguf-py's GGML_QUANT_SIZES). Numbers that were given up are empty.
constexpr std::array<Type, 40> kTypes{{{1, 4},    {1, 2},    {32, 18},  {32, 20},   {},         {},         {32, 22},   {32, 24},
                                       {32, 34},  {32, 36},  {256, 84}, {256, 110}, {256, 144}, {256, 176}, {256, 210}, {256, 292},
                                       {256, 66}, {256, 74}, {256, 98}, {256, 50},  {32, 18},   {256, 110}, {256, 82},  {256, 136},
                                       {1, 1},    {1, 2},    {1, 4},    {1, 8},     {1, 8},     {256, 56},  {1, 2},     {},
                                       {},        {},        {256, 54}, {256, 66},  {},         {},         {},         {32, 17}}};

/// Reads onward through text that may end anywhere.
class Reader {
 public:
  Reader(std::string_view bytes, bool wide) : bytes_(bytes), wide_(wide) {}

  std::uint64_t number(std::size_t width) {
    if (bytes_.size() - at_ < width) return fail();
    std::uint64_t v = 0;
    for (std::size_t i = width; i-- > 0;) v = (v << 8U) | static_cast<unsigned char>(bytes_[at_ + i]);
    at_ += width;
    return v;
  }
  std::uint64_t count() { return number(wide_ ? 8 : 4); }
  std::string_view text() {
    const auto n = count();
    if (n > bytes_.size() - at_) return fail(), std::string_view{};
    const auto text = bytes_.substr(at_, static_cast<std::size_t>(n));
    at_ += static_cast<std::size_t>(n);
    return text;
  }
  void skip(std::uint64_t n, std::uint64_t width) {
    if (n > kLargest / std::max<std::uint64_t>(width, 1) || n * width > bytes_.size() - at_) {
      fail();
    } else {
      at_ += static_cast<std::size_t>(n * width);
    }
  }
  [[nodiscard]] bool short_of_bytes() const { return short_; }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::uint64_t fail() {
    short_ = true;
    at_ = bytes_.size();
    return 0;
  }

  std::string_view bytes_;
  bool wide_;
  std::size_t at_ = 0;
  bool short_ = false;
};

constexpr std::uint32_t kText = 8, kArray = 9;

std::size_t width_of(std::uint64_t kind) {
  constexpr std::array<std::size_t, 13> widths{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kind < widths.size() ? widths[static_cast<std::size_t>(kind)] : 0;
}

/// False: not a value of this format.
bool skip_value(Reader& r, std::uint64_t kind, int depth) {
  if (kind == kText) {
    r.text();
    return true;
  }
  if (kind != kArray) {
    if (width_of(kind) == 0) return false;
    r.skip(1, width_of(kind));
    return true;
  }
  const auto inner = r.number(4);
  const auto n = r.count();
  if (r.short_of_bytes()) return true;
  if (const auto width = width_of(inner)) {
    r.skip(n, width);
    return true;
  }
  if (depth == 0) return false;
  for (std::uint64_t i = 0; i < n && !r.short_of_bytes(); ++i)
    if (!skip_value(r, inner, depth - 1)) return false;
  return true;
}

enum class Found { all, short_of_bytes, not_possible, not_known };

struct Layout {
  std::uint64_t infos_end = 0, data = 0, end = 0, padded_end = 0;
};

std::uint64_t aligned(std::uint64_t at, std::uint64_t to) { return (at + to - 1) / to * to; }

Found layout_of(std::string_view bytes, std::uint64_t version, Layout& out) {
  Reader r(bytes, version >= 2);
  r.skip(1, 8);
  const auto tensors = r.count(), pairs = r.count();
  std::uint64_t alignment = 32;
  for (std::uint64_t i = 0; i < pairs && !r.short_of_bytes(); ++i) {
    const auto key = r.text();
    const auto kind = r.number(4);
    if (r.short_of_bytes()) break;
    if (key == "general.alignment" && (kind == 4 || kind == 5)) {
      alignment = r.number(4);
    } else if (!skip_value(r, kind, 4)) {
      return Found::not_possible;
    }
  }
  if (alignment == 0 || alignment > (1U << 20U)) return Found::not_possible;
  bool known = true;
  std::uint64_t end = 0, padded = 0;
  for (std::uint64_t i = 0; i < tensors && !r.short_of_bytes(); ++i) {
    r.text();
    const auto dimensions = r.number(4);
    if (r.short_of_bytes()) break;
    if (dimensions > 8) return Found::not_possible;
    std::uint64_t elements = 1;
    for (std::uint64_t d = 0; d < dimensions; ++d) {
      const auto n = r.count();
      if (n != 0 && elements > kLargest / n) return Found::not_possible;
      elements *= n;
    }
    const auto type = r.number(4);
    const auto offset = r.number(8);
    if (r.short_of_bytes()) break;
    if (offset > kLargest || offset % alignment != 0) return Found::not_possible;
    if (type >= kTypes.size() || kTypes[static_cast<std::size_t>(type)].elements == 0) {
      known = false;
      continue;
    }
    const auto& t = kTypes[static_cast<std::size_t>(type)];
    if (elements % t.elements != 0 || elements / t.elements > kLargest / t.bytes) return Found::not_possible;
    const auto reach = offset + elements / t.elements * t.bytes;
    end = std::max(end, reach);
    padded = std::max(padded, aligned(reach, alignment));
  }
  if (r.short_of_bytes()) return Found::short_of_bytes;
  out.infos_end = r.position();
  out.data = aligned(out.infos_end, alignment);
  out.end = end == 0 ? out.infos_end : out.data + end;
  out.padded_end = out.data + padded;
  return known ? Found::all : Found::not_known;
}

}  // namespace

IntegrityStep check_gguf(const Window& w, bool whole) {
  const auto magic = w.at(0, std::min<std::int64_t>(4, w.size()));
  if (magic && !std::string_view("GGUF").starts_with(*magic)) return verdict(Integrity::bad, "does not begin as GGUF");
  const auto version = w.number(4, 4);
  if (!version) return verdict(Integrity::truncated, "the header is cut short");
  if (*version < 1 || *version > 3) return verdict(Integrity::unchecked, "a version that is not known here");
  const int width = *version >= 2 ? 8 : 4;
  const auto tensors = w.number(8, width), pairs = w.number(8 + width, width);
  if (!tensors || !pairs) return verdict(Integrity::truncated, "the header is cut short");
  if (*tensors > kMost || *pairs > kMost) return verdict(Integrity::bad, "the header's counts are not possible");

  const auto want = std::min(w.size(), whole ? kWholeInfo : kUsualInfo);
  std::string text;
  std::vector<ByteRange> missing;
  for (std::int64_t at = 0; at < want; at += kLargestRead) {
    const auto part = std::min(kLargestRead, want - at);
    if (const auto bytes = w.at(at, part); bytes && missing.empty()) {
      text += *bytes;
    } else {
      missing.push_back({at, part});
    }
  }
  // Piece by piece: most models need one or two of them.
  Layout layout;
  auto found = text.empty() ? Found::short_of_bytes : layout_of(text, *version, layout);
  if (found == Found::short_of_bytes && !missing.empty()) return more({missing.front()});
  switch (found) {
    case Found::not_possible:
      return verdict(Integrity::bad, "the header does not describe tensors");
    case Found::not_known:
      return verdict(Integrity::unchecked, "tensors of a type that is not known here");
    case Found::short_of_bytes:
      return want == w.size() ? verdict(Integrity::truncated, "the header is cut short")
                              : verdict(Integrity::unchecked, "the tensors' places stand behind a long vocabulary");
    case Found::all:
      break;
  }
  const auto size = static_cast<std::uint64_t>(w.size());
  const auto expected = static_cast<std::int64_t>(layout.end);
  if (size < layout.end) return verdict(Integrity::truncated, "shorter than its tensors reach", expected);
  if (size > layout.padded_end) return verdict(Integrity::unchecked, "longer than its tensors reach", expected);
  // Most writers pad the last tensor as well.
  if (size != layout.end && size != layout.padded_end) return verdict(Integrity::unchecked, "the last tensor's padding is cut short", expected);
  return verdict(Integrity::ok, "exactly as long as its tensors reach", w.size());
}

}  // namespace trainvigil::formats_of_files
