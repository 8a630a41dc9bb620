// The answer of a directory walk -> entries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

struct Walk {
  std::vector<FileEntry> entries;    ///< in the order they came
  std::optional<std::string> error;  ///< why there is none, in the system's words
  bool same = false;                 ///< as the listing we said we have
  bool finished = false;             ///< the walk came to its own end (it was not killed, nothing was cut)
  bool unreadable_part = false;      ///< it ended with a complaint: something below could not be read
};

/// `mark` begins each line that is not the rest of a name with a newline in it.
Walk parse_walk(const std::vector<std::string>& lines, std::string_view mark);

/// Levels below the directory: "0/model.pt" is 2 deep.
int depth_of(std::string_view path);

}  // namespace trainvigil::wire
