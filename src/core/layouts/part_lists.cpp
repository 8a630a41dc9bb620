#include "core/layouts/part_lists.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "trainvigil/part_list.hpp"

namespace trainvigil::layouts {
namespace {

struct List {
  std::string_view path;    ///< of the list, as the listing has it
  std::string_view folder;  ///< with its slash; empty: the checkpoint directory
  PartList parts;
  std::vector<std::string_view> there;
  std::string missing;
  std::size_t missing_count = 0;
};

constexpr std::string_view kIndexEnding = ".index.json";

}  // namespace

PartFaults part_faults(const Listing& listing) {
  std::vector<List> lists;
  for (const auto& f : listing.state_files) {
    if (!is_part_list(f.path)) continue;
    auto parts = parse_part_list_digest(f.text);
    if (!parts) continue;
    const std::string_view path = f.path;
    const auto slash = path.rfind('/');
    lists.push_back({path, slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash + 1), *std::move(parts), {}, {}, 0});
  }
  if (lists.empty()) return {};
  std::sort(lists.begin(), lists.end(), [](const List& a, const List& b) { return a.path < b.path; });

  PartFaults faults;
  std::unordered_map<std::string_view, const FileEntry*> entries;
  entries.reserve(listing.entries.size());
  for (const auto& e : listing.entries) entries.emplace(e.path, &e);
  std::set<std::string_view> whole_folders;  // an index in it has all it names
  for (auto& list : lists) {
    for (const auto& [name, bytes] : list.parts) {
      // Other hubs link into stores elsewhere: a name that leads out of the folder says nothing here.
      if (name.starts_with('/') || name.starts_with("../") || name.find("/../") != std::string::npos) continue;
      const auto entry = entries.find(std::string(list.folder) + name);
      if (entry == entries.end()) {
        if (list.missing.empty()) list.missing = name;
        ++list.missing_count;
        continue;
      }
      list.there.push_back(entry->first);
      const auto& file = *entry->second;
      if (bytes && file.type == FileType::file && file.bytes && *file.bytes < *bytes) faults[entry->first].cut = true;
    }
    if (list.missing.empty()) whole_folders.insert(list.folder);
  }
  if (listing.cut) return faults;  // what is not listed may be there
  for (const auto& list : lists) {
    if (list.missing.empty()) continue;
    // A model that was saved again in one file, or in the other format, leaves its old index behind; readers take the file first, then the other
    // index.
    const bool index = list.path.ends_with(kIndexEnding);
    if (index && entries.contains(list.path.substr(0, list.path.size() - kIndexEnding.size()))) continue;
    if (index && list.there.empty() && whole_folders.contains(list.folder)) continue;
    const std::string why = "no " + list.missing + (list.missing_count > 1 ? " and " + std::to_string(list.missing_count - 1) + " more" : "") +
                            ", which " + std::string(list.path.substr(list.folder.size())) + " names";
    const auto say = [&](std::string_view path) {
      auto& missing = faults[path].missing;
      if (missing.empty()) missing = why;
    };
    if (const auto self = entries.find(list.path); self != entries.end()) say(self->first);
    for (const auto path : list.there) say(path);
  }
  return faults;
}

}  // namespace trainvigil::layouts
