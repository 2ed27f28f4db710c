# SPDX-License-Identifier: Apache-2.0
"""`kscaled manifests` applied, limited rights, tokens that rotate."""
import pytest

from rig.credentials import from_secret
from rig.daemon import Installation
from rig.waiting import DEFINITIONS_GONE, after, eventually, throughout


@pytest.mark.parametrize("arguments", [
    [], ["--host", "localhost:9443"], ["--host", "192.0.2.7:9443"], ["--namespace", "kscaled-elsewhere", "--service-name", "scaler", "--watch-namespace", "default,kube-public"],
], ids=["pod", "name", "address", "limited"])
def test_applying_twice_changes_nothing(shared_kscaled, restored, cluster, arguments):
    """What is printed is accepted by the API server as it stands, and the second time all of it is unchanged."""
    shared_kscaled.stop()
    text = restored.manifests(*arguments)
    # The three forms of the Service exclude one another (man page, EXAMPLES).
    cluster.kubectl("-n", "kscaled", "delete", "deployment,service,endpoints,endpointslice", "-l", "app.kubernetes.io/name=kscaled")
    try:
        first = cluster.kubectl("apply", "-f", "-", stdin=text)
        assert "error" not in first.lower()
        second = cluster.kubectl("apply", "-f", "-", stdin=text)
        changed = [line for line in second.splitlines() if not line.endswith(" unchanged")]
        assert not changed
    finally:
        cluster.kubectl("-n", "kscaled", "delete", "deployment,service,endpoints,endpointslice", "-l", "app.kubernetes.io/name=kscaled")
        if "kscaled-elsewhere" in arguments:
            cluster.kubectl("delete", "namespace", "kscaled-elsewhere", "--wait=false")


def test_strict_validation(installation, cluster):
    """No field that the API server does not know."""
    for arguments in ([], ["--host", "10.1.2.3:9443"], ["--network-policy", "--priority-class", "system-cluster-critical"]):
        cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=installation.manifests(*arguments))


def test_delete_order(launch, restored, cluster, stage):
    """As the man page says: the objects first, then what was applied. Nothing hangs, and nothing is left, nor does a namespace wait for it."""
    daemon = launch().wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    options = ("--host", f"localhost:{restored.port}")
    try:
        cluster.kubectl("delete", "scaledobjects,scaledjobs", "--all", "--all-namespaces", "--timeout=60s")
        daemon.term()
        order = restored.manifests(*options, "--delete-order")
        cluster.kubectl("delete", "--ignore-not-found", f"--timeout={DEFINITIONS_GONE}s", "-f", "-", stdin=order)
        cluster.create_namespace(f"{stage.namespace}-after")
        cluster.kubectl("delete", "namespace", f"{stage.namespace}-after", "--timeout=60s")
        kinds = "namespaces,services,endpoints,endpointslices,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,apiservices,customresourcedefinitions,validatingwebhookconfigurations"
        # A namespace of another test may still be going.
        eventually(lambda: cluster.kubectl("get", kinds, "-A", "-l", "app.kubernetes.io/name=kscaled", "-o", "name") == "", timeout=60)
    finally:
        daemon.expected_end = True
        restored.kubeconfig.unlink()  # its account is gone
        restored.apply()


def test_delete_order_of_a_dead_kscaled(launch, restored, cluster, stage):
    """Killed, with the webhook and the APIServices in place: the first documents free the API server of it, so that a namespace can go."""
    daemon = launch().wait_serving()
    daemon.expected_end = True
    daemon.kill()
    eventually(lambda: not restored.available(), timeout=60)
    order = restored.manifests("--host", f"localhost:{restored.port}", "--delete-order", "--no-crds").split("---\n")
    first = [one for one in order if "kind: APIService" in one or "kind: ValidatingWebhookConfiguration" in one]
    assert first == order[1:4]
    cluster.kubectl("delete", "--ignore-not-found", "--timeout=60s", "-f", "-", stdin="---\n".join(first))
    cluster.create_namespace(f"{stage.namespace}-after")
    cluster.kubectl("delete", "namespace", f"{stage.namespace}-after", "--timeout=60s")


def test_watches_only_its_namespaces(shared_kscaled, launch, restored, cluster, stage, credentials):
    """Installed with rights in two namespaces only, in a namespace of another name: what is elsewhere is not looked at."""
    second = f"{stage.namespace}-b"
    cluster.create_namespace(second)
    limited = Installation(cluster, shared_kscaled.dir / "limited")
    limited.dir.mkdir(exist_ok=True)
    limited.namespace = f"{stage.namespace}-own"
    watched = f"{stage.namespace},{second}"
    cluster.kubectl("apply", "-f", "-", stdin=limited.manifests("--host", f"localhost:{limited.port}", "--namespace", limited.namespace, "--watch-namespace", watched))
    cluster.write_kubeconfig(limited.kubeconfig, limited.namespace, cluster.token(limited.namespace, "kscaled"))
    from rig.daemon import Daemon
    daemon = Daemon(limited, limited.dir, options={"watch_namespace": watched})
    try:
        daemon.wait_serving()
        stage.deployment(replicas=0)
        stage.push(1)
        stage.ready_scaledobject(maxReplicaCount=1)
        eventually(lambda: stage.replicas() == 1)
        eventually(lambda: stage.metric().value() == "1")
        # Elsewhere: the namespace of another test.
        other = stage.__class__(cluster, f"{stage.namespace}-c", stage.redis)
        cluster.create_namespace(other.namespace)
        other.deployment(replicas=0)
        other.push(1)
        other.scaledobject(maxReplicaCount=1)
        looks = daemon.asked()
        throughout(lambda: "status" not in other.get() and other.replicas() == 0, until=lambda: daemon.asked() >= looks + 3)
        assert other.metric().status == 404
        # In the second of its namespaces.
        other.namespace = second
        other.deployment(replicas=0)
        other.ready_scaledobject(maxReplicaCount=1)
        # What is in no namespace: its Events go to namespace default, where nothing else is watched.
        credentials.cluster_authentication(stage.namespace, **from_secret())
        eventually(lambda: [e for e in cluster.events.list_namespaced_event("default").items if e.regarding and e.regarding.name == stage.namespace])
        daemon.check_alive()
        assert "forbidden" not in daemon.log()  # the audit log is of the usual installation's account
        daemon.term()
    finally:
        daemon.expected_end = True
        daemon.kill()
        for name in (second, f"{stage.namespace}-c", limited.namespace):
            cluster.delete_namespace(name)


def test_namespace_that_does_not_exist_yet(launch, stage):
    daemon = launch(options={"watch_namespace": f"{stage.namespace}-later"}).wait_serving()
    later = stage.__class__(stage.cluster, f"{stage.namespace}-later", stage.redis)
    stage.cluster.create_namespace(later.namespace)
    later.deployment(replicas=0)
    later.push(1)
    later.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: later.replicas() == 1)
    assert daemon.alive()
    stage.cluster.delete_namespace(later.namespace)
    later.drain()


def test_rights_are_least(installation, cluster):
    """What it may not do, and the API server says so: pods but to count them, Jobs but to make and delete them, Secrets of others but to read them, workloads but by /scale."""
    def may(verb, resource, namespace="default", group="", name=None, subresource=None):
        attributes = {"verb": verb, "resource": resource, "namespace": namespace, "group": group, "name": name, "subresource": subresource}
        review = cluster.request("/apis/authorization.k8s.io/v1/subjectaccessreviews", "POST", body={"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": "system:serviceaccount:kscaled:kscaled", "groups": ["system:serviceaccounts", "system:authenticated"],
            "resourceAttributes": {key: value for key, value in attributes.items() if value is not None}}})
        return review.json["status"]["allowed"]

    # Objects are sent whole to two kinds only; what is only watched is not read one by one.
    for verb, resource, group in (("update", "scaledobjects", "keda.sh"), ("get", "scaledobjects", "keda.sh"), ("patch", "horizontalpodautoscalers", "autoscaling"), ("update", "events", "events.k8s.io")):
        assert not may(verb, resource, group=group), (verb, resource)
    assert not may("update", "deployments", group="apps", subresource="scale") and not may("update", "scaledobjects", group="keda.sh", subresource="status")
    assert not may("patch", "leases", "kscaled", "coordination.k8s.io", "operator.keda.sh") and may("update", "leases", "kscaled", "coordination.k8s.io", "operator.keda.sh")
    for verb, resource in (("create", "secrets"), ("patch", "secrets"), ("delete", "secrets"), ("patch", "configmaps"), ("get", "pods"), ("create", "pods"), ("delete", "namespaces")):
        assert not may(verb, resource), (verb, resource)
    assert may("watch", "secrets") and may("watch", "configmaps") and may("list", "limitranges") and may("list", "pods") and may("watch", "pods")
    assert not may("patch", "secrets", "kscaled") and may("patch", "secrets", "kscaled", name="kscaled-certs")
    assert not may("create", "serviceaccounts", subresource="token")
    assert may("watch", "rollouts", group="argoproj.io")  # by the aggregated role
    webhooks = {"resource": "validatingwebhookconfigurations", "group": "admissionregistration.k8s.io", "namespace": ""}
    assert may("patch", name="kscaled-admission", **webhooks) and not may("patch", **webhooks) and not may("patch", name="other", **webhooks)
    assert not may("patch", "deployments", group="apps") and may("patch", "deployments", group="apps", subresource="scale")
    assert all(may(verb, "jobs", group="batch") for verb in ("get", "list", "watch", "create", "delete")) and not may("patch", "jobs", group="batch") and not may("update", "jobs", group="batch")
    assert not may("create", "scaledobjects", group="keda.sh") and not may("delete", "scaledobjects", group="keda.sh")


@pytest.mark.refused("list deployments.apps", "watch deployments.apps")
def test_named_kinds_of_targets(launch, restored, cluster, stage):
    """--scale-kinds: who names another kind is told so, and the rights on the others are enough."""
    restored.apply("--scale-kinds", "statefulsets")
    daemon = launch().wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.scaledobject(maxReplicaCount=1)
    message = stage.wait_refused()
    assert "kscaled may not scale deployments.apps" in message and "--scale-kinds" in message and "forbidden" in message, message
    for name in ("set", "late"):  # the second one is read by itself: the list is over
        cluster.apps.create_namespaced_stateful_set(stage.namespace, {"metadata": {"name": name}, "spec": {
            "replicas": 0, "serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}}, "spec": {"nodeName": "node-0", "containers": [{"name": "main", "image": "none"}]}}}})
        stage.ready_scaledobject(name, target={"kind": "StatefulSet", "name": name}, maxReplicaCount=1)
        eventually(lambda name=name: cluster.apps.read_namespaced_stateful_set_scale(name, stage.namespace).spec.replicas == 1)
    for name in ("set", "late"):
        stage.delete(name)
        eventually(lambda name=name: stage.gone(name))
    restored.apply("--scale-kinds", "deployments")
    stage.wait_ready(timeout=60)
    eventually(lambda: stage.replicas() == 1)
    assert daemon.alive()


@pytest.mark.refused("list jobs.batch")
def test_without_scaledjobs(launch, restored, job_stage):
    """--no-scaledjobs: a ScaledJob is told why it is not followed, and is as soon as there are rights."""
    restored.apply("--no-scaledjobs")
    launch().wait_serving()
    job_stage.scaledjob()
    message = job_stage.wait_refused()
    assert "--no-scaledjobs" in message and "jobs.batch is forbidden" in message, message
    restored.apply()
    job_stage.wait_ready(timeout=60)


def test_without_the_webhook(launch, restored, stage):
    """--no-webhook gives no rights for it, and --webhook=false asks for nothing that would be refused."""
    restored.apply("--no-webhook")
    daemon = launch(options={"webhook": "false"}).wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    assert "validatingwebhookconfigurations" not in daemon.log()


def test_token_file_that_rotates(launch, installation, cluster, stage, tmp_path):
    """The first token ends its life, and its file has had another for a while: nobody notices."""
    tokens = []
    for name in ("one", "two"):
        cluster.core.create_namespaced_secret("kscaled", {"metadata": {"name": f"{stage.namespace}-{name}"}})
        tokens.append(cluster.token("kscaled", "kscaled", bound_to_secret=f"{stage.namespace}-{name}"))
    path = tmp_path / "token"
    path.write_text(tokens[0])
    kubeconfig = cluster.write_kubeconfig(tmp_path / "kubeconfig", "kscaled", token_file=path)
    daemon = launch(options={"kubeconfig": kubeconfig}).wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    path.write_text(tokens[1])
    cluster.core.delete_namespaced_secret(f"{stage.namespace}-one", "kscaled")
    eventually(lambda: cluster.request("/api", token=tokens[0]).status == 401, timeout=40)
    stage.push(1)
    eventually(lambda: stage.replicas() == 1, timeout=40)
    stage.deployment("late", replicas=0)
    stage.ready_scaledobject("late", maxReplicaCount=1)
    assert daemon.leading()
    cluster.core.delete_namespaced_secret(f"{stage.namespace}-two", "kscaled")


def test_without_the_crds(shared_kscaled, launch, restored, cluster):
    """Installed by halves: alive, not ready, saying what is missing; and well as soon as it is there."""
    shared_kscaled.stop()
    for name in ("scaledobjects", "scaledjobs", "triggerauthentications", "clustertriggerauthentications"):
        cluster.extensions.delete_custom_resource_definition(f"{name}.keda.sh")

    # Deleted definitions are served for a moment longer.
    eventually(lambda: cluster.request("/apis/keda.sh/v1alpha1/scaledobjects").status == 404, timeout=60)
    daemon = launch()
    eventually(lambda: daemon.status("/healthz").status == 200)
    throughout(lambda: daemon.status("/readyz").status == 503, until=after(2))
    assert "scaledobjects" in daemon.status("/readyz").text.lower()
    restored.apply()
    eventually(daemon.ready, timeout=60)
