// The sh of this machine: the same probe, no ssh.
#include "transport/child_stream.hpp"

namespace trainvigil::transport {
namespace {

class LocalStream final : public ChildStream {
 public:
  using ChildStream::ChildStream;
  void start(StreamOwner& owner) override { launch(owner, {"/bin/sh", "-s"}); }
  [[nodiscard]] Fault stuck() const override {
    return make_fault(Layer::shell, "the local /bin/sh did not start the probe in time", "local", kRemedy);
  }
  [[nodiscard]] Seconds ready_limit() const override { return engine_limit_; }

 private:
  [[nodiscard]] StreamEnd explain(CommandEnd end, std::string_view) const override {
    return {StreamEnd::Kind::exited, make_fault(Layer::lost, "the local /bin/sh closed its output", "local", kRemedy), std::move(end)};
  }
  static constexpr const char* kRemedy = "Look at the load of this machine and at /bin/sh";
  Seconds engine_limit_ = engine().options.ready_limit;
};

}  // namespace

std::shared_ptr<Stream> make_local_stream(Engine& engine) { return std::make_shared<LocalStream>(engine); }

}  // namespace trainvigil::transport
