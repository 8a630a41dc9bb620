// LOG IN and AGENT of LibsshStream: which keys are offered in which order, and what is said when none is taken.
#include <algorithm>
#include <utility>

#include "transport/agent.hpp"
#include "transport/libssh_stream.hpp"

namespace trainvigil::transport {
namespace {

constexpr std::size_t kMaxAuthTries = 6;  ///< sshd's default

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string methods(int bits) {
  std::vector<std::string> names;
  if ((bits & SSH_AUTH_METHOD_PUBLICKEY) != 0) names.emplace_back("publickey");
  if ((bits & SSH_AUTH_METHOD_GSSAPI_MIC) != 0) names.emplace_back("gssapi-with-mic");
  if ((bits & SSH_AUTH_METHOD_PASSWORD) != 0) names.emplace_back("password");
  if ((bits & SSH_AUTH_METHOD_INTERACTIVE) != 0) names.emplace_back("keyboard-interactive");
  if ((bits & SSH_AUTH_METHOD_HOSTBASED) != 0) names.emplace_back("hostbased");
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

LibsshStream::Next LibsshStream::log_in() {
  const std::string& user = plan_.settings.user;
  auto& keys = plan_.identities.usable;
  int result = SSH_AUTH_DENIED;
  if (next_identity_ < std::min(keys.size(), kMaxAuthTries)) {
    // Signed at once, without asking first whether the key would do: that saves a round trip.
    result = ssh_userauth_publickey(session_->get(), user.c_str(), keys[next_identity_].key.get());
  } else if (!plan_.agent.empty() && !agent_asked_ && next_identity_ < kMaxAuthTries) {
    ask_agent();
    return Next::wait;
  } else if (keys.empty() && !agent_asked_ && !none_asked_) {
    result = ssh_userauth_none(session_->get(), user.c_str());  // some servers know by other means who is there
    none_asked_ = result != SSH_AUTH_AGAIN;
  } else {
    return refused_by_all();
  }
  // Asked before the result: a server that hangs up here leaves "again" for ever, and no descriptor to wake us (trap 6).
  if (session_->dead() || result == SSH_AUTH_ERROR) {
    const std::string words = session_->error();
    const bool refused = words.find("Too many authentication failures") != std::string::npos;
    fail_with(refused ? Layer::auth : Layer::lost,
              refused ? "Too many authentication failures for " + user + " at " + place() : "log-in at " + place() + " broke off: " + words);
    return Next::wait;
  }
  switch (result) {
    case SSH_AUTH_AGAIN:
      return Next::wait;
    case SSH_AUTH_SUCCESS:
      enter(State::open, engine_.options.command_limit);
      return Next::step;
    case SSH_AUTH_PARTIAL:
      fail_with(Layer::auth, place() + " wants a second factor after the key",
                "set transport = \"openssh\" for this host and log in once by hand with a ControlPath: ssh " + by_hand_);
      return Next::wait;
    default:
      if (next_identity_ < keys.size()) ++next_identity_;
      return Next::step;
  }
}

LibsshStream::Next LibsshStream::refused_by_all() {
  const auto& identities = plan_.identities;
  const int accepted = ssh_userauth_list(session_->get(), nullptr);
  std::string words = plan_.settings.user + "@" + plan_.settings.hostname + ": Permission denied (" + methods(accepted) + ")";
  std::vector<std::string> offered;
  for (const Identity& identity : identities.usable) offered.push_back(identity.path);
  words += offered.empty() ? "; no key file to offer" : "; offered " + joined(offered);
  if (!agent_note_.empty()) words += "; " + agent_note_;
  if (plan_.agent.empty()) words += "; no ssh-agent";
  if (!identities.notes.empty()) words += "; " + joined(identities.notes);
  const bool by_key = (accepted & SSH_AUTH_METHOD_PUBLICKEY) != 0;
  fail_with(
      Layer::auth, words,
      by_key ? std::string{} : "the host takes no keys; set transport = \"openssh\" and log in once by hand with a ControlPath: ssh " + by_hand_);
  return Next::wait;
}

void LibsshStream::ask_agent() {
  agent_asked_ = true;
  enter(State::agent, engine_.options.agent_limit + Seconds{1});
  watch_.reset();  // the session is the worker's now
  AgentPlan plan;
  plan.socket = plan_.agent;
  plan.first = plan_.identities.agent_first;
  plan.only_these = plan_.settings.identities_only;
  plan.most = kMaxAuthTries - next_identity_;
  engine_.pool.run([weak = weak_from_this(), inbox = engine_.loop.inbox(), session = session_, user = plan_.settings.user, plan,
                    limit = engine_.options.agent_limit, ours = stop_](const std::stop_token& stop) mutable {
    const std::stop_callback both(stop, [&ours] { ours.request_stop(); });
    const AgentOutcome outcome = authenticate_with_agent(session->get(), user, plan, limit, ours.get_token());
    session.reset();  // given back before the loop is told
    inbox->post([weak, outcome] {
      const auto self = weak.lock();
      if (!self || self->state_ != State::agent) return;
      self->watch_ =
          self->engine_.loop.watch(self->session_->watch_fd(), EPOLLIN | EPOLLOUT, [raw = self.get()](std::uint32_t) { raw->on_socket(); });
      if (outcome.result == SSH_AUTH_SUCCESS && !self->session_->dead()) {
        self->enter(State::open, self->engine_.options.command_limit);
        return self->advance();
      }
      self->agent_note_ = !outcome.trouble.empty()
                              ? outcome.trouble
                              : "the ssh-agent offered " + std::to_string(outcome.offered) + " of its " + std::to_string(outcome.held) + " keys";
      if (outcome.result == SSH_AUTH_PARTIAL) self->agent_note_ += ", of which one was taken, but a second factor is wanted";
      self->enter(State::log_in, self->engine_.options.auth_limit);
      if (self->session_->dead()) {
        const std::string words = self->session_->error();
        const bool refused = words.find("Too many authentication failures") != std::string::npos;
        return self->fail_with(refused ? Layer::auth : Layer::lost, "log-in at " + self->place() + " broke off: " + words + "; " + self->agent_note_);
      }
      self->advance();
    });
  });
}

}  // namespace trainvigil::transport
