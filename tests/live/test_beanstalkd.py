# SPDX-License-Identifier: Apache-2.0
"""The beanstalkd trigger against a real server: values and outages; against a scripted one what no beanstalkd says."""
import pytest

from rig import scripted
from rig.beanstalkd_server import BeanstalkdServer
from rig.process import free_port
from rig.waiting import after, eventually, throughout


@pytest.fixture
def beanstalkd(tmp_path):
    server = BeanstalkdServer(tmp_path, "beanstalkd")
    yield server
    server.end()


def trigger(server, **metadata):
    values = {"server": getattr(server, "address", server), "tube": "jobs", "value": "5", **metadata}
    return {"type": "beanstalkd", "metadata": {key: str(value) for key, value in values.items()}}


def value(stage, index=0, tube="jobs"):
    return stage.metric(f"s{index}-beanstalkd-{tube}", "worker").value()


def failure(stage, index=0):
    return stage.metric(f"s{index}-beanstalkd-jobs", "worker").failure(503, "ServiceUnavailable")


def test_zero_to_many_and_back(kscaled, stage, beanstalkd):
    """Ready and reserved jobs count, delayed ones if asked for; a tube that does not exist has none."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(beanstalkd, activationValue="3"), trigger(beanstalkd, activationValue="20", includeDelayed="true", timeout="10s"), trigger(beanstalkd, tube="a/b")])
    assert value(stage) == "0"
    client = beanstalkd.client()
    client.put("jobs", 3)
    client.put("jobs", 2, delay=600)
    eventually(lambda: (value(stage), value(stage, 1), value(stage, 2, "a-2Fb")) == ("3", "5", "0"))
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    client.put("jobs", 7)
    eventually(lambda: stage.replicas() == 3)
    taken = client.take("jobs", 10)
    throughout(lambda: value(stage) == "10", until=after(1.2))
    client.delete(taken)
    eventually(lambda: stage.replicas() == 0)
    client.close()


def test_outages(kscaled, stage, beanstalkd):
    """Killed, back with its jobs, frozen: nothing is scaled in, and the next poll succeeds."""
    client = beanstalkd.client()
    client.put("jobs", 12)
    client.close()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(beanstalkd)])
    eventually(lambda: stage.replicas() == 3)
    beanstalkd.kill()
    stage.wait_failing()
    assert beanstalkd.address in failure(stage)
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    beanstalkd.start()
    eventually(lambda: value(stage) == "12")
    stage.wait_ready()
    beanstalkd.freeze()
    stage.wait_failing()
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    beanstalkd.thaw()
    eventually(lambda: value(stage) == "12")
    stage.wait_ready()


HOSTILE = {
    "not there": (None, "Connection refused"),
    "silent": (scripted.silent, "the server did not answer in time"),
    "closes": (scripted.closes, "is it a beanstalkd server?"),
    "closes when asked": (scripted.answers_once(b""), "the server closed the connection (is it a beanstalkd server?)"),
    "another protocol": (scripted.answers(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "the answer is not beanstalkd's (is it a beanstalkd server?)"),
    "garbage": (scripted.floods(b"", bytes(range(256)) * 256), "the answer is not beanstalkd's"),
    "giant": (scripted.floods(b"OK 500000000\r\n", b"x" * 65536), "the answer is larger than 4096 bytes"),
    "half": (scripted.half(b"OK 100\r\n---\n"), "in time"),
    "drip": (scripted.drips(b"OK 100\r\n" + b"-" * 100 + b"\r\n"), "in time"),
    "an error": (scripted.answers(b"INTERNAL_ERROR\r\n"), "the server answered INTERNAL_ERROR"),
    "no number": (scripted.answers(b"OK 4\r\n---\n\r\n"), "has no number current-jobs-ready"),
}


def test_hostile_servers(kscaled, stage):
    """Each fault by its name, and nothing scaled."""
    servers = [behave and scripted.Scripted(behave) for behave, _ in HOSTILE.values()]
    stage.deployment(replicas=3)
    stage.scaledobject(triggers=[trigger(server.address if server else f"127.0.0.1:{free_port()}") for server in servers])
    stage.wait_failing()
    for index, (_, words) in enumerate(HOSTILE.values()):
        eventually(lambda index=index, words=words: words in failure(stage, index))
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    for server in filter(None, servers):
        server.end()
