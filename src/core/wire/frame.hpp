// Bytes of the remote shell -> lines -> records of one request. docs/wire-format.md describes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

/// Cuts a stream into lines whatever the pieces it comes in. A line longer than any record is dropped whole.
class LineCutter {
 public:
  static constexpr std::size_t kLongest = 64 * 1024;  ///< records are at most 4096 bytes; the rest is noise
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& line);
  void clear();

 private:
  std::string open_;
  bool dropping_ = false;
};

enum class RecordKind { line, part, cut, tool, end };

/// One record of an answer: "<seq> text", "<seq>+part of a line", "<seq>~cut", "<seq>!pid of a tool", "<seq>.status from to".
struct Record {
  std::uint32_t seq = 0;
  RecordKind kind = RecordKind::line;
  std::string_view text;
};

std::optional<Record> parse_record(std::string_view line);
std::string seq_word(std::uint32_t seq);

/// What has arrived for one request so far.
struct Answer {
  static constexpr std::size_t kMostBytes = 4U << 20U;  ///< contract: the answer is bounded (4 MiB)

  std::vector<std::string> lines;
  std::vector<std::int64_t> tools;  ///< pids of what runs for it, to be ended when time is up
  bool cut = false;                 ///< a limit was hit here or there
  bool ended = false;               ///< the last record has come
  bool hurried = false;             ///< we asked for its end: what came may be a part only
  std::string status;               ///< the last record's word: ok absent denied busy early
  std::optional<double> from, to;   ///< the host's uptime when it began and ended

  void add(const Record& record);
  [[nodiscard]] bool good() const { return ended && status == "ok" && !hurried; }
  [[nodiscard]] SensorStatus sensor_status() const;

 private:
  std::string part_;
  std::size_t bytes_ = 0;
};

}  // namespace trainvigil::wire
