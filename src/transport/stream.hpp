// A stream to one remote `/bin/sh`: how the bytes get there, no word about what they mean. The link (link.hpp) pumps a conversation through it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trainvigil/transport.hpp"
#include "transport/failure.hpp"

namespace trainvigil::transport {

struct Engine;

/// How a stream came to its end.
struct StreamEnd {
  enum class Kind {
    failed,  ///< there never was a remote command: `fault` says why
    exited,  ///< the remote command ended: `command`
    lost,    ///< the connection broke under the running command: `fault`
  };
  Kind kind = Kind::failed;
  Fault fault;
  CommandEnd command;
};

/// What a stream tells its link. Never called from within start() or write(), and not at all after close().
class StreamOwner {
 public:
  /// The remote command has been started, or will find its input when it is.
  virtual void opened() = 0;
  virtual void received(std::string_view out) = 0;
  virtual void received_error(std::string_view err) = 0;
  /// After a short write(): there is room again.
  virtual void writable() = 0;
  virtual void ended(StreamEnd end) = 0;

 protected:
  ~StreamOwner() = default;
};

/// Lives on the loop's thread.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void start(StreamOwner& owner) = 0;
  /// Takes what there is room for. At most kMostOutstanding bytes are given before the other side has answered.
  virtual std::size_t write(std::string_view bytes) = 0;
  /// Ends connection and remote command; silent from then on.
  virtual void close() = 0;
  /// What to say when time ran out before the shell could be written to.
  [[nodiscard]] virtual Fault stuck() const = 0;
  /// How long the remote script may take to announce itself after opened().
  [[nodiscard]] virtual Seconds ready_limit() const = 0;
};

/// Never near the socket's send buffer: libssh clears O_NONBLOCK after the connect, and a write that does not fit sits in send() (trap 1).
inline constexpr std::size_t kMostOutstanding = 4096;

std::shared_ptr<Stream> make_local_stream(Engine& engine);
std::shared_ptr<Stream> make_openssh_stream(Engine& engine, const HostTarget& target);
std::shared_ptr<Stream> make_libssh_stream(Engine& engine, const HostTarget& target);

}  // namespace trainvigil::transport
