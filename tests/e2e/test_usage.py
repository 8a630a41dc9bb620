"""Bad usage and bad configuration: one clear sentence, the remedy, exit code 3, and nothing starts."""
import os
import unittest

from support import Case


class Options(Case):
    def check_refused(self, patterns, *command):
        with self.subTest(" ".join(command)):
            self.check_fails_clearly(self.tv(*command), *patterns)

    def test_bad_regular_expression(self):
        for pattern in ("(", "[a", "*", "a{2,1}"):
            self.check_refused(["--process|process|regular expression"], "status", "local", "--process", pattern)
        self.check_refused(["end-mark|regular expression"], "status", "local", "--process", "x", "--log", "/tmp/x", "--end-mark", "(")

    def test_absurd_numbers(self):
        for option, value in (("--epochs", "0"), ("--epochs", "-3"), ("--epochs", "many"), ("--epochs", "99999999999999999999"), ("--steps", "1.5"),
                              ("--stall-after", "0s"), ("--stall-after", "-3s"), ("--stall-after", "soon"), ("--expected", "0"), ("--expected", "12"),
                              ("--probe-timeout", "0s"), ("--deadline", "25:99"), ("--deadline", "yesterday-ish")):
            self.check_refused([option], "status", "local", "--process", "x", option, value)
        self.check_refused(["--interval"], "run", "local", "--process", "x", "--interval", "0s")
        self.check_refused(["--interval"], "run", "local", "--process", "x", "--interval", "1e99s")
        self.check_refused(["--timeout"], "wait", "local", "--process", "x", "--timeout", "-1s")

    def test_contradictions_and_omissions(self):
        self.check_refused(["epochs", "steps"], "status", "local", "--process", "x", "--epochs", "3", "--steps", "5")
        self.check_refused(["--checkpoints", "--process"], "status", "local", "--epochs", "3")
        self.check_refused(["config"], "status")
        self.check_refused(["command|subcommand"], "frobnicate")
        self.check_refused(["--frob"], "status", "local", "--process", "x", "--frob")

    def test_targets_that_would_be_options(self):
        for target in ("-oProxyCommand=touch pwned", "--help-me", "user@-oProxyCommand=x", "host name", "host;id", "host:99999", ""):
            with self.subTest(target):
                result = self.tv("status", "--process", "x", "--", target)
                self.check_code(result, 3)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "pwned")))

    def test_state_directory_that_can_not_be_written(self):
        blocked = os.path.join(self.write("a-file", "x"), "state")
        result = self.tv("status", "local", "--process", "x", "--state-dir", blocked)
        self.check_fails_clearly(result, "state", "--state-dir")

    def test_help_and_version(self):
        self.check_has(self.check_code(self.tv("--help"), 0).out, "status", "wait", "replay", "doctor")
        self.check_has(self.check_code(self.tv("--version"), 0).out, r"\d+\.\d+")
        self.check_has(self.check_code(self.tv("run", "--help"), 0).out, "--interval", "--record")

    def test_the_probe_can_be_read(self):
        result = self.check_code(self.tv("probe-script"), 0)
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "src", "probe", "probe.sh"), encoding="utf-8") as file:
            self.assertEqual(result.out, file.read())


class Configuration(Case):
    def check_config(self, text, *patterns):
        config = self.write("trainvigil.toml", text)
        for command in (("config", "check"), ("status",), ("check",)):
            with self.subTest(text=text, command=command):
                result = self.tv(command[0], None, *command[1:], "-c", config)
                self.check_code(result, 3)
                self.check_has(result.err + (result.out if command[0] == "config" else ""), *patterns)
                self.assertNotRegex(result.err, r"terminate called|what\(\):", str(result))

    def test_unknown_key_with_the_likely_one(self):
        self.check_config('[[job]]\nname = "a"\nhost = "local"\nproces = "x"\n', r"trainvigil\.toml:4:1", "proces", "did you mean", "process")

    def test_unknown_table(self):
        self.check_config('[[jobs]]\nname = "a"\n', r"trainvigil\.toml:1:\d+", "jobs", "job")

    def test_wrong_type(self):
        self.check_config('[[job]]\nname = "a"\nhost = "local"\nprocess = "x"\nepochs = "five"\n', r"trainvigil\.toml:5:\d+", "epochs")

    def test_bad_regular_expression(self):
        self.check_config('[[job]]\nname = "a"\nhost = "local"\nprocess = "("\n', r"trainvigil\.toml:4:\d+", "process")

    def test_not_toml(self):
        self.check_config('[[job]\nname = \n', r"trainvigil\.toml:\d+:\d+")

    def test_absurd_values(self):
        self.check_config('interval = "-5s"\n[[job]]\nname = "a"\nhost = "local"\nprocess = "x"\n', r"trainvigil\.toml:1:\d+", "interval")
        self.check_config('[[job]]\nname = "a"\nhost = "local"\nprocess = "x"\nepochs = 0\n', r"trainvigil\.toml:5:\d+", "epochs")

    def test_missing_file(self):
        self.check_fails_clearly(self.tv("status", None, "-c", os.path.join(self.folder, "none.toml")), "none.toml")

    def test_unknown_job_names_those_that_are_there(self):
        config = self.write("trainvigil.toml", '[[job]]\nname = "eagle3"\nhost = "local"\nprocess = "x"\n')
        self.check_fails_clearly(self.tv("status", None, "-c", config, "--job", "eagle4"), "eagle4", "eagle3")

    def test_a_good_one_passes_and_is_shown(self):
        config = self.write("trainvigil.toml", 'interval = "45s"\n[[job]]\nname = "eagle3"\nhost = "local"\nprocess = "x"\n')
        self.check_code(self.tv("config", None, "check", "-c", config), 0)
        self.check_has(self.check_code(self.tv("config", None, "show", "-c", config), 0).out, "45s", "eagle3")

    def test_what_init_writes_is_good(self):
        result = self.tv("config", None, "init")
        self.check_code(result, 0)
        path = os.path.join(self.folder, "trainvigil.toml")
        text = result.out
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.check_code(self.tv("config", None, "check", "-c", self.write("written.toml", text)), 0)


if __name__ == "__main__":
    unittest.main()
