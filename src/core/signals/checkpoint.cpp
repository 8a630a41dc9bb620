// The checkpoint witness: what this run has saved, what it is saving, and whether its rhythm promised more.
#include <algorithm>
#include <cmath>

#include "core/signals/signals.hpp"
#include "trainvigil/bytes.hpp"

namespace trainvigil {
namespace {

constexpr Seconds kFreshSave{60};       // contract: quiet time of a save
constexpr Seconds kLongSaveFloor{180};  // saves of a few seconds may well take three minutes on a busy disk

// Of a run that was never seen alive nobody knows which saves are its own: all of them count, until a process is there.
bool counts(const Checkpoint& c, const CheckpointView& view, const RunMemory& run) {
  if (c.state != CheckpointState::complete) return false;
  return !run.main || c.run == CheckpointRun::this_run || (c.run == CheckpointRun::earlier && view.resumed);
}

void add_end(CheckpointMemory& memory, double done, WatcherTime at) {
  auto& ends = memory.ends;
  if (!ends.empty() && (done <= ends.back().done || epoch_seconds(at) <= ends.back().at)) return;
  ends.push_back({done, epoch_seconds(at), memory.stood_s});
  if (ends.size() <= kMostEnds) return;
  // The oldest half loses every other end: durations stay exact (they are differences), only their resolution halves.
  std::vector<UnitEnd> kept;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i >= ends.size() / 2 || i % 2 == 0) kept.push_back(ends[i]);
  }
  ends = std::move(kept);
}

// A file that reports progress counts only when it belongs to this run: it lies in one of its checkpoints, or was written since the run began.
bool own_progress(const FileProgress& p, const CheckpointView& view, const Listing& listing, const RunMemory& run) {
  for (const Checkpoint& c : view.checkpoints) {
    if (p.path.size() > c.path.size() && p.path.starts_with(c.path) && p.path[c.path.size()] == '/') return counts(c, view, run);
  }
  if (!run.start) return true;
  for (const FileEntry& f : listing.entries) {
    if (f.path == p.path) return f.mtime && *f.mtime > *run.start;
  }
  return false;
}

// Unit ends and the highest count, from the newest listing. True when there is progress that was not there at the last look.
bool take_progress(const Look& look, const RunMemory& run, CheckpointMemory& memory) {
  const CheckpointView& view = memory.view;
  std::vector<const Checkpoint*> own;
  for (const Checkpoint& c : view.checkpoints) {
    if (counts(c, view, run) && c.done) own.push_back(&c);
  }
  // Saves of an earlier run that are not stale beside one of this run lie below it: this run builds on them (contract section 1).
  const Checkpoint* first = nullptr;
  for (const Checkpoint& c : view.checkpoints) {
    if (c.state == CheckpointState::complete && c.run == CheckpointRun::this_run && c.done && (first == nullptr || *c.done < *first->done))
      first = &c;
  }
  for (const Checkpoint& c : view.checkpoints) {
    if (first == nullptr || memory.first_done || !memory.ends.empty()) break;
    if (c.state == CheckpointState::complete && c.run == CheckpointRun::earlier && c.done && c.unit == first->unit && *c.done < *first->done) {
      memory.first_done = static_cast<double>(*c.done);  // newest first
    }
  }
  std::sort(own.begin(), own.end(), [](const Checkpoint* a, const Checkpoint* b) { return *a->done < *b->done; });
  const std::optional<double> before = memory.highest_done;
  for (const Checkpoint* c : own) {
    const double done = static_cast<double>(*c->done);
    const bool this_run = c->run == CheckpointRun::this_run || !run.main;
    if (!this_run) {
      memory.first_done = std::max(memory.first_done.value_or(0), done);
    } else {
      const auto at = look.to_watcher(c->modified).value_or(look.now);
      add_end(memory, done, std::min(at, look.now));
    }
    memory.highest_done = std::max(memory.highest_done.value_or(0), done);
  }
  if (view.progress && look.seen.files && own_progress(*view.progress, view, *look.seen.files, run)) {
    const FileProgress& p = *view.progress;
    std::optional<double> done = p.unit == view.unit ? p.done : std::nullopt;
    if (!done && view.unit == Unit::step && p.step) done = static_cast<double>(*p.step);
    if (!done && !view.unit) done = p.done;
    if (done && *done > memory.highest_done.value_or(0)) {
      if (memory.judged) add_end(memory, *done, look.now);
      memory.highest_done = done;
    }
  }
  return memory.judged && memory.highest_done.value_or(0) > before.value_or(0);
}

double bytes_growing(const CheckpointView& view, std::string& name, std::optional<HostTime>& newest) {
  double total = -1;
  const auto take = [&](const std::string& path, std::optional<std::int64_t> bytes, std::optional<HostTime> modified) {
    if (total < 0) {
      total = 0;
      name = path;
    }
    total += static_cast<double>(bytes.value_or(0));
    if (modified && (!newest || *modified > *newest)) newest = modified;
  };
  for (const Checkpoint& c : view.checkpoints) {
    if (c.state == CheckpointState::saving) take(c.path, c.bytes, c.modified);
  }
  for (const SaveInProgress& s : view.in_progress) {
    if (s.leftover) continue;
    const bool listed = std::any_of(view.checkpoints.begin(), view.checkpoints.end(), [&](const Checkpoint& c) {
      return c.state == CheckpointState::saving && (c.path == s.path || s.path.starts_with(c.path + "/"));
    });
    if (!listed) take(s.path, s.bytes, s.modified);
  }
  return total;
}

void follow_save(const Look& look, CheckpointMemory& memory, bool progressed) {
  std::string name;
  std::optional<HostTime> newest;
  const double bytes = bytes_growing(memory.view, name, newest);
  if (bytes >= 0) {
    const bool fresh = newest && look.host_now && *look.host_now - *newest < kFreshSave;
    const bool known = memory.growing_bytes >= 0 && name == memory.growing_name;
    const bool grew = known ? bytes != memory.growing_bytes : fresh;
    if (grew) {
      memory.growth_seen = known;
      if (!memory.save_began || !known) memory.save_began = memory.grew_at && known ? memory.save_began : std::optional{look.now};
      memory.grew_at = look.now;
      memory.quiet_looks = 0;
    } else {
      ++memory.quiet_looks;
    }
    memory.growing_name = name;
  } else {
    if (memory.save_began && progressed && memory.grew_at) {
      const Checkpoint* newest_save = nullptr;
      for (const Checkpoint& c : memory.view.checkpoints) {
        if (c.run == CheckpointRun::this_run && c.state == CheckpointState::complete) {
          newest_save = &c;
          break;
        }
      }
      Seconds length = look.now - *memory.save_began;
      if (newest_save != nullptr && newest_save->began && newest_save->modified)
        length = std::max(*newest_save->modified - *newest_save->began, Seconds{1});
      memory.longest_save = std::max(memory.longest_save, length);
    }
    memory.save_began.reset();
    memory.quiet_looks = 0;
    memory.growing_name.clear();
  }
  memory.growing_bytes = bytes;
}

void name_damage(const Look& look, const Life& life, const RunMemory& run, const CheckpointMemory& memory, Statement& out) {
  const CheckpointView& view = memory.view;
  const bool gone = life.read && life.main == nullptr && run.main.has_value();
  bool stale = false, complete = false, saving = false;
  const Checkpoint* newest = nullptr;  // of this run, in the order of counters
  for (const Checkpoint& c : view.checkpoints) {
    stale = stale || c.state == CheckpointState::stale;
    complete = complete || c.state == CheckpointState::complete;
    saving = saving || c.state == CheckpointState::saving;
    if (c.being_deleted) continue;  // rotation at work is no damage
    if (newest == nullptr && c.run != CheckpointRun::earlier && c.state != CheckpointState::stale) newest = &c;
  }
  if (stale) out.find("checkpoint-stale", Level::ok);
  if (view.rotated) out.find("checkpoint-rotated", Level::ok);
  if (look.seen.files && look.seen.files->cut) out.find("listing-cut", Level::ok);
  // Two looks may be a second apart: a save that pauses is cut short only after the quiet time of a save.
  const bool paused_for_long = memory.quiet_looks >= 2 && memory.grew_at && look.now - *memory.grew_at > kFreshSave;
  const bool cut_short = paused_for_long || gone;
  if (newest != nullptr) {
    const bool unfinished = (newest->state == CheckpointState::partial && !newest->unproven) ||
                            (newest->state == CheckpointState::saving && !newest->unproven && cut_short);
    if (newest->missing_shard && newest->state != CheckpointState::saving) out.find("checkpoint-missing-shard");
    if ((unfinished && !newest->missing_shard) || newest->implausible_size) out.find("checkpoint-partial");
    if (newest->state == CheckpointState::corrupt) out.find("checkpoint-corrupt");
  } else if (cut_short && memory.growing_bytes >= 0) {
    out.find("checkpoint-partial");
  }
  // In-place files are never whole while they are rewritten: that is their rhythm, and damage only once the rewriting has stopped.
  if (memory.was_complete && !complete && (view.in_place ? cut_short : (saving || cut_short || !view.checkpoints.empty()))) {
    out.find("no-complete-checkpoint");
  }
}

void directory_state(const Look& look, const RunMemory& run, CheckpointMemory& memory, Statement& out) {
  if (look.seen.files) {
    memory.ever_listed = true;
    memory.missing_looks = 0;
    return;
  }
  if (!look.seen.files_error) return;
  const std::string& e = *look.seen.files_error;
  if (e.find("missing") != std::string::npos || e.find("No such file") != std::string::npos) {
    ++memory.missing_looks;
    out.find("directory-missing", memory.ever_listed || !run.checkpoint.ends.empty() ? Level::warning : Level::ok);
  } else if (e.find("timeout") == std::string::npos) {
    out.find("directory-unreadable");  // denied, no directory, a stale handle, an error of the disk: it will not mend itself
  }
}

}  // namespace

void checkpoint_signal(const Look& look, const Life& life, JobState::Impl& state, Statement& out) {
  RunMemory& run = state.run;
  CheckpointMemory& memory = run.checkpoint;
  directory_state(look, run, memory, out);
  if (!look.seen.files) {
    if (look.job.checkpoints && look.seen.files_error) {
      out.say({.signal = "checkpoints", .source = Source::checkpoint, .says = "unread", .detail = look.seen.files_error->substr(0, 160)});
    }
    // Nothing was seen to grow, but nothing was looked at either.
    return;
  }
  const bool unfinished = memory.growing_bytes >= 0 || !memory.view.in_progress.empty();
  const bool same = memory.judged && memory.listing == look.seen.files && !unfinished && !life.new_run && run.gone_looks == 0;
  bool progressed = false;
  if (!same) {
    LayoutInput in;
    in.listing = look.seen.files.get();
    in.now = look.host_now;
    in.run_start = run.start;
    if (life.read) in.alive = life.main != nullptr;
    in.epochs = look.job.epochs;
    in.steps = look.job.steps;
    in.cmdline = run.cmdline;
    memory.view = judge_listing(in, memory.layout);
    progressed = take_progress(look, run, memory);
    follow_save(look, memory, progressed);
    memory.listing = look.seen.files;
    memory.judged = true;
    memory.judged_at = look.now;
    if (std::any_of(memory.view.checkpoints.begin(), memory.view.checkpoints.end(),
                    [](const Checkpoint& c) { return c.state == CheckpointState::complete && c.run != CheckpointRun::earlier; })) {
      memory.was_complete = true;
    }
  }
  if (progressed) {
    memory.seen_new = true;
    memory.progressed_at = look.now;
    if (look.seen.disk && look.seen.disk->free_bytes) memory.free_at_save = static_cast<double>(*look.seen.disk->free_bytes);
  } else if (!memory.progressed_at && !memory.ends.empty()) {
    memory.progressed_at = watcher_time(memory.ends.back().at);
  }
  name_damage(look, life, run, memory, out);

  const bool writing = memory.growing_bytes >= 0 && memory.quiet_looks < 2 && life.main != nullptr;
  const bool unfinished_now = memory.growing_bytes >= 0;
  Testimony t;
  t.signal = "checkpoints";
  t.source = Source::checkpoint;
  if (unfinished_now && memory.save_began && life.main != nullptr) {
    const Seconds limit = memory.longest_save.count() > 0 ? std::max(kLongSaveFloor, 3 * memory.longest_save) : Seconds{1800};
    if (look.now - *memory.save_began > limit) out.find("save-too-long");
  }
  const Checkpoint* newest = memory.view.checkpoints.empty() ? nullptr : &memory.view.checkpoints.front();
  if (progressed) {
    t.claim = Claim::progress;
    t.says = "fresh";
  } else if (writing) {
    t.claim = Claim::writes;
    t.says = "saving";
  } else {
    t.says = memory.ends.empty() ? (newest == nullptr ? "none" : "found") : "steady";
  }
  if (newest != nullptr) {
    t.detail = harmless(newest->path) + " " + to_string(newest->state);
    if (newest->bytes) t.detail += ", " + say_bytes(static_cast<double>(*newest->bytes));
    if (newest->modified && look.host_now) t.detail += ", " + say_duration(*look.host_now - *newest->modified) + " ago";
    if (!newest->why.empty() && newest->state != CheckpointState::complete) t.detail += " (" + newest->why.substr(0, 120) + ")";
  } else if (writing) {
    t.detail = harmless(memory.growing_name) + " grows, " + say_bytes(memory.growing_bytes);
  } else {
    t.detail = "no checkpoint yet";
  }
  out.say(std::move(t));
}

}  // namespace trainvigil
