#include "transport/agent.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "transport/base64.hpp"
#include "transport/event_loop.hpp"
#include "transport/fd.hpp"
#include "transport/threads.hpp"

namespace trainvigil::transport {
namespace {

// draft-miller-ssh-agent: every message is a length and a payload whose first byte is its type.
constexpr unsigned char kIdentitiesAnswer = 12;
constexpr std::size_t kMostMessage = 256 * 1024;

std::uint32_t read_u32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string u32(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xffU);
  return out;
}

/// Takes a length and as many bytes off the front.
std::optional<std::string_view> take_string(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  const std::size_t size = read_u32(rest);
  if (rest.size() - 4 < size) return std::nullopt;
  const std::string_view value = rest.substr(4, size);
  rest.remove_prefix(4 + size);
  return value;
}

UniqueFd connect_agent(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

/// Stands between libssh and the agent: libssh offers whatever the agent has, in the agent's order, and waits for it without end.
class AgentFilter {
 public:
  AgentFilter(UniqueFd client, UniqueFd agent, const AgentPlan& plan, SteadyTime end, const std::stop_token& stop)
      : client_(std::move(client)), agent_(std::move(agent)), plan_(plan), end_(end), stop_(stop) {}

  void run(AgentOutcome& outcome) {
    for (;;) {
      const auto request = read_message(client_);
      if (!request || !write_message(agent_, *request)) break;
      auto answer = read_message(agent_);
      if (!answer) break;
      if (!answer->empty() && static_cast<unsigned char>(answer->front()) == kIdentitiesAnswer) answer = filter_identities(*answer, plan_, outcome);
      if (!write_message(client_, *answer)) break;
    }
    if (SteadyClock::now() >= end_) outcome.trouble = "the ssh-agent does not answer";
    ::shutdown(client_.get(), SHUT_RDWR);
  }

 private:
  bool wait(const UniqueFd& fd, short events) const {
    while (SteadyClock::now() < end_ && !stop_.stop_requested()) {
      pollfd poll_fd{fd.get(), events, 0};
      constexpr int kLookAtTokenMs = 50;
      if (::poll(&poll_fd, 1, kLookAtTokenMs) > 0) return true;
    }
    return false;
  }
  bool read_exactly(const UniqueFd& fd, char* into, std::size_t size) const {
    while (size > 0) {
      if (!wait(fd, POLLIN)) return false;
      const ssize_t count = ::recv(fd.get(), into, size, 0);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (count < 0) continue;
      into += count;
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }
  [[nodiscard]] std::optional<std::string> read_message(const UniqueFd& fd) const {
    std::array<char, 4> head;
    if (!read_exactly(fd, head.data(), head.size())) return std::nullopt;
    const std::size_t size = read_u32({head.data(), head.size()});
    if (size > kMostMessage) return std::nullopt;
    std::string payload(size, '\0');
    if (!read_exactly(fd, payload.data(), size)) return std::nullopt;
    return payload;
  }
  [[nodiscard]] bool write_message(const UniqueFd& fd, const std::string& payload) const {
    const std::string message = u32(static_cast<std::uint32_t>(payload.size())) + payload;
    for (std::size_t sent = 0; sent < message.size();) {
      if (!wait(fd, POLLOUT)) return false;
      const ssize_t count = ::send(fd.get(), message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (count > 0) sent += static_cast<std::size_t>(count);
    }
    return true;
  }

  UniqueFd client_;
  UniqueFd agent_;
  const AgentPlan& plan_;
  SteadyTime end_;
  const std::stop_token& stop_;
};

}  // namespace

std::string filter_identities(const std::string& payload, const AgentPlan& plan, AgentOutcome& outcome) {
  std::string_view rest = payload;
  if (rest.size() < 5) return payload;
  const std::uint32_t count = read_u32(rest.substr(1));
  rest.remove_prefix(5);
  struct Entry {
    std::string bytes;
    std::size_t rank;
  };
  std::vector<Entry> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto blob = take_string(rest);
    const auto comment = blob ? take_string(rest) : std::nullopt;
    if (!comment) return payload;
    const auto named = std::find(plan.first.begin(), plan.first.end(), base64_encode(*blob));
    if (plan.only_these && named == plan.first.end()) continue;
    entries.push_back({u32(static_cast<std::uint32_t>(blob->size())) + std::string(*blob) + u32(static_cast<std::uint32_t>(comment->size())) +
                           std::string(*comment),
                       static_cast<std::size_t>(named - plan.first.begin())});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
  if (entries.size() > plan.most) entries.resize(plan.most);
  outcome.held = count;
  outcome.offered = entries.size();
  std::string answer(1, static_cast<char>(kIdentitiesAnswer));
  answer += u32(static_cast<std::uint32_t>(entries.size()));
  for (const Entry& entry : entries) answer += entry.bytes;
  return answer;
}

AgentOutcome authenticate_with_agent(ssh_session session, const std::string& user, const AgentPlan& plan, Seconds limit,
                                     const std::stop_token& stop) {
  AgentOutcome outcome;
  UniqueFd agent = connect_agent(plan.socket);
  FdPair pair = make_socket_pair();
  if (!agent || !pair.valid()) {
    outcome.trouble = "no ssh-agent answers at " + plan.socket;
    return outcome;
  }
  const SteadyTime end = SteadyClock::now() + steady(limit);
  set_nonblocking(pair.second.get());
  AgentFilter filter(std::move(pair.second), std::move(agent), plan, end, stop);
  const int client = pair.first.get();
  std::thread thread = quiet_thread([&filter, &outcome] { filter.run(outcome); });
  const UniqueFd ours = duplicate(client);
  ssh_set_agent_socket(session, pair.first.release());  // libssh closes it with the session

  const long seconds = std::max(1L, static_cast<long>(limit.count()));
  ssh_options_set(session, SSH_OPTIONS_TIMEOUT, &seconds);  // blocking calls wait for ever without it (trap 7)
  ssh_set_blocking(session, 1);
  int result = SSH_AUTH_AGAIN;
  // A server that hangs up in the middle is "again" for ever: the descriptor tells (trap 6).
  while (result == SSH_AUTH_AGAIN && SteadyClock::now() < end && !stop.stop_requested() && ssh_get_fd(session) >= 0)
    result = ssh_userauth_agent(session, user.c_str());
  ssh_set_blocking(session, 0);
  ::shutdown(ours.get(), SHUT_RDWR);
  thread.join();
  outcome.result = result == SSH_AUTH_AGAIN ? SSH_AUTH_ERROR : result;
  return outcome;
}

}  // namespace trainvigil::transport
