// tar (NeMo): members one behind the other, each with a header that has a checksum; then zeros, of which a file that was reserved and never written
// to its end has plenty, too. So the headers are followed.
#include <algorithm>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kBlock = 512;
constexpr std::int64_t kMostPadding = 1 << 20;          // archives are padded to multiples of 10 kB, or of what `tar -b` was told
constexpr int kMostMembers = kMostIntegrityRounds - 4;  // each tells where the next one is

/// A number of a header: octal digits, or, when its first bit is set, base 256.
std::optional<std::int64_t> number(std::string_view field) {
  std::int64_t v = 0;
  if (static_cast<unsigned char>(field[0]) & 0x80U) {
    for (std::size_t i = 1; i < field.size(); ++i) {
      if (v > (1LL << 52)) return std::nullopt;
      v = v * 256 + static_cast<unsigned char>(field[i]);
    }
    return v;
  }
  for (const char c : field) {
    if (c == ' ' && v == 0) continue;
    if (c == ' ' || c == '\0') break;
    if (c < '0' || c > '7') return std::nullopt;
    v = v * 8 + (c - '0');
  }
  return v;
}

bool sum_is_right(std::string_view header) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  return number(header.substr(148, 8)) == sum;
}

}  // namespace

IntegrityStep check_tar(const Window& w) {
  const auto tail = w.at(std::max<std::int64_t>(0, w.size() - 2 * kBlock), std::min<std::int64_t>(w.size(), 2 * kBlock));
  const bool ended = tail && tail->size() == 2 * kBlock && tail->find_first_not_of('\0') == std::string_view::npos && w.size() % kBlock == 0;
  std::int64_t at = 0;
  for (int member = 0; member < kMostMembers; ++member) {
    if (at + kBlock > w.size()) return verdict(Integrity::truncated, "a member of the tar archive is cut short", at + 2 * kBlock);
    const auto header = w.at(at, kBlock);
    if (!header) return more({{at, kBlock}});
    if (header->find_first_not_of('\0') == std::string_view::npos)
      return w.size() - at > kMostPadding ? verdict(Integrity::unchecked, "more zeros at its end than writers put there")
             : ended                      ? verdict(Integrity::ok, "ends as a tar archive")
                                          : verdict(Integrity::truncated, "the end mark of the tar archive is missing");
    if (!sum_is_right(*header)) return verdict(Integrity::bad, "the header of a member is damaged");
    const auto size = number(header->substr(124, 12));
    if (!size || *size > (1LL << 60)) return verdict(Integrity::bad, "the header of a member is damaged");
    const char type = (*header)[156];
    const bool has_data = type == '0' || type == '\0' || type == '7' || type == 'x' || type == 'g' || type == 'L' || type == 'K';
    at += kBlock + (has_data ? (*size + kBlock - 1) / kBlock * kBlock : 0);
  }
  return ended ? verdict(Integrity::unchecked, "too many members to follow")
               : verdict(Integrity::truncated, "the end mark of the tar archive is missing");
}

}  // namespace trainvigil::formats_of_files
