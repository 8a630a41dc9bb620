// Ownership of a libssh session, its descriptor and its one channel.
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "transport/failure.hpp"
#include "transport/fd.hpp"
#include "transport/known_hosts.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {

/// Used by one thread at a time: the loop's, or for the while of an agent log-in a worker's.
class SshSession {
 public:
  /// Takes a connected socket.
  explicit SshSession(UniqueFd socket);
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  /// Nothing of libssh's own: no configuration, no known hosts, no names looked up. An error text, empty when all is well.
  std::string configure(const SshSettings& settings, const std::string& host_key_preference);

  [[nodiscard]] ssh_session get() const { return session_; }
  [[nodiscard]] ssh_channel channel() const { return channel_; }
  /// Ours to watch and to shut down. A number of our own and not libssh's: that one libssh closes on some errors, and the next socket that gets the
  /// number would lose its watch to us.
  [[nodiscard]] int watch_fd() const { return watch_fd_.get(); }
  /// To be asked after every call into libssh: calls that fail may go on saying "again" with the descriptor gone (trap 6).
  [[nodiscard]] bool dead() const;
  [[nodiscard]] std::string error() const;
  [[nodiscard]] std::optional<HostKey> host_key() const;
  /// Lets any thread's call into libssh return at once.
  void interrupt() const;

  bool make_channel();
  /// Lets libssh read what has come and hands it over. Both streams, always: unread bytes of one hide the end of the other (trap 9) and let the
  /// window grow without bound (trap 11). By a callback and not by ssh_channel_read: a read on one stream may fetch bytes of the other, which nothing
  /// would wake us for any more (trap 21).
  struct Received {
    std::string out, err;
    [[nodiscard]] std::size_t size() const { return out.size() + err.size(); }
  };
  Received receive();
  [[nodiscard]] bool at_end() const;
  [[nodiscard]] const CommandEnd& command_end() const { return end_; }
  /// Tells the remote command to go: its process group gets TERM (where sshd grants that), its input ends.
  void end_command();

 private:
  static int on_data(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr, void* self);
  static void on_exit_status(ssh_session, ssh_channel, int status, void* self);
  static void on_exit_signal(ssh_session, ssh_channel, const char* signal, int core, const char* message, const char* language, void* self);

  ssh_session session_ = nullptr;
  ssh_channel channel_ = nullptr;
  ssh_channel_callbacks_struct callbacks_{};  ///< libssh keeps a pointer to it for the channel's life
  CommandEnd end_;
  Received received_;
  UniqueFd watch_fd_;
  int libssh_fd_ = -1;
  ino_t inode_ = 0;
  bool failed_ = false;  ///< a protocol error, which leaves the descriptor open
};

}  // namespace trainvigil::transport
