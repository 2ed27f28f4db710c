# SPDX-License-Identifier: Apache-2.0
"""A process of our own: started in a session of its own, its output in a file, ended by its pid."""
import contextlib
import itertools
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

# System calls in which a program with an event loop waits: epoll_wait and epoll_pwait by their numbers on x86-64, epoll_pwait on arm64.
WAITING = ("232", "281", "22")

# All that were started, so that a failing test can show what they said meanwhile.
started = []


# Ports that have an owner, who may be down for the moment.
owned = set()


def _share(first=20000, end=32000):
    """The ports of this pytest worker alone: two that look at once must not find the same one free."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % count
    width = (end - first) // count
    return range(first + number * width, first + (number + 1) * width)


ports = _share()
numbers = itertools.count()


def free_port():
    """A loopback port below the range that the kernel takes outgoing connections from, and never the same twice: nobody sits on it while its owner restarts."""
    while True:
        port = random.choice(ports)
        if port in owned:
            continue
        with contextlib.suppress(OSError):
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                with socket.socket(family) as probe:
                    probe.bind((address, port))
            owned.add(port)
            return port


sockets = tempfile.TemporaryDirectory(prefix="kscaled-")  # a path in pytest's own folders may be longer than a socket's can be


def free_socket():
    """A path for a Unix socket, never the same twice."""
    return os.path.join(sockets.name, f"{next(numbers)}.sock")


def start_time(pid):
    """With the pid, it says which process is meant, also when the number was given to another meanwhile."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[19]


class Warden:
    """Ends what this process leaves behind when it dies without ending it: killed, or out of patience."""

    popen = None

    def _tell(self, *words):
        if self.popen is None:
            # Its end of the pipe closes when this process ends, however it ends.
            self.popen = subprocess.Popen([sys.executable, "-S", "-E", WARDEN], stdin=subprocess.PIPE, start_new_session=True, text=True)
        print(*words, file=self.popen.stdin, flush=True)

    def process(self, pid):
        with contextlib.suppress(OSError):
            self._tell("process", pid, start_time(pid))

    def cluster(self, directory):
        self._tell("cluster", directory)


WARDEN = pathlib.Path(__file__).with_name("warden.py")
warden = Warden()


class Process:
    def __init__(self, name, command, log_path, env=None, cwd=None, stdin=subprocess.DEVNULL):
        self.name = name
        self.log_path = log_path
        self.mark = 0  # how much of the log was there when the current test began
        with open(log_path, "ab") as log:
            self.log_start = log.tell()
            self.popen = subprocess.Popen(command, stdin=stdin, stdout=log, stderr=log, env=env, cwd=cwd, start_new_session=True)
        warden.process(self.pid)
        started.append(self)

    @property
    def pid(self):
        return self.popen.pid

    def alive(self):
        return self.popen.poll() is None

    def signal(self, number):
        assert self.alive(), f"{self.name} has ended already, with {self.popen.returncode}: {self.tail()}"
        self.popen.send_signal(number)

    def wait(self, timeout=10.0):
        """The exit status; negative for a signal."""
        return self.popen.wait(timeout)

    def kill(self):
        """SIGKILL, and gone when this returns. Fine when it has ended before."""
        if self.alive():
            self.popen.send_signal(signal.SIGKILL)
        self.popen.wait(10)

    def stop(self, timeout=10.0):
        """SIGTERM and the exit status; killed, with a failure, when it does not go."""
        if self.alive():
            self.popen.send_signal(signal.SIGCONT)
            self.popen.send_signal(signal.SIGTERM)
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not stop within {timeout} s of SIGTERM: {self.tail()}") from None

    def freeze(self):
        """SIGSTOP, and stopped when this returns."""
        self.signal(signal.SIGSTOP)
        while self._state() not in "TZX":
            time.sleep(0.005)

    def freeze_at_work(self):
        """As freeze, but while it does something, not while it waits for what comes. Somewhere where the kernel does not tell, and when it does nothing for a while."""
        for _ in range(200):
            self.freeze()
            if self._system_call() not in WAITING:
                return
            self.thaw()
            time.sleep(random.uniform(0.001, 0.004))
        self.freeze()

    def thaw(self):
        self.signal(signal.SIGCONT)

    def _system_call(self):
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/syscall", encoding="utf-8") as file:
            return file.read().split()[0]
        return None

    def _stat(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()

    def _state(self):
        return self._stat()[0]

    def cpu_seconds(self):
        fields = self._stat()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, field):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        raise LookupError(field)

    def rss_mib(self):
        return self._status("VmRSS") / 1024

    def peak_mib(self):
        return self._status("VmHWM") / 1024

    def sanitized(self):
        """Built with AddressSanitizer, whose shadow memory makes sizes meaningless."""
        return self._status("VmSize") > 1 << 30

    def open_files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def log(self, start=None):
        with open(self.log_path, "rb") as file:
            file.seek(self.log_start if start is None else start)
            return file.read().decode(errors="replace")

    def log_size(self):
        return os.path.getsize(self.log_path)

    def tail(self, lines=40):
        return "\n".join(self.log(max(self.log_start, self.mark)).splitlines()[-lines:])


def open_way(path):
    """The folders of pytest are ours alone; a server that runs as another user must get through, not look around."""
    for folder in [path, *path.parents]:
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)


class OneProcess:
    """A server that is one process, self.process, and what may befall it."""

    process = None  # until it is started

    def kill(self):
        self.process.kill()

    def freeze(self):
        self.process.freeze()

    def thaw(self):
        self.process.thaw()

    def end(self):
        if self.process:
            self.process.kill()
