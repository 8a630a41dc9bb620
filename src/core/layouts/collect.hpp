// From a flat listing to saves: which entries belong together, and which of them are unfinished, companions or none of our business.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/layouts/name.hpp"
#include "core/layouts/part_lists.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::layouts {

using Index = std::uint32_t;
inline constexpr Index kNone = UINT32_MAX;

struct Directory {
  std::string_view path;  ///< empty: the checkpoint directory itself
  std::string_view name;
  Index parent = kNone;
  Name parsed;
  std::optional<HostTime> mtime;      ///< its own, which moves when something in it is made or removed
  std::uint64_t lineage = kHashSeed;  ///< hash of the path in which run indices ("version_3") do not count
  bool listed = false;
  bool weights_below = false;
  bool known_below = false;
  bool heavy_below = false;
  bool files_below = false;
  bool scratch = false;         ///< it or one above it holds what is made from saves
  bool counters_below = false;  ///< a directory or weight file in it has a counter of its own
};

/// One file or directory with a counter (or a class word) in its name, and all that lies in it.
struct Piece {
  std::string_view path;
  std::string_view name;
  Index container = 0;      ///< Directory it lies in
  Index directory = kNone;  ///< itself, when it is one
  Name parsed;
  bool aux = false;            ///< does not decide whether the save is whole
  bool thin = false;           ///< nothing in it looks like weights
  std::vector<Index> entries;  ///< files of it
};

struct TempItem {
  std::string_view path;
  std::string_view target;  ///< name it would get
  Index container = 0;
  std::vector<Index> entries;
  std::optional<HostTime> mtime;  ///< of the directory itself
};

struct Link {
  std::string_view path;
  std::string_view name;
  std::string_view target_name;  ///< last component of what it points at
  Index container = 0;
  Name parsed;
  std::optional<HostTime> mtime;
};

/// A file outside every save.
struct Loose {
  Index entry = 0;
  Index container = 0;
};

struct Collected {
  std::vector<Directory> directories;
  std::deque<Piece> numbered;    ///< candidates for numbered saves
  std::deque<Piece> unnumbered;  ///< last, best, final, in-place names
  std::vector<TempItem> temps;
  std::vector<Link> links;
  std::vector<Loose> loose;
  std::set<std::pair<Index, std::string_view>> markers;  ///< container and name of saves that say "not finished"
  PartFaults part_faults;
};

Collected collect(const Listing& listing);

/// Last component of a path.
std::string_view base_name(std::string_view path);

}  // namespace trainvigil::layouts
