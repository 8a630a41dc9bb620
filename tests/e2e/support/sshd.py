"""A private sshd on 127.0.0.1 with keys, known hosts and a client configuration of its own. Nothing of the machine's or the user's ssh is touched."""
import getpass
import os
import shutil
import socket
import subprocess
import threading

from . import processes

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ.get("PATH", ""))


def keygen(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "trainvigil test", "-f", path], check=True)
    with open(path + ".pub", encoding="utf-8") as file:
        return " ".join(file.read().split()[:2])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Sshd:
    """`environment` is what every session gets (PATH with the stand-in tools first, a HOME of its own)."""

    def __init__(self, case, environment):
        self.folder = os.path.join(case.folder, "ssh")
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o755)
        self.environment = environment
        self.client_key = self.path("client_key")
        self._write("authorized_keys", keygen(self.client_key) + "\n")
        os.chmod(self.path("authorized_keys"), 0o644)
        self.host_key = keygen(self.path("host_key"))
        self.port = free_port()
        self.listener = None
        self.log = []
        self._write("sshd_config", self._configuration())
        self.know_host(self.host_key)
        self.config = self.path("ssh_config")
        self._write("ssh_config", self._client_configuration())
        case.addCleanup(self.stop)
        self.start()

    def path(self, name):
        return os.path.join(self.folder, name)

    def _write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def _configuration(self):
        settings = {
            "Port": self.port, "ListenAddress": "127.0.0.1", "HostKey": self.path("host_key"), "PidFile": "none", "UsePAM": "no", "StrictModes": "no",
            "AuthorizedKeysFile": self.path("authorized_keys"), "PubkeyAuthentication": "yes", "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no", "PermitRootLogin": "yes", "MaxStartups": "200", "PrintMotd": "no", "UseDNS": "no", "LogLevel": "VERBOSE",
            "AcceptEnv": "none", "SetEnv": " ".join('"%s=%s"' % pair for pair in sorted(self.environment.items())),
        }
        return "".join("%s %s\n" % pair for pair in settings.items())

    def _client_configuration(self):
        """gpu1 is the watched host; user-NAME logs in there as NAME; wrong-key offers a key that is not welcome."""
        self.wrong_key = self.path("wrong_key")
        keygen(self.wrong_key)
        common = "  HostName 127.0.0.1\n  Port %d\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile %s\n  GlobalKnownHostsFile /dev/null\n" % (
            self.port, self.path("known_hosts"))
        return ("Host gpu1\n%s  User %s\n  IdentityFile %s\n" % (common, getpass.getuser(), self.client_key) +
                "Host wrong-key\n%s  User %s\n  IdentityFile %s\n" % (common, getpass.getuser(), self.wrong_key) +
                "Host user-*\n%s  IdentityFile %s\n" % (common, self.client_key))

    def add_client_host(self, name, **settings):
        with open(self.config, "a", encoding="utf-8") as file:
            file.write("Host %s\n" % name + "".join("  %s %s\n" % pair for pair in settings.items()))

    def add_user(self, name):
        """An alias user-NAME that logs in as NAME."""
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        self._write("ssh_config", "Host user-%s\n  User %s\n" % (name, name) + text)

    def know_host(self, key):
        """What the client believes the host's key to be; None: it has never seen it."""
        self._write("known_hosts", "" if key is None else "[127.0.0.1]:%d %s\n" % (self.port, key))

    def start(self):
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # sshd of root wants it; a machine without the service lacks it
        self.listener = subprocess.Popen([SSHD, "-D", "-e", "-f", self.path("sshd_config")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True, errors="replace")
        ready = threading.Event()

        def follow(pipe):
            for line in pipe:
                self.log.append(line.rstrip())
                if "Server listening" in line:
                    ready.set()
            pipe.close()
            ready.set()

        threading.Thread(target=follow, args=(self.listener.stderr,), daemon=True).start()
        ready.wait(processes.patience(20))
        if self.listener.poll() is not None or not ready.is_set():
            raise RuntimeError("sshd does not start: " + "\n".join(self.log[-10:]))

    def sessions(self):
        """Every process that serves or was started by a session that is connected now."""
        return processes.descendants(self.listener.pid) if self.listener else []

    def stop(self):
        """The listener and every session end at once, as in a reboot."""
        if self.listener is None:
            return
        below = self.sessions()
        self.listener.kill()
        self.listener.wait(20)
        for pid in below:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        processes.wait_gone(below)
        self.listener = None
