# SPDX-License-Identifier: Apache-2.0
"""ScaledJobs that cannot work: refused by name of the object, field and value, in Ready and in an Event; no Job, no hammering, and healed by the correction alone."""
import pytest
from kubernetes.client import ApiException

from rig.credentials import Credentials, LockedRedis, from_secret, ref
from rig.job_stage import STAYS
from rig.waiting import after, eventually, throughout


@pytest.fixture
def credentials(job_stage):
    credentials = Credentials(job_stage)
    yield credentials
    credentials.clear()


def test_refused_by_name(kscaled, job_stage, record, credentials, locked_redis):
    """All at once; each has work waiting."""
    stage = job_stage
    credentials.authentication("nothing-behind", **from_secret("nowhere"))
    stays = stage.job_template(STAYS)
    cases = {
        "metric-type": ({"triggers": [stage.list_trigger("metric-type", _metricType="AverageValue")]}, ["Cannot set metricType in ScaledJob triggers", "spec.triggers[0].metricType"]),
        "no-list": ({"triggers": [stage.list_trigger(listName=None)]}, ["listName"]),
        "not-a-number": ({"triggers": [stage.list_trigger("not-a-number", listLength="five")]}, ["listLength", "five"]),
        "unknown": ({"triggers": [{"type": "radish", "metadata": {}}]}, ["radish"]),
        "names-twice": ({"triggers": [stage.list_trigger("names-twice", _name="same"), stage.list_trigger("other", _name="same")]},
                        ["ScaledJob doesn't have correct triggers specification", 'the name "same" is used twice']),
        "no-authentication": ({"triggers": [locked_redis.trigger(stage, ref("nobody"))]}, ["nobody"]),
        "no-secret": ({"triggers": [locked_redis.trigger(stage, ref("nothing-behind"))]}, ["nowhere"]),
        "no-environment": ({"triggers": [stage.list_trigger("no-environment", address=None, addressFromEnv="REDIS")]}, ["REDIS"]),
        "no-container": ({"triggers": [stage.list_trigger("no-container", address=None, addressFromEnv="REDIS")], "envSourceContainerName": "nobody-here"}, ["spec.envSourceContainerName", "nobody-here"]),
    }
    for name, (spec, _) in cases.items():
        stage.give(2, name)
        stage.scaledjob(name, template=stays, **spec)
    for name, (_, parts) in cases.items():
        message = stage.wait_refused(name)
        assert all(part in message for part in parts), (name, message)
        assert stage.says("Active", "Unknown", "UnknownState", name)["message"] == "ScaledJob check failed"
    # One Event in KEDA's words, which are always the same, and one in ours.
    eventually(lambda: len(stage.events("unknown", "ScaledJobCheckFailed")) == 2)
    notes = [event.note for event in stage.events("unknown", "ScaledJobCheckFailed")]
    assert "Failed to ensure ScaledJob is correctly created" in notes and any("radish" in note for note in notes)
    told = lambda: [event for event in stage.events("names-twice", "ScaledJobCheckFailed") if "same" in event.note]
    assert eventually(told)[0].type == "Warning"
    versions = {name: stage.get(name)["metadata"]["resourceVersion"] for name in cases}
    throughout(lambda: all(record.count(name) == 0 for name in cases), until=after(2.5))
    assert {name: stage.get(name)["metadata"]["resourceVersion"] for name in cases} == versions, "said once"
    # Corrected.
    for name in ("metric-type", "no-list", "unknown"):
        stage.patch({"spec": {"triggers": [stage.list_trigger(name)]}}, name)
        eventually(lambda name=name: record.count(name) == 2)
        stage.wait_ready(name)
    credentials.secret("nowhere", password=LockedRedis.PASSWORD)
    stage.wait_ready("no-secret")
    eventually(lambda: record.count("no-secret") > 0)


def test_a_name_that_is_no_label(job_stage):
    """It becomes a label of each Job, by which they are found: the CRD says so at once."""
    with pytest.raises(ApiException) as refused:
        job_stage.scaledjob("n" * 64)
    assert refused.value.status == 422 and "metadata.name: longer than 63 characters" in refused.value.body


def refused_creates(cluster):
    """POSTs of Jobs that were answered with 422 so far, whoever sent them."""
    lines = cluster.request("/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines
               if line.startswith("apiserver_request_total{") and all(f'{key}="{value}"' in line for key, value in (("resource", "jobs"), ("verb", "POST"), ("code", "422"))))


def test_a_template_that_the_api_server_refuses(kscaled, cluster, job_stage, record):
    """Only when a Job is created does the API server say so: its words are in Ready and in an Event, it is tried seldom, and a corrected template is tried at once."""
    stage = job_stage
    template = stage.job_template(STAYS)
    template["template"]["spec"]["restartPolicy"] = "Always"
    stage.ready_scaledjob(template=template)
    stage.give(8)
    condition = eventually(lambda: stage.says("Ready", "False", "KEDAJobCreateFailed"))
    assert "spec.template.spec.restartPolicy" in condition["message"]
    event = stage.event("KEDAJobCreateFailed")
    assert event.type == "Warning" and "restartPolicy" in event.note
    assert not stage.events(reason="KEDAJobsCreated")
    before, asked = refused_creates(cluster), kscaled.asked()
    throughout(lambda: record.count() == 0, until=lambda: kscaled.asked() >= asked + 5)
    tried, polls = refused_creates(cluster) - before, kscaled.asked() - asked
    stage.patch({"spec": {"jobTargetRef": {"template": {"spec": {"restartPolicy": "Never"}}}}})
    eventually(lambda: record.count() == 8)
    stage.wait_ready()
    throughout(lambda: record.count() == 8, until=after(2))
    assert tried <= 2 * polls, f"{tried} creates in {polls} polls: it is the same answer for each of the eight"


@pytest.mark.refused("create jobs.batch")
def test_without_rights(launch, restored, job_stage, record):
    """Installed by somebody who left Jobs out: said by name, and healed within a moment of the right being there."""
    stage = job_stage
    launch().wait_serving()
    stage.ready_scaledjob(template=stage.job_template(STAYS))
    role = "kscaled-jobs"
    rules = restored.cluster.api.sanitize_for_serialization(restored.cluster.rbac.read_cluster_role(role).rules)
    (mine,) = [rule for rule in rules if "batch" in rule["apiGroups"]]
    mine["verbs"].remove("create")
    restored.cluster.rbac.patch_cluster_role(role, {"rules": rules})
    stage.give(2)
    condition = eventually(lambda: stage.says("Ready", "False", "KEDAJobCreateFailed"))
    assert "forbidden" in condition["message"] and "jobs" in condition["message"]
    restored.apply()
    eventually(lambda: record.count() == 2)
    stage.wait_ready()
