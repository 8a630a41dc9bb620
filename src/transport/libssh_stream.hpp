// A stream by libssh: PREPARE → DIAL → EXCHANGE → VERIFY → LOG IN → (AGENT) → OPEN → EXEC → RUNNING, one step at a time, no call that blocks.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "transport/dialer.hpp"
#include "transport/engine.hpp"
#include "transport/prepare.hpp"
#include "transport/proxy.hpp"
#include "transport/session.hpp"
#include "transport/stream.hpp"

namespace trainvigil::transport {

class LibsshStream final : public Stream, public std::enable_shared_from_this<LibsshStream> {
 public:
  LibsshStream(Engine& engine, HostTarget target);
  ~LibsshStream() override { LibsshStream::close(); }
  LibsshStream(const LibsshStream&) = delete;
  LibsshStream& operator=(const LibsshStream&) = delete;

  void start(StreamOwner& owner) override;
  std::size_t write(std::string_view bytes) override;
  void close() override;
  [[nodiscard]] Fault stuck() const override;
  [[nodiscard]] Seconds ready_limit() const override { return engine_.options.ready_limit; }

 private:
  enum class State { queued, prepare, dial, exchange, verify, log_in, agent, open, exec, running, ended };

  // What a step asks for next: another step at once, or to wait for the socket.
  enum class Next { step, wait };

  void begin();
  void prepared(tl::expected<Preparation, Fault> result);
  void dial();
  void connect_proxy();
  void connected(UniqueFd socket);

  void on_socket();
  void advance();
  Next step();
  Next exchange();
  Next verify();
  Next log_in();
  Next refused_by_all();
  void ask_agent();
  Next open();
  Next exec();
  void drain();
  void drain_later();
  void check_end();
  void arm();
  void keep_alive();

  void enter(State state, Seconds limit);
  void fail_with(Layer layer, const std::string& words, std::string remedy = {});
  void end_with(StreamEnd end);
  /// After every call into libssh: true when the connection is gone, and told.
  bool broken();
  [[nodiscard]] std::string place() const;

  Engine& engine_;
  HostTarget target_;
  std::string by_hand_;
  StreamOwner* owner_ = nullptr;
  State state_ = State::queued;
  HandshakeGate::Pass pass_;
  Timer deadline_, pause_, keepalive_, linger_;
  std::stop_source stop_;
  Preparation plan_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Proxy> proxy_;
  std::shared_ptr<SshSession> session_;  ///< shared with the worker while it logs in
  Watch watch_;                          ///< after session_: it watches the session's descriptor
  std::size_t next_identity_ = 0;
  bool agent_asked_ = false;
  bool none_asked_ = false;
  std::string agent_note_;
  bool wants_room_ = false;
  bool drain_posted_ = false;
};

}  // namespace trainvigil::transport
