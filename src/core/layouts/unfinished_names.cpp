// Names of things that are being written or deleted, whatever the framework.
#include "core/layouts/unfinished_names.hpp"

#include <array>

#include "core/layouts/words.hpp"

namespace trainvigil::layouts {
namespace {

constexpr bool alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool all(std::string_view s, auto&& test) {
  for (char c : s)
    if (!test(c)) return false;
  return true;
}

/// `.name.ext.Xa3f9Q`, the name rsync gives a file while it is being copied.
bool rsync_temp(std::string_view name) {
  if (name.size() < 10 || name[0] != '.') return false;
  const auto dot = name.size() - 7;
  if (name[dot] != '.' || !all(name.substr(dot + 1), alnum)) return false;
  return name.substr(1, dot - 1).find('.') != std::string_view::npos && extension_of(name).kind == ExtKind::none;
}

/// Python's tempfile: "tmp" and eight characters of [a-z0-9_].
bool mkstemp_name(std::string_view name) {
  return name.size() == 11 && name.starts_with("tmp") &&
         all(name.substr(3), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_'; });
}

constexpr std::array<std::string_view, 8> kPrefixes{"tmp-", "tmp_", "_tmp_", "_tmp-", ".tmp-", ".tmp_", ".tmp.", "incomplete_"};
constexpr std::array<std::string_view, 12> kSuffixes{"-tmp",     "_tmp",        ".tmp",     "_temp",       ".temp",       ".part",
                                                     ".partial", ".incomplete", ".writing", ".inprogress", "-inprogress", ".saving"};
/// What follows is a time, a random number or a counter.
constexpr std::array<std::string_view, 7> kInfixes{".orbax-checkpoint-tmp", ".tempstate", ".tmp-", ".tmp.", "-tmp-", "_temp_", ".tmp_"};

}  // namespace

Unfinished unfinished_name(std::string_view name, std::string_view lower) {
  if (lower.starts_with("_trash") || lower.starts_with(".trash") || lower == "trash" || lower == "todelete" || lower.ends_with(".deleted") ||
      lower.ends_with(".deleting") || lower.starts_with("deleted_"))
    return {NameKind::trash, name};
  if (constexpr std::string_view marker = "-unfinished"; lower.size() > marker.size() && lower.ends_with(marker))
    return {NameKind::marker, name.substr(0, name.size() - marker.size())};
  for (auto infix : kInfixes)
    if (const auto at = lower.find(infix); at != std::string_view::npos && at > 0) {
      const auto rest = lower.substr(at + infix.size());
      const bool random = all(rest, [](char c) { return alnum(c) || c == '-' || c == '_' || c == '/'; });
      if (random && (infix != "_temp_" || rest.size() >= 8)) return {NameKind::temp, name.substr(0, at)};
    }
  for (auto prefix : kPrefixes)
    if (lower.starts_with(prefix) && lower.size() > prefix.size()) return {NameKind::temp, name.substr(prefix.size())};
  for (auto suffix : kSuffixes)
    if (lower.ends_with(suffix) && lower.size() > suffix.size()) return {NameKind::temp, name.substr(0, name.size() - suffix.size())};
  const auto ext = extension_of(lower);
  const auto stem = lower.substr(0, lower.size() - ext.text.size());
  if (stem == "tmp" || stem == "temp" || stem.ends_with("_tmp") || stem.ends_with("-tmp") || stem.ends_with(".tmp")) return {NameKind::temp, name};
  if (rsync_temp(name)) return {NameKind::temp, name.substr(1, name.size() - 8)};
  if (mkstemp_name(lower)) return {NameKind::temp, name};
  return {NameKind::plain, name};
}

}  // namespace trainvigil::layouts
