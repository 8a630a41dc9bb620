// Host keys mean what they mean to ssh. Both transports have to agree: for openssh it is the ssh program that judges.
#include <gmock/gmock.h>

#include "remote_fixture.hpp"

namespace trainvigil::test {
namespace {

using ::testing::HasSubstr;

class RemoteHostKey : public Remote {
 protected:
  void SetUp() override {
    Remote::SetUp();
    if (!IsSkipped()) serve();
  }
  void expect_in() {
    const auto failure = first_look();
    EXPECT_FALSE(failure) << text(failure) << "\n" << dir.read("known_hosts");
  }
  Failure expect_refused(Reach reach) {
    const auto failure = first_look();
    EXPECT_TRUE(failure) << dir.read("known_hosts");
    if (!failure) return {};
    EXPECT_EQ(failure->reach, reach) << text(failure);
    EXPECT_FALSE(failure->retry);
    EXPECT_EQ(sshd->times_logged("Accepted publickey"), 0U) << "no log-in before the host key is known";
    return *failure;
  }
  std::string key(const std::string& name = "host_ed25519") { return sshd->host_key(name); }
  std::string other_key(const std::string& type = "ed25519") {
    sshd->make_key("other_" + type, type);
    return sshd->host_key("other_" + type);
  }
};

TEST_P(RemoteHostKey, UnknownIsRefusedWithTheWordsOfSsh) {
  known_hosts("");
  const Failure failure = expect_refused(Reach::host_key_unknown);
  EXPECT_THAT(failure.what, HasSubstr("No ED25519 host key is known for " + known_name()));
  EXPECT_THAT(failure.remedy, HasSubstr("ssh -F " + dir.path("ssh_config") + " gpu1"));
}

TEST_P(RemoteHostKey, ChangedIsRefusedWithTheLineAndTheCommandThatMendsIt) {
  known_hosts("# a comment\n" + known_name() + " " + other_key());
  const Failure failure = expect_refused(Reach::host_key_changed);
  EXPECT_THAT(failure.what, HasSubstr("REMOTE HOST IDENTIFICATION HAS CHANGED"));
  EXPECT_THAT(failure.what, HasSubstr(dir.path("known_hosts") + ":2"));
  EXPECT_THAT(failure.what, HasSubstr("SHA256:"));
  EXPECT_THAT(failure.remedy, HasSubstr("ssh-keygen -f"));
  EXPECT_THAT(failure.remedy, HasSubstr("-R"));
}

TEST_P(RemoteHostKey, AnotherTypeOnRecordIsAChangeAsToSsh) {
  known_hosts(known_name() + " " + other_key("ecdsa"));
  expect_refused(Reach::host_key_changed);
}

TEST_P(RemoteHostKey, RevokedIsRefusedThoughAPlainLineIsThere) {
  known_hosts(known_name() + " " + key() + "@revoked * " + key());
  const Failure failure = expect_refused(Reach::host_key_revoked);
  EXPECT_THAT(failure.what, HasSubstr("revoked"));
}

TEST_P(RemoteHostKey, RevokedByFileIsRefused) {
  dir.write("revoked", key());
  sshd->write_client_config("  RevokedHostKeys " + dir.path("revoked") + "\n");
  expect_refused(Reach::host_key_revoked);
}

TEST_P(RemoteHostKey, OneRightKeyAmongWrongOnesIsEnough) {
  known_hosts(known_name() + " " + other_key() + known_name() + " " + key());
  expect_in();
}

TEST_P(RemoteHostKey, HashedNames) {
  known_hosts("elsewhere " + other_key() + known_name() + " " + key());
  ASSERT_EQ(run_to_end({"ssh-keygen", "-q", "-H", "-f", dir.path("known_hosts")}), 0);
  ASSERT_THAT(dir.read("known_hosts"), HasSubstr("|1|"));
  expect_in();
}

TEST_P(RemoteHostKey, Wildcards) {
  known_hosts("[127.0.*]:* " + key());
  expect_in();
}

TEST_P(RemoteHostKey, NegationCountsForItsNameOnly) {
  known_hosts("!" + known_name() + ",[*]:* " + key());
  expect_refused(Reach::host_key_unknown);
}

TEST_P(RemoteHostKey, TabsAndCarriageReturns) {
  std::string line = known_name() + "\t" + key();
  line.insert(line.size() - 1, "\r");
  known_hosts(line);
  expect_in();
}

TEST_P(RemoteHostKey, UnknownTypesAndLongLinesBeforeAreSkipped) {
  known_hosts(known_name() + " ssh-future AAAAC3Nz\n" + std::string(6000, 'x') + " " + key() + known_name() + " " + key());
  expect_in();
}

TEST_P(RemoteHostKey, ALineWithoutThePortHelpsButDoesNotAccuse) {
  known_hosts("127.0.0.1 " + key());
  expect_in();
  known_hosts("127.0.0.1 " + other_key());
  link.reset();
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::host_key_unknown) << text(failure);
}

TEST_P(RemoteHostKey, TheSecondFileAndTheGlobalFileCount) {
  known_hosts("elsewhere " + other_key());
  dir.write("second", known_name() + " " + key());
  sshd->write_client_config("  UserKnownHostsFile " + dir.path("known_hosts") + " " + dir.path("second") + "\n");
  expect_in();
  link.reset();
  sshd->write_client_config("  UserKnownHostsFile " + dir.path("known_hosts") + "\n  GlobalKnownHostsFile " + dir.path("missing") + " " +
                            dir.path("second") + "\n");
  expect_in();
}

TEST_P(RemoteHostKey, HostKeyAliasIsTheNameThatCounts) {
  known_hosts("cluster-head " + key());
  expect_refused(Reach::host_key_unknown);
  sshd->write_client_config("  HostKeyAlias Cluster-Head\n");
  expect_in();
}

TEST_P(RemoteHostKey, TheTypeOnRecordIsAskedFor) {
  sshd->make_key("host_rsa", "rsa");
  sshd->set_host_keys({"host_ed25519", "host_rsa"});
  sshd->stop();
  sshd->start();
  known_hosts(known_name() + " " + key("host_rsa"));
  expect_in();
}

TEST_P(RemoteHostKey, StrictCheckingOffIsNotObeyed) {
  known_hosts("");
  sshd->write_client_config("  StrictHostKeyChecking no\n  NoHostAuthenticationForLocalhost yes\n");
  expect_refused(Reach::host_key_unknown);
}

TEST_P(RemoteHostKey, AcceptNewAddsTheKeyAndRefusesAChange) {
  known_hosts("no newline at the end");
  sshd->write_client_config("  StrictHostKeyChecking accept-new\n");
  expect_in();
  link.reset();
  transport.reset();  // what is being written is written
  EXPECT_TRUE(eventually([&] { return dir.read("known_hosts").find(known_name() + " " + key().substr(0, key().size() - 1)) != std::string::npos; }))
      << dir.read("known_hosts");
  known_hosts(known_name() + " " + other_key());
  const auto failure = first_look();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reach, Reach::host_key_changed) << text(failure);
}

INSTANTIATE_TEST_SUITE_P(Ssh, RemoteHostKey, ::testing::Values(TransportKind::libssh, TransportKind::openssh), kind_name);

class RemoteCertificate : public Remote {};

TEST_P(RemoteCertificate, AHostCertificateNeedsTheSshProgram) {
  serve();
  sshd->make_key("authority", "ed25519");
  ASSERT_EQ(run_to_end({"ssh-keygen", "-q", "-s", dir.path("authority"), "-I", "host", "-h", "-n", "127.0.0.1", dir.path("host_ed25519.pub")}), 0);
  sshd->stop();
  sshd->set_host_keys({"host_ed25519", "host_ed25519\nHostCertificate " + dir.path("host_ed25519-cert.pub")});
  sshd->start();
  known_hosts("@cert-authority [127.0.0.1]:* " + sshd->host_key("authority"));
  const auto failure = first_look();
  if (GetParam() == TransportKind::openssh) {
    EXPECT_FALSE(failure) << text(failure);
  } else {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reach, Reach::host_key_unknown) << text(failure);
    EXPECT_THAT(failure->remedy, HasSubstr("transport = \"openssh\""));
  }
}

INSTANTIATE_TEST_SUITE_P(Ssh, RemoteCertificate, ::testing::Values(TransportKind::libssh, TransportKind::openssh), kind_name);

}  // namespace
}  // namespace trainvigil::test
