#include "core/wire/listing.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

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

}  // namespace

Walk parse_walk(const std::vector<std::string>& lines, std::string_view mark) {
  Walk walk;
  std::vector<std::string> records;
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (consume(text, mark)) {
      records.emplace_back(text);
    } else if (!records.empty()) {
      records.back() += '\n';
      records.back() += text;
    } else if (consume(text, "error:")) {
      walk.error = std::string(trimmed(text));
    } else if (consume(text, "same:")) {
      walk.same = walk.finished = true;
    }
  }
  std::unordered_map<std::string, std::size_t> links;  // the stat way names a link twice: once with its time, once with its target
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t link = kNone;
  for (const std::string& record : records) {
    std::string_view text = record;
    if (consume(text, "t ")) {
      if (link < walk.entries.size()) walk.entries[link].target = std::string(text);
    } else if (consume(text, "x ")) {
      const auto code = to_integer(text);
      walk.finished = code && *code < 126;
      walk.unreadable_part = code && *code != 0;
    } else if (auto entry = parse_entry(text)) {
      link = kNone;
      if (entry->type == FileType::link) {
        const auto [at, fresh] = links.try_emplace(entry->path, walk.entries.size());
        link = at->second;
        if (!fresh) continue;
        if (text.starts_with('L')) {  // made since the first pass: without its time it is no entry yet
          links.erase(at);
          link = kNone;
          continue;
        }
      }
      walk.entries.push_back(std::move(*entry));
    }
  }
  return walk;
}

int depth_of(std::string_view path) { return 1 + static_cast<int>(std::count(path.begin(), path.end(), '/')); }

}  // namespace trainvigil::wire
