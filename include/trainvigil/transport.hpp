// The way to a remote `/bin/sh`: a conversation (pure protocol, no I/O) is carried by a link (I/O, no protocol).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trainvigil/observation.hpp"
#include "trainvigil/time.hpp"

namespace trainvigil {

/// Why a host could not be looked at. `reach` is never Reach::ok.
struct Failure {
  Reach reach = Reach::connect_failed;
  std::string what;    ///< the failing layer's own words, made one line
  std::string remedy;  ///< the command or setting that mends it
  bool retry = true;   ///< false: pointless before the operator acts (authentication, host key)
};

/// A protocol spoken with one remote sh; implemented in core/wire (ProbeConversation) and by tests. Not thread safe: the link calls it from one
/// thread while a look runs; between looks the owner may call it. Performs no I/O and knows no clock.
class Conversation {
 public:
  virtual ~Conversation() = default;
  /// A fresh remote sh has been started: forget everything about an earlier one; the script is the next output.
  virtual void opened() = 0;
  /// Bytes to write now, at most `limit`; empty when there is nothing. What is returned counts as written.
  virtual std::string take_output(std::size_t limit) = 0;
  virtual void received(std::string_view out) = 0;
  virtual void received_error(std::string_view err) = 0;
  /// The remote script has announced itself. Requests are written only afterwards.
  [[nodiscard]] virtual bool ready() const = 0;
  /// The look asked for is answered completely.
  [[nodiscard]] virtual bool answered() const = 0;
  /// More bytes than these in one look are a flood, and the look fails.
  [[nodiscard]] virtual std::size_t most_bytes() const { return std::size_t{8} << 20U; }
  /// The other side does not speak the protocol (too much noise, wrong version): the look fails.
  [[nodiscard]] virtual std::optional<Failure> broken() const = 0;
  /// Time is nearly up (about 80 % of the look's limit): ask for what hangs to be ended; called at most once a look.
  virtual void hurry() = 0;
  /// The limit has passed. True: enough has arrived, the rest is reported as sensors that timed out, and the link may stay open; false: failure.
  virtual bool settle_for_less() = 0;
};

/// One host. Connects on the first look and stays connected; reconnects with back-off by itself on later looks.
class HostLink {
 public:
  virtual ~HostLink() = default;
  using Done = std::function<void(std::optional<Failure>)>;
  /// Carries one look: connect if needed, feed the script, exchange until answered() or the limit. `done` is called exactly once, from a thread of
  /// the transport. One look at a time per link.
  virtual void look(std::shared_ptr<Conversation> conversation, Seconds limit, Done done) = 0;
  /// Ends the connection; a running look fails. Nothing stays on the watched host.
  virtual void close() = 0;
};

enum class TransportKind { libssh, openssh, local };

struct HostTarget {
  std::string name;  ///< `[user@]host[:port]`, alias, or "local"
  TransportKind kind = TransportKind::libssh;
  std::string ssh_config;  ///< -F FILE; empty: the user's own
};

/// Owns the loop thread and the worker pool; outlives its links.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<HostLink> link(const HostTarget& target) = 0;
};

/// `local` when target.name is "local" whatever the kind says.
std::unique_ptr<Transport> make_transport();

}  // namespace trainvigil
