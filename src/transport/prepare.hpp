// All that has to be known before a connection is dialled; gathered by a worker because every part of it may block.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "transport/dialer.hpp"
#include "transport/identities.hpp"
#include "transport/known_hosts.hpp"
#include "transport/options.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {

struct Preparation {
  SshSettings settings;
  KnownHosts known_hosts;
  std::string host_key_preference;
  Identities identities;
  std::string agent;               ///< socket; empty: none
  std::vector<std::string> proxy;  ///< command line; empty: dial the addresses
  std::vector<Address> addresses;
  std::optional<Address> bind_to;
};

/// Anew for every connect: it takes milliseconds, and what the operator mends counts at once.
tl::expected<Preparation, Fault> prepare(const HostTarget& target, const TransportOptions& limits, const std::stop_token& stop);

}  // namespace trainvigil::transport
