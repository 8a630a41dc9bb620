// Takes one observation through everything that lies behind it: judge, state between turns, every format, and the trace it may be recorded in.
#pragma once

#include "promise.hpp"
#include "trainvigil/format.hpp"
#include "trainvigil/judge.hpp"
#include "trainvigil/trace.hpp"

namespace trainvigil::fuzz {

inline void judge_and_print(const Job& job, JobState& state, const Observation& observation) {
  const Verdict verdict = advance(job, {}, state, observation);
  PROMISE(!verdict.summary.empty());
  PROMISE(!verdict.progress.fraction || (*verdict.progress.fraction >= 0 && *verdict.progress.fraction <= 1));
  PROMISE(!format_json(verdict).empty());
  const std::string line = format_nagios({verdict});
  PROMISE(line.rfind("TRAINVIGIL ", 0) == 0);
  PROMISE(line.find('\n') == std::string::npos);
  PROMISE(format_text(verdict, {.color = false, .width = 40, .verbose = true}).find('\x1b') == std::string::npos);

  // The next turn may be another process: what is written down must be enough to go on.
  const std::string kept = state.serialize();
  JobState reread;
  PROMISE(reread.parse(kept));
  PROMISE(reread.serialize() == kept);
  state = std::move(reread);
}

inline void survives_recording(const Observation& observation) {
  const std::string line = encode_observation(observation);
  PROMISE(line.find('\n') == std::string::npos);
  const auto again = decode_observation(line, nullptr);
  PROMISE(again.has_value());
  PROMISE(encode_observation(*again) == line);
}

}  // namespace trainvigil::fuzz
