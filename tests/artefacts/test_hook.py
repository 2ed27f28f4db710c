# SPDX-License-Identifier: Apache-2.0
"""
The chart's hook before an uninstallation, on a true node (kubenode.py): a Job whose Pod runs `kscaled leave`, with the token and the
rights of its account, while kscaled runs in Pods of its own. Root only. KSCALED: the program; KUBE_ASSETS.
"""
import concurrent.futures
import contextlib
import json
import signal

import pytest
import yaml

from control_plane import run
from kubenode import ACCOUNTS, LEAVING, RESTRICTED, refused
from rig.waiting import DEFINITIONS_GONE, eventually

SHUT = {"type": "cron", "metadata": {"timezone": "UTC", "start": "0 0 1 1 *", "end": "1 0 1 1 *", "desiredReplicas": "1"}}
OBJECTS = [
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "registry.k8s.io/pause:3.10"}]}}}},
    {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "web"}, "spec": {
        "scaleTargetRef": {"name": "web"}, "minReplicaCount": 0, "maxReplicaCount": 5, "cooldownPeriod": 0, "pollingInterval": 1, "triggers": [SHUT],
        "advanced": {"restoreToOriginalReplicaCount": True}}},
    {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledJob", "metadata": {"name": "drain"}, "spec": {
        "jobTargetRef": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "drain", "image": "drain"}]}}}, "triggers": [SHUT]}},
    {"apiVersion": "keda.sh/v1alpha1", "kind": "TriggerAuthentication", "metadata": {"name": "login"}, "spec": {"secretTargetRef": [{"parameter": "password", "name": "a", "key": "b"}]}},
    {"apiVersion": "keda.sh/v1alpha1", "kind": "ClusterTriggerAuthentication", "metadata": {"name": "login"}, "spec": {"secretTargetRef": [{"parameter": "password", "name": "a", "key": "b"}]}},
]
KINDS = "scaledobjects,scaledjobs,triggerauthentications,clustertriggerauthentications"


class Release:
    """The chart with its hook in the namespace LEAVING, two Pods of kscaled, and objects that it looks after."""

    def __init__(self, helm, chart, node, directory):
        self.node, self.chart, self.dir = node, chart, directory
        self.helm = lambda *arguments, **more: helm(*arguments, "--kubeconfig", node.kubeconfig, "--namespace", LEAVING, on=node, **more)
        self.workers = concurrent.futures.ThreadPoolExecutor()
        self.asked_before = len(node.asked(ACCOUNTS[1]))
        node.kubectl("create", "namespace", LEAVING)
        node.kubectl("label", "namespace", LEAVING, RESTRICTED)

    def kubectl(self, *arguments, **more):
        return self.node.kubectl("--namespace", LEAVING, *arguments, **more).stdout

    def install(self, **uninstall):
        values = {"uninstall": {"hook": True, **uninstall}, "operator": {"replicaCount": 2}, "networkPolicy": {"enabled": True}, "webhooks": {"timeoutSeconds": 1},
                  "crds": {"additionalAnnotations": {"helm.sh/resource-policy": "keep"}} if uninstall.get("restoreReplicas") else {}}
        path = self.dir / "values.yaml"
        path.write_text(yaml.safe_dump(values))
        self.helm("install", "kscaled", self.chart, "--values", path)
        self.kubectl("wait", "--for=condition=Available", "deployment/kscaled", "apiservice/v1beta1.external.metrics.k8s.io", "--timeout=120s")
        return self

    @contextlib.contextmanager
    def no_new_pods(self):
        """Those that are made meanwhile wait for a node."""
        self.kubectl("cordon", "node-0")
        try:
            yield
        finally:
            self.kubectl("uncordon", "node-0")

    def pods(self):
        return self.node.get("pods", "--namespace", LEAVING, "--selector", "app.kubernetes.io/name=kscaled")["items"]

    def signal(self, number):
        """To each kscaled on the node, if there is one."""
        run(*self.node.inside("pkill", f"-{int(number)}", "--exact", "kscaled"), check=False)

    def scale(self):
        """kscaled has taken the objects on."""
        self.in_shop("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))
        self.in_shop("wait", "--for=create", "hpa/keda-hpa-web", "--timeout=60s")
        self.in_shop("wait", "--for=jsonpath={.spec.replicas}=0", "deployment/web", "--timeout=60s")
        assert self.finalizers() == {"ScaledObject"}
        return self

    def in_shop(self, *arguments, **more):
        return self.node.kubectl("--namespace", "shop", *arguments, **more).stdout

    def finalizers(self):
        """Kinds of which there are objects with finalizers."""
        return {one["kind"] for one in json.loads(self.in_shop("get", KINDS, "-o", "json"))["items"] if one["metadata"].get("finalizers")}

    def wait_known_to_collector(self):
        """The garbage collector looks each 30 s for new kinds, and deletes what is owned by an object of a kind that it knows."""
        owner = {"apiVersion": "keda.sh/v1alpha1", "kind": "TriggerAuthentication", "metadata": {"name": "owner"}, "spec": {"secretTargetRef": [{"parameter": "a", "name": "a", "key": "a"}]}}
        uid = json.loads(self.in_shop("create", "-o", "json", "-f", "-", stdin=json.dumps(owner)))["metadata"]["uid"]
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "owner", "uid": uid}
        self.in_shop("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned", "ownerReferences": [reference]}}))
        self.in_shop("delete", "triggerauthentication", "owner")
        self.in_shop("wait", "--for=delete", "configmap/owned", "--timeout=120s")

    def uninstall(self, *more):
        """Begins; the result is what it ends with."""
        return self.workers.submit(self.helm, "uninstall", "kscaled", "--wait", "--timeout", f"{DEFINITIONS_GONE}s", *more, check=False)

    def asked(self):
        """What the hook's account asked of the API server in this test, in order."""
        return self.node.asked(ACCOUNTS[1])[self.asked_before:]

    def failed(self):
        """What the Pod of the Job said that has failed."""
        self.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod", "-l", "job-name=kscaled-leave", "--timeout=120s")
        return self.kubectl("logs", "-l", "job-name=kscaled-leave")

    def end(self):
        # Where a test failed there is all of it, with finalizers, which kscaled would put back.
        self.kubectl("delete", "deployment", "kscaled", "--ignore-not-found", "--cascade=foreground", "--timeout=120s")
        for line in self.in_shop("get", KINDS, "-o", "name", check=False).split():
            self.in_shop("patch", line, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        self.helm("uninstall", "kscaled", "--no-hooks", "--ignore-not-found", "--wait", "--timeout", f"{DEFINITIONS_GONE}s")
        self.in_shop("delete", "customresourcedefinition", *(f"{kind}.keda.sh" for kind in KINDS.split(",")), "--ignore-not-found")
        self.in_shop("delete", "deployment,hpa", "--all")
        self.in_shop("delete", "clusterrole,clusterrolebinding", "kscaled-leave", "--ignore-not-found")
        self.in_shop("delete", "namespace", LEAVING, "--timeout=60s")


@pytest.fixture
def release(helm, chart, node, tmp_path):
    made = Release(helm, chart, node, tmp_path)
    yield made
    made.end()


def rights(role):
    return {(verb, group, *(resource.split("/") + [""])[:2]) for rule in role["rules"] for verb in rule["verbs"] for group in rule["apiGroups"] for resource in rule["resources"]}


def right(event):
    at_ = event["objectRef"]
    return event["verb"], at_.get("apiGroup", ""), at_["resource"], at_.get("subresource", "")


def test_hook(release):
    """The kinds go with all their objects, none of which hangs on a finalizer."""
    release.install().scale()
    release.wait_known_to_collector()
    done = release.uninstall().result()
    assert done.returncode == 0, done.stderr + release.node.told()
    assert release.node.left() == []
    assert release.kubectl("get", "secrets,leases", "-o", "name").split() == []
    release.in_shop("wait", "--for=delete", "hpa/keda-hpa-web", "--timeout=60s")
    assert release.in_shop("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "0"
    assert release.asked() != [] and refused(release.asked()) == []


def test_hook_with_objects_that_stay(release):
    """By a resource policy, with the replicas of before; kscaled hangs until it is killed, and KEDA's finalizers came since. The API server is freed first, and the account of the Job has the rights that this needs and no more."""
    release.install(restoreReplicas=True).scale()
    with release.no_new_pods():
        done = release.uninstall()
        release.kubectl("wait", "--for=create", "clusterrole/kscaled-leave", "--timeout=60s")
        role = json.loads(release.kubectl("get", "clusterrole", "kscaled-leave", "-o", "json"))
        release.signal(signal.SIGSTOP)
        for one in ("scaledjob/drain", "triggerauthentication/login", "clustertriggerauthentication/login"):
            release.in_shop("patch", one, "--type=merge", "-p", '{"metadata": {"finalizers": ["finalizer.keda.sh"]}}')
        assert len(release.finalizers()) == 4
    eventually(lambda: all("deletionTimestamp" in pod["metadata"] for pod in release.pods()))
    release.signal(signal.SIGKILL)
    assert done.result().returncode == 0, done.result().stderr + release.node.told()
    assert release.node.left() == [f"customresourcedefinition.apiextensions.k8s.io/{kind}.keda.sh" for kind in sorted(KINDS.split(","))]
    assert release.kubectl("get", "secrets,leases", "-o", "name").split() == []
    assert release.finalizers() == set() and release.in_shop("get", "scaledobjects", "-o", "name").split() == ["scaledobject.keda.sh/web"]
    assert release.in_shop("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "3"
    assert release.in_shop("get", "hpa", "-o", "name").split() == []  # it would have changed them again

    events = release.asked()
    assert refused(events) == []
    deleted = [event["objectRef"]["resource"] for event in events if event["verb"] == "delete"]
    assert sorted(deleted[:3]) == ["apiservices", "apiservices", "validatingwebhookconfigurations"] and "deployments" in deleted
    used = {right(event) for event in events}
    matches = lambda given, one: all(word in ("*", is_) for word, is_ in zip(given, one))
    assert {given for given in rights(role) if not any(matches(given, one) for one in used)} == set()


def still_there(release):
    return (release.kubectl("get", "deployment", "kscaled", "-o", "jsonpath={.spec.replicas}") == "2" and release.finalizers() == {"ScaledObject"}
            and release.kubectl("get", "apiservice", "v1beta1.external.metrics.k8s.io", "-o", "name").split() != [])


def test_hook_that_fails(release):
    """Somebody has taken its rights away: `helm uninstall` says so, nothing was undone, and the next one completes it."""
    release.install().scale()
    with release.no_new_pods():
        done = release.uninstall()
        release.kubectl("wait", "--for=create", "job/kscaled-leave", "--timeout=60s")
        release.kubectl("delete", "clusterrolebinding", "kscaled-leave")
    assert "forbidden" in release.failed()
    release.kubectl("patch", "job", "kscaled-leave", "-p", '{"spec": {"activeDeadlineSeconds": 1}}')  # its other attempts would say the same
    result = done.result()
    assert result.returncode != 0 and "kscaled-leave" in result.stderr, result.stderr
    assert still_there(release)
    done = release.uninstall().result()
    assert done.returncode == 0, done.stderr + release.node.told()
    assert release.node.left() == []


def test_hook_without_an_image(release):
    """The node has lost it, and gets it nowhere: `helm uninstall` fails when its time is over, however often it is asked, until it is told to go without. This is why the hook is off by default."""
    release.install(timeoutSeconds=5).scale()
    release.node.unload("docker.io/library/kscaled")
    try:
        for _ in range(2):
            done = release.uninstall()
            eventually(lambda: "ErrImagePull" in release.kubectl("get", "events", "--field-selector", "reason=Failed"), timeout=60)
            result = done.result()
            assert result.returncode != 0 and "kscaled-leave" in result.stderr and "DeadlineExceeded" in result.stderr, result.stderr
            assert still_there(release)
    finally:
        release.node.load(release.node.image)
    release.in_shop("delete", "scaledobject", "--all", "--timeout=60s")
    assert release.uninstall("--no-hooks").result().returncode == 0
    assert release.node.left() == ["secret/kscaled-certs", "job.batch/kscaled-leave"]  # and both go with the namespace
