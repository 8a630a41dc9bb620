"""`run`: how it ends, what it prints, what it leaves; and `checkpoints`, `demo`."""
import json
import os
import signal
import time
import unittest

from support import FAST, Case, processes, wait_until
from support.checkpoint_files import write_checkpoint


class Ending(Case):
    def test_term_and_int_end_it_with_0(self):
        training = self.training()
        for number in (signal.SIGTERM, signal.SIGINT):
            watch = self.watch("local", *self.describe(training), *FAST)
            watch.until(phase="training")
            began = time.monotonic()
            self.assertEqual(watch.stop(number), 0, watch.story())
            self.assertLess(time.monotonic() - began, 10)

    def test_term_while_the_host_hangs(self):
        import socket
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen(8)
            self.sshd.add_client_host("mute", HostName="127.0.0.1", Port=mute.getsockname()[1])
            watch = self.watch("mute", "--process", "x", *FAST)
            mute.settimeout(processes.patience(30))
            connection, _ = mute.accept()
            self.addCleanup(connection.close)
            began = time.monotonic()
            self.assertEqual(watch.stop(), 0)
            self.assertLess(time.monotonic() - began, 10)

    def test_until_done_tells_the_final_level(self):
        for ending, code, phase in (("save 1", 0, "completed"), (None, 2, "crashed")):
            with self.subTest(phase):
                training = self.training(epochs=2, output=self.make_folder("run-" + phase))
                training.do("save 0")
                watch = self.watch("local", *self.describe(training, 2 if ending else 9), "--until-done", *FAST)
                watch.until(phase="training")
                if ending:
                    training.do(ending)
                training.exit(0)
                self.gpus.free()
                self.assertEqual(watch.ended(60), code, watch.story())
                self.assertEqual(watch.verdicts[-1]["phase"], phase)

    def test_state_is_kept_over_a_restart_of_the_watcher(self):
        training = self.training(epochs=10)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), *FAST)
        first = watch.until(phase="training")
        os.kill(watch.process.pid, signal.SIGKILL)
        watch.ended()
        training.kill()
        self.gpus.free()
        again = self.watch("local", *self.describe(training, 10), *FAST)
        crashed = again.until(phase="crashed")
        self.assertEqual(crashed["run"], first["run"])


class Output(Case):
    def test_every_poll_is_a_line_of_json(self):
        training = self.training()
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.polls(6)
        watch.stop()
        self.assertEqual(watch.strange, [])
        times = [v["time"] for v in watch.verdicts]
        self.assertEqual(times, sorted(times))

    def test_for_people_only_changes_are_told(self):
        training = self.training(epochs=10)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), *FAST, json_output=False)
        wait_until(lambda: [s for s in watch.strange if "training" in s.lower()], "a line that tells the phase", 60)
        time.sleep(3)
        told = len(watch.strange)
        self.assertLessEqual(told, 6, "a line for each change is enough\n" + "\n".join(watch.strange))
        training.kill()
        self.gpus.free()
        wait_until(lambda: [s for s in watch.strange if "crashed" in s.lower()], "a line that tells the crash", 60)
        self.assertEqual(watch.stop(), 0)

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        import subprocess
        training = self.training()
        command = self.command("run", "local", *self.describe(training), *FAST, "--json", "--state-dir", self.state)
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment(), cwd=self.folder)
        self.addCleanup(running.stderr.close)
        self.addCleanup(running.kill)
        self.assertTrue(running.stdout.readline())
        running.stdout.close()
        running.wait(processes.patience(40))
        self.assertNotRegex(running.stderr.read(), "terminate called")

    def test_log_file(self):
        training = self.training()
        log = os.path.join(self.folder, "trainvigil.log")
        watch = self.watch("local", *self.describe(training), "--log-file", log, *FAST)
        watch.until(phase="training")
        watch.stop()
        self.assertGreater(os.path.getsize(log), 0)

    def test_what_can_not_be_recorded_is_refused(self):
        result = self.tv("run", "local", "--process", "x", "--record", os.path.join(self.write("a-file", ""), "trace.jsonl"), *FAST)
        self.check_fails_clearly(result, "record|trace")


class Checkpoints(Case):
    def test_last_good_prints_the_newest_complete_one(self):
        for epoch in range(3):
            write_checkpoint(self.checkpoints, epoch, time.time() - 3600 + 600 * epoch)
        os.truncate(os.path.join(self.checkpoints, "2", "model.safetensors"), 1000)
        os.unlink(os.path.join(self.checkpoints, "2", "training_state.json"))
        for target in ("local", "gpu1"):
            with self.subTest(target):
                result = self.check_code(self.tv("checkpoints", target, "--checkpoints", self.checkpoints, "--last-good"), 0)
                self.assertEqual(result.out, os.path.join(self.checkpoints, "1") + "\n")
                self.assertEqual(result.err, "")

    def test_last_good_where_there_is_none(self):
        result = self.check_code(self.tv("checkpoints", "local", "--checkpoints", self.checkpoints, "--last-good"), 2)
        self.assertEqual(result.out, "")

    def test_last_good_of_a_host_that_can_not_be_reached(self):
        result = self.check_code(self.tv("checkpoints", "no-such-host.invalid", "--checkpoints", "/x", "--last-good"), 3)
        self.assertEqual(result.out, "")

    def test_a_corrupt_one_is_named(self):
        for epoch in range(3):
            write_checkpoint(self.checkpoints, epoch, time.time() - 3600 + 600 * epoch)
        model = os.path.join(self.checkpoints, "2", "model.safetensors")
        size, modified = os.path.getsize(model), os.path.getmtime(model)
        with open(model, "r+b") as file:
            file.write(b"x" * 4096)
        os.utime(model, (modified, modified))
        self.assertEqual(os.path.getsize(model), size)
        result = self.check_code(self.tv("checkpoints", "local", "--checkpoints", self.checkpoints, "--json"), 0)
        listing = json.loads(result.out)
        self.assertEqual(listing["schema"], "trainvigil.checkpoints/1")
        self.assertEqual(listing["unit"], "epoch")
        self.assertEqual([(c["path"], c["state"], c["done"]) for c in listing["checkpoints"]], [("2", "corrupt", 3), ("1", "complete", 2), ("0", "complete", 1)])
        self.assertEqual(set(listing["checkpoints"][0]), {"path", "value", "done", "unit", "bytes", "state", "modified", "run", "why"})
        self.assertEqual(self.tv("checkpoints", "local", "--checkpoints", self.checkpoints, "--last-good").out.strip(), os.path.join(self.checkpoints, "1"))

    def test_the_table_for_people(self):
        for epoch in range(2):
            write_checkpoint(self.checkpoints, epoch, time.time() - 3600 + 600 * epoch)
        result = self.check_code(self.tv("checkpoints", "local", "--checkpoints", self.checkpoints), 0)
        self.check_has(result.out, "complete", r"8\.\d MB", "epoch")


class Demo(Case):
    def test_it_runs_to_completion(self):
        result = self.tv("demo", None, "--no-color", within=150)
        self.check_code(result, 0)
        self.check_has(result.out, "completed")
        self.no_process_left()


if __name__ == "__main__":
    unittest.main()
