# SPDX-License-Identifier: Apache-2.0
"""A master, its replicas and real sentinels that watch over them, on loopback ports."""
import pathlib
import shutil

import redis

from .process import OneProcess, Process, free_port
from .redis_server import ONCE, RedisServer
from .waiting import eventually

MASTER = "mymaster"


class Sentinel(OneProcess):
    def __init__(self, directory, name, master, quorum=2, password=None, server_password=None, tls=None):
        self.name = name
        self.port = free_port()
        self.password = password
        self.tls = tls
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        lines = [f"port {0 if tls else self.port}", "bind 127.0.0.1", f"dir {self.dir}", f"sentinel monitor {MASTER} 127.0.0.1 {master.port} {quorum}",
                 f"sentinel down-after-milliseconds {MASTER} 600", f"sentinel failover-timeout {MASTER} 3000"]
        if password:
            lines += [f"requirepass {password}", f"sentinel sentinel-pass {password}"]
        if server_password:
            lines.append(f"sentinel auth-pass {MASTER} {server_password}")
        if tls:
            lines += [f"tls-port {self.port}", f"tls-cert-file {tls.cert}", f"tls-key-file {tls.key}", f"tls-ca-cert-file {tls.cert}", "tls-auth-clients no", "tls-replication yes"]
        self.config = self.dir / "sentinel.conf"
        self.config.write_text("\n".join(lines) + "\n")
        self.start()

    def start(self):
        self.process = Process(self.name, [shutil.which("redis-server"), str(self.config), "--sentinel"], str(self.dir / "log"))
        eventually(lambda: self.client(retry=ONCE).ping(), every=0.01)
        # Ten seconds each, otherwise: a test would wait for them.
        self.client().execute_command("SENTINEL", "DEBUG", "info-period", 300, "publish-period", 300, "ask-period", 300)

    def client(self, **more):
        secure = {"ssl": True, "ssl_cert_reqs": "none", "ssl_check_hostname": False} if self.tls else {}
        return redis.Redis("127.0.0.1", self.port, socket_timeout=5, socket_connect_timeout=5, protocol=2, password=self.password, **secure, **more)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def master_port(self):
        return int(self.client().execute_command("SENTINEL", "get-master-addr-by-name", MASTER)[1])


class RedisSentinels:
    def __init__(self, directory, name="guarded", replicas=2, sentinels=3, password=None, sentinel_password=None, tls=None, extra=()):
        self.password = password
        secret = ["--requirepass", password, "--masterauth", password] if password else []
        self.servers = [RedisServer(directory, f"{name}-{i}", tls=tls, extra=["--repl-diskless-sync-delay", "0", *secret, *extra]) for i in range(replicas + 1)]
        for replica in self.servers[1:]:
            self.client(replica).replicaof("127.0.0.1", self.servers[0].port)
        self.sentinels = [Sentinel(directory, f"{name}-sentinel-{i}", self.servers[0], quorum=min(2, sentinels), password=sentinel_password, server_password=password, tls=tls) for i in range(sentinels)]
        eventually(lambda: all(self.has_met(sentinel, replicas, sentinels) for sentinel in self.sentinels))

    @staticmethod
    def has_met(sentinel, replicas, sentinels):
        raw = sentinel.client()
        raw.response_callbacks.clear()
        flat = [value.decode() for value in raw.execute_command("SENTINEL", "MASTER", MASTER)]
        known = dict(zip(flat[::2], flat[1::2]))
        return int(known["num-slaves"]) == replicas and int(known["num-other-sentinels"]) == sentinels - 1

    def client(self, server):
        return server.client(**({"password": self.password} if self.password else {}))

    @property
    def addresses(self):
        return ",".join(sentinel.address for sentinel in self.sentinels)

    def master(self):
        """As most sentinels have it."""
        ports = [sentinel.master_port() for sentinel in self.sentinels if sentinel.process.alive()]
        return next(server for server in self.servers if server.port == max(set(ports), key=ports.count))

    def is_replicated(self, count=None):
        master = self.client(self.master())
        return int(master.execute_command("WAIT", count or len(self.servers) - 1, 2000)) >= (count or len(self.servers) - 1)

    def end(self):
        for one in [*self.sentinels, *self.servers]:
            one.end()
