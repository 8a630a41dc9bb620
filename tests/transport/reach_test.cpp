// What keeps a look from getting through: names, ports, keys, proxies. And that nobody is hammered.
#include <gmock/gmock.h>
#include <sys/un.h>

#include <atomic>
#include <thread>

#include "remote_fixture.hpp"

namespace trainvigil::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using RemoteReach = Remote;

TEST_P(RemoteReach, ANameThatDoesNotResolve) {
  dir.write("ssh_config", "Host *\n");
  const auto failure = first_look("no-such-host.invalid");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::resolve_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("Could not resolve hostname no-such-host.invalid"));
  EXPECT_TRUE(failure->retry);
}

TEST_P(RemoteReach, ARefusedPort) {
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n Port " + std::to_string(free_port()) + "\n");
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("Connection refused"));
}

TEST_P(RemoteReach, AMuteServerEndsWithItsDeadline) {
  Listener mute;
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n Port " + std::to_string(mute.port()) + "\n");
  options.exchange_limit = options.dial_limit = Seconds{1};
  options.auth_limit = options.ready_limit = Seconds{1};
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->what, AnyOf(HasSubstr("in time"), HasSubstr("timed out during banner exchange")));
}

TEST_P(RemoteReach, TheLimitOfTheLookHoldsWhileConnecting) {
  Listener mute;
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n Port " + std::to_string(mute.port()) + "\n");
  const auto before = std::chrono::steady_clock::now();
  const auto failure = first_look("gpu1", Seconds{1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(8));
}

TEST_P(RemoteReach, ADropBeforeTheBanner) {
  Listener dropping;
  std::atomic<bool> stop = false;
  std::thread server([&] {
    while (!stop) {
      pollfd wait{dropping.fd(), POLLIN, 0};
      if (::poll(&wait, 1, 50) > 0) ::close(::accept(dropping.fd(), nullptr, nullptr));
    }
  });
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n Port " + std::to_string(dropping.port()) + "\n");
  const auto failure = first_look();
  stop = true;
  server.join();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->remedy, HasSubstr("MaxStartups"));
}

TEST_P(RemoteReach, AKeyThatIsNotLetInFailsAtOnceAndIsNotTriedAgain) {
  serve();
  dir.write("authorized_keys", "");
  const auto first = first_look();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->reach, Reach::auth_failed) << text(first);
  EXPECT_THAT(first->what, HasSubstr("Permission denied (publickey"));
  EXPECT_FALSE(first->retry);
  const std::size_t connections = sshd->times_logged("Connection from");
  for (int i = 0; i < 5; ++i) {
    const auto again = try_ask("E x");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->what, first->what);
  }
  EXPECT_EQ(sshd->times_logged("Connection from"), connections) << "OpenSSH 9.8 would penalise this address";
  // A fresh process tries at once: the operator may have mended it.
  dir.write("authorized_keys", dir.read("id.pub"));
  EXPECT_FALSE(first_look());
}

TEST_P(RemoteReach, AnEncryptedKeyIsNotAskedFor) {
  serve();
  sshd->make_key("locked", "ed25519", "secret");
  sshd->write_client_config("  IdentityFile " + dir.path("locked") + "\n");
  std::string config = dir.read("ssh_config");
  const std::string plain = "  IdentityFile " + dir.path("id") + "\n";
  config.erase(config.find(plain), plain.size());
  dir.write("ssh_config", config);
  dir.write("authorized_keys", dir.read("locked.pub"));
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::auth_failed) << text(failure);
  if (GetParam() == TransportKind::libssh) {
    EXPECT_THAT(failure->what, HasSubstr(dir.path("locked") + " is encrypted"));
  }
}

TEST_P(RemoteReach, NamesThatAShellOrAnOptionParserWouldMisread) {
  dir.write("ssh_config", "Host *\n ProxyCommand touch " + dir.path("made") + " %h\n");
  for (const char* name : {"-oProxyCommand=touch x", "a;touch x", "$(touch x)", "a b", "", "u'@h", "h:port", "h:99999", "[::1", "-l@h"}) {
    const auto failure = first_look(name);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  }
  EXPECT_FALSE(std::filesystem::exists(dir.path("made")));
}

TEST_P(RemoteReach, AConfigurationThatSshRefuses) {
  dir.write("ssh_config", "Host gpu1\n  NoSuchOption yes\n");
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("Bad configuration option"));
  EXPECT_THAT(failure->what, HasSubstr("line 2"));
}

TEST_P(RemoteReach, ProxyCommandLeadsThere) {
  serve();
  dir.write("bridge.py", R"(
import socket, sys, threading, os
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def up():
    while True:
        b = os.read(0, 65536)
        if not b: break
        s.sendall(b)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while True:
    b = s.recv(65536)
    if not b: break
    os.write(1, b)
)");
  if (run_to_end({"python3", "-c", "pass"}) != 0) GTEST_SKIP() << "no python3 for the bridge";
  sshd->write_client_config("  ProxyCommand python3 " + dir.path("bridge.py") + " %h %p\n");
  open_link();
  EXPECT_EQ(ask("E through"), "through");
  link->close();
  EXPECT_TRUE(eventually([&] { return Sshd::descendants(sshd->pid()).empty(); }));
}

TEST_P(RemoteReach, AProxyCommandThatFailsIsQuoted) {
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n ProxyCommand sh -c 'echo the tunnel is down >&2; exit 1'\n");
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("the tunnel is down"));
}

TEST_P(RemoteReach, AProxyCommandThatHangsEndsWithTheLook) {
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n ProxyCommand sleep 300\n");
  const auto failure = first_look("gpu1", Seconds{1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  transport.reset();  // outlived by nothing
  link.reset();
  EXPECT_TRUE(eventually([] { return Sshd::descendants(::getpid()).empty(); }));
}

TEST_P(RemoteReach, ProxyJumpLeadsThere) {
  serve();
  dir.write("ssh_config", sshd->client_block("  ProxyJump jump\n") + sshd->client_block({}, "jump"));
  open_link();
  EXPECT_EQ(ask("E through"), "through");
  EXPECT_EQ(sshd->times_logged("Accepted publickey"), 2U) << sshd->log();
}

TEST_P(RemoteReach, ProxyJumpOverTwoHosts) {
  serve();
  const std::string by_port = Sshd::user() + "@jump2:" + std::to_string(sshd->port());
  dir.write("ssh_config",
            sshd->client_block("  ProxyJump jump," + by_port + "\n") + sshd->client_block({}, "jump") + sshd->client_block({}, "jump2"));
  open_link();
  EXPECT_EQ(ask("E through"), "through");
  EXPECT_EQ(sshd->times_logged("Accepted publickey"), 3U) << sshd->log();
}

TEST_P(RemoteReach, AJumpHostThatRefusesIsNamed) {
  serve();
  dir.write("ssh_config", sshd->client_block("  ProxyJump jump\n") + "Host jump\n HostName 127.0.0.1\n Port " + std::to_string(free_port()) + "\n");
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("Connection refused"));
  if (GetParam() == TransportKind::libssh) {
    EXPECT_THAT(failure->what, HasSubstr("jump host jump"));
  }
}

TEST_P(RemoteReach, AJumpHostWithAnUnknownKeyIsRefused) {
  serve();
  known_hosts(known_name() + " " + sshd->host_key());
  dir.write("empty", "");
  std::string jump = sshd->client_block("  StrictHostKeyChecking no\n", "jump");
  jump.replace(jump.find(dir.path("known_hosts")), dir.path("known_hosts").size(), dir.path("empty"));
  dir.write("ssh_config", sshd->client_block("  ProxyJump jump\n") + jump);
  if (GetParam() == TransportKind::openssh) GTEST_SKIP() << "ssh starts its jump by itself, with the configuration as it is";
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::host_key_unknown) << text(failure);
}

TEST_P(RemoteReach, KeysOfAllKinds) {
  serve();
  for (const char* type : {"rsa", "ecdsa"}) {
    const std::string name = std::string("id_") + type;
    sshd->make_key(name, type);
    dir.write("authorized_keys", dir.read(name + ".pub"));
    sshd->write_client_config("  IdentityFile " + dir.path(name) + "\n");
    const auto failure = first_look();
    EXPECT_FALSE(failure) << type << " " << text(failure);
  }
}

TEST_P(RemoteReach, AUserCertificateIsOffered) {
  serve();
  sshd->make_key("authority", "ed25519");
  ASSERT_EQ(run_to_end({"ssh-keygen", "-q", "-s", dir.path("authority"), "-I", "user", "-n", Sshd::user(), dir.path("id.pub")}), 0);
  dir.write("authorized_keys", "cert-authority " + dir.read("authority.pub"));
  const auto failure = first_look();
  EXPECT_FALSE(failure) << text(failure);
}

class RemoteAgent : public Remote {
 protected:
  void SetUp() override {
    Remote::SetUp();
    if (IsSkipped()) return;
    serve();
    agent_ = start_program({"ssh-agent", "-D", "-a", dir.path("agent")}, dir.path("agent.log"));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(dir.path("agent")); }));
    ::setenv("SSH_AUTH_SOCK", dir.path("agent").c_str(), 1);
    // Neither key file nor `IdentityAgent none` of the usual block.
    dir.write("ssh_config", "Host gpu1\n  HostName 127.0.0.1\n  Port " + std::to_string(sshd->port()) + "\n  User " + Sshd::user() +
                                "\n  GlobalKnownHostsFile /dev/null\n  UserKnownHostsFile " + dir.path("known_hosts") + "\n");
  }
  void TearDown() override {
    if (agent_ > 0) {
      ::kill(agent_, SIGTERM);
      ::waitpid(agent_, nullptr, 0);
    }
    ::unsetenv("SSH_AUTH_SOCK");
  }
  void add(const std::string& key) { ASSERT_EQ(run_to_end({"ssh-add", "-q", dir.path(key)}), 0); }
  pid_t agent_ = -1;
};

TEST_P(RemoteAgent, AKeyOfTheAgentIsTaken) {
  add("id");
  open_link();
  EXPECT_EQ(ask("E agent"), "agent");
  EXPECT_EQ(ask("E again"), "again");
}

TEST_P(RemoteAgent, TheNamedKeyComesBeforeSevenOthers) {
  for (int i = 0; i < 7; ++i) {
    const std::string name = "extra" + std::to_string(i);
    sshd->make_key(name, "ed25519");
    add(name);
  }
  add("id");
  // Only the public half is named: the private one is the agent's.
  dir.write("ssh_config", dir.read("ssh_config") + "  IdentityFile " + dir.path("id.pub") + "\n  IdentitiesOnly yes\n");
  open_link();
  EXPECT_EQ(ask("E agent"), "agent");
}

TEST_P(RemoteAgent, AMuteAgentEndsWithTheLook) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  dir.path("mute").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd, 4), 0);
  ::setenv("SSH_AUTH_SOCK", dir.path("mute").c_str(), 1);
  const auto failure = first_look("gpu1", Seconds{2});
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->reach, Reach::ok) << text(failure);
  link.reset();
  transport.reset();
  ::close(fd);
}

INSTANTIATE_TEST_SUITE_P(Ssh, RemoteReach, ::testing::Values(TransportKind::libssh, TransportKind::openssh), kind_name);
INSTANTIATE_TEST_SUITE_P(Ssh, RemoteAgent, ::testing::Values(TransportKind::libssh, TransportKind::openssh), kind_name);

}  // namespace
}  // namespace trainvigil::test
