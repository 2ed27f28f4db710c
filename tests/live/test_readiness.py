# SPDX-License-Identifier: Apache-2.0
"""Sources that fail now and then, or for another reason than before: what Ready says, and what it does not."""
import itertools

import pytest

from rig.http_source import HttpSource, vector
from rig.job_stage import STAYS
from rig.waiting import after, eventually, throughout


@pytest.fixture
def source():
    source = HttpSource({"/api/v1/query": vector(7)})
    yield source
    source.end()


def trigger(source):
    return {"type": "prometheus", "metadata": {"serverAddress": source.url, "query": "jobs", "threshold": "5"}}


def test_one_fault_in_five_polls(kscaled, stage, job_stage, source):
    """Neither Ready nor Active changes; Events tell the first fault."""
    stage.deployment(replicas=1)
    stage.ready_scaledobject(minReplicaCount=1, triggers=[trigger(source)])
    job_stage.scaledjob("job", triggers=[trigger(source)], template=job_stage.job_template(STAYS), maxReplicaCount=1)
    job_stage.wait_ready("job")
    eventually(lambda: stage.says("Active", "True") and job_stage.says("Active", "True", name="job"))
    conditions = lambda: [[(one["type"], one["status"], one.get("lastTransitionTime")) for one in where.status(name)["conditions"] if one["type"] in ("Ready", "Active")]
                          for where, name in ((stage, "worker"), (job_stage, "job"))]
    before, turn = conditions(), itertools.count()
    source.routes["/api/v1/query"] = lambda asked: (503, {}, "busy") if next(turn) % 5 == 0 else (200, {}, vector(7))
    throughout(lambda: conditions() == before, until=after(15))
    assert next(turn) > 10
    assert "503" in stage.event("KEDAScalerFailed").note
    assert "503" in job_stage.event("KEDAScalerFailed", "job").note


def test_the_cause_that_is(kscaled, stage, source):
    """Three faults in a row are told, and another reason in their place when 30 s have passed."""
    stage.deployment(replicas=1)
    stage.ready_scaledobject(minReplicaCount=1, triggers=[trigger(source)])
    source.routes["/api/v1/query"] = (503, {}, "busy")
    assert "503" in stage.wait_failing()["message"]
    source.routes["/api/v1/query"] = (429, {}, "slowly")
    eventually(lambda: "429" in stage.wait_failing()["message"], timeout=60)
    source.routes["/api/v1/query"] = vector(7)
    stage.wait_ready()
