#include "app/systemd.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstring>

#include "app/setup.hpp"

namespace trainvigil::app {

void notify_service_manager(const std::string& message) {
  const auto path = environment("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!path || path->size() < 2 || path->size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path->data(), path->size());
  // A leading @ stands for the NUL of the abstract name space.
  if (path->front() == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
  // sockaddr's own rule: every address type is passed as this one.
  [[maybe_unused]] const auto ignored =
      ::sendto(fd, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
  ::close(fd);
}

std::optional<Seconds> watchdog_interval() {
  const auto text = environment("WATCHDOG_USEC");
  long long microseconds = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), microseconds).ec != std::errc{} || microseconds <= 0) return std::nullopt;
  return Seconds{static_cast<double>(microseconds) / 2e6};
}

}  // namespace trainvigil::app
