// The parts without a descriptor: parsing, judging, the error table, back-off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/agent.hpp"
#include "transport/back_off.hpp"
#include "transport/base64.hpp"
#include "transport/failure.hpp"
#include "transport/known_hosts.hpp"
#include "transport/ssh_settings.hpp"

namespace trainvigil::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Target, IsSplitAtUserHostAndPort) {
  const auto plain = parse_target("gpu1");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "gpu1");
  EXPECT_EQ(plain->user, "");
  EXPECT_EQ(plain->port, "");
  const auto full = parse_target("CORP\\alice@gpu_1.example:2222");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->user, "CORP\\alice");
  EXPECT_EQ(full->host, "gpu_1.example");
  EXPECT_EQ(full->port, "2222");
  EXPECT_EQ(parse_target("a@b@h")->user, "a@b");
  EXPECT_EQ(parse_target("fe80::1%eth0")->host, "fe80::1%eth0");
  EXPECT_EQ(parse_target("[::1]:22")->host, "::1");
  EXPECT_EQ(parse_target("[::1]:22")->port, "22");
}

TEST(Target, IsRefusedWhereAShellCouldReadSomethingElse) {
  for (const char* name : {"-oX=y", "h;x", "h x", "h\n", "$h", "`h`", "h|x", "u$(x)@h", "-u@h", "h:", "h:x", "h:70000", "[h", "[h]x", "", "@h"})
    EXPECT_FALSE(parse_target(name)) << name;
}

TEST(SshG, IsRead) {
  const SshSettings s = parse_ssh_g(
      "user alice\nhostname 10.0.0.7\nport 2222\nidentityfile ~/.ssh/a\nidentityfile ~/.ssh/b\nidentitiesonly yes\nproxyjump none\nproxycommand "
      "none\n"
      "stricthostkeychecking accept-new\nconnecttimeout none\nuserknownhostsfile /nonexistent/a /nonexistent/b\nidentityagent none\nsomethingnew 1\n",
      *parse_target("gpu1"));
  EXPECT_EQ(s.user, "alice");
  EXPECT_EQ(s.known_hosts_name(), "[10.0.0.7]:2222");
  EXPECT_EQ(s.bare_known_hosts_name(), "10.0.0.7");
  EXPECT_THAT(s.identity_files, ElementsAre("~/.ssh/a", "~/.ssh/b"));
  EXPECT_THAT(s.user_known_hosts, ElementsAre("/nonexistent/a", "/nonexistent/b"));
  EXPECT_TRUE(s.identities_only);
  EXPECT_TRUE(s.accept_new());
  EXPECT_FALSE(s.has_proxy());
  EXPECT_EQ(s.connect_timeout_s, 0);
}

TEST(SshG, AnAliasIsTheKnownHostsNameWithoutPort) {
  SshSettings s = parse_ssh_g("hostname H.Example\nport 2222\nhostkeyalias Head\n", *parse_target("x"));
  EXPECT_EQ(s.known_hosts_name(), "head");
  EXPECT_EQ(s.bare_known_hosts_name(), "head");
  s.host_key_alias.clear();
  s.port = "22";
  EXPECT_EQ(s.known_hosts_name(), "h.example");
}

TEST(Tokens, AreExpandedAndUnknownOnesRefused) {
  SshSettings s;
  s.given_host = "gpu1";
  s.hostname = "10.0.0.7";
  s.port = "2222";
  s.user = "alice";
  EXPECT_EQ(*expand_tokens("nc %h %p 100%% %r %n", s), "nc 10.0.0.7 2222 100% alice gpu1");
  EXPECT_FALSE(expand_tokens("%C", s));
  EXPECT_FALSE(expand_tokens("%", s));
  ::setenv("TV_TEST_DIR", "/k", 1);
  EXPECT_EQ(*expand_path("${TV_TEST_DIR}/%h", s), "/k/10.0.0.7");
  EXPECT_FALSE(expand_path("${TV_TEST_UNSET_VARIABLE}/x", s));
}

TEST(ByHand, TheCommandIsQuoted) {
  EXPECT_EQ(ssh_arguments({"alice@gpu1:2222", TransportKind::libssh, "/a b/c"}), "-F '/a b/c' -p 2222 alice@gpu1");
  EXPECT_EQ(ssh_arguments({"it's", TransportKind::libssh, {}}), "'it'\\''s'");
}

TEST(Base64, BothWays) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd"}) EXPECT_EQ(base64_decode(base64_encode(text)), text);
  EXPECT_EQ(base64_encode(std::string("\0\377\176", 3)), "AP9+");
  EXPECT_EQ(base64_encode("ab"), "YWI=");
}

const HostKey kOffered{"ssh-ed25519", "AAAAgood", "SHA256:x"};

KnownKey line(const std::string& type, const std::string& base64, KnownKey::Marker marker = KnownKey::Marker::none, int number = 1) {
  return {"/kh", number, marker, type, base64};
}

KeyVerdict::Kind verdict(std::vector<KnownKey> exact, std::vector<KnownKey> bare = {}) {
  KnownHosts known;
  known.exact = std::move(exact);
  known.without_port = std::move(bare);
  return judge_host_key(known, kOffered).kind;
}

TEST(HostKeys, AreJudgedAsBySsh) {
  using Kind = KeyVerdict::Kind;
  using Marker = KnownKey::Marker;
  EXPECT_EQ(verdict({}), Kind::unknown);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAgood")}), Kind::known);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAbad"), line("ssh-ed25519", "AAAAgood")}), Kind::known);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAbad")}), Kind::changed);
  EXPECT_EQ(verdict({line("ssh-rsa", "AAAAbad")}), Kind::changed);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAgood"), line("ssh-ed25519", "AAAAgood", Marker::revoked)}), Kind::revoked);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAgood"), line("ssh-ed25519", "AAAAbad", Marker::revoked)}), Kind::known);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAca", Marker::authority)}), Kind::needs_certificate);
  EXPECT_EQ(verdict({line("ssh-ed25519", "AAAAgood", Marker::authority)}), Kind::needs_certificate);
  EXPECT_EQ(verdict({}, {line("ssh-ed25519", "AAAAgood")}), Kind::known);
  EXPECT_EQ(verdict({}, {line("ssh-ed25519", "AAAAbad")}), Kind::unknown);
  EXPECT_EQ(verdict({}, {line("ssh-ed25519", "AAAAgood", Marker::revoked)}), Kind::revoked);
}

TEST(HostKeys, ARevocationListThatCannotBeReadRefuses) {
  KnownHosts known;
  known.exact = {line("ssh-ed25519", "AAAAgood")};
  known.revoked_trouble = "RevokedHostKeys /x cannot be read";
  const KeyVerdict result = judge_host_key(known, kOffered);
  EXPECT_EQ(result.kind, KeyVerdict::Kind::revoked);
  EXPECT_THAT(host_key_fault(result, known, kOffered, "gpu1").failure.what, HasSubstr("cannot be read"));
}

TEST(HostKeys, TheOffendingLineIsTheOneOfTheSameType) {
  KnownHosts known;
  known.name = "gpu1";
  known.exact = {line("ssh-rsa", "AAAAbad", KnownKey::Marker::none, 3), line("ssh-ed25519", "AAAAbad", KnownKey::Marker::none, 7)};
  const Failure failure = host_key_fault(judge_host_key(known, kOffered), known, kOffered, "gpu1").failure;
  EXPECT_THAT(failure.what, HasSubstr("offending ED25519 key in /kh:7"));
  EXPECT_THAT(failure.remedy, HasSubstr("ssh-keygen -f /kh -R gpu1"));
}

TEST(HostKeys, OutputOfKeygenIsRead) {
  const auto keys = parse_keygen(
      "# Host h found: line 2 \nh ssh-ed25519 AAAA1 comment\n# Host h found: line 30 REVOKED\n@revoked * ssh-rsa AAAA2\n# Host h found: line 4 "
      "CA\n@cert-authority *,!x\tssh-rsa\tAAAA3\nbroken\n",
      "/kh");
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0].line, 2);
  EXPECT_EQ(keys[0].base64, "AAAA1");
  EXPECT_EQ(keys[1].line, 30);
  EXPECT_EQ(keys[1].marker, KnownKey::Marker::revoked);
  EXPECT_EQ(keys[2].marker, KnownKey::Marker::authority);
  EXPECT_EQ(keys[2].base64, "AAAA3");
}

TEST(HostKeys, TypesOnRecordAreAskedForFirst) {
  SshSettings settings;
  settings.host_key_algorithms =
      "ssh-ed25519-cert-v01@openssh.com,ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256,sk-ssh-ed25519@openssh.com";
  KnownHosts known;
  EXPECT_EQ(host_key_preference(settings, known), "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256");
  known.exact = {line("ssh-rsa", "AAAA")};
  EXPECT_EQ(host_key_preference(settings, known), "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256");
}

struct Saying {
  const char* err;
  Reach reach;
  bool retry;
};

TEST(SshWords, AreClassified) {
  for (const Saying& saying : {
           Saying{"ssh: Could not resolve hostname x: Name or service not known\r\n", Reach::resolve_failed, true},
           Saying{"ssh: connect to host 127.0.0.1 port 1: Connection refused\r\n", Reach::connect_failed, true},
           Saying{"root@h: Permission denied (publickey,password).\r\n", Reach::auth_failed, false},
           Saying{"Received disconnect from 1.2.3.4 port 22:2: Too many authentication failures\r\n", Reach::auth_failed, false},
           Saying{"No ED25519 host key is known for [h]:2 and you have requested strict checking.\r\nHost key verification failed.\r\n",
                  Reach::host_key_unknown, false},
           Saying{"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key verification failed.\r\n", Reach::host_key_changed, false},
           Saying{"@       WARNING: REVOKED HOST KEY DETECTED!               @\r\n", Reach::host_key_revoked, false},
           Saying{"kex_exchange_identification: read: Connection reset by peer\r\n", Reach::connect_failed, true},
           Saying{"Unable to negotiate with 1.2.3.4 port 22: no matching host key type found. Their offer: ssh-dss\r\n", Reach::connect_failed, true},
           Saying{"/x: line 2: Bad configuration option: nosuch\r\n", Reach::connect_failed, true},
           Saying{"Connection to h closed by remote host.\r\n", Reach::connect_failed, true},
           Saying{"", Reach::connect_failed, true},
       }) {
    const Failure failure = classify_ssh_stderr(saying.err, "gpu1").failure;
    EXPECT_EQ(failure.reach, saying.reach) << saying.err;
    EXPECT_EQ(failure.retry, saying.retry) << saying.err;
    EXPECT_FALSE(failure.what.empty());
    ASSERT_FALSE(failure.remedy.empty());
    EXPECT_TRUE(failure.remedy.front() >= 'A' && failure.remedy.front() <= 'Z') << "it stands behind a full stop: " << failure.remedy;
    EXPECT_EQ(failure.what.find_first_of("\r\n"), std::string::npos);
  }
  EXPECT_EQ(classify_ssh_stderr("root@h: Permission denied (publickey).\r\n", "gpu1").failure.what, "root@h: Permission denied (publickey)");
}

TEST(OneLine, IsHarmlessOnATerminal) {
  EXPECT_EQ(one_line("a\x1b[31m\r\nb\tc..\n"), "a [31m b c");
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("abcdef", 3, true), "...def");
}

TEST(Shell, TheEndOfACommandIsExplained) {
  CommandEnd end;
  end.exit_status = 1;
  const Failure failure = shell_fault(end, "motd\nThis account is currently not available.\n", "gpu1").failure;
  EXPECT_EQ(failure.reach, Reach::shell_failed);
  EXPECT_THAT(failure.what, HasSubstr("exit status 1"));
  EXPECT_THAT(failure.what, HasSubstr("not available"));
  EXPECT_THAT(failure.remedy, HasSubstr("ssh gpu1"));
  end.exit_status = 127;
  EXPECT_THAT(shell_fault(end, {}, "gpu1").failure.what, HasSubstr("no /bin/sh"));
}

TEST(BackOff, GrowsAndForgets) {
  TransportOptions options;
  BackOff back_off(options, 1);
  const SteadyTime start{};
  EXPECT_EQ(back_off.remembered(start), nullptr) << "a fresh process tries at once";
  SteadyClock::duration longest{};
  for (int i = 0; i < 200; ++i) {
    back_off.failed(make_fault(Layer::dial, "x", "h"), start);
    longest = std::max(longest, back_off.next() - start);
  }
  EXPECT_LE(longest, steady(options.back_off_most));
  EXPECT_GT(longest, steady(options.back_off_most / 2));
  back_off.succeeded();
  EXPECT_EQ(back_off.remembered(start), nullptr);
  back_off.failed(make_fault(Layer::dial, "x", "h"), start);
  EXPECT_LE(back_off.next() - start, steady(options.back_off_first));
}

TEST(BackOff, ARefusalIsTriedAgainAtTheUsualIntervalAndABusyServerAfterHalfAMinute) {
  const SteadyTime start{};
  for (const Layer layer : {Layer::auth, Layer::host_key_unknown, Layer::host_key_changed, Layer::host_key_revoked}) {
    BackOff back_off(TransportOptions{}, 1);
    back_off.failed(make_fault(layer, "x", "h"), start);
    EXPECT_NE(back_off.remembered(start + std::chrono::seconds(15)), nullptr);
    EXPECT_EQ(back_off.remembered(start + std::chrono::seconds(25)), nullptr);
  }
  BackOff busy(TransportOptions{}, 1);
  busy.failed(make_fault(Layer::greeting, "x", "h"), start);
  EXPECT_NE(busy.remembered(start + std::chrono::seconds(29)), nullptr);
}

std::string answer(const std::vector<std::string>& keys) {
  std::string payload("\x0c", 1);
  const auto number = [](std::size_t n) { return std::string{'\0', '\0', '\0', static_cast<char>(n)}; };
  payload += number(keys.size());
  for (const std::string& key : keys) payload += number(key.size()) + key + number(1) + "c";
  return payload;
}

TEST(Agent, TheListIsSortedCutAndFiltered) {
  AgentPlan plan;
  AgentOutcome outcome;
  plan.first = {base64_encode("k3"), base64_encode("k1")};
  plan.most = 3;
  EXPECT_EQ(filter_identities(answer({"k0", "k1", "k2", "k3"}), plan, outcome), answer({"k3", "k1", "k0"}));
  EXPECT_EQ(outcome.held, 4U);
  EXPECT_EQ(outcome.offered, 3U);
  plan.only_these = true;
  EXPECT_EQ(filter_identities(answer({"k0", "k1", "k2", "k3"}), plan, outcome), answer({"k3", "k1"}));
  EXPECT_EQ(filter_identities("\x0c", plan, outcome), "\x0c") << "what cannot be read is left to libssh";
  const std::string cut = answer({"k0", "k1"}).substr(0, 12);
  EXPECT_EQ(filter_identities(cut, plan, outcome), cut);
}

}  // namespace
}  // namespace trainvigil::transport
