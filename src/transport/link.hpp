// One host: carries the looks of a conversation over a stream, connects, reconnects, and gives up in time. All of it on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainvigil/transport.hpp"
#include "transport/back_off.hpp"
#include "transport/engine.hpp"
#include "transport/stream.hpp"

namespace trainvigil::transport {

/// One look that is under way. (Not inside Link: clang 14 can not build an optional of a nested class with initialisers.)
struct LinkLook {
  HostLink::Done done;
  Timer hurry;
  Timer limit;
  Timer ready;
  bool heard = false;          ///< something of this look's answer has come
  bool may_reconnect = false;  ///< the stream is from an earlier look and may have died meanwhile
  std::size_t received = 0;
};

class Link final : public StreamOwner, public std::enable_shared_from_this<Link> {
 public:
  using MakeStream = std::function<std::shared_ptr<Stream>()>;
  /// `back_off` absent: reconnects whenever asked (the local sh costs nobody anything).
  Link(Engine& engine, std::string host, MakeStream make_stream, std::optional<BackOff> back_off);

  void look(std::shared_ptr<Conversation> conversation, Seconds limit, HostLink::Done done);
  void close();

 private:
  void opened() override;
  void received(std::string_view out) override;
  void received_error(std::string_view err) override;
  void writable() override { pump(); }
  void ended(StreamEnd end) override;

  void connect();
  void pump();
  void hurry();
  void time_is_up();
  void feed(std::string_view bytes, bool error);
  void take_early();
  void finish(std::optional<Failure> failure);
  /// Fails the look and drops the stream.
  void give_up(const Fault& fault);
  void drop_stream();

  Engine& engine_;
  std::string host_;
  MakeStream make_stream_;
  std::optional<BackOff> back_off_;
  std::shared_ptr<Conversation> conversation_;
  std::shared_ptr<Stream> stream_;
  bool opened_ = false;
  std::optional<LinkLook> look_;
  std::string outgoing_;             ///< taken from the conversation, not taken by the stream yet
  std::string early_, early_error_;  ///< came between looks, when the conversation is its owner's
  std::string heard_;                ///< the last words before the script announced itself, for the failure's text
};

}  // namespace trainvigil::transport
