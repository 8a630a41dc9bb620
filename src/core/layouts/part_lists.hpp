// Files that name the other files of a save: the index of a sharded model, the metadata of a distributed checkpoint.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "trainvigil/observation.hpp"

namespace trainvigil::layouts {

/// What a list says of a file that is there, or of itself. Keys: paths as the listing has them.
struct PartFault {
  std::string missing;  ///< explanation: a file beside it that the same list names is not there
  bool cut = false;     ///< it is shorter than the list tells
};
using PartFaults = std::unordered_map<std::string_view, PartFault>;

/// Compares the lists among the state files (see part_list.hpp for their digest) with the listing.
PartFaults part_faults(const Listing& listing);

}  // namespace trainvigil::layouts
