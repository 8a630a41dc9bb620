#include "app/wake.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace trainvigil::app {
namespace {

std::atomic<int> g_stop_descriptor{-1};
std::atomic<bool> g_stopping{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void add_one(int fd) {
  const std::uint64_t one = 1;
  // A full counter wakes as well as one more would.
  [[maybe_unused]] const auto ignored = ::write(fd, &one, sizeof one);
}

void on_stop(int) {
  const int saved = errno;
  g_stopping = true;
  const int fd = g_stop_descriptor;
  if (fd >= 0) add_one(fd);
  errno = saved;
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // nohup asked to outlive the terminal: what is ignored stays ignored.
    if (signal == SIGHUP && sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

Waker::Waker() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Waker::~Waker() { ::close(fd_); }

void Waker::wake() const { add_one(fd_); }

void Waker::wait(Seconds limit) const {
  constexpr double kLongest_ms = 3'600'000;
  const double ms = std::clamp(std::ceil(limit.count() * 1000), 0.0, kLongest_ms);
  pollfd entry{fd_, POLLIN, 0};
  if (::poll(&entry, 1, static_cast<int>(ms)) <= 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto ignored = ::read(fd_, &count, sizeof count);
}

StopSignals::StopSignals(const Waker& waker) {
  g_stopping = false;
  g_stop_descriptor = waker.descriptor();
  install(on_stop);
}

StopSignals::~StopSignals() {
  install(SIG_DFL);
  g_stop_descriptor = -1;
}

bool StopSignals::stopping() { return g_stopping; }

}  // namespace trainvigil::app
