// When `wait` returns, and with what: a total function from the verdicts of one job, without world or clock.
#pragma once

#include <optional>
#include <string>

#include "app/options.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil::app {

struct WaitEnd {
  int code = 0;
  std::string why;  ///< one clause
};

class WaitRule {
 public:
  WaitRule(WaitFor wanted, bool accept_finished) : wanted_(wanted), accept_finished_(accept_finished) {}

  /// Every verdict in order; `settled`: no confirming look follows. Returns once there is something worth waking for.
  std::optional<WaitEnd> see(const Verdict& verdict, Reach reach, bool settled);
  /// Set once, when the first look found the run over and that does not count.
  [[nodiscard]] std::optional<Phase> over_before() const { return over_before_; }

 private:
  [[nodiscard]] std::optional<WaitEnd> by_phase(const Verdict& verdict) const;
  [[nodiscard]] bool still_the_old_run(const Verdict& verdict) const;

  WaitFor wanted_;
  bool accept_finished_;
  std::optional<Verdict> first_;  ///< the first settled look that reached the host: what is compared with
  std::optional<Phase> over_before_;
  std::optional<std::string> old_run_;
};

/// A reach that no waiting mends: the operator has to act.
bool is_fault_of_access(Reach reach);

}  // namespace trainvigil::app
