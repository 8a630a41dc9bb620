// Traces that anyone may hand to `replay`: a header line, then observations.
#include <cstdint>
#include <optional>
#include <string_view>

#include "judged.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainvigil;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next_line = [&rest] {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
  };
  const auto header = decode_trace_header(next_line());
  Job job;
  job.name = "fuzzed";
  job.host = "gpu1";
  job.checkpoints = "/data/out";
  job.process = "04_train";
  job.epochs = 5;
  if (header) {
    job = header->job;
    PROMISE(decode_trace_header(encode_trace_header(*header)).has_value());
  }
  JobState state;
  std::optional<Observation> previous;
  for (int lines = 0; !rest.empty() && lines < 64; ++lines) {
    auto observation = decode_observation(next_line(), previous ? &*previous : nullptr);
    if (!observation || (previous && observation->watcher_time < previous->watcher_time)) continue;
    fuzz::survives_recording(*observation);
    fuzz::judge_and_print(job, state, *observation);
    previous = std::move(*observation);
  }
  return 0;
}
