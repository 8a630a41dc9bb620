// The answer of a directory walk -> entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

/// Sums over the entries of a walk. Two listings whose sums differ by just what the known changes make of them differ in nothing else.
struct Sums {
  std::uint64_t count = 0, bytes = 0, seconds = 0, names = 0;

  void add(const FileEntry& entry);
  void remove(const FileEntry& entry);
  friend bool operator==(const Sums&, const Sums&) = default;
};

/// What the host says of the whole walk, sent or not.
struct WalkSummary {
  Sums sums;
  std::optional<double> last_change;    ///< newest time of change (ctime): set by the file server alone, never by a program
  std::int64_t left_out = 0;            ///< entries that were not wanted or found no room
  bool over = false;                    ///< some found no room
  std::string lean = "-", floor = "-";  ///< what to leave out so that the rest fits
};

struct Walk {
  std::vector<FileEntry> entries;        ///< in the order they came
  std::vector<std::string> listed_anew;  ///< directories of which all direct entries are here; empty: the top one
  std::optional<WalkSummary> summary;
  std::optional<std::string> error;  ///< why there is none, in the system's words
  bool finished = false;             ///< the walk came to its own end (it was not killed, nothing was cut)
  bool unreadable_part = false;      ///< it ended with a complaint: something below could not be read
};

/// Takes a walk line by line. `mark` begins each line that is not the rest of a name with a newline in it; it must outlive the reader.
class WalkReader {
 public:
  explicit WalkReader(std::string_view mark) : mark_(mark) {}
  void line(std::string_view text);
  Walk take();

 private:
  void record();

  std::string_view mark_;
  Walk walk_;
  std::string record_;
  bool open_ = false;
  std::unordered_map<std::string, std::size_t> links_;  ///< the stat way names a link twice: once with its time, once with its target
  std::optional<std::size_t> link_;
};

Walk parse_walk(const std::vector<std::string>& lines, std::string_view mark);

/// Levels below the directory: "0/model.pt" is 2 deep.
int depth_of(std::string_view path);
/// Path of the directory it lies in; empty: the top one.
std::string_view parent_of(std::string_view path);

}  // namespace trainvigil::wire
