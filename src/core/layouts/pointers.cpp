// Pointer files and links: small things written after a save that say which one is whole.
#include <algorithm>
#include <unordered_map>

#include "core/layouts/frameworks.hpp"
#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view blank(" \t\r\n\"'\0", 7);
  const auto begin = s.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(blank) - begin + 1);
}

/// The line of a TensorFlow `checkpoint` file that names the newest one, else the first line.
std::string_view named_in(std::string_view text) {
  constexpr std::string_view key = "model_checkpoint_path:";
  if (const auto at = text.find(key); at != std::string_view::npos) text = text.substr(at + key.size());
  text = trimmed(text);
  text = trimmed(text.substr(0, text.find('\n')));
  return base_name(text);
}

constexpr std::size_t kLongestPointer = 4096;

}  // namespace

void find_pointers(Context& c) {
  std::unordered_map<std::string_view, const StateFile*> texts;
  for (const auto& f : c.listing.state_files) texts.emplace(f.path, &f);
  std::unordered_map<std::string_view, Index> directories;
  for (Index id = 0; id < c.collected.directories.size(); ++id) directories.emplace(c.collected.directories[id].path, id);

  const auto add = [&](std::string_view path, std::optional<HostTime> mtime) {
    const auto name = base_name(path);
    const auto rows = pointers();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Pointer& p) { return glob_match(p.name, name); });
    if (row == rows.end()) return;
    const auto slash = path.rfind('/');
    const auto dir = directories.find(slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash));
    if (dir == directories.end()) return;
    PointerFact fact;
    fact.mtime = mtime;
    fact.after_every_save = row->after_every_save;
    if (const auto text = texts.find(path); text != texts.end() && text->second->text.size() <= kLongestPointer * 16) {
      fact.text = std::string(named_in(std::string_view(text->second->text).substr(0, kLongestPointer)));
      const auto parsed = parse_name(fact.text);
      fact.everything = parsed.cls == NameClass::final;
    }
    c.pointers[dir->second].push_back(std::move(fact));
  };
  for (const auto& loose : c.collected.loose) {
    const auto& e = c.listing.entries[loose.entry];
    std::string_view path = e.path;
    if (path.starts_with("./")) path.remove_prefix(2);
    add(path, e.mtime);
    texts.erase(path);
  }
  // A state file that the listing does not show (it was cut) still says what it says.
  if (c.listing.cut)
    for (const auto& [path, file] : texts) add(path, std::nullopt);
}

void apply_links(Context& c) {
  if (c.collected.links.empty()) return;
  std::unordered_map<std::string_view, std::vector<Save*>> by_name;
  for (auto& s : c.saves)
    for (const auto* p : s.pieces) {
      by_name[p->name].push_back(&s);
    }
  for (const auto& link : c.collected.links) {
    const auto found = by_name.find(link.target_name);
    if (found == by_name.end()) continue;
    for (auto* s : found->second) {
      if (found->second.size() > 1 && s->container != link.container) continue;
      const auto written = s->facts.weights_modified;
      if (link.mtime && written && *link.mtime + Seconds{2.0} < *written) continue;
      s->linked = true;
      // "epoch1_step2656" → a save inside the epoch that the directory's own name tells.
      if (link.parsed.find(Key::epoch) && link.parsed.find(Key::step) && s->bare && link.parsed.find(Key::epoch)->value == *s->bare)
        s->half_epoch = true;
    }
  }
}

}  // namespace trainvigil::layouts
