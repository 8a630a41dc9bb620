// Is a save still being written? File times say so, unless the clock of a file server is wrong or a copy kept the times of its source: then what
// changed between two looks does.
#include <algorithm>
#include <unordered_map>

#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

constexpr std::size_t kRememberedSaves = 32;
constexpr Seconds kClockNoise{5.0};  // the listing is taken a moment after the host told its time

LayoutMemory::SeenSave appearance(const Save& s) {
  LayoutMemory::SeenSave out;
  out.files = static_cast<std::int64_t>(s.facts.files);
  out.bytes = s.facts.bytes;
  out.modified = s.facts.modified ? s.facts.modified : s.facts.directory_modified;
  return out;
}

/// Rotation takes files away; that is no writing.
bool gained(const LayoutMemory::SeenSave& now, const LayoutMemory::SeenSave& before) {
  return now.files > before.files || now.bytes > before.bytes || (now.modified && (!before.modified || *now.modified > *before.modified));
}

}  // namespace

void follow_changes(Context& c) {
  std::unordered_map<std::string_view, const LayoutMemory::SeenSave*> known;
  std::optional<HostTime> newest_known;
  for (const auto& [path, seen] : c.memory.saves) {
    known.emplace(path, &seen);
    if (seen.modified && (!newest_known || *seen.modified > *newest_known)) newest_known = seen.modified;
  }
  const auto follow = [&](Save& s) {
    s.seen = appearance(s);
    s.seen.same_since = c.in.now;
    const auto before = known.find(s.path());
    if (before != known.end() && !gained(s.seen, *before->second)) {
      s.seen.same_since = before->second->same_since;
      s.seen.changed_after = before->second->changed_after;
      s.seen.same_looks = before->second->same_looks + 1;
      return;
    }
    // One that is not remembered is new, or too old to be remembered.
    const bool all_remembered = known.size() < kRememberedSaves;
    const bool appeared = all_remembered || !newest_known || !s.seen.modified || *s.seen.modified > *newest_known;
    if (before != known.end() || appeared) s.seen.changed_after = c.memory.seen_at;
  };
  for (auto& s : c.saves) follow(s);
  for (auto& s : c.unnumbered) follow(s);
}

void remember_changes(Context& c, const std::vector<const Save*>& newest_first) {
  std::map<std::string, LayoutMemory::SeenSave> saves;
  for (const auto& s : c.unnumbered)
    if (saves.size() < kRememberedSaves / 2) saves.emplace(s.path(), s.seen);
  for (const auto* s : newest_first) {
    if (saves.size() >= kRememberedSaves) break;
    saves.emplace(s->path(), s->seen);
  }
  c.memory.saves = std::move(saves);
}

std::optional<Seconds> age_of(const Context& c, std::optional<HostTime> t) {
  if (!t || !c.in.now || *t > *c.in.now + kClockNoise) return std::nullopt;
  return std::max(Seconds{0}, *c.in.now - *t);
}

bool growing(const Context& c, const Save& s) {
  for (const auto* p : s.pieces)
    for (auto i : p->entries)
      if (c.grew[i]) return true;
  return false;
}

bool fresh(const Context& c, const Save& s, Seconds quiet) {
  if (growing(c, s)) return true;
  if (c.in.alive == false) return false;  // nobody is there to write
  if (c.in.now && s.seen.changed_after && *c.in.now - *s.seen.changed_after < quiet) return true;
  if (const auto age = age_of(c, s.seen.modified)) return *age < quiet;
  constexpr std::int64_t kQuietLooks = 2;  // contract: until nothing grew for two polls
  if (c.in.now && s.seen.same_since) return *c.in.now - *s.seen.same_since < quiet;
  return s.seen.same_looks < kQuietLooks;
}

}  // namespace trainvigil::layouts
