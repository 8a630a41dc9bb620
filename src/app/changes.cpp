#include "app/changes.hpp"

#include <algorithm>

namespace trainvigil::app {

bool differs(const Verdict& before, const Verdict& now) {
  return before.phase != now.phase || before.level != now.level || before.cause != now.cause || before.findings != now.findings;
}

Verdict without_told_notes(Verdict now, const Verdict& told) {
  std::erase_if(now.findings, [&](const std::string& finding) {
    return level_of_finding(finding) == Level::ok && std::find(told.findings.begin(), told.findings.end(), finding) != told.findings.end();
  });
  return now;
}

bool is_over(Phase phase) { return phase == Phase::completed || phase == Phase::ended || phase == Phase::crashed; }

}  // namespace trainvigil::app
