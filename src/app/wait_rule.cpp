#include "app/wait_rule.hpp"

#include "app/changes.hpp"
#include "trainvigil/exit_code.hpp"

namespace trainvigil::app {
namespace {

// `wait` has its own meaning of 1 and 2 (contract section 3).
constexpr int kEnded = 1;
constexpr int kBroken = 2;

bool newer_checkpoint(const std::optional<Checkpoint>& before, const std::optional<Checkpoint>& now) {
  if (!now) return false;
  if (!before) return true;
  if (now->path == before->path && now->modified == before->modified) return false;
  // After a deletion the newest complete one may be an older one.
  if (now->modified && before->modified) return *now->modified > *before->modified;
  return now->done && before->done && *now->done > *before->done;
}

}  // namespace

bool is_fault_of_access(Reach reach) {
  return reach == Reach::auth_failed || reach == Reach::host_key_unknown || reach == Reach::host_key_changed || reach == Reach::host_key_revoked;
}

bool WaitRule::still_the_old_run(const Verdict& verdict) const { return over_before_ && is_over(verdict.phase) && verdict.run == old_run_; }

std::optional<WaitEnd> WaitRule::by_phase(const Verdict& verdict) const {
  switch (verdict.phase) {
    // That a completed run saves nothing more is an end as well: what was waited for can not come.
    case Phase::completed:
      return WaitEnd{wanted_ == WaitFor::checkpoint ? kEnded : kExitOk, "completed"};
    case Phase::ended:
      return WaitEnd{kEnded, "ended"};
    case Phase::crashed:
      return WaitEnd{kBroken, "crashed"};
    case Phase::stalled:
      if (wanted_ == WaitFor::trouble_or_end) return WaitEnd{kBroken, "stalled"};
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::optional<WaitEnd> WaitRule::see(const Verdict& verdict, Reach reach, bool settled) {
  if (is_fault_of_access(reach)) return WaitEnd{kExitUnknown, to_string(reach)};
  // An outage is waited through; a suspicion waits for its confirming look.
  if (reach != Reach::ok || verdict.phase == Phase::unreachable || !settled) return std::nullopt;
  if (!first_) {
    first_ = verdict;
    if (!is_over(verdict.phase) || accept_finished_) return by_phase(verdict);
    over_before_ = verdict.phase;
    old_run_ = verdict.run;
    return std::nullopt;
  }
  if (wanted_ == WaitFor::change && differs(*first_, verdict)) return WaitEnd{kExitOk, "changed"};
  if (wanted_ == WaitFor::checkpoint && newer_checkpoint(first_->last_good, verdict.last_good)) return WaitEnd{kExitOk, "a new checkpoint"};
  if (still_the_old_run(verdict)) return std::nullopt;
  if (over_before_ && !is_over(verdict.phase) && verdict.run != old_run_) over_before_.reset();
  return by_phase(verdict);
}

}  // namespace trainvigil::app
