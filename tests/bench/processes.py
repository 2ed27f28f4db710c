# SPDX-License-Identifier: Apache-2.0
"""The processes of the benchmark, each stopped by its own id, and what /proc says of them."""
import http.client
import os
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Process:
    def __init__(self, arguments, log, env=None):
        self.arguments, self.log, self.env = arguments, log, env
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env)
        self.pid = self.child.pid

    def signal(self, number):
        self.child.send_signal(number)

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGCONT)
            self.child.terminate()
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:
                self.child.kill()
        self.child.wait()

    def rss_kib(self):
        """(resident, private) in KiB."""
        numbers = {}
        with open(f"/proc/{self.pid}/smaps_rollup") as file:
            for line in file.readlines()[1:]:
                name, value = line.split(":")
                numbers[name] = int(value.split()[0])
        return numbers["Rss"], numbers["Private_Clean"] + numbers["Private_Dirty"]

    def cpu_s(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Redis(Process):
    def __init__(self, folder, name="redis"):
        self.port = free_port()
        super().__init__(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder], f"{folder}/{name}.log")
        deadline = time.monotonic() + 10
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port), 5)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self.file = self.socket.makefile("rb")

    def send(self, *commands):
        """Commands in one write; their replies."""
        out = b""
        for command in commands:
            parts = [str(part).encode() for part in command]
            out += b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self.socket.sendall(out)
        return [self.reply() for _ in commands]

    def reply(self):
        line = self.file.readline().rstrip(b"\r\n")
        if line[:1] == b"-":
            raise RuntimeError(line.decode())
        if line[:1] == b"$":
            size = int(line[1:])
            return None if size < 0 else self.file.read(size + 2)[:-2].decode()
        return int(line[1:]) if line[:1] == b":" else line[1:].decode()

    def queries(self):
        return int(self.send(("INFO", "commandstats"))[0].split("cmdstat_eval:calls=")[-1].split(",")[0])

    def connections_of_others(self):
        return len(self.send(("CLIENT", "LIST", "TYPE", "NORMAL"))[0].splitlines()) - 1


class Kscaled(Process):
    def __init__(self, binary, folder, kubeconfig, secure_port, *flags, under=()):
        self.secure_port, self.status_port = secure_port, free_port()
        arguments = [*under, binary, "run", "--kubeconfig", kubeconfig, "--namespace", "kscaled", "--bind-address", "127.0.0.1", "--secure-port", str(secure_port),
                     "--status-address", f"127.0.0.1:{self.status_port}", "--state-dir", f"{folder}/state", "--allow-local-sources", *flags]
        os.makedirs(f"{folder}/state", exist_ok=True)
        super().__init__(arguments, f"{folder}/kscaled.log")

    def wait_ready(self, timeout=60):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.child.poll() is not None:
                break
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.status_port, timeout=2)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        with open(self.log, errors="replace") as log:
            raise RuntimeError("kscaled did not become ready:\n" + "".join(log.readlines()[-20:]))


class Hangers:
    """Sources that hang in four ways: a stopped Redis, a port that never answers a connection, a TLS handshake that stalls, a reply that drips."""

    def __init__(self, folder, each):
        self.stopped = [Redis(folder, f"stopped{i}") for i in range(each)]
        for redis in self.stopped:
            redis.signal(signal.SIGSTOP)
        self.sockets, self.fillers = [], []
        self.sources = [(redis.port, False) for redis in self.stopped]
        for _ in range(each):
            self.sources.append((self.black_hole(), False))
        for _ in range(each):
            self.sources.append((self.silent(), True))
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "drip.py")
        self.drips = [Process(["python3", script, str(port)], f"{folder}/drip.log") for port in (free_port() for _ in range(each))]
        self.sources += [(int(drip.arguments[-1]), False) for drip in self.drips]

    def black_hole(self):
        """A listener whose queue is full: the kernel drops further connection requests."""
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            self.fillers.append(filler)
        self.sockets.append(listener)
        return listener.getsockname()[1]

    def silent(self):
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        self.sockets.append(listener)
        return listener.getsockname()[1]

    def stop(self):
        for process in self.stopped + self.drips:
            process.stop()
        for one in self.fillers + self.sockets:
            one.close()
