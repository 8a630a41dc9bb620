// Exit codes scripts can trust (contract section 3).
#pragma once

#include "trainvigil/verdict.hpp"

namespace trainvigil {

inline constexpr int kExitOk = 0;
inline constexpr int kExitWarning = 1;
inline constexpr int kExitCritical = 2;
inline constexpr int kExitUnknown = 3;  ///< also bad usage, config or trace
inline constexpr int kExitTimeout = 4;  ///< `wait`: --timeout passed first

constexpr int exit_code(Level level) {
  switch (level) {
    case Level::ok:
      return kExitOk;
    case Level::warning:
      return kExitWarning;
    case Level::critical:
      return kExitCritical;
    case Level::unknown:
      break;
  }
  return kExitUnknown;
}

}  // namespace trainvigil
