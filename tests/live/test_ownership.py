# SPDX-License-Identifier: Apache-2.0
"""Whose HPA it is, and whose target: an existing HPA is adopted only when the object says so, and two ScaledObjects never fight."""
from rig.cluster import gone
from rig.waiting import after, eventually, throughout

TRANSFER = "scaledobject.keda.sh/transfer-hpa-ownership"
TAKE = {"annotations": {TRANSFER: "true"}}


def named(name):
    return {"horizontalPodAutoscalerConfig": {"name": name}}


def make_hpa(stage, name, labels=None, annotations=None, owner=None, target="worker", max_replicas=3):
    metadata = {"name": name, "labels": labels, "annotations": annotations, "ownerReferences": [owner] if owner else None}
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}, "minReplicas": 2, "maxReplicas": max_replicas,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}],
            "behavior": {"scaleUp": {"stabilizationWindowSeconds": 77}}}
    return stage.cluster.autoscaling.create_namespaced_horizontal_pod_autoscaler(stage.namespace, {"metadata": metadata, "spec": spec})


def delete_hpa(stage, name):
    stage.cluster.autoscaling.delete_namespaced_horizontal_pod_autoscaler(name, stage.namespace)


def test_adopted_when_the_object_says_so(kscaled, stage):
    """The HPA that was there goes on as ours: the same object, its spec replaced whole, what others wrote beside it kept."""
    theirs = make_hpa(stage, "web", labels={"team": "shop", "scaledobject.keda.sh/name": "old"}, annotations={"note": "by hand"})
    stage.deployment(replicas=2)
    stage.push(20)
    stage.ready_scaledobject(metadata=TAKE, advanced=named("web"))
    hpa = stage.hpa_document("web")
    scaledobject = stage.get()
    assert hpa["metadata"]["uid"] == theirs.metadata.uid
    assert hpa["metadata"]["labels"]["team"] == "shop" and hpa["metadata"]["labels"]["scaledobject.keda.sh/name"] == "worker"
    assert hpa["metadata"]["annotations"] == {"note": "by hand", TRANSFER: "true"}
    assert [(o["uid"], o["controller"]) for o in hpa["metadata"]["ownerReferences"]] == [(scaledobject["metadata"]["uid"], True)]
    assert (hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"], len(hpa["spec"]["metrics"])) == (1, 10, 1)
    assert hpa["spec"]["behavior"]["scaleUp"]["stabilizationWindowSeconds"] == 0
    assert stage.hpa_names() == ["web"] and stage.status()["hpaName"] == "web"
    eventually(lambda: stage.replicas() == 4)
    # Ours from then on, whatever the annotation says later.
    stage.patch({"metadata": {"annotations": {TRANSFER: None}}, "spec": {"maxReplicaCount": 3}})
    eventually(lambda: stage.hpa_document("web")["spec"]["maxReplicas"] == 3)
    eventually(lambda: TRANSFER not in stage.hpa_document("web")["metadata"]["annotations"])
    stage.wait_ready()
    stage.delete()
    eventually(lambda: gone(lambda: stage.hpa_document("web")), timeout=60)


def test_not_adopted_without_a_word(kscaled, stage):
    """Neither the name alone nor the annotation alone is enough; the object is refused with both ways out, and the HPA stays untouched."""
    theirs = [make_hpa(stage, name, target=target) for name, target in (("one", "one"), ("keda-hpa-two", "two"), ("three", "three"))]
    for name in ("one", "two", "three"):
        stage.deployment(name, replicas=2)
    stage.scaledobject("one", advanced=named("one"))
    stage.scaledobject("two", metadata=TAKE)
    stage.scaledobject("three", metadata={"annotations": {TRANSFER: "false"}}, advanced=named("three"))
    for name, hpa in (("one", "one"), ("two", "keda-hpa-two"), ("three", "three")):
        message = stage.wait_refused(name)
        assert f"the HPA {hpa} exists already and belongs to nobody" in message and TRANSFER in message and "horizontalPodAutoscalerConfig.name" in message
    for made in theirs:
        now = stage.hpa_document(made.metadata.name)
        assert now["spec"]["maxReplicas"] == 3 and not now["metadata"].get("ownerReferences") and not now["metadata"].get("labels")
    # The word is given; the name is chosen; the HPA goes.
    stage.patch({"metadata": TAKE}, "one")
    stage.patch({"spec": {"advanced": named("own")}}, "two")
    delete_hpa(stage, "three")
    for name, hpa in (("one", "one"), ("two", "own"), ("three", "three")):
        stage.wait_ready(name, timeout=45)
        assert stage.status(name)["hpaName"] == hpa
    assert stage.hpa_document("one")["metadata"]["uid"] == theirs[0].metadata.uid
    assert stage.hpa_document("keda-hpa-two")["spec"]["maxReplicas"] == 3


def test_controlled_by_another_kind(kscaled, stage):
    """Also from a controller of its own it is taken only by both words; its owner is no owner any more."""
    stage.deployment(replicas=2)
    stage.deployment("owner", replicas=0)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "owner", "uid": stage.workload("owner").metadata.uid, "controller": True}
    theirs = make_hpa(stage, "web", owner=owner)
    stage.scaledobject(advanced=named("web"))
    assert "belongs to Deployment owner" in stage.wait_refused()
    stage.patch({"metadata": TAKE})
    stage.wait_ready(timeout=45)
    hpa = stage.hpa_document("web")
    assert hpa["metadata"]["uid"] == theirs.metadata.uid
    assert [o["kind"] for o in hpa["metadata"]["ownerReferences"]] == ["ScaledObject"]


def test_kedas_own(kscaled, stage):
    """KEDA's HPA has our ScaledObject as its controller: it is ours, with what it has and lacks."""
    stage.deployment(replicas=0)
    made = stage.scaledobject(metadata=stage.annotated(paused="perhaps"))      # nobody acts on it yet
    stage.wait_refused()
    owner = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "worker", "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    labels = {"app.kubernetes.io/managed-by": "keda-operator", "app.kubernetes.io/version": "2.17.0", "app.kubernetes.io/name": "keda-hpa-worker", "scaledobject.keda.sh/name": "worker"}
    theirs = make_hpa(stage, "keda-hpa-worker", labels=labels, owner=owner)
    stage.annotate(paused=None)
    stage.wait_ready()
    hpa = stage.hpa_document()
    assert hpa["metadata"]["uid"] == theirs.metadata.uid
    assert hpa["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "kscaled" and hpa["metadata"]["labels"]["kscaled.io/managed"] == "true"
    assert hpa["spec"]["metrics"][0]["type"] == "External"


def test_kedas_own_of_a_paused_object(kscaled, stage):
    """An object that KEDA left with an HPA is paused before kscaled has ever seen the two together: the HPA goes all the same."""
    stage.deployment(replicas=2)
    made = stage.scaledobject(metadata=stage.annotated(paused="perhaps"))
    stage.wait_refused()
    owner = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "worker", "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    make_hpa(stage, "keda-hpa-worker", owner=owner)
    stage.annotate(paused="true")
    eventually(lambda: stage.says("Paused", "True", "ScaledObjectPaused"))
    assert stage.hpa_names() == []


def test_paused_object_leaves_others_alone(kscaled, stage):
    """Pausing removes the HPA of this object, not one that only has the name."""
    theirs = make_hpa(stage, "keda-hpa-worker", target="somebody")
    stage.deployment(replicas=2)
    stage.scaledobject(metadata=stage.annotated(paused="true"))
    eventually(lambda: stage.says("Paused", "True", "ScaledObjectPaused"))
    stage.says("Ready", "True")
    assert stage.hpa().metadata.uid == theirs.metadata.uid and stage.hpa().metadata.deletion_timestamp is None


def test_two_on_one_target(kscaled, stage):
    """The younger is refused and has no HPA; when the first goes it is taken up at once."""
    stage.deployment(replicas=0)
    target = {"name": "worker"}
    stage.ready_scaledobject("first", target=target)
    eventually(lambda: stage.hpa_names() == ["keda-hpa-first"])
    throughout(lambda: None, until=after(1.1))         # creation times are whole seconds
    stage.scaledobject("second", target=target, maxReplicaCount=3)
    message = stage.wait_refused("second")
    assert "the workload 'worker' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'first'" in message
    assert stage.hpa_names() == ["keda-hpa-first"]
    stage.push(50)
    eventually(lambda: stage.replicas() == 10)         # by the first
    stage.says("Ready", "True", name="first")
    stage.delete("first")
    stage.wait_ready("second")
    eventually(lambda: stage.replicas() == 3)
    eventually(lambda: stage.hpa_names() == ["keda-hpa-second"], timeout=60)


def test_younger_turns_to_a_target_that_is_taken(kscaled, stage):
    """Both have run; then one wants the other's target: the HPA that would fight goes, and comes back with its own target."""
    stage.deployment("a", replicas=1)
    stage.deployment("b", replicas=1)
    stage.ready_scaledobject("a", minReplicaCount=1)
    throughout(lambda: None, until=after(1.1))
    stage.ready_scaledobject("b", minReplicaCount=1)
    assert stage.hpa_names() == ["keda-hpa-a", "keda-hpa-b"]
    stage.patch({"spec": {"scaleTargetRef": {"name": "a"}}}, "b")
    assert "already managed by the ScaledObject 'a'" in stage.wait_refused("b")
    eventually(lambda: stage.hpa_names() == ["keda-hpa-a"])
    stage.says("Ready", "True", name="a")
    # The elder leaves: free.
    stage.patch({"spec": {"scaleTargetRef": {"name": "b"}}}, "a")
    stage.wait_ready("b")
    eventually(lambda: stage.hpa_document("keda-hpa-b")["spec"]["scaleTargetRef"]["name"] == "a")
    eventually(lambda: stage.hpa_document("keda-hpa-a")["spec"]["scaleTargetRef"]["name"] == "b")


def test_two_on_one_hpa_name(kscaled, stage):
    stage.deployment("a", replicas=1)
    stage.deployment("b", replicas=1)
    stage.ready_scaledobject("a", advanced=named("shared"), minReplicaCount=1)
    throughout(lambda: None, until=after(1.1))
    stage.scaledobject("b", advanced=named("shared"), minReplicaCount=1)
    assert "the HPA 'shared' is already managed by the ScaledObject 'a'" in stage.wait_refused("b")
    uid = stage.hpa_document("shared")["metadata"]["uid"]
    assert stage.hpa_document("shared")["spec"]["scaleTargetRef"]["name"] == "a"
    stage.patch({"spec": {"advanced": named("other")}}, "a")
    stage.wait_ready("b")
    eventually(lambda: stage.hpa_names() == ["other", "shared"])
    shared = stage.hpa_document("shared")
    assert shared["spec"]["scaleTargetRef"]["name"] == "b" and shared["metadata"]["uid"] != uid, "b's own, not a's turned round"
    assert stage.status("a")["hpaName"] == "other" and stage.status("b")["hpaName"] == "shared"


def test_two_at_once_after_a_restart(kscaled, shared_kscaled, stage):
    """Whoever was there first is who was there first, also for a kscaled that sees both anew."""
    stage.deployment(replicas=1)
    target = {"name": "worker"}
    stage.ready_scaledobject("zz", target=target, minReplicaCount=1)
    throughout(lambda: None, until=after(1.1))
    stage.scaledobject("aa", target=target, minReplicaCount=1)
    stage.wait_refused("aa")
    uid = stage.hpa_document("keda-hpa-zz")["metadata"]["uid"]
    kscaled.kill()
    stage.patch({"metadata": {"labels": {"touched": "1"}}}, "aa")
    kscaled = shared_kscaled.running()
    stage.push(30)
    eventually(lambda: stage.replicas() == 6)
    assert stage.hpa_names() == ["keda-hpa-zz"] and stage.hpa_document("keda-hpa-zz")["metadata"]["uid"] == uid
    assert "already managed by the ScaledObject 'zz'" in stage.wait_refused("aa")


def test_excluded_labels(kscaled, stage):
    """By exact keys; a change of the list is followed, and ours stay whatever it says."""
    stage.deployment(replicas=0)
    labels = {"a": "1", "b": "2", "team/c": "3", "kscaled.io/managed": "no"}
    stage.ready_scaledobject(metadata={"labels": labels, "annotations": {"scaledobject.keda.sh/hpa-excluded-labels": "a,team/c,scaledobject.keda.sh/name"}})
    now = stage.hpa_document()["metadata"]["labels"]
    assert "a" not in now and "team/c" not in now and now["b"] == "2"
    assert now["scaledobject.keda.sh/name"] == "worker" and now["kscaled.io/managed"] == "true"
    stage.patch({"metadata": {"annotations": {"scaledobject.keda.sh/hpa-excluded-labels": "a, b"}}})       # not trimmed, as KEDA's
    now = eventually(lambda: "team/c" in (now := stage.hpa_document()["metadata"]["labels"]) and now)
    assert "a" not in now and now["b"] == "2"


def test_labels_of_others_stay_over_a_rename_of_theirs(kscaled, stage):
    """Foreign labels and annotations outlive each of our writes; a label of the ScaledObject that changes is changed on the HPA."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(metadata={"labels": {"release": "1"}, "annotations": {"ours": "1"}})
    stage.cluster.autoscaling.patch_namespaced_horizontal_pod_autoscaler(
        "keda-hpa-worker", stage.namespace, {"metadata": {"labels": {"argo": "x"}, "annotations": {"argo/tracking": "y"}, "finalizers": ["example.com/kept"]}})
    for i in range(2, 5):
        stage.patch({"metadata": {"labels": {"release": str(i)}, "annotations": {"ours": str(i)}}, "spec": {"maxReplicaCount": i}})
        now = eventually(lambda i=i: (now := stage.hpa_document())["spec"]["maxReplicas"] == i and now)["metadata"]
        assert (now["labels"]["release"], now["annotations"]["ours"], now["labels"]["argo"], now["annotations"]["argo/tracking"]) == (str(i), str(i), "x", "y")
        assert now["finalizers"] == ["example.com/kept"]
    stage.cluster.autoscaling.patch_namespaced_horizontal_pod_autoscaler("keda-hpa-worker", stage.namespace, {"metadata": {"finalizers": None}})
