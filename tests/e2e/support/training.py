"""Starts the stand-in training script and talks to it."""
import os
import signal
import subprocess
import sys

from . import processes

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Training:
    """One life of the stand-in job. `pattern` matches it and nothing else on this machine: the path of the script holds the case's own folder."""

    def __init__(self, case, epochs=3, workers=0, output=None, log=None):
        self.output = output or case.checkpoints
        script = os.path.join(case.folder, "04_train.py")
        if not os.path.lexists(script):
            os.symlink(os.path.join(FOLDER, "04_train.py"), script)
        self.pattern = os.path.basename(case.folder) + "/04_train"
        held, self._lifeline = os.pipe()
        command = [os.path.realpath(sys.executable), "-B", script, "--output", self.output, "--epochs", str(epochs), "--workers", str(workers),
                   "--lifeline", str(held)]
        if log:
            command += ["--log", log]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[held], cwd=case.folder,
                                        env=case.plain_environment())
        os.close(held)
        self.pid = self.process.pid
        self.workers = []
        case.addCleanup(self.close)
        if workers:
            self.workers = [int(pid) for pid in self.do("workers").split()]

    def do(self, command):
        """Gives the command and waits until it is done."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer.startswith("did "), "the stand-in training died of %r: %r" % (command, answer)
        return answer.rstrip("\n").split(" ", 2)[2]

    def exit(self, code=0):
        self.process.stdin.write("exit %d\n" % code)
        self.process.stdin.flush()
        self.process.wait(20)

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        """As the kernel does it; the workers stay."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(20)

    def close(self):
        if self._lifeline is None:
            return
        os.close(self._lifeline)
        self._lifeline = None
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        processes.wait_gone(self.workers)
