#include "transport/known_hosts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "transport/fd.hpp"
#include "transport/process.hpp"

namespace trainvigil::transport {
namespace {

using Marker = KnownKey::Marker;

/// "# Host NAME found: line 3 REVOKED" → 3
int line_number(const std::string& comment) {
  constexpr std::string_view kBefore = " found: line ";
  const std::size_t at = comment.rfind(kBefore);
  return at == std::string::npos ? 0 : std::atoi(comment.c_str() + at + kBefore.size());
}

const KnownKey* find_line(const std::vector<KnownKey>& keys, Marker marker, const std::string& base64) {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const KnownKey& key) { return key.marker == marker && (base64.empty() || key.base64 == base64); });
  return found == keys.end() ? nullptr : &*found;
}

void ask_file(std::vector<KnownKey>& into, const std::string& name, const std::string& file, Seconds limit, const std::stop_token& stop) {
  const auto result = run_program({"ssh-keygen", "-F", name, "-f", file}, limit, stop);
  if (!result) return;  // no lines: the key stays unknown, which refuses
  std::vector<KnownKey> keys = parse_keygen(result->out, file);
  into.insert(into.end(), std::make_move_iterator(keys.begin()), std::make_move_iterator(keys.end()));
}

/// RevokedHostKeys may be a list of public keys or a binary revocation list (KRL).
void read_revoked(KnownHosts& known, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    known.revoked_trouble = "RevokedHostKeys " + path + " cannot be read";
    return;
  }
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  if (text.rfind("SSHKRL\n", 0) == 0) {
    known.revoked_trouble =
        "RevokedHostKeys " + path + " is a binary revocation list, which only the ssh program reads; set transport = \"openssh\" for this host";
    return;
  }
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.rfind("AAAA", 0) == 0) known.revoked.push_back(word);
  }
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

/// The key type that an algorithm proves: rsa-sha2-512 signs with an ssh-rsa key.
std::string key_type(const std::string& algorithm) { return algorithm.rfind("rsa-", 0) == 0 ? "ssh-rsa" : algorithm; }

std::string where(const KnownKey* line) { return line == nullptr ? std::string{} : line->file + ":" + std::to_string(line->line); }

}  // namespace

std::vector<KnownKey> parse_keygen(std::string_view text, const std::string& file) {
  std::vector<KnownKey> keys;
  std::istringstream in{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() == '#') {
      number = line_number(line);
      continue;
    }
    KnownKey key;
    key.file = file;
    key.line = number;
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "@revoked") key.marker = Marker::revoked;
    if (first == "@cert-authority") key.marker = Marker::authority;
    if (key.marker != Marker::none) words >> first;
    words >> key.type >> key.base64;
    if (!key.base64.empty()) keys.push_back(std::move(key));
  }
  return keys;
}

KnownHosts look_up_known_hosts(const SshSettings& settings, Seconds limit, const std::stop_token& stop) {
  KnownHosts known;
  known.name = settings.known_hosts_name();
  std::vector<std::string> files = settings.user_known_hosts;
  files.insert(files.end(), settings.global_known_hosts.begin(), settings.global_known_hosts.end());
  const std::string bare = settings.bare_known_hosts_name();
  for (const std::string& written : files) {
    const auto file = expand_path(written, settings);
    if (!file || ::access(file->c_str(), R_OK) != 0) continue;
    ask_file(known.exact, known.name, *file, limit, stop);
    if (bare != known.name) ask_file(known.without_port, bare, *file, limit, stop);
  }
  if (!settings.revoked_host_keys.empty())
    read_revoked(known, expand_path(settings.revoked_host_keys, settings).value_or(settings.revoked_host_keys));
  return known;
}

std::string HostKey::short_type() const {
  if (type == "ssh-ed25519") return "ED25519";
  if (type == "ssh-rsa") return "RSA";
  if (type.rfind("ecdsa-", 0) == 0) return "ECDSA";
  return type;
}

KeyVerdict judge_host_key(const KnownHosts& known, const HostKey& offered) {
  using Kind = KeyVerdict::Kind;
  for (const auto* keys : {&known.exact, &known.without_port}) {
    if (const KnownKey* line = find_line(*keys, Marker::revoked, offered.base64)) return {Kind::revoked, line};
  }
  if (!known.revoked_trouble.empty() || std::find(known.revoked.begin(), known.revoked.end(), offered.base64) != known.revoked.end())
    return {Kind::revoked, nullptr};
  for (const auto* keys : {&known.exact, &known.without_port}) {
    if (const KnownKey* line = find_line(*keys, Marker::none, offered.base64)) return {Kind::known, line};
  }
  for (const auto* keys : {&known.exact, &known.without_port}) {
    if (const KnownKey* line = find_line(*keys, Marker::authority, {})) return {Kind::needs_certificate, line};
  }
  // As in OpenSSH a key of another type on record is a change as well; lines without the port are none: another server may stand behind another port.
  const auto same_type =
      std::find_if(known.exact.begin(), known.exact.end(), [&](const KnownKey& k) { return k.marker == Marker::none && k.type == offered.type; });
  if (same_type != known.exact.end()) return {Kind::changed, &*same_type};
  if (const KnownKey* line = find_line(known.exact, Marker::none, {})) return {Kind::changed, line};
  return {Kind::unknown, nullptr};
}

Fault host_key_fault(const KeyVerdict& verdict, const KnownHosts& known, const HostKey& offered, const std::string& by_hand) {
  const std::string type = offered.short_type();
  const std::string offers = "the host offers " + type + " " + offered.fingerprint;
  switch (verdict.kind) {
    case KeyVerdict::Kind::changed:
      return make_fault(Layer::host_key_changed,
                        "REMOTE HOST IDENTIFICATION HAS CHANGED: host key for " + known.name +
                            " has changed and strict checking is requested; offending " + HostKey{verdict.line->type, {}, {}}.short_type() +
                            " key in " + where(verdict.line) + "; " + offers + ". Host key verification failed",
                        by_hand,
                        "Find out why the key changed; only then: ssh-keygen -f " + shell_quoted(verdict.line->file) + " -R " +
                            shell_quoted(known.name) + " and once by hand, comparing the fingerprint: ssh " + by_hand);
    case KeyVerdict::Kind::revoked: {
      if (!known.revoked_trouble.empty())
        return make_fault(Layer::host_key_revoked, known.revoked_trouble + "; no host key is accepted without it", by_hand,
                          "Correct RevokedHostKeys in the ssh configuration");
      const std::string by = verdict.line != nullptr ? "marked as revoked in " + where(verdict.line) : "revoked by RevokedHostKeys";
      return make_fault(
          Layer::host_key_revoked,
          "REVOKED HOST KEY DETECTED: the " + type + " host key for " + known.name + " is " + by + "; " + offers + ". Host key verification failed",
          by_hand);
    }
    case KeyVerdict::Kind::needs_certificate:
      return make_fault(Layer::host_key_unknown,
                        "the host key of " + known.name + " is vouched for by a certificate authority (" + where(verdict.line) +
                            "), and libssh does not know host certificates",
                        by_hand, "Set transport = \"openssh\" for this host");
    case KeyVerdict::Kind::unknown:
    case KeyVerdict::Kind::known:
      break;
  }
  return make_fault(
      Layer::host_key_unknown,
      "No " + type + " host key is known for " + known.name + " and strict checking is requested; " + offers + ". Host key verification failed",
      by_hand);
}

std::string host_key_preference(const SshSettings& settings, const KnownHosts& known) {
  // What libssh 0.10 verifies; no certificates, no FIDO keys, no SHA-1 unless asked for.
  constexpr std::array<std::string_view, 7> kSupported = {
      "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"};
  std::vector<std::string> wanted;
  for (const std::string& algorithm : split_commas(settings.host_key_algorithms)) {
    if (std::find(kSupported.begin(), kSupported.end(), algorithm) != kSupported.end()) wanted.push_back(algorithm);
  }
  const auto& lines = known.exact.empty() ? known.without_port : known.exact;
  std::stable_partition(wanted.begin(), wanted.end(), [&](const std::string& algorithm) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const KnownKey& key) { return key.marker == Marker::none && key.type == key_type(algorithm); });
  });
  std::string joined;
  for (const std::string& algorithm : wanted) joined += (joined.empty() ? "" : ",") + algorithm;
  return joined;
}

bool remember_host_key(const SshSettings& settings, const KnownHosts& known, const HostKey& key) {
  if (settings.user_known_hosts.empty()) return false;
  const std::string& path = settings.user_known_hosts.front();
  if (const std::size_t slash = path.rfind('/'); slash != std::string::npos) ::mkdir(path.substr(0, slash).c_str(), 0700);
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return false;
  std::string line = known.name + " " + key.type + " " + key.base64 + "\n";
  char last = '\n';
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size > 0 && ::pread(fd.get(), &last, 1, size - 1) == 1 && last != '\n') line.insert(0, "\n");
  // One write of one line: several processes may add at the same time.
  return ::write(fd.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fsync(fd.get()) == 0;
}

}  // namespace trainvigil::transport
