// A private sshd on 127.0.0.1 with keys, configuration and log of its own in a temporary directory.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;  // NOLINT: POSIX wants it declared by the program

namespace trainvigil::test {

/// Asks again until true; a loaded machine is allowed to be slow.
inline bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "tvtest.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name, std::ios::binary) << text; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

 private:
  std::filesystem::path path_;
};

/// Starts a program with its output in a file; CLOEXEC is the business of whoever made the other descriptors.
inline pid_t start_program(std::vector<std::string> argv, const std::string& output_file) {
  std::vector<char*> arguments;
  for (std::string& argument : argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

inline int run_to_end(const std::vector<std::string>& argv, const std::string& output_file = "/dev/null") {
  const pid_t pid = start_program(argv, output_file);
  int status = -1;
  if (pid > 0) ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A socket that listens on a free port of 127.0.0.1 (and answers nothing by itself).
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int one = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(fd_, 16);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
  int port_ = 0;
};

inline int free_port() { return Listener().port(); }

inline bool port_is_open(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool open = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return open;
}

/// Where Debian, Fedora and others keep it; empty: not installed.
inline std::string find_sshd() {
  for (const char* path : {"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd", "/usr/bin/sshd"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

/// `dir` gets: host_ed25519(.pub), id (.pub) - the user's key, let in -, known_hosts with the right key, sshd_config, sshd.log, ssh_config.
class Sshd {
 public:
  struct Options {
    std::string config;         ///< appended to sshd_config
    std::string client_config;  ///< appended to the Host block of ssh_config
  };

  /// Why no test with an sshd can run here; empty: it can.
  static std::string why_not() {
    if (find_sshd().empty()) return "no sshd is installed";
    if (::geteuid() == 0) {
      // Debian's sshd wants its empty directory, which only its service file makes.
      ::mkdir("/run/sshd", 0755);
      if (::access("/run/sshd", F_OK) != 0) return "/run/sshd is missing and cannot be made";
    }
    return {};
  }

  explicit Sshd(const TempDir& dir) : Sshd(dir, Options{}) {}
  Sshd(const TempDir& dir, const Options& options) : dir_(dir), options_(options), port_(free_port()) {
    make_key("host_ed25519", "ed25519");
    make_key("id", "ed25519");
    dir.write("authorized_keys", dir.read("id.pub"));
    dir.write("known_hosts", "[127.0.0.1]:" + std::to_string(port_) + " " + host_key());
    write_client_config();
    start();
  }
  ~Sshd() { stop(); }
  Sshd(const Sshd&) = delete;
  Sshd& operator=(const Sshd&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string client_config() const { return dir_.path("ssh_config"); }
  [[nodiscard]] std::string log() const { return dir_.read("sshd.log"); }
  [[nodiscard]] std::size_t times_logged(const std::string& text) const {
    const std::string all = log();
    std::size_t count = 0;
    for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++count;
    return count;
  }
  /// "ssh-ed25519 AAAA…\n"
  [[nodiscard]] std::string host_key(const std::string& name = "host_ed25519") const {
    std::istringstream words(dir_.read(name + ".pub"));
    std::string type;
    std::string blob;
    words >> type >> blob;
    return type + " " + blob + "\n";
  }
  void make_key(const std::string& name, const std::string& type, const std::string& passphrase = "") const {
    if (std::filesystem::exists(dir_.path(name))) return;
    run_to_end({"ssh-keygen", "-q", "-t", type, "-N", passphrase, "-C", "test", "-f", dir_.path(name)});
  }

  /// Writes an ssh_config whose Host `gpu1` is this server; `more` goes into its block.
  void write_client_config(const std::string& more = {}) const { dir_.write("ssh_config", client_block(more)); }
  [[nodiscard]] std::string client_block(const std::string& more = {}, const std::string& alias = "gpu1") const {
    return "Host " + alias + "\n  HostName 127.0.0.1\n  Port " + std::to_string(port_) + "\n" + more + options_.client_config + "  User " + user() +
           "\n  IdentityFile " + dir_.path("id") + "\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile " + dir_.path("known_hosts") +
           "\n  GlobalKnownHostsFile /dev/null\n  HashKnownHosts no\n";
  }
  static std::string user() {
    const char* name = std::getenv("USER");
    return ::geteuid() == 0 || name == nullptr ? "root" : name;
  }

  void start() {
    std::string extra;
    if (!more_host_keys_.empty()) extra = more_host_keys_;
    dir_.write("sshd_config", "Port " + std::to_string(port_) + "\nListenAddress 127.0.0.1\n" +
                                  (extra.empty() ? "HostKey " + dir_.path("host_ed25519") + "\n" : extra) + "PidFile none\nAuthorizedKeysFile " +
                                  dir_.path("authorized_keys") +
                                  "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
                                  // bash reads ~/.bashrc even for a command: the start-up files of whoever runs the tests stay out of them.
                                  "SetEnv HOME=" +
                                  dir_.path() + "\nLogLevel VERBOSE\nPrintMotd no\nMaxStartups 200\nUseDNS no\n" + options_.config);
    const std::string listening = "Server listening on";
    const std::size_t before = times_logged(listening);
    pid_ = start_program({find_sshd(), "-D", "-e", "-f", dir_.path("sshd_config")}, dir_.path("sshd.log"));
    if (!eventually([&] { return times_logged(listening) > before; })) throw std::runtime_error("sshd did not start: " + log());
  }
  /// Ends the server and all of its connections, so abruptly that nobody is told.
  void stop() {
    if (pid_ <= 0) return;
    for (const pid_t child : descendants(pid_)) ::kill(child, SIGKILL);
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
  }
  void set_host_keys(const std::vector<std::string>& names) {
    more_host_keys_.clear();
    for (const std::string& name : names) more_host_keys_ += "HostKey " + dir_.path(name) + "\n";
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// All processes below `root`, by /proc.
  static std::vector<pid_t> descendants(pid_t root) {
    std::vector<pid_t> found;
    std::vector<std::pair<pid_t, pid_t>> parents;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream in(entry.path() / "stat");
      std::string stat;
      std::getline(in, stat, '\0');  // does not throw when the process goes away meanwhile
      const std::size_t close = stat.rfind(')');
      if (close == std::string::npos) continue;
      std::istringstream rest(stat.substr(close + 1));
      char state = 0;
      pid_t parent = 0;
      rest >> state >> parent;
      if (state != 'Z') parents.emplace_back(static_cast<pid_t>(std::stol(name)), parent);
    }
    std::vector<pid_t> front = {root};
    while (!front.empty()) {
      const pid_t next = front.back();
      front.pop_back();
      for (const auto& [pid, parent] : parents) {
        if (parent != next) continue;
        found.push_back(pid);
        front.push_back(pid);
      }
    }
    return found;
  }

 private:
  const TempDir& dir_;
  Options options_;
  int port_;
  pid_t pid_ = -1;
  std::string more_host_keys_;
};

}  // namespace trainvigil::test
