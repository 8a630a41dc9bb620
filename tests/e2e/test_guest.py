"""The watched host is a guest house: nothing stays, nothing is written, nothing is killed."""
import os
import signal
import unittest

from support import FAST, Case, processes


def snapshot(root):
    """Every name below with what a write would change."""
    seen = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            seen[os.path.relpath(path, root)] = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ino)
    return seen


class Guest(Case):
    def check_leaves_nothing(self, target, how, *options):
        training = self.training(workers=2)
        training.do("save 0")
        watch = self.watch(target, *self.describe(training), *FAST, *options)
        watch.until(phase="training")
        watch.polls(4)
        ours = processes.carrying(self.mark)
        self.assertTrue(ours, "the probe runs somewhere")
        how(watch)
        self.no_process_left()
        self.assertIsNone(training.process.poll(), "the job itself is untouched")
        training.do("save 1")

    def test_after_a_proper_end(self):
        for target, options in (("local", []), ("gpu1", []), ("gpu1", ["-c", self.openssh_config()])):
            with self.subTest(target=target, options=options):
                self.check_leaves_nothing(target, lambda watch: self.assertEqual(watch.stop(), 0), *options)

    def test_after_the_watcher_was_killed(self):
        for target, options in (("local", []), ("gpu1", []), ("gpu1", ["-c", self.openssh_config()])):
            with self.subTest(target=target, options=options):
                self.check_leaves_nothing(target, lambda watch: watch.stop(signal.SIGKILL), *options)

    def test_after_the_watcher_was_killed_while_nvidia_smi_hangs(self):
        def hang(watch):
            self.gpus.behave(hang=True)
            before = len(self.gpus.calls())
            processes.wait_until(lambda: len(self.gpus.calls()) > before, "the probe asks the GPUs again", 60)
            watch.stop(signal.SIGKILL)
        self.check_leaves_nothing("gpu1", hang)

    def test_while_connected_at_most_one_idle_shell(self):
        training = self.training()
        watch = self.watch("gpu1", *self.describe(training), "--interval", "3s")
        watch.polls(2)
        watch.until()

        def idle():
            shells = [pid for pid in processes.carrying(self.mark) if pid in self.sshd.sessions()]
            return len(shells) == 1 and "sh" in processes.command(shells[0])
        processes.wait_until(idle, "one sh and nothing else between two looks", 40)

    def test_nothing_is_written(self):
        training = self.training()
        training.do("save 0")
        for target in ("gpu1", "local"):
            with self.subTest(target):
                before = snapshot(self.checkpoints), snapshot(self.remote_home)
                watch = self.watch(target, *self.describe(training), *FAST)
                watch.until(phase="training")
                watch.polls(4)
                watch.stop()
                self.assertEqual((snapshot(self.checkpoints), snapshot(self.remote_home)), before)

    def test_the_watcher_writes_below_its_state_directory_only(self):
        training = self.training()
        before = snapshot(self.home)
        watch = self.watch("gpu1", *self.describe(training), *FAST)
        watch.until(phase="training")
        watch.stop()
        self.assertEqual(snapshot(self.home), before)
        self.assertTrue(os.listdir(self.state))

    def test_one_login_for_many_polls(self):
        training = self.training()
        watch = self.watch("gpu1", *self.describe(training), *FAST)
        watch.polls(8)
        watch.stop()
        self.assertEqual(len([line for line in self.sshd.log if "Accepted publickey" in line]), 1)


if __name__ == "__main__":
    unittest.main()
