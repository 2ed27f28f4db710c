# SPDX-License-Identifier: Apache-2.0
"""The Helm chart: made from what `kscaled manifests` prints, and what the real helm makes of it.

KSCALED=src/kscaled python -m pytest tests/artefacts/test_chart.py
"""
import json
import re
import time
import xml.etree.ElementTree as ET

import pytest
import yaml

from control_plane import KSCALED, ControlPlane, manifests, objects, run, tools
from rig.waiting import DEFINITIONS_GONE

NAMESPACE = "scaling"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    plane = ControlPlane(tmp_path_factory.mktemp("cluster"))
    try:
        plane.up(tools() / "crds")
        plane.kubectl("create", "namespace", NAMESPACE)
        for name in ("shop", "bank"):
            plane.kubectl("create", "namespace", name)
        yield plane
    finally:
        plane.down()


@pytest.fixture
def render(helm, chart, tmp_path):
    def rendered(values=None):
        path = tmp_path / "values.yaml"
        path.write_text(yaml.safe_dump(values or {}))
        return helm("template", "kscaled", chart, "--namespace", NAMESPACE, "--values", path).stdout
    return rendered


def restrict(**more):
    return {"permissions": {"operator": {"restrict": more}}}


def monitor(kind):
    return {"prometheus": {"operator": {"enabled": True, kind: {"enabled": True}}}}


# What can be said both ways: values, and options of `kscaled manifests`.
SAME = {
    "defaults": ({}, []),
    "image": ({"image": {"registry": "registry.example.com:5000", "repository": "a/kscaled", "tag": "7"}}, ["--image", "registry.example.com:5000/a/kscaled:7"]),
    "global registry": ({"global": {"image": {"registry": "r.example"}}, "image": {"tag": "7"}}, ["--image", "r.example/kscaled:7"]),
    "service name": ({"service": {"name": "metrics"}}, ["--service-name", "metrics"]),
    "watched": ({"watchNamespace": "shop, bank"}, ["--watch-namespace", "shop,bank"]),
    "watched, all less": ({"watchNamespace": "shop,default", "scaledJobs": {"enabled": False}, "webhooks": {"enabled": False}, "rbac": {"enabledCustomScaledRefKinds": False}, **restrict(secret=True)},
                          ["--watch-namespace", "shop,default", "--no-scaledjobs", "--no-webhook", "--scale-kinds", "deployments,statefulsets", "--restrict-secret-access"]),
    "watched, tokens": ({"watchNamespace": "shop", **restrict(allowAllServiceAccountTokenCreation=True)}, ["--watch-namespace", "shop", "--service-account-tokens"]),
    "kinds": ({"rbac": {"scaledRefKinds": [{"apiGroup": "argoproj.io", "kind": "rollouts"}]}}, ["--scale-kinds", "deployments,statefulsets,rollouts.argoproj.io"]),
    "tokens": (restrict(allowAllServiceAccountTokenCreation=True), ["--service-account-tokens"]),
    "secrets": (restrict(secret=True), ["--restrict-secret-access"]),
    "no jobs": ({"scaledJobs": {"enabled": False}}, ["--no-scaledjobs"]),
    "no webhook": ({"webhooks": {"enabled": False}}, ["--no-webhook"]),
    "no crds": ({"crds": {"install": False}}, ["--no-crds"]),
    "replicas": ({"operator": {"replicaCount": 3}}, ["--replicas", "3"]),
    "KEDA's replicas": ({"operator": {"replicaCount": 1}, "metricsServer": {"replicaCount": 2}, "webhooks": {"replicaCount": 3}}, ["--replicas", "3"]),
    "priority": ({"priorityClassName": "system-cluster-critical"}, ["--priority-class", "system-cluster-critical"]),
    "network policy": ({"networkPolicy": {"enabled": True}}, ["--network-policy"]),
    "pod monitor": (monitor("podMonitor"), ["--monitor", "pod"]),
    "service monitor": (monitor("serviceMonitor"), ["--monitor", "service"]),
    "all of it": ({"operator": {"replicaCount": 2}, "priorityClassName": "a.b", "networkPolicy": {"enabled": True}, "watchNamespace": "shop", **monitor("serviceMonitor")},
                  ["--replicas", "2", "--priority-class", "a.b", "--network-policy", "--watch-namespace", "shop", "--monitor", "service"]),
}


@pytest.mark.parametrize("case", SAME)
def test_as_manifests(render, case):
    """One source: object for object the same. The namespace is Helm's to create."""
    values, options = SAME[case]
    expected = objects(manifests("--namespace", NAMESPACE, *options))
    del expected["Namespace", "", NAMESPACE]
    got = objects(render(values))
    assert set(got) == set(expected)
    for key, one in expected.items():
        assert got[key] == one, key


# What only the chart can say: values, and what is then at a path of an object.
POD = "spec.template.spec"
DEPLOYMENT = ("Deployment", NAMESPACE, "kscaled")
ACCOUNT = ("ServiceAccount", NAMESPACE, "kscaled")
ONLY = {
    "labels": ({"additionalLabels": {"team": "a"}, "podLabels": {"keda": {"b": "c"}}}, [
        (DEPLOYMENT, "metadata.labels.team", "a"), (DEPLOYMENT, "spec.template.metadata.labels.b", "c"), (DEPLOYMENT, "spec.template.metadata.labels.team", "a"),
        (("CustomResourceDefinition", "", "scaledobjects.keda.sh"), "metadata.labels.team", "a")]),
    "annotations": ({"additionalAnnotations": {"x": "1"}, "podAnnotations": {"keda": {"pod": "2"}}, "crds": {"additionalAnnotations": {"helm.sh/resource-policy": "keep"}},
                     "service": {"annotations": {"z": "3"}}, "serviceAccount": {"operator": {"annotations": {"role": "r"}}}}, [
        (DEPLOYMENT, "metadata.annotations", {"x": "1"}), (DEPLOYMENT, "spec.template.metadata.annotations", {"x": "1", "pod": "2"}),
        (("Service", NAMESPACE, "kscaled"), "metadata.annotations", {"x": "1", "z": "3"}), (("ServiceAccount", NAMESPACE, "kscaled"), "metadata.annotations", {"x": "1", "role": "r"}),
        (("CustomResourceDefinition", "", "scaledjobs.keda.sh"), "metadata.annotations", {"x": "1", "helm.sh/resource-policy": "keep"})]),
    "pod": ({"nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}], "imagePullSecrets": [{"name": "pull"}], "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["redis"]}],
             "operator": {"useHostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "dnsConfig": {"searches": ["a.example"]}, "revisionHistoryLimit": 3,
                          "extraInitContainers": [{"name": "i", "image": "x"}], "extraContainers": [{"name": "e", "image": "x"}]},
             "upgradeStrategy": {"operator": {"type": "Recreate"}}}, [
        (DEPLOYMENT, f"{POD}.nodeSelector", {"kubernetes.io/os": "linux", "disk": "ssd"}), (DEPLOYMENT, f"{POD}.tolerations", [{"operator": "Exists"}]),
        (DEPLOYMENT, f"{POD}.imagePullSecrets", [{"name": "pull"}]), (DEPLOYMENT, f"{POD}.hostAliases.0.ip", "10.0.0.1"), (DEPLOYMENT, f"{POD}.hostNetwork", True),
        (DEPLOYMENT, f"{POD}.dnsPolicy", "ClusterFirstWithHostNet"), (DEPLOYMENT, f"{POD}.dnsConfig.searches.0", "a.example"), (DEPLOYMENT, "spec.revisionHistoryLimit", 3),
        (DEPLOYMENT, f"{POD}.initContainers.0.name", "i"), (DEPLOYMENT, f"{POD}.containers.0.name", "e"), (DEPLOYMENT, f"{POD}.containers.1.name", "kscaled"),
        (DEPLOYMENT, "spec.strategy.type", "Recreate")]),
    "container": ({"image": {"pullPolicy": "Always"}, "resources": {"operator": {"limits": {"memory": "1Gi"}}}, "securityContext": {"operator": {"runAsUser": 7}},
                   "podSecurityContext": {"operator": {"runAsNonRoot": True, "fsGroup": 9}}, "env": [{"name": "VAULT_TOKEN", "value": "t"}],
                   "operator": {"livenessProbe": {"httpGet": {"path": "/healthz", "port": "status"}, "periodSeconds": 60}},
                   "volumes": {"keda": {"extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}], "extraVolumeMounts": [{"name": "ca", "mountPath": "/custom/ca"}]}}}, [
        (DEPLOYMENT, f"{POD}.containers.0.imagePullPolicy", "Always"), (DEPLOYMENT, f"{POD}.containers.0.resources", {"limits": {"memory": "1Gi"}}),
        (DEPLOYMENT, f"{POD}.containers.0.securityContext", {"runAsUser": 7}), (DEPLOYMENT, f"{POD}.securityContext", {"runAsNonRoot": True, "fsGroup": 9}),
        (DEPLOYMENT, f"{POD}.containers.0.env.3.name", "VAULT_TOKEN"), (DEPLOYMENT, f"{POD}.containers.0.livenessProbe.periodSeconds", 60),
        (DEPLOYMENT, f"{POD}.containers.0.volumeMounts.2.mountPath", "/custom/ca"), (DEPLOYMENT, f"{POD}.volumes.2.configMap.name", "ca")]),
    "options": ({"logging": {"operator": {"level": 4, "format": "json"}}, "http": {"timeout": 1500, "minTlsVersion": "TLS13", "tlsCipherList": "TLS_AES_128_GCM_SHA256"}, "extraArgs": {"keda": {"require-tls": True, "ca-dir": "/a"}}}, [
        (DEPLOYMENT, f"{POD}.containers.0.args.8", "--log-level=debug"), (DEPLOYMENT, f"{POD}.containers.0.args.9", "--log-format=json"),
        (DEPLOYMENT, f"{POD}.containers.0.args.10", "--http-timeout=1500"), (DEPLOYMENT, f"{POD}.containers.0.args.11", "--http-min-tls-version=TLS13"),
        (DEPLOYMENT, f"{POD}.containers.0.args.12", "--http-tls-cipher-list=TLS_AES_128_GCM_SHA256"), (DEPLOYMENT, f"{POD}.containers.0.args.13", "--ca-dir=/a"),
        (DEPLOYMENT, f"{POD}.containers.0.args.14", "--require-tls=true")]),
    "spread": ({"operator": {"replicaCount": 2}, "affinity": {"nodeAffinity": {}}, "podDisruptionBudget": {"operator": {"minAvailable": 1}},
                "topologySpreadConstraints": {"operator": [{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}]}}, [
        (DEPLOYMENT, f"{POD}.affinity", {"nodeAffinity": {}}), (DEPLOYMENT, f"{POD}.topologySpreadConstraints.0.topologyKey", "rack"),
        (("PodDisruptionBudget", NAMESPACE, "kscaled"), "spec.minAvailable", 1)]),
    "account": ({"serviceAccount": {"operator": {"create": False, "name": "mine"}}}, [
        (DEPLOYMENT, f"{POD}.serviceAccountName", "mine"), (("ClusterRoleBinding", "", "kscaled"), "subjects.0.name", "mine"), (("RoleBinding", NAMESPACE, "kscaled"), "subjects.0.name", "mine"),
        (("ClusterRoleBinding", "", "kscaled-external-metrics-reader"), "subjects.0.name", "horizontal-pod-autoscaler")]),
    "webhook": ({"webhooks": {"failurePolicy": "Fail", "timeoutSeconds": 5}}, [
        (("ValidatingWebhookConfiguration", "", "kscaled-admission"), "webhooks.3.failurePolicy", "Fail"), (("ValidatingWebhookConfiguration", "", "kscaled-admission"), "webhooks.0.timeoutSeconds", 5)]),
    "monitor": ({"prometheus": {"operator": {"enabled": True, "podMonitor": {"enabled": True, "namespace": "shop", "interval": "30s", "scrapeTimeout": "5s", "additionalLabels": {"release": "p"},
                                                                             "relabelings": [{"action": "labeldrop", "regex": "pod"}], "metricRelabelings": [{"action": "drop", "regex": "x"}]}}}}, [
        (("PodMonitor", "shop", "kscaled"), "spec.namespaceSelector.matchNames", [NAMESPACE]), (("PodMonitor", "shop", "kscaled"), "spec.podMetricsEndpoints.0.interval", "30s"),
        (("PodMonitor", "shop", "kscaled"), "spec.podMetricsEndpoints.0.relabelings.0.action", "labeldrop"), (("PodMonitor", "shop", "kscaled"), "metadata.labels.release", "p"),
        (("PodMonitor", "shop", "kscaled"), "spec.podMetricsEndpoints.0.metricRelabelings.0.regex", "x")]),
    "extra objects": ({"extraObjects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more", "namespace": "{{ .Release.Namespace }}"}}]}, [
        (("ConfigMap", NAMESPACE, "more"), "apiVersion", "v1")]),
    "Azure's identity": ({"podIdentity": {"azureWorkload": {"enabled": True, "clientId": "c", "tenantId": "t"}}, "podLabels": {"keda": {"b": "c", "azure.workload.identity/use": "true"}}}, [
        (DEPLOYMENT, "spec.template.metadata.labels.azure\\.workload\\.identity/use", "true"), (DEPLOYMENT, "spec.template.metadata.labels.b", "c"), (ACCOUNT, "metadata.labels.azure\\.workload\\.identity/use", "true"),
        (ACCOUNT, "metadata.annotations", {"azure.workload.identity/client-id": "c", "azure.workload.identity/tenant-id": "t", "azure.workload.identity/service-account-token-expiration": "3600"})]),
    "Amazon's identity": ({"podIdentity": {"aws": {"irsa": {"enabled": True, "roleArn": "arn:aws:iam::1:role/r"}}}, "additionalAnnotations": {"x": "1"},
                           "serviceAccount": {"operator": {"annotations": {"eks.amazonaws.com/token-expiration": "600"}}}}, [
        (ACCOUNT, "metadata.annotations", {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/r", "eks.amazonaws.com/audience": "sts.amazonaws.com", "eks.amazonaws.com/sts-regional-endpoints": "true",
                                           "eks.amazonaws.com/token-expiration": "600", "x": "1"})]),
    "Google's identity": ({"podIdentity": {"gcp": {"enabled": True, "gcpIAMServiceAccount": "keda@shop.iam.gserviceaccount.com"}}, "nodeSelector": {"disk": "ssd"}}, [
        (ACCOUNT, "metadata.annotations", {"iam.gke.io/gcp-service-account": "keda@shop.iam.gserviceaccount.com"}), (DEPLOYMENT, f"{POD}.containers.0.args.8", "--cloud-metadata=true"),
        (DEPLOYMENT, f"{POD}.nodeSelector", {"kubernetes.io/os": "linux", "disk": "ssd", "iam.gke.io/gke-metadata-server-enabled": "true"})]),
    "Google's identity, said twice": ({"podIdentity": {"gcp": {"enabled": True}}, "nodeSelector": {"iam.gke.io/gke-metadata-server-enabled": "true"}, "extraArgs": {"keda": {"cloud-metadata": False}}}, [
        (DEPLOYMENT, f"{POD}.containers.0.args.8", "--cloud-metadata=false"), (DEPLOYMENT, f"{POD}.nodeSelector", {"kubernetes.io/os": "linux", "iam.gke.io/gke-metadata-server-enabled": "true"})]),
    "hook": ({"uninstall": {"hook": True, "restoreReplicas": True, "timeoutSeconds": 60}, "service": {"name": "metrics"}}, [
        (("Job", NAMESPACE, "kscaled-leave"), "metadata.annotations.helm\\.sh/hook", "pre-delete"),
        (("Job", NAMESPACE, "kscaled-leave"), f"{POD}.containers.0.args", ["leave", "--in-cluster", "--kubeconfig=/etc/kscaled-leave/kubeconfig", f"--namespace={NAMESPACE}", "--service-name=metrics", "--restore-replicas"]),
        (("Job", NAMESPACE, "kscaled-leave"), "spec.activeDeadlineSeconds", 60), (("Job", NAMESPACE, "kscaled-leave"), f"{POD}.serviceAccountName", "kscaled-leave"),
        (("ClusterRoleBinding", "", "kscaled-leave"), "subjects.0", {"kind": "ServiceAccount", "name": "kscaled-leave", "namespace": NAMESPACE})]),
}


def at(value, path):
    for word in re.split(r"(?<!\\)\.", path):
        value = value[int(word)] if isinstance(value, list) else value[word.replace("\\.", ".")]
    return value


@pytest.mark.parametrize("case", ONLY)
def test_values(render, case):
    values, expected = ONLY[case]
    got = objects(render(values))
    for key, path, value in expected:
        assert at(got[key], path) == value, (key, path)
    assert (("ServiceAccount", NAMESPACE, "kscaled") in got) == (case != "account")


def test_options_are_kscaleds(render):
    """What the Pod is started with, the program takes: it gets as far as to look for the cluster."""
    for case in ("options", "labels"):
        container = objects(render(ONLY[case][0]))[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0]
        done = run(KSCALED, *container["args"], check=False, timeout=60)
        assert done.returncode != 0 and "not in a pod" in done.stderr, done.stderr


def test_without_rights(render):
    kinds = {kind for kind, _, _ in objects(render({"rbac": {"create": False}}))}
    assert not kinds & {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"} and "Deployment" in kinds


def test_strictly_accepted(render, cluster):
    """Whatever can be said, the API server knows each field, and takes its value: as stands in the chart, and as `kscaled manifests` prints."""
    for case, (values, options) in SAME.items():
        if case in ("defaults", "watched, all less", "watched, tokens", "kinds", "all of it", "pod monitor"):
            cluster.accepts(render(values))
            cluster.accepts(manifests("--namespace", NAMESPACE, *options))
    for values, _ in ONLY.values():
        cluster.accepts(render({"crds": {"install": False}, **{name: value for name, value in values.items() if name != "crds"}}))


def test_lint(helm, chart, tmp_path):
    for name, (values, _) in {**SAME, **ONLY}.items():
        path = tmp_path / "values.yaml"
        path.write_text(yaml.safe_dump(values))
        done = helm("lint", "--strict", chart, "--values", path, check=False)
        assert done.returncode == 0, (name, done.stdout)
        assert "WARNING" not in done.stdout and "ERROR" not in done.stdout


@pytest.mark.parametrize("setting, named", [
    ("operator.replicaCount=0", "/operator/replicaCount"), ("operator.replicaCount=two", "/operator/replicaCount"), ("watchNamespace=Shop", "/watchNamespace"),
    ("image.repository=", "/image/repository"), ("image.pullPolicy=Sometimes", "/image/pullPolicy"), ("webhooks.failurePolicy=ignore", "/webhooks/failurePolicy"),
    ("webhooks.timeoutSeconds=31", "/webhooks/timeoutSeconds"), ("service.name=1a", "/service/name"), ("logging.operator.level=loud", "/logging/operator/level"),
    ("http.minTlsVersion=SSL3", "/http/minTlsVersion"), ("priorityClassName=High", "/priorityClassName"), ("rbac.scaledRefKinds[0].kind=Rollout,rbac.scaledRefKinds[0].apiGroup=argoproj.io", "/rbac/scaledRefKinds/0/kind"),
    ("podDisruptionBudget.operator.most=1", "/podDisruptionBudget/operator"), ("crds.install=yes", "/crds/install"), ("prometheus.operator.podMonitor.interval=often", "/prometheus/operator/podMonitor/interval"),
    ("env=x", "/env"),
])
def test_bad_values_are_refused_by_name(helm, chart, setting, named):
    done = helm("template", "kscaled", chart, "--set", setting, check=False)
    assert done.returncode != 0
    assert named in done.stderr or named.strip("/").replace("/", ".") in done.stderr, done.stderr


def notes(helm, chart, cluster, path):
    return helm("install", "kscaled", chart, "--kubeconfig", cluster.kubeconfig, "--namespace", NAMESPACE, "--dry-run=client", "--values", path).stdout.split("NOTES:")[1]


def test_notes_name_what_has_no_effect(helm, chart, cluster, tmp_path):
    """Values as they are written for KEDA: what means the same is taken, the rest named with its reason, and nothing fails."""
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump({
        "image": {"keda": {"repository": "ghcr.io/kedacore/keda", "tag": "2.20.2"}, "pullPolicy": "Always"}, "clusterDomain": "cluster.local", "watchNamespace": "shop",
        "operator": {"name": "keda-operator", "replicaCount": 2}, "metricsServer": {"replicaCount": 2, "affinity": {}}, "podIdentity": {"aws": {"irsa": {"enabled": True}, "none": {}}},
        "logging": {"operator": {"level": "info", "format": "console"}, "webhooks": {"level": "info"}}, "prometheus": {"operator": {"enabled": False, "podMonitor": {"enabled": False, "intervall": "3s"}}},
        "networkPolicy": {"enabled": True, "flavor": "kubernetes"}, "certificates": {"autoGenerated": True}, "nonsense": {"a": 1}}))
    told = notes(helm, chart, cluster, path)
    for line in ("image.keda: has no effect, that is KEDA's image", "clusterDomain: has no effect", "operator.name: has no effect", "metricsServer.affinity: has no effect, kscaled is one process",
                 "podIdentity.aws.none: no such value", "logging.webhooks: has no effect", "prometheus.operator.podMonitor.intervall: no such value", "networkPolicy.flavor: has no effect",
                 "certificates: has no effect", "nonsense: no such value"):
        assert line in told, told
    assert told.count("no effect") == 1 + 10, told
    path.write_text("{}")
    assert "WARNING" not in notes(helm, chart, cluster, path)


@pytest.mark.parametrize("image, told", [
    ({}, "kscaled:"), ({"repository": "team/kscaled"}, "team/kscaled:"), ({"registry": "registry.example.com"}, None), ({"registry": "localhost"}, None), ({"repository": "host:5000/kscaled"}, None)])
def test_notes_say_that_nodes_need_the_image(helm, chart, cluster, tmp_path, image, told):
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump({"image": image}))
    text = notes(helm, chart, cluster, path)
    assert ("ErrImagePull" in text) == (told is not None), text
    if told:
        assert f"The image {told}" in text and f"kubectl -n {NAMESPACE} get pods" in text and "--set image.registry=" in text
        path, _, heading = re.search(r"/blob/HEAD/(\S+)", text)[1].partition("#")
        assert f"\n## {heading.replace('-', ' ').capitalize()}\n" in (TOP / path).read_text()


def test_what_others_show_of_it(helm, chart):
    """As Artifact Hub reads it; the icon is a file of the source."""
    about = yaml.safe_load(helm("show", "chart", chart).stdout)
    home, source = re.findall(r"\[(https:[^]]*)\]\)$", (TOP / "configure.ac").read_text(), re.M)
    assert about["home"] == home and about["sources"] == [source] and about["keywords"] and about["maintainers"]
    assert f"url: {home}/manual/" in about["annotations"]["artifacthub.io/links"] and about["annotations"]["artifacthub.io/license"] == "Apache-2.0"
    icon = TOP / about["icon"].removeprefix(f"{source}/raw/HEAD/")
    assert ET.parse(icon).getroot().tag == "{http://www.w3.org/2000/svg}svg" and icon.stat().st_size < 2000
    assert "icon is recommended" not in helm("lint", chart).stdout


def keys(tree, path=""):
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from keys(value, f"{path}{name}.")
        else:
            yield path + name


def test_each_value_is_told(chart):
    """values.yaml, its schema and the README's table name the same values."""
    values = set(keys(yaml.safe_load((chart / "values.yaml").read_text())))
    schema = json.loads((chart / "values.schema.json").read_text())
    readme = (chart / "README.md").read_text()

    def taken(node, path=""):
        for name, one in node["properties"].items():
            if one.get("description", "").startswith("no effect: "):
                continue
            if "properties" in one and path + name not in values:
                yield from taken(one, f"{path}{name}.")
            else:
                yield path + name

    # Read where they are given, and printed for none: KEDA's.
    others = {"global.image.registry", "global.dnsConfig", "metricsServer.replicaCount", "webhooks.replicaCount"}
    assert set(taken(schema)) == values | others
    for name in values | others:
        assert f"`{name}`" in readme, name


def test_its_life(helm, chart, cluster, tmp_path):
    """Installed, upgraded, rolled back and uninstalled, while nothing answers for the APIServices, as no Pod runs here; and nothing is left."""
    helm_in = lambda *arguments: helm(*arguments, "--kubeconfig", cluster.kubeconfig, "--namespace", "installed")
    before = cluster.left()
    assert before == []
    packed = next(chart.parent.glob("kscaled-*.tgz"))
    helm_in("install", "kscaled", packed, "--create-namespace")
    there = lambda *names: cluster.kubectl("-n", "installed", "get", ",".join(names), "-o", "name").stdout.split()
    assert there("deployment", "service", "serviceaccount", "role") == ["deployment.apps/kscaled", "service/kscaled", "serviceaccount/default", "serviceaccount/kscaled", "role.rbac.authorization.k8s.io/kscaled"]
    cluster.kubectl("wait", "--for=condition=Established", "customresourcedefinition/scaledobjects.keda.sh", "--timeout=60s")
    # The aggregator has looked, and nobody is there: that is when clients stumble over the API's groups.
    cluster.kubectl("wait", "--for=jsonpath={.status.conditions[0].status}=False", "apiservice/v1beta1.external.metrics.k8s.io", "--timeout=60s")
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump({"operator": {"replicaCount": 3}, "networkPolicy": {"enabled": True}, "watchNamespace": "shop,bank", **monitor("serviceMonitor")}))
    helm_in("upgrade", "kscaled", chart, "--values", path)
    assert len(there("poddisruptionbudget", "networkpolicy", "servicemonitor")) == 3
    assert cluster.kubectl("-n", "installed", "get", "deployment", "kscaled", "-o", "jsonpath={.spec.replicas}").stdout == "3"
    assert cluster.kubectl("-n", "bank", "get", "role", "kscaled-workloads", "-o", "name").stdout.strip()
    assert "kscaled-workloads" not in cluster.kubectl("get", "clusterrole", "-o", "name").stdout
    # The Deployment makes its Pods, and each is accepted.
    deadline = time.monotonic() + 60
    while len(there("pods")) < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(there("pods")) >= 3  # and one of before: it goes when these are ready
    helm_in("rollback", "kscaled", "1")
    assert there("poddisruptionbudget", "networkpolicy", "servicemonitor") == []
    helm_in("uninstall", "kscaled", "--wait", "--timeout", f"{DEFINITIONS_GONE}s")
    cluster.kubectl("delete", "namespace", "installed", "--timeout=60s")
    assert cluster.left() == []
