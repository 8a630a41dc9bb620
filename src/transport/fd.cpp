#include "transport/fd.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <system_error>

namespace trainvigil::transport {
namespace {

FdPair above_stdio(int first, int second) {
  FdPair pair{UniqueFd(first), UniqueFd(second)};
  if (first <= STDERR_FILENO) pair.first = duplicate(first);
  if (second <= STDERR_FILENO) pair.second = duplicate(second);
  return pair;
}

}  // namespace

FdPair make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return {};
  return above_stdio(fds[0], fds[1]);
}

FdPair make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return {};
  return above_stdio(fds[0], fds[1]);
}

UniqueFd duplicate(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)); }

bool set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

std::string error_text(int error_number) { return std::generic_category().message(error_number); }

}  // namespace trainvigil::transport
