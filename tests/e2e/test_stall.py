"""Runs that live and no longer move, and runs that only look so."""
import time
import unittest

from support import FAST, Case, wait_until

SHORT = FAST + ["--stall-after", "3s"]


class Hung(Case):
    def test_stopped_process(self):
        training = self.training()
        training.do("save 0")
        watch = self.watch("local", *self.describe(training), *SHORT)
        watch.until(phase="training")
        training.stop()
        stopped = time.monotonic()
        self.gpus.idle()
        stalled = watch.until(phase="stalled")
        self.assertGreater(stalled["_seen"] - stopped, 2.0, "sooner than --stall-after\n" + watch.story())
        self.assertEqual(stalled["level"], "critical")
        self.assertIn("process-stopped", stalled["findings"] + [stalled["cause"]])
        training.resume()
        self.gpus.work()
        training.do("save 1")
        self.assertTrue(self.calm(watch.until(phase="training")), watch.story())

    def test_idle_with_memory_held(self):
        """Sleeping, no CPU, no I/O, the GPU at 0 %: two sources say that nothing moves."""
        training = self.training()
        training.do("save 0")
        watch = self.watch("local", *self.describe(training), *SHORT)
        watch.until(phase="training")
        self.gpus.idle()
        stalled = watch.until(phase="stalled")
        self.assertGreaterEqual(len({e["source"] for e in stalled["evidence"]}), 2)

    def test_spinning_in_a_collective(self):
        """CPU and GPU at 100 %, hardly more power than idle, no data read any more, no progress."""
        training = self.training()
        training.do("save 0")
        training.do("load on")
        watch = self.watch("local", *self.describe(training), *SHORT)
        wait_until(lambda: len(self.gpus.readings()) >= 8, "this run's usual rates are known", 120)
        training.do("load off")
        training.do("spin on")
        self.gpus.spin()
        stalled = watch.until(lambda v: v["phase"] == "stalled" and "gpu-spin" in v["findings"] + [v["cause"]], within=120)
        self.assertEqual(stalled["level"], "critical")

    def test_the_state_of_a_hang_survives_between_calls(self):
        training = self.training()
        training.do("save 0")
        self.check_calm(self.tv("status", "local", *self.describe(training), "--stall-after", "2s", "--json"))
        training.stop()
        self.gpus.idle()
        deadline = time.monotonic() + 60
        while True:
            result = self.tv("status", "local", *self.describe(training), "--stall-after", "2s", "--json")
            if result.code == 2:
                break
            self.assertLess(time.monotonic(), deadline, str(result))
        self.assertEqual(result.lines[-1]["phase"], "stalled")


class NotHung(Case):
    def never_stalled(self, watch, seconds=8):
        """For longer than --stall-after allows."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            verdict = watch.until()
            self.assertNotIn(verdict["phase"], ("stalled", "crashed"), watch.story())

    def test_one_witness_is_not_enough(self):
        """No GPU tool, no directory: a sleeping process is all there is."""
        training = self.training()
        self.gpus.behave(text="sh: 1: nvidia-smi: not found\n", exit=127)
        watch = self.watch("local", "--process", training.pattern, *SHORT)
        watch.until(lambda v: v["processes"] and v["processes"]["count"])
        self.never_stalled(watch)

    def test_a_working_gpu_objects(self):
        training = self.training()
        watch = self.watch("local", "--process", training.pattern, *SHORT)
        watch.until(phase="training")
        self.never_stalled(watch)

    def test_a_failing_gpu_tool_is_no_witness(self):
        training = self.training()
        training.do("spin on")
        watch = self.watch("local", "--process", training.pattern, *SHORT)
        watch.until(phase="training")
        self.gpus.behave(text="Failed to initialize NVML: Unknown Error\n", exit=255)
        self.never_stalled(watch)

    def test_a_growing_save_is_no_hang(self):
        training = self.training()
        training.do("save 0")
        watch = self.watch("local", *self.describe(training), *SHORT)
        watch.until(phase="training")
        training.do("begin 1")
        self.gpus.idle()
        watch.until(phase="saving")
        limit = time.monotonic() + 8
        while time.monotonic() < limit:
            training.do("more 1 8192")
            verdict = watch.until()
            self.assertEqual(verdict["phase"], "saving", watch.story())
            self.assertTrue(self.calm(verdict), watch.story())
        training.do("finish 1")
        self.gpus.work()
        watch.until(lambda v: v["phase"] == "training" and v["progress"]["done"] == 2)

    def test_missed_polls_do_not_count_as_silence(self):
        training = self.training()
        training.do("save 0")
        watch = self.watch("gpu1", *self.describe(training), *SHORT)
        watch.until(phase="training")
        self.sshd.stop()
        watch.until(phase="unreachable")
        time.sleep(4)  # longer than --stall-after, unseen
        self.sshd.start()
        back = watch.until(lambda v: v["phase"] != "unreachable")
        self.assertNotEqual(back["phase"], "stalled", watch.story())


if __name__ == "__main__":
    unittest.main()
