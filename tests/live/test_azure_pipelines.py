# SPDX-License-Identifier: Apache-2.0
"""The azure-pipelines trigger, against a server that stands in for Azure DevOps (rig/azure_devops.py says what that is)."""
import json

import pytest

from rig import pki
from rig.azure_devops import AzureDevops, job
from rig.http_source import half
from rig.job_stage import STAYS
from rig.waiting import after, eventually, throughout

TAKEN, ENDED = {"receiveTime": "2026-11-25T07:00:05Z"}, {"receiveTime": "2026-11-25T07:00:05Z", "result": "succeeded"}


@pytest.fixture
def devops():
    devops = AzureDevops()
    yield devops
    assert devops.wrong == []
    devops.end()


@pytest.fixture
def token(credentials):
    credentials.secret("azure", token="change-me\n")  # as made of a file
    credentials.authentication("azure", secretTargetRef=[{"parameter": "personalAccessToken", "name": "azure", "key": "token"}])
    return {"authenticationRef": {"name": "azure"}}


def trigger(devops, token, **metadata):
    values = {"organizationURL": f"{devops.url}/shop", **({} if "poolName" in metadata else {"poolID": "7"}), **metadata}
    return {"type": "azure-pipelines", "metadata": {key: str(value) for key, value in values.items()}, **token}


METRIC = "s0-azure-pipelines-7"


def test_what_is_counted(kscaled, stage, devops, token):
    """Each parameter that changes what is counted, or asked, in one object."""
    devops.pools["linux (x64)"] = 8
    devops.jobs[7] = [job(1), job(2, **TAKEN), job(3, **ENDED), job(4, demands=["docker"]), job(5, demands=["Docker", "maven"], matchedAgents=[{"name": "template"}]), job(6)]
    devops.jobs[8] = [job(n) for n in range(9)]
    cases = [
        ({}, "5"), ({"scaleOnInFlight": "false"}, "4"), ({"jobsToFetch": 1}, "1"), ({"fetchUnfinishedJobsOnly": "true"}, "5"), ({"parent": "template"}, "1"), ({"demands": "docker"}, "4"),
        ({"demands": "docker,maven", "caseInsensitiveDemandsProcessing": "true"}, "5"), ({"demands": "docker", "requireAllDemands": "true"}, "1"),
        ({"demands": "docker", "requireAllDemandsAndIgnoreOthers": "true", "caseInsensitiveDemandsProcessing": "true"}, "2"), ({"poolName": "linux (x64)"}, "9"),
    ]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(devops, token, targetPipelinesQueueLength=1000, **metadata) for metadata, _ in cases])
    for index, (metadata, wanted) in enumerate(cases):
        name = f"s{index}-azure-pipelines-" + ("linux -x64-" if "poolName" in metadata else "7")
        assert stage.metric(name).value() == wanted, metadata
    # The pool is asked for once, its jobs at each poll.
    count = len(devops.to("/shop/_apis/distributedtask/pools/8/jobrequests"))
    eventually(lambda: len(devops.to("/shop/_apis/distributedtask/pools/8/jobrequests")) > count + 2)
    assert len(devops.to("/shop/_apis/distributedtask/pools")) == 1
    assert {asked.raw_query for asked in devops.to("/shop/_apis/distributedtask/pools/7/jobrequests")} == {"$top=250", "$top=1", "completedRequestCount=0", ""}


def test_scales(kscaled, stage, devops, token):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[trigger(devops, token, targetPipelinesQueueLength=2, activationTargetPipelinesQueueLength=1)])
    devops.jobs[7] = [job(1)]            # is not above 1
    eventually(lambda: stage.metric(METRIC).value() == "1")
    assert stage.replicas() == 0
    devops.jobs[7] = [job(n) for n in range(6)]
    eventually(lambda: stage.replicas() == 3)
    devops.jobs[7] = [job(n, **ENDED) for n in range(6)]
    eventually(lambda: stage.replicas() == 0)


def test_jobs_that_run(kscaled, stage, devops, token):
    """Agents that work are not scaled in."""
    devops.jobs[7] = [job(n, **TAKEN) for n in range(2)]
    stage.deployment(replicas=2)
    stage.ready_scaledobject(maxReplicaCount=3, triggers=[trigger(devops, token)])
    eventually(lambda: stage.metric(METRIC).value() == "2")
    throughout(lambda: stage.replicas() == 2, until=after(3))


def test_a_job_for_each(kscaled, job_stage, devops):
    """A ScaledJob of the default strategy makes a Job for each job that waits, beside those that run."""
    devops.jobs[7] = [job(n, **TAKEN) for n in range(4)]
    job_stage.scaledjob(maxReplicaCount=20, template=job_stage.job_template(STAYS, env={"PAT": "change-me"}), triggers=[trigger(devops, {}, personalAccessTokenFromEnv="PAT")])
    eventually(lambda: len(job_stage.running()) == 4)
    devops.jobs[7] += [job(10 + n) for n in range(4)]
    eventually(lambda: len(job_stage.running()) == 8)


def test_a_list_that_may_have_been_cut(kscaled, stage, devops, token):
    devops.jobs[7] = [job(n) for n in range(5)]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(devops, token, jobsToFetch=4)])
    told = eventually(lambda: [one for one in json.loads(kscaled.tell("explain", f"{stage.namespace}/worker", "-o", "json").stdout)["triggers"] if one["remark"]])[0]
    assert told["value"] == 4 and "may have been cut" in told["remark"], told
    assert "remark" in kscaled.tell("explain", f"{stage.namespace}/worker").stdout


def test_faults(kscaled, stage, devops, token, credentials):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    devops.jobs[7] = [job(n) for n in range(4)]
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[trigger(devops, token)])
    eventually(lambda: stage.replicas() == 2)

    def fails(*words):
        def is_said():
            message = stage.metric(METRIC).failure(503, "ServiceUnavailable")
            assert all(word in message for word in words), message
            return True
        stage.wait_failing()
        eventually(is_said)
        assert stage.replicas() == 2

    def is_well():
        eventually(lambda: stage.metric(METRIC).value() == "4")
        stage.wait_ready()

    answers = AzureDevops.answer
    for broken, words in ((lambda asked: half(asked), ("azure-pipelines",)), (lambda asked: (200, {}, '{"value": {}}'), ('no array "value"',)), (lambda asked: (500, {}, "{}"), ("HTTP status 500",)),
                          (lambda asked: (302, {"Location": "/_signin"}, "") if asked.path != "/_signin" else (200, {"Content-Type": "text/html"}, "<html>"), ("a sign-in page",))):
        devops.answer = broken
        fails(*words)
        devops.answer = lambda asked: answers(devops, asked)
        is_well()
    jobs = devops.jobs.pop(7)
    fails("HTTP status 404")
    devops.jobs[7] = jobs
    is_well()
    devops.token = "rotated"
    fails("personalAccessToken is wrong, has expired")
    credentials.change_secret("azure", token="rotated")
    is_well()
    devops.answer = lambda asked: None  # ends the connections that are kept
    devops.end()
    fails("127.0.0.1:")
    devops.answer = lambda asked: answers(devops, asked)
    devops.start()
    is_well()


def test_a_pause_is_kept(kscaled, stage, devops, token):
    """Asked to be left alone, the server is left alone, whatever is asked there with the token; then it is asked again."""
    devops.jobs[7], devops.jobs[8] = [job(1)], [job(1)]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(devops, token), trigger(devops, token, poolID=8)])
    devops.throttled = 3
    stage.wait_failing()
    eventually(lambda: "asked to be left alone (Retry-After)" in stage.metric(METRIC).failure(503, "ServiceUnavailable"))
    devops.throttled = 0
    refused = len(devops.asked)
    eventually(lambda: stage.metric(METRIC).value() == "1")
    times = [asked.time for asked in devops.asked]
    assert times[refused] - times[refused - 1] > 2.9, times[refused - 2:refused + 1]
    stage.wait_ready()


def test_a_good_answer_stands(kscaled, stage, devops, token):
    """Beside a good answer Azure DevOps asks who asks much to be left alone, too: the answer stands until then, nothing fails, and explain says so."""
    devops.jobs[7], devops.delayed = [job(1)], 4
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(devops, token)])
    told = eventually(lambda: [one for one in json.loads(kscaled.tell("explain", f"{stage.namespace}/worker", "-o", "json").stdout)["triggers"] if one["pause"]])[0]
    assert "azure-pipelines http://127.0.0.1:" in told["pause"] and "asked to be left alone (Retry-After): for another" in told["pause"] and told["error"] is None and told["value"] == 1, told
    assert stage.metric(METRIC).value() == "1"
    devops.jobs[7], devops.delayed = [job(1), job(2)], 0
    eventually(lambda: stage.metric(METRIC).value() == "2")
    times = [asked.time for asked in devops.asked]
    assert times[1] - times[0] > 3.9, times
    assert stage.condition("Ready")["status"] == "True" and stage.condition("Fallback")["status"] == "False"


def test_tls(kscaled, stage, token, tmp_path):
    """Of an authority that nobody knows it is refused."""
    devops = AzureDevops(tls=pki.certificate(tmp_path, "devops", pki.authority(tmp_path, "devops-ca"), "localhost"))
    try:
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[trigger(devops, token)])
        stage.wait_failing()
        eventually(lambda: "certificate" in stage.metric(METRIC).failure(503, "ServiceUnavailable"))
        assert devops.asked == []
    finally:
        devops.end()
