# SPDX-License-Identifier: Apache-2.0
"""
Real etcd members on loopback ports (the program of the control plane), spoken to by their JSON gateway; and a gRPC server in grpcio that answers as a test says what no etcd does.
"""
import base64
import concurrent.futures
import json
import pathlib
import subprocess

import grpc
import urllib3

from .process import OneProcess, Process, free_port
from .waiting import eventually

BUILD = pathlib.Path(__file__).resolve().parents[2] / "cluster" / "build"
ROOT = "root-password"


def coded(text):
    return base64.b64encode(text.encode()).decode()


def program():
    """Of the assets that the control plane is made of, which are there when tests run."""
    done = subprocess.run([BUILD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=600, text=True)
    return str(pathlib.Path(done.stdout.strip()) / "etcd")


class Member(OneProcess):
    def __init__(self, directory, name, tls=None, client_ca=None, peers=None, extra=()):
        """tls: a pki.Pair; client_ca: a path, then a certificate is required; peers: {name: port} of a cluster, this one among them."""
        self.name, self.tls, self.client_ca = name, tls, client_ca
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.port, self.plain_port = free_port(), free_port()
        self.peers = peers or {name: free_port()}
        self.extra = list(extra)
        self.token = None
        self.start(wait=peers is None)

    def start(self, wait=True):
        """Also again, with the same ports and data, after kill. It listens without TLS, too: for this file."""
        peer = f"http://127.0.0.1:{self.peers[self.name]}"
        secure = [f"--cert-file={self.tls.cert}", f"--key-file={self.tls.key}"] if self.tls else []
        if self.client_ca:
            secure += ["--client-cert-auth", f"--trusted-ca-file={self.client_ca}"]
        urls = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port},http://127.0.0.1:{self.plain_port}"
        self.process = Process(self.name, [program(), f"--name={self.name}", f"--data-dir={self.dir / 'data'}", f"--listen-client-urls={urls}", f"--advertise-client-urls={urls}", f"--listen-peer-urls={peer}",
                                           f"--initial-advertise-peer-urls={peer}", "--initial-cluster=" + ",".join(f"{name}=http://127.0.0.1:{port}" for name, port in self.peers.items()), "--unsafe-no-fsync",
                                           "--heartbeat-interval=100", "--election-timeout=1000", *secure, *self.extra], str(self.dir / "log"))
        if wait:
            self.wait_ready()

    def wait_ready(self):
        eventually(lambda: self.ask("maintenance/status", {})["leader"], every=0.05)

    @property
    def address(self):
        return f"{'localhost' if self.tls else '127.0.0.1'}:{self.port}"

    def ask(self, path, body):
        headers = {"Authorization": self.token} if self.token else {}
        answer = urllib3.PoolManager(retries=False, timeout=5).request("POST", f"http://127.0.0.1:{self.plain_port}/v3/{path}", body=json.dumps(body), headers=headers)
        assert answer.status == 200, answer.data
        return json.loads(answer.data)

    def put(self, key, value):
        return self.ask("kv/put", {"key": coded(key), "value": coded(str(value))})

    def delete(self, key):
        return self.ask("kv/deleterange", {"key": coded(key)})

    def lock(self, user="reader", password="right-password", prefix="shop/"):
        """From now on who asks must be a user; that one may read below the prefix."""
        self.ask("auth/user/add", {"name": "root", "password": ROOT})
        self.ask("auth/role/add", {"name": "root"})
        self.ask("auth/user/grant", {"user": "root", "role": "root"})
        self.ask("auth/user/add", {"name": user, "password": password})
        self.ask("auth/role/add", {"name": "reading"})
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        self.ask("auth/role/grant", {"name": "reading", "perm": {"permType": "READ", "key": coded(prefix), "range_end": coded(end)}})
        self.ask("auth/user/grant", {"user": user, "role": "reading"})
        self.ask("auth/enable", {})
        self.log_in()

    def log_in(self):
        self.token = None
        self.token = self.ask("auth/authenticate", {"name": "root", "password": ROOT})["token"]

    def password(self, user, password):
        self.ask("auth/user/changepw", {"name": user, "password": password})


class EtcdCluster:
    """Three members; who one asks may be down while the others go on."""

    def __init__(self, directory, name="member"):
        peers = {f"{name}-{n}": free_port() for n in range(3)}
        self.members = [Member(directory, one, peers=peers) for one in peers]
        for member in self.members:
            member.wait_ready()

    @property
    def addresses(self):
        return ",".join(member.address for member in self.members)

    def end(self):
        for member in self.members:
            member.end()


# --- no etcd ---

def field(number, data):
    """A field of bytes in a message."""
    size, rest = b"", len(data)
    while rest > 127:
        size, rest = size + bytes([rest & 127 | 128]), rest >> 7
    return bytes([number << 3 | 2]) + size + bytes([rest]) + data


def found(value):
    """The answer to Range that has this value."""
    return field(2, field(1, b"key") + field(5, value))


class EtcdFake:
    """answers: what Range, Authenticate and Watch say: bytes, a list of them (Watch), or a function of (message, context)."""

    def __init__(self, range_=found(b"7"), login=field(2, b"token.1"), watch=(), port=0, tls=None):
        self.range, self.login, self.watch = range_, login, watch
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), options=[("grpc.max_send_message_length", -1)])
        one = grpc.unary_unary_rpc_method_handler
        said = lambda what, message, context: what(message, context) if callable(what) else what
        for service, methods in (("KV", {"Range": one(lambda m, c: said(self.range, m, c))}), ("Auth", {"Authenticate": one(lambda m, c: said(self.login, m, c))}),
                                 ("Watch", {"Watch": grpc.stream_stream_rpc_method_handler(lambda m, c: iter(said(self.watch, m, c)))})):
            self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(f"etcdserverpb.{service}", methods)])
        if tls:
            pair = grpc.ssl_server_credentials([(pathlib.Path(tls.key).read_bytes(), pathlib.Path(tls.cert).read_bytes())])
        self.port = self.server.add_secure_port(f"localhost:{port}", pair) if tls else self.server.add_insecure_port(f"127.0.0.1:{port}")
        self.server.start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def end(self):
        self.server.stop(None).wait()
