// What both ssh transports do once they are through: the same shell, the same ends.
#include <gmock/gmock.h>

#include <thread>

#include "remote_fixture.hpp"

namespace trainvigil::test {
namespace {

using ::testing::HasSubstr;
using RemoteShell = Remote;

TEST_P(RemoteShell, OneRoundTrip) {
  serve();
  open_link();
  EXPECT_EQ(ask("E hello"), "hello");
}

TEST_P(RemoteShell, KeepsConnectionAndShellBetweenLooks) {
  serve();
  open_link();
  const std::string first = ask("P");
  EXPECT_EQ(ask("P"), first);
  EXPECT_EQ(ask("E again"), "again");
  EXPECT_EQ(echo->opens(), 1);
  EXPECT_EQ(sshd->times_logged("Accepted publickey"), 1U) << sshd->log();
}

TEST_P(RemoteShell, NothingIsLeftAfterClose) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  ASSERT_FALSE(Sshd::descendants(sshd->pid()).empty());
  link->close();
  EXPECT_TRUE(eventually([&] { return Sshd::descendants(sshd->pid()).empty(); }));
}

TEST_P(RemoteShell, AServerThatWasAwayIsReconnectedWithinTheNextLook) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  sshd->stop();
  sshd->start();
  EXPECT_EQ(ask("E back"), "back");
  EXPECT_EQ(echo->opens(), 2);
}

TEST_P(RemoteShell, AServerThatIsAwayIsAFailureUntilItComesBack) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  sshd->stop();
  const auto failure = try_ask("E y");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("Connection refused"));
  EXPECT_TRUE(failure->retry);
  sshd->start();
  EXPECT_TRUE(eventually([&] { return ask("E back") == "back"; }));
}

TEST_P(RemoteShell, NoiseOnStderrDoesNotStopTheAnswer) {
  serve();
  open_link();
  EXPECT_EQ(ask("N"), "quiet");
  EXPECT_THAT(echo->errors(), HasSubstr("noise"));
}

TEST_P(RemoteShell, AFloodIsCutOff) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  const auto failure = try_ask("F");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::shell_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("flood"));
  EXPECT_TRUE(eventually([&] { return Sshd::descendants(sshd->pid()).empty(); })) << "the flood ends on the host as well";
}

TEST_P(RemoteShell, ALookThatHangsIsHurriedAndThenFails) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  const auto failure = try_ask("S 300", Seconds{2});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::probe_timeout) << text(failure);
  EXPECT_TRUE(echo->hurried());
}

TEST_P(RemoteShell, ALookThatSettlesForLessKeepsItsConnection) {
  serve();
  open_link();
  const std::string shell = ask("P");
  echo->settles(true);
  EXPECT_FALSE(try_ask("S 3", Seconds{1}));
  echo->settles(false);
  EXPECT_TRUE(eventually([&] { return ask("P") == shell; }));
  EXPECT_EQ(sshd->times_logged("Accepted publickey"), 1U);
}

TEST_P(RemoteShell, TheEndOfTheRemoteShellIsTold) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  const auto failure = try_ask("X 3");
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->reach, Reach::ok);
  EXPECT_TRUE(eventually([&] { return ask("E back") == "back"; }));
}

TEST_P(RemoteShell, NologinIsAShellFailureWithItsWords) {
  serve({"ForceCommand echo 'This account is currently not available.'; exit 1\n", {}});
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::shell_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("not available"));
}

TEST_P(RemoteShell, AHostWithoutShIsTold) {
  serve({"ForceCommand exit 127\n", {}});
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::shell_failed) << text(failure);
  EXPECT_THAT(failure->what, HasSubstr("/bin/sh"));
}

TEST_P(RemoteShell, NoiseOfStartUpFilesIsOverheard) {
  serve({"ForceCommand yes motd | head -c 100000; echo TVECHO; echo >&2 warning; exec /bin/sh -s\n", {}});
  open_link();
  EXPECT_EQ(ask("E hello"), "hello");
}

TEST_P(RemoteShell, AStartUpFileThatReadsALineEatsNothingOfValue) {
  serve({"ForceCommand read x; exec /bin/sh -s\n", {}});
  open_link();
  EXPECT_EQ(ask("E hello"), "hello");
}

TEST_P(RemoteShell, AShellThatSwallowsTheScriptIsGivenUp) {
  serve({"ForceCommand exec sleep 600\n", {}});
  options.ready_limit = options.dial_limit = options.exchange_limit = options.auth_limit = Seconds{2};
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what, HasSubstr("in time")) << text(failure);
}

TEST_P(RemoteShell, TheConfigurationCounts) {
  serve();
  // Port and user by the server's block; what is added here is for sessions of the user and must not disturb.
  sshd->write_client_config(
      "  RemoteCommand top\n  RequestTTY force\n  LocalForward 127.0.0.1:" + std::to_string(sshd->port()) +
      " 127.0.0.1:1\n  ExitOnForwardFailure yes\n  LogLevel QUIET\n  PermitLocalCommand yes\n  LocalCommand false\n  SessionType none\n");
  open_link();
  EXPECT_EQ(ask("E hello"), "hello");
}

TEST_P(RemoteShell, MatchAndIncludeAreUnderstood) {
  serve();
  dir.write("more", "Match originalhost gpu7 exec \"true\"\n" + sshd->client_block({}, "unused").substr(std::string("Host unused\n").size()));
  dir.write("ssh_config", "Include " + dir.path("more") + "\n");
  open_link("gpu7");
  EXPECT_EQ(ask("E hello"), "hello");
}

TEST_P(RemoteShell, UserAndPortInTheNameWin) {
  serve();
  dir.write("ssh_config", sshd->client_block());
  std::string config = dir.read("ssh_config");
  config.replace(config.find("  Port "), std::string("  Port " + std::to_string(sshd->port()) + "\n").size(), "  Port 1\n");
  dir.write("ssh_config", config);
  open_link(Sshd::user() + "@gpu1:" + std::to_string(sshd->port()));
  EXPECT_EQ(ask("E hello"), "hello");
}

TEST_P(RemoteShell, CloseWhileConnectingIsPrompt) {
  Listener mute;
  dir.write("ssh_config", "Host gpu1\n HostName 127.0.0.1\n Port " + std::to_string(mute.port()) + "\n");
  open_link();
  std::optional<Failure> failure;
  std::thread looker([&] { failure = try_ask("E x"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  link->close();
  looker.join();
  EXPECT_TRUE(failure);
}

TEST_P(RemoteShell, AnIdleConnectionAnswersTheServer) {
  serve({"ClientAliveInterval 1\nClientAliveCountMax 1\n", {}});
  options.keepalive = Seconds{0.2};
  open_link();
  const std::string shell = ask("P");
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(ask("P"), shell);
  EXPECT_EQ(echo->opens(), 1);
}

TEST_P(RemoteShell, AChannelThatTheServerClosesIsReplacedWithinTheLook) {
  serve();
  open_link();
  const std::string shell = ask("P");
  ASSERT_EQ(::kill(static_cast<pid_t>(std::stol(shell)), SIGKILL), 0);
  EXPECT_EQ(ask("E back"), "back");
  EXPECT_EQ(echo->opens(), 2);
}

TEST_P(RemoteShell, AServerThatFreezesCostsItsOwnLookOnly) {
  serve();
  open_link();
  ASSERT_EQ(ask("E x"), "x");
  const std::vector<pid_t> frozen = Sshd::descendants(sshd->pid());
  for (const pid_t pid : frozen) ::kill(pid, SIGSTOP);
  std::optional<Failure> failure;
  std::thread looker([&] { failure = try_ask("E y", Seconds{3}); });
  // Another host of the same transport is answered meanwhile.
  const auto other = transport->link({"local", TransportKind::local, {}});
  const auto other_echo = std::make_shared<EchoConversation>();
  for (int i = 0; i < 5; ++i) {
    other_echo->ask("E " + std::to_string(i));
    EXPECT_FALSE(test::look(*other, other_echo));
  }
  looker.join();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::probe_timeout) << text(failure);
  for (const pid_t pid : frozen) ::kill(pid, SIGCONT);
  EXPECT_TRUE(eventually([&] { return ask("E back") == "back"; }));
  link->close();
  EXPECT_TRUE(eventually([&] { return Sshd::descendants(sshd->pid()).empty(); }));
}

TEST_P(RemoteShell, EveryLogInShellLeadsToSh) {
  int tried = 0;
  for (const char* shell : {"bash", "dash", "busybox sh", "fish", "tcsh", "zsh", "mksh", "yash"}) {
    const std::string name = shell;
    if (run_to_end({"sh", "-c", "command -v " + name.substr(0, name.find(' '))}) != 0) continue;
    sshd.reset();
    serve({"ForceCommand exec " + name + " -c \"$SSH_ORIGINAL_COMMAND\"\n", {}});
    open_link();
    EXPECT_EQ(ask("E hello"), "hello") << shell;
    link.reset();
    ++tried;
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(Ssh, RemoteShell, ::testing::Values(TransportKind::libssh, TransportKind::openssh), kind_name);

}  // namespace
}  // namespace trainvigil::test
