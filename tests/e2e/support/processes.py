"""The process table, from /proc: who descends from whom, and who carries a mark in its environment."""
import os
import time


def patience(seconds):
    """Deadlines are generous and only ever reached by a failure; a slow machine may stretch them."""
    return seconds * float(os.environ.get("TRAINVIGIL_TEST_PATIENCE", "1"))


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def stat(pid):
    """(state, parent) or None when it is gone."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
    except OSError:
        return None
    return fields[0].decode(), int(fields[1])


def command(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def descendants(root):
    children = {}
    for pid in pids():
        seen = stat(pid)
        if seen:
            children.setdefault(seen[1], []).append(pid)
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def carrying(mark):
    """Living processes with this text in the environment they were started with (this very process apart)."""
    found = []
    for pid in pids():
        try:
            with open("/proc/%d/environ" % pid, "rb") as file:
                environment = file.read()
        except OSError:
            continue
        if mark.encode() in environment and pid != os.getpid():
            seen = stat(pid)
            if seen and seen[0] not in "ZX":
                found.append(pid)
    return found


def wait_until(condition, what, within=20.0):
    """Polls what gives no event of its own; returns the first value that is true."""
    limit = time.monotonic() + patience(within)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > limit:
            raise AssertionError("waited %g s in vain: %s" % (patience(within), what))
        time.sleep(0.02)


def wait_gone(wanted, within=20.0):
    def gone():
        return all(stat(pid) is None or stat(pid)[0] in "ZX" for pid in wanted)
    wait_until(gone, "processes %s are to end" % wanted, within)
