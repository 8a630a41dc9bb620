// When a host may be tried again, and what to answer until then.
#pragma once

#include <optional>
#include <random>

#include "trainvigil/transport.hpp"
#include "transport/event_loop.hpp"
#include "transport/failure.hpp"
#include "transport/options.hpp"

namespace trainvigil::transport {

/// Exponential with full jitter: a thousand hosts that went away together do not come back together. A new object allows the first try at once.
class BackOff {
 public:
  explicit BackOff(const TransportOptions& options, std::uint32_t seed = std::random_device{}()) : options_(options), random_(seed) {}

  /// The failure to answer with instead of trying; nothing when it is time to try.
  [[nodiscard]] const Failure* remembered(SteadyTime now) const { return last_ && now < next_ ? &*last_ : nullptr; }
  void failed(const Fault& fault, SteadyTime now);
  void succeeded();
  [[nodiscard]] SteadyTime next() const { return next_; }

 private:
  TransportOptions options_;
  std::minstd_rand random_;
  std::optional<Failure> last_;
  SteadyTime next_{};
  int failures_ = 0;
};

}  // namespace trainvigil::transport
