# SPDX-License-Identifier: Apache-2.0
"""A real redis-server on a loopback port."""
import pathlib
import shutil

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .process import OneProcess, Process, free_port
from .waiting import eventually

ONCE = Retry(NoBackoff(), 0)  # by itself the client tries three times more, seconds apart: nothing for who looks whether a server is there yet


class RedisServer(OneProcess):
    def __init__(self, directory, name, tls=None, extra=()):
        """tls: a pki.Pair; then the port speaks TLS only."""
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.port = free_port()
        self.tls = tls
        self.extra = list(extra)
        self.process = None
        self.start()

    def start(self):
        """Also again, on the same port, after stop and kill. Its data are gone then: nothing is saved."""
        program = shutil.which("redis-server")
        assert program, "redis-server is missing: contrib/install-deps.sh --tests installs it"
        port = ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", self.tls.cert, "--tls-key-file", self.tls.key, "--tls-ca-cert-file", self.tls.cert,
                "--tls-auth-clients", "no"] if self.tls else ["--port", str(self.port)]
        self.process = Process(self.name, [program, *port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", str(self.dir), *self.extra],
                               str(self.dir / "log"))
        eventually(self.answers, every=0.01)

    def answers(self):
        try:
            return self.client(retry=ONCE).ping()
        except redis.AuthenticationError:
            return True

    def client(self, **more):
        secure = {"ssl": True, "ssl_cert_reqs": "none", "ssl_check_hostname": False} if self.tls else {}
        return redis.Redis("127.0.0.1", self.port, socket_timeout=5, socket_connect_timeout=5, protocol=2, **secure, **more)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def evals(self, client=None):
        """How many lengths were asked for so far."""
        return (client or self.client()).info("commandstats").get("cmdstat_eval", {"calls": 0})["calls"]
