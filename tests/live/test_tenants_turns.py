# SPDX-License-Identifier: Apache-2.0
"""Requests of a tenant that hang: at a server that others ask, too, and at one of his own. Nobody else's are kept waiting."""
import json
import threading

import pytest

from rig import pki, scripted
from rig.http_source import HttpSource
from rig.waiting import eventually

pytestmark = pytest.mark.alone  # how soon others are answered

HANGING = 40
GOOD = 24


class Hang:
    """A route that answers when the test is over."""

    def __init__(self):
        self.over = threading.Event()
        self.held = 0

    def __call__(self, asked):
        self.held += 1
        self.over.wait(120)


@pytest.fixture
def hang():
    hang = Hang()
    yield hang
    hang.over.set()


@pytest.fixture
def source(hang):
    source = HttpSource({"/n": '{"n":12}', "/hang": hang})
    yield source
    hang.over.set()
    source.end()


def triggers(count, url, **metadata):
    return [{"type": "metrics-api", "name": f"t{n}", "metadata": {"url": f"{url}{n}", "valueLocation": "n", "targetValue": "5", **metadata}} for n in range(count)]


def put(stage, name, triggers):
    stage.deployment(name)
    stage.scaledobject(name, pollingInterval=1, maxReplicaCount=3, triggers=triggers)


def expect_answers(stage, name, asked):
    """Each poll has all its answers, and the HPA its metrics."""
    stage.wait_ready(name)
    for _ in range(5):
        seen = asked()
        eventually(lambda seen=seen: asked() >= seen + GOOD)
        assert stage.metric(f"s{GOOD - 1}-metric-api-n", name).value() == "12"
    assert not stage.events(name, "KEDAScalerFailed")
    eventually(lambda: stage.replicas(name) == 3)


def test_a_shared_server(kscaled, module_stage, stage, source, hang):
    """With a timeout of an hour, 40 of one tenant. Eight at a time are let to it, and one of whoever has none there."""
    put(stage, "hostile", triggers(HANGING, f"{source.url}/hang?", timeout="1h"))
    eventually(lambda: hang.held == 8)
    put(module_stage, "beside", triggers(GOOD, f"{source.url}/n?"))
    expect_answers(module_stage, "beside", lambda: len(source.to("/n")))
    assert hang.held == 8
    assert source.open <= 10
    # An hour is shortened, and that is said.
    said = json.loads(kscaled.tell("explain", f"{stage.namespace}/hostile", "-o", "json").stdout)
    assert said["triggers"][0]["shortened"] == "timeout 1h is more than the maximum, 2m, which is used", said["triggers"][0]


def test_a_server_of_his_own(kscaled, module_stage, stage, tmp_path):
    """It never ends a handshake; another's, by TLS as well, is asked as if it were not there."""
    silent = scripted.Scripted(scripted.silent)
    source = HttpSource({"/n": '{"n":12}'}, tls=pki.certificate(tmp_path, "turns", pki.authority(tmp_path, "turns-ca"), "turns"))
    try:
        put(stage, "hostile", triggers(HANGING, f"https://{silent.address}/?", timeout="1h", unsafeSsl="true"))
        eventually(lambda: silent.accepted > 0)
        put(module_stage, "elsewhere", triggers(GOOD, f"{source.url}/n?", unsafeSsl="true"))
        expect_answers(module_stage, "elsewhere", lambda: len(source.to("/n")))
    finally:
        stage.delete_all()
        source.end()
        silent.end()
