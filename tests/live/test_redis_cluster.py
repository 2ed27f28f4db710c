# SPDX-License-Identifier: Apache-2.0
"""redis-cluster and redis-cluster-streams against a real cluster of six: slots that move, masters that die, credentials, TLS."""
import pytest

from rig import pki, scripted
from rig.redis_cluster import RedisCluster
from rig.waiting import after, eventually, throughout


@pytest.fixture(scope="module")
def six(session_dir):
    cluster = RedisCluster(session_dir, "six", masters=3, replicas=1)
    yield cluster
    cluster.end()


def trigger(stage, addresses, key, **more):
    return {**stage.trigger(address=None, addresses=addresses, listName=key, **more), "type": "redis-cluster"}


def wait_value(stage, value, name="worker", metric="s0-redis-jobs"):
    def is_there():
        assert stage.metric(metric, name).value() == str(value)
        return True
    eventually(is_there)


def keys_of_each(stage, cluster):
    """A key of the test's own on each master."""
    found = {}
    for i in range(10000):
        found.setdefault(cluster.owner(key := f"{stage.namespace}-{i}").port, key)
        if len(found) == 3:
            return list(found.values())
    raise AssertionError("no key for one of the masters")


def test_each_master_and_kind(kscaled, stage, six):
    """One seed is enough to find all; hash tags count; nobody else's database matters."""
    keys = keys_of_each(stage, six)
    fills = [("RPUSH", *"abc"), ("SADD", *"abcd"), ("HSET", "a", 1, "b", 2)]
    for key, fill in zip(keys, fills):
        six.do(key, fill[0], key, *fill[1:])
    tagged = "{" + keys[1] + "}.rest"
    six.do(keys[1], "ZADD", tagged, 1, "a")
    assert six.owner(tagged) is six.owner(keys[1])
    stage.deployment(replicas=0)
    triggers = [trigger(stage, six.nodes[0].address, key, databaseIndex=3) for key in [*keys, tagged, "missing"]]
    stage.ready_scaledobject(maxReplicaCount=1, triggers=triggers)
    for i, (key, value) in enumerate(zip([*keys, tagged, "missing"], (3, 4, 2, 1, 0))):
        wait_value(stage, value, metric=f"s{i}-redis-{key}".replace(".", "-"))
    eventually(lambda: stage.replicas() == 1)
    for key in [*keys, tagged]:
        six.do(key, "DEL", key)
    eventually(lambda: stage.replicas() == 0)


def test_slot_that_moves(kscaled, stage, six):
    """ASK while it moves, MOVED afterwards: never an error, never a zero."""
    key = keys_of_each(stage, six)[0]
    six.do(key, "RPUSH", key, *"abcdefg")
    to = next(node for node in six.nodes if six.owner(key) is not node and six.client(node).role()[0] == b"master")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, six.addresses, key)])
    wait_value(stage, 7, metric=f"s0-redis-{key}")
    eventually(lambda: stage.replicas() == 1)
    owner = six.begin_move(key, to)
    asks = lambda: six.client(owner).info("errorstats").get("errorstat_ASK", {"count": 0})["count"]
    moves = lambda: sum(six.client(node).info("errorstats").get("errorstat_MOVED", {"count": 0})["count"] for node in six.alive())

    def holds():
        assert stage.metric(f"s0-redis-{key}").value() == "7"
        assert stage.replicas() == 1
    throughout(holds, until=after(0.5))
    six.carry(key, owner, to)
    before = asks()
    throughout(holds, until=lambda: asks() > before)
    moved = moves()
    six.end_move(key, to)
    throughout(holds, until=lambda: moves() > moved)
    throughout(holds, until=after(1.5))
    six.do(key, "DEL", key)
    wait_value(stage, 0, metric=f"s0-redis-{key}")
    eventually(lambda: stage.replicas() == 0)


def test_master_that_dies(kscaled, stage, six):
    """Its replica is promoted and found; what the other masters have is told all the while. Frozen, it is no different."""
    keys = keys_of_each(stage, six)
    for key in keys:
        six.do(key, "RPUSH", key, *"abc")
    eventually(lambda: all(int(six.do(key, "WAIT", 1, 1000)) == 1 for key in keys))
    stage.deployment(replicas=0)
    for i, key in enumerate(keys):
        stage.ready_scaledobject(f"so-{i}", target=stage.another(f"so-{i}"), maxReplicaCount=1, triggers=[trigger(stage, six.addresses, key)])
        eventually(lambda i=i: stage.replicas(f"so-{i}") == 1)
    for i, (end, back) in enumerate(((lambda node: node.kill(), lambda node: node.start()), (six.freeze, six.thaw))):
        victim = six.owner(keys[i])
        end(victim)
        throughout(lambda: all(stage.replicas(f"so-{n}") == 1 for n in range(3)), until=lambda: six.owner(keys[i]) is not victim)
        wait_value(stage, 3, f"so-{i}", f"s0-redis-{keys[i]}")
        stage.wait_ready(f"so-{i}")
        assert stage.replicas(f"so-{i}") == 1
        back(victim)
        eventually(lambda: all(six.is_settled(node) for node in six.nodes))
    for key in keys:
        six.do(key, "DEL", key)


def test_push(kscaled, stage, six):
    """The owner of the key says that there is work; and the next owner, once the slot has moved."""
    for node in six.nodes:
        six.client(node).config_set("notify-keyspace-events", "Kglszh")
    key = keys_of_each(stage, six)[1]
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=300, maxReplicaCount=1, triggers=[trigger(stage, six.addresses, key, notify="auto")])
    to = next(node for node in six.nodes if six.owner(key) is not node and six.client(node).role()[0] == b"master")
    channels = lambda node: six.client(node).pubsub_channels()
    eventually(lambda: f"__keyspace@0__:{key}".encode() in channels(six.owner(key)))
    six.begin_move(key, to)
    six.end_move(key, to)
    eventually(lambda: f"__keyspace@0__:{key}".encode() in channels(to), timeout=40)
    six.do(key, "RPUSH", key, "a")
    eventually(lambda: stage.replicas() == 1, timeout=10)
    six.do(key, "DEL", key)


def test_no_cluster(kscaled, stage, six):
    """What a wrong address says; one of three seeds that is there is enough."""
    six.do("jobs", "RPUSH", "jobs", *"ab")
    stage.deployment(replicas=1)
    stage.scaledobject("single", target=stage.another("single"), triggers=[trigger(stage, stage.redis.address, "jobs")])
    stage.scaledobject("gone", target=stage.another("gone"), triggers=[trigger(stage, "127.0.0.1:1,127.0.0.1:2", "jobs")])
    stage.ready_scaledobject("one", target=stage.another("one"), triggers=[trigger(stage, f"127.0.0.1:1,{six.nodes[5].address},127.0.0.1:2", "jobs")])
    stage.wait_failing("single")
    assert "not part of a cluster" in stage.metric("s0-redis-jobs", "single").failure(503, "ServiceUnavailable")
    other = next(node for node in six.nodes if node is not six.owner("jobs"))
    stage.scaledobject("taken-for-one", target=stage.another("taken-for-one"), triggers=[stage.trigger(address=other.address, listName="jobs")])
    stage.wait_failing("taken-for-one")
    assert "MOVED" in (message := stage.metric("s0-redis-jobs", "taken-for-one").failure(503, "ServiceUnavailable")) and "redis-cluster" in message
    stage.wait_failing("gone")
    assert "127.0.0.1:" in stage.metric("s0-redis-jobs", "gone").failure(503, "ServiceUnavailable")
    wait_value(stage, 2, "one")
    six.do("jobs", "DEL", "jobs")


def test_streams(kscaled, stage, six):
    six.do("events", "XADD", "events", "*", "a", "b")
    six.do("events", "XADD", "events", "*", "a", "b")
    six.do("events", "XGROUP", "CREATE", "events", "g", "0")
    stage.deployment(replicas=0)
    base = {"addresses": six.nodes[0].address, "stream": "events"}
    triggers = [{"type": "redis-cluster-streams", "metadata": {**base, **more}} for more in ({}, {"consumerGroup": "g"}, {"consumerGroup": "g", "lagCount": "1"}, {"consumerGroup": "other", "lagCount": "1"})]
    stage.ready_scaledobject(maxReplicaCount=1, triggers=triggers)
    for i, value in ((0, 2), (1, 0), (2, 2), (3, 2)):
        wait_value(stage, value, metric=f"s{i}-redis-streams-events")
    six.do("events", "DEL", "events")


@pytest.fixture(scope="module")
def locked(session_dir):
    """Three masters behind TLS that ask for a client's certificate, and a user who may only count."""
    ca = pki.authority(session_dir, "cluster-ca")
    server = pki.certificate(session_dir, "cluster-server", ca, "redis", usage="serverAuth,clientAuth")
    client = pki.certificate(session_dir, "cluster-client", ca, "client", usage="clientAuth")
    cluster = RedisCluster(session_dir, "locked", tls=server, extra=["--tls-ca-cert-file", ca.cert, "--cluster-announce-hostname", "localhost", "--cluster-preferred-endpoint-type", "hostname"])
    for node in cluster.nodes:
        cluster.client(node).acl_setuser("counter", enabled=True, passwords=["+count"], keys=["*"], commands=["+eval", "+type", "+llen", "+cluster|slots"], reset=True)
        cluster.client(node).config_set("tls-auth-clients", "yes")
    cluster.pems = {"ca": open(ca.cert, encoding="utf-8").read(), "cert": open(client.cert, encoding="utf-8").read(), "key": open(client.key, encoding="utf-8").read()}
    yield cluster
    cluster.end()


def test_tls_and_users(kscaled, stage, locked, credentials):
    """User, password and certificate go to every node; without one of them it is told which is missing, and nothing is scaled."""
    seed = f"localhost:{locked.nodes[0].port}"
    keys = ["jobs", "tasks", "mails", "things"]
    objects = {
        "good": ({"username": "counter", "password": "count", **locked.pems}, None),
        "password": ({"username": "counter", "password": "wrong", **locked.pems}, "WRONGPASS"),
        "certificate": ({"username": "counter", "password": "count", "ca": locked.pems["ca"]}, "certificate"),
        "authority": ({"username": "counter", "password": "count", "cert": locked.pems["cert"], "key": locked.pems["key"]}, "TLS handshake"),
    }
    stage.deployment(replicas=2)
    for name, (secret, _) in objects.items():
        credentials.secret(name, **secret)
        credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in secret])
        triggers = [{**trigger(stage, seed, key, enableTLS="true"), "authenticationRef": {"name": name}} for key in keys]
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, triggers=triggers)
    stage.wait_ready("good")
    for i, key in enumerate(keys):
        wait_value(stage, 0, "good", f"s{i}-redis-{key}")
    for name, (_, words) in objects.items():
        if words:
            stage.wait_failing(name)
            assert words in stage.metric("s0-redis-jobs", name).failure(503, "ServiceUnavailable")
            assert stage.replicas(name) == 2
    credentials.change_secret("password", password="count")  # rotated: in use at once
    stage.wait_ready("password")
    eventually(lambda: stage.replicas("password") == 0)


BEHAVIOURS = {
    "map-that-is-none": scripted.answers(b"*1\r\n:1\r\n"),
    "map-of-nobody": scripted.answers(b"*0\r\n"),
    "giant-map": scripted.floods(b"*200000000\r\n", b":1\r\n" * 16384),
    "half-a-map": scripted.half(b"*1\r\n*3\r\n:0\r\n"),
    "one-byte-a-second": scripted.drips(b"*1\r\n*3\r\n:0\r\n:16383\r\n"),
    "silent": scripted.silent,
}


def sends_to_itself(port):
    def behave(connection):
        while (command := connection.recv(65536)):
            connection.sendall(b"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:" + port + b"\r\n" if b"SLOTS" in command else b"-MOVED 1 :" + port + b"\r\n")
    return behave


def test_nonsense(kscaled, stage):
    """Nodes that are none: all at once, each with replicas that stay."""
    servers = {name: scripted.Scripted(behave) for name, behave in BEHAVIOURS.items()}
    looping = servers["redirects-to-itself"] = scripted.Scripted(None)
    looping.behave = sends_to_itself(looping.address.rpartition(":")[2].encode())
    try:
        for name, server in servers.items():
            stage.deployment(name, replicas=2)
            stage.scaledobject(name, triggers=[trigger(stage, server.address, "jobs", notify="off")])
        for name, server in servers.items():
            stage.wait_failing(name)
            assert server.address in stage.metric("s0-redis-jobs", name).failure(503, "ServiceUnavailable")
        throughout(lambda: all(stage.replicas(name) == 2 for name in servers), until=after(1))
    finally:
        for server in servers.values():
            server.end()
