// What a witness may say. The judge knows claims and sources; it knows no signal by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {

/// Where facts come from. Two claims agree only when their sources differ (contract section 1).
enum class Source { checkpoint, process, gpu, log, host, scheduler };

enum class Claim {
  none,       ///< nothing to say, or could not look
  progress,   ///< training work or progress is seen now
  moves,      ///< something moves, but it proves no training: loading, evaluation, compiling
  writes,     ///< bytes of a save grow
  still,      ///< nothing moves since `since`
  spin,       ///< busy without work since `since`: a wait in a collective
  busy_wait,  ///< CPU burns but nothing it usually does besides happens; agrees with `spin` only
  overdue,    ///< progress that this run's rhythm promised has not come
};

struct Testimony {
  std::string_view signal;
  Source source = Source::host;
  Claim claim = Claim::none;
  WatcherTime since{};          ///< of still, spin, busy_wait: when movement was last seen
  int looks = 0;                ///< of those: fresh readings since then
  bool stale = false;           ///< rests on the reading of an earlier look: still holds, but nothing is learned from it
  bool as_usual = false;        ///< of moves: at the rates that are usual while this run trains
  bool weak = false;            ///< of moves: may as well be a wait; does not object once a checkpoint is late
  bool long_overdue = false;    ///< of overdue: later than real units ever are, not only later than expected
  std::string_view cause = {};  ///< of a claim that supports an alarm: the finding that names it
  std::string_view says;        ///< evidence: one word
  std::string detail;           ///< evidence: the numbers; empty: no evidence to show
};

struct Finding {
  std::string_view name;  ///< a word of the contract's table (static storage)
  Level level = Level::warning;
};

const char* to_string(Source source);

/// One observation on its way through the witnesses.
struct Look {
  const Job& job;
  const Observation& seen;
  WatcherTime now{};
  std::optional<HostTime> host_now;

  /// Host moments on the watcher's time line, by their age on the host's own clock. Without a host clock: nothing.
  [[nodiscard]] std::optional<WatcherTime> to_watcher(std::optional<HostTime> t) const {
    if (!t || !host_now) return std::nullopt;
    return now - (*host_now - *t);
  }
};

/// printf into a string; the format is checked by the compiler.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

std::string say_duration(Seconds d);  ///< "35 s", "12 min", "2 h 05 min", "3 d 4 h"
std::string say_bytes(double bytes);  ///< "4.7 GB"

}  // namespace trainvigil
