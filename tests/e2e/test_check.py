"""`check`, for cron, Nagios and Icinga."""
import re
import subprocess
import unittest

from support import Case, processes

LINE = re.compile(r"^TRAINVIGIL (OK|WARNING|CRITICAL|UNKNOWN) - [^|\n]+(\|[^|\n]*)?\n$")
DATUM = r"('[^'=]+'|[^\s'=]+)=-?[0-9.]+(us|ms|s|%|B|KB|MB|TB|c)?(;[^;\s]*){0,4}"
PERFDATA = re.compile("^ ?%s( %s)*$" % (DATUM, DATUM))


class Plugin(Case):
    def check(self, training, *options, target="local", epochs=10):
        return self.tv("check", target, *self.describe(training, epochs), *options)

    def test_one_line_with_performance_data(self):
        training = self.training(epochs=10)
        result = self.check_code(self.check(training), 0)
        self.assertRegex(result.out, LINE)
        self.assertTrue(result.out.startswith("TRAINVIGIL OK - "))
        self.assertRegex(result.out.rstrip("\n").split("|")[1], PERFDATA)

    def test_codes_and_history_between_calls(self):
        training = self.training(epochs=10)
        self.check_code(self.check(training), 0)
        training.kill()
        self.gpus.free()
        result = self.check_code(self.check(training), 2)
        self.assertTrue(result.out.startswith("TRAINVIGIL CRITICAL - "), str(result))
        self.assertRegex(result.out, LINE)

    def test_unknown_is_3(self):
        result = self.check_code(self.tv("check", "no-such-host.invalid", "--process", "x"), 3)
        self.assertTrue(result.out.startswith("TRAINVIGIL UNKNOWN - "), str(result))
        self.assertRegex(result.out, LINE)

    def test_quiet_says_nothing_while_all_is_well(self):
        training = self.training(epochs=10)
        result = self.check_code(self.check(training, "--quiet"), 0)
        self.assertEqual(result.out + result.err, "")
        training.kill()
        self.gpus.free()
        self.assertTrue(self.check_code(self.check(training, "--quiet"), 2).out.startswith("TRAINVIGIL CRITICAL"))

    def test_a_bar_in_a_name_does_not_start_the_performance_data(self):
        training = self.training(epochs=10)
        result = self.check(training, "--name", "a|b\nc")
        self.assertIn(result.code, (0, 3), str(result))
        if result.code == 0:
            self.assertRegex(result.out, LINE)

    def test_several_jobs_are_as_bad_as_the_worst(self):
        training = self.training(epochs=10)
        config = self.write("trainvigil.toml", "[[job]]\nname = 'fine'\nhost = 'local'\nprocess = '%s'\n[[job]]\nname = 'gone'\nhost = 'no-such-host.invalid'\nprocess = 'x'\n"
                            % training.pattern)
        result = self.check_code(self.tv("check", None, "-c", config), 3)
        self.assertTrue(result.out.startswith("TRAINVIGIL UNKNOWN - "), str(result))
        self.assertIn("gone", result.out.splitlines()[0])

    def test_two_at_once(self):
        """cron starts the next one while the last one still looks."""
        training = self.training(epochs=10)
        command = self.command("check", "local", *self.describe(training, 10), "--state-dir", self.state)
        running = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment(),
                                    cwd=self.folder) for _ in range(4)]
        for one in running:
            out, err = one.communicate(timeout=processes.patience(90))
            self.assertEqual(one.returncode, 0, out + err)
            self.assertRegex(out, LINE)
        self.check_code(self.check(training), 0)

    def test_with_the_environment_of_cron(self):
        training = self.training(epochs=10)
        environment = {"HOME": self.home, "LOGNAME": "root", "PATH": self.tools + ":/usr/bin:/bin", "SHELL": "/bin/sh", "TV_E2E": self.environment()["TV_E2E"]}
        result = self.tv("check", "gpu1", *self.describe(training, 10), environment=environment)
        self.check_code(result, 0)

    def test_history_keeps_targets_of_one_name_apart(self):
        training = self.training(epochs=10)
        self.check_code(self.check(training, "--name", "same"), 0)
        result = self.tv("check", "local", "--process", "something/else", "--name", "same")
        self.check_has(result.err, "same")
        self.check_code(result, 0)
        self.check_code(self.check(training, "--name", "same"), 0)


if __name__ == "__main__":
    unittest.main()
