#include "app/checkpoint_view.hpp"

#include "core/judge/memory.hpp"

namespace trainvigil::app {

const CheckpointView& checkpoint_view(const JobState& state) { return state.impl().run.checkpoint.view; }

}  // namespace trainvigil::app
