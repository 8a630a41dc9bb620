// Host keys, judged with OpenSSH's meaning. libssh's own check is not used: it differs in 6 of 17 tested files, takes a key that the file revokes,
// and reads the whole file twice on every connect. `ssh-keygen -F` finds the lines (hashes, wildcards, negation, markers, several files); comparing
// keys is done here.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "transport/failure.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {

struct KnownKey {
  enum class Marker { none, revoked, authority };
  std::string file;
  int line = 0;
  Marker marker = Marker::none;
  std::string type;    ///< ssh-ed25519 …
  std::string base64;  ///< the key itself
};

struct KnownHosts {
  std::string name;                    ///< what was asked for, `[host]:port` or the alias
  std::vector<KnownKey> exact;         ///< lines for that name
  std::vector<KnownKey> without_port;  ///< lines for the bare host, which count only when they hold the very key
  std::vector<std::string> revoked;    ///< base64, from RevokedHostKeys
  std::string revoked_trouble;         ///< why RevokedHostKeys could not be read: no key is accepted then
};

/// Reads the output of `ssh-keygen -F`. Pure.
std::vector<KnownKey> parse_keygen(std::string_view text, const std::string& file);

/// Asks all files of the settings. Blocks.
KnownHosts look_up_known_hosts(const SshSettings& settings, Seconds limit, const std::stop_token& stop);

struct HostKey {
  std::string type;  ///< as the key says: ssh-ed25519
  std::string base64;
  std::string fingerprint;  ///< SHA256:…
  /// As ssh names it in its messages: ED25519, RSA, ECDSA.
  [[nodiscard]] std::string short_type() const;
};

struct KeyVerdict {
  enum class Kind { known, unknown, changed, revoked, needs_certificate };
  Kind kind = Kind::unknown;
  const KnownKey* line = nullptr;  ///< the line that decided
};
KeyVerdict judge_host_key(const KnownHosts& known, const HostKey& offered);

/// The words an ssh user knows, with file:line, fingerprint, and the command that mends it.
Fault host_key_fault(const KeyVerdict& verdict, const KnownHosts& known, const HostKey& offered, const std::string& by_hand);

/// The algorithms to ask the server for: those of the configuration that libssh has, types on record first, so that the server proves a key that can
/// be checked.
std::string host_key_preference(const SshSettings& settings, const KnownHosts& known);

/// What StrictHostKeyChecking accept-new means to ssh: the key is added to the first file of UserKnownHostsFile. False when that did not work.
bool remember_host_key(const SshSettings& settings, const KnownHosts& known, const HostKey& key);

}  // namespace trainvigil::transport
