#include "app/changes.hpp"

namespace trainvigil::app {

bool differs(const Verdict& before, const Verdict& now) {
  return before.phase != now.phase || before.level != now.level || before.cause != now.cause || before.findings != now.findings;
}

bool is_over(Phase phase) { return phase == Phase::completed || phase == Phase::ended || phase == Phase::crashed; }

}  // namespace trainvigil::app
