// ProxyCommand and ProxyJump: a child on a socket pair, started and reaped by us. libssh's own way writes to it without MSG_NOSIGNAL (SIGPIPE ends
// the process, trap 13), waits for it without limit (trap 14), and throws its words away (trap 15).
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "transport/engine.hpp"
#include "transport/failure.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {

/// The command that leads to the host; empty: none is needed. Blocks for the jump host's `ssh -G`.
Result<std::vector<std::string>> proxy_command_line(const SshSettings& settings, const std::string& config_file, Seconds limit,
                                                    const std::stop_token& stop);

/// A running proxy. Ended with the object.
class Proxy {
 public:
  explicit Proxy(Engine& engine) : engine_(engine) {}
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  /// Our end of the socket pair.
  Result<UniqueFd> start(const std::vector<std::string>& argv);
  /// What it has said so far, its last words included.
  std::string words();

 private:
  void read_words();
  Engine& engine_;
  pid_t pid_ = -1;
  UniqueFd err_;
  Watch err_watch_;
  std::string words_;
};

/// What a broken connection through a proxy means.
Fault proxy_fault(const SshSettings& settings, const std::string& words, const std::string& by_hand);

}  // namespace trainvigil::transport
