# SPDX-License-Identifier: Apache-2.0
"""A ScaledJob from its creation to its first Jobs and back to rest: what the Jobs look like, status, conditions, Events; how triggers get in; what wakes it."""
import json

import pytest

from rig.credentials import LockedRedis, from_secret, ref
from rig.job_stage import GENERATION, OWNER_LABEL, PENDING, STAYS, finished
from rig.job_worker import AtEnd
from rig.redis_server import RedisServer
from rig.waiting import after, eventually, throughout, timed

SOON = 6  # seconds, far below the next poll; milliseconds on a machine that has nothing else to do


@pytest.mark.journey
def test_from_creation_to_rest(kscaled, job_stage, record, start_worker):
    stage = job_stage
    work = AtEnd(stage.client, stage.another_list("worker"))
    start_worker(work, seconds=1)
    labels, annotations = {"team": "films", "secret-label": "x", "app.kubernetes.io/part-of": "cinema"}, {"example.com/note": "hello", "scaledjob.keda.sh/job-excluded-labels": "secret-label,other"}
    template = stage.job_template(STAYS, parallelism=1, completions=1, backoffLimit=4, ttlSecondsAfterFinished=600)
    stage.scaledjob(template=template, metadata={"labels": labels, "annotations": annotations})
    ready = stage.wait_ready()
    assert ready["message"] in ("ScaledJob is defined correctly and is ready to scaling", "ScaledJob is defined correctly and is ready for scaling")
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    assert stage.says("Paused", "False")
    assert stage.event("ScaledJobReady").type == "Normal"
    status = stage.status()
    assert (status["triggersTypes"], status["externalMetricNames"]) == ("redis", [f"s0-redis-{stage.another_list('worker')}"])
    assert "lastActiveTime" not in status and record.count() == 0

    work.fill(["a", "b", "c"])
    eventually(lambda: record.count() == 3)
    eventually(lambda: stage.says("Active", "True", "ScalerActive"))
    eventually(lambda: stage.status().get("lastActiveTime"))
    activity = eventually(lambda: stage.status().get("triggersActivity"))
    assert activity == {f"s0-redis-{stage.another_list('worker')}": {"isActive": True}}
    assert stage.event("KEDAJobsCreated").note.startswith("Created 3 ")
    assert stage.event("ScaledJobActive").type == "Normal"

    me = stage.get()
    for job in record.created():
        meta, pod = job["metadata"], job["spec"]["template"]
        assert meta["name"].startswith("worker-") and "generateName" not in meta
        assert {key: meta["labels"].get(key) for key in ("team", "secret-label", "app.kubernetes.io/part-of", "app.kubernetes.io/name", "app.kubernetes.io/managed-by", OWNER_LABEL)} == {
            "team": "films", "secret-label": None, "app.kubernetes.io/part-of": "cinema", "app.kubernetes.io/name": "worker", "app.kubernetes.io/managed-by": "kscaled", OWNER_LABEL: "worker"}
        assert (meta["annotations"]["example.com/note"], meta["annotations"][GENERATION]) == ("hello", str(me["metadata"]["generation"]))
        (owner,) = meta["ownerReferences"]
        assert (owner["apiVersion"], owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("keda.sh/v1alpha1", "ScaledJob", "worker", me["metadata"]["uid"], True)
        assert pod["metadata"]["labels"][OWNER_LABEL] == "worker" and pod["metadata"]["annotations"] == template["template"]["metadata"]["annotations"]
        assert (job["spec"]["backoffLimit"], job["spec"]["ttlSecondsAfterFinished"], pod["spec"]["restartPolicy"], pod["spec"]["nodeName"]) == (4, 600, "Never", "node-0")
    assert len(record.names()) == 3

    eventually(lambda: record.completed() == 3)
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    assert stage.event("ScaledJobInactive").type == "Normal"
    version = stage.get()["metadata"]["resourceVersion"]
    throughout(lambda: record.count() == 3 and stage.get()["metadata"]["resourceVersion"] == version, until=after(3), every=0.3)


def test_restart_policy_and_long_names(kscaled, job_stage, record):
    """A template without restartPolicy gets OnFailure; a name of 63 characters is cut, not refused."""
    stage = job_stage
    template = stage.job_template(STAYS)
    del template["template"]["spec"]["restartPolicy"]
    name = "n" * 57 + "-" + "x" * 5
    stage.give(2, name)
    stage.scaledjob(name, template=template)
    eventually(lambda: record.count(name) == 2)
    for job in record.created(name):
        assert len(job["metadata"]["name"]) <= 63 and job["spec"]["template"]["spec"]["restartPolicy"] == "OnFailure"
    stage.wait_running_pods(2, name)


def test_existing_work_needs_no_poll(kscaled, job_stage, record):
    """Each reconcile that succeeds looks at once: also of an object whose poll is half a minute away."""
    job_stage.give(2)
    job_stage.scaledjob(pollingInterval=30, template=job_stage.job_template(STAYS))
    assert timed(lambda: record.count() == 2) < SOON


def test_jobs_of_others_do_not_count(kscaled, job_stage, record):
    """Another ScaledJob's, and one without the label; one that somebody made with the label does, as in KEDA."""
    stage = job_stage
    stage.batch.create_namespaced_job(stage.namespace, {"metadata": {"name": "worker-by-hand"}, "spec": stage.job_template(STAYS)})
    stage.give(2, "other")
    stage.give(2)
    stage.scaledjob("other", template=stage.job_template(STAYS), maxReplicaCount=2)
    stage.scaledjob(template=stage.job_template(STAYS), maxReplicaCount=2)
    eventually(lambda: (record.count(), record.count("other")) == (2, 2))
    throughout(lambda: (record.count(), record.count("other")) == (2, 2), until=after(2))
    # Deleted by hand, while there is work: they do not run any more, and are made again.
    for name in record.names():
        stage.delete_job(name)
    eventually(lambda: record.count() == 4)
    throughout(lambda: (record.count(), record.count("other")) == (4, 2), until=after(2))


def test_several_jobs_at_a_time_are_counted_once(kscaled, job_stage, record):
    """Many objects at once; each its own number, and a Job that was created counts before any watch says so."""
    stage = job_stage
    numbers = {f"many-{i}": i % 5 + 1 for i in range(20)}
    for name in numbers:
        stage.scaledjob(name, template=stage.job_template(PENDING))
    for name in numbers:
        stage.wait_ready(name)
    with stage.client.pipeline() as together:
        for name, count in numbers.items():
            together.rpush(stage.another_list(name), *range(count))
        together.execute()
    eventually(lambda: {name: record.count(name) for name in numbers} == numbers)
    throughout(lambda: {name: record.count(name) for name in numbers} == numbers, until=after(3))


# --- how triggers get in ---

def test_environment_and_authentication(kscaled, job_stage, record, credentials_of_jobs, locked_redis):
    """The password from the Pod template's environment, and user and password from a TriggerAuthentication, whose Secret is then another."""
    stage, credentials = job_stage, credentials_of_jobs
    for user in ("first", "second"):
        locked_redis.add_user(user)
    lists = {name: stage.another_list(name) for name in ("env", "auth")}
    for key in lists.values():
        locked_redis.admin.rpush(key, *range(2))
    credentials.secret("plain", password=LockedRedis.PASSWORD)
    credentials.secret("login", username="first", password=LockedRedis.password_of("first"))
    credentials.authentication("login", secretTargetRef=[*from_secret("login", "username", "username")["secretTargetRef"], *from_secret("login", "password")["secretTargetRef"]])
    env = [{"name": "REDIS_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "plain", "key": "password"}}}, {"name": "REDIS", "value": locked_redis.address}]
    stage.scaledjob("env", template=stage.job_template(STAYS, env=env),
                    triggers=[stage.trigger(address=None, addressFromEnv="REDIS", passwordFromEnv="REDIS_PASSWORD", listName=lists["env"], listLength=1)])
    stage.scaledjob("auth", template=stage.job_template(STAYS), triggers=[locked_redis.trigger(stage, ref("login"), listName=lists["auth"], listLength=1)])
    eventually(lambda: (record.count("env"), record.count("auth")) == (2, 2))
    assert eventually(lambda: stage.status("auth").get("authenticationsTypes"))
    eventually(lambda: (credentials.get("login").get("status") or {}).get("scaledjobs") == "auth")
    credentials.change_secret("login", username="second", password=LockedRedis.password_of("second"))
    locked_redis.remove_user("first")
    locked_redis.admin.rpush(lists["auth"], *range(3))
    eventually(lambda: record.count("auth") == 5)
    eventually(lambda: stage.says("Ready", "True", name="auth"))
    stage.delete("auth")
    eventually(lambda: (credentials.get("login").get("status") or {}).get("scaledjobs", "") == "")
    locked_redis.remove_user("second")
    for key in lists.values():
        locked_redis.admin.delete(key)


@pytest.fixture
def credentials_of_jobs(job_stage):
    from rig.credentials import Credentials
    credentials = Credentials(job_stage)
    yield credentials
    credentials.clear()


# --- what wakes it ---

@pytest.fixture(scope="module")
def notifying(tmp_path_factory):
    """A Redis that announces changes of keys."""
    server = RedisServer(tmp_path_factory.mktemp("push"), "notifying", extra=["--notify-keyspace-events", "Kglszh"])
    yield server
    server.end()


def test_push(kscaled, job_stage, record, notifying):
    """A Job at once, though the poll is half a minute away; and not one for each announcement."""
    stage = job_stage
    stage.ready_scaledjob(pollingInterval=30, template=stage.job_template(STAYS), triggers=[stage.list_trigger(address=notifying.address, notify="auto")])

    def push_is_on():
        done = kscaled.tell("explain", "sj", f"{stage.namespace}/worker", "-o", "json")
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["triggers"][0]["push"]["state"] == "on", done.stdout
        return True

    eventually(push_is_on)
    client, key = notifying.client(), stage.another_list("worker")
    client.rpush(key, "x")
    took = timed(lambda: record.count() == 1)
    assert took < SOON, f"{took} s"
    client.rpush(key, "y", "z")
    took = timed(lambda: record.count() == 3)
    assert took < SOON, f"{took} s"
    throughout(lambda: record.count() == 3, until=after(2))
    assert not any(finished(job) for job in record.created())
