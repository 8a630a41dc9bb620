"""Odd names, directories that are missing or closed, patterns that match nothing."""
import os
import unittest

from support import FAST, Case
from support.checkpoint_files import write_checkpoint
from support.users import temporary_user


class OddNames(Case):
    NAMES = ["with blank", "with 'quotes' \"both\"", "$(touch pwned)`touch pwned`", "line\nbreak", "tab\there", "-rf", "*?[a]", "umlaut-ä", "back\\slash", ";exit 3;",
             "esc\x1b[31mred"]

    def test_file_names_are_data(self):
        write_checkpoint(self.checkpoints, 0)
        write_checkpoint(self.checkpoints, 1)
        for name in self.NAMES:
            os.makedirs(os.path.join(self.checkpoints, name))
            with open(os.path.join(self.checkpoints, name, name), "w", encoding="utf-8") as file:
                file.write("x")
        os.makedirs(os.fsencode(self.checkpoints) + b"/latin-\xe9\xff")
        os.symlink("nowhere", os.path.join(self.checkpoints, "broken"))
        os.symlink("circle", os.path.join(self.checkpoints, "circle"))
        os.mkfifo(os.path.join(self.checkpoints, "pipe"))
        training = self.training()
        for target in ("local", "gpu1"):
            with self.subTest(target):
                verdict = self.tv("status", target, *self.describe(training), "--json").lines[-1]
                self.assertEqual((verdict["phase"], verdict["checkpoint"]["path"], verdict["last_good"]["path"]), ("training", "1", "1"))
        self.assertFalse([f for _, _, files in os.walk(self.folder) for f in files if f == "pwned"])

    def test_a_directory_with_every_odd_character(self):
        for name in self.NAMES:
            with self.subTest(name):
                path = os.path.join(self.checkpoints, name)
                write_checkpoint(path, 0)
                result = self.check_code(self.tv("checkpoints", "local", "--checkpoints", path, "--last-good"), 0)
                self.assertEqual(result.out.rstrip("\n") if "\n" not in name else result.out[:-1], os.path.join(path, "0"))

    def test_last_good_prints_raw_bytes(self):
        path = os.fsencode(self.checkpoints) + b"/latin-\xe9"
        os.makedirs(path)
        write_checkpoint(os.fsdecode(path), 0)
        result = self.tv("checkpoints", "local", "--checkpoints", os.fsdecode(path), "--last-good", text=False)
        self.assertEqual((result.code, result.out.rstrip(b"\n")), (0, path + b"/0"))

    def test_nothing_printed_moves_the_cursor(self):
        training = self.training()
        write_checkpoint(self.checkpoints, 0)
        os.rename(os.path.join(self.checkpoints, "0"), os.path.join(self.checkpoints, "epoch_\x1b[2J0"))
        for command in (["status", "local", *self.describe(training), "-v", "--no-color"], ["checkpoints", "local", "--checkpoints", self.checkpoints, "--no-color"]):
            result = self.tv(*command)
            self.assertNotIn("\x1b", result.out + result.err, str(result))

    def test_a_pattern_with_quotes_and_dollars(self):
        self.training()
        verdict = self.check_code(self.tv("status", "gpu1", "--process", "'; touch %s/pwned; echo \"$(id)`id`" % self.folder, "--json"), 0).json
        self.assertEqual(verdict["phase"], "waiting")
        self.assertFalse(os.path.exists(self.folder + "/pwned"))


class Directories(Case):
    def test_missing_before_the_first_save_is_a_note(self):
        training = self.training(output=os.path.join(self.folder, "later"))
        watch = self.watch("local", *self.describe(training), *FAST)
        seen = watch.until(lambda v: "directory-missing" in v["findings"])
        self.assertEqual(seen["level"], "ok")
        self.assertEqual(watch.until(phase="training")["level"], "ok")
        training.do("save 0")
        seen = watch.until(lambda v: v["progress"]["done"] == 1)
        self.assertNotIn("directory-missing", seen["findings"])

    def test_missing_later_is_a_warning(self):
        training = self.training()
        training.do("save 0")
        watch = self.watch("local", *self.describe(training), *FAST)
        watch.until(lambda v: v["progress"]["done"] == 1)
        os.rename(self.checkpoints, self.checkpoints + ".moved")
        seen = watch.until(lambda v: "directory-missing" in v["findings"])
        self.assertEqual(seen["level"], "warning")
        self.assertNotIn(seen["phase"], ("crashed", "completed"))

    def test_unreadable(self):
        user = temporary_user(self, "/bin/sh")
        training = self.training()
        training.do("save 0")
        os.chmod(self.checkpoints, 0o700)
        verdict = self.tv("status", "user-" + user, *self.describe(training), "--json").lines[-1]
        self.assertIn("directory-unreadable", verdict["findings"])
        self.assertEqual(verdict["level"], "warning")
        self.assertIsNone(verdict["checkpoint"])

    def test_it_is_a_file(self):
        path = self.write("a-file", "x")
        training = self.training()
        verdict = self.tv("status", "local", "--checkpoints", path, "--process", training.pattern, "--json").lines[-1]
        self.assertTrue({"directory-missing", "directory-unreadable"} & set(verdict["findings"]), verdict)


class Patterns(Case):
    def test_nothing_matches(self):
        """The command lines nearest to the pattern are named, so that a slip is seen at once."""
        training = self.training()
        near = training.pattern.replace("04_train", "04_trian")
        verdict = self.check_code(self.tv("status", "local", "--checkpoints", self.checkpoints, "--process", near, "--json"), 0).json
        self.assertEqual((verdict["phase"], verdict["level"]), ("waiting", "ok"))
        self.assertIn("04_train.py", verdict["summary"] + str(verdict["evidence"]))

    def test_the_watcher_does_not_watch_itself(self):
        token = os.path.basename(self.folder) + "-nobody"
        for target in ("local", "gpu1"):
            with self.subTest(target):
                verdict = self.check_code(self.tv("status", target, "--process", token, "--json"), 0).json
                self.assertEqual((verdict["phase"], (verdict["processes"] or {}).get("count") or 0), ("waiting", 0))

    def test_launchers_are_not_the_main_process(self):
        import subprocess
        import sys
        script = self.write("wrapped_train.py", "import sys\nsys.stdin.read()\n")
        shell = subprocess.Popen(["bash", "-c", "%s %s; true" % (sys.executable, script)], stdin=subprocess.PIPE, env=self.plain_environment())
        self.addCleanup(shell.wait, 20)
        self.addCleanup(shell.stdin.close)
        watch = self.watch("local", "--process", os.path.basename(self.folder) + "/wrapped_train", *FAST)
        seen = watch.until(lambda v: (v["processes"] or {}).get("main_pid"))
        self.assertNotEqual(seen["processes"]["main_pid"], shell.pid)

    def test_extended_regular_expression_on_the_whole_command_line(self):
        training = self.training()
        folder = os.path.basename(self.folder)
        verdict = self.tv("status", "local", "--process", "%s/04_(train|tune)[.]py .*--epochs 3( |$)" % folder, "--json").json
        self.assertEqual((verdict["processes"] or {}).get("main_pid"), training.pid)


if __name__ == "__main__":
    unittest.main()
