# SPDX-License-Identifier: Apache-2.0
"""A thousand servers of a tenant, where a process may have no more than 1,024 descriptors: everybody else has theirs, and he is told."""
import pytest

from rig.hostile.many import Silent
from rig.waiting import eventually

LIMIT = 1024
SERVERS = 1000
LIMITED = ["sh", "-c", f'ulimit -n {LIMIT} && exec "$@"', "sh"]
KINDS = {
    "redis": lambda at: {"type": "redis", "metadata": {"address": at, "listName": "l", "listLength": "5"}},
    "postgresql": lambda at: {"type": "postgresql", "metadata": {"host": at.partition(":")[0], "port": at.partition(":")[2], "userName": "u", "dbName": "d", "sslmode": "disable", "query": "SELECT 1", "targetQueryValue": "5"}},
    "metrics-api": lambda at: {"type": "metrics-api", "metadata": {"url": f"http://{at}/", "valueLocation": "n", "targetValue": "5", "timeout": "2m"}},
    "external": lambda at: {"type": "external", "metadata": {"scalerAddress": at}},
}


@pytest.fixture
def servers():
    servers = Silent(SERVERS)
    yield servers
    servers.end()


def put_hostile(stage, servers):
    """A quarter of the servers for each kind."""
    of_kind = SERVERS // len(KINDS)
    for k, (kind, trigger) in enumerate(KINDS.items()):
        stage.deployment(kind)
        stage.scaledobject(kind, pollingInterval=1, triggers=[trigger(at) for at in servers.addresses[k * of_kind:(k + 1) * of_kind]])


def messages(stage, name):
    return [condition.get("message", "") for condition in stage.status(name).get("conditions", [])]


def test_a_thousand_servers(launch, stage, module_stage, servers):
    daemon = launch(under=LIMITED).wait_serving()
    most = daemon.metric("kscaled_source_connections_max")
    assert 0 < most < LIMIT
    put_hostile(stage, servers)
    said = f'namespace "{stage.namespace}" has as many connections'
    eventually(lambda: any(said in message and "name fewer servers" in message for kind in KINDS for message in messages(stage, kind)), timeout=60)
    # He has what he may have: more than the half of it is left.
    taken = daemon.metric("kscaled_source_connections")
    assert most / 4 < taken < most / 2, taken

    module_stage.deployment("good")
    module_stage.scaledobject("good", pollingInterval=1, maxReplicaCount=3, triggers=[module_stage.trigger()])
    module_stage.wait_ready("good")
    module_stage.push(12)
    eventually(lambda: module_stage.replicas("good") == 3)
    assert module_stage.metric(name="good").value() == "12"
    assert not module_stage.events("good", "KEDAScalerFailed")
    assert daemon.leading()
    assert "Too many open files" not in daemon.log()

    # Descriptors come back with the objects.
    stage.delete_all()
    eventually(lambda: daemon.metric("kscaled_source_connections") < most / 16, timeout=120)
