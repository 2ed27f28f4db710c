# SPDX-License-Identifier: Apache-2.0
"""redis-sentinel and redis-sentinel-streams against three real sentinels: fail-over, an old master that comes back, credentials, TLS."""
import pytest

from rig import pki
from rig.redis_sentinel import MASTER, RedisSentinels
from rig.waiting import after, eventually, throughout

PASSWORD, SENTINEL_PASSWORD = "open-sesame", "open-barley"


@pytest.fixture(scope="module")
def guarded(session_dir):
    """Passwords on both sides."""
    guarded = RedisSentinels(session_dir, password=PASSWORD, sentinel_password=SENTINEL_PASSWORD)
    yield guarded
    guarded.end()


def trigger(stage, guarded, **more):
    known = {"password": guarded.password, "sentinelPassword": guarded.sentinels[0].password}
    values = {"address": None, "addresses": guarded.addresses, "sentinelMaster": MASTER, "listName": "jobs", **known, **more}
    return {**stage.trigger(**values), "type": "redis-sentinel"}


def wait_value(stage, value, name="worker", metric="s0-redis-jobs"):
    def is_there():
        assert stage.metric(metric, name).value() == str(value)
        return True
    eventually(is_there)


def test_lengths_databases_and_streams(kscaled, stage, guarded):
    master = guarded.client(guarded.master())
    master.rpush("jobs", *"abc")
    master.xadd("events", {"a": "b"})
    master.execute_command("SELECT", 0)
    guarded.master().client(password=PASSWORD, db=4).rpush("jobs", *"abcde")
    stage.deployment(replicas=0)
    streams = {"type": "redis-sentinel-streams", "metadata": {key: value for key, value in trigger(stage, guarded)["metadata"].items() if not key.startswith("list")} | {"stream": "events"}}
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, guarded), trigger(stage, guarded, databaseIndex=4), streams])
    wait_value(stage, 3)
    wait_value(stage, 5, metric="s1-redis-jobs")
    wait_value(stage, 1, metric="s2-redis-streams-events")
    eventually(lambda: stage.replicas() == 1)
    guarded.master().client(password=PASSWORD).flushall()
    eventually(lambda: stage.replicas() == 0)


def test_who_is_let_in(kscaled, stage, guarded):
    """What is wrong is told by the name of who said so."""
    stage.deployment(replicas=2)
    objects = {
        "sentinel": ({"sentinelPassword": "wrong"}, "WRONGPASS"),
        "nobody": ({"sentinelPassword": None}, "NOAUTH"),
        "server": ({"password": "wrong"}, "WRONGPASS"),
        "stranger": ({"sentinelMaster": "othermaster"}, 'knows no master "othermaster"'),
        "no-sentinel": ({"addresses": stage.redis.address, "sentinelPassword": None}, "is not a sentinel"),
        "gone": ({"addresses": "127.0.0.1:1,127.0.0.1:2"}, "127.0.0.1:"),
    }
    for name, (more, _) in objects.items():
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, triggers=[trigger(stage, guarded, **more)])
    for name, (_, words) in objects.items():
        stage.wait_failing(name)
        assert words in stage.metric("s0-redis-jobs", name).failure(503, "ServiceUnavailable")
        assert stage.replicas(name) == 2
    refused = stage.document("nameless", triggers=[trigger(stage, guarded, sentinelMaster=None)], target={"name": "worker"})
    try:
        stage.create(refused)
    except Exception as error:  # pylint: disable=broad-except
        assert "sentinelMaster" in str(error)
    else:
        assert "sentinelMaster" in stage.wait_refused("nameless")


@pytest.mark.parametrize("end", ["freeze", "kill"])
def test_fail_over(kscaled, stage, guarded, end):
    """The new master is found within a poll of the sentinels' own decision; nothing is scaled in meanwhile; one sentinel that hangs is no matter. The old one comes back as a replica and is not asked."""
    old = guarded.master()
    guarded.client(old).delete("jobs")
    guarded.client(old).rpush("jobs", *"abcdefg")
    eventually(guarded.is_replicated)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, guarded)])
    eventually(lambda: stage.replicas() == 1)
    if end == "kill":
        guarded.sentinels[0].process.freeze()
    getattr(old, end)()
    throughout(lambda: stage.replicas() == 1, until=lambda: guarded.sentinels[1].master_port() != old.port, timeout=40)
    guarded.sentinels[0].process.thaw()
    eventually(lambda: guarded.master() is not old)
    new = guarded.client(guarded.master())
    eventually(lambda: new.role()[0] == b"master")
    new.rpush("jobs", "h")  # what only the new one knows
    wait_value(stage, 8)
    stage.wait_ready()
    if end == "kill":
        old.start()
    else:
        old.thaw()
    eventually(lambda: guarded.client(old).role()[0] == b"slave")
    # One that is back within a second, or a sentinel that slept, may lead to another fail-over: whoever is the master then is asked.
    asked = {server.port: server.evals(guarded.client(server)) for server in guarded.servers}

    def is_asked():
        master = guarded.master()
        return master.evals(guarded.client(master)) >= asked[master.port] + 3

    throughout(lambda: stage.replicas() == 1, until=is_asked)
    stage.says("Ready", "True")
    assert guarded.client(guarded.master()).llen("jobs") == 8
    eventually(lambda: guarded.client(guarded.master()).delete("jobs"))
    eventually(lambda: stage.replicas() == 0)


def test_ordered_fail_over(kscaled, stage, guarded):
    """Nobody dies: the master is told to be a replica, and its connections are closed. Not one poll may take the old one's word."""
    old = guarded.master()
    guarded.client(old).delete("jobs")
    guarded.client(old).rpush("jobs", *"abc")
    eventually(guarded.is_replicated)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, guarded)])
    wait_value(stage, 3)
    eventually(lambda: guarded.sentinels[0].client().execute_command("SENTINEL", "FAILOVER", MASTER))
    eventually(lambda: guarded.master() is not old)
    new = guarded.client(guarded.master())
    eventually(lambda: new.role()[0] == b"master")
    new.rpush("jobs", "d", "e")
    wait_value(stage, 5)
    assert stage.replicas() == 1
    new.delete("jobs")


def test_push(kscaled, stage, guarded):
    """The master says that there is work; and after a fail-over the new one, without a poll in between."""
    for server in guarded.servers:
        guarded.client(server).config_set("notify-keyspace-events", "Kglszh")
    guarded.client(guarded.master()).delete("jobs")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=300, maxReplicaCount=1, triggers=[trigger(stage, guarded, notify="auto")])
    is_heard = lambda: b"__keyspace@0__:jobs" in guarded.client(guarded.master()).pubsub_channels()
    eventually(is_heard)
    old = guarded.master()
    eventually(lambda: guarded.sentinels[0].client().execute_command("SENTINEL", "FAILOVER", MASTER))
    eventually(lambda: guarded.master() is not old)
    eventually(is_heard)
    guarded.client(guarded.master()).rpush("jobs", "a")
    eventually(lambda: stage.replicas() == 1, timeout=10)
    guarded.client(guarded.master()).delete("jobs")


def test_all_sentinels_gone(kscaled, stage, guarded):
    """The master that is known is good enough as long as it answers."""
    guarded.client(guarded.master()).rpush("jobs", *"abc")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, guarded)])
    eventually(lambda: stage.replicas() == 1)
    master = guarded.master()
    for sentinel in guarded.sentinels:
        sentinel.process.kill()
    client = guarded.client(master)
    asked = master.evals(client)
    throughout(lambda: stage.says("Ready", "True") and stage.replicas() == 1, until=lambda: master.evals(client) >= asked + 7)
    for sentinel in guarded.sentinels:
        sentinel.start()
    client.delete("jobs")
    eventually(lambda: stage.replicas() == 0)


def test_tls(kscaled, stage, session_dir, credentials):
    """The same TLS for sentinels and server."""
    ca = pki.authority(session_dir, "sentinel-ca")
    pair = pki.certificate(session_dir, "sentinel-server", ca, "redis")
    guarded = RedisSentinels(session_dir, "tls", replicas=0, sentinels=1, tls=pair)
    try:
        guarded.client(guarded.servers[0]).rpush("jobs", *"abcd")
        credentials.secret("tls", ca=open(ca.cert, encoding="utf-8").read())
        credentials.authentication("tls", secretTargetRef=[{"parameter": "ca", "name": "tls", "key": "ca"}])
        stage.deployment(replicas=0)
        port = guarded.sentinels[0].port
        # Sentinels name the server by its address, which is not in its certificate: refused, but for unsafeSsl.
        strict = {**trigger(stage, guarded, addresses=f"localhost:{port}", enableTLS="true"), "authenticationRef": {"name": "tls"}}
        stage.scaledobject("strict", target=stage.another("strict"), maxReplicaCount=1, triggers=[strict])
        stage.ready_scaledobject("unsafe", target=stage.another("unsafe"), maxReplicaCount=1, triggers=[trigger(stage, guarded, enableTLS="true", unsafeSsl="true")])
        stage.scaledobject("plain", target=stage.another("plain"), maxReplicaCount=1, triggers=[trigger(stage, guarded)])
        wait_value(stage, 4, "unsafe")
        stage.wait_failing("strict")
        assert "TLS handshake" in stage.metric("s0-redis-jobs", "strict").failure(503, "ServiceUnavailable")
        stage.wait_failing("plain")
        throughout(lambda: stage.replicas("plain") == 0, until=after(0.5))
    finally:
        guarded.end()
