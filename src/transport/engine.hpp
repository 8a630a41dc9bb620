// What all links of a transport share.
#pragma once

#include "transport/event_loop.hpp"
#include "transport/handshake_gate.hpp"
#include "transport/options.hpp"
#include "transport/process.hpp"
#include "transport/threads.hpp"

namespace trainvigil::transport {

struct Engine {
  explicit Engine(const TransportOptions& wanted) : options(wanted), pool(wanted.workers) {}
  TransportOptions options;
  EventLoop loop;
  ChildKeeper children{loop};
  HandshakeGate gate{loop, options.handshakes_at_once};
  WorkerPool pool;  ///< last: it ends first, while the loop still takes its results
};

}  // namespace trainvigil::transport
