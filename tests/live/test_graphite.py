# SPDX-License-Identifier: Apache-2.0
"""
The graphite trigger against a real Graphite with its carbon; against a server written for the test what that one does not do: basic authentication, nonsense. Other ways to log in and TLS are those of prometheus, and tried there.
"""
import json

import pytest

from rig import http_source
from rig.daemon import run
from rig.graphite_server import GraphiteServer
from rig.http_source import HttpSource
from rig.process import free_port
from rig.waiting import after, eventually, throughout


@pytest.fixture(scope="module")
def graphite(tmp_path_factory):
    server = GraphiteServer(tmp_path_factory.mktemp("graphite"))
    yield server
    server.end()


@pytest.fixture
def source():
    source = HttpSource({"/render": series(7)})
    yield source
    source.end()


def series(*values):
    return json.dumps([{"target": "a", "tags": {"name": "a"}, "datapoints": [[value, 1700000000 + i] for i, value in enumerate(values)]}])


def trigger(server, query="shop.queue", **metadata):
    """A None takes a default away; _name and so on are fields beside metadata."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    values = {"serverAddress": getattr(server, "url", server), "query": query, "queryTime": "-10min", "threshold": "5", **metadata}
    return {"type": "graphite", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **fields}


def value(stage, index=0, name="worker"):
    return stage.metric(f"s{index}-graphite", name).value()


def says(stage, words, index=0, name="worker"):
    """Sooner or later: the poll before may have met something else."""
    def told():
        message = stage.metric(f"s{index}-graphite", name).failure(503, "ServiceUnavailable")
        assert words in message, message
        return message
    return eventually(told)


def test_zero_to_many_and_back(kscaled, stage, graphite):
    """The newest value counts, whatever came before it."""
    graphite.says("shop.queue", 3)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(graphite, activationThreshold="3")])
    eventually(lambda: value(stage) == "3")
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    graphite.says("shop.queue", 22.5)
    eventually(lambda: value(stage) == "22500m")
    eventually(lambda: stage.replicas() == 5)
    graphite.says("shop.queue", 0)
    eventually(lambda: stage.replicas() == 0)


def test_values(kscaled, stage, graphite):
    """Functions, several series made one, a series that is none, one that is old."""
    for name, number in (("a", 4), ("b", 8)):
        graphite.says(f"many.{name}", number, ago=60)
    good = {"many.a": "4", "sumSeries(many.*)": "12", "maxSeries(many.{a,b})": "8", 'alias(scale(many.b,0.5),"half & more + #")': "4", "nothing.there": "0"}
    bad = {"many.*": "multiple series (2), and must return one: sumSeries()", "divideSeries(many.a,diffSeries(many.a,many.a))": "points are null", "scale(many.a,1e999)": "a value of the series is infinite"}
    stage.deployment(replicas=0)
    stage.deployment("failing", replicas=2)
    stage.ready_scaledobject(triggers=[trigger(graphite, query) for query in good])
    for index, expected in enumerate(good.values()):
        eventually(lambda index=index, expected=expected: value(stage, index) == expected)
    stage.scaledobject("failing", triggers=[*(trigger(graphite, query) for query in bad), trigger(graphite, "many.a", queryTime="-5s")])
    stage.wait_failing("failing")
    for index, words in enumerate([*bad.values(), "since queryTime: all"]):
        says(stage, words, index, "failing")
    throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))


def test_as_sent(kscaled, stage, credentials, source):
    source.routes["/graphite/render"] = lambda asked: series(4) if asked.basic == ("me", "p@ss") else (401, {"Content-Type": "text/plain"}, "who?")
    credentials.secret("web", username="me", password="p@ss")
    credentials.authentication("web", secretTargetRef=[{"parameter": key, "name": "web", "key": key} for key in ("username", "password")])
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(f"{source.url}/graphite/", 'a.{b,c}&d="ä+"', queryTime="now+1h", authMode="basic", _authenticationRef={"name": "web"}), trigger(source),
                                    trigger(f"{source.url}/graphite/", "unsaid", _authenticationRef={"name": "web"})])
    assert [value(stage, index) for index in range(3)] == ["4", "7", "4"]
    asked, plain = [asked for asked in source.to("/graphite/render") if asked.query["target"] != "unsaid"][-1], source.to("/render")[-1]
    assert (asked.method, asked.query) == ("GET", {"from": "now+1h", "target": 'a.{b,c}&d="ä+"', "format": "json"})
    assert plain.raw_query == "from=-10min&target=shop.queue&format=json" and "Authorization" not in plain.headers
    credentials.change_secret("web", password="rotated")
    assert "rotated" not in says(stage, "HTTP status 401: who?")


def test_killed_frozen_and_back(kscaled, stage, source, graphite):
    """Of the tests that ask it the last: it is started anew."""
    graphite.says("victim.queue", 12)
    stage.deployment(replicas=0)
    stage.deployment("neighbour", replicas=1)
    stage.ready_scaledobject(triggers=[trigger(graphite, "victim.queue")])
    stage.ready_scaledobject("neighbour", triggers=[trigger(source)])
    eventually(lambda: stage.replicas() == 3)
    for fault, undo, words in (("freeze", "thaw", "no complete answer within 3000 ms"), ("kill", "start", "Connection refused")):
        getattr(graphite, fault)()
        stage.wait_failing()
        says(stage, f"graphite: {graphite.url}: {words}")
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
        assert value(stage, 0, "neighbour") == "7"
        getattr(graphite, undo)()
        stage.wait_ready()
    assert stage.replicas() == 3


def test_down_at_start(kscaled, stage):
    port = free_port()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(f"http://127.0.0.1:{port}")])
    stage.wait_failing()
    assert stage.replicas() == 2 and stage.hpa()
    late = HttpSource({"/render": series(7)}, port=port)
    stage.wait_ready()
    late.end()


def test_nonsense(kscaled, stage):
    """Each says so, and none is 0."""
    text = {"Content-Type": "text/plain"}
    pages = {
        (500, "[]"): "HTTP status 500: []", (200, "<html>"): "the answer is not JSON", (200, ""): "not JSON", (200, '{"errors": 1}'): "the answer is not a list of series", (200, '[{"target": "a"}]'): "the series has no datapoints",
        (200, series("7")): "a point of the series is not a pair", (200, series(*[7] * 40000)): "use a shorter queryTime", http_source.half: "transfer closed", http_source.giant: "larger than 2097152 bytes",
        http_source.drip: "no complete answer within 700 ms",
    }
    sources = [HttpSource({"/render": page if callable(page) else (page[0], text, page[1])}) for page in pages]
    try:
        stage.deployment(replicas=3)
        stage.scaledobject(triggers=[trigger(one, timeout="700ms") for one in sources])
        stage.wait_failing()
        for index, words in enumerate(pages.values()):
            says(stage, words, index)
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
    finally:
        for one in sources:
            one.end()


def test_check(tmp_path):
    manifest = """apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: default}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: graphite
    metadata: {serverAddress: "http://graphite:8080", query: shop.queue, queryTime: -5min, threshold: "5"}
"""
    path = tmp_path / "f.yaml"
    for old, new, said in ((None, None, None), ('"5"', '"0"', '"threshold" value "0" must be greater than 0'), ("http:", "tcp:", "must be a URL that begins with http:// or https://"), ("queryTime: -5min, ", "", 'missing required parameter "queryTime"'),
                           ('"5"', '"5", queryTimes: x', '"queryTimes" (did you mean "queryTime"?)')):
        path.write_text(manifest.replace(old, new) if old else manifest)
        done = run("check", str(path))
        assert (said or "") in done.stdout and bool(said) == bool(done.stdout), done
