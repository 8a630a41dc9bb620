// A real shell on two pipes, driven by the real conversation: what a transport does, in a few lines and without a network.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "trainvigil/wire.hpp"

namespace trainvigil::testing {

using Clock = std::chrono::steady_clock;

inline std::vector<std::string> shell_command(const std::string& name) {
  static const std::vector<std::string> folders{"/bin/", "/usr/bin/"};
  const bool busybox = name == "busybox";
  for (const auto& folder : folders) {
    if (::access((folder + name).c_str(), X_OK) != 0) continue;
    if (busybox) return {folder + name, "sh", "-s"};
    return {folder + name, "-s"};
  }
  return {};
}

/// A directory that is gone at the end of the test.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "tv-probe-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name = {}) const { return name.empty() ? path_ : path_ + "/" + name; }
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
  }
  void script(const std::string& name, const std::string& content) const {
    write(name, "#!/bin/sh\n" + content);
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }

 private:
  std::string path_;
};

class Shell {
 public:
  /// `environment` are NAME=VALUE to set; `before` runs first in the same shell, as the start-up files of a login shell would.
  explicit Shell(std::vector<std::string> command, const std::vector<std::string>& environment = {}, bool own_group = true) {
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      if (own_group) ::setsid();
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      for (const std::string& setting : environment) ::putenv(::strdup(setting.c_str()));
      std::vector<char*> argv;
      for (std::string& word : command) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
    ::fcntl(in_, F_SETFL, O_NONBLOCK);
    ::fcntl(out_, F_SETFL, O_NONBLOCK);
    ::signal(SIGPIPE, SIG_IGN);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    close_input();
    if (out_ >= 0) ::close(out_);
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void close_input() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
  }
  /// Waits for the end of the shell; false when it is still there after `limit`.
  bool ended(Seconds limit) {
    const auto until = Clock::now() + limit;
    while (Clock::now() < until) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = -1;
        return true;
      }
      ::usleep(5000);
    }
    return false;
  }

  /// Carries what there is to carry until `until_true` or the limit; false at the limit or when the shell has gone.
  template <typename Predicate>
  bool pump(Conversation& conversation, Seconds limit, Predicate until_true) {
    const auto until = Clock::now() + limit;
    while (!until_true()) {
      if (pending_.empty()) {
        pending_ = conversation.take_output(4096);
        sent += pending_;
      }
      std::array<pollfd, 2> fds{pollfd{out_, POLLIN, 0}, pollfd{pending_.empty() ? -1 : in_, POLLOUT, 0}};
      if (Clock::now() >= until || conversation.broken()) return false;
      ::poll(fds.data(), fds.size(), 20);
      if (fds[1].revents != 0) {
        const auto written = ::write(in_, pending_.data(), pending_.size());
        if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
      }
      if (fds[0].revents != 0) {
        std::array<char, 65536> buffer{};
        const auto count = ::read(out_, buffer.data(), buffer.size());
        if (count == 0) return false;
        if (count > 0) {
          got.append(buffer.data(), static_cast<std::size_t>(count));
          conversation.received(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
        }
      }
    }
    return true;
  }

  /// One whole look.
  std::vector<Observation> look(ProbeConversation& conversation, const LookOptions& options = {}, Seconds limit = Seconds(40)) {
    conversation.ask(options);
    if (!pump(conversation, limit, [&conversation] { return conversation.answered(); })) return {};
    return conversation.take(watcher_time(1));
  }

  /// How often a request of this kind went out.
  [[nodiscard]] int requests(char kind) const {
    const std::string word = std::string("\nTV1 ") + kind + " ";
    int count = 0;
    for (auto at = sent.find(word); at != std::string::npos; at = sent.find(word, at + 1)) ++count;
    return count;
  }

  std::string sent;  ///< the script and all requests
  std::string got;   ///< all answers

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  std::string pending_;
};

inline const FileEntry* find_entry(const Observation& seen, const std::string& path) {
  if (!seen.files) return nullptr;
  for (const FileEntry& entry : seen.files->entries) {
    if (entry.path == path) return &entry;
  }
  return nullptr;
}

inline SensorStatus status_of(const Observation& seen, const std::string& sensor) {
  const auto found = seen.sensors.find(sensor);
  return found == seen.sensors.end() ? SensorStatus::absent : found->second.status;
}

/// Processes of the session that `leader` led, but for zombies.
inline int alive_in_session(pid_t leader) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text) || text.rfind(") ") == std::string::npos) continue;
    char state = 0;
    long ppid = 0, group = 0, session = 0;
    if (std::sscanf(text.c_str() + text.rfind(") ") + 2, "%c %ld %ld %ld", &state, &ppid, &group, &session) == 4 && session == leader && state != 'Z')
      ++count;
  }
  return count;
}

template <typename Predicate>
bool eventually(Seconds limit, Predicate predicate) {
  const auto until = Clock::now() + limit;
  while (!predicate()) {
    if (Clock::now() >= until) return false;
    ::usleep(10000);
  }
  return true;
}

}  // namespace trainvigil::testing
