#include "transport/threads.hpp"

#include <libssh/libssh.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>

namespace trainvigil::transport {

std::thread quiet_thread(std::function<void()> body) {
  // Blocked before the thread exists, so that there is no moment in which it takes one.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([body = std::move(body)] {
    ssh_set_log_level(SSH_LOG_NOLOG);  // thread-local in libssh (trap 25)
    body();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

struct WorkerPool::State {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable gone;
  std::deque<Job> jobs;
  std::size_t threads = 0;
  std::size_t idle = 0;
  std::stop_source stop;

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      work.wait(lock, [this] { return stop.stop_requested() || !jobs.empty(); });
      --idle;
      if (stop.stop_requested()) break;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job(stop.get_token());
      job = nullptr;  // what it captured may not be freed under the lock
      lock.lock();
    }
    --threads;
    gone.notify_all();
  }
};

WorkerPool::WorkerPool(std::size_t threads) : limit_(threads), state_(std::make_shared<State>()) {}

WorkerPool::~WorkerPool() {
  std::deque<Job> unwanted;
  std::unique_lock lock(state_->mutex);
  state_->stop.request_stop();
  unwanted.swap(state_->jobs);
  state_->work.notify_all();
  state_->gone.wait_for(lock, std::chrono::seconds(1), [this] { return state_->threads == 0; });
}

void WorkerPool::run(Job job) {
  const std::lock_guard lock(state_->mutex);
  if (state_->stop.stop_requested()) return;
  state_->jobs.push_back(std::move(job));
  if (state_->idle < state_->jobs.size() && state_->threads < limit_) {
    ++state_->threads;
    quiet_thread([state = state_] { state->serve(); }).detach();
  }
  state_->work.notify_one();
}

}  // namespace trainvigil::transport
