#include "trainvigil/transport.hpp"

#include <libssh/libssh.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "transport/engine.hpp"
#include "transport/link.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil {
namespace transport {
namespace {

/// The handle outside; the link itself lives on the loop and may be in its hands a moment longer.
class LinkHandle final : public HostLink {
 public:
  LinkHandle(std::shared_ptr<Engine> engine, std::shared_ptr<Link> link) : engine_(std::move(engine)), link_(std::move(link)) {}
  ~LinkHandle() override { LinkHandle::close(); }
  LinkHandle(const LinkHandle&) = delete;
  LinkHandle& operator=(const LinkHandle&) = delete;

  void look(std::shared_ptr<Conversation> conversation, Seconds limit, Done done) override {
    engine_->loop.post([link = link_, conversation = std::move(conversation), limit, done = std::move(done)]() mutable {
      link->look(std::move(conversation), limit, std::move(done));
    });
  }
  void close() override {
    engine_->loop.run_and_wait([this] { link_->close(); });
  }

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Link> link_;
};

class LoopTransport final : public Transport {
 public:
  explicit LoopTransport(const TransportOptions& options) : engine_(std::make_shared<Engine>(options)) {}
  ~LoopTransport() override {
    engine_->loop.run_and_wait([this] { engine_->children.shut_down(); });
  }
  LoopTransport(const LoopTransport&) = delete;
  LoopTransport& operator=(const LoopTransport&) = delete;

  std::unique_ptr<HostLink> link(const HostTarget& target) override {
    const bool local = target.kind == TransportKind::local || target.name == "local";
    const auto make = [engine = engine_.get(), target, local]() -> std::shared_ptr<Stream> {
      if (local) return make_local_stream(*engine);
      return target.kind == TransportKind::openssh ? make_openssh_stream(*engine, target) : make_libssh_stream(*engine, target);
    };
    std::optional<BackOff> back_off;
    if (!local) back_off.emplace(engine_->options);
    return std::make_unique<LinkHandle>(
        engine_, std::make_shared<Link>(*engine_, local ? target.name : transport::ssh_arguments(target), make, std::move(back_off)));
  }

 private:
  std::shared_ptr<Engine> engine_;
};

/// A write to a child or a server that has just gone is an error to handle, not the end of the process.
void ignore_sigpipe() {
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

/// A thousand hosts need two descriptors each; the usual soft limit of 1,024 is there for programs that use select().
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::unique_ptr<Transport> make_transport(const TransportOptions& options) {
  ignore_sigpipe();
  raise_descriptor_limit();
  ::ssh_init();
  return std::make_unique<LoopTransport>(options);
}

}  // namespace transport

std::unique_ptr<Transport> make_transport() { return transport::make_transport(transport::TransportOptions{}); }

}  // namespace trainvigil
