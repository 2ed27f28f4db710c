# SPDX-License-Identifier: Apache-2.0
"""redis-streams against a real server: length, pending entries, lag, and what is an error instead of a zero."""
import pytest

from rig import scripted
from rig.daemon import run
from rig.process import free_port
from rig.waiting import after, eventually, throughout


def trigger(stage, **more):
    values = {"address": stage.redis.address, "stream": f"{stage.namespace}-events", **more}
    return {"type": "redis-streams", "metadata": {key: str(value) for key, value in values.items()}}


@pytest.fixture
def stream(stage):
    name = f"{stage.namespace}-events"
    stage.client.delete(name)
    yield name
    stage.client.delete(name)


def wait_value(stage, value, name="worker", metric=None):
    def is_there():
        assert stage.metric(metric or f"s0-redis-streams-{stage.namespace}-events", name).value() == str(value)
        return True
    eventually(is_there)


def fill(stage, stream, count):
    return [stage.client.xadd(stream, {"n": i}) for i in range(count)]


def test_length(kscaled, stage, stream):
    """A stream that is not there has none; more than one entry is needed where the activation says 1."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=4, triggers=[trigger(stage, streamLength=2, activationLagCount=1)])
    wait_value(stage, 0)
    fill(stage, stream, 1)
    wait_value(stage, 1)
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    fill(stage, stream, 5)
    eventually(lambda: stage.replicas() == 3)
    stage.client.xtrim(stream, maxlen=0)
    eventually(lambda: stage.replicas() == 0)


def test_pending(kscaled, stage, stream):
    """Given and not acknowledged; a group that is not there is an error."""
    fill(stage, stream, 6)
    stage.client.xgroup_create(stream, "g", "0")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, consumerGroup="g", pendingEntriesCount=2)])
    wait_value(stage, 0)
    assert stage.replicas() == 0
    given = stage.client.xreadgroup("g", "me", {stream: ">"}, count=4)[0][1]
    wait_value(stage, 4)
    eventually(lambda: stage.replicas() == 1)
    stage.client.xgroup_destroy(stream, "g")
    stage.wait_failing()
    message = stage.metric(f"s0-redis-streams-{stream}").failure(503, "ServiceUnavailable")
    assert "NOGROUP" in message and "pending entries of group g" in message
    throughout(lambda: stage.replicas() == 1, until=after(1.5))
    stage.client.xgroup_create(stream, "g", given[-1][0])
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_lag(kscaled, stage, stream):
    """What the group was not given yet; without the group, the length; without the stream, nothing."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, consumerGroup="g", lagCount=2)])
    wait_value(stage, 0)
    fill(stage, stream, 5)
    wait_value(stage, 5)
    stage.client.xgroup_create(stream, "other", "0")
    stage.client.xgroup_create(stream, "g", "0")
    stage.client.xreadgroup("g", "me", {stream: ">"}, count=3)
    wait_value(stage, 2)
    eventually(lambda: stage.replicas() == 1)
    stage.client.xreadgroup("g", "me", {stream: ">"})
    wait_value(stage, 0)
    eventually(lambda: stage.replicas() == 0)


def lag_of(stage, stream):
    return stage.client.xinfo_groups(stream)[0]["lag"]


def test_lag_that_redis_does_not_know(kscaled, stage, stream):
    """An entry was deleted behind the group's position: nil. What is left behind it is counted, up to a thousand; then the length stands for it."""
    entries = fill(stage, stream, 9)
    stage.client.xgroup_create(stream, "g", "0")
    stage.client.xreadgroup("g", "me", {stream: ">"}, count=3)
    stage.client.xdel(stream, entries[5])
    assert lag_of(stage, stream) is None
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, consumerGroup="g", lagCount=2)])
    wait_value(stage, 5)
    eventually(lambda: stage.replicas() == 1)
    with stage.client.pipeline() as together:
        for i in range(200):
            together.xadd(stream, {"n": i})
        together.execute()
    wait_value(stage, 205)
    with stage.client.pipeline() as together:
        for i in range(1000):
            together.xadd(stream, {"n": i})
        together.execute()
    length = stage.client.xlen(stream)
    assert lag_of(stage, stream) is None and length == 1208
    wait_value(stage, length)
    stage.client.xdel(stream, *[entry for entry, _ in stage.client.xrange(stream, "(" + entries[2].decode())])
    wait_value(stage, 0)
    eventually(lambda: stage.replicas() == 0)


@pytest.mark.parametrize("mode", [{}, {"consumerGroup": "g"}, {"consumerGroup": "g", "lagCount": 3}])
def test_wrong_kind_of_key(kscaled, stage, stream, mode):
    stage.client.set(stream, "no stream")
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(stage, **mode)])
    stage.wait_failing()
    assert "WRONGTYPE" in stage.metric(f"s0-redis-streams-{stream}").failure(503, "ServiceUnavailable")
    throughout(lambda: stage.replicas() == 2, until=after(1))


def test_users(kscaled, stage, stream):
    """The rights that each mode needs, and no others."""
    fill(stage, stream, 3)
    stage.client.xgroup_create(stream, "g", "0")
    modes = {"xlen": {}, "xpending": {"consumerGroup": "g"}, "xinfo|groups": {"consumerGroup": "g", "lagCount": 3}}
    stage.deployment(replicas=0)
    for i, (command, mode) in enumerate(modes.items()):
        user = f"{stage.namespace}-{i}"
        stage.client.acl_setuser(user, enabled=True, passwords=["+pw"], keys=["*"], commands=[f"+{command}"], reset=True)
        stage.scaledobject(f"may-{i}", target=stage.another(f"may-{i}"), maxReplicaCount=1, triggers=[trigger(stage, username=user, password="pw", **mode)])
        other = list(modes.values())[(i + 1) % 3]
        stage.scaledobject(f"may-not-{i}", target=stage.another(f"may-not-{i}"), maxReplicaCount=1, triggers=[trigger(stage, username=user, password="pw", **other)])
    for i, value in enumerate((3, 0, 3)):
        stage.wait_ready(f"may-{i}")
        wait_value(stage, value, f"may-{i}")
        stage.wait_failing(f"may-not-{i}")
        assert "NOPERM" in stage.metric(f"s0-redis-streams-{stream}", f"may-not-{i}").failure(503, "ServiceUnavailable")
        stage.client.acl_deluser(f"{stage.namespace}-{i}")


def test_down_and_back(kscaled, stage, start_redis):
    server = start_redis()
    server.client().xadd("events", {"a": "b"})
    server.client().xgroup_create("events", "g", "0")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(stage, address=server.address, stream="events", consumerGroup="g", lagCount=1)])
    eventually(lambda: stage.replicas() == 1)
    for end, back in ((server.freeze, server.thaw), (server.kill, server.start)):
        end()
        stage.wait_failing()
        assert server.address in stage.metric("s0-redis-streams-events").failure(503, "ServiceUnavailable")
        throughout(lambda: stage.replicas() == 1, until=after(0.5))
        back()
        stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)  # empty now, and that is its own answer


def group(*fields):
    """One of XINFO GROUPS; numbers as they are, None for nil."""
    text = b"*%d\r\n" % len(fields)
    for field in fields:
        text += b"$-1\r\n" if field is None else b":%d\r\n" % field if isinstance(field, int) else b"$%d\r\n%s\r\n" % (len(field), field.encode())
    return text


OLD = group("name", "g", "consumers", 0, "pending", 0, "last-delivered-id", "0-0")
NONSENSE = {
    "version-6": (scripted.answers(b"*1\r\n" + OLD), "redis version 7+ required for lag"),
    "version-6-other-group": (scripted.answers(b"*1\r\n" + OLD.replace(b"\r\ng\r\n", b"\r\nh\r\n")), "redis version 7+ required for lag"),
    "number": (scripted.answers(b":5\r\n"), "not a list of groups"),
    "nil": (scripted.answers(b"$-1\r\n"), "not a list of groups"),
    "lag-is-text": (scripted.answers(b"*1\r\n" + group("name", "g", "lag", "five")), "not a length"),
    "lag-is-negative": (scripted.answers(b"*1\r\n" + group("name", "g", "lag", -1)), "not a length"),
    "lag-nil-and-no-position": (scripted.answers(b"*1\r\n" + group("name", "g", "lag", None)), "not a length"),
    "groups-are-numbers": (scripted.answers(b"*2\r\n:1\r\n:2\r\n"), "redis version 7+ required for lag"),
    "error": (scripted.answers(b"-ERR unknown subcommand\r\n"), "unknown subcommand"),
    "half": (scripted.half(b"*1\r\n*12\r\n"), "127.0.0.1"),
    "giant": (scripted.floods(b"*200000000\r\n", b":1\r\n" * 16384), "too long"),
}


def test_nonsense(kscaled, stage):
    servers = {name: scripted.Scripted(behave) for name, (behave, _) in NONSENSE.items()}  # one answer per read: with push on there would be two questions
    try:
        for name, server in servers.items():
            stage.deployment(name, replicas=2)
            stage.scaledobject(name, triggers=[trigger(stage, address=server.address, stream="events", consumerGroup="g", lagCount=3, notify="off")])
        for name, (_, words) in NONSENSE.items():
            stage.wait_failing(name)
            assert words in stage.metric("s0-redis-streams-events", name).failure(503, "ServiceUnavailable"), name
            assert stage.replicas(name) == 2
    finally:
        for server in servers.values():
            server.end()


def test_pending_nonsense(kscaled, stage):
    for i, reply in enumerate((b":5\r\n", b"*0\r\n", b"*1\r\n$1\r\n5\r\n")):
        server = scripted.Scripted(scripted.answers(reply))
        try:
            stage.deployment(f"so-{i}", replicas=2)
            stage.scaledobject(f"so-{i}", triggers=[trigger(stage, address=server.address, stream="events", consumerGroup="g", notify="off")])
            stage.wait_failing(f"so-{i}")
            assert stage.replicas(f"so-{i}") == 2
        finally:
            server.end()


DOCUMENT = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: worker, namespace: shop}}
spec:
  scaleTargetRef: {{name: worker}}
  triggers:
  - type: {type}
    metadata: {{{metadata}}}
"""


@pytest.mark.parametrize("kind, metadata, words", [
    ("redis-streams", "address: 'r:6379', stream: s", None),
    ("redis-cluster", "addresses: 'a:6379,b:6379', listName: jobs", None),
    ("redis-sentinel", "addresses: 'a:26379', listName: jobs", "sentinelMaster"),
    ("redis-sentinel-streams", "addresses: 'a:26379', sentinelMaster: m", '"stream"'),
    ("redis-streams", "address: 'r:6379', stream: s, consumerGroup: g, lagCount: '-1'", '"lagCount" value "-1" must be greater than 0'),
    ("redis-cluster", "hosts: 'a,b', ports: '1', listName: jobs", "number of hosts"),
    ("redis-streams", "address: 'r:6379', stream: s, consumerGruop: g", "consumerGroup"),
])
def test_check(tmp_path, kind, metadata, words):
    path = tmp_path / "it.yaml"
    path.write_text(DOCUMENT.format(type=kind, metadata=metadata))
    done = run("check", "--strict", str(path))
    assert (done.returncode == 0) == (words is None), done
    assert not words or words in done.stdout + done.stderr, done


def test_nobody_there(kscaled, stage):
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(stage, address=f"127.0.0.1:{free_port()}")])
    stage.wait_failing()
    assert stage.replicas() == 2
