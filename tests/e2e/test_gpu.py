"""nvidia-smi as it fails in the field: its real words and exit codes, hanging, fields it does not know, cards that vanish."""
import time
import unittest

from support import FAST, Case, processes

# Texts and exit codes as they stand in public reports.
FAILURES = [
    ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n", 18),
    ("Failed to initialize NVML: Unknown Error\n", 255),
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n", 9),
    ("No devices were found\n", 6),
]


class Failing(Case):
    def test_words_and_codes_never_move_a_phase(self):
        training = self.training()
        training.do("save 0")
        training.do("spin on")
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.until(phase="training")
        for text, code in FAILURES:
            with self.subTest(text=text):
                self.gpus.behave(text=text, exit=code)
                seen = watch.until(lambda v: {"gpu-unreadable", "gpu-dark", "gpu-lost"} & set(v["findings"]))
                self.assertEqual(seen["phase"], "training", watch.story())
                self.gpus.behave(text=None, exit=None)
                watch.until(lambda v: v["gpus"] and not {"gpu-unreadable", "gpu-dark", "gpu-lost"} & set(v["findings"]))

    def test_the_words_reach_the_reader(self):
        training = self.training()
        self.gpus.behave(text=FAILURES[0][0], exit=FAILURES[0][1])
        verdict = self.tv("status", "local", *self.describe(training), "--json").json
        self.assertIn("gpu-unreadable", verdict["findings"])
        self.assertIn("version mismatch", str(verdict["evidence"]) + verdict["summary"])
        self.assertIsNone(verdict["gpus"])

    def test_rows_count_although_the_exit_code_is_not_0(self):
        training = self.training()
        self.gpus.behave(exit=14, text="WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n", rows_as_well=True)
        verdict = self.tv("status", "local", *self.describe(training), "--json").json
        self.assertEqual(verdict["gpus"][0]["util_pct"], 97)
        self.assertEqual(verdict["phase"], "training")

    def test_a_field_it_does_not_know_costs_that_field_only(self):
        training = self.training()
        self.gpus.behave(refused=["clocks_throttle_reasons.active", "enforced.power.limit", "clocks.max.sm"])
        verdict = self.tv("status", "local", *self.describe(training), "--json").json
        self.assertEqual(verdict["gpus"][0]["util_pct"], 97)
        self.assertEqual(verdict["gpus"][0]["mem_used_mib"], 40004)

    def test_no_gpu_tool_at_all(self):
        training = self.training()
        training.do("spin on")
        environment = dict(self.environment(), PATH="/usr/local/bin:/usr/bin:/bin")
        verdict = self.tv("status", "local", *self.describe(training), "--json", environment=environment).json
        self.assertIsNone(verdict["gpus"])
        self.assertIn("gpu-dark", verdict["findings"])
        self.assertEqual(verdict["level"], "ok")

    def test_between_two_calls_the_last_reading_stands(self):
        """Ten times what a call costs lie between two: polls that come sooner neither lose the GPUs nor call them unreadable."""
        training = self.training()
        self.gpus.behave(takes=0.5)
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.until(lambda v: v["gpus"])
        for verdict in watch.polls(12):
            self.assertEqual(verdict["gpus"][0]["util_pct"], 97, watch.story())
            self.assertFalse({"gpu-unreadable", "gpu-dark"} & set(verdict["findings"]), watch.story())


class Hanging(Case):
    def check_hanging(self, deaf):
        training = self.training()
        training.do("save 0")
        training.do("spin on")
        watch = self.watch("local", *self.describe(training), "--probe-timeout", "5s", *FAST)
        watch.until(phase="training")
        before = len(self.gpus.calls())
        self.gpus.behave(hang=True, deaf=deaf or None)
        processes.wait_until(lambda: len(self.gpus.calls()) > before, "the GPUs are asked again", 90)
        began = time.monotonic()
        training.do("save 1")
        seen = watch.until(lambda v: v["progress"]["done"] == 2)
        self.assertLess(seen["_seen"] - began, 20, "a hung nvidia-smi is to cost its own reading and no more\n" + watch.story())
        for verdict in watch.polls(5):
            self.assertIn(verdict["phase"], ("training", "saving"), watch.story())
            self.assertIn("gpu-unreadable", verdict["findings"], watch.story())
        hung = [call["pid"] for call in self.gpus.calls() if "argv" in call and processes.stat(call["pid"])]
        self.assertLessEqual(len(hung), 1, "one at a time: %s" % hung)
        return watch

    def test_it_costs_its_own_reading_and_no_more(self):
        watch = self.check_hanging(deaf=False)
        self.assertIn("SIGTERM", [call.get("signal") for call in self.gpus.calls()], "what hangs is asked to end")
        self.assertEqual(watch.stop(), 0)
        self.no_process_left()

    def test_one_that_ignores_term_is_never_killed(self):
        watch = self.check_hanging(deaf=True)
        self.assertEqual(watch.stop(), 0)
        started = [call["pid"] for call in self.gpus.calls() if "argv" in call]
        still = [pid for pid in started if processes.stat(pid) and processes.stat(pid)[0] not in "ZX"]
        self.assertEqual(len(still), 1, "KILL has wedged cards for good: TERM is all that may be sent")


class Lost(Case):
    gpu_count = 4

    def test_a_card_that_falls_off_the_bus(self):
        training = self.training()
        training.do("save 0")
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.until(lambda v: v["phase"] == "training" and len(v["gpus"] or []) == 4)
        self.gpus.state["gpus"] = self.gpus.state["gpus"][:3]
        self.gpus.behave(rows_as_well=True, text="Unable to determine the device handle for GPU0000:03:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
                         exit=15)
        seen = watch.until(lambda v: "gpu-lost" in v["findings"])
        self.assertEqual(seen["level"], "warning")
        self.assertNotEqual(seen["phase"], "crashed")

    def test_a_card_that_requires_a_reset(self):
        training = self.training()
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.until(phase="training")
        self.gpus.set(2, util="[GPU requires reset]", mem_used="[GPU requires reset]", power="[GPU requires reset]", temp="[GPU requires reset]")
        self.assertEqual(watch.until(lambda v: "gpu-needs-reset" in v["findings"])["level"], "warning")


class Restraint(Case):
    def test_it_is_not_asked_more_often_than_its_cost_allows(self):
        """A call of 300 ms every 500 ms would be a burden: ten times what one call costs lie between two."""
        training = self.training()
        self.gpus.behave(takes=0.3)
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.until(lambda v: v["gpus"])
        before, began = len(self.gpus.calls()), time.monotonic()
        while time.monotonic() - began < 8:
            watch.until()
        calls = len([c for c in self.gpus.calls()[before:] if "argv" in c])
        self.assertLessEqual(calls, 2 * 8 / 3 + 3, self.gpus.calls())  # a query of the cards and one of the processes each time


if __name__ == "__main__":
    unittest.main()
