# SPDX-License-Identifier: Apache-2.0
"""Targets that are no Deployments: CRDs with a scale subresource, the core group, kinds that come and go, and kinds that kscaled may not watch."""
import pytest
from kubernetes.client import ApiException

from rig.daemon import Daemon
from rig.stage import MERGE
from rig.waiting import after, eventually, throughout

pytestmark = pytest.mark.refused("list *.kscaled.test", "watch *.kscaled.test", "list replicationcontrollers")

RESOURCES = {"Widget": "widgets", "Gadget": "gadgets", "Report": "reports", "Globe": "globes", "Rollout": "rollouts", "Shard": "shards"}
FIELDS = {"Widget": "replicas", "Gadget": "size", "Shard": "size"}  # of spec: where each keeps its replicas; others as Widget


ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}


def open_object(**properties):
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": properties}


class Kinds:
    """An API group, of the test's own unless another is named; objects in the stage's namespace."""

    def __init__(self, stage, group=None):
        self.stage = stage
        self.cluster = stage.cluster
        self.group = group or f"{stage.namespace}.kscaled.test"
        self.api_version = f"{self.group}/v1"

    def define(self, kind, scale=True, scope="Namespaced"):
        resource = RESOURCES[kind]
        version = {
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": open_object(spec=open_object(replicas=ANYTHING if kind == "Shard" else {"type": "integer"}, size={"type": "integer"}), status=open_object())},
            "subresources": {"status": {}},
        }
        if scale:
            version["subresources"]["scale"] = {"specReplicasPath": f".spec.{FIELDS.get(kind, 'replicas')}", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
        self.cluster.extensions.create_custom_resource_definition({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{resource}.{self.group}"},
            "spec": {"group": self.group, "scope": scope, "names": {"kind": kind, "plural": resource, "singular": kind.lower()}, "versions": [version]},
        })
        eventually(lambda: self.cluster.request(f"/apis/{self.api_version}/namespaces/{self.stage.namespace}/{resource}" if scope == "Namespaced" else f"/apis/{self.api_version}/{resource}").status == 200)

    def undefine(self, kind):
        self.cluster.extensions.delete_custom_resource_definition(f"{RESOURCES[kind]}.{self.group}")

    def allow(self, *kinds):
        """What the man page tells users to do who want a kind watched."""
        name = f"kscaled-{self.group}"
        self.cluster.rbac.create_cluster_role({"metadata": {"name": name}, "rules": [
            {"apiGroups": [self.group], "resources": [RESOURCES[kind] for kind in kinds], "verbs": ["get", "list", "watch"]}]})
        self.cluster.rbac.create_cluster_role_binding({
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "kscaled", "namespace": "kscaled"}]})

    def create(self, kind, replicas, name="worker", env=None, spec=None):
        template = {"spec": {"containers": [{"name": "main", "env": [{"name": key, "value": value} for key, value in (env or {}).items()]}]}}
        self.cluster.custom.create_namespaced_custom_object(self.group, "v1", self.stage.namespace, RESOURCES[kind], {
            "apiVersion": self.api_version, "kind": kind, "metadata": {"name": name}, "spec": {FIELDS.get(kind, "replicas"): replicas, "template": template, **(spec or {})}})
        # What a controller would say; the HPA controller needs the selector.
        self.patch(kind, {"status": {"replicas": replicas, "selector": f"app={name}"}}, name, "/status")

    def patch(self, kind, body, name="worker", subresource=""):
        path = f"/apis/{self.api_version}/namespaces/{self.stage.namespace}/{RESOURCES[kind]}/{name}{subresource}"
        answer = self.cluster.request(path, "PATCH", body=body, headers={"Content-Type": MERGE})
        assert answer.status == 200, answer

    def set(self, kind, replicas, name="worker"):
        self.patch(kind, {"spec": {FIELDS.get(kind, "replicas"): replicas}}, name)

    def replicas(self, kind, name="worker"):
        return self.cluster.custom.get_namespaced_custom_object(self.group, "v1", self.stage.namespace, RESOURCES[kind], name)["spec"][FIELDS.get(kind, "replicas")]

    def target(self, kind, name="worker"):
        return {"apiVersion": self.api_version, "kind": kind, "name": name}

    def remove(self):
        for kind in RESOURCES:
            try:
                self.undefine(kind)
            except ApiException as error:
                assert error.status == 404
        for delete in (self.cluster.rbac.delete_cluster_role, self.cluster.rbac.delete_cluster_role_binding):
            try:
                delete(f"kscaled-{self.group}")
            except ApiException as error:
                assert error.status == 404


@pytest.fixture
def kinds(stage):
    kinds = Kinds(stage)
    yield kinds
    kinds.remove()


@pytest.fixture(scope="module")
def known(module_stage):
    """The groups "watched" and "unwatched": kinds with and without a role that lets kscaled watch them. The HPA controller, which takes up new kinds every 30 s only, gets to know them while tests run that need it less."""
    groups = {name: Kinds(module_stage, f"{name}.{module_stage.namespace}.kscaled.test") for name in ("watched", "unwatched")}
    try:
        for kinds in groups.values():
            for kind in ("Widget", "Gadget"):
                kinds.define(kind)
        groups["watched"].allow("Widget", "Gadget")
        yield {name: kinds.group for name, kinds in groups.items()}
    finally:
        for kinds in groups.values():
            kinds.remove()


@pytest.fixture
def watched(known, stage):
    return Kinds(stage, known["watched"])


@pytest.fixture
def unwatched(known, stage):
    return Kinds(stage, known["unwatched"])


@pytest.fixture(scope="module")
def own_kscaled(shared_kscaled, installation, tmp_path_factory):
    """A kscaled of this file's own: rights that come and go leave refusals in its log, and the shared one, which comes after it, must never be refused anything."""
    shared_kscaled.stop()
    kscaled = Daemon(installation, tmp_path_factory.mktemp("custom-kinds"))
    try:
        yield kscaled.wait_serving()
        kscaled.term()
    finally:
        kscaled.kill()


@pytest.fixture
def denied(own_kscaled, stage):
    yield own_kscaled
    own_kscaled.check_alive()
    stage.cluster.kubectl("-n", stage.namespace, "delete", "scaledobjects", "--all", "--wait")


@pytest.mark.usefixtures("known")
def test_the_environment_needs_the_role(denied, stage, kinds):
    kinds.define("Widget")
    kinds.create("Widget", 0, env={"QUEUE": stage.redis.address})
    stage.push(1)
    stage.scaledobject(target=kinds.target("Widget"), maxReplicaCount=1, triggers=[stage.trigger(address=None, addressFromEnv="QUEUE")])
    message = stage.wait_refused()
    assert f"kscaled needs a role with the verbs get, list and watch on widgets.{kinds.group}" in message
    kinds.allow("Widget")
    stage.wait_ready(timeout=120)  # the watch is tried again after 10 s, 20 s, 40 s, ...
    eventually(lambda: kinds.replicas("Widget") == 1)


def test_spec_replicas_is_another_thing(denied, stage, kinds):
    """A kind that keeps its replicas elsewhere may mean anything by .spec.replicas, and is scaled by /scale all the same."""
    kinds.define("Shard")
    kinds.allow("Shard")
    meanings = {"text": "many", "object": {"min": 1, "max": 9}, "huge": 2**40, "negative": -1, "number": 7}
    for name, meaning in meanings.items():
        kinds.create("Shard", 0, name, spec={"replicas": meaning})
    stage.push(1)
    for name in meanings:
        stage.scaledobject(name, target=kinds.target("Shard", name), maxReplicaCount=1, cooldownPeriod=0)
    for name in meanings:
        stage.wait_ready(name, timeout=120)
        eventually(lambda name=name: kinds.replicas("Shard", name) == 1)
        assert stage.hpa(name).spec.scale_target_ref.kind == "Shard"
    stage.drain()
    for name, meaning in meanings.items():
        eventually(lambda name=name: kinds.replicas("Shard", name) == 0)
        assert stage.cluster.custom.get_namespaced_custom_object(kinds.group, "v1", stage.namespace, "shards", name)["spec"]["replicas"] == meaning


def test_what_cannot_be_scaled(denied, stage, kinds):
    kinds.define("Report", scale=False)
    kinds.define("Globe", scope="Cluster")
    stage.scaledobject("a", target=kinds.target("Report"))
    assert f"kind Report of {kinds.api_version} has no scale subresource" in stage.wait_refused("a")
    stage.scaledobject("b", target=kinds.target("Globe"))
    assert f"kind Globe of {kinds.api_version} is not namespaced" in stage.wait_refused("b")
    stage.scaledobject("c", target=kinds.target("Widget"))
    assert stage.wait_refused("c") == f"ScaledObject doesn't have correct scaleTargetRef specification: no kind Widget in {kinds.api_version}: is its CRD installed?"
    stage.scaledobject("d", target={"apiVersion": "example.com/v1", "kind": "Deployment", "name": "worker"})
    assert "no kind Deployment in example.com/v1: is its CRD installed?" in stage.wait_refused("d")
    assert stage.hpa_names() == []


def test_the_crd_comes_goes_and_comes_again(denied, stage, kinds):
    stage.push(1)
    stage.scaledobject(target=kinds.target("Widget"), maxReplicaCount=1)
    assert "is its CRD installed?" in stage.wait_refused()
    kinds.allow("Widget")
    for _ in range(2):
        kinds.define("Widget")
        kinds.create("Widget", 0)
        eventually(lambda: kinds.replicas("Widget") == 1, timeout=90)
        stage.wait_ready()
        kinds.undefine("Widget")
        eventually(lambda: "is its CRD installed?" in stage.wait_refused(), timeout=60)


def test_the_kind_changes(denied, stage, kinds):
    """Another target at once; nothing of the old one is touched any more."""
    kinds.define("Widget")
    kinds.allow("Widget")
    kinds.create("Widget", 0)
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    stage.patch({"spec": {"scaleTargetRef": kinds.target("Widget")}})
    eventually(lambda: kinds.replicas("Widget") == 1)
    eventually(lambda: stage.hpa_document()["spec"]["scaleTargetRef"]["kind"] == "Widget")
    stage.drain()
    eventually(lambda: kinds.replicas("Widget") == 0)
    throughout(lambda: stage.replicas() == 1, until=after(1.5))


# --- with the HPA controller ---

@pytest.mark.parametrize("kind", ["Widget", "Gadget"])
def test_scaled_and_watched(denied, stage, watched, kind):
    watched.create(kind, 0)
    stage.push(12)
    stage.ready_scaledobject(target=watched.target(kind), cooldownPeriod=2)
    assert stage.status()["scaleTargetKind"] == f"{watched.api_version}.{kind}"
    assert stage.status()["scaleTargetGVKR"]["resource"] == RESOURCES[kind]
    assert stage.status()["originalReplicaCount"] == 0
    eventually(lambda: watched.replicas(kind) == 3)  # kscaled to 1, the HPA controller to 3
    # Somebody else's change is seen without being asked for: by the watch.
    watched.set(kind, 0)
    eventually(lambda: watched.replicas(kind) == 3)
    stage.drain()
    eventually(lambda: watched.replicas(kind) == 0)


def test_restored_on_deletion(denied, stage, watched):
    watched.create("Gadget", 2)
    stage.push(25)
    stage.ready_scaledobject(target=watched.target("Gadget"), advanced={"restoreToOriginalReplicaCount": True})
    eventually(lambda: watched.replicas("Gadget") == 5)
    stage.delete()
    eventually(stage.gone)
    eventually(lambda: watched.replicas("Gadget") == 2)


def test_rollouts_need_no_role(denied, stage):
    """Of Argo: the manifests bring the role to watch them."""
    rollouts = Kinds(stage, "argoproj.io")
    try:
        rollouts.define("Rollout")
        stage.push(3)
        for name in ("worker", "late"):  # the second one is read by itself: the list is over
            rollouts.create("Rollout", 0, name, env={"QUEUE": stage.redis.address})
            stage.scaledobject(name, target=rollouts.target("Rollout", name), maxReplicaCount=1, triggers=[stage.trigger(address=None, addressFromEnv="QUEUE")])
            stage.wait_ready(name)
            eventually(lambda name=name: rollouts.replicas("Rollout", name) == 1)
        assert "rollouts may not be watched" not in denied.log()
        stage.delete_all()
    finally:
        rollouts.undefine("Rollout")


def test_a_rollout_whose_pods_are_of_a_deployment(denied, stage):
    """spec.workloadRef is followed one step, for the environment of the containers; what is scaled is the Rollout."""
    rollouts = Kinds(stage, "argoproj.io")
    try:
        rollouts.define("Rollout")
        stage.deployment("pods", env={"ELSEWHERE": stage.redis.address})
        rollouts.create("Rollout", 0, spec={"template": None, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "pods"}})
        rollouts.create("Rollout", 0, "bare", spec={"template": None})
        stage.push(1)
        for name in ("worker", "bare"):
            stage.scaledobject(name, target=rollouts.target("Rollout", name), maxReplicaCount=1, triggers=[stage.trigger(address=None, addressFromEnv="QUEUE")])
        assert "the target's container has no environment variable QUEUE" in stage.wait_refused()
        assert "the scale target Rollout bare has no containers" in stage.wait_refused("bare")
        stage.set_env({"QUEUE": stage.redis.address}, "pods")
        stage.wait_ready()
        eventually(lambda: rollouts.replicas("Rollout") == 1)
        assert stage.workload("pods").spec.replicas == 0
        stage.delete_all()
    finally:
        rollouts.undefine("Rollout")


def replication_controller(stage, name):
    """With the controller manager behind it; how many replicas it is asked for."""
    labels = {"app": name}
    stage.cluster.core.create_namespaced_replication_controller(stage.namespace, {"metadata": {"name": name}, "spec": {
        "replicas": 0, "selector": labels, "template": {"metadata": {"labels": labels}, "spec": {"nodeName": "node-0", "containers": [{"name": "main", "image": "none"}]}}}})
    return lambda: stage.cluster.core.read_namespaced_replication_controller(name, stage.namespace).spec.replicas


def test_scaled_without_a_role_to_watch(denied, stage, unwatched):
    """/scale alone does: the manifests give rights on it for every kind. The core group is no other: a ReplicationController of "v1" may not be watched either. Side by side, as each is read every 15 s only."""
    targets = {"controller": {"apiVersion": "v1", "kind": "ReplicationController", "name": "controller"}}
    replicas = {"controller": replication_controller(stage, "controller")}
    custom = {"widget": "Widget", "gadget": "Gadget"}
    for name, kind in custom.items():
        unwatched.create(kind, 0, name)
        targets[name] = unwatched.target(kind, name)
        replicas[name] = lambda kind=kind, name=name: unwatched.replicas(kind, name)
    stage.push(12)
    for name, target in targets.items():
        stage.scaledobject(name, target=target)
    for name, count in replicas.items():
        stage.wait_ready(name)
        eventually(lambda count=count: count() == 3)
    stage.drain()
    for count in replicas.values():
        eventually(lambda count=count: count() == 0, timeout=60)
    for name, kind in custom.items():
        unwatched.set(kind, 4, name)  # not seen at once, but within 15 s
    for name in custom:
        eventually(lambda count=replicas[name]: count() == 0, timeout=60)
    for kind in custom.values():
        said = [line for line in denied.log().splitlines() if f"{unwatched.group}/v1/{RESOURCES[kind]}" in line and "may not be watched" in line]
        assert len(said) == 1, said
        assert f"a role with the verbs get, list and watch on {RESOURCES[kind]}.{unwatched.group} is missing" in said[0]
