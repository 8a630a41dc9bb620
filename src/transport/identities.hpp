// The keys that the configuration names, and what an agent may be asked for.
#pragma once

#include <libssh/libssh.h>

#include <memory>
#include <string>
#include <vector>

#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {

struct KeyFree {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using SshKey = std::unique_ptr<ssh_key_struct, KeyFree>;

struct Identity {
  std::string path;
  SshKey key;  ///< private; with its certificate when one is named
};

struct Identities {
  std::vector<Identity> usable;
  std::vector<std::string> agent_first;  ///< public keys (base64) of named identities: what IdentitiesOnly allows the agent to offer
  std::vector<std::string> notes;        ///< why a named identity cannot be used: "~/.ssh/id_rsa is encrypted"
};

/// Reads the files; never asks for a passphrase: an encrypted key is one for the agent. Blocks.
Identities load_identities(const SshSettings& settings);

/// The agent's socket, or empty when there is none or IdentityAgent says none.
std::string agent_socket(const SshSettings& settings);

std::string public_base64(ssh_key key);

}  // namespace trainvigil::transport
