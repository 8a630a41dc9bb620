#include "core/wire/directory.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/wire/inflate.hpp"
#include "core/wire/state_files.hpp"
#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

constexpr std::int64_t kMostReadALook = 4'000'000;             ///< the rest is read by the next looks, newest first
constexpr int kCatchUp = 32;                                   ///< times as much where no later look follows
constexpr std::size_t kMostStateFiles = 24, kMostChecks = 32;  ///< begun in one look

constexpr std::size_t kMostUnpacked = 24'000'000;  ///< of a listing; 120,000 names of 200 bytes
constexpr int kMostListRequests = 4;               ///< of one look: changes, all, all that packs well, all that is new enough
constexpr int kAllEvery = 120;                     ///< looks: an hour at the usual interval, should a file server's times lie
constexpr std::int64_t kMostChanged = 20'000;
constexpr std::size_t kNarrow = 4000;  ///< entries of one directory: 400 kB, less than a whole listing of the kind costs packed
constexpr double kCoarsestClock = 2;   ///< s; FAT, older NFS servers
constexpr double kClockGrain = 0.05;   ///< s; kernels stamp changes with the time of their last tick

std::string seconds_text(double seconds) {
  std::array<char, 64> text{};
  const double down = std::floor(seconds * 1000) / 1000;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), down, std::chars_format::fixed, 3).ptr;
  return {text.data(), end};
}

bool below_any(std::string_view path, const std::unordered_set<std::string_view>& directories) {
  for (auto above = parent_of(path); !above.empty(); above = parent_of(above)) {
    if (directories.contains(above)) return true;
  }
  return false;
}

}  // namespace

void DirectoryView::begin_look(bool verify_all, bool catch_up) {
  left_over_ = left_over_ || verify_all != verify_all_;
  verify_all_ = verify_all;
  catch_up_ = catch_up;
  listed_ = reads_failed_ = again_ = unverified_ = false;
  rounds_ = 0;
  if (++looks_since_all_ >= kAllEvery) {
    sums_.reset();
    lean_ = floor_ = "-";
  }
  error_.reset();
  tasks_.clear();
  asked_.clear();
  bytes_asked_ = 0;
  budget_ = kMostReadALook * (catch_up ? kCatchUp : 1);
}

std::string DirectoryView::list_arguments(std::int64_t most_bytes) const {
  const std::string bytes = std::to_string(most_bytes), left_out = " " + floor_ + " " + lean_ + " ", path = request_word(path_);
  const std::string begin = mark_ + " " + std::to_string(kLevels) + " ";
  if (sums_)
    return begin + std::to_string(kMostChanged) + " " + bytes + " " + bytes + " " + since_ + (narrow_ ? " c" : " -") + left_out + "- " + path;
  // Names and times of a listing pack to a fifth and less; where they do not, the first answer showed it.
  const auto room = std::min<std::size_t>(room_bytes_.value_or(kMostUnpacked), static_cast<std::size_t>(most_bytes) * 10);
  return begin + std::to_string(kMostEntries) + " " + std::to_string(room) + " " + bytes + " - -" + left_out + "z " + path;
}

DirectoryView::Read DirectoryView::read_walk(const Answer& answer) const {
  Read read;
  if (answer.lines.empty() || answer.lines.front() != "packed:") {
    read.walk = parse_walk(answer.lines, mark_);
    return read;
  }
  std::string packed;
  for (std::size_t i = 1; i < answer.lines.size(); ++i) packed += answer.lines[i];
  const Inflated text = inflate_gzip(decode_base64(packed), kMostUnpacked * 2);
  WalkReader reader(mark_);
  std::string_view rest = text.bytes;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    reader.line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  read.walk = reader.take();
  if (!text.whole) read.walk.finished = false;
  read.unpacked_bytes = text.bytes.size();
  read.packed = true;
  return read;
}

void DirectoryView::listed(const Answer& answer) {
  again_ = false;
  ++rounds_;
  Read read = read_walk(answer);
  const Walk& walk = read.walk;
  if (!answer.ended || answer.hurried || (answer.good() && !walk.finished && !answer.cut && !walk.error)) {
    error_ = "timeout";
    return;
  }
  if (!answer.good() || walk.error) {
    const std::string words = walk.error.value_or(answer.status);
    error_ = words.find("No such file") != std::string::npos       ? "missing"
             : words.find("ermission denied") != std::string::npos ? "denied"
             : answer.status == "busy"                             ? "timeout"
                                                                   : words;
    return;
  }
  const bool unreadable_part = walk.unreadable_part;
  if (!sums_) {
    take_all(std::move(read), answer);
  } else if (!take_changes(std::move(read.walk), answer)) {
    sums_.reset();  // something else is different too: all of it anew
    again_ = rounds_ < kMostListRequests;
  }
  if (again_) return;
  listed_ = true;
  note_cut(unreadable_part);
  if (dirty_) forget_vanished();
  if (dirty_ || left_over_) plan();
}

void DirectoryView::take_all(Read read, const Answer& answer) {
  const auto& summary = read.walk.summary;
  if (rounds_ < kMostListRequests && answer.cut && read.packed && read.unpacked_bytes > 0) {
    room_bytes_ = read.unpacked_bytes / 10 * 8;
    again_ = true;
    return;
  }
  if (rounds_ < kMostListRequests && summary && summary->over && (summary->lean != lean_ || summary->floor != floor_)) {
    lean_ = summary->lean;
    floor_ = summary->floor;
    again_ = true;
    return;
  }
  dirty_ = dirty_ || read.walk.entries != entries_;
  entries_ = std::move(read.walk.entries);
  over_ = answer.cut || (summary && summary->over);
  looks_since_all_ = 0;
  remember_summary(summary, answer);
}

void DirectoryView::remember_summary(const std::optional<WalkSummary>& summary, const Answer& answer) {
  sums_.reset();
  left_out_ = summary ? summary->left_out : 0;
  const auto before = last_change_;
  last_change_ = summary && !answer.cut ? summary->last_change : std::nullopt;
  if (!last_change_) return;
  // What had changed when an earlier walk ended was there for all of this one to see, and so was what changed in the same tick of the file server's
  // clock when that is long ago. Of a first walk only that is sure which had changed when it began.
  if (before != last_change_) last_change_seen_ = answer.to;
  const double took = answer.from && answer.to ? std::max(0.0, *answer.to - *answer.from) : 0;
  double since = *last_change_ - took - kClockGrain;
  if (before) since = std::max(since, std::min(*before, *last_change_));
  if (before == last_change_ && answer.from && last_change_seen_ && *answer.from - *last_change_seen_ > kCoarsestClock) since += 0.001;
  since_ = seconds_text(since);
  sums_ = summary->sums;
}

/// False when these changes do not explain what the host's sums have become.
bool DirectoryView::take_changes(Walk walk, const Answer& answer) {
  if (!walk.summary || walk.summary->over || answer.cut) return false;
  constexpr std::size_t kStays = static_cast<std::size_t>(-1), kGone = kStays - 1;
  std::unordered_map<std::string_view, std::size_t> changed;
  for (std::size_t i = 0; i < walk.entries.size(); ++i) changed.emplace(walk.entries[i].path, i);
  const std::unordered_set<std::string_view> anew(walk.listed_anew.begin(), walk.listed_anew.end());
  std::unordered_set<std::string_view> gone;
  if (!anew.empty()) {
    for (const FileEntry& entry : entries_) {
      if (anew.contains(parent_of(entry.path)) && !changed.contains(entry.path)) gone.insert(entry.path);
    }
  }
  Sums sums = *sums_;
  std::vector<std::size_t> becomes(entries_.size(), kStays);  // or the index of what it is now
  std::vector<bool> known(walk.entries.size(), false);
  bool different = !gone.empty();
  for (std::size_t i = 0; i < entries_.size() && (!changed.empty() || !gone.empty()); ++i) {
    const FileEntry& entry = entries_[i];
    if (const auto now = changed.find(entry.path); now != changed.end()) {
      becomes[i] = now->second;
      known[now->second] = true;
      different = different || walk.entries[now->second] != entry;
    } else if (!gone.empty() && (gone.contains(entry.path) || below_any(entry.path, gone))) {
      becomes[i] = kGone;
    }
    if (becomes[i] != kStays) sums.remove(entry);
  }
  for (std::size_t i = 0; i < walk.entries.size(); ++i) {
    different = different || !known[i];
    sums.add(walk.entries[i]);
  }
  if (sums != walk.summary->sums) return false;
  if (different) {
    dirty_ = true;
    std::vector<FileEntry> merged;
    merged.reserve(entries_.size() + walk.entries.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (becomes[i] == kStays)
        merged.push_back(std::move(entries_[i]));
      else if (becomes[i] != kGone)
        merged.push_back(walk.entries[becomes[i]]);
    }
    for (std::size_t i = 0; i < walk.entries.size(); ++i) {
      if (!known[i]) merged.push_back(walk.entries[i]);
    }
    entries_ = std::move(merged);
  }
  remember_summary(walk.summary, answer);
  return true;
}

/// What of the directory is not known, and why.
void DirectoryView::note_cut(bool unreadable_part) {
  cut_why_.reset();
  const auto deep = [](const FileEntry& entry) { return entry.type == FileType::directory && depth_of(entry.path) >= kLevels; };
  if (over_) {
    cut_why_ = "more entries than are taken in one answer";
  } else if (left_out_ > 0) {
    const std::string what = floor_ == "-"  ? "pictures and sound"
                             : lean_ == "h" ? "the oldest small files"
                             : lean_ == "m" ? "the oldest, pictures and sound"
                                            : "the oldest";
    cut_why_ = "more entries than are taken in one answer: " + what + " (" + std::to_string(left_out_) + ") are left out";
  } else if (std::any_of(entries_.begin(), entries_.end(), deep)) {
    cut_why_ = "directories deeper than " + std::to_string(kLevels) + " levels";
  } else if (unreadable_part) {
    cut_why_ = "a part could not be read";
  }
  dirty_ = dirty_ || cut_ != cut_why_.has_value();
  cut_ = cut_why_.has_value();
  if (!dirty_) return;
  std::unordered_map<std::string_view, std::size_t> width;
  narrow_ = true;
  for (const FileEntry& entry : entries_) narrow_ = ++width[parent_of(entry.path)] <= kNarrow && narrow_;
}

void DirectoryView::forget_vanished() {
  std::set<std::string_view> paths;
  for (const FileEntry& entry : entries_) paths.insert(entry.path);
  std::erase_if(checked_, [&paths](const auto& item) { return !paths.contains(item.first); });
  std::erase_if(states_, [&paths](const auto& item) { return !paths.contains(item.first); });
}

void DirectoryView::plan() {
  left_over_ = false;
  std::vector<const FileEntry*> files;
  for (const FileEntry& entry : entries_) {
    if (entry.type == FileType::file && entry.bytes && *entry.bytes > 0) files.push_back(&entry);
  }
  std::stable_sort(files.begin(), files.end(), [](const FileEntry* a, const FileEntry* b) { return a->mtime > b->mtime; });
  std::size_t states = 0, checks = 0;
  for (const FileEntry* file : files) {
    const Version version{file->bytes, file->mtime};
    if (const auto ranges = state_file_ranges(file->path, *file->bytes)) {
      const auto known = states_.find(file->path);
      if (known != states_.end() && known->second.version == version) continue;
      if (!verify_all_ && states++ >= kMostStateFiles * (catch_up_ ? kCatchUp : 1)) {
        left_over_ = true;
        continue;
      }
      tasks_.push_back({file->path, version, true, *ranges, {}, 0, {}, {}});
    } else if (integrity_readable(file->path, *file->bytes)) {
      const auto known = checked_.find(file->path);
      if (known != checked_.end() && known->second.version == version && (known->second.whole_format || !verify_all_)) continue;
      if (!verify_all_ && checks++ >= kMostChecks * (catch_up_ ? kCatchUp : 1)) {
        left_over_ = true;
        continue;
      }
      tasks_.push_back({file->path, version, false, {}, {}, 0, {}, {}});
      advance(tasks_.back());
    }
  }
}

/// Asks the judge of formats what it wants to see next.
void DirectoryView::advance(Task& task) {
  IntegrityStep step = check_integrity(task.path, *task.version.bytes, task.chunks, verify_all_, task.sums);
  std::erase_if(step.more, [&task](const ByteRange& range) {
    return range.offset < 0 || range.length <= 0 || range.length > kLargestRead || range.offset >= *task.version.bytes;
  });
  task.wanted.clear();
  task.stretches.clear();
  const bool done = step.more.empty() && step.stretches.empty();
  if (done || task.rounds >= kMostIntegrityRounds) {
    finish(task, done ? step.verdict : Integrity::unchecked, step.expected_bytes);
    task.chunks = {};
    return;
  }
  ++task.rounds;
  task.wanted = std::move(step.more);
  if (task.wanted.empty()) task.stretches = std::move(step.stretches);
}

void DirectoryView::finish(const Task& task, Integrity verdict, std::optional<std::int64_t> expected_bytes) {
  dirty_ = true;
  checked_[task.path] = Checked{task.version, verdict, expected_bytes, verify_all_};
}

std::shared_ptr<const Listing> DirectoryView::publish() {
  if (!listed_) return nullptr;
  if (!dirty_ && published_) return published_;
  dirty_ = false;
  Listing listing;
  listing.cut = cut_;
  listing.cut_why = cut_why_;
  if (const auto floor = to_number(floor_); floor && left_out_ > 0) listing.cut_before = host_time(*floor);
  listing.entries = entries_;
  for (FileEntry& entry : listing.entries) {
    if (entry.type == FileType::file && entry.bytes == 0 && integrity_readable(entry.path, 0)) {
      entry.integrity = Integrity::truncated;  // no format is empty, and there is nothing to read
      continue;
    }
    const auto checked = checked_.find(entry.path);
    if (checked == checked_.end() || checked->second.version != Version{entry.bytes, entry.mtime}) continue;
    entry.integrity = checked->second.verdict;
    entry.expected_bytes = checked->second.expected_bytes;
  }
  for (const auto& [path, state] : states_) listing.state_files.push_back({path, state.text});
  if (!published_ || !(*published_ == listing)) published_ = std::make_shared<const Listing>(std::move(listing));
  return published_;
}

}  // namespace trainvigil::wire
