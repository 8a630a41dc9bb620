// The table from "which layer failed, in which words" to what the operator is told: the reach, the sentence, the remedy. All of it is in failure.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainvigil/transport.hpp"

namespace trainvigil::transport {

enum class Layer {
  target,  ///< the name itself, or the ssh configuration
  resolve,
  dial,
  proxy,     ///< ProxyCommand or ProxyJump
  greeting,  ///< connected, but dropped before the other side's banner
  exchange,  ///< key exchange
  host_key_unknown,
  host_key_changed,
  host_key_revoked,
  auth,
  channel,  ///< logged in, but no session or no command was granted
  lost,     ///< the connection broke later
  shell,    ///< the command ran, but it is no /bin/sh that reads the probe
  silence,  ///< the probe did not answer in time
  here,     ///< this machine: no process, no descriptor
};

/// A failure and what the link needs to know besides.
struct Fault {
  Failure failure;
  Layer layer = Layer::here;
};

/// `words`: the failing layer's own, several lines allowed. `by_hand`: what to type behind `ssh` to get there, quoted. `remedy` empty: the table's.
Fault make_fault(Layer layer, std::string_view words, std::string_view by_hand, std::string remedy = {});

/// What the ssh program said on stderr before it exited with 255.
Fault classify_ssh_stderr(std::string_view err, std::string_view by_hand);

/// How the remote command ended before the probe answered.
struct CommandEnd {
  std::optional<int> exit_status;
  std::string signal;  ///< name without SIG; empty: none
};
/// `heard`: the last that came on stdout and stderr.
Fault shell_fault(const CommandEnd& end, std::string_view heard, std::string_view by_hand);

/// One line, control characters as spaces, not longer than `limit` bytes (the end is kept when `keep_end`).
std::string one_line(std::string_view text, std::size_t limit = 400, bool keep_end = false);

/// For commands in remedies: quoted where a shell needs it.
std::string shell_quoted(std::string_view word);

}  // namespace trainvigil::transport
