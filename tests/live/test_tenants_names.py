# SPDX-License-Identifier: Apache-2.0
"""Names of a tenant: hundreds that no name server ever answers for keep nobody else from finding a server; and a name may have more addresses than a datagram takes."""
import pytest

from rig.nameserver import NameServer, under
from rig.waiting import eventually, timed

SILENT = 400


@pytest.fixture
def names():
    server = NameServer({"good.test": ["127.0.0.1"], "sixty.test": ["127.0.0.1"] + [f"127.0.9.{n}" for n in range(1, 60)], "short.svc.test": ["127.0.0.1"]})
    yield server
    server.end()


@pytest.fixture
def daemon(launch, names, tmp_path):
    return launch(under=under(names.resolv_conf(tmp_path, "search svc.test", "options ndots:5"))).wait_serving()


def at(stage, name):
    """The address of the stage's Redis under a name."""
    return f"{name}:{stage.trigger()['metadata']['address'].rpartition(':')[2]}"


def put(stage, name, host):
    stage.deployment(name)
    stage.scaledobject(name, pollingInterval=1, maxReplicaCount=3, triggers=[stage.trigger(address=at(stage, host))])


@pytest.mark.alone  # how soon a name is found
def test_silent_names(daemon, stage, names):
    triggers = [{**stage.trigger(address=at(stage, f"t{n}.silent")), "name": f"t{n}"} for n in range(SILENT)]
    stage.deployment("hostile")
    stage.scaledobject("hostile", pollingInterval=1, triggers=triggers)
    eventually(lambda: len([name for name in names.asked if name.endswith(".silent")]) >= SILENT, timeout=60)
    put(stage, "good", "good.test")
    took = timed(lambda: names.asked.get("good.test") and stage.says("Ready", "True", name="good"))
    assert took < 3, took
    stage.push(12)
    eventually(lambda: stage.replicas("good") == 3)
    # One question for each family, and for each try: never as often as somebody wants to know.
    most = max(names.asked.get(f"t{n}.silent", 0) for n in range(SILENT))
    assert most < 60, most
    stage.wait_failing("hostile")
    # Nobody asks for names that no object has.
    strangers = [name for name in names.asked if not name.endswith((".silent", ".test", "localhost", ".svc.test"))]
    assert not strangers, strangers


def test_more_addresses_than_a_datagram_takes(daemon, stage, names):
    put(stage, "many", "sixty.test")
    stage.wait_ready("many")
    assert names.by_tcp["sixty.test"] >= 1
    stage.push(12)
    eventually(lambda: stage.replicas("many") == 3)


def test_search_list(daemon, stage, names):
    """As a Service is named in a cluster."""
    put(stage, "short", "short")
    stage.wait_ready("short")
    assert names.asked["short.svc.test"] >= 1
