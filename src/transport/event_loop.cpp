#include "transport/event_loop.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <future>
#include <mutex>
#include <system_error>
#include <vector>

#include "transport/threads.hpp"

namespace trainvigil::transport {

SteadyClock::duration steady(Seconds duration) { return std::chrono::duration_cast<SteadyClock::duration>(duration); }

struct Inbox::State {
  std::mutex mutex;
  std::vector<Task> tasks;
  bool closing = false;  ///< the loop ends when the box is empty
  bool closed = false;
  UniqueFd wake;
};

Inbox::Inbox() : state_(std::make_unique<State>()) {
  state_->wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!state_->wake) throw std::system_error(errno, std::generic_category(), "eventfd");
}
Inbox::~Inbox() = default;

bool Inbox::post(Task task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->closed) return false;
  state_->tasks.push_back(std::move(task));
  if (state_->tasks.size() == 1) ::eventfd_write(state_->wake.get(), 1);
  return true;
}

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    reset();
    loop_ = std::exchange(other.loop_, nullptr);
    fd_ = other.fd_;
    id_ = other.id_;
    events_ = other.events_;
  }
  return *this;
}

void Watch::set(std::uint32_t events) {
  if (loop_ == nullptr || events == events_) return;
  events_ = events;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id_;
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_MOD, fd_, &event);
}

void Watch::reset() {
  if (loop_ == nullptr) return;
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
  loop_->handlers_.erase(id_);
  loop_ = nullptr;
}

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    reset();
    loop_ = std::exchange(other.loop_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void Timer::reset() {
  if (loop_ != nullptr) loop_->timers_.erase(key_);
  loop_ = nullptr;
}

EventLoop::EventLoop() : inbox_(std::make_shared<Inbox>()), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, inbox_->state_->wake.get(), &event);
  // The thread is held back until thread_ is assigned: in_loop() reads it.
  std::promise<void> assigned;
  thread_ = quiet_thread([this, go = assigned.get_future().share()] {
    go.wait();
    run();
  });
  assigned.set_value();
}

EventLoop::~EventLoop() {
  inbox_->post([this] {
    const std::lock_guard lock(inbox_->state_->mutex);
    inbox_->state_->closing = true;
  });
  thread_.join();
}

void EventLoop::run_and_wait(Task task) {
  if (in_loop()) return task();
  std::promise<void> done;
  const bool posted = inbox_->post([&] {
    task();
    inbox_->post([&done] { done.set_value(); });
  });
  if (posted) done.get_future().wait();
}

Watch EventLoop::watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> handler) {
  const std::uint64_t id = next_id_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return {};
  handlers_.emplace(id, std::make_shared<std::function<void(std::uint32_t)>>(std::move(handler)));
  return {this, fd, id, events};
}

Timer EventLoop::after(Seconds delay, Task task) {
  const Timer::Key key{SteadyClock::now() + steady(std::max(delay, Seconds{0})), next_id_++};
  timers_.emplace(key, std::move(task));
  return {this, key};
}

int EventLoop::wait_ms() const {
  if (timers_.empty()) return -1;
  const auto left = std::chrono::duration<double, std::milli>(timers_.begin()->first.first - SteadyClock::now()).count();
  return static_cast<int>(std::clamp(std::ceil(left), 0.0, 3'600'000.0));
}

void EventLoop::run_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(inbox_->state_->mutex);
    eventfd_t count = 0;
    ::eventfd_read(inbox_->state_->wake.get(), &count);
    tasks.swap(inbox_->state_->tasks);
  }
  for (Task& task : tasks) {
    task();
    task = nullptr;  // what it captured ends here and in order, not after the tasks behind it
  }
}

void EventLoop::run_timers() {
  const SteadyTime now = SteadyClock::now();
  // Taken out one by one: a timer's task may cancel the next.
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const Task task = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    task();
  }
}

void EventLoop::run() {
  std::array<epoll_event, 128> events{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    for (int i = 0; i < count; ++i) {
      const auto& event = events.at(static_cast<std::size_t>(i));
      const std::uint64_t id = event.data.u64;  // a copy: epoll_event is packed, and find takes a reference
      if (const auto found = handlers_.find(id); found != handlers_.end()) {
        const auto handler = found->second;  // kept alive: it may end its own watch
        (*handler)(event.events);
      }
    }
    run_tasks();
    run_timers();
    const std::lock_guard lock(inbox_->state_->mutex);
    if (inbox_->state_->closing && inbox_->state_->tasks.empty()) {
      inbox_->state_->closed = true;
      return;
    }
  }
}

}  // namespace trainvigil::transport
