# SPDX-License-Identifier: Apache-2.0
"""kscaled ends and comes back: TERM, -9, with and without its state; the API server's life goes on under it."""
import signal
import time

import pytest

from rig.cluster import gone
from rig.waiting import after, eventually, throughout, timed


@pytest.fixture
def busy(kscaled, stage):
    return make_busy(stage)


def make_busy(stage):
    """Two replicas at work, and a workload asleep."""
    stage.deployment("worker", replicas=0)
    stage.deployment("asleep", replicas=0)
    stage.push(10)
    stage.ready_scaledobject("worker")
    stage.ready_scaledobject("asleep", maxReplicaCount=1, triggers=[stage.trigger(listName=f"{stage.namespace}-asleep")])
    eventually(lambda: stage.replicas() == 2)
    return stage


def settle(stage):
    """Until nothing more is to be said about the two of them."""
    eventually(lambda: stage.ready_replicas() == 2)
    eventually(lambda: stage.says("Active", "True", "ScalerActive"))
    eventually(lambda: stage.says("HPAActive", "True", "HPAActive"))
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive", "asleep"))
    eventually(lambda: stage.says("HPAActive", "True", "ScalingDisabled", "asleep"))


def lease(installation, name="operator.keda.sh"):
    return installation.cluster.coordination.read_namespaced_lease(name, installation.namespace).spec


def own_words(status):
    """Without what mirrors the HPA: its controller may have something new to say at any moment, and notes at once that nobody answers it."""
    return {**status, "conditions": [condition for condition in status["conditions"] if condition["type"] != "HPAActive"]}


def picture(stage):
    """What a kscaled that ends must leave as it is."""
    def kept(metadata):
        """All but what any write changes, also one that mirrors the HPA."""
        return {key: value for key, value in metadata.items() if key not in ("resourceVersion", "managedFields")}

    objects = [stage.get(name) for name in ("worker", "asleep")]
    hpas = [stage.hpa_document(f"keda-hpa-{name}") for name in ("worker", "asleep")]
    return {"objects": [(kept(o["metadata"]), o["spec"], own_words(o["status"])) for o in objects], "hpas": [(h["metadata"]["uid"], h["spec"]) for h in hpas],
            "replicas": [stage.replicas(name) for name in ("worker", "asleep")]}


@pytest.mark.alone  # how long its end takes
def test_term_leaves_everything_and_empties_the_lease(kscaled, shared_kscaled, installation, busy):
    settle(busy)
    before = picture(busy)
    assert lease(installation).holder_identity
    start = time.monotonic()
    kscaled.term()
    assert time.monotonic() - start < 3
    assert not lease(installation).holder_identity, "the next one need not wait"
    throughout(lambda: picture(busy) == before, until=after(1))
    busy.push(15)                                      # work that comes while nobody is there
    shared_kscaled.running()
    eventually(lambda: busy.replicas() == 5)


@pytest.mark.journey
def test_resumes_at_once_after_kill(kscaled, shared_kscaled, installation, busy):
    """-9: the Lease still names the old process. The state directory tells the new one that this was itself."""
    settle(busy)
    holder = lease(installation).holder_identity
    before = picture(busy)
    generation = busy.generation()
    kscaled.kill()
    busy.push(1, f"{busy.namespace}-asleep")
    assert picture(busy) == before
    start = time.monotonic()
    shared_kscaled.running()
    eventually(lambda: busy.metric().status == 200, every=0.02)
    assert time.monotonic() - start < 10, "it resumed, rather than waiting 15 s for its own Lease"
    eventually(lambda: busy.replicas("asleep") == 1)
    assert lease(installation).holder_identity == holder
    assert busy.generation() == generation, "replicas of the busy one never moved"
    assert picture(busy)["hpas"] == before["hpas"]
    busy.drain(f"{busy.namespace}-asleep")


@pytest.mark.alone  # how long a start takes
def test_restarted_within_about_a_second(kscaled, shared_kscaled, busy):
    """From the start of the new process until a metric is answered through the aggregator."""
    took = []
    for _ in range(3):
        shared_kscaled.daemon.kill()
        from rig.daemon import Daemon
        start = time.monotonic()
        shared_kscaled.daemon = Daemon(shared_kscaled.installation, shared_kscaled.dir)
        eventually(lambda: busy.metric().status == 200, every=0.01)
        took.append(time.monotonic() - start)
        shared_kscaled.daemon.wait_serving()
    assert min(took) < 1.5, took


def test_nothing_is_scaled_in_while_it_is_away(kscaled, shared_kscaled, busy):
    """The HPA cannot get its metric: it must hold, and so must we on return, though the source was empty meanwhile and the cooldown long over."""
    busy.patch({"spec": {"cooldownPeriod": 5}})
    eventually(lambda: busy.get()["status"]["conditions"][0].get("observedGeneration") == 2)
    kscaled.kill()
    throughout(lambda: busy.replicas() == 2, until=after(2.5))
    daemon = shared_kscaled.running()
    looks = daemon.asked()
    throughout(lambda: busy.replicas() == 2, until=lambda: daemon.asked() >= looks + 4)
    assert len(busy.events(reason="KEDAScaleTargetActivated")) == 1


def test_new_leader_counts_the_cooldown_from_its_start(kscaled, shared_kscaled, busy):
    """Active=True was the last word of the old one; how long ago it was active nobody wrote down."""
    busy.patch({"spec": {"cooldownPeriod": 7, "maxReplicaCount": 1}})
    eventually(lambda: busy.replicas() == 1)
    eventually(lambda: busy.says("Active", "True", "ScalerActive"))
    kscaled.kill()
    busy.drain()
    time.sleep(8)                                      # longer than the cooldown
    shared_kscaled.running()
    throughout(lambda: busy.replicas() == 1, until=after(1.5))
    eventually(lambda: busy.replicas() == 0)


def test_status_survives_a_restart(kscaled, shared_kscaled, busy):
    """A restart writes nothing when there is nothing new to say."""
    settle(busy)

    def statuses():
        return [own_words(busy.status(name)) for name in ("worker", "asleep")]

    before = statuses()
    kscaled.term()
    shared_kscaled.running()
    looks = shared_kscaled.daemon.asked()

    def unchanged():
        for now, status in zip(statuses(), before):
            for field in status.keys() | now.keys():
                assert now.get(field) == status.get(field)

    throughout(unchanged, until=lambda: shared_kscaled.daemon.asked() >= looks + 6)


def test_term_while_the_api_server_is_away(kscaled, disturb, shared_kscaled):
    """The Lease cannot be given back: that is waited for a moment, and no longer."""
    disturb.stop("kube-apiserver")
    try:
        kscaled.expected_end = True
        kscaled.signal(signal.SIGTERM)
        took = timed(lambda: not kscaled.alive(), timeout=10)
        assert took < 5, "the wait for the Lease is bounded"
        assert kscaled.popen.returncode == 0
    finally:
        disturb.start("kube-apiserver")
    eventually(lambda: shared_kscaled.installation.apiservice())


# --- the API server ---

@pytest.mark.parametrize("how", ["TERM", "KILL"])
def test_api_server_restarted_under_it(kscaled, disturb, busy, how):
    disturb.restart("kube-apiserver", "--signal", how)
    disturb.restart("kube-controller-manager", "--signal", "KILL")
    eventually(lambda: busy.replicas() == 2)
    busy.push(10)
    eventually(lambda: busy.replicas() == 4, timeout=60)
    busy.push(1, f"{busy.namespace}-asleep")
    eventually(lambda: busy.replicas("asleep") == 1)
    # New and changed objects are seen.
    busy.deployment("late", replicas=0)
    busy.ready_scaledobject("late", maxReplicaCount=1)
    eventually(lambda: busy.replicas("late") == 1)
    busy.drain()
    for name in ("worker", "late"):
        eventually(lambda name=name: busy.replicas(name) == 0)
    busy.drain(f"{busy.namespace}-asleep")


def test_api_server_away_for_a_while(launch, disturb, stage):
    """Longer than the renew deadline: it steps down, lives on, and comes back by itself."""
    kscaled = launch(options={"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}).wait_serving()
    busy = make_busy(stage)
    disturb.stop("kube-apiserver")
    try:
        eventually(lambda: not kscaled.leading(), timeout=30)
        assert kscaled.alive()
        assert kscaled.status("/healthz").status == 200
    finally:
        disturb.start("kube-apiserver")
        disturb.restart("kube-controller-manager", "--signal", "KILL")
    eventually(kscaled.leading, timeout=60)
    assert busy.replicas() == 2
    busy.push(10)
    eventually(lambda: busy.replicas() == 4, timeout=60)


def test_changes_missed_while_watches_expired(kscaled, cluster, disturb, busy):
    """
    Frozen while objects change, etcd is compacted and the API server begins anew: its watches get 410 Gone, and what happened meanwhile must be found by listing.
    """
    busy.deployment("new", replicas=0)
    for i in range(3):
        busy.deployment(f"gone-{i}", replicas=1)
        busy.ready_scaledobject(f"gone-{i}", minReplicaCount=1, maxReplicaCount=1)
    kscaled.freeze()
    try:
        for i in range(3):
            busy.delete(f"gone-{i}")
        busy.patch({"spec": {"maxReplicaCount": 3}})
        busy.push(50)
        busy.push(1, f"{busy.namespace}-new")
        busy.scaledobject("new", maxReplicaCount=1, triggers=[busy.trigger(listName=f"{busy.namespace}-new")])
        cluster.autoscaling.delete_namespaced_horizontal_pod_autoscaler("keda-hpa-asleep", busy.namespace)
        busy.set_env({"CHANGED": "1"}, "worker")
        cluster.compact()
        cluster.restart("kube-apiserver", "--signal", "KILL")
        cluster.restart("kube-controller-manager", "--signal", "KILL")
    finally:
        kscaled.thaw()
    eventually(lambda: busy.replicas("new") == 1, timeout=60)
    busy.wait_ready("new")
    eventually(lambda: busy.hpa().spec.max_replicas == 3)
    eventually(lambda: busy.replicas() == 3)
    eventually(lambda: busy.hpa("asleep"))
    for i in range(3):
        eventually(lambda i=i: busy.metric(name=f"gone-{i}").status == 404)
    busy.drain(f"{busy.namespace}-new")
    busy.drain()
    eventually(lambda: busy.replicas("new") == 0)


def test_etcd_killed_and_back(kscaled, disturb, busy):
    disturb.restart("etcd", "--signal", "KILL")
    eventually(lambda: busy.replicas() == 2)
    busy.push(10)
    eventually(lambda: busy.replicas() == 4, timeout=60)
    eventually(kscaled.leading)


def test_frozen_for_longer_than_its_lease(launch, installation, stage):
    """The clock jumps, as after a suspend: what it believes to hold may be another's, so it steps down before it acts."""
    daemon = launch(options={"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}).wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    daemon.freeze()
    time.sleep(4)
    # Somebody else took the Lease meanwhile.
    cluster = stage.cluster
    cluster.coordination.patch_namespaced_lease("operator.keda.sh", installation.namespace, {"spec": {"holderIdentity": "somebody-else", "leaseDurationSeconds": 3,
                                                                                                     "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())}})
    stage.push(1)
    daemon.thaw()
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    assert not daemon.leading()
    eventually(lambda: stage.replicas() == 1, timeout=20)   # theirs ran out
    assert daemon.leading()


def test_deleted_objects_are_forgotten(kscaled, busy):
    """No memory of objects that are gone, in answers and in /metrics."""
    assert any(busy.namespace in name for name in kscaled.metrics())
    busy.delete("worker")
    busy.delete("asleep")
    eventually(lambda: not [name for name in kscaled.metrics() if busy.namespace in name])
    eventually(lambda: gone(lambda: busy.hpa()), timeout=60)
