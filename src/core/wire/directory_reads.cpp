// The part of a directory's view that has files read: pieces that are sent, and stretches that the host only sums up (`checkpoints --verify`).
#include <set>

#include "core/wire/directory.hpp"
#include "core/wire/state_files.hpp"
#include "core/wire/text.hpp"
#include "trainvigil/checksum.hpp"

namespace trainvigil::wire {
namespace {

constexpr std::int64_t kMostSummed = 4LL << 30U;  ///< of one request, so that what is done counts when time runs out
constexpr std::int64_t kMostRead = 700'000;       ///< of one request: base64 or hexadecimal keep it within the bounded answer
constexpr std::size_t kMostPieces = 48;           ///< of one request

}  // namespace

std::optional<std::string> DirectoryView::read_arguments() {
  asked_.clear();
  std::string pieces;
  std::int64_t bytes = 0;
  for (std::size_t index = 0; index < tasks_.size(); ++index) {
    const Task& task = tasks_[index];
    for (const ByteRange& range : task.wanted) {
      if (asked_.size() >= kMostPieces || (!asked_.empty() && bytes + range.length > kMostRead)) break;
      if (!verify_all_ && range.length > budget_) {
        left_over_ = true;
        break;
      }
      budget_ -= range.length;
      Piece piece{index, range, range.length > 65536 ? 4096 : 512, 0, 0};
      piece.skip = range.offset / piece.block;
      piece.count = (range.offset + range.length + piece.block - 1) / piece.block - piece.skip;
      pieces +=
          " " + request_word(task.path) + " " + std::to_string(piece.block) + " " + std::to_string(piece.skip) + " " + std::to_string(piece.count);
      asked_.push_back(piece);
      bytes += range.length;
      bytes_asked_ += piece.count * piece.block;
    }
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
  const auto versions = versions_of(after, mark_);
  std::set<std::size_t> touched;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Piece& asked = asked_[i];
    std::string bytes = base64 ? decode_base64(encoded[i]) : decode_hex(encoded[i]);
    const auto drop = static_cast<std::size_t>(asked.range.offset - asked.skip * asked.block);
    bytes = bytes.size() > drop ? bytes.substr(drop, static_cast<std::size_t>(asked.range.length)) : std::string();
    Task& task = tasks_[asked.task];
    task.chunks.push_back({asked.range.offset, std::move(bytes)});
    std::erase_if(task.wanted, [&asked](const ByteRange& r) { return r.offset == asked.range.offset && r.length == asked.range.length; });
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
      rewritten(task);
    } else if (task.wanted.empty()) {
      advance(task);
    }
  }
}

std::map<std::string, DirectoryView::Version> DirectoryView::versions_of(const std::vector<std::string>& lines, const std::string& mark) {
  std::map<std::string, Version> versions;
  for (const FileEntry& entry : parse_walk(lines, mark).entries) versions[entry.path] = {entry.bytes, entry.mtime};
  return versions;
}

/// Written while it was read: what was seen is of two files, and whoever writes has not finished. The next look lists and reads it anew.
void DirectoryView::rewritten(Task& task) {
  task.wanted.clear();
  task.stretches.clear();
  finish(task, Integrity::truncated, std::nullopt);
  left_over_ = true;
}

std::optional<std::string> DirectoryView::sum_arguments() {
  asked_sums_.clear();
  std::string pieces;
  std::int64_t bytes = 0;
  for (std::size_t index = 0; index < tasks_.size(); ++index) {
    const Task& task = tasks_[index];
    for (const Stretch& s : task.stretches) {
      if (asked_sums_.size() >= kMostPieces || (!asked_sums_.empty() && bytes + s.length > kMostSummed)) break;
      std::string end = "-";
      if (s.inflated) {
        // The last eight bytes of a gzip file (RFC 1952): checksum and length.
        end.clear();
        for (const std::uint32_t number : {s.inflated->crc32, s.inflated->bytes}) {
          for (unsigned shift = 0; shift < 32; shift += 8) {
            const unsigned byte = (number >> shift) & 0xFFU;
            end +=
                std::string("\\0") + static_cast<char>('0' + byte / 64) + static_cast<char>('0' + byte / 8 % 8) + static_cast<char>('0' + byte % 8);
          }
        }
      }
      // The place is told counted from 0 and from 1: not every shell can add numbers of this size.
      pieces += " " + request_word(task.path) + " " + std::to_string(s.offset) + " " + std::to_string(s.offset + 1) + " " + std::to_string(s.length) +
                " " + end;
      asked_sums_.emplace_back(index, s);
      bytes += s.length;
    }
  }
  if (asked_sums_.empty()) return std::nullopt;
  return mark_ + " " + request_word(path_) + pieces;
}

void DirectoryView::summed(const Answer& answer) {
  std::vector<std::string> after;
  std::set<std::size_t> touched, answered;
  for (const auto& [index, stretch] : asked_sums_) touched.insert(index);
  for (const std::string& line : answer.lines) {
    std::string_view text = line;
    if (!consume(text, mark_ + "s ")) {
      after.push_back(line);
      continue;
    }
    const auto parts = words(text);
    const auto number = parts.size() == 3 ? to_integer(parts[0]) : std::nullopt;
    if (!number || *number < 0 || static_cast<std::size_t>(*number) >= asked_sums_.size()) continue;
    const auto& [index, stretch] = asked_sums_[static_cast<std::size_t>(*number)];
    const auto result = to_integer(parts[2]);
    StretchSum sum{stretch.offset, stretch.length, 0};
    if (stretch.inflated) {
      // A gzip that was ended, or found no memory, says nothing of the file.
      if (parts[1] != "gzip" || !result || (*result != 0 && !answer.good())) continue;
      sum.crc32 = *result == 0 ? stretch.inflated->crc32 : ~stretch.inflated->crc32;
    } else {
      const auto cksum = to_integer(parts[1]);
      if (!cksum || *cksum < 0 || *cksum > 0xFFFFFFFFLL || result != stretch.length) continue;
      sum.crc32 = crc32_from_cksum(static_cast<std::uint32_t>(*cksum), static_cast<std::uint64_t>(stretch.length));
    }
    Task& task = tasks_[index];
    task.sums.push_back(sum);
    std::erase_if(task.stretches, [&sum](const Stretch& s) { return s.offset == sum.offset && s.length == sum.length; });
    answered.insert(index);
  }
  asked_sums_.clear();
  const auto versions = versions_of(after, mark_);
  const bool failed = !answer.good() || answer.cut;
  if (failed && answer.status != "absent") reads_failed_ = true;
  for (const std::size_t index : touched) {
    Task& task = tasks_[index];
    const auto version = versions.find(task.path);
    // A piece that came short ended the answer: what stands behind it is asked for again, as long as there is progress.
    const bool waits = version == versions.end() ? !answered.empty() : answered.contains(index) || version->second != task.version;
    if (failed || !waits) {
      left_over_ = unverified_ = true;
      task.stretches.clear();
    } else if (version == versions.end()) {
      continue;
    } else if (version->second != task.version) {
      rewritten(task);
    } else if (task.stretches.empty()) {
      advance(task);
    }
  }
}

}  // namespace trainvigil::wire
