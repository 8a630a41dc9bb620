#include "app/reporter.hpp"

#include <map>
#include <optional>
#include <vector>

#include "app/changes.hpp"
#include "app/logging.hpp"
#include "app/output.hpp"

namespace trainvigil::app {
namespace {

/// Remembers of each job what was told last, and when.
class News {
 public:
  explicit News(std::size_t jobs) : told_(jobs) {}
  /// The line to print, or nothing. Notes are told once, and again when they come back.
  std::optional<std::string> line(const Turn& turn, std::optional<Seconds> heartbeat) {
    auto& told = told_.at(turn.index);
    const bool news = !told || differs(*told, turn.verdict) || (heartbeat && turn.verdict.time - told->time >= *heartbeat);
    if (!news) return std::nullopt;
    std::string out = format_line(told ? without_told_notes(turn.verdict, *told) : turn.verdict);
    told = turn.verdict;
    return out;
  }

 private:
  std::vector<std::optional<Verdict>> told_;
};

class JsonReporter : public Reporter {
 public:
  explicit JsonReporter(std::size_t jobs) : news_(jobs) {}
  void report(const Turn& turn) override {
    print_line(format_json(turn.verdict));
    if (const auto line = news_.line(turn, std::nullopt)) log_info(*line);
  }

 private:
  News news_;
};

class LineReporter : public Reporter {
 public:
  LineReporter(std::size_t jobs, Seconds heartbeat) : news_(jobs), heartbeat_(heartbeat) {}
  void report(const Turn& turn) override {
    const auto line = news_.line(turn, heartbeat_);
    if (!line) return;
    print_line(*line);
    log_info(*line);
  }

 private:
  News news_;
  Seconds heartbeat_;
};

/// Changes scroll up; below them one line a job is redrawn at every poll.
class LiveReporter : public Reporter {
 public:
  LiveReporter(const Options& options, std::size_t jobs) : options_(options), news_(jobs), lines_(jobs) {}

  void report(const Turn& turn) override {
    // Asked each time: the window may have been resized, and a line that wraps could not be redrawn.
    const TextStyle style = text_style(options_);
    std::string out = drawn_ > 0 ? "\x1b[" + std::to_string(drawn_) + "A\r" : "\r";
    out += "\x1b[J";
    if (const auto line = news_.line(turn, std::nullopt)) {
      out += *line + "\n";
      log_info(*line);
    }
    lines_.at(turn.index) = turn.verdict;
    drawn_ = 0;
    for (const auto& verdict : lines_) {
      if (!verdict) continue;
      out += format_live(without_told_notes(*verdict, *verdict), style) + "\n";
      ++drawn_;
    }
    print(out);
  }

 private:
  const Options& options_;
  News news_;
  std::vector<std::optional<Verdict>> lines_;
  int drawn_ = 0;
};

/// More live lines than this would not fit beside the changes.
constexpr std::size_t kMostLiveLines = 20;

}  // namespace

std::unique_ptr<Reporter> make_reporter(const Options& options, std::size_t jobs, Seconds heartbeat) {
  if (options.json) return std::make_unique<JsonReporter>(jobs);
  if (can_redraw() && jobs <= kMostLiveLines) return std::make_unique<LiveReporter>(options, jobs);
  return std::make_unique<LineReporter>(jobs, heartbeat);
}

}  // namespace trainvigil::app
