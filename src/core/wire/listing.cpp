#include "core/wire/listing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

FileType type_of_letter(char letter) {
  switch (letter) {
    case 'f':
      return FileType::file;
    case 'd':
      return FileType::directory;
    case 'l':
    case 'L':
      return FileType::link;
    default:
      return FileType::other;
  }
}

/// The type bits of st_mode in hexadecimal, as `stat -c %f` prints it.
std::optional<FileType> type_of_mode(std::string_view hex) {
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), mode, 16);
  if (error != std::errc{} || end != hex.data() + hex.size()) return std::nullopt;
  switch (mode & 0xF000U) {
    case 0x8000U:
      return FileType::file;
    case 0x4000U:
      return FileType::directory;
    case 0xA000U:
      return FileType::link;
    default:
      return FileType::other;
  }
}

std::string_view take_word(std::string_view& text) {
  const auto blank = text.find(' ');
  const auto word = text.substr(0, blank);
  text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  return word;
}

std::optional<FileEntry> parse_entry(std::string_view record) {
  const auto kind = take_word(record), size = take_word(record), time = take_word(record);
  FileEntry entry;
  if (kind.size() == 1) {
    entry.type = type_of_letter(kind[0]);
  } else if (const auto type = type_of_mode(kind)) {
    entry.type = *type;
  } else {
    return std::nullopt;
  }
  consume(record, "./");
  if (record.empty() || record == ".") return std::nullopt;
  entry.path = record;
  if (entry.type == FileType::file) {
    if (const auto bytes = to_integer(size); bytes && *bytes >= 0) entry.bytes = bytes;
  }
  if (const auto mtime = to_number(time)) entry.mtime = host_time(*mtime);
  return entry;
}

std::optional<WalkSummary> parse_summary(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() != 9) return std::nullopt;
  WalkSummary summary;
  const auto natural = [](std::string_view word) { return static_cast<std::uint64_t>(to_integer(word).value_or(0)); };
  summary.sums = {natural(parts[0]), natural(parts[1]), natural(parts[2]), natural(parts[3])};
  summary.last_change = to_number(parts[4]);
  summary.left_out = to_integer(parts[5]).value_or(0);
  summary.over = parts[6] != "0";
  if (parts[7] == "m" || parts[7] == "h") summary.lean = std::string(parts[7]);
  if (to_number(parts[8])) summary.floor = std::string(parts[8]);
  return summary;
}

std::uint64_t whole_seconds(const FileEntry& entry) {
  const double seconds = entry.mtime ? epoch_seconds(*entry.mtime) : 0;
  return std::abs(seconds) < 1e15 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(seconds)) : 0;
}

}  // namespace

void Sums::add(const FileEntry& entry) {
  ++count;
  bytes += static_cast<std::uint64_t>(entry.bytes.value_or(0));
  seconds += whole_seconds(entry);
  names += entry.path.size();
}

void Sums::remove(const FileEntry& entry) {
  --count;
  bytes -= static_cast<std::uint64_t>(entry.bytes.value_or(0));
  seconds -= whole_seconds(entry);
  names -= entry.path.size();
}

void WalkReader::line(std::string_view text) {
  if (consume(text, mark_)) {
    record();
    record_ = text;
    open_ = true;
  } else if (open_) {
    record_ += '\n';
    record_ += text;
  } else if (consume(text, "error:")) {
    walk_.error = std::string(trimmed(text));
  }
}

void WalkReader::record() {
  if (!open_) return;
  open_ = false;
  std::string_view text = record_;
  if (consume(text, "t ")) {
    if (link_) walk_.entries[*link_].target = std::string(text);
  } else if (consume(text, "x ")) {
    const auto code = to_integer(text);
    walk_.finished = code && *code < 126;
    walk_.unreadable_part = code && *code != 0;
  } else if (consume(text, "n ")) {
    walk_.listed_anew.emplace_back(text);
  } else if (consume(text, "s ")) {
    walk_.summary = parse_summary(text);
  } else if (auto entry = parse_entry(text)) {
    link_.reset();
    if (entry->type == FileType::link) {
      const auto [at, fresh] = links_.try_emplace(entry->path, walk_.entries.size());
      link_ = at->second;
      if (!fresh) return;
      if (text.starts_with('L')) {  // made since the first pass, or not wanted: without its time it is no entry
        links_.erase(at);
        link_.reset();
        return;
      }
    }
    walk_.entries.push_back(std::move(*entry));
  }
}

Walk WalkReader::take() {
  record();
  return std::move(walk_);
}

Walk parse_walk(const std::vector<std::string>& lines, std::string_view mark) {
  WalkReader reader(mark);
  for (const std::string& line : lines) reader.line(line);
  return reader.take();
}

int depth_of(std::string_view path) { return 1 + static_cast<int>(std::count(path.begin(), path.end(), '/')); }

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

}  // namespace trainvigil::wire
