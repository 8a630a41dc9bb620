// The judge: one observation in, one verdict out, with the job's memory between. The only way from facts to a verdict, live and in replay.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {

/// All that is remembered of a job between two observations. Bounded (below 64 KiB however long the run; file memory apart).
class JobState {
 public:
  JobState();
  ~JobState();
  JobState(JobState&&) noexcept;
  JobState& operator=(JobState&&) noexcept;
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  /// A versioned JSON text; parse(serialize()) continues exactly where it stopped.
  [[nodiscard]] std::string serialize() const;
  /// False when the text is not of a version this build understands; the state is then as new.
  bool parse(std::string_view text);

  struct Impl;
  Impl& impl() { return *impl_; }
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Why the judge said what it said; filled on request (`replay --explain`).
struct Explanation {
  std::string text;  ///< a few lines; empty when nothing changed
};

/// Judges one observation. Total: never throws on any observation. Observations come in order of watcher_time.
/// `prior` is what history knew before this run; it is only read while the state is new.
Verdict advance(const Job& job, const Prior& prior, JobState& state, const Observation& observation, Explanation* explain = nullptr);

}  // namespace trainvigil
