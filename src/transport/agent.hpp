// Log-in with the keys of an ssh-agent. For worker threads: it blocks until agent and server have answered (trap 4).
#pragma once

#include <libssh/libssh.h>

#include <stop_token>
#include <string>
#include <vector>

#include "trainvigil/time.hpp"

namespace trainvigil::transport {

struct AgentPlan {
  std::string socket;
  std::vector<std::string> first;  ///< public keys (base64) to offer before others
  bool only_these = false;         ///< IdentitiesOnly
  std::size_t most = 6;            ///< how many the server may still be offered: its MaxAuthTries is 6 by default (trap 5)
};

struct AgentOutcome {
  int result = SSH_AUTH_DENIED;  ///< SSH_AUTH_…
  std::size_t offered = 0;
  std::size_t held = 0;  ///< how many the agent has in all
  std::string trouble;   ///< why the agent could not be asked
};

AgentOutcome authenticate_with_agent(ssh_session session, const std::string& user, const AgentPlan& plan, Seconds limit, const std::stop_token& stop);

/// The agent's list of identities, cut and sorted by the plan; what cannot be read is left as it is. Pure. `payload`: an
/// SSH2_AGENT_IDENTITIES_ANSWER.
std::string filter_identities(const std::string& payload, const AgentPlan& plan, AgentOutcome& outcome);

}  // namespace trainvigil::transport
