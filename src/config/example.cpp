// The commented example that `config init` writes; config/trainvigil.toml is the same text (a test holds that).
#include "trainvigil/config.hpp"

namespace trainvigil {

std::string_view example_config() {
  return R"toml(# trainvigil.toml: which training jobs are watched, and how.
# Read from --config FILE, $TRAINVIGIL_CONFIG, ./trainvigil.toml, $XDG_CONFIG_HOME/trainvigil/trainvigil.toml (~/.config when unset) or
# /etc/trainvigil/trainvigil.toml, whichever is there first. `trainvigil config check` reads it without starting anything.
# What stands below without a mark is the default. A line that begins with # and no blank is a setting that is off.

# How often a host is looked at.
interval = "30s"

# `run` prints every job at least this often, even when nothing changes.
heartbeat = "10m"

# The limit of one whole look at a host: connecting, asking, answering.
probe_timeout = "30s"

# Where the history is kept; off: $STATE_DIRECTORY, $XDG_STATE_HOME/trainvigil, ~/.local/state/trainvigil.
#state_dir = "/var/lib/trainvigil"

# Another file than ~/.ssh/config for host aliases, keys and jump hosts.
#ssh_config = "/etc/trainvigil/ssh_config"

# The log of `run` goes there as well as to stderr; five files of 5 MB are kept.
#log_file = "/var/log/trainvigil.log"

# A job: at least a host and one of checkpoints and process.
#[[job]]
# Off: host and the last part of the directory or pattern.
#name = "eagle3-10k"
# An alias of ~/.ssh/config, [user@]host[:port], or "local".
#host = "gpu1"
# The directory that the run saves into, as it is named on the watched host.
#checkpoints = "/data/eagle3/output_10k"
# A POSIX extended regular expression (as for grep -E) that the command line of the training process matches.
#process = "04_train"
# How much there is to do, in what the checkpoints count; or steps = 20000.
#epochs = 5
# The file that the run prints into.
#log = "/data/eagle3/train.log"
# What the log says when the run ended well.
#end_mark = "Training (completed|finished)"
# What a run like this one took in all.
#expected = "2h35m"
# When it must be done: 18:00 (the next one), 2026-11-30 18:00 (local time), 2026-11-30T18:00:00Z.
#deadline = "2026-11-30 18:00"
# Call it stalled after this time instead of what its own rhythm teaches.
#stall_after = "30m"
# Warn when no process is there after this time.
#start_within = "1h"
# Several jobs on one host are told apart by user, process number or GPUs.
#user = "alice"
#pid = 4242
#gpus = [0, 1]
# Look at this job more or less often than at the others.
#interval = "1m"

# How a host is reached. The name is the one that jobs use.
#[host.gpu1]
# "libssh": one connection that stays open; "openssh": the ssh program, with your ControlPath, two-factor logins, FIDO keys.
#transport = "libssh"
#probe_timeout = "30s"
)toml";
}

std::vector<std::string> config_keys() {
  return {"interval",        "heartbeat",        "probe_timeout", "state_dir", "ssh_config", "log_file",     "job.name",       "job.host",
          "job.checkpoints", "job.process",      "job.epochs",    "job.steps", "job.log",    "job.end_mark", "job.expected",   "job.deadline",
          "job.stall_after", "job.start_within", "job.user",      "job.pid",   "job.gpus",   "job.interval", "host.transport", "host.probe_timeout"};
}

}  // namespace trainvigil
