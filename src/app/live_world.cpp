// The world as it is: hosts behind a Transport, the machine's clock, the operator's signals.
#include <atomic>
#include <mutex>
#include <random>
#include <utility>

#include "app/clock.hpp"
#include "app/wake.hpp"
#include "app/world.hpp"

namespace trainvigil::app {
namespace {

/// What a look leaves behind; shared with the transport's callback, which may come after the watch is gone.
struct LookResult {
  std::mutex mutex;
  std::optional<Failure> failure;
  std::atomic<bool> done{false};
};

class LiveWatch : public HostWatch {
 public:
  LiveWatch(std::unique_ptr<HostLink> link, const std::vector<Job>& jobs, std::uint32_t nonce, std::shared_ptr<Waker> waker)
      : link_(std::move(link)), conversation_(ProbeConversation::make(jobs, nonce)), jobs_(jobs.size()), waker_(std::move(waker)) {}
  ~LiveWatch() override { link_->close(); }
  LiveWatch(const LiveWatch&) = delete;
  LiveWatch& operator=(const LiveWatch&) = delete;

  void begin(const LookOptions& options, Seconds limit) override {
    conversation_->ask(options);
    result_ = std::make_shared<LookResult>();
    link_->look(conversation_, limit, [result = result_, waker = waker_](std::optional<Failure> failure) {
      {
        const std::lock_guard lock(result->mutex);
        result->failure = std::move(failure);
      }
      result->done = true;
      waker->wake();
    });
  }

  [[nodiscard]] bool finished() const override { return result_ && result_->done; }

  std::vector<Observation> take(WatcherTime now) override {
    const auto result = std::exchange(result_, nullptr);
    const std::lock_guard lock(result->mutex);
    if (result->failure) return {jobs_, unreachable_observation(*result->failure, now)};
    return conversation_->take(now);
  }

 private:
  std::unique_ptr<HostLink> link_;
  std::shared_ptr<ProbeConversation> conversation_;
  std::size_t jobs_;
  std::shared_ptr<Waker> waker_;
  std::shared_ptr<LookResult> result_;
};

class LiveWorld : public World {
 public:
  LiveWorld() : waker_(std::make_shared<Waker>()), signals_(*waker_), transport_(make_transport()) {}

  WatcherTime now() override { return clock_.now(); }
  std::unique_ptr<HostWatch> watch(const HostTarget& target, const std::vector<Job>& jobs) override {
    return std::make_unique<LiveWatch>(transport_->link(target), jobs, static_cast<std::uint32_t>(random_()), waker_);
  }
  void wait(WatcherTime until) override { waker_->wait(until - clock_.now()); }
  [[nodiscard]] bool stopping() const override { return StopSignals::stopping(); }

 private:
  std::shared_ptr<Waker> waker_;
  StopSignals signals_;
  Clock clock_;
  std::random_device random_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<World> make_live_world() { return std::make_unique<LiveWorld>(); }

}  // namespace trainvigil::app
