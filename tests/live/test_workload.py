# SPDX-License-Identifier: Apache-2.0
"""kubernetes-workload: pods of the namespace, counted by a watch: selectors, phases, nodes, thousands; the API server restarted, the watch forbidden."""
import json

import pytest

from rig.waiting import after, eventually, throughout


class Pods:
    """Without a node they stay as they are, and phases are written as a kubelet would; with one kwok makes them Running. (Pods of nodes that do not exist are collected as garbage.)"""

    def __init__(self, stage):
        self.core = stage.cluster.core
        self.namespace = stage.namespace
        self.own_nodes = []

    def add(self, name, phase="Running", node=None, **labels):
        spec = {"containers": [{"name": "main", "image": "none"}], "terminationGracePeriodSeconds": 0, **({"nodeName": node} if node else {})}
        self.core.create_namespaced_pod(self.namespace, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {"app": "web"}}, "spec": spec})
        if phase != "Pending" and not node:
            self.phase(name, phase)

    def nodes(self, *names):
        """Of the test's own."""
        for name in names:
            self.core.create_node({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{self.namespace}-{name}"}})
            self.own_nodes.append(f"{self.namespace}-{name}")
        return [f"{self.namespace}-{name}" for name in names]

    def clear(self):
        """Nodes are in no namespace: nothing else would take them away."""
        for name in self.own_nodes:
            self.core.delete_node(name)

    def phase(self, name, phase):
        self.core.patch_namespaced_pod_status(name, self.namespace, {"status": {"phase": phase}})

    def remove(self, name):
        self.core.delete_namespaced_pod(name, self.namespace, grace_period_seconds=0)


@pytest.fixture
def pods(stage):
    pods = Pods(stage)
    yield pods
    pods.clear()


def count(selector="app=web", value="1", **more):
    return {"type": "kubernetes-workload", "metadata": {"podSelector": selector, "value": value, **more}}


def name_of(stage, index=0):
    return f"s{index}-workload-{stage.namespace}"


def says(stage, value, index=0, name="worker"):
    return stage.metric(name_of(stage, index), name).value() == str(value)


def test_follows_the_pods(kscaled, stage, pods):
    """By the watch: polls are hours away."""
    stage.deployment()
    stage.ready_scaledobject(triggers=[count(value="2", activationValue="1")], pollingInterval=7200, cooldownPeriod=0)
    assert stage.hpa_document()["spec"]["metrics"][0]["external"]["metric"]["name"] == name_of(stage)
    pods.add("a")
    eventually(lambda: says(stage, 1))
    assert stage.replicas() == 0, "activationValue is 1"
    pods.add("b", "Pending")
    eventually(lambda: stage.replicas() == 1)
    for name in "cde":
        pods.add(name)
    eventually(lambda: stage.replicas() == 3)
    for name in "abcd":
        pods.phase(name, "Succeeded")
    eventually(lambda: says(stage, 1))
    eventually(lambda: stage.replicas() == 0, timeout=5)


def test_cached_metrics_wait_for_the_poll(kscaled, stage):
    """KEDA's own test of useCachedMetrics: the count changes, the poll is far away, and the replicas stay. Beside it,
    an object that asks the same question without it follows at once: what wakes both changes only the one."""
    stage.deployment("monitored", replicas=8)
    eventually(lambda: stage.ready_replicas("monitored") == 8)
    stage.deployment(replicas=1)
    stage.another("beside")
    trigger, far = count("app=monitored", value="2"), {"pollingInterval": 1000, "cooldownPeriod": 0}
    stage.ready_scaledobject(triggers=[{**trigger, "useCachedMetrics": True}], **far)
    stage.ready_scaledobject("beside", triggers=[trigger], **far)
    eventually(lambda: stage.replicas() == 4 and stage.replicas("beside") == 4)
    stage.set_replicas(4, "monitored")
    eventually(lambda: stage.replicas("beside") == 2)

    def asked():
        return sum(value for name, value in kscaled.metrics().items()
                   if name.startswith("kscaled_http_requests_total{") and 'path="metric"' in name)

    seen = asked()
    throughout(lambda: stage.replicas() == 4, until=lambda: asked() >= seen + 10)  # half of them are of this one
    assert says(stage, 8) and says(stage, 4, name="beside")
    # A changed object is polled at once.
    stage.patch({"spec": {"triggers": [{**trigger, "useCachedMetrics": False}]}})
    eventually(lambda: stage.replicas() == 2)


def test_wakes_while_cached(kscaled, stage, pods):
    """A wake-up raises the target from zero; the HPA goes on with what the last poll brought."""
    stage.deployment()
    stage.ready_scaledobject(triggers=[{**count(), "useCachedMetrics": True}], pollingInterval=1000)
    for name in "abc":
        pods.add(name)
    eventually(lambda: stage.replicas() == 1)
    throughout(lambda: stage.replicas() == 1 and says(stage, 0), until=after(3))


def test_selectors_phases_nodes(kscaled, stage, pods):
    one, two, three, last = pods.nodes("1", "2", "3", "last")
    # The target's own pods have app=worker.
    pods.add("a", app="web", tier="front", node=one)
    pods.add("b", app="web", tier="back", node=one)
    pods.add("c", app="web", canary="yes", node=two)
    pods.add("d", app="db", tier="back", node=three)
    pods.add("e", "Pending", app="web")
    pods.add("f", "Failed", app="web")
    pods.add("g", "Succeeded", app="db")
    expected = {
        "app=web": 4, "app == web , tier in (front, back)": 2, "app=web,!canary": 3, "canary": 1, "app!=web,app!=worker": 1, "tier notin (front),app!=worker": 4, "app in (web,db),tier": 3,
    }
    stage.deployment()
    stage.ready_scaledobject(triggers=[*(count(selector) for selector in expected), count("app=web", groupByNode="true"), count("app,app!=worker", groupByNode="true")], pollingInterval=1, maxReplicaCount=1)
    for index, value in enumerate(expected.values()):
        eventually(lambda index=index, value=value: says(stage, value, index))
    eventually(lambda: says(stage, 2, len(expected)))
    eventually(lambda: says(stage, 3, len(expected) + 1))
    # A pod that gets a node counts there; one that loses its label does not count.
    pods.core.create_namespaced_pod_binding("e", stage.namespace, {"target": {"kind": "Node", "name": last}, "metadata": {"name": "e"}}, _preload_content=False)
    eventually(lambda: says(stage, 3, len(expected)))
    pods.core.patch_namespaced_pod("a", stage.namespace, {"metadata": {"labels": {"app": "other"}}})
    eventually(lambda: says(stage, 3, 0))


def test_thousands(kscaled, stage):
    """Made by a Deployment; some hundred come and go at once."""
    stage.deployment("many", replicas=1000, node=None)
    stage.deployment()
    before = kscaled.rss_mib()
    stage.ready_scaledobject(triggers=[count("app=many", value="500")], pollingInterval=1)
    eventually(lambda: says(stage, "1k"), timeout=90)
    eventually(lambda: stage.replicas() == 2)
    stage.set_replicas(300, "many")
    eventually(lambda: says(stage, 300), timeout=60)
    assert kscaled.sanitized() or kscaled.rss_mib() < before + 8


def test_restarted_api_server(kscaled, stage, pods, disturb):
    """Nothing is scaled in meanwhile, and what changed is seen."""
    for name in "abc":
        pods.add(name)
    stage.deployment()
    stage.ready_scaledobject(triggers=[count()], pollingInterval=1, cooldownPeriod=0)
    eventually(lambda: stage.replicas() == 3)
    disturb.restart("kube-apiserver", "--signal", "KILL")
    throughout(lambda: stage.replicas() == 3, until=after(2))
    disturb.restart("kube-controller-manager", "--signal", "KILL")
    pods.add("d")
    eventually(lambda: stage.replicas() == 4)


@pytest.mark.refused("list pods", "watch pods")
def test_forbidden(kscaled, stage, pods, installation, restored, cluster):
    """No role: an error that says so, never 0; the role comes back and so does the count."""
    role = json.loads(cluster.kubectl("get", "clusterrole", "kscaled-workloads", "-o", "json"))
    role["rules"] = [rule for rule in role["rules"] if rule["resources"] != ["pods"]]
    cluster.kubectl("replace", "-f", "-", stdin=json.dumps(role))
    eventually(lambda: cluster.kubectl("auth", "can-i", "list", "pods", "-n", stage.namespace, "--as=system:serviceaccount:kscaled:kscaled", check=False).strip() == "no")
    pods.add("a")
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[count()], pollingInterval=1, cooldownPeriod=0)
    stage.wait_failing()
    missing = "a role with the verbs list and watch on pods is missing"
    eventually(lambda: missing in str(stage.status()) + str(stage.metric(name_of(stage))))  # a denial is believed when it has stood
    throughout(lambda: stage.replicas() == 2, until=after(2))
    installation.apply()
    eventually(lambda: stage.says("Active", "True"), timeout=60)
    eventually(lambda: says(stage, 1))


WRONG = {
    "no-selector": ({"podSelector": None}, 'missing required parameter "podSelector"'),
    "bad-selector": ({"podSelector": "app in web"}, 'error parsing pod selector: "app in web" (character 8)'),
    "no-value": ({"value": None}, "no value given"),
    "zero": ({"value": "0"}, 'parameter "value" value "0" must be greater than 0'),
    "word": ({"groupByNode": "yes"}, '"groupByNode" value "yes": must be true or false'),
}


def test_refused(kscaled, stage):
    for name, (change, _) in WRONG.items():
        trigger = count()
        trigger["metadata"] = {key: value for key, value in {**trigger["metadata"], **change}.items() if value is not None}
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[trigger])
    for name, (_, message) in WRONG.items():
        said = stage.wait_refused(name)
        assert message in said and "trigger 0 (kubernetes-workload)" in said, said
    assert all(stage.replicas(name) == 1 for name in WRONG)
