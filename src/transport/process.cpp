#include "transport/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

extern char** environ;  // NOLINT: POSIX wants it declared by the program

namespace trainvigil::transport {
namespace {

constexpr std::size_t kOutputLimit = std::size_t{4} << 20U;

/// The environment for children: an ssh that may not ask must not ask by a window either.
std::vector<char*> child_environment() {
  static char no_askpass[] = "SSH_ASKPASS_REQUIRE=never";
  std::vector<char*> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "SSH_ASKPASS_REQUIRE=", 20) != 0) result.push_back(*entry);
  }
  result.push_back(no_askpass);
  result.push_back(nullptr);
  return result;
}

void set_stdio(posix_spawn_file_actions_t& actions, int from, int to) {
  if (from >= 0) {
    posix_spawn_file_actions_adddup2(&actions, from, to);
  } else {
    posix_spawn_file_actions_addopen(&actions, to, "/dev/null", to == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  }
}

/// Appends what can be read now. False at the end of the stream.
bool read_some(int fd, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

Result<pid_t> spawn(const std::vector<std::string>& argv, Stdio stdio) {
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  set_stdio(actions, stdio.in, STDIN_FILENO);
  set_stdio(actions, stdio.out, STDOUT_FILENO);
  set_stdio(actions, stdio.err, STDERR_FILENO);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), child_environment().data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail("cannot start " + argv[0] + ": " + error_text(error));
  return pid;
}

Result<ProgramResult> run_program(const std::vector<std::string>& argv, Seconds limit, const std::stop_token& stop) {
  FdPair out = make_pipe();
  FdPair err = make_pipe();
  if (!out.valid() || !err.valid()) return fail("cannot start " + argv[0] + ": " + error_text(errno));
  const auto pid = spawn(argv, {-1, out.second.get(), err.second.get()});
  if (!pid) return tl::unexpected(pid.error());
  out.second.reset();
  err.second.reset();

  ProgramResult result;
  std::string trouble;
  const SteadyTime end = SteadyClock::now() + steady(limit);
  while (trouble.empty() && (out.first || err.first)) {
    std::array<pollfd, 2> polls{{{out.first.get(), POLLIN, 0}, {err.first.get(), POLLIN, 0}}};
    constexpr int kLookAtTokenMs = 50;
    ::poll(polls.data(), polls.size(), kLookAtTokenMs);
    if (polls[0].revents != 0 && !read_some(out.first.get(), result.out)) out.first.reset();
    if (polls[1].revents != 0 && !read_some(err.first.get(), result.err)) err.first.reset();
    if (result.out.size() + result.err.size() > kOutputLimit) trouble = " printed without end";
    if (SteadyClock::now() > end) trouble = " did not come to an end";
    if (stop.stop_requested()) trouble = " was interrupted";
  }
  if (!trouble.empty()) ::kill(-*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!trouble.empty()) return fail(argv[0] + trouble);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

void ChildKeeper::keep(pid_t pid, OnExit on_exit) {
  Child& child = children_[pid];
  child.on_exit = std::move(on_exit);
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // CLOEXEC by definition; Linux 5.3
  if (child.pidfd) {
    child.watch = loop_.watch(child.pidfd.get(), EPOLLIN, [this, pid](std::uint32_t) { reap(pid); });
  } else {
    poll_later(pid);
  }
}

void ChildKeeper::poll_later(pid_t pid) {
  const auto found = children_.find(pid);
  if (found != children_.end()) found->second.timer = loop_.after(Seconds{0.1}, [this, pid] { reap(pid); });
}

void ChildKeeper::reap(pid_t pid) {
  const auto found = children_.find(pid);
  if (found == children_.end()) return;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
    if (!found->second.pidfd) poll_later(pid);
    return;
  }
  // What it left in its process group goes with it. While it is not reaped its number, and so the group's, is nobody else's.
  ::kill(-pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  const OnExit on_exit = std::move(found->second.on_exit);
  children_.erase(found);
  if (on_exit) on_exit(status);
}

void ChildKeeper::end(pid_t pid) {
  const auto found = children_.find(pid);
  if (found == children_.end()) return;  // reaped already: the number may belong to somebody else now
  found->second.on_exit = nullptr;
  ::kill(-pid, SIGTERM);
  ::kill(-pid, SIGCONT);  // a stopped process takes its TERM only then
  constexpr Seconds kGrace{2.0};
  found->second.timer = loop_.after(kGrace, [this, pid] {
    ::kill(pid, SIGKILL);
    poll_later(pid);
  });
}

void ChildKeeper::shut_down() {
  for (const auto& [pid, child] : children_) ::kill(-pid, SIGTERM);
  const SteadyTime patience = SteadyClock::now() + std::chrono::milliseconds(500);
  for (const auto& [pid, child] : children_) {
    int status = 0;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
      if (SteadyClock::now() > patience) ::kill(pid, SIGKILL);
      if (SteadyClock::now() > patience + std::chrono::milliseconds(500)) break;  // in the kernel's hands
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  children_.clear();
}

}  // namespace trainvigil::transport
