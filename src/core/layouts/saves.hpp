// Saves and families of saves: what the rules of completeness, units and runs work on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layouts/collect.hpp"
#include "trainvigil/checkpoint.hpp"

namespace trainvigil::layouts {

/// Files of a save whose inner names are equal but for digits: the shards of one thing.
struct ShapeItem {
  std::uint64_t key = 0;
  std::uint32_t count = 0;
  std::int64_t bytes = 0;
  bool weights = false;
  std::string_view example;  ///< inner name of one of them, for the explanation
};

/// What the entries of one save say by themselves.
struct Facts {
  std::int64_t bytes = 0;
  bool bytes_known = true;
  std::int64_t expected_bytes = 0;           ///< from headers, where all large files tell it
  std::optional<HostTime> began, modified;   ///< first and last file time
  std::optional<HostTime> weights_modified;  ///< last time of a weights file
  std::optional<HostTime> heavy_modified;    ///< last time of a weights file that is not small
  std::optional<HostTime> certificate_modified;
  std::optional<HostTime> heaviest_modified;  ///< time of the largest file: what orders saves
  std::int64_t heaviest_bytes = -1;
  std::optional<HostTime> directory_modified;
  Seconds longest_gap{0};          ///< between weights files
  std::uint64_t certificates = 0;  ///< bit a row of certificates(), at the top of the save
  std::uint64_t signatures = 0;    ///< bit a row of signatures(): seen and what it needs is not there
  std::uint64_t inside = 0;        ///< Interest::units of what lies inside
  bool inner_pointer = false;
  std::size_t weights_files = 0;
  std::size_t ok_files = 0;  ///< weights files whose format is whole
  std::size_t unchecked_files = 0;
  std::string_view truncated, bad, empty_weights, empty_certificate, temp_inside, uncertified_directory;
  std::string missing_shard;  ///< explanation; empty: none known
  bool index_without_data = false, data_without_index = false;
  bool tiny_model = false;       ///< model weights far smaller than the optimizer beside them
  std::vector<ShapeItem> shape;  ///< sorted by key
  std::size_t files = 0;
};

struct Save {
  std::vector<const Piece*> pieces;      ///< the first one leads
  std::vector<const Piece*> companions;  ///< do not decide whether it is whole
  Index container = 0;
  std::uint64_t lineage = 0;
  std::uint64_t stem = 0;
  std::optional<std::int64_t> epoch, step, other, bare;
  std::optional<std::int64_t> version;
  NameClass cls = NameClass::none;
  bool timestamp = false;
  Index family = kNone;
  Facts facts;
  // Filled by the rules:
  std::optional<std::int64_t> value, done;
  std::optional<Unit> unit;
  CheckpointState state = CheckpointState::complete;
  CheckpointRun run = CheckpointRun::unknown;
  std::string why;
  std::optional<std::int64_t> measure_bytes;  ///< of the whole save before it
  bool being_deleted = false, missing_shard = false, implausible_size = false, unproven = false;
  bool certified = false;       ///< by something that is written after the data
  bool linked = false;          ///< a link written after it points at it
  bool half_epoch = false;      ///< taken inside the epoch its name tells
  LayoutMemory::SeenSave seen;  ///< how it looks now and since when

  [[nodiscard]] std::string_view path() const { return pieces.front()->path; }
};

struct Family {
  std::vector<Index> saves;  ///< ascending by counter, then time
  bool has_epoch = false, has_step = false, has_other = false, has_bare = false;
  std::optional<Unit> unit;
  bool unnumbered = false;
};

struct Assembled {
  std::vector<Save> saves;       ///< numbered
  std::vector<Family> families;  ///< of numbered saves
  std::vector<Save> unnumbered;
  std::vector<std::vector<Index>> dated;  ///< indices of unnumbered saves whose names differ only in a date
};

/// Pieces must outlive the result.
Assembled assemble(const Listing& listing, const Collected& collected);

/// Order inside a family: epoch, step, other counters, then time.
bool counter_less(const Save& a, const Save& b);
/// Equal in every counter.
bool counter_equal(const Save& a, const Save& b);

Facts examine(const Listing& listing, const Collected& collected, const Save& save);

/// The time that orders saves: that of the largest file, so that a later small file (an evaluation's result) does not make an old save new.
inline std::optional<HostTime> written_at(const Save& s) {
  return s.facts.heaviest_modified ? s.facts.heaviest_modified : s.facts.modified ? s.facts.modified : s.facts.directory_modified;
}

}  // namespace trainvigil::layouts
