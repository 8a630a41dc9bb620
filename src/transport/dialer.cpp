#include "transport/dialer.hpp"

#include <netdb.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace trainvigil::transport {
namespace {

/// Then the next address gets its chance beside the first (RFC 8305 asks for 250 ms).
constexpr Seconds kStagger{0.25};

void set_tcp_options(int fd) {
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  // A black hole is noticed after this time without an acknowledgement; by default it takes a quarter of an hour (trap 20).
  constexpr int kUserTimeoutMs = 20'000;
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 20);
}

}  // namespace

void set_stream_options(int fd) {
  // libssh clears O_NONBLOCK after the connect, and setting it again makes EAGAIN a fatal error: a write that does not fit waits, but not for ever
  // (trap 1).
  const timeval second{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

Result<std::vector<Address>> resolve_addresses(const std::string& host, const std::string& port, const std::string& family) {
  addrinfo hints{};
  hints.ai_family = family == "inet" ? AF_INET : family == "inet6" ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port.empty() ? nullptr : port.c_str(), &hints, &found);
  if (error != 0) return fail(error == EAI_SYSTEM ? error_text(errno) : ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Address address;
    address.size = one->ai_addrlen;
    std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen, reinterpret_cast<char*>(&address.storage));
    addresses.push_back(address);
  }
  return addresses;
}

Dialer::Dialer(EventLoop& loop, const TransportOptions& limits, std::vector<Address> addresses, std::optional<Address> bind_to, Done done)
    : loop_(loop), address_limit_(limits.dial_address_limit), addresses_(std::move(addresses)), bind_to_(bind_to), done_(std::move(done)) {
  stagger_ = loop_.after(Seconds{0}, [this] { next(); });
}

void Dialer::next() {
  if (next_ < addresses_.size()) {
    stagger_ = loop_.after(kStagger, [this] { next(); });
    return begin(addresses_[next_++]);
  }
  if (attempts_.empty()) finish({});
}

void Dialer::begin(const Address& address) {
  const auto attempt = attempts_.emplace(attempts_.end());
  attempt->socket.reset(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = attempt->socket.get();
  if (fd < 0) return failed(attempt, errno);
  set_tcp_options(fd);
  if (bind_to_ && ::bind(fd, reinterpret_cast<const sockaddr*>(&bind_to_->storage), bind_to_->size) != 0) return failed(attempt, errno);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0 && errno != EINPROGRESS) return failed(attempt, errno);
  attempt->watch = loop_.watch(fd, EPOLLOUT, [this, attempt](std::uint32_t) { connected(attempt); });
  attempt->limit = loop_.after(address_limit_, [this, attempt] { failed(attempt, ETIMEDOUT); });
}

void Dialer::connected(std::list<Attempt>::iterator attempt) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(attempt->socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return failed(attempt, error);
  attempt->watch.reset();
  finish(std::move(attempt->socket));
}

void Dialer::failed(std::list<Attempt>::iterator attempt, int error_number) {
  error_ = error_text(error_number);
  attempts_.erase(attempt);
  // Not from here: begin() may be our caller.
  if (next_ < addresses_.size() || attempts_.empty()) stagger_ = loop_.after(Seconds{0}, [this] { next(); });
}

void Dialer::finish(UniqueFd socket) {
  stagger_.reset();
  attempts_.clear();
  const Done done = std::move(done_);
  const std::string error = socket ? std::string{} : error_;
  done(std::move(socket), error);  // may destroy this
}

}  // namespace trainvigil::transport
