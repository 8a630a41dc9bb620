// Threads of the transport, and the pool for calls that block.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "trainvigil/time.hpp"

namespace trainvigil::transport {

/// A thread that takes no signals: those belong to the application's threads, and a SIGPIPE raised here stays pending for ever.
std::thread quiet_thread(std::function<void()> body);

/// Runs what blocks: getaddrinfo, `ssh -G`, `ssh-keygen -F`, key files, agents. Jobs get a token and are to return soon once it is stopped.
class WorkerPool {
 public:
  using Job = std::function<void(const std::stop_token&)>;
  explicit WorkerPool(std::size_t threads);
  /// Stops; waits a second for jobs to return. One that hangs in the C library (a mute name server) is left behind: it holds nothing of ours.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void run(Job job);

 private:
  struct State;
  std::size_t limit_;
  std::shared_ptr<State> state_;
};

}  // namespace trainvigil::transport
