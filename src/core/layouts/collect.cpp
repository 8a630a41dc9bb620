#include "core/layouts/collect.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/layouts/frameworks.hpp"

namespace trainvigil::layouts {
namespace {

constexpr std::size_t kMaxDepth = 48;
/// Below this a file says nothing about weights: settings, random states, markers (reference: companions are 1 to 40 kB).
constexpr std::int64_t kHeavy = 100'000;

enum class Where : std::uint8_t { unknown, container, numbered, unnumbered, temp, ignored };

struct Place {
  Where where = Where::unknown;
  Index item = kNone;
};

class Collector {
 public:
  explicit Collector(const Listing& listing) : listing_(listing) {}

  Collected run() {
    out_.directories.emplace_back();
    out_.directories[0].listed = true;
    index_.emplace(std::string_view{}, 0);
    index_.reserve(listing_.entries.size() / 4 + 16);
    register_directories();
    place_directories();
    place_files();
    out_.part_faults = part_faults(listing_);
    return std::move(out_);
  }

 private:
  static std::string_view clean(std::string_view path) {
    while (path.starts_with("./")) path.remove_prefix(2);
    while (path.ends_with('/')) path.remove_suffix(1);
    return path == "." ? std::string_view{} : path;
  }
  static std::string_view parent_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
  }

  /// The directory of this path; made when a listing names only the files in it. Very deep paths end at an ancestor.
  Index directory(std::string_view path) {
    if (path == last_path_) return last_id_;
    if (const auto found = index_.find(path); found != index_.end()) {
      last_path_ = path;
      return last_id_ = found->second;
    }
    if (static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) >= kMaxDepth) {
      std::size_t at = 0;
      for (std::size_t depth = 0; depth < kMaxDepth; ++depth) at = path.find('/', at) + 1;
      path = path.substr(0, at - 1);
      if (const auto found = index_.find(path); found != index_.end()) return found->second;
    }
    const Index parent = directory(parent_of(path));
    Directory d;
    d.path = path;
    d.name = base_name(path);
    d.parent = parent;
    d.parsed = parse_name(d.name);
    d.lineage = lineage(out_.directories[parent].lineage, d);
    d.scratch = out_.directories[parent].scratch || (d.parsed.scratch && !d.parsed.store);
    const auto id = static_cast<Index>(out_.directories.size());
    out_.directories.push_back(d);
    index_.emplace(path, id);
    last_path_ = path;
    return last_id_ = id;
  }

  /// "train", "train2" and "train3" are runs of one thing; folds and trials are not.
  static std::uint64_t lineage(std::uint64_t parent, const Directory& d) {
    std::uint64_t h = hash_byte(parent, '/');
    std::string_view word = d.name;
    while (!word.empty() && ((word.back() >= '0' && word.back() <= '9') || word.back() == '_' || word.back() == '-')) word.remove_suffix(1);
    if (word == "version" || word == "run" || word == "exp" || word == "train") return hash_text(h, word);
    if (d.parsed.timestamp)
      return hash_text(hash_byte(h, '@'), std::string_view(reinterpret_cast<const char*>(&d.parsed.pattern), sizeof d.parsed.pattern));
    return hash_text(h, d.name);
  }

  void mark(Index id, bool Directory::*flag) {
    for (; id != kNone && !(out_.directories[id].*flag); id = out_.directories[id].parent) out_.directories[id].*flag = true;
  }

  void register_directories() {
    containers_.reserve(listing_.entries.size());
    for (const auto& entry : listing_.entries) {
      const auto path = clean(entry.path);
      if (path.empty()) {
        containers_.push_back(0);
        continue;
      }
      if (entry.type == FileType::directory) {
        const auto id = directory(path);
        out_.directories[id].listed = true;
        out_.directories[id].mtime = entry.mtime;
        containers_.push_back(id);
        continue;
      }
      const auto id = directory(parent_of(path));
      containers_.push_back(id);
      if (entry.type != FileType::file) continue;
      const auto name = base_name(path);
      const auto kind = extension_of(name).kind;
      mark(id, &Directory::files_below);
      if (kind == ExtKind::weights && name != "training_args.bin") mark(id, &Directory::weights_below);
      if (kind != ExtKind::text && entry.bytes.value_or(0) >= kHeavy) mark(id, &Directory::heavy_below);
      if (known_inside(name)) mark(id, &Directory::known_below);
    }
    for (Index id = 1; id < out_.directories.size(); ++id) {
      const auto& d = out_.directories[id];
      if (d.parsed.kind == NameKind::plain && d.parsed.strong() && d.parsed.keyed()) mark(d.parent, &Directory::counters_below);
      if (d.parsed.kind == NameKind::plain && d.parsed.strong() && d.parsed.checkpoint) mark(d.parent, &Directory::counters_below);
    }
    // A weight file with a counter makes its directory a shelf, not a save, unless the directory's own name is the counter.
    for (std::size_t i = 0; i < listing_.entries.size(); ++i) {
      const auto& entry = listing_.entries[i];
      if (entry.type != FileType::file) continue;
      const Index id = containers_[i];
      if (out_.directories[id].counters_below || under_keyed(id)) continue;
      const auto parsed = parse_name(base_name(clean(entry.path)));
      const bool counts = parsed.kind == NameKind::plain && (parsed.keyed() || (parsed.strong() && parsed.checkpoint));
      const bool weights = parsed.ext_kind == ExtKind::weights || (parsed.ext_kind == ExtKind::ambiguous && numbered_file(parsed, entry, id));
      if (counts && weights) mark(id, &Directory::counters_below);
    }
    for (Index id = 1; id < out_.directories.size(); ++id) {
      const auto& d = out_.directories[id];
      if (d.parsed.count > 0 && !d.parsed.strong()) ++alike_[{d.parent, d.parsed.pattern}];
    }
  }

  /// A directory above says what it counts; whatever is numbered below belongs to it.
  [[nodiscard]] bool under_keyed(Index id) const {
    for (; id != kNone && id != 0; id = out_.directories[id].parent) {
      const auto& p = out_.directories[id].parsed;
      if (p.count > 0 && p.strong() && (p.keyed() || p.checkpoint)) return true;
    }
    return false;
  }

  Place place_directory(Index id) {
    const auto& d = out_.directories[id];
    const auto above = places_[d.parent];
    if (above.where != Where::container) return above;
    const auto& n = d.parsed;
    switch (n.kind) {
      case NameKind::temp:
        if (n.target == d.name && !d.weights_below && !d.heavy_below) return {Where::ignored, kNone};
        out_.temps.push_back({d.path, n.target, d.parent, {}, d.mtime});
        return {Where::temp, static_cast<Index>(out_.temps.size() - 1)};
      case NameKind::trash:
        return {Where::ignored, kNone};
      case NameKind::marker:
        out_.markers.emplace(d.parent, n.target);
        return {Where::ignored, kNone};
      case NameKind::plain:
        break;
    }
    const bool substance = d.weights_below || d.known_below || d.heavy_below;
    const bool own_counter = n.count > 0 && !(n.index && !n.keyed());
    if (own_counter) {
      const bool outermost = n.keyed() || n.checkpoint;
      if (d.scratch && !outermost) return {Where::container, kNone};
      if (!outermost && d.counters_below) return {Where::container, kNone};
      if (n.negative && !n.store) return {Where::container, kNone};
      if (!n.strong() && (!substance || !counts_without_a_word(d))) return {Where::container, kNone};
      return piece(out_.numbered, Where::numbered, id, !substance);
    }
    const bool shelf = d.counters_below || !(d.weights_below || (d.known_below && d.heavy_below)) || n.negative || d.scratch;
    if (!shelf && n.timestamp && n.checkpoint) return piece(out_.unnumbered, Where::unnumbered, id, false);
    if (!shelf && (n.cls == NameClass::latest || n.cls == NameClass::best || n.cls == NameClass::final || n.cls == NameClass::rescue))
      return piece(out_.unnumbered, Where::unnumbered, id, false);
    return {Where::container, kNone};
  }

  /// "mylora-000003" and "run-100" beside "run-200" count; "resnet50-224", alone, is how a model is called.
  [[nodiscard]] bool counts_without_a_word(const Directory& d) const {
    const auto& last = d.parsed.counters[d.parsed.count - 1];
    const bool padded = last.end - last.begin > 1 && d.name[last.begin] == '0' && last.begin > 0;  // "00003-ffhq" is a run
    const auto it = alike_.find({d.parent, d.parsed.pattern});
    return (padded && !last.weak) || (it != alike_.end() && it->second > 1);
  }

  Place piece(std::deque<Piece>& list, Where where, Index id, bool thin) {
    const auto& d = out_.directories[id];
    Piece p;
    p.path = d.path;
    p.name = d.name;
    p.container = d.parent;
    p.directory = id;
    p.parsed = d.parsed;
    p.thin = thin;
    p.aux = d.parsed.aux || d.name.ends_with("-state") || d.name.ends_with("_state");
    list.push_back(std::move(p));
    return {where, static_cast<Index>(list.size() - 1)};
  }

  void place_directories() {
    places_.resize(out_.directories.size());
    places_[0] = {Where::container, kNone};
    for (Index id = 1; id < out_.directories.size(); ++id) places_[id] = place_directory(id);
  }

  [[nodiscard]] bool numbered_file(const Name& n, const FileEntry& entry, Index container) const {
    if (n.count == 0 || (n.index && !n.keyed() && !n.store)) return false;
    switch (n.ext_kind) {
      case ExtKind::weights:
        return !n.negative || n.store;
      case ExtKind::ambiguous:
        if (n.negative || (n.ext == ".txt" && !n.store)) return false;
        return (n.ext == ".json" || n.ext == ".txt") ? n.store && entry.bytes.value_or(0) >= 1000 : n.store || n.keyed() || n.aux;
      case ExtKind::none:
        if (n.negative) return false;
        // "checkpoints/waveglow_2000" and "checkpoint.npz-000002000" are weights by their place or word and their size.
        if (entry.bytes.value_or(0) >= kHeavy && !n.counters[n.count - 1].weak && (n.checkpoint || out_.directories[container].parsed.checkpoint))
          return true;
        return n.strong() && (n.checkpoint || entry.bytes.value_or(0) >= kHeavy || n.stem.find("snapshot") != std::string_view::npos);
      case ExtKind::text:
        break;
    }
    return false;
  }

  static bool unnumbered_file(const Name& n, std::string_view name) {
    if (n.negative || n.cls == NameClass::resume || name.starts_with('.')) return false;
    if (n.ext_kind == ExtKind::weights) return true;
    if (n.ext_kind != ExtKind::ambiguous || n.ext == ".json" || n.ext == ".txt" || n.ext == ".model") return false;
    return n.cls != NameClass::none || n.store;
  }

  void place_file(std::size_t i, std::string_view path, Index container) {
    const auto& entry = listing_.entries[i];
    const auto name = base_name(path);
    const auto n = parse_name(name);
    const auto entry_id = static_cast<Index>(i);
    switch (n.kind) {
      case NameKind::temp:
        out_.temps.push_back({path, n.target, container, {entry_id}, std::nullopt});
        return;
      case NameKind::trash:
        return;
      case NameKind::marker:
        out_.markers.emplace(container, n.target);
        return;
      case NameKind::plain:
        break;
    }
    const bool speaks = !out_.directories[container].scratch || n.keyed() || n.checkpoint || (n.store && n.cls != NameClass::none);
    if (!speaks) {
      out_.loose.push_back({entry_id, container});
      return;
    }
    const bool numbered = numbered_file(n, entry, container);
    if (!numbered && !unnumbered_file(n, name)) {
      out_.loose.push_back({entry_id, container});
      return;
    }
    Piece p;
    p.path = path;
    p.name = name;
    p.container = container;
    p.parsed = n;
    p.aux = n.aux;
    p.entries.push_back(entry_id);
    (numbered ? out_.numbered : out_.unnumbered).push_back(std::move(p));
  }

  void place_files() {
    for (std::size_t i = 0; i < listing_.entries.size(); ++i) {
      const auto& entry = listing_.entries[i];
      const auto path = clean(entry.path);
      if (path.empty() || entry.type == FileType::directory) continue;
      const Index container = containers_[i];
      const auto place = places_[container];
      if (entry.type == FileType::link) {
        if (place.where == Where::container)
          out_.links.push_back({path, base_name(path), base_name(entry.target ? std::string_view(*entry.target) : std::string_view{}), container,
                                parse_name(base_name(path)), entry.mtime});
        continue;
      }
      switch (place.where) {
        case Where::numbered:
          out_.numbered[place.item].entries.push_back(static_cast<Index>(i));
          break;
        case Where::unnumbered:
          out_.unnumbered[place.item].entries.push_back(static_cast<Index>(i));
          break;
        case Where::temp:
          out_.temps[place.item].entries.push_back(static_cast<Index>(i));
          break;
        case Where::container:
          place_file(i, path, container);
          break;
        case Where::unknown:
        case Where::ignored:
          break;
      }
    }
  }

  const Listing& listing_;
  Collected out_;
  std::unordered_map<std::string_view, Index> index_;
  std::map<std::pair<Index, std::uint64_t>, int> alike_;  ///< directories beside each other that differ only in a number
  std::vector<Index> containers_;                         ///< by entry
  std::vector<Place> places_;                             ///< by directory
  std::string_view last_path_;
  Index last_id_ = 0;
};

}  // namespace

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Collected collect(const Listing& listing) { return Collector(listing).run(); }

}  // namespace trainvigil::layouts
