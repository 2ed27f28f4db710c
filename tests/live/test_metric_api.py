# SPDX-License-Identifier: Apache-2.0
"""The external metrics API: through the aggregator as the HPA controller asks, and straight at the endpoint."""
import concurrent.futures
import datetime
import json
import re
import time

import pytest

from rig import pki
from rig.cluster import METRICS
from rig.waiting import after, eventually, throughout


@pytest.fixture
def jobs(kscaled, stage):
    """A stage with one ScaledObject and three items."""
    stage.deployment(replicas=0)
    stage.push(3)
    stage.ready_scaledobject(maxReplicaCount=1)
    return stage


# --- the answer ---

@pytest.mark.journey
def test_as_the_hpa_controller(jobs):
    answer = eventually(lambda: (a := jobs.metric()).status == 200 and a)
    now = datetime.datetime.now(datetime.timezone.utc)
    document = answer.json
    stamp = document["items"][0].pop("timestamp")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp)
    assert abs(now - datetime.datetime.fromisoformat(stamp)) < datetime.timedelta(seconds=4)
    assert document == {
        "kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1", "metadata": {},
        "items": [{"metricName": f"s0-redis-{jobs.jobs}", "metricLabels": None, "value": "3"}],
    }
    assert answer.headers["Content-Type"].startswith("application/json")


def test_kubectl_get_raw(jobs):
    text = jobs.cluster.kubectl("get", "--raw", jobs.path())
    assert json.loads(text)["items"][0]["value"] == "3"


def test_value_is_that_of_now(jobs):
    """No answer is older than --metrics-max-age, 1 s."""
    for count in (7, 2, 0, 11):
        jobs.drain()
        if count:
            jobs.push(count)
        throughout(lambda: None, until=after(1.05))
        assert jobs.metric().value() == str(count)


def test_name_is_compared_without_case(jobs):
    assert jobs.metric(f"S0-Redis-{jobs.jobs.upper()}").value() == "3"


def test_other_labels_are_not_looked_at(jobs):
    assert jobs.metric(selector="scaledobject.keda.sh/name=worker,other=label").value() == "3"
    assert jobs.metric(selector="scaledobject.keda.sh/name==worker").value() == "3"


def test_many_askers_share_one_question(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(3)
    stage.ready_scaledobject(maxReplicaCount=1, pollingInterval=300)
    stage.metric().value()
    throughout(lambda: None, until=after(1.05))
    before, begin = stage.redis.evals(stage.client), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: stage.metric().value(), range(48)))
    assert set(answers) == {"3"}
    assert stage.redis.evals(stage.client) - before <= 3 + time.monotonic() - begin, "one question a second, however many ask"


def test_inactive_object_is_answered(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    assert stage.metric().value() == "0"


# --- who may ask ---

def test_denied_user(jobs):
    message = jobs.cluster.request(jobs.path(), user="somebody", groups=("system:authenticated",)).failure(403, "Forbidden")
    assert "somebody" in message


def test_directly_without_credentials(kscaled, jobs):
    kscaled.ask(jobs.path()).failure(401, "Unauthorized")


def test_directly_with_tokens(kscaled, jobs):
    reader, stranger = jobs.account("reader", True), jobs.account("stranger", False)
    assert kscaled.ask(jobs.path(), token=reader).value() == "3"
    message = kscaled.ask(jobs.path(), token=stranger).failure(403, "Forbidden")
    assert f"system:serviceaccount:{jobs.namespace}:stranger" in message
    kscaled.ask(jobs.path(), token="no-token").failure(401, "Unauthorized")
    kscaled.ask(jobs.path(), token=reader[:-2]).failure(401, "Unauthorized")
    kscaled.ask(jobs.path(), headers={"Authorization": "Basic YTpi"}).failure(401, "Unauthorized")
    # Asked again, out of memory, the verdicts are the same.
    assert kscaled.ask(jobs.path(), token=reader).value() == "3"
    kscaled.ask(jobs.path(), token=stranger).failure(403, "Forbidden")
    kscaled.ask(jobs.path(), token="no-token").failure(401, "Unauthorized")
    assert reader not in kscaled.log() and stranger not in kscaled.log(), "tokens are never logged"


def test_right_in_one_namespace_is_none_in_another(kscaled, jobs):
    reader = jobs.account("reader", True)
    kscaled.ask(jobs.path().replace(f"/{jobs.namespace}/", "/default/"), token=reader).failure(403, "Forbidden")


def test_front_proxy(kscaled, jobs):
    """Whoever has the aggregator's certificate speaks for the user in the header; nobody else does."""
    aggregator = {"cert": jobs.cluster.pki("front-proxy-client.crt"), "key": jobs.cluster.pki("front-proxy-client.key")}
    user = {"X-Remote-User": "system:serviceaccount:kube-system:horizontal-pod-autoscaler", "X-Remote-Group": "system:authenticated"}
    assert kscaled.ask(jobs.path(), headers=user, **aggregator).value() == "3"
    kscaled.ask(jobs.path(), headers={"X-Remote-User": "somebody"}, **aggregator).failure(403, "Forbidden")
    kscaled.ask(jobs.path(), **aggregator).failure(401, "Unauthorized")
    masters = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    assert kscaled.ask(jobs.path(), headers=masters, **aggregator).value() == "3"
    # The headers without the certificate, and with a certificate of the cluster's other authority.
    kscaled.ask(jobs.path(), headers=masters).failure(401, "Unauthorized")
    kscaled.ask(jobs.path(), headers=masters, cert=jobs.cluster.pki("admin.crt"), key=jobs.cluster.pki("admin.key")).failure(401, "Unauthorized")


def test_front_proxy_of_another_name(kscaled, jobs, tmp_path):
    """Signed by the right authority, but not an allowed name."""
    authority = pki.Pair(jobs.cluster.pki("front-proxy-ca.crt"), jobs.cluster.pki("front-proxy-ca.key"))
    other = pki.certificate(tmp_path, "other", authority, "other-proxy", usage="clientAuth")
    masters = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    kscaled.ask(jobs.path(), headers=masters, cert=other.cert, key=other.key).failure(401, "Unauthorized")


def test_front_proxy_authority_is_watched(kscaled, jobs, tmp_path):
    """A second authority and name in the ConfigMap count at once, and no longer when they are taken out."""
    authority = pki.authority(tmp_path, "new-proxy-ca")
    proxy = pki.certificate(tmp_path, "new-proxy", authority, "new-proxy", usage="clientAuth")
    masters = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}

    def ask():
        return kscaled.ask(jobs.path(), headers=masters, cert=proxy.cert, key=proxy.key)

    ask().failure(401, "Unauthorized")
    core, name = jobs.cluster.core, ("extension-apiserver-authentication", "kube-system")
    before = core.read_namespaced_config_map(*name).data
    added = {"requestheader-client-ca-file": before["requestheader-client-ca-file"] + open(authority.cert, encoding="utf-8").read(),
             "requestheader-allowed-names": json.dumps(json.loads(before["requestheader-allowed-names"]) + ["new-proxy"])}
    try:
        core.patch_namespaced_config_map(*name, {"data": added})
        eventually(lambda: ask().status == 200)
    finally:
        core.patch_namespaced_config_map(*name, {"data": {key: before[key] for key in added}})
    eventually(lambda: ask().status == 401)
    assert jobs.metric().value() == "3"


# --- what cannot be answered ---

def test_unknown(jobs):
    assert "nowhere" in jobs.cluster.as_hpa_controller(f"{METRICS}/namespaces/nowhere/s0-redis-x?labelSelector=scaledobject.keda.sh%2Fname%3Dworker").failure(404, "NotFound")
    assert "nobody" in jobs.metric(name="nobody").failure(404, "NotFound")
    assert "s7-redis-nothing" in jobs.metric("s7-redis-nothing").failure(404, "NotFound")


@pytest.mark.parametrize("selector", [
    "", "scaledobject.keda.sh/name in (worker)", "scaledobject.keda.sh/name!=worker", "scaledobject.keda.sh/name", "!x", "other=label", "scaledobject.keda.sh/name=",
    "=,=", "scaledobject.keda.sh/name=worker,", "a=b,,c=d", "x" * 5000,
], ids=lambda s: s[:24] or "none")
def test_bad_selectors(jobs, selector):
    jobs.metric(selector=selector).failure(400, "BadRequest")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_methods(kscaled, jobs, method):
    proxy = {"cert": jobs.cluster.pki("front-proxy-client.crt"), "key": jobs.cluster.pki("front-proxy-client.key"),
             "headers": {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}}
    answer = kscaled.ask(jobs.path(), method=method, **proxy)
    answer.failure(405, "MethodNotAllowed")
    assert "GET" in answer.headers["Allow"]
    jobs.cluster.request(jobs.path(), method=method, body={}).failure(405, "MethodNotAllowed")


def test_unknown_paths(kscaled, jobs):
    for path in (f"{METRICS}/x", f"{METRICS}/namespaces/a/b/c", f"{METRICS}/namespaces//s0", "/apis/custom.metrics.k8s.io", "/api/v1/secrets", "/..", "/%2e%2e/etc/passwd", "/%00"):
        answer = kscaled.ask(path, cert=jobs.cluster.pki("front-proxy-client.crt"), key=jobs.cluster.pki("front-proxy-client.key"),
                             headers={"X-Remote-User": "root", "X-Remote-Group": "system:masters"})
        assert answer.status in (400, 404), (path, answer)


def test_object_that_cannot_be_read(kscaled, stage):
    stage.deployment(replicas=0)
    stage.scaledobject(triggers=[stage.trigger(listLength="many")])
    stage.wait_refused()
    assert "listLength" in stage.metric().failure(503, "ServiceUnavailable")


# --- documents ---

def test_discovery(kscaled, stage):
    for path in ("/apis", "/apis/external.metrics.k8s.io", METRICS):
        assert stage.cluster.request(path).status == 200
    groups = {g["name"]: g for g in stage.cluster.request("/apis").json["groups"]}
    assert groups["external.metrics.k8s.io"]["preferredVersion"] == {"groupVersion": "external.metrics.k8s.io/v1beta1", "version": "v1beta1"}
    resources = stage.cluster.request(METRICS).json
    assert resources == {
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "external.metrics.k8s.io/v1beta1",
        "resources": [{"name": "externalmetrics", "singularName": "", "namespaced": True, "kind": "ExternalMetricValueList", "verbs": ["get"]}],
    }
    assert "externalmetrics" in stage.cluster.kubectl("api-resources", "--api-group=external.metrics.k8s.io")
    # The same straight from us, aggregated form included.
    reader = stage.account("reader", True)
    for path in ("/apis", "/apis/external.metrics.k8s.io", METRICS, "/version"):
        assert kscaled.ask(path, token=reader).status == 200
        kscaled.ask(path).failure(401, "Unauthorized")
    aggregated = kscaled.ask("/apis", token=reader, headers={"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"})
    assert aggregated.json["kind"] == "APIGroupDiscoveryList"
    assert "as=APIGroupDiscoveryList" in aggregated.headers["Content-Type"]


def test_openapi(kscaled, stage):
    """The API server takes our documents in, without complaint in its log (which is looked through at the end of the session, too)."""
    log = stage.cluster.component_log("kube-apiserver")
    start = log.stat().st_size
    kscaled.installation.cluster.registration.patch_api_service("v1beta1.external.metrics.k8s.io", {"metadata": {"annotations": {"test": stage.namespace}}})

    def in_v3():
        index = stage.cluster.request("/openapi/v3").json["paths"]
        return index.get("apis/external.metrics.k8s.io/v1beta1")

    entry = eventually(in_v3, timeout=100)
    document = stage.cluster.request(entry["serverRelativeURL"])
    assert document.status == 200 and document.json["openapi"].startswith("3."), document
    assert any("/namespaces/{namespace}/{" in path for path in document.json["paths"])
    eventually(lambda: any(path.startswith(METRICS) for path in stage.cluster.request("/openapi/v2").json["paths"]), timeout=100)
    said = log.read_text(errors="replace")[start:] if start == 0 else log.read_bytes()[start:].decode(errors="replace")
    assert not [line for line in said.splitlines() if line.startswith(("E", "W")) and "external.metrics" in line and "openapi" in line.lower()]


def test_probes_need_no_credentials(kscaled):
    for path in ("/healthz", "/readyz", "/livez", "/healthz/ping", "/readyz?verbose"):
        assert kscaled.ask(path).status == 200
    kscaled.ask("/metrics").failure(401, "Unauthorized")


# --- the log ---

def test_access_log(kscaled, jobs):
    reader = jobs.account("reader", True)
    start = kscaled.log_size()
    kscaled.ask(jobs.path(), token=reader, headers={"User-Agent": "tester/1.0 (forged\tline)"})
    line = eventually(lambda: next((l for l in kscaled.log(start).splitlines() if "tester/1.0" in l), None))
    assert "debug" in line and "GET" in line and jobs.path().partition("?")[0] in line
    assert f"system:serviceaccount:{jobs.namespace}:reader" in line and "127.0.0.1:" in line
    assert re.search(r"\b200\b", line) and re.search(r"\d ?(ms|us|µs|s)\b", line), "code and latency"


def test_values_keep_their_precision(kscaled, stage):
    stage.deployment(replicas=0)
    with stage.client.pipeline(transaction=False) as pipe:
        for start in range(0, 120000, 20000):
            pipe.rpush(stage.jobs, *range(start, start + 20000))
        pipe.rpush(stage.jobs, "one more")
        pipe.execute()
    stage.ready_scaledobject(maxReplicaCount=1)
    assert stage.metric().value() == "120001"
