#include "core/wire/directory.hpp"

#include <algorithm>
#include <set>

#include "core/wire/listing.hpp"
#include "core/wire/state_files.hpp"
#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

constexpr std::int64_t kMostRead = 700'000;                    ///< of one request: base64 or hexadecimal keep it within the bounded answer
constexpr std::int64_t kMostReadALook = 4'000'000;             ///< the rest is read by the next looks, newest first
constexpr std::size_t kMostPieces = 48;                        ///< of one request
constexpr std::size_t kMostStateFiles = 24, kMostChecks = 32;  ///< begun in one look

/// The CRC of a walk's lines, as `cksum` on the host computes it.
std::string cksum_of(const std::vector<std::string>& lines) {
  Cksum sum;
  for (const std::string& line : lines) {
    sum.add(line);
    sum.add("\n");
  }
  return sum.text();
}

}  // namespace

void DirectoryView::begin_look(bool verify_all) {
  left_over_ = left_over_ || verify_all != verify_all_;
  verify_all_ = verify_all;
  listed_ = reads_failed_ = false;
  error_.reset();
  tasks_.clear();
  asked_.clear();
  budget_ = kMostReadALook;
}

std::string DirectoryView::list_arguments(std::int64_t most_bytes) const {
  // Naming what we have costs the host a second walk when it did change; while a save runs it surely does.
  return mark_ + " " + std::to_string(kLevels) + " " + std::to_string(kMostEntries) + " " + std::to_string(most_bytes) + " " +
         (steady_ ? cksum_ : "-") + " " + request_word(path_);
}

void DirectoryView::listed(const Answer& answer) {
  Walk walk = parse_walk(answer.lines, mark_);
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
  listed_ = true;
  if (walk.same) {
    if (left_over_) plan();
    return;
  }
  dirty_ = true;
  steady_ = walk.entries == entries_ || entries_.empty();
  entries_ = std::move(walk.entries);
  cksum_ = answer.cut ? "-" : cksum_of(answer.lines);
  cut_ = answer.cut;
  cut_why_ = answer.cut ? std::optional<std::string>("more entries than are taken in one answer") : std::nullopt;
  const auto deep = [](const FileEntry& entry) { return entry.type == FileType::directory && depth_of(entry.path) >= kLevels; };
  if (std::any_of(entries_.begin(), entries_.end(), deep)) {
    cut_ = true;
    if (!cut_why_) cut_why_ = "directories deeper than " + std::to_string(kLevels) + " levels";
  }
  if (walk.unreadable_part && !cut_why_) {
    cut_ = true;
    cut_why_ = "a part could not be read";
  }
  forget_vanished();
  plan();
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
      if (!verify_all_ && states++ >= kMostStateFiles) {
        left_over_ = true;
        continue;
      }
      tasks_.push_back({file->path, version, true, *ranges, {}, 0});
    } else if (integrity_readable(file->path, *file->bytes)) {
      const auto known = checked_.find(file->path);
      if (known != checked_.end() && known->second.version == version && (known->second.whole_format || !verify_all_)) continue;
      if (!verify_all_ && checks++ >= kMostChecks) {
        left_over_ = true;
        continue;
      }
      tasks_.push_back({file->path, version, false, {}, {}, 0});
      advance(tasks_.back());
    }
  }
}

/// Asks the judge of formats what it wants to see next.
void DirectoryView::advance(Task& task) {
  IntegrityStep step = check_integrity(task.path, *task.version.bytes, task.chunks, verify_all_);
  std::erase_if(step.more, [&task](const ByteRange& range) {
    return range.offset < 0 || range.length <= 0 || range.length > kLargestRead || range.offset >= *task.version.bytes;
  });
  task.wanted.clear();
  if (step.more.empty() || task.rounds >= kMostIntegrityRounds) {
    finish(task, step.more.empty() ? step.verdict : Integrity::unchecked, step.expected_bytes);
    return;
  }
  ++task.rounds;
  task.wanted = std::move(step.more);
}

void DirectoryView::finish(const Task& task, Integrity verdict, std::optional<std::int64_t> expected_bytes) {
  dirty_ = true;
  checked_[task.path] = Checked{task.version, verdict, expected_bytes, verify_all_};
}

std::optional<std::string> DirectoryView::read_arguments() {
  asked_.clear();
  std::string pieces;
  std::int64_t bytes = 0;
  for (std::size_t index = 0; index < tasks_.size(); ++index) {
    const Task& task = tasks_[index];
    if (task.wanted.empty() || asked_.size() + task.wanted.size() > kMostPieces) continue;
    std::int64_t length = 0;
    for (const ByteRange& range : task.wanted) length += range.length;
    if (!asked_.empty() && bytes + length > kMostRead) continue;
    if (!verify_all_ && length > budget_) {
      left_over_ = true;
      continue;
    }
    for (const ByteRange& range : task.wanted) {
      Piece piece{index, range, range.length > 65536 ? 4096 : 512, 0, 0};
      piece.skip = range.offset / piece.block;
      piece.count = (range.offset + range.length + piece.block - 1) / piece.block - piece.skip;
      pieces +=
          " " + request_word(task.path) + " " + std::to_string(piece.block) + " " + std::to_string(piece.skip) + " " + std::to_string(piece.count);
      asked_.push_back(piece);
    }
    bytes += length;
    budget_ -= length;
  }
  if (asked_.empty()) return std::nullopt;
  return mark_ + " 3900000 " + request_word(path_) + pieces;
}

void DirectoryView::read(const Answer& answer, bool base64) {
  std::map<std::size_t, std::string> encoded;
  std::vector<std::string> after;
  std::optional<std::size_t> piece;
  for (const std::string& line : answer.lines) {
    std::string_view text = line;
    if (consume(text, mark_ + "c ")) {
      const auto number = to_integer(text);
      piece = number && *number >= 0 ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
    } else if (line.starts_with(mark_) || !after.empty()) {
      after.push_back(line);
    } else if (piece) {
      encoded[*piece] += line;
    }
  }
  std::map<std::string, Version> versions;
  for (const FileEntry& entry : parse_walk(after, mark_).entries) versions[entry.path] = {entry.bytes, entry.mtime};
  std::set<std::size_t> touched;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Piece& asked = asked_[i];
    std::string bytes = base64 ? decode_base64(encoded[i]) : decode_hex(encoded[i]);
    const auto drop = static_cast<std::size_t>(asked.range.offset - asked.skip * asked.block);
    bytes = bytes.size() > drop ? bytes.substr(drop, static_cast<std::size_t>(asked.range.length)) : std::string();
    tasks_[asked.task].chunks.push_back({asked.range.offset, std::move(bytes)});
    touched.insert(asked.task);
  }
  asked_.clear();
  if (!answer.good() || answer.cut) reads_failed_ = true;
  for (const std::size_t index : touched) {
    Task& task = tasks_[index];
    const auto version = versions.find(task.path);
    if (reads_failed_ || version == versions.end()) {
      left_over_ = true;
      task.wanted.clear();
    } else if (task.state) {
      // A log that grows while it is read is a log all the same.
      states_[task.path] = {task.version, state_file_text(task.path, *task.version.bytes, task.chunks)};
      dirty_ = true;
      task.wanted.clear();
      if (version->second == task.version && state_file_has_a_format(task.path) && integrity_readable(task.path, *task.version.bytes)) {
        // The format of what has been read anyway. More than that is not asked for.
        const IntegrityStep step = check_integrity(task.path, *task.version.bytes, task.chunks, verify_all_);
        if (step.more.empty()) finish(task, step.verdict, step.expected_bytes);
      }
    } else if (version->second != task.version) {
      // Written while it was read: what was seen is of two files. The next look lists and reads it anew.
      task.wanted.clear();
    } else {
      advance(task);
    }
  }
}

std::shared_ptr<const Listing> DirectoryView::publish() {
  if (!listed_) return nullptr;
  if (!dirty_ && published_) return published_;
  dirty_ = false;
  Listing listing;
  listing.cut = cut_;
  listing.cut_why = cut_why_;
  listing.entries = entries_;
  for (FileEntry& entry : listing.entries) {
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
