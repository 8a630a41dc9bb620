// What the user's ssh configuration says about a host, in OpenSSH's own words: `ssh -G` evaluates Host, Match, Include and all the rest exactly as
// ssh does (libssh's parser ignores HostKeyAlias, IdentitiesOnly, CertificateFile and more, and refuses words it does not know).
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/result.hpp"
#include "trainvigil/transport.hpp"

namespace trainvigil::transport {

/// `[user@]host[:port]`, with an IPv6 address in brackets when a port follows.
struct TargetName {
  std::string user;  ///< empty: the configuration's
  std::string host;
  std::string port;
};
/// Refuses what ssh refuses since 9.6: names that a shell or an option parser could take for something else.
Result<TargetName> parse_target(std::string_view name);

struct SshSettings {
  std::string given_host;  ///< as named by the operator: %n
  std::string hostname;
  std::string port = "22";
  std::string user;
  std::string host_key_alias;
  std::string proxy_command;
  std::string proxy_jump;
  std::string identity_agent;  ///< empty: SSH_AUTH_SOCK
  std::string bind_address;
  std::string address_family = "any";
  std::string strict_host_key_checking = "ask";
  std::string revoked_host_keys;
  std::string kex_algorithms, host_key_algorithms, ciphers, macs;
  std::vector<std::string> identity_files, certificate_files, user_known_hosts, global_known_hosts;
  bool identities_only = false;
  bool wants_no_command = false;  ///< SessionType other than the default (OpenSSH 8.7)
  double connect_timeout_s = 0;   ///< 0: not set

  [[nodiscard]] bool accept_new() const { return strict_host_key_checking == "accept-new"; }
  [[nodiscard]] bool has_proxy() const { return !proxy_command.empty() || !proxy_jump.empty(); }
  /// The name that known_hosts is asked for: the alias, or the host with its port when that is not 22.
  [[nodiscard]] std::string known_hosts_name() const;
  /// The second name OpenSSH tries: without the port. The same as the first where there is none or an alias is set.
  [[nodiscard]] std::string bare_known_hosts_name() const;
};

/// Reads the output of `ssh -G`. Pure; unknown keywords are skipped.
SshSettings parse_ssh_g(std::string_view text, const TargetName& target);

/// Replaces OpenSSH's %-tokens. Unknown ones and %C are an error: a path or command that is half right is worse than none.
Result<std::string> expand_tokens(std::string_view text, const SshSettings& settings);
/// The same with a leading ~ and ${VARIABLES}, for file names.
Result<std::string> expand_path(std::string_view text, const SshSettings& settings);

/// The paths of a line of `ssh -G`, which does not quote: words are joined where the joined name is an existing file.
std::vector<std::string> split_paths(std::string_view text);

/// `ssh -G [-F config] [-l user] [-p port] -- host`; blocks for some milliseconds (longer when a Match exec does).
Result<SshSettings> resolve_settings(const HostTarget& target, Seconds limit, const std::stop_token& stop);

/// The options before `-- host` that every ssh we start gets: never a question, never a listening port, never a host key taken unseen.
std::vector<std::string> ssh_command_line(const std::string& config_file, const SshSettings& settings);
/// What to type behind `ssh` to get there by hand, quoted for a shell.
std::string ssh_arguments(const HostTarget& target);

/// Appends -l and -p where the target names them, and `-- host`.
void append_target(std::vector<std::string>& argv, const TargetName& target);

}  // namespace trainvigil::transport
