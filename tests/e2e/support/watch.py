"""A running `trainvigil … --json`, followed verdict by verdict."""
import json
import signal
import subprocess
import threading
import time

from .processes import patience


def brief(verdict):
    keys = ("time", "phase", "level", "cause", "confidence", "findings", "summary")
    return " | ".join(str(verdict.get(key)) for key in keys)


class Watch:
    def __init__(self, command, environment, folder):
        self.command = command
        self.verdicts, self.errors, self.strange = [], [], []
        self._position, self._changed, self._ended = 0, threading.Condition(), False
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                        env=environment, cwd=folder)
        self._threads = [threading.Thread(target=self._follow, args=(self.process.stdout, self._verdict), daemon=True),
                         threading.Thread(target=self._follow, args=(self.process.stderr, self.errors.append), daemon=True)]
        for thread in self._threads:
            thread.start()

    def _follow(self, pipe, take):
        for line in pipe:
            take(line.rstrip("\n"))
        pipe.close()
        if take == self._verdict:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _verdict(self, line):
        with self._changed:
            try:
                verdict = json.loads(line)
                verdict["_seen"] = time.monotonic()
                self.verdicts.append(verdict)
            except ValueError:
                self.strange.append(line)
            self._changed.notify_all()

    def until(self, wanted=None, within=60.0, **fields):
        """The first verdict after the last one returned that has these fields and for which `wanted` holds."""
        def fits(verdict):
            return all(verdict.get(k) == v for k, v in fields.items()) and (wanted is None or wanted(verdict))
        limit = time.monotonic() + patience(within)
        with self._changed:
            while True:
                while self._position < len(self.verdicts):
                    verdict = self.verdicts[self._position]
                    self._position += 1
                    if fits(verdict):
                        return verdict
                if self._ended:
                    raise AssertionError("the program ended before %s\n%s" % (fields or "what was wanted", self.story()))
                if not self._changed.wait(limit - time.monotonic()) and time.monotonic() > limit:
                    raise AssertionError("no verdict with %s within %g s\n%s" % (fields or "what was wanted", patience(within), self.story()))

    def polls(self, count, within=60.0):
        """So many further verdicts, whatever they say."""
        return [self.until(within=within) for _ in range(count)]

    def skip(self):
        """What was judged until now is past: `until` looks at later verdicts only."""
        with self._changed:
            self._position = len(self.verdicts)

    def phases(self):
        """The phases in their order, repetitions left out."""
        out = []
        for verdict in list(self.verdicts):
            if not out or out[-1] != verdict["phase"]:
                out.append(verdict["phase"])
        return out

    def story(self):
        lines = ["$ " + " ".join(self.command)] + [brief(v) for v in self.verdicts[-15:]]
        if self.verdicts:
            lines.append("last: " + json.dumps({k: v for k, v in self.verdicts[-1].items() if k != "_seen"}))
        lines += ["not a verdict: " + line for line in self.strange[:5]] + ["stderr: " + line for line in self.errors[-15:]]
        return "\n".join(lines)

    def ended(self, within=30.0):
        """Waits for the program to end by itself; its exit code."""
        try:
            code = self.process.wait(patience(within))
        except subprocess.TimeoutExpired:
            raise AssertionError("the program does not end\n" + self.story()) from None
        for thread in self._threads:
            thread.join(patience(20))
        return code

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.ended()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        for thread in self._threads:
            thread.join(20)
