// Connects to the first address that answers. libssh's own connect resolves names in place, for 10 s when the name server is mute (trap 2), and tries
// one address only (trap 3).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "trainvigil/result.hpp"
#include "transport/event_loop.hpp"
#include "transport/options.hpp"

namespace trainvigil::transport {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

/// Blocks. `family`: any, inet, inet6 as in AddressFamily.
Result<std::vector<Address>> resolve_addresses(const std::string& host, const std::string& port, const std::string& family);

class Dialer {
 public:
  /// Exactly once, never from within the constructor: a connected blocking socket, or why there is none ("Connection refused").
  using Done = std::function<void(UniqueFd socket, std::string error)>;
  Dialer(EventLoop& loop, const TransportOptions& limits, std::vector<Address> addresses, std::optional<Address> bind_to, Done done);

 private:
  struct Attempt {
    UniqueFd socket;
    Watch watch;
    Timer limit;
  };
  void next();
  void begin(const Address& address);
  void connected(std::list<Attempt>::iterator attempt);
  void failed(std::list<Attempt>::iterator attempt, int error_number);
  void finish(UniqueFd socket);

  EventLoop& loop_;
  Seconds address_limit_;
  std::vector<Address> addresses_;
  std::optional<Address> bind_to_;
  Done done_;
  std::size_t next_ = 0;
  std::list<Attempt> attempts_;
  Timer stagger_;
  std::string error_ = "no address";
};

/// Options every connection of ours has, whoever made it.
void set_stream_options(int fd);

}  // namespace trainvigil::transport
