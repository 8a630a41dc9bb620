#include "transport/failure.hpp"

#include <algorithm>
#include <array>

namespace trainvigil::transport {
namespace {

struct LayerRow {
  Layer layer;
  Reach reach;
  bool retry;
  std::string_view remedy;  ///< HOST stands for what leads there behind `ssh`
};

constexpr std::array kLayers = {
    LayerRow{Layer::target, Reach::connect_failed, true, "Look at the host's name and at: ssh -G HOST"},
    LayerRow{Layer::resolve, Reach::resolve_failed, true, "Check the spelling, or give the host an entry with HostName in ~/.ssh/config"},
    LayerRow{Layer::dial, Reach::connect_failed, true, "Check that the host is up and that sshd listens there: ssh HOST"},
    LayerRow{Layer::proxy, Reach::connect_failed, true, "Try the way through the jump host or ProxyCommand by hand: ssh HOST"},
    LayerRow{
        Layer::greeting, Reach::connect_failed, true,
        "Likely too many log-ins at once (MaxStartups in the host's sshd_config), a penalty of sshd, or a firewall: wait, it is tried again more "
        "slowly; if it stays so, raise MaxStartups or look at sshd's log on the host"},
    LayerRow{Layer::exchange, Reach::connect_failed, true, "If ssh HOST works by hand, set transport = \"openssh\" for this host"},
    LayerRow{Layer::host_key_unknown, Reach::host_key_unknown, false, "Log in once by hand and compare the fingerprint: ssh HOST"},
    LayerRow{Layer::host_key_changed, Reach::host_key_changed, false,
             "Find out why the key changed; only then remove the old one (ssh-keygen -R HOST) and log in once by hand: ssh HOST"},
    LayerRow{Layer::host_key_revoked, Reach::host_key_revoked, false,
             "The key was revoked on purpose: ask the administrator of the host for a new host key"},
    LayerRow{Layer::auth, Reach::auth_failed, false, "Make this work without a question first: ssh -o BatchMode=yes HOST true"},
    LayerRow{Layer::channel, Reach::connect_failed, true, "Raise MaxSessions in the host's sshd_config, or end other sessions there"},
    LayerRow{Layer::lost, Reach::connect_failed, true, "It is connected again at the next look"},
    LayerRow{
        Layer::shell, Reach::shell_failed, true,
        "The log-in shell or its start-up file did not start /bin/sh; try: echo 'echo works' | ssh HOST exec /bin/sh -s (a forced command helps)"},
    LayerRow{Layer::silence, Reach::probe_timeout, true, "The host is overloaded or hangs; raise --probe-timeout if it is merely slow"},
    LayerRow{Layer::here, Reach::connect_failed, true, "This is a limit of the watching machine: look at ulimit -n and ulimit -u"},
};

struct TextRow {
  std::string_view text;
  Layer layer;
};

/// Words of OpenSSH 7.4 to 9.9 on stderr. First match wins: the notice about a changed key also says "Host key verification failed".
constexpr std::array kSshWords = {
    TextRow{"REVOKED HOST KEY", Layer::host_key_revoked},
    TextRow{"is marked as revoked", Layer::host_key_revoked},
    TextRow{"revoked by file", Layer::host_key_revoked},
    TextRow{"in revoked keys file", Layer::target},
    TextRow{"REMOTE HOST IDENTIFICATION HAS CHANGED", Layer::host_key_changed},
    TextRow{"has changed and you have requested strict checking", Layer::host_key_changed},
    TextRow{"host key is known for", Layer::host_key_unknown},
    TextRow{"Host key verification failed", Layer::host_key_unknown},
    TextRow{"Could not resolve hostname", Layer::resolve},
    TextRow{"Permission denied (", Layer::auth},
    TextRow{"Too many authentication failures", Layer::auth},
    TextRow{"No supported authentication methods", Layer::auth},
    TextRow{"Bad configuration option", Layer::target},
    TextRow{"Bad owner or permissions on", Layer::target},
    TextRow{"Can't open user config file", Layer::target},
    TextRow{"terminating, ", Layer::target},
    TextRow{"Unable to negotiate", Layer::exchange},
    TextRow{"during banner exchange", Layer::exchange},
    TextRow{"kex_exchange_identification", Layer::greeting},
    TextRow{"ssh_exchange_identification", Layer::greeting},
    TextRow{"open failed: connect failed", Layer::dial},
    TextRow{"administratively prohibited", Layer::channel},
    TextRow{"open failed", Layer::channel},
    TextRow{"session request failed", Layer::channel},
    TextRow{"ssh: connect to host", Layer::dial},
    TextRow{"proxy", Layer::proxy},
};

std::string with_host(std::string_view remedy, std::string_view by_hand) {
  constexpr std::string_view kMark = "HOST";
  std::string out;
  for (std::size_t at = 0; at < remedy.size();) {
    if (remedy.substr(at, kMark.size()) == kMark) {
      out += by_hand;
      at += kMark.size();
    } else {
      out += remedy[at++];
    }
  }
  return out;
}

/// Lines of ssh's warnings that tell nothing about this host.
constexpr std::array<std::string_view, 9> kProse = {
    "@@@@",         "IT IS POSSIBLE",  "Someone could be eavesdropping", "It is also possible", "Please contact", "Add correct host key",
    "remove with:", "This could mean", "impersonate this host"};

/// The sentences that matter, and the command that ssh itself recommends, if it does.
struct SshWords {
  std::string sentences;
  std::string command;
};

SshWords without_prose(std::string_view err) {
  SshWords words;
  while (!err.empty()) {
    const std::size_t end = std::min(err.find('\n'), err.size());
    std::string_view line = err.substr(0, end);
    err.remove_prefix(std::min(end + 1, err.size()));
    if (std::any_of(kProse.begin(), kProse.end(), [line](std::string_view prose) { return line.find(prose) != std::string_view::npos; })) continue;
    if (!line.empty() && line.front() == '@') line = line.substr(1, line.find_last_not_of("@ \r"));  // framed
    if (line.find("ssh-keygen -f") != std::string_view::npos) {
      words.command = one_line(line);
    } else {
      words.sentences += line;
      words.sentences += '\n';
    }
  }
  return words;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit, bool keep_end) {
  std::string out;
  out.reserve(std::min(text.size(), limit) + 1);
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    const char put = control ? ' ' : c;
    if (put != ' ' || (!out.empty() && out.back() != ' ')) out += put;
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '.')) out.pop_back();
  if (out.size() <= limit) return out;
  return keep_end ? "..." + out.substr(out.size() - limit) : out.substr(0, limit) + "...";
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

Fault make_fault(Layer layer, std::string_view words, std::string_view by_hand, std::string remedy) {
  const auto row = std::find_if(kLayers.begin(), kLayers.end(), [layer](const LayerRow& r) { return r.layer == layer; });
  Failure failure;
  failure.reach = row->reach;
  failure.retry = row->retry;
  failure.what = one_line(words);
  failure.remedy = remedy.empty() ? with_host(row->remedy, by_hand) : std::move(remedy);
  return {std::move(failure), layer};
}

Fault classify_ssh_stderr(std::string_view err, std::string_view by_hand) {
  const auto row = std::find_if(kSshWords.begin(), kSshWords.end(), [err](const TextRow& r) { return err.find(r.text) != std::string_view::npos; });
  const Layer layer = row == kSshWords.end() ? Layer::lost : row->layer;
  const SshWords words = without_prose(err);
  Fault fault = make_fault(layer, {}, by_hand);
  fault.failure.what = one_line(words.sentences, 600, true);
  if (fault.failure.what.empty()) fault.failure.what = "ssh ended without a word";
  if (layer == Layer::host_key_changed && !words.command.empty()) {
    fault.failure.remedy =
        "Find out why the key changed; only then: " + words.command + " and once by hand, comparing the fingerprint: ssh " + std::string(by_hand);
  }
  return fault;
}

Fault shell_fault(const CommandEnd& end, std::string_view heard, std::string_view by_hand) {
  std::string words = "the remote shell ended before the probe answered";
  if (end.exit_status == 127) {
    words = "there is no /bin/sh on the host, or the log-in shell does not know exec (exit status 127)";
  } else if (end.exit_status) {
    words += " (exit status " + std::to_string(*end.exit_status) + ")";
  } else if (!end.signal.empty()) {
    words += " (killed by SIG" + end.signal + ")";
  }
  const std::string tail = one_line(heard, 200, true);
  if (!tail.empty()) words += "; it said: " + tail;
  return make_fault(Layer::shell, words, by_hand);
}

}  // namespace trainvigil::transport
