// What the checkpoint directory says: every save with its state, and what is being saved. Pure: listing in, view out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil {

enum class CheckpointState { complete, saving, partial, corrupt, stale };
enum class CheckpointRun { this_run, earlier, unknown };

struct Checkpoint {
  std::string path;                   ///< relative, raw bytes; of merged companions the leading one
  std::optional<std::int64_t> value;  ///< the counter in the name; absent for last, best, final, in-place files
  std::optional<std::int64_t> done;   ///< units finished, base corrected
  std::optional<Unit> unit;
  std::optional<std::int64_t> bytes;  ///< of all its files
  std::optional<HostTime> modified;   ///< when its last file was written
  std::optional<HostTime> began;      ///< when its first file was written
  CheckpointState state = CheckpointState::complete;
  CheckpointRun run = CheckpointRun::unknown;
  std::string why;                ///< one clause: what the state rests on
  bool missing_shard = false;     ///< of a partial one: a shard set with a hole
  bool implausible_size = false;  ///< far smaller than its siblings or than weights can be
  bool unproven =
      false;  ///< of a saving one: nothing is known to be missing, it only changed just now; of a partial one: nothing of it could be listed
  bool being_deleted = false;  ///< of a partial one: rotation took or takes it away; not damage
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// Something under the directory is being written now (or was, when it is old).
struct SaveInProgress {
  std::string path;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> expected_bytes;  ///< more than `bytes`; from headers, else from the save before it; absent where neither tells
  std::optional<HostTime> modified;
  std::string why;
  bool leftover = false;  ///< old: a save cut short earlier, not one that is running
};

/// Share of the final size that is written, in [0, 1). Absent where the final size is not known.
inline std::optional<double> written_share(const SaveInProgress& save) {
  if (!save.bytes || !save.expected_bytes || *save.expected_bytes <= *save.bytes || *save.bytes < 0) return std::nullopt;
  return static_cast<double>(*save.bytes) / static_cast<double>(*save.expected_bytes);
}

/// What files that the framework writes for itself know of the progress (trainer_state.json, results.csv …).
struct FileProgress {
  std::optional<Unit> unit;
  std::optional<double> done;
  std::optional<double> total;       ///< where the file knows it
  std::optional<std::int64_t> step;  ///< optimizer steps, where told beside an epoch
  std::optional<std::int64_t> total_steps;
  std::optional<double> total_epochs;
  std::string path;  ///< the file it was read from
};

struct CheckpointView {
  std::vector<Checkpoint> checkpoints;  ///< newest first: by order of counters, then time
  std::optional<Unit> unit;             ///< of the counters; absent when the listing can not tell
  std::vector<SaveInProgress> in_progress;
  std::optional<FileProgress> progress;
  std::optional<std::string> end_artefact;     ///< path of a final artefact (model_final.pth, weights at the root …) newer than the numbered saves
  bool in_place = false;                       ///< one name rewritten again and again; no numbered family
  bool resumed = false;                        ///< a state file or argument proves that this run builds on an earlier one
  bool rotated = false;                        ///< checkpoints known before are gone and newer ones are there
  std::optional<std::int64_t> bytes_per_save;  ///< median of the complete ones
  std::optional<std::string> cut;              ///< the listing was cut, and how: older checkpoints may be missing here
};

/// What must be remembered between listings. Bounded; see layouts for the limits.
struct LayoutMemory {
  struct Seen {
    std::optional<std::int64_t> bytes;
    std::optional<HostTime> mtime;
  };
  /// A save as a whole, to tell whether it still changes when file times do not (a file server whose clock is wrong, copies that keep their times).
  struct SeenSave {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::optional<HostTime> modified;       ///< newest file time
    std::optional<HostTime> same_since;     ///< host time of the look that first saw it like this
    std::optional<HostTime> changed_after;  ///< host time of the look before that; absent when it was like this at the first look
    std::int64_t same_looks = 0;            ///< looks since then that saw no change
  };
  std::map<std::string, Seen> files;              ///< big files of the newest saves and in-place names only
  std::map<std::string, SeenSave> saves;          ///< the newest ones
  std::optional<HostTime> seen_at;                ///< host time of the last listing
  std::optional<std::int64_t> highest_own;        ///< highest counter of this run ever seen
  std::map<std::string, std::int64_t> rewrites;   ///< in-place name → rewrites seen since the run started
  std::map<std::string, HostTime> growing_since;  ///< path of an unfinished save → first seen growing
  std::optional<Seconds> longest_gap;             ///< longest quiet gap seen inside a save
  std::optional<std::int64_t> first_own;          ///< lowest counter of this run ever seen complete
  std::optional<HostTime> run_start;              ///< the run that first_own, highest_own and rewrites speak of
};

struct LayoutInput {
  const Listing* listing = nullptr;  ///< not null
  std::optional<HostTime> now;
  std::optional<HostTime> run_start;   ///< start of the main process; absent when never seen
  std::optional<bool> alive;           ///< the main process is there
  std::optional<std::int64_t> epochs;  ///< the operator's totals, which settle the unit of names with both
  std::optional<std::int64_t> steps;
  std::string cmdline;  ///< of the main process: --resume arguments
};

/// Judges a listing. Total: any input gives a view. Updates memory. O(n log n) in the number of entries.
CheckpointView judge_listing(const LayoutInput& in, LayoutMemory& memory);

/// The newest complete checkpoint that is safe to resume from, or null. Never a stale one (contract section 1).
const Checkpoint* last_good(const CheckpointView& view);

}  // namespace trainvigil
