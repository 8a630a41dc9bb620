// The configuration: TOML, strict. What it does not know it refuses, with the place and what was probably meant.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainvigil/job.hpp"
#include "trainvigil/result.hpp"
#include "trainvigil/transport.hpp"

namespace trainvigil {

struct HostSettings {
  TransportKind transport = TransportKind::libssh;
  std::optional<Seconds> probe_timeout;  ///< instead of the general one
  friend bool operator==(const HostSettings&, const HostSettings&) = default;
};

struct Config {
  Seconds interval{30};                                    ///< planned distance of two polls of a host
  Seconds heartbeat{600};                                  ///< `run` prints each job at least this often
  Seconds probe_timeout{30};                               ///< one whole look at a host
  std::string state_dir;                                   ///< empty: see default_state_dir
  std::string ssh_config;                                  ///< empty: the user's own
  std::string log_file;                                    ///< empty: stderr alone
  std::vector<Job> jobs;                                   ///< every job has its name, host and interval filled in
  std::map<std::string, HostSettings, std::less<>> hosts;  ///< by the name that jobs use
  friend bool operator==(const Config&, const Config&) = default;
};

/// All that is wrong with a file, in the order of the file; never empty. Each `where` is "file:line:column".
using ConfigErrors = std::vector<Error>;
template <typename T>
using ConfigResult = tl::expected<T, ConfigErrors>;

ConfigResult<Config> parse_config(std::string_view text, const std::string& file);
ConfigResult<Config> load_config(const std::string& path);

/// Effective values as TOML that parse_config reads back to the same Config.
std::string show_config(const Config& config);
/// One `[[job]]` table, without what the config gives every job.
std::string show_job(const Job& job);
/// The commented example: it parses to the defaults, and shows every key.
std::string_view example_config();
/// Every key that is understood: "interval", "job.name", "host.transport" …
std::vector<std::string> config_keys();

using Environment = std::function<std::optional<std::string>(const char* name)>;
/// The file to read by the order of the contract: `given`, $TRAINVIGIL_CONFIG, ./trainvigil.toml, the user's, the system's. The first two are taken
/// whether or not they exist, so that a slip in them is an error; nothing when none of the others is there.
std::optional<std::string> find_config(const std::optional<std::string>& given, const Environment& environment);
/// The directory for the history: `given`, $STATE_DIRECTORY, `configured`, $XDG_STATE_HOME/trainvigil, ~/.local/state/trainvigil.
Result<std::string> find_state_dir(const std::optional<std::string>& given, const std::string& configured, const Environment& environment);

/// What is wrong with one value, as a sentence; nothing when it is right. Shared by config and command line.
std::optional<std::string> regex_fault(const std::string& pattern);
std::optional<std::string> host_fault(std::string_view host);
std::optional<std::string> name_fault(std::string_view name);
/// What is wrong with a job as a whole.
std::optional<Error> job_fault(const Job& job);

/// `host` and the last part of the directory or pattern.
std::string default_job_name(const Job& job);

}  // namespace trainvigil
