// What counts as news between two verdicts of a job.
#pragma once

#include "trainvigil/verdict.hpp"

namespace trainvigil::app {

/// Phase, level, cause or findings differ.
bool differs(const Verdict& before, const Verdict& now);
/// The run is over: completed, ended or crashed.
/// `now` without the notes (findings that leave the level alone) that stand in `told` already: a host without GPUs has none at every line.
Verdict without_told_notes(Verdict now, const Verdict& told);

bool is_over(Phase phase);

}  // namespace trainvigil::app
