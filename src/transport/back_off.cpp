#include "transport/back_off.hpp"

#include <algorithm>
#include <cmath>

namespace trainvigil::transport {

void BackOff::failed(const Fault& fault, SteadyTime now) {
  last_ = fault.failure;
  const double most = std::min(options_.back_off_first.count() * std::exp2(std::min(failures_, 20)), options_.back_off_most.count());
  ++failures_;
  Seconds wait{std::uniform_real_distribution<double>(0.0, most)(random_)};
  // sshd drops at random before its banner when too many knock at once: the wait is longer, and again not the same for all.
  if (fault.layer == Layer::greeting) wait = options_.back_off_busy + wait;
  if (!fault.failure.retry) wait = options_.back_off_refused;
  next_ = now + steady(wait);
}

void BackOff::succeeded() {
  last_.reset();
  failures_ = 0;
}

}  // namespace trainvigil::transport
