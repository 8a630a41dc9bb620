// The rules, in the order in which judge_listing applies them. Each reads what the ones before it found.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/layouts/saves.hpp"
#include "trainvigil/checkpoint.hpp"

namespace trainvigil::layouts {

/// A name or number that says which save is the newest whole one.
struct PointerFact {
  std::optional<HostTime> mtime;
  std::string text;         ///< basename or decimal it holds; empty: not read
  bool everything = false;  ///< says that all is finished ("release", "model_final.pth")
  bool after_every_save = true;
};

struct Context {
  const LayoutInput& in;
  const Listing& listing;
  const Collected& collected;
  std::vector<Save>& saves;
  std::vector<Save>& unnumbered;
  std::vector<Family>& families;
  const std::vector<std::vector<Index>>& dated;
  LayoutMemory& memory;
  std::map<Index, std::vector<std::string_view>> beside{};  ///< loose names by directory, for the tables
  std::map<Index, std::vector<PointerFact>> pointers{};     ///< by directory
  std::vector<bool> grew{};                                 ///< by entry: more bytes than in the last listing
  std::vector<const LayoutMemory::Seen*> gone{};            ///< remembered files that are not there any more
  std::optional<HostTime> log_modified{};                   ///< newest time of a file that is no checkpoint: logs, event files, tables
  Seconds quiet{60.0};                                      ///< a save in which nothing moved for so long is over
};

/// Quiet time before a directory counts as left alone; see reference in docs/checkpoints.md.
inline constexpr Seconds kQuiet{60.0};
/// Less is enough where something more speaks for the save: the log went on for so long after it, or no file is smaller than in the save before it.
inline constexpr Seconds kQuietSupported{20.0};
/// Before the first file of a family, whole in itself, counts as the whole save: scripts that write a second one begin it at once.
inline constexpr Seconds kQuietAlone{10.0};
inline constexpr Seconds kQuietLimit{1800.0};

/// How each save looks beside what is remembered of it; for `fresh`.
void follow_changes(Context& context);
void find_pointers(Context& context);
void apply_links(Context& context);
void assign_units(const Context& context);
void judge_completeness(Context& context);
void judge_runs(Context& context);
/// The family that the view speaks of: the one the given total is about, else the one written last.
Index main_family(const Context& context);
void judge_in_place(Context& context);
std::vector<SaveInProgress> in_progress(const Context& context);
/// Files inside stale saves are not asked.
std::optional<FileProgress> read_progress(const Context& context);

/// Whether something in these entries is being written now.
bool fresh(const Context& context, const Save& save, Seconds quiet);
/// Whether a file of it has more bytes than at the last look.
bool growing(const Context& context, const Save& save);
void remember_changes(Context& context, const std::vector<const Save*>& newest_first);
/// Absent where there is no time or it lies in the future: the clock of a file server is not the host's.
std::optional<Seconds> age_of(const Context& context, std::optional<HostTime> t);

}  // namespace trainvigil::layouts
