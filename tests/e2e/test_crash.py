"""Runs that end badly: gone, gone while saving, gone but for their workers, and directories that hold an older run."""
import os
import time
import unittest

from support import FAST, Case
from support.checkpoint_files import write_checkpoint


class Gone(Case):
    def test_a_killed_run_is_crashed_within_one_poll_and_a_second_look(self):
        training = self.training(epochs=10)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), "--interval", "20s")
        watch.until(phase="training")
        watch.skip()
        training.kill()
        self.gpus.free()
        killed = time.monotonic()
        crashed = watch.until(phase="crashed")
        self.assertLess(crashed["_seen"] - killed, 20 + 30, watch.story())
        self.assertEqual(crashed["level"], "critical")
        self.assertEqual(crashed["last_good"]["path"], "0")
        self.assertEqual(crashed["progress"]["done"], 1)
        after = watch.verdicts[watch.verdicts.index(crashed) - 1]
        self.assertNotEqual(after["phase"], "crashed")
        self.assertLess(crashed["_seen"] - after["_seen"], 18, "the second look is to come sooner than the next poll\n" + watch.story())

    def test_status_tells_a_crash_with_exit_code_2(self):
        training = self.training(epochs=10)
        training.do("save 0")
        self.check_calm(self.tv("status", "local", *self.describe(training, 10), "--json"))
        training.kill()
        self.gpus.free()
        result = self.check_code(self.tv("status", "local", *self.describe(training, 10), "--json"), 2)
        self.assertEqual(result.lines[-1]["phase"], "crashed")

    def test_killed_during_a_save(self):
        training = self.training(epochs=10)
        training.do("save 0")
        training.do("save 1")
        watch = self.watch("local", *self.describe(training, 10), *FAST)
        watch.until(lambda v: v["phase"] == "training" and v["progress"]["done"] == 2)
        training.do("begin 2")
        watch.until(lambda v: v["checkpoint"]["path"] == "2" and v["checkpoint"]["state"] == "saving")
        training.kill()
        self.gpus.free()
        crashed = watch.until(lambda v: v["phase"] == "crashed" and "checkpoint-partial" in v["findings"])
        self.assertEqual(crashed["last_good"]["path"], "1")
        self.assertEqual(crashed["checkpoint"]["path"], "2")
        self.assertEqual(crashed["checkpoint"]["state"], "partial")
        self.assertEqual(crashed["progress"]["done"], 2)
        self.assertFalse([v for v in watch.verdicts if (v["last_good"] or {}).get("path") == "2"], "a half-written save was called good")

    def test_only_workers_remain(self):
        training = self.training(epochs=10, workers=3)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), *FAST)
        watch.until(lambda v: v["phase"] == "training" and v["processes"]["count"] == 4)
        training.kill()
        self.gpus.idle()
        crashed = watch.until(phase="crashed")
        self.assertIn("workers-left", crashed["findings"])

    def test_a_run_that_ends_before_its_last_epoch_is_crashed_even_with_exit_code_0(self):
        training = self.training(epochs=10)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), *FAST)
        watch.until(phase="training")
        training.exit(0)
        self.gpus.free()
        self.assertEqual(watch.until(phase="crashed")["progress"]["done"], 1)

    def test_without_a_total_the_end_can_not_be_told(self):
        training = self.training()
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, None), *FAST)
        watch.until(phase="training")
        training.exit(0)
        self.gpus.free()
        ended = watch.until(lambda v: v["phase"] in ("ended", "crashed", "completed"))
        self.assertEqual((ended["phase"], ended["level"]), ("ended", "warning"))

    def test_the_end_mark_proves_the_end(self):
        log = os.path.join(self.folder, "train.log")
        training = self.training(log=log)
        training.do("log step 1 loss 2.3")
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, None), "--log", log, "--end-mark", "Training (done|finished)", *FAST)
        watch.until(phase="training")
        training.do("log Training finished in 3 s")
        training.exit(0)
        self.gpus.free()
        self.assertEqual(watch.until(lambda v: v["phase"] in ("completed", "ended", "crashed"))["phase"], "completed")

    def test_the_cause_is_read_from_the_log(self):
        log = os.path.join(self.folder, "train.log")
        training = self.training(epochs=10, log=log)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), "--log", log, *FAST)
        watch.until(phase="training")
        training.do("log Traceback (most recent call last):")
        training.do("log torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
        training.kill()
        self.gpus.free()
        self.assertEqual(watch.until(phase="crashed")["cause"], "oom-cuda")


class OldRunsDirectory(Case):
    def setUp(self):
        super().setUp()
        day_ago = time.time() - 86400
        for epoch in range(5):
            write_checkpoint(self.checkpoints, epoch, day_ago + 600 * epoch)

    def test_old_checkpoints_are_no_progress_of_the_new_run(self):
        training = self.training(epochs=5)
        watch = self.watch("local", *self.describe(training, 5), *FAST)
        before = watch.until(phase="training")
        self.assertNotEqual(before["progress"]["done"], 5)
        self.assertEqual(before["last_good"]["path"], "4", "until the first own save the old ones are what is left to resume from")
        training.do("save 0")
        seen = watch.until(lambda v: v["progress"]["done"] == 1)
        self.assertEqual((seen["checkpoint"]["path"], seen["checkpoint"]["run"]), ("0", "this"))
        self.assertEqual(seen["last_good"]["path"], "0")
        self.assertIn("checkpoint-stale", seen["findings"])
        self.assertFalse([v for v in watch.verdicts if v["phase"] == "completed" or v["progress"]["done"] == 5], watch.story())
        training.kill()
        self.gpus.free()
        self.assertEqual(watch.until(lambda v: v["phase"] in ("crashed", "completed", "ended"))["phase"], "crashed")

    def test_a_listing_tells_old_from_own(self):
        training = self.training(epochs=5)
        self.tv("status", "local", *self.describe(training, 5))
        training.do("save 0")
        result = self.check_code(self.tv("checkpoints", "local", *self.describe(training, 5), "--json"), 0)
        states = {c["path"]: (c["state"], c["run"]) for c in result.json["checkpoints"]}
        self.assertEqual(states["0"], ("complete", "this"))
        self.assertEqual({states[str(n)] for n in range(1, 5)}, {("stale", "earlier")})


class Restarted(Case):
    def test_a_new_main_process_is_a_new_run(self):
        training = self.training(epochs=10)
        training.do("save 0")
        watch = self.watch("local", *self.describe(training, 10), *FAST)
        first = watch.until(phase="training")
        training.kill()
        training.close()
        watch.until(phase="crashed")
        again = self.training(epochs=10)
        seen = watch.until(lambda v: v["phase"] in ("starting", "training"))
        self.assertNotEqual(seen["run"], first["run"])
        self.assertEqual(watch.until(phase="training")["processes"]["main_pid"], again.pid)


if __name__ == "__main__":
    unittest.main()
