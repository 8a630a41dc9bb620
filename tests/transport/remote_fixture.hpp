// A link to a private sshd, by either of the two ssh transports.
#pragma once

#include <gtest/gtest.h>

#include "echo_conversation.hpp"
#include "support/sshd.hpp"
#include "transport/options.hpp"

namespace trainvigil::test {

inline transport::TransportOptions impatient() {
  transport::TransportOptions options;
  options.back_off_first = Seconds{0.05};  // what fails for a moment is tried again at once; refusals keep their five minutes
  options.back_off_most = Seconds{0.2};
  options.back_off_busy = Seconds{0.05};
  return options;
}

/// The tests of both ssh transports are the same tests.
class Remote : public ::testing::TestWithParam<TransportKind> {
 protected:
  void SetUp() override {
    if (const std::string why = Sshd::why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  void serve(const Sshd::Options& server = {}) { sshd = std::make_unique<Sshd>(dir, server); }
  void open_link(const std::string& name = "gpu1") {
    link.reset();
    transport = transport::make_transport(options);
    link = transport->link({name, GetParam(), dir.path("ssh_config")});
    echo = std::make_shared<EchoConversation>();
  }
  std::optional<Failure> try_ask(const std::string& request, Seconds limit = Seconds{60}) {
    echo->ask(request);
    return look(*link, echo, limit);
  }
  std::string ask(const std::string& request) {
    const auto failure = try_ask(request);
    return failure ? "FAILED " + text(failure) : echo->answer();
  }
  /// A link of its own for one look.
  std::optional<Failure> first_look(const std::string& name = "gpu1", Seconds limit = Seconds{60}) {
    open_link(name);
    return try_ask("E hello", limit);
  }
  void known_hosts(const std::string& text) { dir.write("known_hosts", text); }
  [[nodiscard]] std::string known_name() const { return "[127.0.0.1]:" + std::to_string(sshd->port()); }

  TempDir dir;
  std::unique_ptr<Sshd> sshd;
  transport::TransportOptions options = impatient();
  std::unique_ptr<Transport> transport;
  std::unique_ptr<HostLink> link;
  std::shared_ptr<EchoConversation> echo;
};

inline std::string kind_name(const ::testing::TestParamInfo<TransportKind>& info) {
  return info.param == TransportKind::libssh ? "libssh" : "openssh";
}

}  // namespace trainvigil::test
