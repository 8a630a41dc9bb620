"""Temporary users of this machine, for login shells and permissions that root alone can not show."""
import fcntl
import os
import shutil
import subprocess
import tempfile
import unittest

from . import processes

_LOCK = os.path.join(tempfile.gettempdir(), "trainvigil-test-users.lock")


def _run(*command):
    """useradd and userdel refuse to run beside another; so do we wait for each other."""
    with open(_LOCK, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def temporary_user(case, shell):
    """Its name. Skips the test where users can not be made. The user and its home are gone after the test."""
    if os.geteuid() != 0 or shutil.which("useradd") is None:
        raise unittest.SkipTest("only root can add a user with this login shell")
    if not os.access(shell, os.X_OK):
        raise unittest.SkipTest("no %s on this machine" % shell)
    name = "tv" + os.path.basename(case.folder).replace("_", "x").replace("-", "").lower()[-8:]
    home = os.path.join(case.folder, "home-" + name)
    # A password of '*' is none at all; '!' would be a locked account, which sshd without PAM turns away.
    _run("useradd", "--no-user-group", "--no-log-init", "--create-home", "--home-dir", home, "--shell", shell, "--password", "*", name)
    case.addCleanup(_remove, name)
    case.sshd.add_user(name)
    return name


def _remove(name):
    import pwd
    uid = pwd.getpwnam(name).pw_uid
    for pid in processes.pids():
        try:
            if os.stat("/proc/%d" % pid).st_uid == uid:
                os.kill(pid, 9)
        except OSError:
            continue
    _run("userdel", "--force", name)
