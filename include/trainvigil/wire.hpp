// The probe's side of the conversation: what to ask for, and the decoded observations. docs/wire-format.md describes the bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/transport.hpp"

namespace trainvigil {

/// The exact script that runs on watched hosts (src/probe/probe.sh, embedded at build time).
std::string_view probe_script();

struct LookOptions {
  bool verify_all = false;  ///< read the integrity of every file, whole-format (`checkpoints --verify`)
  bool catch_up = false;    ///< no later look will read what this one leaves out: read all files that are new
  bool quick = false;       ///< a confirming look: processes and files, no GPU burst
  Seconds budget{20.0};     ///< what the sensors of this look may take on the host
};

/// One conversation per host; it asks for all jobs of the host in one round trip and remembers between looks what need not be sent or read again
/// (listings, integrity by path, size and mtime, the field list that nvidia-smi accepts).
class ProbeConversation : public Conversation {
 public:
  static std::shared_ptr<ProbeConversation> make(std::vector<Job> jobs, std::uint32_t nonce);
  /// Prepares the next look; the link carries it.
  virtual void ask(const LookOptions& options) = 0;
  /// After the link is done without failure: one observation a job, in the order of the jobs; watcher_time is set to `now`.
  virtual std::vector<Observation> take(WatcherTime now) = 0;
};

/// The observation of a look that failed.
Observation unreachable_observation(const Failure& failure, WatcherTime now);

}  // namespace trainvigil
