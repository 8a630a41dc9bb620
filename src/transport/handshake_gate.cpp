#include "transport/handshake_gate.hpp"

#include <algorithm>

namespace trainvigil::transport {

struct HandshakeGate::Pass::State {
  HandshakeGate& gate;
  Task granted;
  bool held = false;
};

void HandshakeGate::Pass::reset() {
  if (!state_) return;
  const std::shared_ptr<State> state = std::move(state_);
  if (!state->held) return;
  ++state->gate.free_;
  state->gate.grant();
}

HandshakeGate::Pass HandshakeGate::enter(Task granted) {
  Pass pass;
  pass.state_ = std::make_shared<Pass::State>(Pass::State{*this, std::move(granted), false});
  queue_.push_back(pass.state_);
  grant();
  return pass;
}

void HandshakeGate::grant() {
  while (free_ > 0 && !queue_.empty()) {
    const std::shared_ptr<Pass::State> next = queue_.front().lock();
    queue_.pop_front();
    if (!next) continue;  // gave up waiting
    next->held = true;
    --free_;
    // By the loop and not from here: whoever enters has not got its pass in hand yet.
    loop_.post([weak = std::weak_ptr(next)] {
      if (const auto state = weak.lock()) state->granted();
    });
  }
}

Seconds HandshakeGate::pace(const std::string& jump_host) {
  constexpr Seconds kApart{0.1};
  const SteadyTime now = SteadyClock::now();
  SteadyTime& next = next_by_jump_host_[jump_host];
  next = std::max(next, now);
  const Seconds wait = next - now;
  next += steady(kApart);
  return wait;
}

}  // namespace trainvigil::transport
