# SPDX-License-Identifier: Apache-2.0
"""A Redis that is gone, hangs or talks nonsense: nothing is scaled in, the reason is told, everybody else goes on."""
import concurrent.futures
import time

import pytest

from rig import scripted
from rig.waiting import after, eventually, throughout, timed


@pytest.fixture
def outage(kscaled, stage, start_redis):
    """A running workload on a Redis of its own, and a healthy neighbour on the shared one."""
    server = start_redis()
    server.client().rpush("jobs", *range(12))
    stage.deployment("worker", replicas=0)
    stage.deployment("neighbour", replicas=0)
    stage.ready_scaledobject("worker", triggers=[stage.trigger(address=server.address, listName="jobs")])
    stage.ready_scaledobject("neighbour", maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 3)
    eventually(lambda: stage.says("Active", "True", "ScalerActive"))
    return server


def check_outage(stage, server, seconds=2):
    """While the source fails: told in Ready and in the Status, replicas stay, the neighbour is served as always."""
    failing = stage.wait_failing()
    assert failing["message"].startswith("Triggers defined in ScaledObject are not working correctly: s0-redis-jobs: ") and server.address in failing["message"], failing
    message = stage.metric("s0-redis-jobs").failure(503, "ServiceUnavailable")
    assert server.address in message, message
    failed = stage.event("KEDAScalerFailed")
    assert failed.type == "Warning" and server.address in failed.note
    throughout(lambda: stage.replicas() == 3, until=after(seconds))
    stage.push(1)
    assert timed(lambda: stage.replicas("neighbour") == 1) < 4
    assert stage.metric(name="neighbour").value() == "1"
    stage.drain()
    eventually(lambda: stage.replicas("neighbour") == 0)
    assert stage.replicas() == 3
    stage.says("Ready", "True", name="neighbour")


def test_killed_and_back(stage, outage):
    outage.kill()
    check_outage(stage, outage)
    outage.start()                                     # empty now: that is its own answer
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_killed_and_back_with_work(stage, outage):
    outage.kill()
    stage.wait_failing()
    outage.start()
    outage.client().rpush("jobs", *range(22))
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 5)


@pytest.mark.alone  # how long an answer takes
def test_stopped_and_continued(kscaled, stage, outage):
    """Accepts connections and says nothing: worse than dead."""
    outage.freeze()
    check_outage(stage, outage)
    # An answer about it is given within the deadline, and never delays one about another object.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        hung = [pool.submit(stage.metric, "s0-redis-jobs") for _ in range(4)]
        stage.metric(name="neighbour").value()
        took = [timed(lambda: stage.metric(name="neighbour").value() == "0", every=0.001) for _ in range(20)]
        assert sorted(took)[10] < 0.25, took
        for one in hung:
            one.result().failure(503, "ServiceUnavailable")
    outage.thaw()
    stage.wait_ready()
    assert stage.replicas() == 3


def test_down_from_the_beginning(kscaled, stage, start_redis):
    """An unreachable source is a failing reading, not a reason to have no HPA."""
    server = start_redis()
    server.kill()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[stage.trigger(address=server.address)])
    stage.wait_failing()
    assert stage.hpa().spec.max_replicas == 10
    throughout(lambda: stage.replicas() == 2, until=after(2))
    server.start()
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_the_minimum_needs_no_source(kscaled, stage, start_redis):
    """Below minReplicaCount the workload is raised, whatever fails; with idleReplicaCount, which is below it, it is held."""
    server = start_redis()
    server.kill()
    triggers = [stage.trigger(address=server.address), stage.trigger(listName="quiet")]
    stage.deployment("worker", replicas=0)
    stage.deployment("idle", replicas=0)
    stage.scaledobject("worker", minReplicaCount=2, triggers=triggers)
    stage.scaledobject("idle", minReplicaCount=2, idleReplicaCount=0, triggers=triggers)
    eventually(lambda: stage.replicas("worker") == 2)
    assert server.address in stage.wait_failing("worker")["message"]
    stage.wait_failing("idle")
    assert stage.replicas("idle") == 0


def test_black_hole(kscaled, stage):
    """An address that nobody answers at: a full accept queue drops what comes, as a firewall would."""
    import socket
    hole = socket.socket()
    hole.bind(("127.0.0.1", 0))
    hole.listen(0)
    fillers = []
    try:
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(hole.getsockname())
            fillers.append(filler)
        stage.deployment(replicas=1)
        stage.scaledobject(triggers=[stage.trigger(address="127.0.0.1:%d" % hole.getsockname()[1])])
        stage.wait_failing()
        stage.metric().failure(503, "ServiceUnavailable")
        assert stage.replicas() == 1
    finally:
        for one in [hole, *fillers]:
            one.close()


# --- a server that talks nonsense ---

BEHAVIOURS = {
    "error": scripted.answers(b"-ERR boom\r\n"),
    "loading": scripted.answers(b"-LOADING Redis is loading the dataset in memory\r\n"),
    "status": scripted.answers(b"+OK\r\n"),
    "nil": scripted.answers(b"$-1\r\n"),
    "text": scripted.answers(b"$1\r\n7\r\n"),
    "array": scripted.answers(b"*2\r\n:1\r\n:2\r\n"),
    "number-too-big": scripted.answers(b":99999999999999999999999999\r\n"),
    "no-number": scripted.answers(b":seven\r\n"),
    "garbage": scripted.answers(bytes(range(255, -1, -1)) * 8),
    "http": scripted.answers(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
    "too-many-answers": scripted.answers(b"-ERR one\r\n-ERR two\r\n:3\r\n:4\r\n"),
    "long-error": scripted.answers(b"-ERR " + b"x" * 60000 + b"\r\n"),
    "error-with-control-characters": scripted.answers(b"-ERR \x1b[31m\x00\x01 \xff\xfe\r\n"),
    "giant-text": scripted.floods(b"$500000000\r\n", b"x" * 65536),
    "giant-array": scripted.floods(b"*200000000\r\n", b":1\r\n" * 16384),
    "deep-array": scripted.answers(b"*1\r\n" * 20000),
    "endless-line": scripted.floods(b"+", b"y" * 65536),
    "half-a-reply": scripted.half(b":12"),
    "half-a-text": scripted.half(b"$100\r\nabc"),
    "one-byte-a-second": scripted.drips(b":1234567890\r\n"),
    "nothing": scripted.silent,
    "closes-at-once": scripted.closes,
    "closes-after-half": scripted.answers_once(b":1"),
    "resets": scripted.resets,
}


@pytest.fixture(scope="module")
def nonsense(shared_kscaled, module_stage):
    """All of them at once, each with a workload of two replicas."""
    stage = module_stage
    servers = {name: scripted.Scripted(behave) for name, behave in BEHAVIOURS.items()}
    shared_kscaled.running()
    stage.deployment("healthy", replicas=0)
    for name, server in servers.items():
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, minReplicaCount=0, maxReplicaCount=4, triggers=[stage.trigger(address=server.address, listName="jobs")])
    stage.scaledobject("healthy", maxReplicaCount=1)
    yield stage
    for server in servers.values():
        server.end()


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_nonsense(kscaled, nonsense, name):
    nonsense.wait_failing(name)
    message = nonsense.metric("s0-redis-jobs", name).failure(503, "ServiceUnavailable")
    assert 10 < len(message) < 4096 and message.isprintable(), message
    assert nonsense.replicas(name) == 2
    assert all(len(c.get("message", "")) < 4096 for c in nonsense.status(name)["conditions"])
    eventually(lambda: nonsense.events(name, "KEDAScalerFailed"))


@pytest.mark.alone  # how long an answer takes
def test_healthy_beside_all_of_them(kscaled, nonsense):
    nonsense.wait_ready("healthy")
    took = []
    for _ in range(40):
        start = time.monotonic()
        nonsense.metric(name="healthy").value()
        took.append(time.monotonic() - start)
    assert sorted(took)[int(len(took) * 0.9)] < 0.25, sorted(took)[-5:]
    nonsense.push(1)
    assert timed(lambda: nonsense.replicas("healthy") == 1) < 4
    assert kscaled.metric("kscaled_loop_longest_turn_seconds") < 0.5
    if not kscaled.sanitized():
        assert kscaled.peak_mib() < 96, "whatever a server sends, it is not kept"


# --- answers that are numbers, only strange ones ---

def test_greatest_number(kscaled, stage):
    server = scripted.Scripted(scripted.answers(b":9223372036854775807\r\n"))
    try:
        stage.deployment(replicas=0)
        stage.ready_scaledobject(maxReplicaCount=3, triggers=[stage.trigger(address=server.address, listName="jobs")])
        answer = eventually(lambda: (got := stage.metric("s0-redis-jobs")).status == 200 and got)  # the floods above may have kept this server from answering in time
        assert int(answer.value().rstrip("kMGTPEm")) > 0, "a quantity, and no overflow into the negative"
        stage.event("KEDAScaleTargetActivated")
    finally:
        server.end()


def test_negative_number(kscaled, stage):
    """No length is less than nothing: an error, or the number as it is, but not a zero that nobody said."""
    server = scripted.Scripted(scripted.answers(b":-5\r\n"))
    try:
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=3, triggers=[stage.trigger(address=server.address, listName="jobs")])
        eventually(lambda: stage.condition("Active"))
        answer = stage.metric("s0-redis-jobs")
        assert answer.status == 503 or answer.value() == "-5", answer
    finally:
        server.end()
