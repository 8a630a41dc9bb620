// Limits of the transport. The defaults are those of docs/transport.md; tests shorten them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "trainvigil/time.hpp"
#include "trainvigil/transport.hpp"

namespace trainvigil::transport {

struct TransportOptions {
  std::size_t workers = 8;
  std::size_t handshakes_at_once = 32;  ///< a log-in costs a watched host about 30 ms of CPU, and a jump host as much for each target behind it
  Seconds prepare_limit{10};            ///< configuration, known hosts, names
  Seconds dial_address_limit{5};
  Seconds dial_limit{10};
  Seconds exchange_limit{10};
  Seconds auth_limit{10};
  Seconds agent_limit{20};
  Seconds command_limit{10};  ///< session and command granted
  Seconds ready_limit{20};    ///< the script announces itself; start-up files of log-in shells take their time on a loaded host
  Seconds back_off_first{5};
  Seconds back_off_most{300};
  /// After a wrong host key or a refused log-in. Shorter than the usual interval: what the operator has mended is seen at the next look. OpenSSH 9.8
  /// penalises a refused log-in with 5 s (PerSourcePenalties), which are over by then.
  Seconds back_off_refused{20};
  Seconds back_off_busy{30};  ///< after a drop before the banner
  Seconds keepalive{60};      ///< an idle connection is told that it is alive
};

std::unique_ptr<Transport> make_transport(const TransportOptions& options);

}  // namespace trainvigil::transport
