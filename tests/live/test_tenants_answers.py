# SPDX-License-Identifier: Apache-2.0
"""Answers of a tenant's servers that are as large as they may be: they are read as they come, or counted before they are parsed."""
import time

import pytest

from rig.daemon import BUSY
from rig.hostile import large
from rig.hostile.many import Halfway
from rig.waiting import eventually

MIB = 1 << 20
TRIGGERS = 8


@pytest.fixture
def source():
    source = large.source()
    yield source
    source.end()


@pytest.mark.alone  # the loop's longest turn
def test_large_answers(launch, stage, module_stage, source):
    daemon = launch().wait_serving()
    module_stage.deployment("good")
    module_stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=3)
    before = daemon.rss_mib()
    daemon.longest_turns()
    began, waited = time.monotonic(), daemon.waited_s()
    for kind, (where, _) in large.ANSWERS.items():
        stage.deployment(kind)
        stage.scaledobject(kind, pollingInterval=1, maxReplicaCount=2, triggers=[
            {"type": "metrics-api", "metadata": {"url": f"{source.url}/{kind}?{n}", "format": kind, "valueLocation": where, "targetValue": "1", "timeout": "20s"}} for n in range(TRIGGERS)])
    for kind in large.ANSWERS:
        stage.wait_ready(kind, timeout=60)
        eventually(lambda kind=kind: stage.replicas(kind) == 2, timeout=60)
    longest = []
    until = time.monotonic() + 10
    while time.monotonic() < until:
        longest.append(daemon.longest_turns())
    busy = (daemon.waited_s() - waited) / (time.monotonic() - began)
    turn, computed = max(turn for turn, _ in longest), max(computed for _, computed in longest)
    module_stage.push(12)
    eventually(lambda: module_stage.replicas("good") == 3)
    grown = daemon.peak_mib() - before
    print(f"longest turn {turn * 1000:.0f} ms, {computed * 1000:.0f} ms of it computing; waited for a processor {busy * 100:.0f} % of the time; {grown:.1f} MiB more")
    assert daemon.sanitized() or computed < 0.25, computed
    assert daemon.sanitized() or busy > BUSY or turn < 0.25, turn  # other work that has the processors is in all times
    assert daemon.sanitized() or grown < 40, grown


KINDS = {
    "metrics-api": lambda at: {"type": "metrics-api", "metadata": {"url": f"http://{at}/", "valueLocation": "n", "targetValue": "5", "timeout": "8s"}},
    "redis": lambda at: {"type": "redis", "metadata": {"address": at, "listName": "l", "listLength": "5"}},
    "postgresql": lambda at: {"type": "postgresql", "metadata": {"host": at.partition(":")[0], "port": at.partition(":")[2], "userName": "u", "dbName": "d", "sslmode": "disable", "query": "SELECT 1", "targetQueryValue": "5"}},
}


@pytest.fixture
def halfway():
    halfway = Halfway(240)
    yield halfway
    halfway.end()


@pytest.mark.alone  # memory
def test_answers_that_do_not_end(launch, stage, module_stage, halfway):
    """A megabyte each of hundreds of servers, but for the end."""
    daemon = launch(options={"metrics_deadline": "8s"}).wait_serving()
    module_stage.deployment("beside")
    module_stage.ready_scaledobject("beside", pollingInterval=1, maxReplicaCount=3)
    before = daemon.rss_mib()
    of_kind = len(halfway.addresses) // len(KINDS)
    for k, (kind, trigger) in enumerate(KINDS.items()):
        stage.deployment(kind)
        stage.scaledobject(kind, pollingInterval=1, triggers=[trigger(at) for at in halfway.addresses[k * of_kind:(k + 1) * of_kind]])
    said = f'the answer is dropped: namespace "{stage.namespace}" has used up the share of bytes of unfinished answers'
    for kind in KINDS:
        eventually(lambda kind=kind: any(f"{stage.namespace}/{kind}:" in line and said in line for line in daemon.log().splitlines()), timeout=60)
    # When their time is over all are given up at once, and asked for anew.
    eventually(lambda: daemon.metric("kscaled_source_answer_bytes") > 1 * MIB, timeout=60)
    assert daemon.metric("kscaled_source_answer_bytes") <= 16 * MIB
    module_stage.push(12)
    eventually(lambda: module_stage.replicas("beside") == 3)
    grown = daemon.peak_mib() - before
    print(f"{halfway.served} answers, {grown:.1f} MiB more")
    assert daemon.sanitized() or grown < 40, grown
    stage.delete_all()
    eventually(lambda: daemon.metric("kscaled_source_answer_bytes") == 0, timeout=60)
