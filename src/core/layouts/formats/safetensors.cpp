// safetensors: 8 bytes header length, a JSON header that tells every tensor's place, the tensors without gaps to the last byte.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;  // limit of the reference reader
constexpr std::int64_t kUsualHeader = 2 * kLargestRead;
constexpr std::int64_t kWholeHeader = 16 * kLargestRead;

std::int64_t bits_of(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64" || dtype == "C64") return 64;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 32;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 16;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL" || dtype == "F8_E4M3" || dtype == "F8_E5M2") return 8;
  return 0;
}

struct Span {
  std::uint64_t begin = 0, end = 0;
};

/// Absent: not a header of this format.
std::optional<std::vector<Span>> spans_of(const nlohmann::json& header) {
  if (!header.is_object()) return std::nullopt;
  std::vector<Span> out;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    if (!tensor.is_object()) return std::nullopt;
    const auto offsets = tensor.find("data_offsets");
    const auto dtype = tensor.find("dtype");
    const auto shape = tensor.find("shape");
    if (offsets == tensor.end() || dtype == tensor.end() || shape == tensor.end() || !dtype->is_string() || !shape->is_array()) return std::nullopt;
    if (!offsets->is_array() || offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned())
      return std::nullopt;
    const Span s{(*offsets)[0].get<std::uint64_t>(), (*offsets)[1].get<std::uint64_t>()};
    if (s.end < s.begin || s.end > (1ULL << 62U)) return std::nullopt;
    if (const auto bits = bits_of(dtype->get_ref<const std::string&>())) {
      std::uint64_t elements = 1;
      for (const auto& d : *shape) {
        if (!d.is_number_unsigned()) return std::nullopt;
        const auto n = d.get<std::uint64_t>();
        if (n != 0 && elements > (1ULL << 58U) / n) return std::nullopt;
        elements *= n;
      }
      if (elements * static_cast<std::uint64_t>(bits) != (s.end - s.begin) * 8) return std::nullopt;
    }
    out.push_back(s);
  }
  std::sort(out.begin(), out.end(), [](const Span& a, const Span& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t reached = 0;
  for (const auto& s : out) {
    if (s.begin != reached) return std::nullopt;
    reached = s.end;
  }
  return out;
}

}  // namespace

IntegrityStep check_safetensors(const Window& w, bool whole) {
  const auto length = w.number(0, 8);
  if (!length) return verdict(Integrity::truncated, "shorter than its first number");
  if (*length < 2 || *length > kLargestHeader) return verdict(Integrity::bad, "the header's length is not possible");
  const auto n = static_cast<std::int64_t>(*length);
  if (w.size() > 8) {
    const auto first = w.at(8, 1);
    if (first && *first != "{") return verdict(Integrity::bad, "the header does not begin as one");
  }
  if (8 + n > w.size()) return verdict(Integrity::truncated, "the header is cut short");
  if (n > (whole ? kWholeHeader : kUsualHeader)) return verdict(Integrity::unchecked, "the header is too long to read");

  std::string text;
  std::vector<ByteRange> missing;
  for (std::int64_t at = 8; at < 8 + n; at += kLargestRead) {
    const auto part = std::min(kLargestRead, 8 + n - at);
    if (const auto bytes = w.at(at, part)) {
      text += *bytes;
    } else {
      missing.push_back({at, part});
    }
  }
  if (!missing.empty()) return more(std::move(missing));
  const auto header = nlohmann::json::parse(text, nullptr, false);
  if (header.is_discarded())
    return text.find('\0') != std::string::npos ? verdict(Integrity::truncated, "the header is not written yet")
                                                : verdict(Integrity::bad, "the header is not JSON");
  const auto spans = spans_of(header);
  if (!spans) return verdict(Integrity::bad, "the header does not describe tensors without gaps");
  const auto data = spans->empty() ? 0 : static_cast<std::int64_t>(spans->back().end);
  const auto expected = 8 + n + data;
  if (w.size() < expected) return verdict(Integrity::truncated, "shorter than its header tells", expected);
  if (w.size() > expected) return verdict(Integrity::bad, "longer than its header tells", expected);
  return verdict(Integrity::ok, "exactly as long as its header tells", expected);
}

}  // namespace trainvigil::formats_of_files
