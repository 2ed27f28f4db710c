# SPDX-License-Identifier: Apache-2.0
"""Deletion: a finalizer only while there is something to restore, KEDA's own released, nothing blocked by a kscaled that is gone."""
import json
import time

import pytest

from rig.daemon import APISERVICE, INSIGHT
from rig.cluster import gone
from rig.waiting import after, eventually, throughout

OURS, KEDAS = "kscaled.io/restore", "finalizer.keda.sh"
RESTORE = {"restoreToOriginalReplicaCount": True}


def finalizers(stage, name="worker"):
    return stage.get(name)["metadata"].get("finalizers", [])


def test_no_finalizer_without_need(kscaled, stage):
    stage.deployment(replicas=2)
    stage.push(12)
    stage.ready_scaledobject()
    eventually(lambda: stage.replicas() == 3)
    assert finalizers(stage) == []
    stage.delete()
    assert stage.gone(), "at once: nobody is waited for"
    eventually(lambda: stage.events(reason="ScaledObjectDeleted"))
    eventually(lambda: gone(lambda: stage.hpa()), timeout=60)
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    eventually(lambda: stage.metric().status == 404)


@pytest.mark.journey
def test_restored_on_deletion(kscaled, stage):
    stage.deployment(replicas=2)
    stage.push(25)
    stage.ready_scaledobject(advanced=RESTORE)
    assert finalizers(stage) == [OURS]
    assert stage.status()["originalReplicaCount"] == 2
    eventually(lambda: stage.replicas() == 5)
    stage.delete()
    eventually(stage.gone)
    eventually(lambda: stage.replicas() == 2)
    eventually(lambda: gone(lambda: stage.hpa()), timeout=60)
    throughout(lambda: stage.replicas() == 2, until=after(2))     # and no HPA undoes it


def test_restored_from_zero(kscaled, stage):
    stage.deployment(replicas=3)
    stage.ready_scaledobject(advanced=RESTORE)
    eventually(lambda: stage.replicas() == 0)
    stage.delete()
    eventually(stage.gone)
    eventually(lambda: stage.replicas() == 3)


def test_restore_with_the_target_gone(kscaled, stage):
    stage.deployment(replicas=1)
    stage.ready_scaledobject(advanced=RESTORE)
    stage.cluster.apps.delete_namespaced_deployment("worker", stage.namespace)
    stage.delete()
    eventually(stage.gone)


def test_finalizer_follows_the_wish(kscaled, stage):
    stage.deployment(replicas=1)
    stage.ready_scaledobject(metadata={"finalizers": ["example.com/other"]})
    assert finalizers(stage) == ["example.com/other"]
    stage.patch({"spec": {"advanced": RESTORE}})
    eventually(lambda: sorted(finalizers(stage)) == ["example.com/other", OURS])
    stage.patch({"spec": {"advanced": {"restoreToOriginalReplicaCount": False}}})
    eventually(lambda: finalizers(stage) == ["example.com/other"])
    # Others' finalizers are others' affair, also when it is deleted.
    stage.delete()
    throughout(lambda: finalizers(stage) == ["example.com/other"], until=after(1))
    stage.patch({"metadata": {"finalizers": []}})
    eventually(stage.gone)


def test_kedas_finalizer_is_released(kscaled, stage):
    stage.deployment(replicas=0)
    stage.scaledobject(metadata={"finalizers": [KEDAS, "example.com/other"]})
    eventually(lambda: finalizers(stage) == ["example.com/other"])
    stage.wait_ready()
    stage.patch({"metadata": {"finalizers": []}})


def test_kedas_finalizer_on_a_deleted_object(kscaled, shared_kscaled, stage):
    """KEDA was removed, and its objects hang in their deletion: kscaled lets them go."""
    kscaled.term()
    stage.deployment(replicas=1)
    stage.scaledobject(metadata={"finalizers": [KEDAS]})
    stage.delete()
    assert finalizers(stage) == [KEDAS]
    shared_kscaled.running()
    eventually(stage.gone)
    assert stage.replicas() == 1


def test_kedas_finalizer_on_an_invalid_object(kscaled, stage):
    stage.scaledobject(metadata={"finalizers": [KEDAS]}, triggers=[{"type": "predictkube", "metadata": {}}])
    stage.wait_refused()
    stage.delete()
    eventually(stage.gone)


def test_deleted_while_away_with_restore(kscaled, shared_kscaled, stage):
    stage.deployment(replicas=2)
    stage.ready_scaledobject(advanced=RESTORE)
    eventually(lambda: stage.replicas() == 0)
    kscaled.kill()
    stage.delete()
    throughout(lambda: not stage.gone(), until=after(1))
    shared_kscaled.running()
    eventually(stage.gone)
    eventually(lambda: stage.replicas() == 2)


def test_nothing_is_blocked_while_it_is_stopped(kscaled, restored, cluster, stage):
    """Namespaces and objects without restore go as if it had never been there. (An APIService without a server is what blocks a namespace: man page, CAVEATS.)"""
    for name in ("worker", "other"):
        stage.deployment(name, replicas=0)
        stage.ready_scaledobject(name)
    kscaled.term()
    stage.delete("other")
    assert stage.gone("other")
    for name in (APISERVICE, INSIGHT):
        cluster.registration.delete_api_service(name)
    groups = {name.partition(".")[2] for name in (APISERVICE, INSIGHT)}
    eventually(lambda: not groups & {group["name"] for group in json.loads(cluster.kubectl("get", "--raw", "/apis"))["groups"]})
    cluster.core.delete_namespace(stage.namespace)
    eventually(lambda: gone(lambda: cluster.core.read_namespace(stage.namespace)), timeout=60)


def test_namespace_deleted_while_it_runs(kscaled, cluster, stage):
    """Objects and targets vanish in any order, and nothing new may be made: our finalizer does not hold the namespace up."""
    stage.deployment(replicas=1)
    stage.push(1)
    stage.ready_scaledobject(advanced=RESTORE)
    cluster.core.delete_namespace(stage.namespace)
    eventually(stage.gone)
    eventually(lambda: not [name for name in kscaled.metrics() if f'"{stage.namespace}"' in name])


def test_force_removed_finalizer(kscaled, stage):
    """Taken off by hand while the object lives: put back, as the wish stands."""
    stage.deployment(replicas=1)
    stage.ready_scaledobject(advanced=RESTORE)
    stage.patch({"metadata": {"finalizers": None}})
    eventually(lambda: finalizers(stage) == [OURS])


def test_applied_by_kubectl(kscaled, stage):
    """Apply, change, apply, delete: as users do it; the last-applied annotation is not taken to the HPA."""
    stage.deployment(replicas=0)
    document = stage.document()
    stage.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(document))
    stage.wait_ready()
    assert "kubectl.kubernetes.io/last-applied-configuration" not in (stage.hpa().metadata.annotations or {})
    document["spec"]["maxReplicaCount"] = 4
    stage.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(document))
    eventually(lambda: stage.hpa().spec.max_replicas == 4)
    assert "unchanged" in stage.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(document))
    start = time.monotonic()
    stage.cluster.kubectl("delete", "-f", "-", stdin=json.dumps(document))
    assert time.monotonic() - start < 5
