#include "core/wire/frame.hpp"

#include <charconv>

#include "core/wire/text.hpp"

namespace trainvigil::wire {

void LineCutter::feed(std::string_view bytes, const std::function<void(std::string_view)>& line) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const auto piece = bytes.substr(0, newline);
    if (!dropping_ && open_.size() + piece.size() > kLongest) {
      dropping_ = true;
      open_.clear();
    }
    if (newline == std::string_view::npos) {
      if (!dropping_) open_ += piece;
      return;
    }
    if (dropping_) {
      dropping_ = false;
    } else if (open_.empty()) {
      line(piece);
    } else {
      // Moved away first: the callback may clear this cutter.
      std::string whole = std::move(open_);
      open_.clear();
      whole += piece;
      line(whole);
    }
    bytes.remove_prefix(newline + 1);
  }
}

void LineCutter::clear() {
  open_.clear();
  dropping_ = false;
}

std::optional<Record> parse_record(std::string_view line) {
  constexpr std::size_t kSeq = 8;
  if (line.size() <= kSeq) return std::nullopt;
  Record record;
  const auto [end, error] = std::from_chars(line.data(), line.data() + kSeq, record.seq, 16);
  if (error != std::errc{} || end != line.data() + kSeq) return std::nullopt;
  record.text = line.substr(kSeq + 1);
  switch (line[kSeq]) {
    case ' ':
      record.kind = RecordKind::line;
      break;
    case '+':
      record.kind = RecordKind::part;
      break;
    case '~':
      record.kind = RecordKind::cut;
      break;
    case '!':
      record.kind = RecordKind::tool;
      break;
    case '.':
      record.kind = RecordKind::end;
      break;
    default:
      return std::nullopt;
  }
  return record;
}

std::string seq_word(std::uint32_t seq) {
  std::string word(8, '0');
  for (auto digit = word.rbegin(); digit != word.rend(); ++digit, seq >>= 4U) *digit = "0123456789abcdef"[seq & 0xFU];
  return word;
}

void Answer::add(const Record& record) {
  if (ended) return;
  bytes_ += record.text.size();
  switch (record.kind) {
    case RecordKind::part:
    case RecordKind::line:
      if (bytes_ > kMostBytes) {
        cut = true;
        return;
      }
      part_ += record.text;
      if (record.kind == RecordKind::line) {
        lines.push_back(std::move(part_));
        part_.clear();
      }
      break;
    case RecordKind::cut:
      cut = true;
      break;
    case RecordKind::tool:
      if (const auto pid = to_integer(record.text); pid && *pid > 1 && tools.size() < 4096) tools.push_back(*pid);
      break;
    case RecordKind::end: {
      const auto parts = words(record.text);
      ended = true;
      status = parts.empty() ? "" : std::string(parts[0]);
      if (parts.size() > 1) from = to_number(parts[1]);
      if (parts.size() > 2) to = to_number(parts[2]);
      break;
    }
  }
}

SensorStatus Answer::sensor_status() const {
  if (!ended || hurried) return SensorStatus::timeout;
  if (status == "busy" || status == "early") return SensorStatus::stale;
  if (status == "absent") return SensorStatus::absent;
  if (status == "denied") return SensorStatus::denied;
  return cut ? SensorStatus::cut : SensorStatus::ok;
}

}  // namespace trainvigil::wire
