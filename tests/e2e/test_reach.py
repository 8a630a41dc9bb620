"""Hosts that can not be looked at: gone, unknown or changed keys, refused logins; and that this says nothing about the run."""
import time
import unittest

from support import FAST, Case
from support.sshd import free_port, keygen


class Outage(Case):
    def check_outage(self, *options):
        training = self.training()
        training.do("save 0")
        watch = self.watch("gpu1", *self.describe(training), *FAST, *options)
        before = watch.until(lambda v: v["phase"] == "training" and v["progress"]["done"] == 1)
        self.sshd.stop()
        gone = watch.until(phase="unreachable")
        self.assertEqual(gone["level"], "unknown")
        self.assertIn(gone["cause"], ("connect-failed", "probe-timeout"))
        self.assertEqual(gone["last"]["phase"], "training")
        self.assertIsNone(gone["host_time"])
        self.assertIsNone(gone["gpus"])
        self.assertIsNone(gone["processes"])
        self.assertEqual(gone["progress"]["done"], 1)
        self.assertEqual(gone["checkpoint"]["path"], "0")
        self.sshd.start()
        back = watch.until(lambda v: v["phase"] != "unreachable", within=90)
        self.assertEqual(back["run"], before["run"])
        self.assertTrue(self.calm(watch.until(phase="training")), watch.story())
        self.assertTrue(set(watch.phases()) <= {"starting", "training", "unreachable", "saving"}, watch.phases())

    def test_gone_and_back_over_libssh(self):
        self.check_outage()

    def test_gone_and_back_over_the_ssh_program(self):
        self.check_outage("-c", self.openssh_config())

    def test_a_crash_during_the_outage_is_told_afterwards(self):
        training = self.training(epochs=10)
        training.do("save 0")
        watch = self.watch("gpu1", *self.describe(training, 10), *FAST)
        watch.until(lambda v: v["phase"] == "training" and v["progress"]["done"] == 1)
        self.sshd.stop()
        watch.until(phase="unreachable")
        training.kill()
        self.gpus.free()
        self.sshd.start()
        self.assertEqual(watch.until(lambda v: v["phase"] not in ("unreachable", "unknown"), within=90)["phase"] in ("crashed", "training"), True)
        watch.until(lambda v: v["phase"] == "crashed") if watch.verdicts[-1]["phase"] != "crashed" else None


class Refused(Case):
    def look(self, target, *options):
        return self.tv("status", target, "--process", "04_train", "--json", *options)

    def check_refused(self, result, cause):
        self.check_code(result, 3)
        verdict = result.lines[-1]
        self.assertEqual((verdict["phase"], verdict["level"], verdict["cause"]), ("unreachable", "unknown", cause))
        return verdict["summary"] + " " + " ".join(e["detail"] for e in verdict["evidence"]) + " " + result.err

    def both(self):
        """The same words whichever transport refuses."""
        yield "libssh", []
        yield "openssh", ["-c", self.openssh_config()]

    def test_unknown_host_key(self):
        self.sshd.know_host(None)
        for name, options in self.both():
            with self.subTest(name):
                words = self.check_refused(self.look("gpu1", *options), "host-key-unknown")
                self.check_has(words, "host key", "known_hosts|ssh-keyscan|ssh ")

    def test_changed_host_key(self):
        self.sshd.know_host(keygen(self.sshd.path("other_key")))
        for name, options in self.both():
            with self.subTest(name):
                words = self.check_refused(self.look("gpu1", *options), "host-key-changed")
                self.check_has(words, "changed", r"ssh-keygen .*-R")

    def test_revoked_host_key(self):
        with open(self.sshd.path("known_hosts"), "a", encoding="utf-8") as file:
            file.write("@revoked * %s\n" % self.sshd.host_key)
        for name, options in self.both():
            with self.subTest(name):
                self.check_has(self.check_refused(self.look("gpu1", *options), "host-key-revoked"), "revoked")

    def test_no_option_turns_the_check_off(self):
        self.sshd.know_host(keygen(self.sshd.path("other_key")))
        with open(self.sshd.config, "r+", encoding="utf-8") as file:
            text = file.read()
            file.seek(0)
            file.write("StrictHostKeyChecking no\n" + text)
        for name, options in self.both():
            with self.subTest(name):
                self.check_refused(self.look("gpu1", *options), "host-key-changed")

    def test_accept_new_is_honoured_for_unknown_keys(self):
        self.sshd.know_host(None)
        with open(self.sshd.config, "r+", encoding="utf-8") as file:
            text = file.read()
            file.seek(0)
            file.write("StrictHostKeyChecking accept-new\n" + text)
        self.assertNotEqual(self.check_code(self.look("gpu1"), 0).json["phase"], "unreachable")

    def test_wrong_key(self):
        for name, options in self.both():
            with self.subTest(name):
                words = self.check_refused(self.look("wrong-key", *options), "auth-failed")
                self.check_has(words, "publickey|denied|authentication")

    def test_nobody_listens(self):
        port = free_port()
        self.sshd.add_client_host("closed", HostName="127.0.0.1", Port=port)
        self.check_has(self.check_refused(self.look("closed"), "connect-failed"), "refused")

    def test_no_such_name(self):
        words = self.check_refused(self.look("no-such-host.invalid"), "resolve-failed")
        self.check_has(words, "no-such-host.invalid")

    def test_a_login_without_a_shell(self):
        self.sshd.add_client_host("noshell", HostName="127.0.0.1")
        with open(self.sshd.path("authorized_keys"), "r+", encoding="utf-8") as file:
            key = file.read()
            file.seek(0)
            file.write('command="echo This account is currently not available.; exit 1" ' + key)
        for name, options in self.both():
            with self.subTest(name):
                self.check_refused(self.look("gpu1", *options), "shell-failed")

    def test_a_host_that_never_answers(self):
        import socket
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen(8)
            self.sshd.add_client_host("mute", HostName="127.0.0.1", Port=mute.getsockname()[1])
            began = time.monotonic()
            result = self.look("mute", "--probe-timeout", "2s")
            self.assertLess(time.monotonic() - began, 15)
            self.check_code(result, 3)
            self.assertIn(result.lines[-1]["cause"], ("probe-timeout", "connect-failed"))


class Doctor(Case):
    def test_all_well(self):
        training = self.training()
        result = self.check_code(self.tv("doctor", "gpu1", *self.describe(training)), 0)
        self.check_has(result.out, "host key", "nvidia-smi", "/proc")

    def test_it_names_what_fails_and_the_remedy(self):
        self.sshd.know_host(None)
        result = self.check_code(self.tv("doctor", "gpu1", "--process", "x"), 2)
        self.check_has(result.out + result.err, "host key", "ssh")


if __name__ == "__main__":
    unittest.main()
