#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "core/layouts/frameworks.hpp"
#include "core/layouts/rules.hpp"
#include "trainvigil/checkpoint.hpp"

namespace trainvigil {
namespace {

using namespace layouts;

constexpr std::size_t kRememberedFiles = 256;

/// A new main process: what was remembered of the earlier one's counters says nothing about this one.
void follow_run(const LayoutInput& in, LayoutMemory& memory) {
  if (!in.run_start) return;
  constexpr Seconds kStartNoise{5.0};  // starts are computed from ticks since boot and shake a little
  if (memory.run_start && *in.run_start > *memory.run_start + kStartNoise) {
    memory.first_own.reset();
    memory.highest_own.reset();
    memory.rewrites.clear();
  }
  if (!memory.run_start || *in.run_start > *memory.run_start + kStartNoise) memory.run_start = in.run_start;
}

void compare_with_memory(Context& c) {
  const auto& entries = c.listing.entries;
  c.grew.assign(entries.size(), false);
  if (c.memory.files.empty()) return;
  struct Known {
    const LayoutMemory::Seen* seen;
    bool there = false;
  };
  std::unordered_map<std::string_view, Known> seen;
  for (const auto& [path, s] : c.memory.files) seen.emplace(path, Known{&s});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto it = seen.find(entries[i].path);
    if (it == seen.end()) continue;
    it->second.there = true;
    const auto& old = *it->second.seen;
    c.grew[i] = old.bytes && entries[i].bytes && *entries[i].bytes > *old.bytes;
  }
  for (const auto& [path, known] : seen)
    if (!known.there && parse_name(base_name(path)).kind == NameKind::plain) c.gone.push_back(known.seen);
}

/// Gaps inside finished saves teach how long a pause may be.
void learn_quiet(Context& c) {
  for (const auto& s : c.saves) {
    const bool over = age_of(c, s.facts.modified).value_or(Seconds{0}) > kQuiet && s.facts.truncated.empty();
    if (over && s.facts.longest_gap.count() > 0 && (!c.memory.longest_gap || s.facts.longest_gap > *c.memory.longest_gap))
      c.memory.longest_gap = std::min(s.facts.longest_gap, kQuietLimit / 3);
  }
  c.quiet = std::clamp(3 * c.memory.longest_gap.value_or(Seconds{0}), kQuiet, kQuietLimit);
}

Checkpoint to_checkpoint(const Save& s) {
  Checkpoint out;
  out.path = std::string(s.path());
  out.value = s.value;
  out.done = s.done;
  out.unit = s.unit;
  if (s.facts.bytes_known && (s.facts.files > 0 || !s.unproven)) out.bytes = s.facts.bytes;
  out.modified = s.facts.modified ? s.facts.modified : s.facts.directory_modified;
  out.began = s.facts.began;
  out.state = s.state;
  out.run = s.run;
  out.why = s.why;
  out.missing_shard = s.missing_shard;
  out.implausible_size = s.implausible_size;
  out.unproven = s.unproven && (s.state == CheckpointState::saving || s.state == CheckpointState::partial);
  out.being_deleted = s.being_deleted;
  return out;
}

/// Newest first. Inside a family the counter decides; between families the time, which inside each is made to rise with the counter.
std::vector<const Save*> newest_first(const Context& c) {
  struct Key {
    bool live;
    std::optional<HostTime> time;
    Index family;
    std::size_t position;
  };
  std::vector<std::pair<Key, const Save*>> order;
  for (Index f = 0; f < c.families.size(); ++f) {
    std::optional<HostTime> highest;
    for (std::size_t i = 0; i < c.families[f].saves.size(); ++i) {
      const auto& s = c.saves[c.families[f].saves[i]];
      const bool live = s.state != CheckpointState::stale;
      auto t = written_at(s);
      if (live) {
        if (t && (!highest || *t > *highest)) highest = t;
        t = highest;
      }
      order.push_back({{live, t, f, i}, &s});
    }
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const auto key = [](const Key& k) { return std::tuple(k.live, k.time, k.family, k.position); };
    return key(a.first) > key(b.first);
  });
  std::vector<const Save*> out;
  out.reserve(order.size());
  for (const auto& [key, s] : order) out.push_back(s);
  return out;
}

std::optional<std::string> end_artefact(const Context& c, const std::optional<HostTime>& newest_save) {
  const auto good = [&](std::string_view name, Type type, Index container, std::optional<HostTime> t, Integrity integrity) {
    if (integrity == Integrity::truncated || integrity == Integrity::bad || !t) return false;
    if (newest_save && *t < *newest_save) return false;
    if (c.in.run_start && *t < *c.in.run_start) return false;
    for (const auto& row : end_rows()) {
      if (!glob_match(row.name, name) || (row.type != Type::any && row.type != type)) continue;
      if (row.beside.empty()) return true;
      for (const auto& s : c.saves)
        if (s.container == container)
          for (const auto* p : s.pieces)
            for (auto i : p->entries)
              if (glob_match(row.beside, base_name(c.listing.entries[i].path))) return true;
    }
    return false;
  };
  for (const auto& s : c.unnumbered) {
    const auto& p = *s.pieces.front();
    if (s.state != CheckpointState::complete) continue;
    if (good(p.name, p.directory == kNone ? Type::file : Type::directory, p.container, s.facts.modified, Integrity::ok)) return std::string(p.path);
  }
  for (const auto& loose : c.collected.loose) {
    const auto& e = c.listing.entries[loose.entry];
    if (c.beside.contains(loose.container) && good(base_name(e.path), Type::file, loose.container, e.mtime, e.integrity)) return e.path;
  }
  return std::nullopt;
}

bool argument_resumes(std::string_view cmdline) {
  std::string lower(cmdline);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  for (std::size_t at = lower.find("resume"); at != std::string::npos; at = lower.find("resume", at + 6)) {
    if (at > 0 && lower[at - 1] != '-' && lower[at - 1] != '.' && lower[at - 1] != ' ' && lower[at - 1] != '_' && lower[at - 1] != '+') continue;
    auto end = at;
    while (end < lower.size() && lower[end] != ' ' && lower[end] != '=') ++end;
    if (lower.compare(at, 9, "resume_no") == 0) continue;
    auto value = end < lower.size() ? std::string_view(lower).substr(end + 1) : std::string_view{};
    value = value.substr(0, value.find(' '));
    if (value == "false" || value == "0" || value == "no" || value == "none" || value == "null" || value == "never") continue;
    return true;
  }
  return false;
}

/// A file that this run wrote knows of at least as much as an earlier run's newest save: it builds on it.
bool file_proves_resume(const Context& c, const std::optional<FileProgress>& progress) {
  if (!progress || !progress->done || !c.in.run_start) return false;
  const auto file = std::find_if(c.listing.entries.begin(), c.listing.entries.end(), [&](const FileEntry& e) { return e.path == progress->path; });
  if (file == c.listing.entries.end() || !file->mtime || *file->mtime < *c.in.run_start) return false;
  for (const auto& s : c.saves) {
    if (s.run == CheckpointRun::this_run && s.state == CheckpointState::complete) return false;  // its own saves tell more
    if (s.run == CheckpointRun::earlier && s.state == CheckpointState::complete && s.unit == progress->unit && s.done &&
        static_cast<double>(*s.done) > *progress->done)
      return false;
  }
  return std::any_of(c.saves.begin(), c.saves.end(),
                     [&](const Save& s) { return s.run == CheckpointRun::earlier && s.unit == progress->unit && s.done.value_or(0) > 0; });
}

void remember(Context& c, const std::vector<const Save*>& order) {
  std::map<std::string, LayoutMemory::Seen> files;
  const auto keep = [&](Index i) {
    const auto& e = c.listing.entries[i];
    if (files.size() >= kRememberedFiles) return;
    files.insert_or_assign(e.path, LayoutMemory::Seen{e.bytes, e.mtime});
  };
  const auto heaviest = [&](const Save& s) -> std::optional<Index> {
    std::optional<Index> best;
    for (const auto* p : s.pieces)
      for (auto i : p->entries)
        if (!best || c.listing.entries[i].bytes.value_or(0) > c.listing.entries[*best].bytes.value_or(0)) best = i;
    return best;
  };
  for (const auto& s : c.unnumbered)
    if (const auto i = heaviest(s)) keep(*i);
  for (const auto& t : c.collected.temps)
    for (std::size_t k = 0; k < t.entries.size() && k < 16; ++k) keep(t.entries[k]);
  for (const auto* s : order) {
    if (files.size() >= kRememberedFiles) break;
    if (s->state == CheckpointState::saving) {
      std::size_t n = 0;
      for (const auto* p : s->pieces)
        for (auto i : p->entries)
          if (n++ < 32) keep(i);
    } else if (const auto i = heaviest(*s)) {
      keep(*i);
    }
  }
  c.memory.files = std::move(files);
  remember_changes(c, order);
  if (c.in.now) c.memory.seen_at = c.in.now;
}

bool rotated(const Context& c) {
  if (c.listing.cut) return false;
  for (const auto* gone : c.gone)
    for (const auto& s : c.saves)
      if (s.state == CheckpointState::complete && (!gone->mtime || (written_at(s) && *written_at(s) > *gone->mtime))) return true;
  return false;
}

}  // namespace

CheckpointView judge_listing(const LayoutInput& in, LayoutMemory& memory) {
  CheckpointView view;
  if (!in.listing) return view;
  if (in.listing->cut) view.cut = in.listing->cut_why.value_or("a limit was hit");
  const auto collected = collect(*in.listing);
  auto assembled = assemble(*in.listing, collected);
  Context c{in, *in.listing, collected, assembled.saves, assembled.unnumbered, assembled.families, assembled.dated, memory};
  for (const auto& s : c.saves) c.beside.try_emplace(s.container);
  const auto stands_beside = [&](Index container, std::string_view name) {
    if (const auto it = c.beside.find(container); it != c.beside.end()) it->second.push_back(name);
  };
  for (const auto& loose : collected.loose) stands_beside(loose.container, base_name(in.listing->entries[loose.entry].path));
  for (const auto& d : collected.directories)
    if (d.parent != kNone) stands_beside(d.parent, d.name);

  follow_run(in, memory);
  for (const auto& loose : collected.loose)
    if (const auto& e = in.listing->entries[loose.entry]; e.mtime && age_of(c, e.mtime) && (!c.log_modified || *e.mtime > *c.log_modified))
      c.log_modified = e.mtime;
  compare_with_memory(c);
  follow_changes(c);
  learn_quiet(c);
  find_pointers(c);
  apply_links(c);
  judge_completeness(c);
  assign_units(c);
  judge_runs(c);
  judge_in_place(c);
  view.progress = read_progress(c);

  std::optional<HostTime> newest;
  bool any_complete = false;
  std::vector<std::int64_t> sizes;
  const auto order = newest_first(c);
  view.checkpoints.reserve(order.size());
  for (const auto* s : order) {
    view.checkpoints.push_back(to_checkpoint(*s));
    if (s->state == CheckpointState::complete) {
      any_complete = true;
      if (s->facts.bytes_known) sizes.push_back(s->facts.bytes);
      if (s->facts.modified && (!newest || *s->facts.modified > *newest)) newest = s->facts.modified;
    }
  }
  if (!any_complete) {
    std::vector<const Save*> bare;
    for (const auto& s : c.unnumbered) bare.push_back(&s);
    std::stable_sort(bare.begin(), bare.end(), [](const Save* a, const Save* b) { return written_at(*a) > written_at(*b); });
    for (const auto* s : bare) {
      view.checkpoints.push_back(to_checkpoint(*s));
      if (s->state == CheckpointState::complete && s->facts.bytes_known) sizes.push_back(s->facts.bytes);
    }
    view.in_place = c.saves.empty() && !bare.empty();
  }
  if (const auto main = main_family(c); main != kNone) view.unit = c.families[main].unit;
  if (view.in_place && !view.checkpoints.empty()) view.unit = view.checkpoints.front().unit;
  view.in_progress = in_progress(c);
  view.end_artefact = end_artefact(c, newest);
  view.resumed = argument_resumes(in.cmdline) || file_proves_resume(c, view.progress);
  view.rotated = rotated(c);
  if (!sizes.empty()) {
    std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
    view.bytes_per_save = sizes[sizes.size() / 2];
  }
  remember(c, order);
  return view;
}

const Checkpoint* last_good(const CheckpointView& view) {
  for (const auto& c : view.checkpoints)
    if (c.state == CheckpointState::complete) return &c;
  return nullptr;
}

}  // namespace trainvigil
