# SPDX-License-Identifier: Apache-2.0
"""A real Redis Cluster on loopback ports."""
import contextlib
import subprocess

from .process import free_port
from .redis_server import RedisServer
from .waiting import eventually

SLOTS = 16384


class RedisCluster:
    def __init__(self, directory, name="cluster", masters=3, replicas=0, tls=None, password=None, extra=()):
        """tls: a pki.Pair; then clients and nodes speak TLS only."""
        self.password = password
        secret = ["--requirepass", password, "--masterauth", password] if password else []
        self.nodes = []
        self.frozen = set()
        for i in range(masters * (1 + replicas)):
            own = ["--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
                   "--cluster-require-full-coverage", "no", *(["--tls-cluster", "yes"] if tls else []), *secret, *extra]
            self.nodes.append(RedisServer(directory, f"{name}-{i}", tls=tls, extra=own))
        arguments = ["--cluster", "create", *(node.address for node in self.nodes), "--cluster-replicas", str(replicas), "--cluster-yes"]
        if tls:
            arguments += ["--tls", "--insecure"]
        if password:
            arguments += ["-a", password, "--no-auth-warning"]
        done = subprocess.run(["redis-cli", *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        eventually(lambda: all(self.is_settled(node) for node in self.nodes))

    def is_settled(self, node):
        info = self.client(node).execute_command("CLUSTER INFO")
        info = info if isinstance(info, dict) else dict(line.split(":", 1) for line in info.decode().split())
        return info["cluster_state"] == "ok" and int(info["cluster_slots_assigned"]) == SLOTS and int(info["cluster_known_nodes"]) == len(self.nodes)

    def client(self, node):
        return node.client(**({"password": self.password} if self.password else {}))

    @property
    def addresses(self):
        return ",".join(node.address for node in self.nodes)

    def node_at(self, port):
        return next(node for node in self.nodes if node.port == int(port))

    def slot(self, key):
        return int(self.client(self.alive()[0]).execute_command("CLUSTER KEYSLOT", key))

    def alive(self):
        return [node for node in self.nodes if node.process.alive() and node not in self.frozen]

    def freeze(self, node):
        node.freeze()
        self.frozen.add(node)

    def thaw(self, node):
        node.thaw()
        self.frozen.discard(node)

    def owner(self, key, told_by=None):
        """The node that serves the key, as that one says, or one that is there."""
        slot = self.slot(key)
        for first, last, master, *_ in self.slots(told_by or self.alive()[0]):
            if first <= slot <= last:
                return self.node_at(master[1])
        raise LookupError(f"nobody serves slot {slot}")

    def slots(self, node):
        raw = self.client(node)
        raw.response_callbacks.clear()  # the client would make a map of it
        return raw.execute_command("CLUSTER SLOTS")

    def do(self, key, *command):
        """A command on the owner of its key."""
        return self.client(self.owner(key)).execute_command(*command)

    def identity(self, node):
        return self.client(node).execute_command("CLUSTER MYID").decode()

    def begin_move(self, key, to):
        """The key's slot is on its way: who has the key still answers, who has not says ASK."""
        slot, owner = self.slot(key), self.owner(key)
        self.client(to).execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self.identity(owner))
        self.client(owner).execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self.identity(to))
        return owner

    def carry(self, key, owner, to):
        self.client(owner).execute_command("MIGRATE", "127.0.0.1", to.port, key, 0, 5000, *(["AUTH", self.password] if self.password else []))

    def end_move(self, key, to):
        """Only after begin_move: a node that was importing claims the slot with a newer epoch. Without one, a message of the
        old owner that was still under way takes the slot back from the new one only, and for good each sends clients to the other."""
        slot, identity = self.slot(key), self.identity(to)
        for node in [to, *self.alive()]:
            with contextlib.suppress(Exception):  # replicas have nothing to say
                self.client(node).execute_command("CLUSTER SETSLOT", slot, "NODE", identity)
        eventually(lambda: all(self.owner(key, node) is to for node in self.alive()))

    def end(self):
        for node in self.nodes:
            node.end()
