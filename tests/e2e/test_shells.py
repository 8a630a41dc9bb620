"""Every login shell, and start-up files that talk."""
import os
import shutil
import unittest

from support import Case
from support.users import temporary_user


class LoginShells(Case):
    def check_shell(self, shell, script=None):
        """`script`: start-up file of the shell, relative to the home, and its text."""
        user = temporary_user(self, shell)
        if script:
            path = os.path.join(self.remote_home, script[0])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(script[1])
        os.chmod(self.remote_home, 0o777)
        training = self.training()
        training.do("save 0")
        for options in ([], ["-c", self.write("t.toml", '[host.user-%s]\ntransport = "openssh"\n' % user)]):
            with self.subTest(shell=shell, options=options):
                verdict = self.check_calm(self.tv("status", "user-" + user, *self.describe(training), "--json", *options))
                self.assertEqual((verdict["phase"], verdict["progress"]["done"]), ("training", 1))
                self.assertEqual(verdict["processes"]["main_pid"], training.pid)
        self.no_process_left()

    def test_bash(self):
        self.check_shell("/bin/bash")

    def test_dash(self):
        self.check_shell("/bin/dash")

    def test_fish(self):
        self.check_shell("/usr/bin/fish", (".config/fish/config.fish", "echo welcome to fish\nset -gx LC_ALL de_DE.UTF-8\n"))

    def test_tcsh(self):
        self.check_shell("/bin/tcsh", (".cshrc", "echo welcome to tcsh; set noclobber\n"))

    def test_zsh(self):
        self.check_shell("/bin/zsh", (".zshenv", "echo welcome to zsh; setopt NO_CLOBBER\n"))

    def test_yash(self):
        self.check_shell("/bin/yash")

    def test_mksh(self):
        self.check_shell("/bin/mksh")

    def test_busybox(self):
        busybox = shutil.which("busybox", path="/bin:/usr/bin")
        if busybox is None:
            self.skipTest("no busybox on this machine")
        shell = os.path.join(self.folder, "ash")  # busybox goes by the name it is called by
        shutil.copy(busybox, shell)
        self.check_shell(shell)

    def test_a_shell_that_is_not_there(self):
        user = temporary_user(self, "/usr/sbin/nologin")
        result = self.check_code(self.tv("status", "user-" + user, "--process", "x", "--json"), 3)
        self.assertEqual(result.lines[-1]["cause"], "shell-failed")


class NoisyStartUp(Case):
    """bash reads .bashrc for commands that come over ssh."""

    def check_noise(self, text):
        with open(os.path.join(self.remote_home, ".bashrc"), "w", encoding="utf-8") as file:
            file.write(text)
        training = self.training()
        training.do("save 0")
        verdict = self.check_calm(self.tv("status", "gpu1", *self.describe(training), "--json"))
        self.assertEqual((verdict["phase"], verdict["progress"]["done"]), ("training", 1))

    def test_greetings_without_end_of_line_and_on_both_streams(self):
        self.check_noise("echo Welcome to gpu1; printf 'quota: 81%%'; echo 'no mail' >&2\n")

    def test_much_noise(self):
        self.check_noise("head -c 100000 /dev/zero | tr '\\0' 'x'\n")

    def test_it_reads_from_standard_input(self):
        self.check_noise("read -r first\n")

    def test_odd_variables_and_functions(self):
        self.check_noise("export LC_ALL=de_DE.UTF-8 IFS=: POSIXLY_CORRECT=1 CDPATH=/; ls() { echo mine; }; export -f ls; alias cat='cat -n'\n")

    def test_it_replaces_the_shell_and_swallows_the_probe(self):
        with open(os.path.join(self.remote_home, ".bashrc"), "w", encoding="utf-8") as file:
            file.write("exit 0\n")
        result = self.check_code(self.tv("status", "gpu1", "--process", "x", "--json"), 3)
        self.assertEqual(result.lines[-1]["cause"], "shell-failed")


if __name__ == "__main__":
    unittest.main()
