"""A stand-in for a training script. It does what its standard input says, one command a line, and answers each with a line once it is done:

save N            a whole checkpoint N                        begin N       half of a save: a cut model file, nothing behind it
more N BYTES      the cut file grows                          finish N      the rest of a save that was begun
spin on|off       burns a core of CPU                         load on|off   reads data, steadily and cheaply
log TEXT          a line into the log                         workers       prints the process numbers of its workers
exit CODE         ends

It ends when its standard input does, and so do its workers when the lifeline closes: nothing outlives a test.
"""
import argparse
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import checkpoint_files  # noqa: E402 (found beside the real file)

CUT = checkpoint_files.MODEL_BYTES // 2


class Training:
    def __init__(self, out, log):
        self.out, self.log, self.begun = out, log, {}
        self.spinning, self.loading = threading.Event(), threading.Event()
        threading.Thread(target=self._spin, daemon=True).start()
        threading.Thread(target=self._load, daemon=True).start()

    def _spin(self):
        while self.spinning.wait():
            sum(range(20000))

    def _load(self):
        with open("/dev/zero", "rb", buffering=0) as data:
            while self.loading.wait():
                data.read(1 << 18)
                time.sleep(0.02)

    def _path(self, epoch, name):
        folder = os.path.join(self.out, epoch)
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    def save(self, epoch):
        checkpoint_files.write_checkpoint(self.out, int(epoch))

    def begin(self, epoch):
        files = dict(checkpoint_files.parts(int(epoch)))
        with open(self._path(epoch, "config.json"), "wb") as file:
            file.write(files["config.json"])
        model = files["model.safetensors"]
        self.begun[epoch] = open(self._path(epoch, "model.safetensors"), "wb", buffering=0)
        self.begun[epoch].write(model[:CUT])
        self.rest = model[CUT:]

    def more(self, epoch, count):
        self.begun[epoch].write(self.rest[:int(count)])
        self.rest = self.rest[int(count):]

    def finish(self, epoch):
        self.begun.pop(epoch).close()
        self.save(epoch)

    def write_log(self, text):
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", default=".")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--lifeline", type=int)
    parser.add_argument("--rank", type=int)
    args = parser.parse_args()
    if args.rank is not None:
        os.read(args.lifeline, 1)
        return
    workers = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "--rank", str(i), "--lifeline", str(args.lifeline)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[args.lifeline]) for i in range(args.workers)]
    training = Training(args.output, args.log)
    for line in sys.stdin:
        command, _, rest = line.rstrip("\n").partition(" ")
        answer = ""
        if command == "save":
            training.save(rest)
        elif command == "begin":
            training.begin(rest)
        elif command == "more":
            training.more(*rest.split())
        elif command == "finish":
            training.finish(rest)
        elif command in ("spin", "load"):
            switch = training.spinning if command == "spin" else training.loading
            switch.set() if rest == "on" else switch.clear()
        elif command == "log":
            training.write_log(rest)
        elif command == "workers":
            answer = " ".join(str(worker.pid) for worker in workers)
        elif command == "exit":
            for worker in workers:
                worker.terminate()
                worker.wait()
            os._exit(int(rest))
        else:
            raise SystemExit("what is %r?" % line)
        print("did", command, answer, flush=True)


if __name__ == "__main__":
    main()
