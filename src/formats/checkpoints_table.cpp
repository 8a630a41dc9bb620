// Every checkpoint on a line, newest first, for a person at a terminal.
#include <algorithm>
#include <array>

#include "formats/phrases.hpp"
#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

constexpr std::size_t kColumns = 8;
constexpr std::size_t kState = 5;
using Row = std::array<std::string, kColumns>;

std::string counter_phrase(const Checkpoint& c) {
  if (!c.value) return "-";
  const std::string number = std::to_string(*c.value);
  return c.unit ? std::string(to_string(*c.unit)) + " " + number : number;
}

std::string age_phrase(const Checkpoint& c, std::optional<HostTime> now) {
  if (!c.modified || !now) return "?";
  // The listing is taken a moment after the host told its time.
  constexpr Seconds kNow{1.0}, kFuture{-5.0};
  const Seconds age = *now - *c.modified;
  return age < kFuture ? "in the future" : age < kNow ? "now" : human_duration(age) + " ago";
}

const char* color_of(CheckpointState state) {
  switch (state) {
    case CheckpointState::complete:
      return "\x1b[32m";
    case CheckpointState::saving:
      return "\x1b[36m";
    case CheckpointState::partial:
      return "\x1b[33m";
    case CheckpointState::corrupt:
      return "\x1b[1;31m";
    case CheckpointState::stale:
      break;
  }
  return "\x1b[2m";
}

Row row_of(const Checkpoint& c, std::optional<HostTime> now) {
  return {harmless(c.path),
          counter_phrase(c),
          c.done ? std::to_string(*c.done) : "?",
          c.bytes ? human_bytes(*c.bytes) : "?",
          age_phrase(c, now),
          to_string(c.state),
          to_string(c.run),
          harmless(c.why)};
}

}  // namespace

std::string format_checkpoints_table(const CheckpointView& view, std::optional<HostTime> now, const TextStyle& style) {
  if (view.checkpoints.empty() && view.in_progress.empty()) return "No checkpoint there.\n";
  std::vector<Row> rows{{"NAME", "COUNTER", "DONE", "SIZE", "AGE", "STATE", "RUN", "WHY"}};
  for (const auto& c : view.checkpoints) rows.push_back(row_of(c, now));
  std::array<int, kColumns> width{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < kColumns; ++i) width[i] = std::max(width[i], formats::columns(row[i]));

  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool paint = style.color && r > 0;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const auto& cell = rows[r][i];
      const bool colored = paint && i == kState;
      if (colored) out += color_of(view.checkpoints[r - 1].state);
      out += cell;
      if (colored) out += "\x1b[0m";
      if (i + 1 < kColumns) out.append(static_cast<std::size_t>(width[i] - formats::columns(cell)) + 2, ' ');
    }
    out += '\n';
  }
  for (const auto& save : view.in_progress) {
    out += (save.leftover ? "left over: " : "being written: ") + harmless(save.path);
    if (save.bytes) out += ", " + human_bytes(*save.bytes) + (save.expected_bytes ? " of " + human_bytes(*save.expected_bytes) : std::string());
    if (const auto share = written_share(save)) out += " (" + std::to_string(static_cast<int>(*share * 100)) + " %)";
    out += " (" + harmless(save.why) + ")\n";
  }
  return out;
}

}  // namespace trainvigil
