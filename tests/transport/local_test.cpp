#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <set>
#include <thread>

#include "echo_conversation.hpp"
#include "support/sshd.hpp"
#include "trainvigil/transport.hpp"

namespace trainvigil::test {
namespace {

class LocalLink : public ::testing::Test {
 protected:
  std::unique_ptr<Transport> transport = make_transport();
  std::unique_ptr<HostLink> link = transport->link({"local", TransportKind::libssh, {}});
  std::shared_ptr<EchoConversation> echo = std::make_shared<EchoConversation>();

  std::string ask(const std::string& request, Seconds limit = Seconds{30}) {
    echo->ask(request);
    const auto failure = look(*link, echo, limit);
    return failure ? "FAILED " + text(failure) : echo->answer();
  }
};

bool alive(const std::string& pid) { return ::kill(static_cast<pid_t>(std::stol(pid)), 0) == 0; }

TEST_F(LocalLink, OneRoundTrip) {
  EXPECT_EQ(ask("E hello"), "hello");
  EXPECT_EQ(echo->opens(), 1);
}

TEST_F(LocalLink, KeepsTheSameShellBetweenLooks) {
  const std::string first = ask("P");
  EXPECT_EQ(ask("P"), first);
  EXPECT_EQ(ask("E again"), "again");
  EXPECT_EQ(echo->opens(), 1);
}

TEST_F(LocalLink, NothingIsLeftAfterClose) {
  const std::string shell = ask("P");
  const std::string background = ask("B 300");
  ASSERT_TRUE(alive(shell) && alive(background));
  link->close();
  EXPECT_TRUE(eventually([&] { return !alive(shell) && !alive(background); }));
}

TEST_F(LocalLink, AShellThatDiedBetweenLooksIsReplacedWithinTheNextLook) {
  const std::string first = ask("P");
  ASSERT_EQ(::kill(static_cast<pid_t>(std::stol(first)), SIGKILL), 0);
  const std::string second = ask("P");
  EXPECT_NE(second, first);
  EXPECT_EQ(second.find("FAILED"), std::string::npos) << second;
  EXPECT_EQ(echo->opens(), 2);
}

TEST_F(LocalLink, AShellThatEndsInTheMiddleOfALookFailsIt) {
  echo->ask("X 3");
  const auto failure = look(*link, echo);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::connect_failed) << text(failure);
  EXPECT_EQ(ask("E back"), "back") << "no back-off for this machine";
}

TEST_F(LocalLink, ALookThatHangsIsHurriedAndThenFails) {
  ASSERT_EQ(ask("E warm"), "warm");
  const std::string shell = ask("P");
  echo->ask("S 300");
  const auto failure = look(*link, echo, Seconds{1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::probe_timeout) << text(failure);
  EXPECT_TRUE(echo->hurried());
  EXPECT_TRUE(eventually([&] { return !alive(shell); })) << "the shell that hung is gone";
}

TEST_F(LocalLink, ALookThatSettlesForLessKeepsItsShell) {
  const std::string shell = ask("P");
  echo->settles(true);
  echo->ask("S 2");
  EXPECT_FALSE(look(*link, echo, Seconds{0.5}));
  EXPECT_TRUE(echo->hurried());
  echo->settles(false);
  // The late answer comes first; sorting it out is the conversation's business.
  EXPECT_TRUE(eventually([&] { return ask("P") == shell; }));
  EXPECT_EQ(echo->opens(), 1);
}

TEST_F(LocalLink, NoiseOnStderrDoesNotStopTheAnswer) {
  EXPECT_EQ(ask("N"), "quiet");
  EXPECT_NE(echo->errors().find("noise"), std::string::npos);
}

TEST_F(LocalLink, AFloodIsCutOff) {
  ASSERT_EQ(ask("E warm"), "warm");
  echo->ask("F");
  const auto failure = look(*link, echo);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::shell_failed) << text(failure);
  EXPECT_NE(failure->what.find("flood"), std::string::npos) << text(failure);
}

TEST_F(LocalLink, WhatComesBetweenLooksIsNotLost) {
  EXPECT_EQ(ask("L"), "later");
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(ask("E next"), "next");
  EXPECT_EQ(echo->opens(), 1);
}

TEST_F(LocalLink, CloseFailsTheRunningLookOnce) {
  ASSERT_EQ(ask("E warm"), "warm");
  echo->ask("S 300");
  std::optional<Failure> failure;
  std::thread looker([&] { failure = look(*link, echo); });
  ASSERT_TRUE(eventually([&] { return !Sshd::descendants(::getpid()).empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  link->close();
  looker.join();
  ASSERT_TRUE(failure);
}

TEST_F(LocalLink, ASecondLookAtTheSameTimeIsRefused) {
  ASSERT_EQ(ask("E warm"), "warm");
  echo->ask("S 1");
  std::optional<Failure> first;
  std::thread looker([&] { first = look(*link, echo); });
  auto other = std::make_shared<EchoConversation>();
  other->ask("E x");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto second = look(*link, other);
  looker.join();
  EXPECT_FALSE(first) << text(first);
  EXPECT_TRUE(second);
}

TEST_F(LocalLink, ChildrenStartWithDefaultSignals) {
  std::ifstream status("/proc/" + ask("P") + "/status");
  int seen = 0;
  for (std::string line; std::getline(status, line);) {
    const std::string key = line.substr(0, line.find(':'));
    if (key != "SigIgn" && key != "SigBlk") continue;
    ++seen;
    // Real-time signals 32 and 33 are the C library's own.
    constexpr unsigned long kClassic = 0x7fffffff;
    EXPECT_EQ(std::stoul(line.substr(key.size() + 2), nullptr, 16) & kClassic, 0U) << line;
  }
  EXPECT_EQ(seen, 2);
}

/// Descriptors that a child of this process would inherit.
std::set<int> inheritable() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.insert(fd);
  }
  return found;
}

TEST(LocalTransport, EveryDescriptorIsCloseOnExec) {
  const std::set<int> before = inheritable();
  const auto transport = make_transport();
  const auto link = transport->link({"local", TransportKind::local, {}});
  const auto echo = std::make_shared<EchoConversation>();
  echo->ask("E x");
  ASSERT_FALSE(look(*link, echo));
  EXPECT_EQ(inheritable(), before);
}

TEST_F(LocalLink, ReconnectsLeaveNoDescriptorBehind) {
  const auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  ask("E x");
  link->close();
  ASSERT_TRUE(eventually([] { return Sshd::descendants(::getpid()).empty(); }));
  const auto before = count();
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(ask("E x"), "x");
    link->close();
  }
  EXPECT_TRUE(eventually([&] { return count() <= before; })) << count() << " now, before " << before;
}

TEST(LocalTransport, ManyLinksAtOnceAndDestructionUnderWay) {
  auto transport = make_transport();
  std::vector<std::unique_ptr<HostLink>> links;
  std::vector<std::thread> lookers;
  std::atomic<int> good = 0;
  for (int i = 0; i < 20; ++i) links.push_back(transport->link({"local", TransportKind::local, {}}));
  for (auto& link : links) {
    lookers.emplace_back([&] {
      const auto echo = std::make_shared<EchoConversation>();
      for (int i = 0; i < 5; ++i) {
        echo->ask("E " + std::to_string(i));
        if (!look(*link, echo) && echo->answer() == std::to_string(i)) ++good;
      }
    });
  }
  for (auto& looker : lookers) looker.join();
  EXPECT_EQ(good, 100);
  // One is still looking when everything ends.
  const auto echo = std::make_shared<EchoConversation>();
  echo->ask("S 300");
  std::atomic<int> called = 0;
  links.front()->look(echo, Seconds{60}, [&](const std::optional<Failure>&) { ++called; });
  links.clear();
  transport.reset();
  EXPECT_EQ(called, 1);
  EXPECT_TRUE(eventually([] { return Sshd::descendants(::getpid()).empty(); }));
}

}  // namespace
}  // namespace trainvigil::test
