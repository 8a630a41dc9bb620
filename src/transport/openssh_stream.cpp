// The ssh program as the way there: whatever it can do (ControlPath, two-factor log-ins, FIDO keys, host certificates) works.
#include "transport/child_stream.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {
namespace {

class OpensshStream final : public ChildStream {
 public:
  OpensshStream(Engine& engine, HostTarget target) : ChildStream(engine), target_(std::move(target)) {}

  void start(StreamOwner& owner) override {
    owner_ = &owner;
    // First what the configuration says about host keys: `no` there is overruled, accept-new is honoured.
    engine().pool.run([weak = weak_from_this(), inbox = engine().loop.inbox(), target = target_,
                       limit = engine().options.prepare_limit](const std::stop_token& stop) {
      auto settings = std::make_shared<Result<SshSettings>>(resolve_settings(target, limit, stop));
      inbox->post([weak, settings] {
        const auto self = weak.lock();
        if (self) static_cast<OpensshStream&>(*self).dial(*settings);
      });
    });
  }

  [[nodiscard]] Fault stuck() const override {
    const std::string words = one_line(error_tail(), 200, true);
    if (heard()) return make_fault(Layer::shell, "the remote shell did not start the probe in time", by_hand_);
    return make_fault(Layer::dial, "ssh did not get through in time" + (words.empty() ? words : "; it said: " + words), by_hand_);
  }
  /// ssh does not tell when it is through, so this holds for connect, key exchange, log-in and start of the script together.
  [[nodiscard]] Seconds ready_limit() const override {
    const TransportOptions& limits = ready_;
    return limits.dial_limit + limits.exchange_limit + limits.auth_limit + limits.ready_limit;
  }

 private:
  void dial(const Result<SshSettings>& settings) {
    if (closed()) return;
    if (!settings) {
      Fault fault = make_fault(Layer::target, settings.error().what, by_hand_, settings.error().remedy);
      return fail_later(*owner_, std::move(fault));
    }
    std::vector<std::string> argv = ssh_command_line(target_.ssh_config, *settings);
    if (settings->connect_timeout_s <= 0) {
      argv.insert(argv.end(), {"-o", "ConnectTimeout=" + std::to_string(static_cast<int>(std::max(1.0, ready_.dial_limit.count())))});
    }
    append_target(argv, *parse_target(target_.name));
    // /bin/sh and not sh: a start-up file that breaks PATH does not matter. exec: no log-in shell is left waiting.
    argv.insert(argv.end(), {"exec", "/bin/sh", "-s"});
    launch(*owner_, argv);
  }

  [[nodiscard]] StreamEnd explain(CommandEnd end, std::string_view err_tail) const override {
    constexpr int kSshItself = 255;
    if (end.exit_status && *end.exit_status != kSshItself) return {StreamEnd::Kind::exited, {}, std::move(end)};
    return {StreamEnd::Kind::failed, classify_ssh_stderr(err_tail, by_hand_), {}};
  }

  HostTarget target_;
  std::string by_hand_ = ssh_arguments(target_);
  TransportOptions ready_ = engine().options;
  StreamOwner* owner_ = nullptr;
};

}  // namespace

std::shared_ptr<Stream> make_openssh_stream(Engine& engine, const HostTarget& target) { return std::make_shared<OpensshStream>(engine, target); }

}  // namespace trainvigil::transport
