// What counts as news between two verdicts of a job.
#pragma once

#include "trainvigil/verdict.hpp"

namespace trainvigil::app {

/// Phase, level, cause or findings differ.
bool differs(const Verdict& before, const Verdict& now);
/// The run is over: completed, ended or crashed.
bool is_over(Phase phase);

}  // namespace trainvigil::app
