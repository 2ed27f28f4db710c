# SPDX-License-Identifier: Apache-2.0
"""
The loki trigger against a server that is not Loki (rig/loki_fake.py) but holds each request against Loki's documentation. Ways to log in and TLS are those of prometheus, and tried there.
"""
import pytest

from rig import http_source
from rig.daemon import run
from rig.http_source import HttpSource
from rig.loki_fake import LokiFake, lines
from rig.process import free_port
from rig.waiting import after, eventually, throughout

QUERY = 'sum(rate({app="shop"} |= "error & ä+#" [2m]))'


@pytest.fixture
def loki():
    server = LokiFake({QUERY: [7]})
    yield server
    server.end()
    assert server.wrong == []


def trigger(server, query=QUERY, **metadata):
    """A None takes a default away; _name and so on are fields beside metadata."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    values = {"serverAddress": getattr(server, "url", server), "query": query, "threshold": "5", **metadata}
    return {"type": "loki", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **fields}


def value(stage, index=0, name="worker"):
    return stage.metric(f"s{index}-loki", name).value()


def says(stage, words, index=0, name="worker"):
    """Sooner or later: the poll before may have met something else."""
    def told():
        message = stage.metric(f"s{index}-loki", name).failure(503, "ServiceUnavailable")
        assert words in message, message
        return message
    return eventually(told)


def test_zero_to_many_and_back(kscaled, stage, loki):
    loki.answers[QUERY] = [3]
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(loki, activationThreshold="3")])
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    loki.answers[QUERY] = ["22.5"]
    eventually(lambda: value(stage) == "22500m")
    eventually(lambda: stage.replicas() == 5)
    loki.answers[QUERY] = []
    eventually(lambda: stage.replicas() == 0)
    assert value(stage) == "0"


def test_tenants_paths_and_logins(kscaled, stage, credentials):
    """The tenant's header; what the address has of the path already; basic."""
    shared, gateway = LokiFake({QUERY: [4]}, tenants=["team 1"]), LokiFake({QUERY: [6]}, prefix="/logs", login=("me", "p@ss"))
    try:
        credentials.secret("web", username="me", password="p@ss")
        credentials.authentication("web", secretTargetRef=[{"parameter": key, "name": "web", "key": key} for key in ("username", "password")])
        one = {"authModes": "basic", "_authenticationRef": {"name": "web"}}
        stage.deployment(replicas=0)
        stage.deployment("failing", replicas=2)
        stage.ready_scaledobject(triggers=[trigger(shared, tenantName="team 1"), trigger(f"{shared.url}/loki", tenantName="team 1"), trigger(f"{shared.url}/loki/api/v1/query/", tenantName="team 1"), trigger(gateway, **one)])
        assert [value(stage, index) for index in range(4)] == ["4", "4", "4", "6"]
        stage.scaledobject("failing", triggers=[trigger(shared), trigger(shared, tenantName="other"), trigger(gateway)])
        stage.wait_failing("failing")
        assert "query sum(rate(" in says(stage, "HTTP status 401: no org id", 0, "failing")
        says(stage, "HTTP status 401: no org id", 1, "failing")
        says(stage, "HTTP status 401: Unauthorized", 2, "failing")
        credentials.change_secret("web", password="rotated")
        assert "p@ss" not in says(stage, "HTTP status 401: Unauthorized", 3)
        gateway.login = ("me", "rotated")
        eventually(lambda: value(stage, 3) == "6")
        assert shared.wrong == gateway.wrong == []
        throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))
    finally:
        shared.end()
        gateway.end()


def test_what_is_no_value(kscaled, stage, loki):
    """None of it is 0, and each says what to do."""
    text = {"Content-Type": "text/plain; charset=utf-8"}
    loki.answers.update({
        "nothing": [], "several": [1, 2, 3], "lines": (200, {}, lines("a line")), "nan": ["NaN"], "busy": (429, text, "too many outstanding requests\n"), "broken": (500, text, "context canceled\n"),
        "html": (200, {"Content-Type": "text/html"}, "<html>"), "half": http_source.half, "giant": http_source.giant, "drip": http_source.drip, "empty": (200, {}, ""),
    })
    expected = {"nothing": "ignoreNullValues is false: the result is empty", "several": "multiple elements (3)", "lines": "lines of a log, not a number: count_over_time()", "nan": "the value is NaN",
                "busy": "HTTP status 429: too many outstanding requests", "broken": "HTTP status 500: context canceled", "html": "not JSON but text/html", "half": "transfer closed", "giant": "larger than 1048576 bytes",
                "drip": "no complete answer within 700 ms", "empty": "not JSON", "sum(": "HTTP status 400: parse error at line 1, col 1"}
    stage.deployment(replicas=3)
    stage.scaledobject(triggers=[trigger(loki, query, ignoreNullValues="false", timeout="700ms") for query in expected])
    stage.wait_failing()
    for index, words in enumerate(expected.values()):
        says(stage, words, index)
    throughout(lambda: stage.replicas() == 3, until=after(1.5))


def test_gone_and_back(kscaled, stage):
    """Down at the start, up, hung, gone: told, nothing is scaled in, and well at the next poll."""
    port = free_port()
    stage.deployment(replicas=3)
    stage.scaledobject(triggers=[trigger(f"http://127.0.0.1:{port}")])
    stage.wait_failing()
    says(stage, f"loki: http://127.0.0.1:{port}: Connection refused")
    assert stage.hpa()
    late = HttpSource({LokiFake.PATH: http_source.vector(12)}, port=port)
    stage.wait_ready()
    late.routes[LokiFake.PATH] = lambda asked: http_source.drip(asked, every=5)
    stage.wait_failing()
    says(stage, "no complete answer within 3000 ms")
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    late.routes[LokiFake.PATH] = http_source.vector(12)
    stage.wait_ready()
    late.routes[LokiFake.PATH] = lambda asked: None  # ends the connections that are kept
    late.end()
    stage.wait_failing()
    says(stage, "Connection refused")
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    late.routes[LokiFake.PATH] = http_source.vector(12)
    late.start()
    stage.wait_ready()
    late.end()


def test_check(tmp_path):
    manifest = """apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: default}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: loki
    metadata: {serverAddress: "http://loki:3100", query: "sum(rate({a=~'b'}[1m]))", threshold: "5"}
"""
    path = tmp_path / "f.yaml"
    for old, new, said in ((None, None, None), ('"5"', '"0"', '"threshold" value "0" must be greater than 0'), ("http:", "tcp:", "must be a URL that begins with http:// or https://"), ("3100", "3100?a=b", "must not have a query"),
                           ('"5"', '"5", tenant: x', '"tenant"')):
        path.write_text(manifest.replace(old, new) if old else manifest)
        done = run("check", str(path))
        assert (said or "") in done.stdout and bool(said) == bool(done.stdout), done
