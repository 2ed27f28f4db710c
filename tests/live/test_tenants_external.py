# SPDX-License-Identifier: Apache-2.0
"""External servers of a tenant: they name metrics by the thousand, and then hang, or answer. Nobody else waits for that, and it costs little memory."""
import time

import pytest

from rig.grpc_scaler import GrpcScaler
from rig.waiting import eventually

OF_TRIGGER, OF_OBJECT = 64, 256
OBJECTS = 4


@pytest.fixture
def servers(tmp_path):
    """The tenant's, which hangs once it has named its metrics, and a good one."""
    specs = [[f"metric-{n}", 5, 0] for n in range(OF_TRIGGER)]
    hostile, good = GrpcScaler(tmp_path, "hostile"), GrpcScaler(tmp_path, "good")
    hostile.says(specs=specs, values={name: [1, 0] for name, _, _ in specs}, sleep={"GetMetrics": 20, "IsActive": 20})
    yield hostile, good
    hostile.end()
    good.end()


def triggers(server, count):
    return [{"type": "external", "metadata": {"scalerAddress": server.address, "number": str(n)}} for n in range(count)]


def metric_is(stage, value):
    return stage.metric("s0-queue", "good").value() == value


@pytest.mark.alone  # the loop's longest turn
def test_many_metrics(launch, stage, module_stage, servers):
    daemon = launch().wait_serving()
    hostile, good = servers
    good.says(values={"queue": [12, 0]}, active=True)
    module_stage.deployment("good")
    module_stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=20, triggers=triggers(good, 1))
    eventually(lambda: module_stage.replicas("good") == 3)
    before = daemon.rss_mib()
    daemon.metric("kscaled_loop_longest_turn_seconds")
    longest = 0

    stage.deployment("greedy")
    stage.scaledobject("greedy", pollingInterval=1, triggers=triggers(hostile, 100))
    for n in range(OBJECTS):
        stage.deployment(f"full-{n}")
        stage.scaledobject(f"full-{n}", pollingInterval=1, triggers=triggers(hostile, OF_OBJECT // OF_TRIGGER))
    refused = f"names {OF_TRIGGER} metrics, and the triggers before it have {OF_OBJECT}"
    eventually(lambda: any(refused in condition["message"] for condition in stage.status("greedy").get("conditions", [])), timeout=60)
    eventually(lambda: len(stage.hpa_document("keda-hpa-full-0")["spec"]["metrics"]) == OF_OBJECT, timeout=60)
    for phase in ({}, {"sleep": {}}):    # while it hangs; when it answers
        hostile.says(**phase)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            assert metric_is(module_stage, "12")
            longest = max(longest, daemon.metric("kscaled_loop_longest_turn_seconds"))
    good.says(values={"queue": [30, 0]})
    eventually(lambda: module_stage.replicas("good") == 6)
    grown = daemon.peak_mib() - before
    assert daemon.sanitized() or longest < 0.25, longest
    assert daemon.sanitized() or grown < 40, grown
