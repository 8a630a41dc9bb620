"""A run launched at 12:47 whose first of five epochs was saved at 13:21: how far it is and when it ends."""
import datetime
import os
import unittest

from support import Case, traces

MIDNIGHT = datetime.datetime(2025, 11, 29, tzinfo=datetime.timezone.utc).timestamp()


def clock(text):
    hours, minutes = text.split(":")
    return MIDNIGHT + 3600 * int(hours) + 60 * int(minutes)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class FirstEpochOfFive(Case):
    LAUNCH, SAVED, LOOK = clock("12:47"), clock("13:21"), clock("13:21") + 35

    def setUp(self):
        super().setUp()
        lines = [traces.header(checkpoints="/data/eagle3/output_10k_sglang", process="04_train", epochs=5)]
        time = self.LAUNCH + 25
        while time <= self.LOOK:
            files = traces.save("0", self.SAVED, 4_700_000_000) if time >= self.SAVED else []
            lines.append(traces.observation(time, processes=[traces.process(self.LAUNCH, time)], gpus=[traces.busy_gpu()], files=files))
            time += 30
        if lines[-1]["watcher_time"] < self.LOOK:
            lines.append(traces.observation(self.LOOK, processes=[traces.process(self.LAUNCH, self.LOOK)], gpus=[traces.busy_gpu()],
                                            files=traces.save("0", self.SAVED, 4_700_000_000)))
        self.trace = traces.write(os.path.join(self.folder, "seed.jsonl"), lines)

    def last(self, *options):
        return self.check_code(self.tv("replay", self.trace, "--json", *options), 0).lines[-1]

    def test_one_epoch_of_five_is_done(self):
        verdict = self.last()
        self.assertEqual((verdict["phase"], verdict["level"]), ("training", "ok"))
        self.assertEqual(verdict["progress"]["unit"], "epoch")
        self.assertEqual((verdict["progress"]["done"], verdict["progress"]["total"]), (1, 5))
        self.assertAlmostEqual(verdict["progress"]["fraction"], 0.2, delta=0.01)
        self.assertEqual((verdict["last_good"]["path"], verdict["last_good"]["bytes"]), ("0", 4_700_000_000))

    def test_the_interval_holds_what_the_first_epoch_promises(self):
        """Five epochs of 34 minutes each end at 15:37."""
        eta = self.last()["eta"]
        self.assertLess(moment(eta["p10"]), clock("15:37"))
        self.assertGreater(moment(eta["p90"]), clock("15:37"))
        self.assertLess(moment(eta["p10"]), moment(eta["p50"]))
        self.assertLess(moment(eta["p50"]), moment(eta["p90"]))
        self.assertAlmostEqual(moment(eta["p50"]), self.LOOK + eta["remaining_s"]["p50"], delta=2)
        self.assertLess(moment(eta["next_checkpoint"]["p10"]), clock("13:55"))
        self.assertGreater(moment(eta["next_checkpoint"]["p90"]), clock("13:55"))

    def test_what_the_run_took_before_draws_the_estimate_to_it(self):
        """155 minutes in all would end at 15:22: the first epoch held the warm-up."""
        without, told = self.last()["eta"], self.last("--expected", "155m")["eta"]
        self.assertLess(abs(moment(told["p50"]) - clock("15:22")), abs(moment(without["p50"]) - clock("15:22")))
        self.assertLess(moment(told["p10"]), clock("15:22"))
        self.assertGreater(moment(told["p90"]), clock("15:22"))

    def test_a_deadline_before_the_estimate_is_at_risk(self):
        result = self.check_code(self.tv("replay", self.trace, "--json", "--deadline", "2025-11-29T14:00:00Z"), 1)
        self.assertIn("deadline-at-risk", result.lines[-1]["findings"])

    def test_the_last_good_checkpoint_of_a_trace(self):
        result = self.check_code(self.tv("checkpoints", None, "--from-trace", self.trace, "--last-good"), 0)
        self.assertEqual(result.out.rstrip("\n"), "/data/eagle3/output_10k_sglang/0")


if __name__ == "__main__":
    unittest.main()
