# SPDX-License-Identifier: Apache-2.0
"""Two replicas, and kscaled beside KEDA: who acts, and who must not."""
import contextlib

import pytest
from kubernetes.client import ApiException

from rig.keda_lease import Keda, micro_time
from rig.process import free_port
from rig.waiting import after, eventually, throughout, timed

SHORT = {"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}


@pytest.fixture
def asleep(stage):
    """A workload for which each scaling is one write: the HPA may not go above 1."""
    stage.deployment(replicas=0)
    stage.scaledobject(maxReplicaCount=1)
    return stage


def holder(installation):
    return installation.cluster.coordination.read_namespaced_lease("operator.keda.sh", installation.namespace).spec.holder_identity


# --- two replicas ---

def test_one_acts_both_answer(launch, installation, asleep):
    first = launch("first", options=SHORT).wait_serving()
    second = launch("second", port=free_port(), options=SHORT).wait_ready()
    asleep.wait_ready()
    assert first.leading() and not second.leading()
    assert holder(installation).split("_")[0]
    reader = asleep.account("reader", True)
    asleep.push(2)
    for daemon in (first, second):
        eventually(lambda daemon=daemon: daemon.ask(asleep.path(), token=reader).value() == "2")
    assert first.serving_certificate() == second.serving_certificate(), "one Secret for all replicas"
    eventually(lambda: asleep.replicas() == 1)
    asleep.drain()
    eventually(lambda: asleep.replicas() == 0)
    for _ in range(2):
        asleep.push(1)
        eventually(lambda: asleep.replicas() == 1)
        asleep.drain()
        eventually(lambda: asleep.replicas() == 0)
    assert asleep.generation() == 7, "6 scalings, 6 writes: nobody acted twice"
    assert second.metrics().get('kscaled_scale_writes_total{result="ok"}', 0) == 0


@pytest.mark.alone  # how long the change takes
def test_fail_over(launch, installation, asleep):
    first = launch("first", options=SHORT).wait_serving()
    second = launch("second", port=free_port(), options=SHORT).wait_ready()
    asleep.push(1)
    eventually(lambda: asleep.replicas() == 1)
    was = holder(installation)
    first.kill()
    took = timed(second.leading, timeout=15)
    assert 1 < took < 7, "after the Lease ran out (3 s), not before and not much later"
    assert holder(installation) != was
    asleep.drain()
    eventually(lambda: asleep.replicas() == 0)
    assert asleep.generation() == 3, "one write up, one down"
    assert len(asleep.events(reason="KEDAScaleTargetActivated")) == len(asleep.events(reason="KEDAScaleTargetDeactivated")) == 1


@pytest.mark.alone  # how long the change takes
def test_handed_over_on_term(launch, asleep):
    first = launch("first", options=SHORT).wait_serving()
    second = launch("second", port=free_port(), options=SHORT).wait_ready()
    first.term()
    assert timed(second.leading) < 2.5, "a released Lease need not run out"
    asleep.push(1)
    eventually(lambda: asleep.replicas() == 1)


def test_frozen_leader_does_not_act_on_its_return(launch, asleep):
    """kill -STOP, and -CONT when another leads: the old one must not write what it had in mind."""
    first = launch("first", options=SHORT).wait_serving()
    second = launch("second", port=free_port(), options=SHORT).wait_ready()
    asleep.wait_ready()
    first.freeze()
    eventually(second.leading, timeout=15)
    asleep.push(1)
    eventually(lambda: asleep.replicas() == 1)
    first.thaw()
    eventually(lambda: not first.leading())
    asleep.drain()
    eventually(lambda: asleep.replicas() == 0)
    throughout(lambda: not (first.leading() and second.leading()), until=after(2))
    assert asleep.generation() == 3


def test_lease_taken_by_somebody_else(launch, installation, asleep):
    daemon = launch(options=SHORT).wait_serving()
    installation.cluster.coordination.patch_namespaced_lease("operator.keda.sh", installation.namespace,
                                                             {"spec": {"holderIdentity": "intruder", "leaseDurationSeconds": 5, "renewTime": micro_time()}})
    eventually(lambda: not daemon.leading())
    assert daemon.alive()
    asleep.push(1)
    throughout(lambda: asleep.replicas() == 0, until=after(2))
    eventually(daemon.leading, timeout=20)
    eventually(lambda: asleep.replicas() == 1)


def test_lease_deleted(launch, installation, asleep):
    daemon = launch(options=SHORT).wait_serving()
    installation.delete_lease()
    eventually(lambda: holder(installation))
    asleep.push(1)
    eventually(lambda: asleep.replicas() == 1)
    assert daemon.leading()


def test_without_leader_election(launch, installation, asleep):
    installation.delete_lease()
    daemon = launch(options={"leader_elect": "false"}).wait_serving()
    asleep.push(1)
    eventually(lambda: asleep.replicas() == 1)
    assert daemon.leading()
    with pytest.raises(ApiException):
        holder(installation)


def test_identity_of_choice(launch, installation):
    launch(options={"identity": "edge-box-1", **SHORT}).wait_serving()
    assert holder(installation) == "edge-box-1"


def test_same_identity_twice(launch, installation, asleep):
    """Two processes under one name by mistake: the later resumes what it takes for its own Lease, the earlier notices at its next renewal, and from then on only one acts."""
    first = launch("first", options={"identity": "twin", **SHORT}).wait_serving()
    second = launch("second", port=free_port(), options={"identity": "twin", **SHORT}).wait_ready()
    asleep.wait_ready()
    eventually(lambda: any("another process renews the Lease under our identity twin" in process.log() for process in (first, second)))
    eventually(lambda: first.leading() != second.leading())
    throughout(lambda: not (first.leading() and second.leading()), until=after(4))


# --- KEDA ---

@pytest.fixture
def keda(cluster):
    with contextlib.suppress(ApiException):
        cluster.create_namespace("keda")
    keda = Keda(cluster)
    yield keda
    keda.stop()
    with contextlib.suppress(ApiException):
        cluster.coordination.delete_namespaced_lease("operator.keda.sh", "keda")


def untouched(stage):
    return "status" not in stage.get() and stage.hpa_names() == [] and stage.replicas() == 0


def test_does_not_act_while_keda_does(launch, keda, asleep):
    keda.take()
    keda.renew()
    asleep.push(1)
    daemon = launch(options=SHORT).wait_ready()
    throughout(lambda: untouched(asleep) and not daemon.leading(), until=after(4))
    assert "KEDA" in daemon.log()
    keda.stop()                                        # KEDA is scaled down, say; it keeps its Lease
    took = timed(daemon.leading, timeout=20)
    assert took > 1
    asleep.wait_ready()
    eventually(lambda: asleep.replicas() == 1)


def test_stale_lease_of_keda(launch, keda, asleep):
    """Left behind by a KEDA that was removed long ago, as its time says; whose clock that was is not known, so it is watched for as long as it was good for."""
    keda.take(duration=5)
    keda.leases.patch_namespaced_lease("operator.keda.sh", "keda", {"spec": {"renewTime": micro_time(3600)}})
    daemon = launch(options=SHORT).wait_ready()
    assert timed(daemon.leading) > 2
    daemon.wait_serving()
    asleep.wait_ready()


def test_released_lease_of_keda(launch, keda, asleep):
    keda.take(duration=15)
    keda.leases.patch_namespaced_lease("operator.keda.sh", "keda", {"spec": {"holderIdentity": ""}})
    launch(options=SHORT).wait_serving(timeout=10)
    asleep.wait_ready()


def test_take_over(launch, keda, asleep):
    keda.take()
    keda.renew()
    daemon = launch(options={"take_over": "true", **SHORT}).wait_serving()
    asleep.wait_ready()
    throughout(daemon.leading, until=after(2))


@pytest.mark.refused("get leases.coordination.k8s.io")
def test_keda_somewhere_else(launch, cluster, keda, asleep):
    namespace = asleep.namespace
    keda.namespace = namespace
    keda.take()
    keda.renew()
    daemon = launch(options={"keda_namespace": namespace, **SHORT}).wait_ready()
    throughout(lambda: untouched(asleep) and not daemon.leading(), until=after(3))


def test_keda_is_installed_later(launch, keda, asleep):
    daemon = launch(options=SHORT).wait_serving()
    asleep.wait_ready()
    keda.take()
    keda.renew()
    eventually(lambda: not daemon.leading(), timeout=25)
    asleep.push(1)
    throughout(lambda: asleep.replicas() == 0, until=after(2))
    assert "KEDA" in daemon.log()
