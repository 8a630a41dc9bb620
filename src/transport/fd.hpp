// Ownership of a file descriptor, and the ways to make one. Every descriptor made here is CLOEXEC: hooks and children of the process inherit nothing.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace trainvigil::transport {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

struct FdPair {
  UniqueFd first;   ///< pipe: the reading end; socket pair: ours
  UniqueFd second;  ///< pipe: the writing end; socket pair: the child's
  [[nodiscard]] bool valid() const { return first.valid() && second.valid(); }
};

/// Blocking, CLOEXEC, never 0, 1 or 2 (a daemon started without stdio would otherwise hand its child the wrong one). Invalid on failure, errno set.
FdPair make_pipe();
FdPair make_socket_pair();

/// The same open file under a further number above 2, CLOEXEC.
UniqueFd duplicate(int fd);

bool set_nonblocking(int fd);

/// strerror without its thread trouble.
std::string error_text(int error_number);

}  // namespace trainvigil::transport
