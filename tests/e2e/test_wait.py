"""`wait`: blocks until something worth waking for."""
import time
import unittest

from support import FAST, Case


class Waiting(Case):
    def wait(self, training, *options, target="local", epochs=2):
        return self.watch(target, *self.describe(training, epochs), *FAST, *options, name="wait")

    def looked(self, watch):
        """`wait` has taken its first look when the probe has asked the stand-in nvidia-smi."""
        from support import wait_until
        wait_until(lambda: [c for c in self.gpus.calls() if "argv" in c], "wait takes its first look", 40)
        time.sleep(1.5)
        self.assertIsNone(watch.process.poll(), watch.story())
        return watch

    def test_completed(self):
        training = self.training(epochs=2)
        training.do("save 0")
        watch = self.looked(self.wait(training))
        training.do("save 1")
        training.exit(0)
        self.gpus.free()
        self.assertEqual(watch.ended(60), 0)
        self.assertEqual(watch.verdicts[-1]["phase"], "completed")

    def test_crashed(self):
        training = self.training(epochs=5)
        training.do("save 0")
        watch = self.looked(self.wait(training, epochs=5))
        training.kill()
        self.gpus.free()
        self.assertEqual(watch.ended(60), 2)
        self.assertEqual(watch.verdicts[-1]["phase"], "crashed")

    def test_crashed_ends_waiting_for_completed(self):
        training = self.training(epochs=5)
        training.do("save 0")
        watch = self.looked(self.wait(training, "--for", "completed", epochs=5))
        training.kill()
        self.gpus.free()
        self.assertEqual(watch.ended(60), 2)

    def test_stalled(self):
        training = self.training()
        training.do("save 0")
        watch = self.looked(self.wait(training, "--stall-after", "3s", epochs=3))
        training.stop()
        self.gpus.idle()
        self.assertEqual(watch.ended(60), 2)
        self.assertEqual(watch.verdicts[-1]["phase"], "stalled")

    def test_ended_without_proof(self):
        training = self.training()
        training.do("save 0")
        watch = self.looked(self.wait(training, epochs=None))
        training.exit(0)
        self.gpus.free()
        self.assertEqual(watch.ended(60), 1)

    def test_timeout(self):
        training = self.training()
        began = time.monotonic()
        watch = self.wait(training, "--timeout", "2s")
        self.assertEqual(watch.ended(60), 4)
        self.assertGreater(time.monotonic() - began, 1.8)

    def test_for_the_next_checkpoint(self):
        training = self.training(epochs=5)
        training.do("save 0")
        watch = self.looked(self.wait(training, "--for", "checkpoint", epochs=5))
        training.do("begin 1")
        time.sleep(2)
        self.assertIsNone(watch.process.poll(), "a save that runs is no checkpoint yet\n" + watch.story())
        training.do("finish 1")
        self.assertEqual(watch.ended(60), 0)
        self.assertEqual(watch.verdicts[-1]["last_good"]["path"], "1")

    def test_for_a_change(self):
        training = self.training(epochs=5)
        training.do("save 0")
        watch = self.looked(self.wait(training, "--for", "change", epochs=5))
        training.kill()
        self.gpus.free()
        self.assertIn(watch.ended(60), (0, 2))

    def test_a_run_that_was_over_counts_only_when_accepted(self):
        training = self.training(epochs=2)
        self.tv("status", "local", *self.describe(training, 2))
        training.do("save 0")
        training.do("save 1")
        training.exit(0)
        self.gpus.free()
        self.assertEqual(self.wait(training, "--timeout", "4s").ended(60), 4)
        self.assertEqual(self.wait(training, "--timeout", "20s", "--accept-finished").ended(60), 0)

    def test_outages_are_waited_through(self):
        training = self.training(epochs=2)
        training.do("save 0")
        watch = self.looked(self.wait(training, target="gpu1"))
        self.sshd.stop()
        time.sleep(2)
        self.assertIsNone(watch.process.poll(), watch.story())
        training.do("save 1")
        training.exit(0)
        self.gpus.free()
        self.sshd.start()
        self.assertEqual(watch.ended(90), 0)

    def test_faults_that_waiting_does_not_mend_return_at_once(self):
        training = self.training()
        for target in ("wrong-key",):
            self.assertEqual(self.wait(training, target=target).ended(60), 3)
        self.sshd.know_host(None)
        watch = self.wait(training, target="gpu1")
        self.assertEqual(watch.ended(60), 3)
        self.assertIn("host key", " ".join(watch.errors + watch.strange + [str(v) for v in watch.verdicts]).lower().replace("-", " "))


if __name__ == "__main__":
    unittest.main()
