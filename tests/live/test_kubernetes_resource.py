# SPDX-License-Identifier: Apache-2.0
"""kubernetes-resource: numbers in ConfigMaps and Secrets, followed by a watch: formats, types, what is missing or wrong; the API server restarted, the watch forbidden; restricted Secrets; nothing of a Secret but the number."""
import base64
import json

import pytest

from rig.waiting import after, eventually, throughout

FAR = {"pollingInterval": 7200, "cooldownPeriod": 0}


def number(kind="ConfigMap", name="queue", key="n", target="1", **more):
    return {"type": "kubernetes-resource", "metadata": {"resourceKind": kind, "resourceName": name, "key": key, "targetValue": target, **more}}


def says(stage, value, metric="s0-configmap-queue-n", name="worker"):
    return stage.metric(metric, name).value() == str(value)


def fails(stage, text, metric="s0-configmap-queue-n", name="worker"):
    """The metric is an error that says so, and no number."""
    answer = stage.metric(metric, name)
    return answer.status == 503 and text in answer.failure(503, "ServiceUnavailable")


@pytest.mark.journey
def test_follows_the_number(kscaled, stage, credentials):
    """By the watch: polls are hours away. From nothing, to 0, to more, to nonsense, away and back."""
    stage.deployment()
    stage.scaledobject(triggers=[number(target="2", activationTargetValue="1")], **FAR)
    stage.wait_failing()
    assert "ConfigMap" in str(stage.status()) and "does not exist" in str(stage.metric("s0-configmap-queue-n"))
    credentials.config_map("queue", n="1")
    stage.wait_ready()
    assert stage.hpa_document()["spec"]["metrics"][0]["external"]["metric"]["name"] == "s0-configmap-queue-n"
    eventually(lambda: says(stage, 1))
    assert stage.replicas() == 0, "activationTargetValue is 1"
    credentials.change_config_map("queue", n="3 are waiting")
    eventually(lambda: stage.replicas() == 2)
    credentials.change_config_map("queue", n="7.5")
    eventually(lambda: stage.replicas() == 4)
    assert says(stage, "7500m")
    # What is not a number, a key that goes, and an object that goes hold what there is.
    for change, message in ((lambda: credentials.change_config_map("queue", n="many"), 'ConfigMap {}/queue: key "n": the text does not begin with a number'),
                            (lambda: credentials.change_config_map("queue", n=None, other="5"), 'ConfigMap {}/queue has no key "n"'),
                            (lambda: stage.cluster.core.delete_namespaced_config_map("queue", stage.namespace), "ConfigMap {}/queue does not exist")):
        change()
        eventually(lambda message=message: fails(stage, message.format(stage.namespace)))
        stage.wait_failing()
        assert stage.replicas() == 4
    credentials.config_map("queue", n="2")
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 1)
    credentials.change_config_map("queue", n="0")
    eventually(lambda: stage.replicas() == 0)
    assert says(stage, 0)


ROWS = {
    "plain": ({"key": "plain"}, "12"),
    "whole": ({"key": "decimal", "valueType": "int64"}, "12"),
    "decimal": ({"key": "decimal"}, "12750m"),
    "amount": ({"key": "amount", "valueType": "quantity"}, "2k"),
    "leading": ({"key": "amount"}, "2"),
    "json": ({"key": "json", "format": "json", "valueLocation": "queues.#(name==\"jobs\").waiting"}, "4500m"),
    "json-whole": ({"key": "json", "format": "json", "valueLocation": "queues.0.waiting", "valueType": "int64"}, "4"),
    "json-amount": ({"key": "json", "format": "json", "valueLocation": "size"}, "500m"),
    "yaml": ({"key": "yaml", "format": "yaml", "valueLocation": "queues.1"}, "7"),
    "yaml-leading": ({"key": "yaml", "format": "yaml", "valueLocation": "size"}, "500"),
    "yaml-amount": ({"key": "yaml", "format": "yaml", "valueLocation": "size", "valueType": "quantity"}, "500m"),
}
DATA = {"plain": "12abc\n", "decimal": "12.75", "amount": "2k\n", "json": json.dumps({"queues": [{"name": "jobs", "waiting": 4.5}], "size": "500m"}), "yaml": "queues: [3, 7]\nsize: 500m\n"}
WRONG_TEXTS = {
    "text": ({"key": "json"}, "the text does not begin with a number like 12 or 0.5"),
    "amount": ({"key": "plain", "valueType": "quantity"}, "the text is not a quantity"),
    "json-string": ({"key": "json", "format": "json", "valueLocation": "size", "valueType": "int64"}, "must point to a numeric value, got String"),
    "json-nothing": ({"key": "json", "format": "json", "valueLocation": "sizes"}, "got Null"),
    "json-list": ({"key": "json", "format": "json", "valueLocation": "queues"}, "got JSON: a list"),
    "no-json": ({"key": "yaml", "format": "json", "valueLocation": "size"}, "the text is not JSON"),
    "no-yaml": ({"key": "plain", "format": "yaml", "valueLocation": "size"}, "not a mapping"),
    "binary": ({"key": "bytes"}, 'has no key "bytes"'),
}


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_formats(kscaled, stage, kind):
    """Many triggers on one object, in one ScaledObject each; wrong ones beside them."""
    body = {"metadata": {"name": "queue"}, ("stringData" if kind == "Secret" else "data"): DATA, **({} if kind == "Secret" else {"binaryData": {"bytes": base64.b64encode(b"5").decode()}})}
    core = stage.cluster.core
    (core.create_namespaced_secret if kind == "Secret" else core.create_namespaced_config_map)(stage.namespace, body)
    good = [number(kind, target="1000", **more) for more, _ in ROWS.values()]
    metrics = [f"s{index}-{kind.lower()}-queue-{more['key']}" for index, (more, _) in enumerate(ROWS.values())]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(triggers=good, pollingInterval=1)
    for metric, (_, value) in zip(metrics, ROWS.values()):
        eventually(lambda metric=metric, value=value: says(stage, value, metric))
    for name, (more, message) in WRONG_TEXTS.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[number(kind, **more)], pollingInterval=1)
    for name, (more, message) in WRONG_TEXTS.items():
        stage.wait_failing(name)
        assert fails(stage, message, f"s0-{kind.lower()}-queue-{more['key']}", name)
        assert stage.replicas(name) == 1


def test_secret_shows_nothing_but_the_number(kscaled, stage, credentials):
    """Whatever else its keys hold, and when the key itself turns into a text: not in the object, its Events, its explanation, the log."""
    stage.deployment(replicas=1)
    credentials.secret("queue", n="5", other="open-sesamy-other")
    stage.ready_scaledobject(triggers=[number("Secret", target="5")], **FAR)
    eventually(lambda: says(stage, 5, "s0-secret-queue-n"))
    for text in ("open-sesamy", "open-sesamy: {", '{"open-sesamy": '):
        credentials.change_secret("queue", n=text)
        eventually(lambda: fails(stage, "the text does not begin with a number", "s0-secret-queue-n"))
    stage.patch({"spec": {"triggers": [number("Secret", target="5", format="json", valueLocation="open")]}})
    eventually(lambda: fails(stage, "the text is not JSON", "s0-secret-queue-n"))
    stage.wait_failing()
    told = str(stage.get()) + str(stage.events()) + kscaled.tell("explain", f"{stage.namespace}/worker").stdout + kscaled.log()
    assert "does not begin with a number" in told and "open-sesamy" not in told
    assert stage.replicas() == 1


def test_explained(kscaled, stage, credentials):
    """How its push stands."""
    stage.deployment()
    credentials.config_map("queue", n="3")
    stage.ready_scaledobject(triggers=[number()], **FAR)
    eventually(lambda: stage.replicas() == 3)
    explained = json.loads(kscaled.tell("explain", "-o", "json", f"{stage.namespace}/worker").stdout)
    (trigger,) = explained["triggers"]
    assert (trigger["type"], trigger["metric"], trigger["push"]["state"]) == ("kubernetes-resource", "s0-configmap-queue-n", "on"), trigger


def test_hundred_numbers_one_watch(kscaled, stage, cluster, credentials):
    """Twenty objects, five triggers each, each trigger its own key of one ConfigMap: the API server watches one object for all of them, and each follows its own numbers."""
    stage.deployment()
    credentials.config_map("queue", **{f"n{i}": "0" for i in range(100)})

    def watching():
        """By the API server's own count."""
        answer = cluster.request("/metrics", user="system:admin", groups=["system:masters"])
        assert answer.status == 200, answer
        return sum(float(line.rpartition(" ")[2]) for line in answer.text.splitlines()
                   if line.startswith("apiserver_longrunning_requests{") and 'resource="configmaps"' in line and 'verb="WATCH"' in line)

    before = watching()
    for i in range(20):
        stage.scaledobject(f"o{i}", target=stage.another(f"o{i}"), triggers=[number(key=f"n{5 * i + k}") for k in range(5)], minReplicaCount=0, maxReplicaCount=3, **FAR)
    for i in range(20):
        stage.wait_ready(f"o{i}")
    assert 1 <= watching() <= before + 1  # one of an earlier test may have ended
    credentials.change_config_map("queue", n7="2", n99="3")
    eventually(lambda: (stage.replicas("o1"), stage.replicas("o19")) == (2, 3))
    assert all(stage.replicas(f"o{i}") == 0 for i in (0, 2, 18))


def test_many_watches(kscaled, stage, credentials):
    """A hundred and twenty ConfigMaps, all of which are watched: more than a connection to the API server carries."""
    stage.deployment()
    for i in range(12):
        names = [f"queue{10 * i + k}" for k in range(10)]
        for name in names:
            credentials.config_map(name, n="0")
        stage.scaledobject(f"o{i}", target=stage.another(f"o{i}"), triggers=[number(name=name) for name in names], **FAR)
    for i in range(12):
        stage.wait_ready(f"o{i}")
    for i in range(0, 12, 2):
        credentials.change_config_map(f"queue{10 * i + i % 10}", n="2")
    eventually(lambda: [stage.replicas(f"o{i}") for i in range(12)] == [2, 0] * 6)


def test_scaled_job(kscaled, job_stage):
    core = job_stage.cluster.core
    core.create_namespaced_config_map(job_stage.namespace, {"metadata": {"name": "queue"}, "data": {"n": "0"}})
    job_stage.scaledjob(triggers=[number()], pollingInterval=7200)
    eventually(lambda: job_stage.says("Ready", "True"))
    core.patch_namespaced_config_map("queue", job_stage.namespace, {"data": {"n": "2"}})
    eventually(lambda: len(job_stage.jobs_of()) == 2)


def test_restarted_api_server(kscaled, stage, credentials, disturb):
    """Nothing is scaled in meanwhile, and what changed is seen."""
    credentials.config_map("queue", n="3")
    stage.deployment()
    stage.ready_scaledobject(triggers=[number()], **FAR)
    eventually(lambda: stage.replicas() == 3)
    disturb.restart("kube-apiserver", "--signal", "KILL")
    throughout(lambda: stage.replicas() == 3, until=after(2))
    disturb.restart("kube-controller-manager", "--signal", "KILL")
    credentials.change_config_map("queue", n="4")
    eventually(lambda: stage.replicas() == 4)


@pytest.mark.parametrize("plural", ["configmaps", "secrets"])
@pytest.mark.refused("list configmaps", "watch configmaps", "get configmaps", "list secrets", "watch secrets", "get secrets")
def test_forbidden(kscaled, stage, credentials, installation, restored, cluster, plural):
    """No right: an error that says so, never 0; the right comes back and so does the number."""
    kind = {"configmaps": "ConfigMap", "secrets": "Secret"}[plural]
    metric = f"s0-{kind.lower()}-queue-n"
    role_name = {"configmaps": "kscaled-workloads", "secrets": "kscaled-secrets"}[plural]
    role = json.loads(cluster.kubectl("get", "clusterrole", role_name, "-o", "json"))
    role["rules"] = [rule for rule in role["rules"] if rule["resources"] != [plural]] or [{"apiGroups": [""], "resources": ["nodes"], "resourceNames": ["none"], "verbs": ["get"]}]
    cluster.kubectl("replace", "-f", "-", stdin=json.dumps(role))
    eventually(lambda: cluster.kubectl("auth", "can-i", "list", plural, "-n", stage.namespace, "--as=system:serviceaccount:kscaled:kscaled", check=False).strip() == "no")
    (credentials.secret if kind == "Secret" else credentials.config_map)("queue", n="1")
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[number(kind)], pollingInterval=1, cooldownPeriod=0)
    stage.wait_failing()
    eventually(lambda: f"a role with the verbs list and watch on {plural} is missing" in str(stage.metric(metric)))  # a denial is believed when it has stood
    throughout(lambda: stage.replicas() == 2, until=after(2))
    installation.apply()
    eventually(lambda: stage.says("Active", "True"), timeout=60)
    eventually(lambda: says(stage, 1, metric))


def test_restricted_secrets(launch, restored, stage, credentials, cluster):
    """Refused with the option's name, and nothing is asked for; ConfigMaps are no secrets, and the one namespace is allowed."""
    n = stage.namespace
    restored.apply("--restrict-secret-access")
    may = lambda where: cluster.kubectl("auth", "can-i", "list", "secrets", "-n", where, "--as=system:serviceaccount:kscaled:kscaled", check=False).strip()
    eventually(lambda: (may(n), may("kscaled")) == ("no", "yes"))
    launch(options={"restrict_secret_access": "true"}).wait_serving()
    credentials.secret("queue", n="3")
    credentials.secret(n, namespace="kscaled", n="3")
    credentials.config_map("queue", n="3")
    stage.deployment("denied", replicas=1)
    stage.scaledobject("denied", triggers=[number("Secret")], **FAR)
    stage.deployment("map")
    stage.scaledobject("map", triggers=[number()], **FAR)
    message = stage.wait_refused("denied")
    assert f"Secret {n}/queue is not read: --restrict-secret-access allows Secrets of namespace kscaled only" in message
    eventually(lambda: stage.replicas("map") == 3)
    assert stage.replicas("denied") == 1
    own = type(stage)(cluster, "kscaled", stage.redis)
    try:
        own.deployment(n)
        own.scaledobject(n, triggers=[number("Secret", name=n)], **FAR)
        eventually(lambda: own.replicas(n) == 3)
    finally:
        own.delete(n)
        own.gone(n)
        cluster.apps.delete_namespaced_deployment(n, "kscaled")


WRONG = {
    "no-kind": ({"resourceKind": None}, 'missing required parameter "resourceKind"'),
    "other-kind": ({"resourceKind": "Pod"}, "must be one of Secret, ConfigMap"),
    "no-name": ({"resourceName": None}, 'missing required parameter "resourceName"'),
    "bad-name": ({"resourceName": "../queue"}, 'parameter "resourceName" value "../queue" cannot be the name of a ConfigMap'),
    "no-key": ({"key": None}, 'missing required parameter "key"'),
    "bad-key": ({"key": "a/b"}, 'parameter "key" value "a/b" cannot be a key'),
    "format": ({"format": "xml"}, "must be one of number, json, yaml"),
    "type": ({"valueType": "int"}, "must be one of float64, int64, quantity"),
    "location": ({"valueLocation": "a"}, 'parameter "valueLocation" is only supported with json or yaml format'),
    "no-location": ({"format": "json"}, 'parameter "valueLocation" is required for json format'),
    "bad-location": ({"format": "json", "valueLocation": "a.#("}, 'parameter "valueLocation" value "a.#(", for format json: position 3'),
    "no-target": ({"targetValue": None}, "no targetValue given"),
    "zero": ({"targetValue": "0"}, 'parameter "targetValue" value "0" must be greater than 0'),
}


def test_refused(kscaled, stage):
    for name, (change, _) in WRONG.items():
        trigger = number()
        trigger["metadata"] = {key: value for key, value in {**trigger["metadata"], **change}.items() if value is not None}
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[trigger])
    for name, (_, message) in WRONG.items():
        said = stage.wait_refused(name)
        assert message in said and "trigger 0 (kubernetes-resource)" in said, said
    assert all(stage.replicas(name) == 1 for name in WRONG)
