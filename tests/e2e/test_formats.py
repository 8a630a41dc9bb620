"""Files of every format as the real libraries write them, whole and broken: no broken one is called complete, no complete one is refused."""
import json
import os
import subprocess
import unittest

from support import Case, processes

HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support", "broken_files.py")
PYTHON = "/usr/bin/python3"  # the one that Debian's libraries are for
OLD = 1700000000


def dated_back(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (OLD, OLD))


class Formats(Case):
    def states(self, target, folder, *options, within=120):
        done = self.check_code(self.tv("checkpoints", target, "--checkpoints", folder, "--json", *options, within=within), 0)
        return {c["path"]: c for c in done.json["checkpoints"]}, done

    def check_told_apart(self, seen, expected, column):
        wrong = []
        for case, says in expected.items():
            checkpoint = seen.get(case + "/step-1")
            if checkpoint is None:
                wrong.append("%s is not listed" % case)
            elif says[column] == "whole" and checkpoint["state"] != "complete" or says[column] == "broken" and checkpoint["state"] not in ("partial", "corrupt"):
                wrong.append("%s is %s and said to be %s: %s" % (case, says[column], checkpoint["state"], checkpoint["why"]))
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_every_format_whole_and_broken(self):
        if not os.access(PYTHON, os.X_OK):
            self.skipTest("no " + PYTHON)
        folder = self.make_folder("formats")
        made = subprocess.run([PYTHON, "-B", HELPER, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=processes.patience(240))
        self.assertEqual(made.returncode, 0, made.stderr)
        if made.stderr:
            print(made.stderr, end="")
        expected = json.loads(made.stdout)
        seen = {}
        for batch in sorted(os.listdir(folder)):
            here, done = self.states("local", os.path.join(folder, batch), "--probe-timeout", "100s")
            self.assertEqual(done.err, "")
            seen.update((batch + "/" + path, checkpoint) for path, checkpoint in here.items())
        self.check_told_apart(seen, expected, 0)
        seen, done = self.states("local", folder, "--verify", within=240)
        self.check_told_apart(seen, expected, 1)
        self.assertEqual(done.err, "")
        # The same over SSH.
        over_ssh, _ = self.states("gpu1", os.path.join(folder, "01"), "--verify", within=240)
        self.assertTrue(over_ssh)
        self.assertEqual({"01/" + path: c["state"] for path, c in over_ssh.items()}, {path: c["state"] for path, c in seen.items() if path.startswith("01/")})

    def test_an_index_names_what_has_to_be_there(self):
        weights = {"layer.%d.%s.weight" % (i, part): "model-%d.safetensors" % (1 + i % 3) for i in range(800) for part in ("q", "k", "v")}
        index = json.dumps({"metadata": {"total_size": 1}, "weight_map": weights}, indent=2).encode()
        self.assertGreater(len(index), 100000)
        header = json.dumps({"w": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}}).encode()
        shard = len(header).to_bytes(8, "little") + header + b"12345678"
        for save, shards in (("checkpoint-1", (1, 2, 3)), ("other/checkpoint-1", (1, 3))):
            folder = os.path.join(self.checkpoints, save)
            dated_back(os.path.join(folder, "model.safetensors.index.json"), index)
            for number in shards:
                dated_back(os.path.join(folder, "model-%d.safetensors" % number), shard)
        for target in ("local", "gpu1"):
            seen, _ = self.states(target, self.checkpoints)
            self.assertEqual(seen["checkpoint-1"]["state"], "complete")
            self.assertEqual(seen["other/checkpoint-1"]["state"], "partial")
            self.assertIn("model-2.safetensors", seen["other/checkpoint-1"]["why"])
        dated_back(os.path.join(self.checkpoints, "checkpoint-1", "model.safetensors.index.json"), index[:-30])
        self.assertEqual(self.states("local", self.checkpoints)[0]["checkpoint-1"]["state"], "partial", "the index itself is cut short")

    def test_a_file_that_grows_while_it_is_read_is_being_saved(self):
        """The listing sees it old and at rest; the one who writes comes between the listing and the last look at its size."""
        path = os.path.join(self.checkpoints, "step-1", "model.zip")
        dated_back(path, b"no archive at all, however long it gets")
        dated_back(os.path.join(self.checkpoints, "step-1", "other.bin"), b"b" * 5000)
        for target in ("local", "gpu1"):
            self.assertEqual(self.states(target, self.checkpoints)[0]["step-1"]["state"], "corrupt", "at rest it is what it is")
            dd = os.path.join(self.tools, "dd")
            with open(dd, "w", encoding="utf-8") as script:
                script.write("#!/bin/sh\nprintf x >>'%s'\nexec /bin/dd \"$@\"\n" % path)
            os.chmod(dd, 0o755)
            size = os.path.getsize(path)
            seen, _ = self.states(target, self.checkpoints)
            self.assertGreater(os.path.getsize(path), size, "it did grow")
            self.assertIn(seen["step-1"]["state"], ("saving", "partial"), seen["step-1"]["why"])
            os.remove(dd)
            os.utime(path, (OLD, OLD))


if __name__ == "__main__":
    unittest.main()
