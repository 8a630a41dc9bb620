#include "transport/ssh_settings.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>

#include "transport/failure.hpp"
#include "transport/process.hpp"

namespace trainvigil::transport {
namespace {

/// What ssh 9.6 forbids in names from its command line, and white space and control characters.
bool harmless(std::string_view name) {
  static constexpr std::string_view kForbidden = "'`\"$\\;&<>|(){}";
  return !name.empty() && name.front() != '-' && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || kForbidden.find(c) != std::string_view::npos;
  });
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos &&
         std::atoi(std::string(text).c_str()) <= 65535;
}

std::string home_directory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_dir : "/";
}

std::string local_user() {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(::getuid());
}

std::string local_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::optional<std::string> token(char letter, const SshSettings& s) {
  switch (letter) {
    case '%':
      return "%";
    case 'h':
      return s.hostname;
    case 'n':
      return s.given_host;
    case 'p':
      return s.port;
    case 'r':
      return s.user;
    case 'k':
      return s.host_key_alias.empty() ? s.given_host : s.host_key_alias;
    case 'j':
      return s.proxy_jump;
    case 'd':
      return home_directory();
    case 'i':
      return std::to_string(::getuid());
    case 'u':
      return local_user();
    case 'l':
      return local_host();
    case 'L':
      return local_host().substr(0, local_host().find('.'));
    default:
      return std::nullopt;
  }
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string unless_none(std::string_view value) { return value == "none" ? std::string{} : std::string(value); }

}  // namespace

Result<TargetName> parse_target(std::string_view name) {
  const std::string remedy = "Write a host as [user@]host[:port] or as an alias of ~/.ssh/config";
  TargetName target;
  std::string_view rest = name;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    target.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    // A backslash may stand in the names of Windows domains; a user never reaches a shell except by %r, which is checked there again.
    std::string checked = target.user;
    std::replace(checked.begin(), checked.end(), '\\', '/');
    if (!harmless(checked)) return fail("'" + one_line(name) + "' has a user name that ssh would refuse", remedy);
  }
  if (!rest.empty() && rest.front() == '[') {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return fail("'" + one_line(name) + "' has a [ without ]", remedy);
    target.host = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    if (!rest.empty() && rest.front() != ':') return fail("'" + one_line(name) + "' goes on after ]", remedy);
  } else {
    const bool address = std::count(rest.begin(), rest.end(), ':') > 1;  // a bare IPv6 address
    const std::size_t colon = address ? std::string_view::npos : rest.find(':');
    target.host = rest.substr(0, colon);
    rest.remove_prefix(std::min(colon, rest.size()));
  }
  if (!rest.empty()) {
    target.port = rest.substr(1);
    if (!is_port(target.port)) return fail("'" + one_line(name) + "' has no good port number", remedy);
  }
  if (!harmless(target.host)) return fail("'" + one_line(name) + "' is no host name", remedy);
  return target;
}

std::string SshSettings::bare_known_hosts_name() const {
  std::string name = !host_key_alias.empty() ? host_key_alias : hostname;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name;
}

std::string SshSettings::known_hosts_name() const {
  return host_key_alias.empty() && port != "22" ? "[" + bare_known_hosts_name() + "]:" + port : bare_known_hosts_name();
}

SshSettings parse_ssh_g(std::string_view text, const TargetName& target) {
  SshSettings s;
  s.given_host = target.host;
  s.hostname = target.host;
  const std::map<std::string_view, std::string*> plain = {
      {"hostname", &s.hostname},
      {"port", &s.port},
      {"user", &s.user},
      {"bindaddress", &s.bind_address},
      {"addressfamily", &s.address_family},
      {"stricthostkeychecking", &s.strict_host_key_checking},
      {"kexalgorithms", &s.kex_algorithms},
      {"hostkeyalgorithms", &s.host_key_algorithms},
      {"ciphers", &s.ciphers},
      {"macs", &s.macs},
  };
  const std::map<std::string_view, std::string*> or_none = {{"hostkeyalias", &s.host_key_alias},
                                                            {"proxycommand", &s.proxy_command},
                                                            {"proxyjump", &s.proxy_jump},
                                                            {"revokedhostkeys", &s.revoked_host_keys}};
  const std::map<std::string_view, std::vector<std::string>*> lists = {{"identityfile", &s.identity_files},
                                                                       {"certificatefile", &s.certificate_files}};
  const std::map<std::string_view, std::vector<std::string>*> paths = {{"userknownhostsfile", &s.user_known_hosts},
                                                                       {"globalknownhostsfile", &s.global_known_hosts}};
  for (const std::string_view line : split_lines(text)) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view key = line.substr(0, space);
    const std::string_view value = line.substr(std::min(space + 1, line.size()));
    if (const auto found = plain.find(key); found != plain.end()) {
      *found->second = value;
    } else if (const auto other = or_none.find(key); other != or_none.end()) {
      *other->second = unless_none(value);
    } else if (const auto list = lists.find(key); list != lists.end()) {
      if (value != "none") list->second->emplace_back(value);
    } else if (const auto path = paths.find(key); path != paths.end()) {
      if (value != "none") *path->second = split_paths(value);
    } else if (key == "identityagent") {
      s.identity_agent = value;
    } else if (key == "identitiesonly") {
      s.identities_only = value == "yes";
    } else if (key == "sessiontype") {
      s.wants_no_command = value != "default";
    } else if (key == "connecttimeout") {
      s.connect_timeout_s = std::atof(std::string(value).c_str());
    }
  }
  return s;
}

std::vector<std::string> split_paths(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<std::string> paths;
  for (std::size_t first = 0; first < words.size();) {
    std::string path = words[first];
    std::string joined = path;
    std::size_t last = first;
    for (std::size_t next = first + 1; next < words.size() && !exists(path); ++next) {
      joined += " " + words[next];
      if (exists(joined)) {
        path = joined;
        last = next;
      }
    }
    paths.push_back(std::move(path));
    first = last + 1;
  }
  return paths;
}

Result<std::string> expand_tokens(std::string_view text, const SshSettings& settings) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const char letter = ++i < text.size() ? text[i] : '\0';
    const auto value = token(letter, settings);
    if (!value) {
      return fail("the ssh configuration uses %" + std::string(1, letter) + " in '" + one_line(text) + "', which trainvigil does not expand",
                  "Set transport = \"openssh\" for this host");
    }
    out += *value;
  }
  return out;
}

Result<std::string> expand_path(std::string_view text, const SshSettings& settings) {
  std::string path(text);
  if (path == "~" || path.rfind("~/", 0) == 0) path = home_directory() + path.substr(1);
  for (std::size_t at = path.find("${"); at != std::string::npos; at = path.find("${", at)) {
    const std::size_t end = path.find('}', at);
    if (end == std::string::npos) break;
    const char* value = std::getenv(path.substr(at + 2, end - at - 2).c_str());
    if (value == nullptr) return fail("the ssh configuration uses " + path.substr(at, end - at + 1) + ", which is not set in the environment");
    path.replace(at, end - at + 1, value);
    at += std::string_view(value).size();
  }
  return expand_tokens(path, settings);
}

std::string ssh_arguments(const HostTarget& target) {
  const auto name = parse_target(target.name);
  if (!name) return shell_quoted(target.name);
  std::string text;
  if (!target.ssh_config.empty()) text += "-F " + shell_quoted(target.ssh_config) + " ";
  if (!name->port.empty()) text += "-p " + name->port + " ";
  return text + shell_quoted(name->user.empty() ? name->host : name->user + "@" + name->host);
}

void append_target(std::vector<std::string>& argv, const TargetName& target) {
  if (!target.user.empty()) argv.insert(argv.end(), {"-l", target.user});
  if (!target.port.empty()) argv.insert(argv.end(), {"-p", target.port});
  argv.insert(argv.end(), {"--", target.host});
}

std::vector<std::string> ssh_command_line(const std::string& config_file, const SshSettings& settings) {
  std::vector<std::string> argv = {"ssh", "-T", "-x", "-a"};
  if (!config_file.empty()) argv.insert(argv.end(), {"-F", config_file});
  // A master of the user's (ControlPath) is used, but this ssh never becomes one: others' sessions would end with it. Forwardings, local and remote
  // commands of the configuration are for the user's own sessions.
  for (const char* option : {"BatchMode=yes", "ControlMaster=no", "ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none",
                             "LogLevel=ERROR", "NoHostAuthenticationForLocalhost=no", "EscapeChar=none"}) {
    argv.insert(argv.end(), {"-o", option});
  }
  argv.insert(argv.end(), {"-o", settings.accept_new() ? "StrictHostKeyChecking=accept-new" : "StrictHostKeyChecking=yes"});
  if (settings.wants_no_command) argv.insert(argv.end(), {"-o", "SessionType=default"});  // not always: an older ssh does not know the word
  return argv;
}

Result<SshSettings> resolve_settings(const HostTarget& target, Seconds limit, const std::stop_token& stop) {
  const auto name = parse_target(target.name);
  if (!name) return tl::unexpected(name.error());
  std::vector<std::string> argv = {"ssh", "-T", "-G"};  // -T: or it complains that there is no terminal
  if (!target.ssh_config.empty()) argv.insert(argv.end(), {"-F", target.ssh_config});
  append_target(argv, *name);
  const auto result = run_program(argv, limit, stop);
  if (!result) {
    Error error = result.error();
    if (error.remedy.empty()) error.remedy = "Install the OpenSSH client (openssh-client), or look for a slow Match exec in the ssh configuration";
    return tl::unexpected(std::move(error));
  }
  if (result->exit_status != 0)
    return fail(one_line(result->err, 600), "Correct the ssh configuration; test it with: ssh -G " + shell_quoted(name->host));
  return parse_ssh_g(result->out, *name);
}

}  // namespace trainvigil::transport
