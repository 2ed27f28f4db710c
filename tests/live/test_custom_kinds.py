# SPDX-License-Identifier: Apache-2.0
"""Targets that are no Deployments: CRDs with a scale subresource, the core group, kinds that come and go, and kinds that kscaled may not watch."""
import pytest
from kubernetes.client import ApiException

from rig.stage import MERGE
from rig.waiting import after, eventually, throughout

RESOURCES = {"Widget": "widgets", "Gadget": "gadgets", "Report": "reports", "Globe": "globes"}
FIELDS = {"Widget": "replicas", "Gadget": "size"}  # of spec: where each keeps its replicas


def open_object(**properties):
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": properties}


class Kinds:
    """An API group of the test's own."""

    def __init__(self, stage):
        self.stage = stage
        self.cluster = stage.cluster
        self.group = f"{stage.namespace}.kscaled.test"
        self.api_version = f"{self.group}/v1"

    def define(self, kind, scale=True, scope="Namespaced"):
        resource = RESOURCES[kind]
        version = {
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": open_object(spec=open_object(replicas={"type": "integer"}, size={"type": "integer"}), status=open_object())},
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
        name = f"kscaled-{self.stage.namespace}"
        self.cluster.rbac.create_cluster_role({"metadata": {"name": name}, "rules": [
            {"apiGroups": [self.group], "resources": [RESOURCES[kind] for kind in kinds], "verbs": ["get", "list", "watch"]}]})
        self.cluster.rbac.create_cluster_role_binding({
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "kscaled", "namespace": "kscaled"}]})

    def create(self, kind, replicas, name="worker", env=None):
        template = {"spec": {"containers": [{"name": "main", "env": [{"name": key, "value": value} for key, value in (env or {}).items()]}]}}
        self.cluster.custom.create_namespaced_custom_object(self.group, "v1", self.stage.namespace, RESOURCES[kind], {
            "apiVersion": self.api_version, "kind": kind, "metadata": {"name": name}, "spec": {FIELDS[kind]: replicas, "template": template}})
        # What a controller would say; the HPA controller needs the selector.
        self.patch(kind, {"status": {"replicas": replicas, "selector": f"app={name}"}}, name, "/status")

    def patch(self, kind, body, name="worker", subresource=""):
        path = f"/apis/{self.api_version}/namespaces/{self.stage.namespace}/{RESOURCES[kind]}/{name}{subresource}"
        answer = self.cluster.request(path, "PATCH", body=body, headers={"Content-Type": MERGE})
        assert answer.status == 200, answer

    def set(self, kind, replicas):
        self.patch(kind, {"spec": {FIELDS[kind]: replicas}})

    def replicas(self, kind, name="worker"):
        return self.cluster.custom.get_namespaced_custom_object(self.group, "v1", self.stage.namespace, RESOURCES[kind], name)["spec"][FIELDS[kind]]

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
                delete(f"kscaled-{self.stage.namespace}")
            except ApiException as error:
                assert error.status == 404


@pytest.fixture
def kinds(stage):
    kinds = Kinds(stage)
    yield kinds
    kinds.remove()


@pytest.fixture
def denied(launch, stage):
    """A kscaled of the test's own: rights that come and go leave refusals in its log, and the shared one, which comes after it, must never be refused anything."""
    kscaled = launch()
    kscaled.may_be_denied = True
    yield kscaled.wait_serving()
    stage.cluster.kubectl("-n", stage.namespace, "delete", "scaledobjects", "--all", "--wait")


@pytest.mark.parametrize("kind", ["Widget", "Gadget"])
def test_scaled_and_watched(denied, stage, kinds, kind):
    kinds.define(kind)
    kinds.allow(kind)
    kinds.create(kind, 0)
    stage.push(12)
    stage.ready_scaledobject(target=kinds.target(kind), cooldownPeriod=2)
    assert stage.status()["scaleTargetKind"] == f"{kinds.api_version}.{kind}"
    assert stage.status()["scaleTargetGVKR"]["resource"] == RESOURCES[kind]
    assert stage.status()["originalReplicaCount"] == 0
    eventually(lambda: kinds.replicas(kind) == 3)  # kscaled to 1, the HPA controller to 3
    # Somebody else's change is seen without being asked for: by the watch.
    kinds.set(kind, 0)
    eventually(lambda: kinds.replicas(kind) == 3)
    stage.drain()
    eventually(lambda: kinds.replicas(kind) == 0)


@pytest.mark.parametrize("kind", ["Widget", "Gadget"])
def test_scaled_without_a_role_to_watch(denied, stage, kinds, kind):
    """/scale alone does: the manifests give rights on it for every kind."""
    kinds.define(kind)
    kinds.create(kind, 0)
    stage.push(12)
    stage.ready_scaledobject(target=kinds.target(kind))
    eventually(lambda: kinds.replicas(kind) == 3)
    stage.drain()
    eventually(lambda: kinds.replicas(kind) == 0, timeout=60)
    kinds.set(kind, 4)  # not seen at once, but within 15 s
    eventually(lambda: kinds.replicas(kind) == 0, timeout=60)
    said = [line for line in denied.log().splitlines() if f"{kinds.group}/v1/{RESOURCES[kind]}" in line and "may not be watched" in line]
    assert len(said) == 1, said
    assert f"a role with the verbs get, list and watch on {RESOURCES[kind]}.{kinds.group} is missing" in said[0]


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


def test_the_core_group(denied, stage):
    """A ReplicationController of "v1", with the controller manager behind it; it may not be watched."""
    stage.cluster.core.create_namespaced_replication_controller(stage.namespace, {
        "metadata": {"name": "worker"},
        "spec": {"replicas": 0, "selector": {"app": "worker"}, "template": {"metadata": {"labels": {"app": "worker"}}, "spec": {"nodeName": "node-0", "containers": [{"name": "main", "image": "none"}]}}},
    })

    def replicas():
        return stage.cluster.core.read_namespaced_replication_controller("worker", stage.namespace).spec.replicas

    stage.push(12)
    stage.ready_scaledobject(target={"apiVersion": "v1", "kind": "ReplicationController", "name": "worker"})
    eventually(lambda: replicas() == 3)
    stage.drain()
    eventually(lambda: replicas() == 0, timeout=60)


def test_what_cannot_be_scaled(denied, stage, kinds):
    kinds.define("Report", scale=False)
    kinds.define("Globe", scope="Cluster")
    stage.scaledobject("a", target=kinds.target("Report"))
    assert f"kind Report of {kinds.api_version} has no scale subresource" in stage.wait_refused("a")
    stage.scaledobject("b", target=kinds.target("Globe"))
    assert f"kind Globe of {kinds.api_version} stands in no namespace" in stage.wait_refused("b")
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


def test_restored_on_deletion(denied, stage, kinds):
    kinds.define("Gadget")
    kinds.allow("Gadget")
    kinds.create("Gadget", 2)
    stage.push(25)
    stage.ready_scaledobject(target=kinds.target("Gadget"), advanced={"restoreToOriginalReplicaCount": True})
    eventually(lambda: kinds.replicas("Gadget") == 5)
    stage.delete()
    eventually(stage.gone)
    eventually(lambda: kinds.replicas("Gadget") == 2)
