// What works on the way to a job and what does not: one look, taken apart into steps.
#pragma once

#include <string>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::app {

enum class StepResult { well, note, fails, not_reached };

struct Step {
  std::string name;  ///< "host key"
  StepResult result = StepResult::well;
  std::string detail;
  std::string remedy;
};

/// The steps from the resolver to the clock, in the order in which they depend on each other.
std::vector<Step> diagnose(const Job& job, const Observation& observation);
const char* to_string(StepResult result);

}  // namespace trainvigil::app
