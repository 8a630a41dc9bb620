#include "core/wire/log_view.hpp"

#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

constexpr int kTailBytes = 4096;

std::optional<std::int64_t> product(std::string_view blocks, std::int64_t unit) {
  const auto count = to_integer(blocks);
  std::int64_t bytes = 0;
  if (!count || *count < 0 || unit <= 0 || __builtin_mul_overflow(*count, unit, &bytes)) return std::nullopt;
  return bytes;
}

/// "block size, all blocks, free for others than root, free inodes" as `stat -f` prints them.
std::optional<Disk> parse_statfs(std::string_view text) {
  const auto parts = words(text);
  const auto unit = parts.size() == 4 ? to_integer(parts[0]) : std::nullopt;
  if (!unit || *unit <= 0) return std::nullopt;
  Disk disk;
  disk.total_bytes = product(parts[1], *unit);
  disk.free_bytes = product(parts[2], *unit);
  disk.free_inodes = to_integer(parts[3]);
  // A file system that counts no inodes (btrfs, many network ones) says 0: that is not "none left".
  if (disk.free_inodes && (*disk.free_inodes < 0 || (*disk.free_inodes == 0 && disk.free_bytes.value_or(0) > 0))) disk.free_inodes.reset();
  return disk;
}

/// The columns before the percentage of a `df -P` line: total, used, free. Names of devices may hold blanks.
std::optional<std::vector<std::string_view>> df_columns(std::string_view text) {
  const auto parts = words(text);
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if ((parts[i].ends_with('%') || parts[i] == "-") && (to_integer(parts[i - 3]) || parts[i - 3] == "-"))
      return std::vector(parts.begin() + static_cast<std::ptrdiff_t>(i) - 3, parts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return std::nullopt;
}

}  // namespace

void LogView::begin_look() {
  facts_.reset();
  report_ = SensorReport{SensorStatus::timeout, {}, {}};
}

std::string LogView::arguments() const { return version_ + " " + std::to_string(kTailBytes) + " " + request_word(path_); }

void LogView::answered(const Answer& answer, bool base64, SensorReport report) {
  report_ = report;
  if (!answer.ended || answer.lines.empty()) return;
  std::string_view version = answer.lines.front();
  if (!consume(version, "size:")) {
    if (version.find("ermission denied") != std::string_view::npos) report_.status = SensorStatus::denied;
    return;
  }
  const auto parts = words(version);
  LogFacts facts;
  if (!parts.empty()) facts.bytes = to_integer(parts[0]);
  if (parts.size() > 1) {
    if (const auto time = to_number(parts[1])) facts.mtime = host_time(*time);
  }
  if (answer.good()) {
    if (version != version_) {
      std::string encoded;
      for (std::size_t i = 1; i < answer.lines.size(); ++i) encoded += answer.lines[i];
      tail_ = base64 ? decode_base64(encoded) : decode_hex(encoded);
      version_ = version;
    }
    facts.tail = tail_;
  }
  facts_ = std::move(facts);
}

DiskAnswer parse_disks(const std::vector<std::string>& lines) {
  DiskAnswer answer;
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (consume(text, "shm:")) {
      answer.shm = parse_statfs(text);
    } else if (consume(text, "disk:")) {
      answer.disk = parse_statfs(text);
    } else if (consume(text, "df:")) {
      if (const auto columns = df_columns(text)) {
        if (!answer.disk) answer.disk.emplace();
        answer.disk->total_bytes = product((*columns)[0], 1024);
        answer.disk->free_bytes = product((*columns)[2], 1024);
      }
    } else if (consume(text, "dfi:")) {
      const auto columns = df_columns(text);
      const auto free = columns ? to_integer((*columns)[2]) : std::nullopt;
      if (answer.disk && free && *free >= 0 && to_integer((*columns)[0]).value_or(0) > 0) answer.disk->free_inodes = free;
    }
  }
  return answer;
}

}  // namespace trainvigil::wire
