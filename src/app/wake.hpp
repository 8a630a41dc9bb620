// Wakes the thread that polls: from transport threads when a look is done, from signal handlers when the operator wants to stop.
#pragma once

#include <memory>

#include "trainvigil/time.hpp"

namespace trainvigil::app {

class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// From any thread.
  void wake() const;
  /// Until woken or `limit` has passed.
  void wait(Seconds limit) const;
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  int fd_;
};

/// While it lives, SIGINT and SIGTERM wake `waker` and set stopping(). One at a time.
class StopSignals {
 public:
  explicit StopSignals(const Waker& waker);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] static bool stopping();
};

}  // namespace trainvigil::app
