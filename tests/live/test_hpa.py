# SPDX-License-Identifier: Apache-2.0
"""The HorizontalPodAutoscaler that stands for a ScaledObject."""
import json
import time

import pytest

from rig.cluster import gone
from rig.daemon import run
from rig.stage import FAST
from rig.waiting import after, eventually, throughout


def version():
    return run("version").stdout.splitlines()[0].split()[1]


@pytest.mark.journey
def test_equals_what_is_expected(kscaled, cluster, stage):
    stage.deployment(replicas=0)
    behavior = {
        "scaleUp": {"stabilizationWindowSeconds": 7, "selectPolicy": "Min", "policies": [{"type": "Pods", "value": 3, "periodSeconds": 20}]},
        "scaleDown": {"stabilizationWindowSeconds": 42, "tolerance": "0.2", "policies": [{"type": "Percent", "value": 30, "periodSeconds": 60}]},
    }
    metadata = {
        "labels": {"team": "shop", "app.kubernetes.io/part-of": "shop", "hidden": "x"},
        "annotations": {"example.com/note": "kept", "scaledobject.keda.sh/hpa-excluded-labels": "hidden,nothing"},
    }
    stage.ready_scaledobject(metadata=metadata, behavior=behavior, minReplicaCount=2, maxReplicaCount=9,
                             triggers=[stage.trigger(listLength=7), stage.trigger(listName="a:b", listLength=3, _metricType="Value")])
    hpa = stage.hpa_document()
    scaledobject = stage.get()
    assert hpa["metadata"]["labels"] == {
        "app.kubernetes.io/name": "keda-hpa-worker", "app.kubernetes.io/version": version(), "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/managed-by": "kscaled",
        "scaledobject.keda.sh/name": "worker", "kscaled.io/managed": "true", "team": "shop",
    }
    assert hpa["metadata"]["annotations"] == metadata["annotations"]
    assert hpa["metadata"]["ownerReferences"] == [{
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "worker", "uid": scaledobject["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True,
    }]

    def metric(name, target):
        return {"type": "External", "external": {"metric": {"name": name, "selector": {"matchLabels": {"scaledobject.keda.sh/name": "worker"}}}, "target": target}}

    spec = hpa["spec"]
    completed = {  # as the API server completes it
        "scaleUp": behavior["scaleUp"],
        "scaleDown": {**behavior["scaleDown"], "selectPolicy": "Max", "tolerance": "200m"},
    }
    if cluster.minor < 35:
        del completed["scaleDown"]["tolerance"]  # which it does not know, or drops
    assert spec.pop("behavior") == completed
    assert spec == {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"}, "minReplicas": 2, "maxReplicas": 9,
        "metrics": [metric(f"s0-redis-{stage.jobs}", {"type": "AverageValue", "averageValue": "7"}), metric("s1-redis-a-b", {"type": "Value", "value": "3"})],
    }


def test_a_long_name(kscaled, stage):
    """The webhook refuses it when it is new, and KEDA may have stored it: it is scaled. The label is cut."""
    name = "shop-production-eu-west-order-fulfilment-worker-scaledobject"
    stage.deployment(replicas=0)
    stage.scaledobject(name, target={"name": "worker"}, maxReplicaCount=1)
    stage.wait_ready(name)
    labels = stage.hpa_document(f"keda-hpa-{name}")["metadata"]["labels"]
    assert labels["app.kubernetes.io/name"] == f"keda-hpa-{name}"[:63]
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)


def test_defaults(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(behavior=None, minReplicaCount=None, maxReplicaCount=None, triggers=[stage.trigger(listLength=None)])
    spec = stage.hpa_document()["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 100)
    assert "behavior" not in spec
    assert spec["metrics"][0]["external"]["target"] == {"type": "AverageValue", "averageValue": "5"}


def test_no_repeated_writes(launch, stage):
    """Once all is said, polls write nothing: neither while there is work nor at zero. (It looks at this namespace only, so that what other tests left is not counted.)"""
    kscaled = launch(options={"watch_namespace": stage.namespace}).wait_serving()
    stage.deployment("busy", replicas=1)
    stage.deployment("quiet", replicas=0)
    stage.push(3)
    stage.ready_scaledobject("busy", maxReplicaCount=1, metadata={"labels": {"a": "b"}, "annotations": {"c": "d"}})
    stage.ready_scaledobject("quiet", triggers=[stage.trigger(listName="none-of-these")])
    eventually(lambda: stage.says("HPAActive", "True", name="busy"))
    eventually(lambda: stage.says("HPAActive", "True", "ScalingDisabled", name="quiet"))

    def ours(document):
        """What the API server noted of our writes; its own resourceVersion moves with the HPA controller's status, too."""
        return sorted(str(entry) for entry in document["metadata"].get("managedFields", []) if "kscaled" in entry["manager"])

    def versions():
        objects = [stage.get(name) for name in ("busy", "quiet")]
        hpas = [stage.hpa_document(f"keda-hpa-{name}") for name in ("busy", "quiet")]
        return [o["metadata"]["resourceVersion"] for o in objects], [(h["metadata"].get("generation"), ours(h), h["spec"]) for h in hpas]

    before, asked = versions(), stage.redis.evals(stage.client)
    writes = kscaled.writes_sent()
    throughout(lambda: None, until=lambda: stage.redis.evals(stage.client) >= asked + 10)
    assert versions() == before
    assert kscaled.writes_sent() - writes <= 12, "the Lease, and reviews of who asks; nothing else"


def test_comes_back_when_deleted(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    first = stage.hpa()
    stage.cluster.autoscaling.delete_namespaced_horizontal_pod_autoscaler("keda-hpa-worker", stage.namespace)
    second = eventually(lambda: stage.hpa())
    assert second.metadata.uid != first.metadata.uid
    assert second.spec == first.spec


@pytest.mark.parametrize("edit", [
    {"spec": {"maxReplicas": 77}},
    {"spec": {"minReplicas": 5}},
    {"spec": {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 99}}}},
    {"spec": {"scaleTargetRef": {"name": "somebody"}}},
    {"spec": {"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}},
    {"metadata": {"labels": {"scaledobject.keda.sh/name": None}}},
    {"metadata": {"labels": {"kscaled.io/managed": None}}},
    {"metadata": {"annotations": {"note": "other"}}},
    {"metadata": {"ownerReferences": None}},
], ids=lambda edit: "-".join(str(next(iter(v))) for v in edit.values()))
def test_edited_by_hand_is_corrected(kscaled, stage, edit):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(metadata={"annotations": {"note": "ours"}})
    before = stage.hpa_document()
    stage.cluster.autoscaling.patch_namespaced_horizontal_pod_autoscaler("keda-hpa-worker", stage.namespace, edit)

    def corrected():
        now = stage.hpa_document()
        assert now["spec"] == before["spec"]
        for field in ("labels", "annotations", "ownerReferences", "uid"):
            assert now["metadata"].get(field) == before["metadata"].get(field)
        return True

    eventually(corrected)


def test_what_others_add_stays(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    stage.cluster.autoscaling.patch_namespaced_horizontal_pod_autoscaler(
        "keda-hpa-worker", stage.namespace, {"metadata": {"labels": {"added.example/l": "1"}, "annotations": {"added.example/a": "2"}}, "spec": {"maxReplicas": 50}})
    eventually(lambda: stage.hpa().spec.max_replicas == 10)
    stage.patch({"spec": {"maxReplicaCount": 8}, "metadata": {"annotations": {"new": "one"}}})
    hpa = eventually(lambda: (h := stage.hpa()).spec.max_replicas == 8 and (h.metadata.annotations or {}).get("new") == "one" and h)
    assert hpa.metadata.labels["added.example/l"] == "1"
    assert hpa.metadata.annotations["added.example/a"] == "2"


def test_name_of_choice_and_rename(kscaled, stage):
    stage.deployment(replicas=0)
    advanced = {"horizontalPodAutoscalerConfig": {"name": "one"}}
    stage.ready_scaledobject(advanced=advanced)
    assert stage.hpa_names() == ["one"]
    assert stage.status()["hpaName"] == "one"
    stage.patch({"spec": {"advanced": {"horizontalPodAutoscalerConfig": {"name": "two"}}}})
    eventually(lambda: stage.hpa_names() == ["two"])
    eventually(lambda: stage.status()["hpaName"] == "two")
    stage.patch({"spec": {"advanced": {"horizontalPodAutoscalerConfig": {"name": None}}}})
    eventually(lambda: stage.hpa_names() == ["keda-hpa-worker"])
    eventually(lambda: stage.status()["hpaName"] == "keda-hpa-worker")
    stage.wait_ready()


def foreign_hpa(stage, name="keda-hpa-worker", owner=None):
    metadata = {"name": name}
    if owner:
        metadata["ownerReferences"] = [owner]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "somebody"}
    return stage.cluster.autoscaling.create_namespaced_horizontal_pod_autoscaler(stage.namespace, {"metadata": metadata, "spec": {"scaleTargetRef": target, "maxReplicas": 3}})


def test_one_that_belongs_to_somebody_else_is_not_touched(kscaled, stage):
    stage.deployment(replicas=0)
    stage.deployment("owner", replicas=0)
    owner = stage.workload("owner").metadata
    theirs = foreign_hpa(stage, owner={"apiVersion": "apps/v1", "kind": "Deployment", "name": "owner", "uid": owner.uid, "controller": True})
    stage.scaledobject()
    message = stage.wait_refused()
    assert "keda-hpa-worker" in message
    now = stage.hpa()
    # The HPA controller writes its status at any time, so that its version says nothing.
    assert not [write for write in now.metadata.managed_fields if write.manager == "kscaled"]
    same = lambda hpa: (hpa.metadata.uid, hpa.metadata.labels, hpa.metadata.annotations, hpa.metadata.owner_references, hpa.spec)
    assert same(now) == same(theirs)
    # Out of the way: theirs goes, ours comes.
    stage.cluster.autoscaling.delete_namespaced_horizontal_pod_autoscaler("keda-hpa-worker", stage.namespace)
    stage.wait_ready(timeout=60)
    assert stage.hpa().spec.scale_target_ref.name == "worker"


def test_one_that_keda_made_is_taken_over(kscaled, stage):
    """The cluster had KEDA before: its HPA has no label of ours, and the ScaledObject as owner."""
    stage.deployment(replicas=0)
    made = stage.scaledobject(triggers=[{"type": "predictkube", "metadata": {"x": "y"}}])   # not one that kscaled would act upon yet
    stage.wait_refused()
    owner = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "worker", "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    theirs = foreign_hpa(stage, owner=owner)
    stage.patch({"spec": {"triggers": [stage.trigger()]}})
    stage.wait_ready()
    hpa = stage.hpa()
    assert hpa.metadata.uid == theirs.metadata.uid
    assert hpa.metadata.labels["kscaled.io/managed"] == "true"
    assert hpa.spec.scale_target_ref.name == "worker"


def test_a_long_name_of_before_works_on(kscaled, stage, tmp_path):
    """As KEDA has left it: the webhook, which is not asked here, refuses a new one, and `kscaled check` warns of it."""
    name = "shop-production-eu-west-order-fulfilment-worker-scaledobj"
    stage.deployment("worker", replicas=0)
    stage.ready_scaledobject(name, target={"name": "worker"})
    stage.push(3)
    eventually(lambda: stage.replicas() == 1)
    assert stage.hpa(name).spec.max_replicas == 10
    assert stage.metric(name=name).value() == "3"
    manifest = tmp_path / "long.json"
    manifest.write_text(json.dumps(stage.document(name)))
    check = run("check", "--strict", str(manifest))
    assert check.returncode == 1 and "has 66 characters" in check.stdout, check.stdout + check.stderr


def test_labels_that_are_not_wanted_any_more_go(kscaled, cluster, stage):
    """Excluded later, or taken off the ScaledObject; what others have put on the HPA stays."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(metadata={"labels": {"tool.example/env": "x", "team": "a"}, "annotations": {"note": "n"}})
    cluster.kubectl("-n", stage.namespace, "label", "hpa", "keda-hpa-worker", "theirs=1")
    assert stage.hpa().metadata.labels["tool.example/env"] == "x"
    stage.patch({"metadata": {"annotations": {"scaledobject.keda.sh/hpa-excluded-labels": "tool.example/env"}}})
    eventually(lambda: "tool.example/env" not in stage.hpa().metadata.labels)
    stage.patch({"metadata": {"labels": {"team": None}, "annotations": {"note": None}}})
    eventually(lambda: "team" not in stage.hpa().metadata.labels and "note" not in stage.hpa().metadata.annotations)
    assert stage.hpa().metadata.labels["theirs"] == "1"


APPLIED = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: keda-hpa-worker}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""


@pytest.mark.parametrize("how", ["--server-side", "--field-manager=helm"])
def test_one_that_others_apply_is_theirs(kscaled, cluster, stage, how):
    """A chart that had the ScaledObject has an HPA of its name: that does not go with the ScaledObject."""
    stage.deployment(replicas=1)
    stage.ready_scaledobject(minReplicaCount=1)
    time.sleep(1.1)  # who wrote last is told in whole seconds
    cluster.kubectl("-n", stage.namespace, "apply", "-f", "-", *([how, "--force-conflicts"] if how == "--server-side" else [how]), stdin=APPLIED)
    eventually(lambda: not stage.hpa().metadata.owner_references)
    assert "was applied by" in stage.event("HPAConflict").note
    assert "keda-hpa-worker exists already and belongs to nobody" in stage.wait_refused()
    stage.delete()
    throughout(lambda: stage.hpa().spec.max_replicas == 3, until=after(4))


def test_goes_with_its_scaledobject(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    stage.delete()
    eventually(lambda: gone(lambda: stage.hpa()), timeout=60)
    eventually(lambda: stage.events(reason="ScaledObjectDeleted"))
    eventually(lambda: stage.events(reason="KEDAScalersStopped"))


def test_made_anew_under_the_same_name(kscaled, stage):
    """A new object may come before the garbage collector has removed the old one's HPA."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    for _ in range(3):
        stage.delete()
        uid = stage.scaledobject()["metadata"]["uid"]
        stage.wait_ready()
        eventually(lambda: stage.hpa().metadata.owner_references[0].uid == uid)
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)


def test_refused_by_the_api_server(kscaled, stage):
    """A behavior that our CRD lets through, and the HPA's own validation does not: said in Ready, with the server's words."""
    stage.deployment(replicas=0)
    stage.scaledobject(behavior={"scaleUp": {"policies": [{"type": "Pods", "value": 4, "periodSeconds": 99999}]}})
    message = stage.wait_refused()
    assert "periodSeconds" in message
    stage.patch({"spec": {"advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"scaleUp": FAST["scaleUp"]}}}}})
    stage.wait_ready(timeout=60)
