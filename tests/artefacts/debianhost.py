# SPDX-License-Identifier: Apache-2.0
"""A Debian that has booted by its own systemd (booted). Root only."""
import pathlib
import shutil

from debpackage import TOP, good, run
from rig.process import Process
from rig.waiting import eventually

BOOTED = TOP / "tests/artefacts/booted"
ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
STOP_LIMIT = 90  # systemd's own: after this it kills


def only_descendant(pid, name):
    """The program of this name at the end of a chain of only children."""
    while pathlib.Path(f"/proc/{pid}/comm").read_text().strip() != name:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        assert len(children) == 1, (pid, children)
        pid = children[0]
    return pid


class DebianHost:
    """Its network is this machine's, or that into which the words before a command lead."""

    def __init__(self, base, folder, inside=()):
        self.inside = list(inside)
        self.path = folder / "machine"
        self.console = folder / "console"
        good("cp", "-a", "--reflink=auto", base, self.path)

    def boot(self):
        self.process = Process("booted", [*self.inside, BOOTED, self.path], self.console)
        self.init = eventually(lambda: only_descendant(self.process.pid, "systemd"))
        eventually(self.has_booted)

    def has_booted(self):
        state = self.run("systemctl", "is-system-running", "--wait").stdout.strip()
        assert state == "running", state + self.run("systemctl", "--failed").stdout
        return True

    def shut_down(self):
        assert self.process.stop(STOP_LIMIT) == 0, self.console.read_text()

    def run(self, *command):
        return run("nsenter", "--target", self.init, "--all", *ENVIRONMENT, *command)

    def good(self, *command):
        done = self.run(*command)
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
        return done.stdout

    def shell(self, script):
        return self.good("sh", "-euc", script)

    def file(self, path):
        return self.path / path.lstrip("/")

    def install(self, package):
        shutil.copy(package, self.file("/root/package.deb"))
        self.good("apt-get", "-q", "-y", "-o", "Dpkg::Options::=--force-confold", "-o", "APT::Sandbox::User=root", "--reinstall", "--allow-downgrades", "install", "/root/package.deb")
