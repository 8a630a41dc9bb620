"""What was recorded is judged the same again; traces that are cut or alien are refused."""
import os
import time
import unittest

from support import FAST, Case, traces

KEYS = ("time", "job", "host", "run", "phase", "level", "cause", "confidence", "findings", "progress", "eta", "checkpoint", "last_good", "last")


class Recorded(Case):
    def check_same(self, target, trace, watch, *options):
        lived = [{k: v[k] for k in KEYS} for v in watch.verdicts]
        replayed = [{k: v[k] for k in KEYS} for v in self.tv("replay", trace, "--json", *options).lines]
        self.assertEqual(len(replayed), len(lived))
        for number, (now, then) in enumerate(zip(replayed, lived)):
            self.assertEqual(now, then, "record %d\n%s" % (number, watch.story()))

    def test_a_run_that_crashes_gives_the_same_verdicts(self):
        training = self.training(epochs=10)
        trace = os.path.join(self.folder, "run.jsonl")
        watch = self.watch("gpu1", *self.describe(training, 10), "--record", trace, *FAST)
        watch.until(phase="training")
        training.do("save 0")
        watch.until(lambda v: v["progress"]["done"] == 1)
        training.do("begin 1")
        watch.until(phase="saving")
        training.do("finish 1")
        watch.until(lambda v: v["progress"]["done"] == 2)
        self.sshd.stop()
        watch.until(phase="unreachable")
        self.sshd.start()
        watch.until(phase="training", within=90)
        training.kill()
        self.gpus.free()
        watch.until(phase="crashed")
        self.assertEqual(watch.stop(), 0)
        self.check_same("gpu1", trace, watch)
        self.check_code(self.tv("replay", trace), 2)
        self.check_has(self.tv("replay", trace, "--explain").out, "crashed")
        self.assertEqual(self.tv("checkpoints", None, "--from-trace", trace, "--last-good").out.rstrip("\n"), os.path.join(self.checkpoints, "1"))

    def test_a_stall_gives_the_same_verdicts(self):
        training = self.training()
        training.do("save 0")
        trace = os.path.join(self.folder, "run.jsonl")
        watch = self.watch("local", *self.describe(training), "--stall-after", "3s", "--record", trace, *FAST)
        watch.until(phase="training")
        training.stop()
        self.gpus.idle()
        watch.until(phase="stalled")
        self.assertEqual(watch.stop(), 0)
        self.check_same("local", trace, watch)

    def test_history_of_earlier_runs_travels_in_the_trace(self):
        training = self.training(epochs=2)
        watch = self.watch("local", *self.describe(training, 2), *FAST)
        for epoch in range(2):
            training.do("save %d" % epoch)
            watch.until(lambda v: v["progress"]["done"] == epoch + 1)
        training.exit(0)
        self.gpus.free()
        watch.until(phase="completed")
        watch.stop()
        training = self.training(epochs=2)
        trace = os.path.join(self.folder, "second.jsonl")
        watch = self.watch("local", *self.describe(training, 2), "--record", trace, *FAST)
        watch.until(phase="training")
        training.do("save 0")
        watch.until(lambda v: v["checkpoint"] and v["checkpoint"]["path"] == "0" and v["checkpoint"]["run"] == "this" and v["progress"]["done"] == 1)
        watch.stop()
        self.check_same("local", trace, watch)


class Alien(Case):
    NOW = 1764422465.0

    def good(self, count=3):
        lines = [traces.header(process="04_train", checkpoints="/data/out", epochs=5)]
        for i in range(count):
            time = self.NOW + 30 * i
            lines.append(traces.observation(time, processes=[traces.process(self.NOW - 600, time)], gpus=[traces.busy_gpu()], files=[]))
        return lines

    def trace(self, lines, cut=0):
        path = traces.write(os.path.join(self.folder, "trace.jsonl"), lines)
        if cut:
            os.truncate(path, os.path.getsize(path) - cut)
        return path

    def test_a_whole_one(self):
        self.check_code(self.tv("replay", self.trace(self.good()), "--json"), 0)

    def test_a_truncated_one_is_judged_as_far_as_it_is_whole(self):
        result = self.tv("replay", self.trace(self.good(), cut=40), "--json")
        self.assertEqual(len(result.lines), 2, str(result))
        self.check_fails_clearly(result, r"trace\.jsonl:4")

    def test_not_a_trace(self):
        for text in ("", "\n", "hello\n", "{}\n", "[1,2]\n", '{"schema":"trainvigil.trace/99","job":{}}\n', "\x00\x01\x02", '{"schema":"trainvigil.observation/1"}\n'):
            with self.subTest(text):
                self.check_fails_clearly(self.tv("replay", self.write("alien.jsonl", text), "--json"), "alien")

    def test_missing_file(self):
        self.check_fails_clearly(self.tv("replay", os.path.join(self.folder, "nowhere.jsonl")), "nowhere")

    def test_an_alien_line_between_good_ones(self):
        lines = self.good()
        lines.insert(2, {"schema": "something/1"})
        self.check_fails_clearly(self.tv("replay", self.trace(lines), "--json"), "trace.jsonl:3")

    def test_hostile_numbers_and_types_do_not_bring_it_down(self):
        for field in ({"watcher_time": "soon"}, {"watcher_time": 1e308}, {"processes": 7}, {"gpus": [{"index": -1}]}, {"files": [{"path": 5}]}, {"host": []},
                      {"gpus": [{"index": 0, "util_pct": 1e300, "power_w": -1e300}]}, {"files": [{"path": "0/x", "type": "f", "bytes": 9223372036854775807, "mtime": 1e18}]},
                      {"processes": [{"pid": 1, "cpu_s": -5, "start": 9e99}]}, {"reach": "gone-fishing"}):
            with self.subTest(str(field)):
                lines = self.good()
                lines.insert(2, traces.observation(self.NOW + 1, **field))
                result = self.tv("replay", self.trace(lines), "--json")
                self.assertIn(result.code, (0, 1, 2, 3), str(result))
                self.assertNotRegex(result.err, r"terminate called|what\(\):|Assertion", str(result))

    def test_every_field_may_be_missing(self):
        lines = [traces.header(process="x"), {"schema": "trainvigil.observation/1", "watcher_time": self.NOW, "reach": "ok"},
                 {"schema": "trainvigil.observation/1", "watcher_time": self.NOW + 30, "reach": "connect-failed"}]
        verdicts = self.check_code(self.tv("replay", self.trace(lines), "--json"), 3).lines
        self.assertEqual(verdicts[1]["phase"], "unreachable")

    def test_it_needs_no_clock(self):
        first = self.tv("replay", self.trace(self.good()), "--json").out
        time.sleep(1.1)
        self.assertEqual(self.tv("replay", self.trace(self.good()), "--json").out, first)


if __name__ == "__main__":
    unittest.main()
