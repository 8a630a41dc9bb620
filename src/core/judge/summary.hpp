// The one sentence for a tired person: what, since when, until when.
#pragma once

#include <string>

#include "core/judge/triangulate.hpp"

namespace trainvigil {

std::string summarize(const Verdict& verdict, const JobState::Impl& state, const Reckoning& reckoning, const Look& look, const std::string& because);
std::string summarize_unreachable(const Observation& seen, const JobState::Impl& state);
std::string explain_change(const Verdict& verdict, Phase before, const Ruling& ruling, const std::vector<Testimony>& testimonies);

}  // namespace trainvigil
