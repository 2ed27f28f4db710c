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


def test_hostile_servers(kscaled, stage):
    """Each fault by its name, and nothing scaled."""
    faults = {"Connection refused": None, "did not answer in time": scripted.Scripted(scripted.silent), "is it a beanstalkd server?": scripted.Scripted(scripted.answers(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
              "the answer is larger than": scripted.Scripted(scripted.answers(b"OK 999999999\r\n")), "in time": scripted.Scripted(scripted.half(b"OK 100\r\n---\n")),
              "the server answered INTERNAL_ERROR": scripted.Scripted(scripted.answers(b"INTERNAL_ERROR\r\n")), "closed the connection": scripted.Scripted(scripted.closes),
              "has no number current-jobs-ready": scripted.Scripted(scripted.answers(b"OK 4\r\n---\n\r\n"))}
    stage.deployment(replicas=3)
    stage.scaledobject(triggers=[trigger(server.address if server else f"127.0.0.1:{free_port()}") for server in faults.values()])
    stage.wait_failing()
    for index, words in enumerate(faults):
        eventually(lambda index=index, words=words: words in failure(stage, index))
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    for server in faults.values():
        if server:
            server.end()
