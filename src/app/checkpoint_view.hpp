// The checkpoints as the judge saw them.
#pragma once

#include "trainvigil/checkpoint.hpp"
#include "trainvigil/judge.hpp"

namespace trainvigil::app {

/// Of the last listing that was judged; empty before one was.
const CheckpointView& checkpoint_view(const JobState& state);

}  // namespace trainvigil::app
