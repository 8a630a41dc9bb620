"""A healthy run from launch to its end, on every way to the host."""
import unittest

from support import FAST, Case, processes


class FromLaunchToCompletion(Case):
    def check_run(self, target, *options):
        training = self.training(epochs=3, workers=2)
        watch = self.watch(target, *self.describe(training), *FAST, *options)
        first = watch.until(lambda v: v["phase"] in ("starting", "training"))
        self.assertEqual(first["level"], "ok")
        self.assertEqual(first["schema"], "trainvigil.verdict/1")
        self.assertEqual(first["processes"]["main_pid"], training.pid)
        self.assertEqual(first["processes"]["count"], 3)
        self.assertIsNone(first["last_good"])
        watch.until(phase="training")

        training.do("save 0")
        seen = watch.until(lambda v: (v["last_good"] or {}).get("path") == "0" and v["last_good"]["bytes"] > 8 << 20)
        self.assertEqual(seen["checkpoint"]["state"], "complete")
        self.assertEqual(seen["checkpoint"]["value"], 0)
        self.assertEqual(seen["checkpoint"]["run"], "this")
        self.assertGreater(seen["checkpoint"]["bytes"], 8 << 20)
        self.assertEqual((seen["progress"]["unit"], seen["progress"]["done"], seen["progress"]["total"]), ("epoch", 1, 3))
        self.assertLess(seen["progress"]["fraction"], 1)
        self.assertIsNotNone(seen["eta"])

        training.do("save 1")
        watch.until(lambda v: v["progress"]["done"] == 2)
        training.do("save 2")
        training.exit(0)
        self.gpus.free()
        seen = watch.until(phase="completed")
        self.assertEqual((seen["level"], seen["progress"]["done"], seen["progress"]["fraction"]), ("ok", 3, 1))
        self.assertEqual(seen["last_good"]["path"], "2")
        self.assertEqual([v for v in watch.verdicts if not self.calm(v)], [], watch.story())
        self.assertTrue(set(watch.phases()) <= {"starting", "training", "saving", "completed"}, watch.phases())
        return watch

    def test_on_this_machine(self):
        watch = self.check_run("local")
        self.assertEqual(watch.stop(), 0)
        self.no_process_left()

    def test_over_libssh(self):
        watch = self.check_run("gpu1")
        self.assertFalse([p for p in processes.descendants(watch.process.pid) if "sh" in processes.command(p).split("/")[-1].split()[:1]])
        self.assertEqual(watch.stop(), 0)
        self.no_process_left()

    def test_over_the_ssh_program(self):
        watch = self.check_run("gpu1", "-c", self.openssh_config())
        self.assertTrue([p for p in processes.descendants(watch.process.pid) if processes.command(p).split(" ")[0].endswith("ssh")], "no ssh program runs")
        self.assertEqual(watch.stop(), 0)
        self.no_process_left()


class OneLook(Case):
    def test_status_of_a_run_that_trains(self):
        training = self.training()
        verdict = self.check_code(self.tv("status", "local", *self.describe(training), "--json"), 0).json
        self.assertEqual((verdict["phase"], verdict["level"], verdict["host"]), ("training", "ok", "local"))
        self.assertEqual(verdict["gpus"][0]["index"], 0)
        self.assertEqual(verdict["gpus"][0]["util_pct"], 97)
        self.assertEqual(verdict["gpus"][0]["mem_total_mib"], 81920)
        self.assertTrue(all({"signal", "source", "says", "detail"} <= set(e) for e in verdict["evidence"]))
        self.assertTrue({"time", "host_time", "job", "run", "cause", "confidence", "since", "summary", "findings", "last"} <= set(verdict))

    def test_status_for_a_person_names_phase_progress_and_checkpoint(self):
        training = self.training()
        training.do("save 0")
        result = self.tv("status", "local", *self.describe(training), "--no-color")
        self.check_has(result.out, "training", r"1\s*(/|of)\s*3", "epoch")
        self.assertNotIn("\x1b", result.out)

    def test_status_is_the_default_name_of_host_and_directory(self):
        training = self.training()
        verdict = self.tv("status", "local", *self.describe(training), "--json").json
        self.assertIn("run", verdict["job"])
        self.assertIn("local", verdict["job"])
        named = self.tv("status", "local", *self.describe(training), "--name", "eagle3", "--json").json
        self.assertEqual(named["job"], "eagle3")

    def test_unknown_is_null_and_never_zero(self):
        training = self.training()
        self.gpus.set(util=None, power=None)
        verdict = self.tv("status", "local", *self.describe(training, epochs=None), "--json").json
        self.assertIsNone(verdict["gpus"][0]["util_pct"])
        self.assertIsNone(verdict["gpus"][0]["power_w"])
        self.assertIsNone(verdict["progress"]["total"])
        self.assertIsNone(verdict["progress"]["fraction"])
        self.assertIsNone(verdict["checkpoint"])

    def test_status_reads_jobs_of_the_config(self):
        training = self.training()
        config = self.write("trainvigil.toml", "[[job]]\nname = 'one'\nhost = 'local'\ncheckpoints = '%s'\nprocess = '%s'\nepochs = 3\n"
                            "[[job]]\nname = 'two'\nhost = 'local'\nprocess = 'no/such/thing'\n" % (training.output, training.pattern))
        both = self.tv("status", None, "-c", config, "--json").lines
        self.assertEqual({v["job"]: v["phase"] for v in both}, {"one": both[0]["phase"], "two": "waiting"})
        picked = self.tv("status", None, "-c", config, "--job", "one", "--json").lines
        self.assertEqual([v["job"] for v in picked], ["one"])


if __name__ == "__main__":
    unittest.main()
