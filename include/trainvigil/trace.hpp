// Traces: recorded observations as JSON Lines (docs/trace-format.md). Written by `run --record`, read by `replay` and `checkpoints --from-trace`.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/result.hpp"

namespace trainvigil {

struct TraceHeader {
  Job job;
  Prior prior;
};

std::string encode_trace_header(const TraceHeader& header);      ///< one line without newline
std::string encode_observation(const Observation& observation);  ///< one line without newline
Result<TraceHeader> decode_trace_header(std::string_view line);
/// `previous` is the observation before, or null: the listing is shared with it when it did not change.
Result<Observation> decode_observation(std::string_view line, const Observation* previous);

/// Reads a trace line by line. Errors carry "file:line".
class TraceReader {
 public:
  static Result<TraceReader> open(const std::string& path);
  TraceReader(TraceReader&&) noexcept;
  ~TraceReader();
  [[nodiscard]] const TraceHeader& header() const;
  /// False at the end. A line cut short at the end of the file is an error.
  Result<bool> next(Observation& out);

 private:
  TraceReader();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainvigil
