// The jobs that both the wire target and the recorder of its corpus watch. The nonce is fixed, so recorded answers fit what the target asks.
#pragma once

#include <string>
#include <vector>

#include "trainvigil/job.hpp"

namespace trainvigil::fuzz {

inline constexpr std::uint32_t kNonce = 0x5eed5eedU;
inline constexpr char kNextLook = '\x1e';  ///< stands between the bytes of two looks

inline std::vector<Job> wire_jobs(const std::string& checkpoints, const std::string& log) {
  Job first;
  first.name = "eagle3";
  first.host = "gpu1";
  first.checkpoints = checkpoints;
  first.process = "04_train";
  first.log = log;
  first.epochs = 5;
  Job second;
  second.name = "other";
  second.host = "gpu1";
  second.process = "other";
  return {first, second};
}

}  // namespace trainvigil::fuzz
