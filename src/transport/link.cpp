#include "transport/link.hpp"

#include <algorithm>
#include <utility>

namespace trainvigil::transport {
namespace {

constexpr double kHurryAt = 0.8;
/// The probe bounds its answer at 4 MiB; more than twice that is no probe.
constexpr std::size_t kMostBetweenLooks = std::size_t{256} << 10U;
constexpr std::size_t kMostHeard = 2048;

void keep_tail(std::string& tail, std::string_view more) {
  tail.append(more.substr(more.size() - std::min(more.size(), kMostHeard)));
  if (tail.size() > kMostHeard) tail.erase(0, tail.size() - kMostHeard);
}

}  // namespace

Link::Link(Engine& engine, std::string host, MakeStream make_stream, std::optional<BackOff> back_off)
    : engine_(engine), host_(std::move(host)), make_stream_(std::move(make_stream)), back_off_(std::move(back_off)) {}

void Link::look(std::shared_ptr<Conversation> conversation, Seconds limit, HostLink::Done done) {
  if (look_) {
    engine_.loop.post(
        [done = std::move(done), fault = make_fault(Layer::here, "a look at this host is under way already", host_)] { done(fault.failure); });
    return;
  }
  look_.emplace();
  look_->done = std::move(done);
  // The remote sh holds what an earlier conversation told it; a new one gets a new sh.
  if (conversation != conversation_) drop_stream();
  conversation_ = std::move(conversation);
  if (!stream_ && back_off_) {
    if (const Failure* failure = back_off_->remembered(SteadyClock::now())) return finish(*failure);
  }
  const std::weak_ptr<Link> weak = weak_from_this();
  look_->hurry = engine_.loop.after(limit * kHurryAt, [weak] {
    if (const auto self = weak.lock()) self->hurry();
  });
  look_->limit = engine_.loop.after(limit, [weak] {
    if (const auto self = weak.lock()) self->time_is_up();
  });
  if (!stream_) return connect();
  look_->may_reconnect = true;
  take_early();
  pump();
}

void Link::close() {
  drop_stream();
  if (look_) finish(make_fault(Layer::lost, "the connection was closed on this side", host_).failure);
}

void Link::connect() {
  outgoing_.clear();
  heard_.clear();
  opened_ = false;
  stream_ = make_stream_();
  stream_->start(*this);
}

void Link::opened() {
  if (!look_) return drop_stream();  // nobody waits for it any more
  opened_ = true;
  look_->ready = engine_.loop.after(stream_->ready_limit(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->look_ && !self->conversation_->ready()) self->give_up(self->stream_->stuck());
  });
  conversation_->opened();
  pump();
}

void Link::received(std::string_view out) { feed(out, false); }
void Link::received_error(std::string_view err) { feed(err, true); }

void Link::feed(std::string_view bytes, bool error) {
  if (!look_) {
    // Read nevertheless: a connection that nobody reads does not answer the server's keepalives and is dropped (trap 18).
    (error ? early_error_ : early_).append(bytes);
    if (early_.size() + early_error_.size() > kMostBetweenLooks) drop_stream();
    return;
  }
  if (!error) look_->heard = true;  // an ssh that dies says so on stderr: that is no part of an answer
  look_->received += bytes.size();
  const bool was_ready = conversation_->ready();
  if (!was_ready) keep_tail(heard_, bytes);
  if (error) {
    conversation_->received_error(bytes);
  } else {
    conversation_->received(bytes);
  }
  if (!was_ready && conversation_->ready()) {
    look_->ready.reset();
    if (back_off_) back_off_->succeeded();
  }
  if (look_->received > conversation_->most_bytes())
    return give_up(make_fault(Layer::shell, "the remote side floods: more bytes came in one look than were asked for", host_));
  pump();
}

void Link::take_early() {
  const std::string out = std::exchange(early_, {});
  const std::string err = std::exchange(early_error_, {});
  if (!out.empty()) conversation_->received(out);
  if (!err.empty()) conversation_->received_error(err);
}

void Link::pump() {
  while (look_ && stream_ && opened_) {
    if (const auto failure = conversation_->broken()) return give_up({*failure, Layer::shell});
    if (conversation_->ready() && conversation_->answered()) return finish(std::nullopt);
    if (outgoing_.empty()) outgoing_ = conversation_->take_output(kMostOutstanding);
    if (outgoing_.empty()) return;
    outgoing_.erase(0, stream_->write(outgoing_));
    if (!outgoing_.empty()) return;  // writable() goes on
  }
}

void Link::hurry() {
  if (!look_ || !opened_ || !conversation_->ready()) return;
  conversation_->hurry();
  pump();
}

void Link::time_is_up() {
  if (!look_) return;
  if (!opened_ || !conversation_->ready()) return give_up(stream_->stuck());
  if (conversation_->settle_for_less()) return finish(std::nullopt);
  give_up(make_fault(Layer::silence, "the probe did not answer in time", host_));
}

void Link::ended(StreamEnd end) {
  const bool was_open = std::exchange(opened_, false);
  drop_stream();
  if (!look_) return;  // died between looks: the next one connects again, at once
  if (std::exchange(look_->may_reconnect, false) && !look_->heard) return connect();
  if (end.kind == StreamEnd::Kind::exited) {
    Fault fault = shell_fault(end.command, heard_, host_);
    if (was_open && conversation_->ready()) fault = make_fault(Layer::lost, "the probe on the host ended in the middle of a look", host_);
    return give_up(fault);
  }
  give_up(end.fault);
}

void Link::give_up(const Fault& fault) {
  drop_stream();
  if (back_off_) back_off_->failed(fault, SteadyClock::now());
  finish(fault.failure);
}

void Link::finish(std::optional<Failure> failure) {
  // By the loop and not from here: whoever is told may at once look again, close, or destroy the link.
  engine_.loop.post([done = std::move(look_->done), failure = std::move(failure)] { done(failure); });
  look_.reset();
}

void Link::drop_stream() {
  opened_ = false;
  outgoing_.clear();
  early_.clear();
  early_error_.clear();
  if (!stream_) return;
  stream_->close();
  engine_.loop.post([stream = std::move(stream_)] {});  // it may be the one that is calling
  stream_ = nullptr;
}

}  // namespace trainvigil::transport
