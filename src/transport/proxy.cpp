#include "transport/proxy.hpp"

#include <array>
#include <cerrno>

namespace trainvigil::transport {
namespace {
constexpr std::size_t kMostWords = 4096;

/// `u@j1,j2:33` → `j2:33`; the jump hosts before it are for that ssh to take.
std::string last_jump(const std::string& list) { return list.substr(list.rfind(',') + 1); }

}  // namespace

Result<std::vector<std::string>> proxy_command_line(const SshSettings& settings, const std::string& config_file, Seconds limit,
                                                    const std::stop_token& stop) {
  if (!settings.proxy_command.empty()) {
    // The command is the user's own and meant for a shell; only names that no shell takes for anything else are put into it.
    if (const auto checked = parse_target(settings.hostname); !checked) return tl::unexpected(checked.error());
    if (settings.user.find_first_of("'`\"$\\;&<>|(){} \t\n") != std::string::npos && settings.proxy_command.find("%r") != std::string::npos) {
      return fail("the user name '" + one_line(settings.user) + "' cannot be put into the ProxyCommand", "Set transport = \"openssh\" for this host");
    }
    const auto command = expand_tokens(settings.proxy_command, settings);
    if (!command) return tl::unexpected(command.error());
    return std::vector<std::string>{"/bin/sh", "-c", "exec " + *command};
  }
  if (settings.proxy_jump.empty()) return std::vector<std::string>{};

  std::string jump = last_jump(settings.proxy_jump);
  if (jump.rfind("ssh://", 0) == 0) jump.erase(0, 6);
  const auto name = parse_target(jump);
  if (!name) return tl::unexpected(name.error());
  HostTarget jump_target;
  jump_target.name = jump;
  jump_target.ssh_config = config_file;
  const auto jump_settings = resolve_settings(jump_target, limit, stop);
  if (!jump_settings) return tl::unexpected(jump_settings.error());
  std::vector<std::string> argv = ssh_command_line(config_file, *jump_settings);
  if (const std::size_t comma = settings.proxy_jump.rfind(','); comma != std::string::npos) {
    argv.insert(argv.end(), {"-J", settings.proxy_jump.substr(0, comma)});
  } else if (jump_settings->proxy_jump == settings.proxy_jump) {
    argv.insert(argv.end(), {"-o", "ProxyJump=none"});  // a `Host *` with ProxyJump would send the jump host through itself
  }
  // ClearAllForwardings, which every ssh of ours gets, spares -W.
  argv.insert(argv.end(), {"-W", "[" + settings.hostname + "]:" + settings.port});
  append_target(argv, *name);
  return argv;
}

Proxy::~Proxy() {
  err_watch_.reset();
  if (pid_ > 0) engine_.children.end(pid_);
}

Result<UniqueFd> Proxy::start(const std::vector<std::string>& argv) {
  FdPair pair = make_socket_pair();
  FdPair err = make_pipe();
  if (!pair.valid() || !err.valid()) return fail("no socket pair for the proxy: " + error_text(errno));
  const auto pid = spawn(argv, {pair.second.get(), pair.second.get(), err.second.get()});
  if (!pid) return tl::unexpected(pid.error());
  pid_ = *pid;
  engine_.children.keep(pid_, [](int) {});  // its end shows as the end of the stream
  err_ = std::move(err.first);
  set_nonblocking(err_.get());
  err_watch_ = engine_.loop.watch(err_.get(), EPOLLIN, [this](std::uint32_t) { read_words(); });
  return std::move(pair.first);
}

void Proxy::read_words() {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(err_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      err_watch_.reset();
      return;
    }
    words_.append(buffer.data(), static_cast<std::size_t>(count));
    if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
  }
}

std::string Proxy::words() {
  if (err_watch_.active()) read_words();
  return words_;
}

Fault proxy_fault(const SshSettings& settings, const std::string& words, const std::string& by_hand) {
  Fault fault = classify_ssh_stderr(words, by_hand);
  if (fault.layer == Layer::lost || !settings.proxy_command.empty())
    fault = make_fault(Layer::proxy, words.empty() ? "it ended without a word" : words, by_hand);
  fault.failure.what =
      (settings.proxy_command.empty() ? "jump host " + one_line(settings.proxy_jump) : std::string("ProxyCommand")) + ": " + fault.failure.what;
  return fault;
}

}  // namespace trainvigil::transport
