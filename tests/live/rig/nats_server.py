# SPDX-License-Identifier: Apache-2.0
"""Real NATS servers with JetStream on loopback ports, alone or as a cluster of three, and the client protocol, which is text over TCP."""
import contextlib
import json
import pathlib
import shutil
import socket
import ssl

import urllib3

from .process import OneProcess, Process, free_port
from .waiting import eventually


class NatsServer(OneProcess):
    def __init__(self, directory, name, host="127.0.0.1", ports=None, tls=None, jetstream=True, **config):
        """tls: a pki.Pair, of both ports; config: more of its configuration; ports: of clients and of monitoring."""
        self.name, self.host, self.tls = name, host, tls
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.client_port, self.port = ports or (free_port(), free_port())
        config = {"server_name": name, "listen": f"{host}:{self.client_port}", "https" if tls else "http": f"{host}:{self.port}", **config}
        if jetstream:
            config["jetstream"] = {"store_dir": str(self.dir / "store"), "max_memory_store": 1 << 26, "max_file_store": 1 << 28}
        if tls:
            config["tls"] = {"cert_file": tls.cert, "key_file": tls.key}
        (self.dir / "nats.conf").write_text(json.dumps(config))
        self.start()

    def start(self, wait=True):
        """Also again, with the same ports and data, after kill."""
        program = shutil.which("nats-server")
        assert program, "nats-server is missing: contrib/install-deps.sh --tests installs it"
        self.process = Process(self.name, [program, "--config", str(self.dir / "nats.conf")], str(self.dir / "log"))
        if wait:
            eventually(self.listens, timeout=90, every=0.05)

    def listens(self):
        with socket.create_connection((self.host, self.port), timeout=1), socket.create_connection((self.host, self.client_port), timeout=1):
            return True

    @property
    def address(self):
        return f"{'localhost' if self.tls else self.host}:{self.port}"

    def get(self, path):
        """From the monitoring port, plain servers only."""
        answer = urllib3.PoolManager(retries=False, timeout=5).request("GET", f"http://{self.address}{path}")
        assert answer.status == 200, answer.data
        return json.loads(answer.data)

    def asked(self, path="/jsz"):
        """How often."""
        return self.get("/varz")["http_req_stats"].get(path, 0)

    def client(self, **login):
        return NatsClient(self, **login)


class NatsClient:
    """One connection; login: user, pass."""

    def __init__(self, server, **login):
        self.socket = socket.create_connection((server.host, server.client_port), timeout=10)
        info = self.socket.recv(65536)
        assert info.startswith(b"INFO "), info
        if server.tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self.socket = context.wrap_socket(self.socket)
        self.file = self.socket.makefile("rb")
        self.number = 0
        self._send("CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": False, **login}), "SUB inbox.> 1", "PING")
        while self._line() != "PONG":
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def _send(self, *lines):
        self.socket.sendall("".join(line + "\r\n" for line in lines).encode())

    def _line(self):
        line = self.file.readline().decode().strip()
        assert line and not line.startswith("-ERR"), line
        return line

    def message(self):
        """The next one: subject, where its answer goes, body."""
        while True:
            kind, *words = self._line().split()
            if kind == "PING":
                self._send("PONG")
            elif kind == "MSG":
                body = self.file.read(int(words[-1]) + 2)[:-2]
                return words[0], words[2] if len(words) == 4 else None, body

    def publish(self, subject, body="", reply=""):
        self._send(f"PUB {subject} {reply + ' ' if reply else ''}{len(body)}", body)

    def request(self, subject, body=None):
        """The answer, which is JSON."""
        self.number += 1
        self.publish(subject, "" if body is None else json.dumps(body), f"inbox.{self.number}")
        while True:
            subject, _, answer = self.message()
            if subject == f"inbox.{self.number}":
                return json.loads(answer)

    def api(self, call, body=None):
        answer = self.request(f"$JS.API.{call}", body)
        assert "error" not in answer, (call, answer)
        return answer

    # --- streams ---

    def stream(self, name, replicas=1):
        """Of the subjects NAME.*."""
        return self.api(f"STREAM.CREATE.{name}", {"name": name, "subjects": [f"{name}.*"], "num_replicas": replicas})

    def consumer(self, stream, name, replicas=0):
        return self.api(f"CONSUMER.DURABLE.CREATE.{stream}.{name}", {"stream_name": stream, "config": {"durable_name": name, "ack_policy": "explicit", "ack_wait": 600 * 10**9, "num_replicas": replicas}})

    def add(self, stream, count):
        """Returns when they are stored."""
        for _ in range(count):
            assert "seq" in self.request(f"{stream}.new")

    def take(self, stream, consumer, count):
        """Where each one's acknowledgement goes."""
        self.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}", json.dumps({"batch": count}), "inbox.taken")
        return [self.message()[1] for _ in range(count)]

    def acknowledge(self, taken):
        for place in taken:
            self.publish(place, "+ACK")
        self._send("PING")
        while self._line() != "PONG":
            pass

    def leader(self, stream, consumer):
        return self.api(f"CONSUMER.INFO.{stream}.{consumer}")["cluster"]["leader"]


class NatsCluster:
    """Three servers, n1 to n3, at 127.0.0.1 to .3, all with the same ports: those of a cluster are looked for so."""

    def __init__(self, directory, advertise=True):
        ports, routes = (free_port(), free_port()), free_port()
        hosts = {f"n{i}": f"127.0.0.{i}" for i in (1, 2, 3)}
        places = [f"nats://{host}:{routes}" for host in hosts.values()]
        self.ports, self.servers = ports, {}
        for name, host in hosts.items():
            self.servers[name] = NatsServer(directory, name, host, ports, cluster={"name": "live", "listen": f"{host}:{routes}", "routes": places, "no_advertise": not advertise})
        eventually(self.is_whole)

    def is_whole(self):
        """A leader of all is known to each, and knows that all are there; the first request is answered."""
        for server in self.servers.values():
            meta = server.get("/jsz")["meta_cluster"]
            assert meta["cluster_size"] == 3 and meta.get("leader"), meta
        replicas = self.servers[meta["leader"]].get("/jsz")["meta_cluster"]["replicas"]
        return all(one["current"] for one in replicas) and len(self.servers["n1"].get("/varz")["connect_urls" if self.advertises() else "cluster"]) >= 3

    def advertises(self):
        return "connect_urls" in self.servers["n1"].get("/varz")

    def __getitem__(self, name):
        return self.servers[name]

    def alive(self):
        return [server for server in self.servers.values() if server.process.alive()]

    def end(self):
        for server in self.servers.values():
            with contextlib.suppress(AssertionError):
                server.end()
