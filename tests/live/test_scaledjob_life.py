# SPDX-License-Identifier: Apache-2.0
"""What becomes of Jobs: history limits, rollout when the template changes, pause, deletion. Pods run until the test ends them."""
import contextlib
import copy
import itertools

from rig.cluster import gone
from rig.job_stage import STAYS, finished
from rig.waiting import after, eventually, throughout

KEDA_FINALIZER = "finalizer.keda.sh"


def start(stage, record, name, count, **spec):
    """So many Jobs run, for as many items."""
    stage.give(count, name)
    stage.scaledjob(name, template=stage.job_template(STAYS), **spec)
    eventually(lambda: record.count(name) == count)
    stage.wait_running_pods(count, name)


def outcomes(stage, name):
    """How many there are of each: Complete, Failed, running."""
    found = [finished(job) for job in stage.jobs_of(name)]
    return found.count("Complete"), found.count("Failed"), found.count(None)


# --- history ---

def end(stage, name, count, phase="Succeeded"):
    """Ends some and waits until it is said of their Jobs; their names."""
    def now_finished():
        return {job["metadata"]["name"] for job in stage.jobs_of(name) if finished(job)}

    before = now_finished()
    stage.end_pods(name, count, phase)
    eventually(lambda: len(now_finished() - before) >= count)
    return now_finished() - before


def test_history(kscaled, job_stage, record):
    """Of those that succeeded and of those that failed the last to finish stay, as many as the limits say, and of each its own."""
    stage = job_stage
    start(stage, record, "worker", 7, successfulJobsHistoryLimit=2, failedJobsHistoryLimit=1)
    start(stage, record, "none", 3, successfulJobsHistoryLimit=0, failedJobsHistoryLimit=0)
    stage.take_all()
    stage.take_all("none")
    stage.end_pods("none", 2)
    stage.end_pods("none", 1, "Failed")
    old = end(stage, "worker", 2)
    eventually(lambda: outcomes(stage, "worker") == (2, 0, 5))
    throughout(lambda: outcomes(stage, "worker") == (2, 0, 5), until=after(1.5))                     # the next ones finish in another second than these
    new = end(stage, "worker", 1)
    eventually(lambda: outcomes(stage, "worker") == (2, 0, 4))
    left = {job["metadata"]["name"] for job in stage.jobs_of() if finished(job)}
    assert new < left and len(left & old) == 1
    stage.end_pods("worker", 3, "Failed")
    eventually(lambda: outcomes(stage, "worker") == (2, 1, 1))
    throughout(lambda: outcomes(stage, "worker") == (2, 1, 1), until=after(2.5))
    eventually(lambda: outcomes(stage, "none") == (0, 0, 0))
    # Their Pods go with them.
    eventually(lambda: len(stage.pods_of("none")) == 0)
    assert (record.count(), record.count("none")) == (7, 3)


# --- rollout ---

def test_rollout(kscaled, job_stage, record):
    """Another template: what runs by the old one is deleted, unless the rollout is gradual; what has finished stays. A change of anything else deletes nothing."""
    stage = job_stage
    rollouts = {"immediate": {}, "foreground": {"rollout": {"strategy": "immediate", "propagationPolicy": "foreground"}}, "gradual": {"rollout": {"strategy": "gradual"}},
                "old-gradual": {"rolloutStrategy": "gradual", "rollout": {"strategy": "immediate"}}}
    for name, spec in rollouts.items():
        start(stage, record, name, 3, **spec)
    for name in rollouts:
        stage.client.ltrim(stage.another_list(name), 0, 1)                                           # as a worker does before it exits
        end(stage, name, 1)
    before = {name: record.names(name) for name in rollouts}
    for name in rollouts:
        stage.patch({"spec": {"pollingInterval": 2, "maxReplicaCount": 9, "successfulJobsHistoryLimit": 50}, "metadata": {"labels": {"changed": "yes"}}}, name)
        eventually(lambda name=name: stage.says("Ready", "True", name=name)["observedGeneration"] == stage.get(name)["metadata"]["generation"])
    throughout(lambda: all(record.names(name) == before[name] and not record.was_deleted(name) for name in rollouts), until=after(3))

    for name in rollouts:
        stage.change_template(name, manner=STAYS, image="another")
    for name in ("immediate", "foreground"):
        eventually(lambda name=name: record.count(name) == 5)                                        # two new ones for the two items
        eventually(lambda name=name: outcomes(stage, name) == (1, 0, 2))
        assert all(job["spec"]["template"]["spec"]["containers"][0]["image"] == "another" for job in stage.running(name))
        assert len(record.was_deleted(name)) == 2
        assert "2 jobs" in stage.event("ScaledJobRolloutCleanupStarted", name).note
        assert stage.event("ScaledJobRolloutCleanupCompleted", name).type == "Normal"
    assert len(record.foreground) == 2, "only those of whom it was wished"
    for name in ("gradual", "old-gradual"):
        assert outcomes(stage, name) == (1, 0, 2) and record.names(name) == before[name]
        stage.give(1, name)
        eventually(lambda name=name: record.count(name) == 4)
        (new,) = [job for job in record.created(name) if job["metadata"]["name"] not in before[name]]
        assert new["spec"]["template"]["spec"]["containers"][0]["image"] == "another"
        assert not stage.events(name, "ScaledJobRolloutCleanupStarted")
    throughout(lambda: record.count("immediate") == record.count("foreground") == 5, until=after(3))


def test_back_to_the_same_template(kscaled, job_stage, record):
    """Applied again without a change, or with another order of its keys: nothing is deleted."""
    stage = job_stage
    start(stage, record, "worker", 2)
    names = record.names()
    template = stage.get()["spec"]["jobTargetRef"]
    stage.patch({"spec": {"jobTargetRef": dict(reversed(template.items())), "maxReplicaCount": 11}})
    throughout(lambda: record.names() == names and not record.was_deleted(), until=after(3))


@contextlib.contextmanager
def another_crd(stage, change):
    """The CRD with another schema of jobTargetRef, as KEDA's and other versions' have; `change` gets its properties."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/scaledjobs.keda.sh"

    def put(spec):
        def written():
            crd = stage.cluster.request(path).json
            return stage.cluster.request(path, "PUT", body={**crd, "spec": spec}).status == 200
        eventually(written)

    ours = stage.cluster.request(path).json["spec"]
    other = copy.deepcopy(ours)
    for version in other["versions"]:
        change(version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["jobTargetRef"]["properties"])
    put(other)
    try:
        yield
    finally:
        put(ours)


def fill_in(properties):
    properties["completionMode"]["default"] = "NonIndexed"


def prune(properties):
    del properties["backoffLimit"]


def both(properties):
    fill_in(properties)
    prune(properties)


def test_another_crd(kscaled, shared_kscaled, job_stage, record):
    """What another CRD fills in or prunes is no change of jobTargetRef, whenever kscaled sees it: no Job is deleted for it, but for a change all the same."""
    stage = job_stage
    start(stage, record, "worker", 2)
    names = record.names()
    probes = itertools.count()

    def served():
        return stage.get()["spec"]["jobTargetRef"]

    def stay():
        stage.ready_scaledjob(f"probe-{next(probes)}")                                               # kscaled sees what is served now
        throughout(lambda: record.names() == names and not record.was_deleted(), until=after(1))

    at_first = served()
    for change in (fill_in, prune, both):
        with another_crd(stage, change):
            eventually(lambda: served() != at_first)
            stay()
        eventually(lambda: served() == at_first)
        stay()
    with another_crd(stage, both):
        eventually(lambda: served() != at_first)
        stage.patch({"spec": {"maxReplicaCount": 9}})                                                # which stores what is filled in, and stores no more what is pruned
        eventually(lambda: stage.says("Ready", "True")["observedGeneration"] == stage.get()["metadata"]["generation"])
        stay()
    stay()
    kscaled.kill()
    before = served()
    with another_crd(stage, lambda properties: properties["manualSelector"].update(default=False)):
        eventually(lambda: served() != before)
        stage.give(1)
        shared_kscaled.running()
        eventually(lambda: record.count() == 3)                                                      # of another fingerprint than the two before
        names = record.names()
        stay()
        assert not stage.events(reason="ScaledJobRolloutCleanupStarted")
        stage.change_template(manner=STAYS, image="another")
        eventually(lambda: set(record.was_deleted()) == set(names))


# --- pause ---

def test_pause(kscaled, job_stage, record):
    """Running Jobs go on, none are made; after it, at once, though the next poll is far away."""
    stage = job_stage
    start(stage, record, "worker", 2, pollingInterval=30)
    stage.annotate(paused="true")
    eventually(lambda: stage.says("Paused", "True", "ScaledJobPaused"))
    assert stage.says("Ready", "True", "ScaledJobReady")
    stage.event("ScaledJobPaused")
    stage.give(3)
    stage.patch({"spec": {"pollingInterval": 1}})
    throughout(lambda: record.count() == 2 and len(stage.running()) == 2, until=after(3))
    stage.annotate(paused="false")
    eventually(lambda: stage.says("Paused", "False", "ScaledJobUnpaused"))
    eventually(lambda: record.count() == 5)
    stage.event("ScaledJobUnpaused")
    # Paused from its first moment, and what cannot be read.
    stage.give(1, "later")
    stage.scaledjob("later", metadata=stage.annotated(paused="true"), template=stage.job_template(STAYS))
    eventually(lambda: stage.says("Paused", "True", "ScaledJobPaused", "later"))
    stage.give(1, "perhaps")
    stage.scaledjob("perhaps", metadata=stage.annotated(paused="perhaps"), template=stage.job_template(STAYS))
    assert "autoscaling.keda.sh/paused" in stage.wait_refused("perhaps")
    throughout(lambda: (record.count("later"), record.count("perhaps")) == (0, 0), until=after(2))
    stage.annotate("later", paused=None)
    stage.annotate("perhaps", paused=None)
    eventually(lambda: (record.count("later"), record.count("perhaps")) == (1, 1))


def test_pause_over_a_restart(kscaled, shared_kscaled, job_stage, record):
    stage = job_stage
    start(stage, record, "worker", 1)
    stage.annotate(paused="true")
    eventually(lambda: stage.says("Paused", "True", "ScaledJobPaused"))
    kscaled.kill()
    stage.give(2)
    shared_kscaled.running()
    throughout(lambda: record.count() == 1, until=after(3))
    stage.annotate(paused=None)
    eventually(lambda: record.count() == 3)


# --- deletion ---

def test_deletion(kscaled, shared_kscaled, job_stage, record):
    """Jobs go with it; KEDA's finalizer holds nothing up; a kscaled that is gone neither."""
    stage = job_stage
    start(stage, record, "worker", 2)
    start(stage, record, "from-keda", 1, metadata={"finalizers": [KEDA_FINALIZER, "example.com/mine"]})
    eventually(lambda: stage.get("from-keda")["metadata"].get("finalizers") == ["example.com/mine"])
    stage.delete()
    eventually(stage.gone)
    eventually(lambda: not stage.jobs_of(), timeout=60)
    stage.event("ScaledJobDeleted")
    stage.delete("from-keda")
    throughout(lambda: record.count("from-keda") == 1, until=after(2))                              # being deleted, it makes none, whatever waits
    stage.give(1, "from-keda")
    throughout(lambda: record.count("from-keda") == 1, until=after(2))
    stage.patch({"metadata": {"finalizers": None}}, "from-keda")
    eventually(lambda: stage.gone("from-keda"))
    assert record.count() == 2
    start(stage, record, "last", 1)
    shared_kscaled.stop()
    stage.delete("last")
    eventually(lambda: stage.gone("last"))


def test_made_again_under_the_same_name(kscaled, job_stage, record):
    """It begins anew, with Jobs of its own."""
    stage = job_stage
    start(stage, record, "worker", 2)
    first = stage.get()["metadata"]["uid"]
    stage.cluster.kubectl("-n", stage.namespace, "delete", "scaledjob", "worker", "--cascade=background")
    eventually(lambda: gone(stage.get) and not stage.jobs_of(), timeout=60)
    stage.scaledjob(template=stage.job_template(STAYS))
    eventually(lambda: record.count() == 4)
    throughout(lambda: record.count() == 4, until=after(2))
    second = stage.get()["metadata"]["uid"]
    assert first != second and {job["metadata"]["ownerReferences"][0]["uid"] for job in stage.jobs_of()} == {second}


def test_orphans(kscaled, job_stage, record):
    """Jobs left behind by `kubectl delete --cascade=orphan` have the label: they go on and count as running, as in KEDA, so nothing is done twice."""
    stage = job_stage
    start(stage, record, "worker", 2)
    stage.cluster.kubectl("-n", stage.namespace, "delete", "scaledjob", "worker", "--cascade=orphan")
    eventually(stage.gone)
    eventually(lambda: len(stage.jobs_of()) == 2 and not any(job["metadata"].get("ownerReferences") for job in stage.jobs_of()))
    stage.scaledjob(template=stage.job_template(STAYS), rollout={"strategy": "gradual"})
    stage.wait_ready()
    throughout(lambda: record.count() == 2, until=after(3))
    stage.give(1)
    eventually(lambda: record.count() == 3)
