// Children: started with posix_spawn only. A fork of a process with threads and ssh sessions may do next to nothing safely, and its descriptors are
// those sessions' (trap 28).
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "trainvigil/result.hpp"
#include "trainvigil/time.hpp"
#include "transport/event_loop.hpp"

namespace trainvigil::transport {

struct Stdio {
  int in = -1;  ///< -1: /dev/null
  int out = -1;
  int err = -1;
};

/// Starts argv[0] (searched in PATH) in a session of its own: no terminal that it could ask for a password or get a Ctrl-C from, and one process
/// group to end it by. Signals are as after login whatever this process ignores or blocks.
Result<pid_t> spawn(const std::vector<std::string>& argv, Stdio stdio);

struct ProgramResult {
  int exit_status = -1;  ///< -1: killed by a signal
  std::string out;
  std::string err;
};

/// Runs a program to its end; for worker threads. Output beyond 4 MiB and programs that take longer than `limit` are an error; they are killed.
Result<ProgramResult> run_program(const std::vector<std::string>& argv, Seconds limit, const std::stop_token& stop);

/// Reaps the children of the loop, each by its own number: a wait for any child would steal those of the application.
class ChildKeeper {
 public:
  explicit ChildKeeper(EventLoop& loop) : loop_(loop) {}
  /// Ends all that is left; waits at most a second in all. Called on the loop's thread.
  void shut_down();

  using OnExit = std::function<void(int wait_status)>;
  void keep(pid_t pid, OnExit on_exit);
  /// TERM to the process group, KILL to the process itself two seconds later; on_exit is no longer called. What the kernel does not let die is reaped
  /// when it does. KILL never goes to the group: a killed nvidia-smi can wedge its GPU until the next boot.
  void end(pid_t pid);

 private:
  struct Child {
    UniqueFd pidfd;
    Watch watch;
    Timer timer;
    OnExit on_exit;
  };
  void reap(pid_t pid);
  void poll_later(pid_t pid);

  EventLoop& loop_;
  std::map<pid_t, Child> children_;
};

}  // namespace trainvigil::transport
