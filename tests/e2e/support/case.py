"""The base of every end-to-end test: a folder of its own with a home, a state directory, a checkpoint directory, stand-in tools, and helpers."""
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from . import processes
from .gpu import Gpus
from .sshd import SSHD, Sshd
from .training import Training
from .watch import Watch

BINARY = os.environ.get("TRAINVIGIL", "")
FAST = ["--interval", "500ms"]


class Result:
    def __init__(self, command, done):
        self.command, self.code, self.out, self.err = command, done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __str__(self):
        return "$ %s\nexit code %d\n%s\nstderr: %s" % (" ".join(self.command), self.code, self.out[-4000:], self.err[-2000:])


class Case(unittest.TestCase):
    maxDiff = None
    gpu_count = 1

    def setUp(self):
        if not os.access(BINARY, os.X_OK):
            self.fail("set TRAINVIGIL to the program under test")
        self.folder = tempfile.mkdtemp(prefix="tv-e2e-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.mark = "TV_E2E=" + os.path.basename(self.folder)
        self.home, self.remote_home, self.state, self.checkpoints, self.tools = (self.make_folder(n) for n in ("home", "guest", "state", "run", "tools"))
        self.gpus = Gpus(self.tools, self.gpu_count)
        self.addCleanup(self._nothing_of_ours_runs)

    def make_folder(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(path, exist_ok=True)
        return path

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _nothing_of_ours_runs(self):
        """The last of the cleanups: a test that leaves a stand-in behind must not disturb the next one."""
        for pid in processes.carrying(self.mark):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass

    def plain_environment(self):
        """Of what is watched: nothing in it leads to the watcher."""
        keep = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TZ") if key in os.environ}
        return dict(keep, PATH="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", HOME=self.remote_home)

    def environment(self):
        return dict(self.plain_environment(), HOME=self.home, PATH=self.tools + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", TV_E2E=os.path.basename(self.folder))

    @functools.cached_property
    def sshd(self):
        """The watched host gpu1; started by the first test that asks for it."""
        if SSHD is None:
            self.skipTest("no sshd on this machine (Debian package openssh-server)")
        return Sshd(self, {"PATH": self.tools + ":/usr/local/bin:/usr/bin:/bin", "HOME": self.remote_home, "TV_E2E": os.path.basename(self.folder)})

    def reach(self, target):
        """Global options that make this target known."""
        return [] if target in (None, "local") else ["-F", self.sshd.config]

    def openssh_config(self):
        return self.write("openssh.toml", '[host.gpu1]\ntransport = "openssh"\n')

    def describe(self, training, epochs=3):
        return ["--checkpoints", training.output, "--process", training.pattern] + (["--epochs", str(epochs)] if epochs else [])

    def command(self, name, target=None, *options):
        return [BINARY, name] + ([target] if target else []) + list(options)

    def tv(self, name, target=None, *options, within=60, text=True, environment=None):
        """Runs a command to its end."""
        command = self.command(name, target, *options)
        if name in ("status", "run", "check", "wait", "checkpoints", "discover", "doctor", "replay", "history", "report", "silence"):
            if name in ("status", "check") and "--probe-timeout" not in options:
                command += ["--probe-timeout", "12s"]  # a look that may take less asks the GPUs for less
            command += ([] if "--state-dir" in options else ["--state-dir", self.state]) + self.reach(target)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=text, errors="replace" if text else None,
                              timeout=processes.patience(within), env=environment or self.environment(), cwd=self.folder)
        return Result(command, done)

    def watch(self, target, *options, json_output=True, name="run"):
        command = self.command(name, target, *options, "--state-dir", self.state) + self.reach(target) + (["--json"] if json_output else [])
        watch = Watch(command, self.environment(), self.folder)
        self.addCleanup(watch.close)
        return watch

    def training(self, **how):
        """A job that works: its GPU is busy and it holds it."""
        training = Training(self, **how)
        self.gpus.hold(training.pid)
        self.gpus.work()
        return training

    # What tests say often.

    def check_code(self, result, code):
        self.assertEqual(result.code, code, str(result))
        return result

    @staticmethod
    def calm(verdict):
        """All is well, but for one thing: the stand-in saves when it is told to, in no rhythm that a first save a second after the start could promise."""
        return verdict["level"] == "ok" or verdict["findings"] == ["checkpoint-overdue"]

    def check_calm(self, result):
        """The last verdict of a command, which is calm; the exit code tells its level."""
        verdict = result.lines[-1]
        self.assertTrue(self.calm(verdict), str(result))
        self.assertEqual(result.code, {"ok": 0, "warning": 1}[verdict["level"]], str(result))
        return verdict

    def check_has(self, text, *patterns):
        for pattern in patterns:
            self.assertRegex(text, re.compile(pattern, re.IGNORECASE | re.DOTALL))

    def check_fails_clearly(self, result, *patterns):
        """Exit code 3 and one clear sentence with the remedy, not a trace of the program's insides."""
        self.check_code(result, 3)
        self.assertTrue(result.err.strip(), str(result))
        self.assertLessEqual(len(result.err.strip().splitlines()), 6, str(result))
        self.assertNotRegex(result.err, r"terminate called|what\(\):|std::|Assertion|AddressSanitizer", str(result))
        self.check_has(result.err, *patterns)

    def no_process_left(self, within=20):
        """Of what the program started here or on the watched host; training and sshd's listener apart."""
        def left():
            sessions = self.__dict__["sshd"].sessions() if "sshd" in self.__dict__ else []
            return sorted(set(processes.carrying(self.mark)) | set(sessions))
        try:
            processes.wait_until(lambda: not left(), "nothing is to stay", within)
        except AssertionError:
            self.fail("left behind: " + "; ".join("%d %s" % (pid, processes.command(pid)) for pid in left()))
