"""What is written where: a reader that leaves, a disk that is full, a time-out that passes, a fault that no waiting mends."""
import os
import resource
import subprocess
import unittest

from support import BINARY, FAST, Case, wait_until
from support.processes import patience
from support.watch import Watch

NOBODY = ["--process", "nothing-has-such-a-name"]


class Outputs(Case):
    def run_with(self, stdout, *command, **how):
        return subprocess.run([BINARY, *command], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True, env=self.environment(),
                              cwd=self.folder, timeout=patience(60), **how)

    def commands(self):
        yield ["--help"]
        yield ["--version"]
        yield ["probe-script"]
        yield ["config", "show"]
        yield ["history", "--state-dir", self.state]
        yield ["status", "local", *NOBODY, "--state-dir", self.state]
        yield ["checkpoints", "local", "--checkpoints", self.checkpoints, "--state-dir", self.state]

    def test_a_full_disk_is_loud(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for command in self.commands():
                with self.subTest(command[0]):
                    done = self.run_with(full, *command)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("stdout can not be written: No space left", done.stderr)

    def test_a_reader_that_left_is_no_news(self):
        for command in self.commands():
            with self.subTest(command[0]):
                read, write = os.pipe()
                os.close(read)
                done = self.run_with(write, *command)
                os.close(write)
                self.assertEqual((done.returncode, done.stderr), (-13, ""), "it ends by SIGPIPE, as cat does")


class Disks(Case):
    def test_a_record_that_can_not_be_written_ends_it(self):
        result = self.tv("run", "local", *NOBODY, *FAST, "--record", "/dev/full")
        self.check_fails_clearly(result, "--record", "/dev/full")

    def test_a_log_file_that_can_not_be_written_ends_it(self):
        for path in ("/dev/full", "/dev/null/x", self.folder):
            with self.subTest(path):
                self.check_fails_clearly(self.tv("run", "local", *NOBODY, *FAST, "--log-file", path), "log file can not be written", "--log-file")

    def test_without_room_for_the_history_the_verdict_is_told_with_one_warning(self):
        """The limit of the file size stands in for the full disk; its signal must not kill."""
        for limit in (0, 8192, 100_000):
            with self.subTest(limit):
                state = self.make_folder("state-%d" % limit)
                done = subprocess.run([BINARY, "status", "local", *NOBODY, "--json", "--state-dir", state], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      env=self.environment(), cwd=self.folder, timeout=patience(60),
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn('"phase":"waiting"', done.stdout)
                self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)
                if limit < 50_000:
                    self.check_has(done.stderr, "history", "room", "--state-dir")


class Waiting(Case):
    def test_a_time_out_says_what_it_saw_and_why_it_returns(self):
        result = self.check_code(self.tv("wait", "local", *NOBODY, *FAST, "--timeout", "1s"), 4)
        self.check_has(result.out, "waiting: nothing of the job")
        self.check_has(result.err, "--timeout: nothing to wake for within 1 s; local:nothing-has-such-a-name is waiting")

    def test_an_ssh_config_that_is_not_there_is_a_fault_at_once(self):
        for name in ("wait", "status", "checkpoints", "doctor"):
            with self.subTest(name):
                result = self.tv(name, None, "gpu1", *NOBODY, "--checkpoints", "/data", "-F", "/nonexistent")
                self.check_fails_clearly(result, "/nonexistent", "-F")

    def test_no_trace_and_no_config_in_a_directory(self):
        self.check_fails_clearly(self.tv("replay", None, "/"), "directory")
        self.check_fails_clearly(self.tv("config", None, "check", "/"), "directory")


class Words(Case):
    def test_out_of_reach_is_told_once(self):
        self.sshd.know_host(None)
        result = self.check_code(self.tv("status", "gpu1", *NOBODY), 3)
        text = " ".join(result.out.split())
        self.assertEqual(result.err, "")
        self.assertEqual(text.count("SHA256:"), 1, str(result))
        self.assertEqual(text.count("Log in once by hand"), 1, str(result))
        self.assertLess(text.index("unreachable: "), text.index("SHA256:"))
        self.assertLess(text.index("SHA256:"), text.index("Log in once"))

    def test_notes_are_told_once(self):
        training = self.training()
        command = self.command("run", "local", *self.describe(training), *FAST, "--heartbeat", "1s", "--state-dir", self.state)
        watch = Watch(command, dict(self.environment(), PATH="/usr/local/bin:/usr/bin:/bin"), self.folder)  # without the stand-in nvidia-smi
        self.addCleanup(watch.close)
        wait_until(lambda: len(watch.strange) >= 4, "four lines, of heartbeats at least", 60)
        watch.stop()
        self.assertEqual(sum("gpu-dark" in line for line in watch.strange), 1, watch.story())

    def test_a_name_that_is_no_text_is_escaped_once(self):
        path = os.fsencode(self.checkpoints) + b"/latin-\xe9"
        os.makedirs(path)
        verdict = self.check_code(self.tv("status", "local", "--checkpoints", os.fsdecode(path), "--json"), 0).json
        self.assertEqual(verdict["job"], "local:latin-\\xe9")


if __name__ == "__main__":
    unittest.main()
