// The one thread that owns all links: epoll (level triggered), timers, and tasks posted from other threads.
//
// epoll of our own and not libssh's ssh_event: that one polls every descriptor on every wake and costs 7.7 times the CPU at 1,000 sessions (trap 22).
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>

#include "trainvigil/time.hpp"
#include "transport/fd.hpp"

namespace trainvigil::transport {

class EventLoop;
using Task = std::function<void()>;
using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

SteadyClock::duration steady(Seconds duration);

/// The letter box of a loop. Workers keep it and not the loop, so a result that comes after the loop is gone falls on the floor instead of on freed
/// memory.
class Inbox {
 public:
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  /// False when the loop has ended; the task is dropped then. Tasks run in the order of posting.
  bool post(Task task);

 private:
  friend class EventLoop;
  struct State;
  std::unique_ptr<State> state_;
};

/// Interest in a descriptor; ends with the object. The descriptor has to outlive it.
class Watch {
 public:
  Watch() = default;
  Watch(Watch&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), fd_(other.fd_), id_(other.id_), events_(other.events_) {}
  Watch& operator=(Watch&& other) noexcept;
  ~Watch() { reset(); }
  void set(std::uint32_t events);
  void reset();
  [[nodiscard]] bool active() const { return loop_ != nullptr; }

 private:
  friend class EventLoop;
  Watch(EventLoop* loop, int fd, std::uint64_t id, std::uint32_t events) : loop_(loop), fd_(fd), id_(id), events_(events) {}
  EventLoop* loop_ = nullptr;
  int fd_ = -1;
  std::uint64_t id_ = 0;
  std::uint32_t events_ = 0;
};

/// A pending call; destroying or resetting it cancels the call.
class Timer {
 public:
  Timer() = default;
  Timer(Timer&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), key_(other.key_) {}
  Timer& operator=(Timer&& other) noexcept;
  ~Timer() { reset(); }
  void reset();
  /// Set and not reset, though perhaps past.
  [[nodiscard]] bool active() const { return loop_ != nullptr; }

 private:
  friend class EventLoop;
  using Key = std::pair<SteadyTime, std::uint64_t>;
  Timer(EventLoop* loop, Key key) : loop_(loop), key_(key) {}
  EventLoop* loop_ = nullptr;
  Key key_{};
};

/// post() and in_loop() may be called from any thread, everything else only on the loop's own.
class EventLoop {
 public:
  EventLoop();
  /// Runs what has been posted, then ends.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void post(Task task) { inbox_->post(std::move(task)); }
  [[nodiscard]] std::shared_ptr<Inbox> inbox() const { return inbox_; }
  [[nodiscard]] bool in_loop() const { return std::this_thread::get_id() == thread_.get_id(); }
  /// Runs `task` on the loop and returns when it, and what it posted itself, has run. On the loop's own thread: runs it in place.
  void run_and_wait(Task task);

  Watch watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> handler);
  Timer after(Seconds delay, Task task);

 private:
  friend class Watch;
  friend class Timer;
  void run();
  void run_tasks();
  void run_timers();
  [[nodiscard]] int wait_ms() const;

  std::shared_ptr<Inbox> inbox_;
  UniqueFd epoll_;
  std::uint64_t next_id_ = 1;
  // Handlers are found by number and never by pointer: an event that was fetched in the same batch for a watch that has ended meanwhile finds nobody.
  std::unordered_map<std::uint64_t, std::shared_ptr<std::function<void(std::uint32_t)>>> handlers_;
  std::map<Timer::Key, Task> timers_;
  std::thread thread_;
};

}  // namespace trainvigil::transport
