#include "transport/libssh_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <utility>

namespace trainvigil::transport {
namespace {

constexpr std::size_t kMostPerWake = 65536;  ///< then the other hosts have their turn

/// 40 ms of every handshake are the server's Nagle waiting for our delayed acknowledgement; the kernel forgets the option, so it is set before each
/// step.
void acknowledge_at_once(int fd) {
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
}

}  // namespace

LibsshStream::LibsshStream(Engine& engine, HostTarget target) : engine_(engine), target_(std::move(target)), by_hand_(ssh_arguments(target_)) {}

void LibsshStream::start(StreamOwner& owner) {
  owner_ = &owner;
  // `this` is enough in what the stream itself holds; what outlives it gets a weak pointer.
  pass_ = engine_.gate.enter([this] { begin(); });
}

void LibsshStream::begin() {
  enter(State::prepare, engine_.options.prepare_limit);
  engine_.pool.run([weak = weak_from_this(), inbox = engine_.loop.inbox(), target = target_, limits = engine_.options](const std::stop_token& stop) {
    // Shared because a task has to be copyable and keys are not.
    auto result = std::make_shared<tl::expected<Preparation, Fault>>(prepare(target, limits, stop));
    inbox->post([weak, result] {
      const auto self = weak.lock();
      if (self && self->state_ == State::prepare) self->prepared(std::move(*result));
    });
  });
}

void LibsshStream::prepared(tl::expected<Preparation, Fault> result) {
  if (!result) return end_with({StreamEnd::Kind::failed, std::move(result.error()), {}});
  plan_ = std::move(*result);
  if (plan_.proxy.empty()) return dial();
  enter(State::dial, engine_.options.dial_limit);
  if (plan_.settings.proxy_jump.empty()) return connect_proxy();
  pause_ = engine_.loop.after(engine_.gate.pace(plan_.settings.proxy_jump), [this] { connect_proxy(); });
}

void LibsshStream::dial() {
  const double wanted = plan_.settings.connect_timeout_s;
  enter(State::dial, wanted > 0 ? Seconds{wanted} : engine_.options.dial_limit);
  dialer_ =
      std::make_unique<Dialer>(engine_.loop, engine_.options, plan_.addresses, plan_.bind_to, [this](UniqueFd socket, const std::string& error) {
        if (!socket) return fail_with(Layer::dial, "connect to " + place() + ": " + error);
        connected(std::move(socket));
      });
}

void LibsshStream::connect_proxy() {
  proxy_ = std::make_unique<Proxy>(engine_);
  auto socket = proxy_->start(plan_.proxy);
  if (!socket) return fail_with(Layer::here, socket.error().what);
  connected(std::move(*socket));
}

void LibsshStream::connected(UniqueFd socket) {
  // The proxy shakes hands with its own host first, and that is on this clock.
  enter(State::exchange, proxy_ ? engine_.options.dial_limit + engine_.options.exchange_limit : engine_.options.exchange_limit);
  set_stream_options(socket.get());
  session_ = std::make_shared<SshSession>(std::move(socket));
  if (const std::string trouble = session_->configure(plan_.settings, plan_.host_key_preference); !trouble.empty()) {
    return fail_with(Layer::exchange, trouble, "Set transport = \"openssh\" for this host");
  }
  watch_ = engine_.loop.watch(session_->watch_fd(), EPOLLIN | EPOLLOUT, [this](std::uint32_t) { on_socket(); });
}

void LibsshStream::on_socket() {
  const auto self = shared_from_this();  // the owner may drop us on the way
  advance();
}

void LibsshStream::advance() {
  if (state_ == State::running) return drain();
  while (state_ > State::dial && state_ < State::running && state_ != State::agent) {
    if (step() == Next::wait) break;
  }
  if (state_ == State::running) return;
  arm();
}

LibsshStream::Next LibsshStream::step() {
  acknowledge_at_once(session_->watch_fd());
  switch (state_) {
    case State::exchange:
      return exchange();
    case State::verify:
      return verify();
    case State::log_in:
      return log_in();
    case State::open:
      return open();
    case State::exec:
      return exec();
    default:
      return Next::wait;
  }
}

LibsshStream::Next LibsshStream::exchange() {
  const int result = ssh_connect(session_->get());
  if (result == SSH_OK && !session_->dead()) {
    state_ = State::verify;
    return Next::step;
  }
  if (result == SSH_AGAIN && !session_->dead()) return Next::wait;
  const std::string words = session_->error();
  const char* banner = ssh_get_serverbanner(session_->get());
  if (banner == nullptr) {
    fail_with(Layer::greeting, "connection to " + place() + " was dropped before the banner: " + words);
  } else if (words.find("no match for method") != std::string::npos) {
    fail_with(Layer::exchange, "Unable to negotiate with " + place() + ": " + one_line(words, 160));
  } else {
    fail_with(Layer::exchange, "key exchange with " + place() + " failed: " + words);
  }
  return Next::wait;
}

LibsshStream::Next LibsshStream::verify() {
  const auto key = session_->host_key();
  if (!key) {
    fail_with(Layer::exchange, "the host key of " + place() + " cannot be read: " + session_->error());
    return Next::wait;
  }
  const KeyVerdict verdict = judge_host_key(plan_.known_hosts, *key);
  const bool take_new = verdict.kind == KeyVerdict::Kind::unknown && plan_.settings.accept_new();
  if (verdict.kind != KeyVerdict::Kind::known && !take_new) {
    end_with({StreamEnd::Kind::failed, host_key_fault(verdict, plan_.known_hosts, *key, by_hand_), {}});
    return Next::wait;
  }
  if (take_new) {
    // As with ssh a file that cannot be written does not stop the connection: the key was to be taken anyway.
    engine_.pool.run(
        [settings = plan_.settings, known = plan_.known_hosts, key = *key](const std::stop_token&) { remember_host_key(settings, known, key); });
  }
  enter(State::log_in, engine_.options.auth_limit);
  return Next::step;
}

LibsshStream::Next LibsshStream::open() {
  if (session_->channel() == nullptr && !session_->make_channel()) {
    fail_with(Layer::here, "no channel: " + session_->error());
    return Next::wait;
  }
  const int result = ssh_channel_open_session(session_->channel());
  if (broken() || result == SSH_AGAIN) return Next::wait;
  if (result != SSH_OK) {
    fail_with(Layer::channel, "session request failed: " + session_->error());
    return Next::wait;
  }
  state_ = State::exec;
  return Next::step;
}

LibsshStream::Next LibsshStream::exec() {
  // /bin/sh and not sh: a start-up file that breaks PATH does not matter. The script comes on its stdin, so the log-in shell (fish, tcsh …) parses
  // this only.
  const int result = ssh_channel_request_exec(session_->channel(), "exec /bin/sh -s");
  if (broken() || result == SSH_AGAIN) return Next::wait;
  if (result != SSH_OK) {
    fail_with(Layer::channel, "exec request failed: " + session_->error());
    return Next::wait;
  }
  state_ = State::running;
  deadline_.reset();
  pass_.reset();
  plan_.identities = {};
  plan_.known_hosts = {};
  keep_alive();
  owner_->opened();
  if (state_ == State::running) drain();
  return Next::wait;
}

std::size_t LibsshStream::write(std::string_view bytes) {
  if (state_ != State::running) return 0;
  ssh_channel channel = session_->channel();
  const int count = ssh_channel_write(channel, bytes.data(), static_cast<std::uint32_t>(std::min(bytes.size(), kMostOutstanding)));
  const std::size_t taken = count > 0 ? static_cast<std::size_t>(count) : 0;
  // Short during a re-key or with no window (trap 17): the rest follows when something has come in.
  wants_room_ = taken < bytes.size();
  // The write may have read packets that came in meanwhile: nothing would wake us for them any more (trap 21).
  drain_later();
  keep_alive();
  return taken;
}

void LibsshStream::drain() {
  const auto self = shared_from_this();
  for (std::size_t total = 0;;) {
    const SshSession::Received received = session_->receive();
    if (received.size() == 0) break;
    if (!received.out.empty()) owner_->received(received.out);
    if (state_ == State::running && !received.err.empty()) owner_->received_error(received.err);
    if (state_ != State::running) return;
    total += received.size();
    if (total >= kMostPerWake) return drain_later();
  }
  check_end();
  if (state_ != State::running) return;
  if (std::exchange(wants_room_, false)) owner_->writable();
  if (state_ == State::running) arm();
}

void LibsshStream::drain_later() {
  if (std::exchange(drain_posted_, true)) return;
  engine_.loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->drain_posted_ = false;
    if (self->state_ == State::running) self->drain();
  });
}

void LibsshStream::check_end() {
  if (session_->dead()) {
    const std::string words = session_->error();
    return end_with({StreamEnd::Kind::lost, make_fault(Layer::lost, "connection to " + place() + " was lost: " + words, by_hand_), {}});
  }
  if (!session_->at_end()) return;
  const CommandEnd& end = session_->command_end();
  const bool told = end.exit_status || !end.signal.empty();
  if (told || ssh_channel_is_closed(session_->channel()) != 0) return end_with({StreamEnd::Kind::exited, {}, end});
  // The reason follows the end of the output; a command that only closed its output is of no use either.
  constexpr Seconds kLinger{2.0};
  if (!linger_.active()) linger_ = engine_.loop.after(kLinger, [this] { end_with({StreamEnd::Kind::exited, {}, {}}); });
}

void LibsshStream::arm() {
  if (!watch_.active() || !session_) return;
  ssh_session session = session_->get();
  const bool pending =
      (ssh_get_status(session) & SSH_WRITE_PENDING) != 0 || (state_ == State::exchange && (ssh_get_poll_flags(session) & SSH_WRITE_PENDING) != 0);
  watch_.set(pending ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void LibsshStream::keep_alive() {
  // A poll keeps the connection alive. Between rare ones a message that asks for no answer does; libssh's keepalive waits for one (trap 19).
  keepalive_ = engine_.loop.after(engine_.options.keepalive, [this] {
    const auto self = shared_from_this();
    if (state_ != State::running) return;
    ssh_send_ignore(session_->get(), "");
    keep_alive();
    drain();
  });
}

void LibsshStream::enter(State state, Seconds limit) {
  state_ = state;
  deadline_ = engine_.loop.after(limit, [this] {
    const auto self = shared_from_this();
    end_with({StreamEnd::Kind::failed, stuck(), {}});
  });
}

bool LibsshStream::broken() {
  if (!session_->dead()) return false;
  fail_with(Layer::lost, "connection to " + place() + " was lost: " + session_->error());
  return true;
}

void LibsshStream::fail_with(Layer layer, const std::string& words, std::string remedy) {
  Fault fault = make_fault(layer, words, by_hand_, std::move(remedy));
  // Through a proxy its own words say more than "disconnected", as long as the far end has not greeted.
  const bool by_proxy =
      proxy_ && (layer == Layer::greeting || layer == Layer::exchange) && (!session_ || ssh_get_serverbanner(session_->get()) == nullptr);
  if (by_proxy) fault = proxy_fault(plan_.settings, proxy_->words(), by_hand_);
  end_with({StreamEnd::Kind::failed, std::move(fault), {}});
}

void LibsshStream::end_with(StreamEnd end) {
  if (state_ == State::ended) return;
  state_ = State::ended;
  deadline_.reset();
  linger_.reset();
  watch_.set(0);
  owner_->ended(std::move(end));  // closes us
}

std::string LibsshStream::place() const { return "host " + plan_.settings.hostname + " port " + plan_.settings.port; }

Fault LibsshStream::stuck() const {
  switch (state_) {
    case State::queued:
      return make_fault(Layer::here, "many other hosts are being connected at the same time", by_hand_, "Raise --probe-timeout");
    case State::prepare:
      return make_fault(Layer::resolve, "the name server or the ssh configuration (Match exec) of " + target_.name + " does not answer in time",
                        by_hand_);
    case State::dial:
      return make_fault(Layer::dial, "connect to " + place() + ": Connection timed out", by_hand_);
    case State::exchange:
      if (proxy_ && ssh_get_serverbanner(session_->get()) == nullptr) return proxy_fault(plan_.settings, proxy_->words(), by_hand_);
      return make_fault(Layer::exchange, place() + " took the connection but does not speak SSH in time", by_hand_);
    case State::verify:
    case State::log_in: {
      Fault fault = make_fault(Layer::lost, "log-in at " + place() + " took too long", by_hand_);
      return fault;
    }
    case State::agent:
      return make_fault(Layer::lost, "the ssh-agent or " + place() + " does not answer the log-in in time", by_hand_);
    case State::open:
    case State::exec:
      return make_fault(Layer::channel, place() + " grants no session in time", by_hand_, "The host may be overloaded: ssh " + by_hand_);
    case State::running:
    case State::ended:
      break;
  }
  return make_fault(Layer::shell, "the remote shell did not start the probe in time", by_hand_);
}

void LibsshStream::close() {
  if (owner_ == nullptr) return;
  owner_ = nullptr;
  const bool was_running = std::exchange(state_, State::ended) == State::running;
  stop_.request_stop();
  deadline_.reset();
  pause_.reset();
  keepalive_.reset();
  linger_.reset();
  watch_.reset();
  pass_.reset();
  if (session_) {
    if (was_running) session_->end_command();
    if (session_.use_count() > 1) session_->interrupt();  // a worker is in it: it comes back at once and frees it
    session_.reset();
  }
  // The dialer may be the one that is calling: it is destroyed with the stream, which the link does later.
  proxy_.reset();
}

std::shared_ptr<Stream> make_libssh_stream(Engine& engine, const HostTarget& target) { return std::make_shared<LibsshStream>(engine, target); }

}  // namespace trainvigil::transport
