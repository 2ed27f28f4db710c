# SPDX-License-Identifier: Apache-2.0
"""
The elasticsearch and opensearch triggers against a real OpenSearch, whose searches are Elasticsearch's. Who asks, TLS and client certificates: by a gate before it (rig/opensearch_server.py), as the server's own is not at hand.
"""
import base64
import json
import pathlib

import pytest

from rig import http_source, pki
from rig.daemon import run
from rig.http_source import HttpSource
from rig.opensearch_server import Gate, OpensearchServer
from rig.process import free_port
from rig.waiting import after, eventually, throughout

OPEN = {"size": 0, "query": {"term": {"state.keyword": "open"}}}
COUNT = "hits.total.value"
LOGIN = {"username": "reader", "password": "p@ss:word"}


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    server = OpensearchServer(tmp_path_factory.mktemp("opensearch"))
    yield server
    server.end()


@pytest.fixture
def source():
    source = HttpSource({"/jobs/_search": whole(7)})
    yield source
    source.end()


def whole(count):
    return json.dumps({"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}, "hits": {"total": {"value": count, "relation": "eq"}, "hits": []}})


def trigger(server, kind="elasticsearch", **metadata):
    """A None takes a default away; _name and so on are fields beside metadata; without _authenticationRef somebody logs in."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    login = {} if "authenticationRef" in fields else LOGIN
    if "searchTemplateName" not in metadata:
        metadata = {"query": OPEN, **metadata}
    values = {"addresses": getattr(server, "url", server), "index": "jobs", "valueLocation": COUNT, "targetValue": "5", **login, **metadata}
    return {"type": kind, "metadata": {key: json.dumps(value) if isinstance(value, dict) else str(value) for key, value in values.items() if value is not None}, **fields}


def value(stage, index=0, name="worker", kind="elasticsearch", what="query"):
    return stage.metric(f"s{index}-{kind}-{what}", name).value()


def says(stage, words, index=0, name="worker", kind="elasticsearch"):
    """Sooner or later: the poll before may have met something else."""
    def told():
        message = stage.metric(f"s{index}-{kind}-query", name).failure(503, "ServiceUnavailable")
        assert words in message, message
        return message
    return eventually(told)


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
def test_zero_to_many_and_back(kscaled, stage, search, kind):
    search.index(f"jobs-{kind}")
    search.add(f"jobs-{kind}", *[{"state": "open"}] * 3, {"state": "done"})
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(search, kind, index=f"jobs-{kind}", activationTargetValue="3")])
    eventually(lambda: value(stage, kind=kind) == "3")
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    search.add(f"jobs-{kind}", *[{"state": "open"}] * 27)    # whatever part of them is seen first, it is not within the HPA's tolerance of six replicas
    eventually(lambda: value(stage, kind=kind) == "30")
    eventually(lambda: stage.replicas() == 6)
    search.clear(f"jobs-{kind}")
    eventually(lambda: stage.replicas() == 0)


def test_values(kscaled, stage, search):
    """Several indexes, patterns, aggregations, templates; what is nothing; what is not a number."""
    for name, sizes in (("logs-1", (1.5, 2)), ("logs-2", (4,))):
        search.index(name)
        search.add(name, *[{"state": "open", "size": size, "text": "12"} for size in sizes])
    search.template("by-state", {"size": 0, "query": {"term": {"state.keyword": "{{state}}"}}, "aggs": {"n": {"sum": {"field": "{{field}}"}}}})
    sums = {"size": 0, "aggs": {"n": {"sum": {"field": "size"}}, "none": {"max": {"field": "nothing"}}}}
    named = {"searchTemplateName": "by-state", "valueLocation": "aggregations.n.value", "index": "logs-*"}
    good = {
        "2": {"index": "logs-1"}, "3": {"index": "logs-1;logs-2"}, "7500m": {"index": "logs-*", "query": sums, "valueLocation": "aggregations.n.value"}, "12": {"index": "logs-2", "query": {}, "valueLocation": "hits.hits.0._source.text"},
        "0": {"index": "logs-*", "query": sums, "valueLocation": "aggregations.none.value", "ignoreNullValues": "true"}, "1": {"index": "logs-1", "query": {"query": {"range": {"size": {"gt": 1.75}}}}, "valueLocation": "hits.hits.#"},
    }
    bad = {
        "got: 'Null'": {"index": "logs-*", "query": sums, "valueLocation": "aggregations.none.value"}, "HTTP status 404: index_not_found_exception: no such index [absent]": {"index": "absent", "ignoreNullValues": "true"},
        "HTTP status 400": {"index": "logs-1", "query": {"query": {"nonsense": {}}}, "ignoreNullValues": "true"}, "got: 'String'": {"index": "logs-1", "query": {}, "valueLocation": "hits.hits.0._source.state"},
        "got: 'JSON'": {"index": "logs-1", "query": {}, "valueLocation": "hits.hits"}, "got: 'False'": {"index": "logs-1", "query": {}, "valueLocation": "timed_out"},
    }
    stage.deployment(replicas=0)
    stage.deployment("failing", replicas=2)
    stage.ready_scaledobject(triggers=[*(trigger(search, **metadata) for metadata in good.values()), trigger(search, **named, parameters="state:open;field:size"), trigger(search, "opensearch", **named, parameters="state: open; field :size")])
    for index, expected in enumerate(good):
        eventually(lambda index=index, expected=expected: value(stage, index) == expected)
    assert value(stage, len(good), what="by-state") == value(stage, len(good) + 1, kind="opensearch", what="by-state") == "7500m"
    stage.scaledobject("failing", triggers=[trigger(search, **metadata) for metadata in bad.values()])
    stage.wait_failing("failing")
    for index, words in enumerate(bad):
        says(stage, words, index, "failing")
    throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))


def test_part_of_the_documents(kscaled, stage, search):
    """Shards that are nowhere, and such that fail: the server says 200, and a number that is too small."""
    search.index("here")
    search.add("here", *[{"state": "open", "n": "word"}] * 2)
    search.ask("PUT", "/away?wait_for_active_shards=0", {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.routing.allocation.include._name": "nowhere"}})
    search.ask("PUT", "/typed", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "text"}}}})
    search.add("typed", {"n": "word"})
    search.ask("PUT", "/counted", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "integer"}}}})
    search.add("counted", {"n": 3})
    parts = {"only 1 of 2 shards answered": {"index": "here;away"}, "part of the documents: illegal_argument_exception": {"index": "typed;counted", "query": {"size": 0, "aggs": {"s": {"sum": {"field": "n"}}}}}}
    stage.deployment(replicas=3)
    stage.scaledobject(triggers=[trigger(search, ignoreNullValues="true", **metadata) for metadata in parts.values()])
    stage.wait_failing()
    for index, words in enumerate(parts):
        says(stage, words, index)
    throughout(lambda: stage.replicas() == 3, until=after(1.5))


def test_ways_in(kscaled, stage, credentials, search, tmp_path):
    """Passwords, a key for a deployment of Elastic Cloud, certificates; TLS that is not trusted; a rotated password."""
    search.index("jobs")
    search.add("jobs", *[{"state": "open"}] * 4)
    authority = pki.authority(tmp_path, "search-ca")
    pair = pki.certificate(tmp_path, "search", authority, "localhost")
    client = pki.certificate(tmp_path, "client", authority, "reader", usage="clientAuth")
    users = {"reader": "p@ss:word", "nobody": "p@ss:word"}
    elastic = Gate(search, users, ["key-1=="], "Elasticsearch", tls=pair)
    closed = Gate(search, tls=pair, client_ca=authority.cert)
    read = lambda path: pathlib.Path(path).read_text()
    cloud = "shop:" + base64.b64encode(f"0.0.1:{elastic.port}$127$kibana".encode()).decode()
    logins = {
        "basic": LOGIN, "wrong": {**LOGIN, "password": "wr0ng-secret"}, "nobody": {**LOGIN, "username": "nobody"}, "trusting": {**LOGIN, "caCert": read(authority.cert)}, "certificate": {"caCert": read(authority.cert), "clientCert": read(client.cert), "clientKey": read(client.key)},
        "cloud": {"cloudID": cloud, "apiKey": "key-1=="}, "badcloud": {"cloudID": cloud, "apiKey": "key-2=="},
    }
    try:
        for name, login in logins.items():
            credentials.secret(name, **login)
            credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in login])
        by = lambda name: {"_authenticationRef": {"name": name}}
        stage.deployment(replicas=0)
        stage.deployment("failing", replicas=2)
        good = [trigger(elastic, unsafeSsl="true", **by("basic")), trigger(elastic, addresses=None, unsafeSsl="true", **by("cloud")), trigger(elastic, "opensearch", **by("trusting")), trigger(closed, "opensearch", enableTLS="true", **by("certificate"))]
        kinds = ["elasticsearch", "elasticsearch", "opensearch", "opensearch"]
        stage.ready_scaledobject(triggers=good)
        assert [value(stage, index, kind=kind) for index, kind in enumerate(kinds)] == ["4"] * 4
        stage.scaledobject("failing", triggers=[trigger(elastic, unsafeSsl="true", **by("wrong")), trigger(elastic, unsafeSsl="true", **by("nobody")), trigger(elastic, **by("basic")), trigger(elastic, addresses=None, unsafeSsl="true", **by("badcloud"))])
        stage.wait_failing("failing")
        assert "wr0ng" not in says(stage, "elasticsearch authentication failed (HTTP 401): check username and password", 0, "failing")
        says(stage, "elasticsearch authorization failed (HTTP 403): user has insufficient permissions", 1, "failing")
        says(stage, "certificate", 2, "failing")
        says(stage, "elasticsearch authentication failed (HTTP 401): check apiKey", 3, "failing")
        throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))
        elastic.users["reader"] = "rotated"
        assert "rotated" not in says(stage, "elasticsearch authentication failed")
        credentials.change_secret("basic", password="rotated")
        eventually(lambda: value(stage) == "4")
        asked = elastic.to("/jobs/_search")[-1]
        assert (asked.method, asked.headers["Content-Type"], json.loads(asked.body)) == ("POST", "application/json", OPEN)
    finally:
        elastic.end()
        closed.end()


def test_several_addresses(kscaled, stage, source):
    """Who is down, hangs or is a proxy without a server hands over, and is left alone then; nobody asks two of them for one answer."""
    dead, hung, empty = free_port(), HttpSource({"/jobs/_search": lambda asked: http_source.drip(asked, every=5)}), HttpSource({"/jobs/_search": (503, {}, "no server is available")})
    try:
        stage.deployment(replicas=0)
        stage.ready_scaledobject(triggers=[trigger(f"http://127.0.0.1:{dead}, {hung.url},{empty.url}, {source.url}")])
        assert value(stage) == "7"
        hangs, count = len(hung.asked), len(source.asked)
        eventually(lambda: len(source.asked) > count + 3)
        assert len(hung.asked) == hangs <= 2
        source.routes["/jobs/_search"] = (503, {}, "{}")
        stage.wait_failing()
        says(stage, "HTTP status 503")
        source.routes["/jobs/_search"] = whole(8)
        eventually(lambda: value(stage) == "8")
    finally:
        hung.end()
        empty.end()


def test_a_pause_is_of_one_address(kscaled, stage, source):
    """Who asked to be left alone is not asked, and the other one is, though nobody has answered yet."""
    busy = HttpSource({"/jobs/_search": (503, {"Retry-After": "600"}, "{}")})
    source.routes["/jobs/_search"] = (503, {}, "{}")
    try:
        stage.deployment(replicas=2)
        stage.scaledobject(triggers=[trigger(f"{busy.url},{source.url}")])
        stage.wait_failing()
        source.routes["/jobs/_search"] = whole(7)
        eventually(lambda: value(stage) == "7")
        assert len(busy.asked) == 1 and stage.replicas() == 2
    finally:
        busy.end()


def test_killed_frozen_and_back(kscaled, stage, source, search):
    """Of the tests that ask it the last: it is started anew."""
    search.index("victim")
    search.add("victim", *[{"state": "open"}] * 12)
    stage.deployment(replicas=0)
    stage.deployment("neighbour", replicas=1)
    stage.ready_scaledobject(triggers=[trigger(search, index="victim")])
    stage.ready_scaledobject("neighbour", triggers=[trigger(source)])
    eventually(lambda: stage.replicas() == 3)
    for fault, undo, words in (("freeze", "thaw", "no complete answer within 3000 ms"), ("kill", "start", "Connection refused")):
        getattr(search, fault)()
        stage.wait_failing()
        says(stage, f"elasticsearch: {search.url}: {words}")
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
        assert value(stage, 0, "neighbour") == "7"
        getattr(search, undo)()
        stage.wait_ready()
    assert stage.replicas() == 3


def test_down_at_start(kscaled, stage):
    port = free_port()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(f"http://127.0.0.1:{port}")])
    stage.wait_failing()
    assert stage.replicas() == 2 and stage.hpa()
    late = HttpSource({"/jobs/_search": whole(7)}, port=port)
    stage.wait_ready()
    late.end()


def test_nonsense(kscaled, stage):
    """Each says so, and none is 0, with ignoreNullValues, too."""
    text = {"Content-Type": "text/plain"}
    pages = {
        (500, whole(0)): "HTTP status 500", (200, "<html>"): "the answer", (200, ""): "the answer", (200, '{"ok": true}'): "the answer is not a search result", (200, '{"error": {"type": "a"}, "status": 500}'): "the answer is not a search result",
        (200, whole(0).replace("false", "true")): 'timed out ("timed_out")', (200, whole(0)[:-1] + ',"x":[0' + ",0" * 120000 + "]}"): "too large", (301, whole(0)): "HTTP status 301",
        http_source.half: "transfer closed", http_source.giant: "larger than 1048576 bytes", http_source.drip: "no complete answer within 3000 ms",
    }
    sources = [HttpSource({"/jobs/_search": page if callable(page) else (page[0], text, page[1])}) for page in pages]
    try:
        stage.deployment(replicas=3)
        stage.scaledobject(triggers=[trigger(one, ignoreNullValues="true") for one in sources])
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
  - type: elasticsearch
    metadata: {addresses: "http://search:9200", username: reader, password: secret, index: jobs, query: '{"size": 0}', valueLocation: hits.total.value, targetValue: "5"}
"""
    path = tmp_path / "f.yaml"
    for old, new, said in ((None, None, None), ('"5"', '"0"', '"targetValue" value "0" must be greater than 0'), ("http:", "tcp:", "must be a URL that begins with http:// or https://"), ("username: reader, ", "", "both username and password must be provided"),
                           ("query: '{\"size\": 0}', ", "", "either searchTemplateName or query must be provided"), ("hits.total.value", "'#(a'", '"valueLocation" value "#(a"'), ('"5"', '"5", ignoreNulValues: x', '"ignoreNulValues" (did you mean "ignoreNullValues"?)')):
        path.write_text(manifest.replace(old, new) if old else manifest)
        done = run("check", str(path))
        assert (said or "") in done.stdout and bool(said) == bool(done.stdout), done
