// Verdicts and checkpoints as text, JSON and monitoring-plugin lines. Formats never decide; they only say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/bytes.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {

/// One JSON object without newline, the shape of contract section 4; the same keys at every call.
std::string format_json(const Verdict& verdict);

struct TextStyle {
  bool color = false;
  int width = 80;  ///< columns of the terminal
  bool verbose = false;
};
/// A few lines for a person: sentence, progress bar and ETA, evidence. Times in the local zone with its name.
std::string format_text(const Verdict& verdict, const TextStyle& style);
/// One line, for `run` where there is no terminal, and for the log.
std::string format_line(const Verdict& verdict);
/// One line that a terminal redraws in place: phase, progress bar, end; never wider than the terminal.
std::string format_live(const Verdict& verdict, const TextStyle& style);
/// `TRAINVIGIL OK - … | perfdata`, the Monitoring Plugins guideline's shape. Several jobs: the worst first.
std::string format_nagios(const std::vector<Verdict>& verdicts);

/// `error`: why nothing is known of the directory; the shape stays the same.
std::string format_checkpoints_json(const CheckpointView& view, const std::optional<std::string>& error = std::nullopt);
std::string format_checkpoints_table(const CheckpointView& view, std::optional<HostTime> now, const TextStyle& style);

std::string rfc3339(WatcherTime t);  ///< UTC, whole seconds
std::string rfc3339(HostTime t);
std::string human_duration(Seconds d);        ///< "2 h 05 min", "35 s"
std::string human_bytes(std::int64_t bytes);  ///< "4.7 GB" (powers of 1000)

}  // namespace trainvigil
