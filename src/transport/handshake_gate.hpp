// How many log-ins may be under way at once, and how fast they may follow each other through one jump host.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "transport/event_loop.hpp"

namespace trainvigil::transport {

class HandshakeGate {
 public:
  HandshakeGate(EventLoop& loop, std::size_t at_once) : loop_(loop), free_(at_once) {}

  /// The right to shake hands; given back with the object, a place in the queue as well.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&&) = default;
    Pass& operator=(Pass&& other) noexcept {
      reset();
      state_ = std::move(other.state_);
      return *this;
    }
    ~Pass() { reset(); }
    void reset();

   private:
    friend class HandshakeGate;
    struct State;
    std::shared_ptr<State> state_;
  };

  /// `granted` is called from the loop, at once or when it is the turn of this pass.
  Pass enter(Task granted);

  /// How long to wait before the next log-in through this jump host: one per 100 ms, sshd counts them all as coming from one address.
  Seconds pace(const std::string& jump_host);

 private:
  void grant();
  EventLoop& loop_;
  std::size_t free_;
  std::deque<std::weak_ptr<Pass::State>> queue_;
  std::map<std::string, SteadyTime> next_by_jump_host_;
};

}  // namespace trainvigil::transport
