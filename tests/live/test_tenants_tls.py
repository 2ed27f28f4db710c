# SPDX-License-Identifier: Apache-2.0
"""What a tenant's servers and keys make TLS calculate: session tickets without end, a client key with 2^31-1 rounds. Probes are answered meanwhile, and others are scaled."""
import time

import pytest

from rig import pki
from rig.credentials import ref
from rig.daemon import BUSY
from rig.hostile.tls import TicketFlood, give_locked
from rig.waiting import eventually

pytestmark = pytest.mark.alone  # the loop's longest turn

TICKETS = "the other side sends TLS records without data"


@pytest.fixture
def pair(tmp_path):
    return pki.certificate(tmp_path, "flood", pki.authority(tmp_path, "flood-ca"), "localhost")


@pytest.fixture
def flood(tmp_path, pair):
    flood = TicketFlood(tmp_path, pair)
    yield flood
    flood.end()


class Turns:
    """The loop's turns while the test goes on, each of its /metrics an answer of the status port."""

    def __init__(self, daemon):
        self.daemon = daemon
        daemon.longest_turns()
        self.began, self.waited = time.monotonic(), daemon.waited_s()

    def hold(self):
        turn, computed = self.daemon.longest_turns()
        busy = (self.daemon.waited_s() - self.waited) / (time.monotonic() - self.began)
        print(f"longest turn {turn * 1000:.0f} ms, {computed * 1000:.0f} ms of it computing; waited for a processor {busy * 100:.0f} % of the time")
        assert self.daemon.status("/livez").status == 200
        assert self.daemon.sanitized() or computed < 0.25, computed
        assert self.daemon.sanitized() or busy > BUSY or turn < 0.5, turn


def expect_scaled(stage, name):
    stage.deployment(name)
    stage.ready_scaledobject(name, pollingInterval=1, maxReplicaCount=3)
    stage.push(12)
    eventually(lambda: stage.replicas(name) == 3)


def test_tickets_without_end(launch, stage, module_stage, flood):
    daemon = launch().wait_serving()
    turns = Turns(daemon)
    kinds = flood.triggers()
    for kind, trigger in kinds.items():
        stage.deployment(kind)
        stage.scaledobject(kind, pollingInterval=1, triggers=[trigger])
    for kind in kinds:
        eventually(lambda kind=kind: TICKETS in stage.metric(metric_of(kind), kind).failure(503, "ServiceUnavailable"), timeout=60)
    expect_scaled(module_stage, "beside-tickets")
    # A flood that did not end would be none of these.
    seen = flood.floods
    eventually(lambda: flood.floods > seen + 2, timeout=60)
    turns.hold()


def metric_of(kind):
    return {"redis": "s0-redis-l", "prometheus": "s0-prometheus"}[kind]


def test_a_key_that_takes_an_hour(launch, stage, module_stage, credentials, pair):
    daemon = launch().wait_serving()
    turns = Turns(daemon)
    give_locked(credentials, "locked", pair)
    kinds = {
        "redis": {"address": "127.0.0.1:1", "listName": "l", "listLength": "5"},
        "etcd": {"endpoints": "127.0.0.1:1", "watchKey": "k", "value": "5"},
        "kafka": {"bootstrapServers": "127.0.0.1:1", "consumerGroup": "g", "topic": "t"},
        "postgresql": {"host": "127.0.0.1", "port": "1", "userName": "u", "dbName": "d", "sslmode": "require", "query": "SELECT 1", "targetQueryValue": "5"},
    }
    for kind, metadata in kinds.items():
        stage.deployment(kind)
        stage.scaledobject(kind, pollingInterval=1, triggers=[{"type": kind, "metadata": metadata, "authenticationRef": ref("locked")}])
    for kind in kinds:
        message = stage.wait_refused(kind)
        assert "it is encrypted with more than 600000 rounds" in message and "s3cret" not in message, (kind, message)
    expect_scaled(module_stage, "beside-keys")
    turns.hold()
