# SPDX-License-Identifier: Apache-2.0
"""The metrics-api trigger: formats and strange metric names up to the HPA controller, credentials, faults, the pods behind a Service."""
import json
import pathlib
import socket
import ssl
import threading
import time

import pytest

from rig import http_source, pki
from rig.daemon import run
from rig.http_source import HttpSource, TokenServer, own_address
from rig.waiting import after, eventually, throughout

JSON = json.dumps({"n": 12, "text": "1500m", "fav.movie": 4, "list": [1, 2, 3], "queues": [{"name": "mail", "n": 3}, {"name": "jobs", "n": 7}], "with space": {"x": 9}})
YAML = "a:\n  b:\n  - c: 1\n  - c: 2500m\n"
XML = "<s><q n='3'><l>1</l></q><q n='4'><l> 6 </l></q></s>"
PAGE = '# TYPE jobs gauge\njobs{queue="mail",host="a"} 3\njobs{queue="print",host="b"} 4.5\njobs{queue="a/b%c"} 8\n# EOF\n'


@pytest.fixture(scope="module")
def source():
    text = {"Content-Type": "text/plain"}
    source = HttpSource({"/json": JSON, "/yaml": (200, text, YAML), "/xml": (200, {"Content-Type": "application/xml"}, XML), "/page": (200, text, PAGE)})
    yield source
    source.end()


def trigger(url, location="n", **metadata):
    """A None takes a default away; _name and so on are fields beside metadata."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    values = {"url": url, "valueLocation": location, "targetValue": "1000", **metadata}
    return {"type": "metrics-api", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **fields}


def metric_name(location, index=0):
    return f"s{index}-metric-api-" + location.translate(str.maketrans("/.:%()", "------"))


def value(stage, location="n", name="worker", index=0):
    return stage.metric(metric_name(location, index), name).value()


def failure(stage, location="n", name="worker"):
    return stage.metric(metric_name(location), name).failure(503, "ServiceUnavailable")


def fails_with(stage, *wanted, name="worker"):
    """Sooner or later: on a busy machine a poll may run out of time instead."""
    def is_said():
        message = failure(stage, name=name)
        assert all(words in message for words in wanted), (name, message)
        return True
    stage.wait_failing(name)
    eventually(is_said)


def has_value(stage, wanted, *arguments, **more):
    def is_there():
        assert value(stage, *arguments, **more) == wanted
        return True
    eventually(is_there)


# --- formats, and names that are no plain words ---

PLACES = [
    ("json", "n", "12"), ("json", "text", "1500m"), ("json", "fav\\.movie", "4"), ("json", "list.#", "3"), ("json", 'queues.#(name=="jobs").n', "7"), ("json", "queues.#(n>=3)#|#", "2"), ("json", "w?th*.x", "9"),
    ("json", "@this.list.@reverse.0", "3"), ("json", "with space.x", "9"),
    ("yaml", "a.b.1.c", "2500m"),
    ("xml", "s.q.1.l", "6"), ("xml", "s.q.0.@n", "3"),
    ("prometheus", "jobs", "3"), ("prometheus", 'jobs{queue="print"}', "4500m"), ("prometheus", "jobs{queue!~'m.*',host!=\"\"}", "4500m"), ("prometheus", 'jobs{queue="a/b%c"}', "8"),
]


def test_formats_and_names(kscaled, stage, source):
    """All in one ScaledObject, whose HPA then has metrics with quotes, braces, # and blanks in their names: the HPA controller must get each of them from us."""
    paths = {"prometheus": "/page"}
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(source.url + paths.get(kind, "/" + kind), location, format=kind) for kind, location, _ in PLACES])
    for index, (_, location, wanted) in enumerate(PLACES):
        has_value(stage, wanted, location, index=index)
    wanted = {metric_name(location, index): number for index, (_, location, number) in enumerate(PLACES)}

    def controller_knows():
        hpa = stage.hpa_document()
        assert not [c for c in hpa["status"]["conditions"] if c["type"] == "ScalingActive" and c["status"] != "True"], hpa["status"]["conditions"]
        found = {m["external"]["metric"]["name"]: m["external"]["current"].get("averageValue") for m in hpa["status"]["currentMetrics"]}
        assert found == wanted
        return True
    eventually(controller_knows)


def test_scales(kscaled, stage, source):
    number = {"n": 0}
    source.routes["/scales"] = lambda asked: json.dumps(number)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[trigger(source.url + "/scales", targetValue=2.5, activationTargetValue=1)])
    has_value(stage, "0")
    number["n"] = 1                      # is not above 1
    has_value(stage, "1")
    assert stage.replicas() == 0
    number["n"] = 9
    eventually(lambda: stage.replicas() == 4)
    number["n"] = 0
    eventually(lambda: stage.replicas() == 0)


# --- who we are ---

def guarded(good):
    return lambda asked: json.dumps({"n": 5}) if good(asked) else (401, {}, "{}")


def test_credentials(kscaled, stage, source, credentials):
    tokens = TokenServer()
    routes = {
        "key-header": guarded(lambda a: a.headers.get("X-API-KEY") == "s3cret"), "key-named": guarded(lambda a: a.headers.get("X-Mine") == "s3cret"),
        "key-query": guarded(lambda a: a.query == {"api_key": "s3cret", "own": "1"}), "basic": guarded(lambda a: a.basic == ("me", "s3cret")), "bearer": guarded(lambda a: a.bearer == "s3cret"),
        "custom": guarded(lambda a: a.headers.get("X-Custom") == "s3cret"), "oauth": tokens.guard(json.dumps({"n": 5})),
    }
    source.routes.update({"/" + name: route for name, route in routes.items()}, **{"/token": tokens})
    data = {
        "key-header": {"apiKey": "s3cret"}, "key-named": {"apiKey": "s3cret", "keyParamName": "X-Mine"}, "key-query": {"apiKey": "s3cret", "method": "query"},
        "basic": {"username": "me", "password": "s3cret"}, "bearer": {"token": "s3cret"}, "custom": {"customAuthHeader": "X-Custom", "customAuthValue": "s3cret"},
        "oauth": {"oauthTokenURI": source.url + "/token", "clientID": "client", "clientSecret": "client-secret"},
    }
    stage.deployment(replicas=0)
    for name, values in data.items():
        credentials.secret(name, **values)
        credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
        mode = name.split("-")[0].replace("key", "apiKey")
        url = f"{source.url}/{name}" + ("?own=1" if name == "key-query" else "")
        stage.scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[trigger(url, authMode=mode, _authenticationRef={"name": name})])
    for name in data:
        stage.wait_ready(name)
        has_value(stage, "5", name=name)
    # Rotated: the old one is refused with a message, the new one is in use at once.
    source.routes["/bearer"] = guarded(lambda a: a.bearer == "new")
    stage.wait_failing("bearer")
    assert "api returned 401" in failure(stage, name="bearer")
    credentials.change_secret("bearer", token="new")
    stage.wait_ready("bearer")
    assert "s3cret" not in kscaled.log()


def test_tls(kscaled, stage, credentials, tmp_path):
    authority = pki.authority(tmp_path, "ca")
    ours = pki.certificate(tmp_path, "client", authority, "kscaled", usage="clientAuth")
    server = HttpSource({"/": lambda asked: json.dumps({"n": 5, "who": asked.client})}, tls=pki.certificate(tmp_path, "server", authority, "localhost"), client_ca=authority.cert)
    try:
        read = lambda path: open(path, encoding="ascii").read()
        credentials.secret("tls", ca=read(authority.cert), cert=read(ours.cert), key=read(ours.key))
        for name, keys in (("full", ("ca", "cert", "key")), ("no-ca", ("cert", "key")), ("no-cert", ("ca",))):
            credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": "tls", "key": key} for key in keys])
        stage.deployment(replicas=0)
        for name, more in (("full", {"authMode": "tls"}), ("no-ca", {"authMode": "tls"}), ("no-cert", {})):
            stage.scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[trigger(server.url + "/", _authenticationRef={"name": name}, **more)])
        stage.scaledobject("unsafe", target=stage.another("unsafe"), maxReplicaCount=1, triggers=[trigger(server.url + "/", _authenticationRef={"name": "no-ca"}, authMode="tls", unsafeSsl="true")])
        for name in ("full", "unsafe"):
            stage.wait_ready(name)
            has_value(stage, "5", name=name)
        for name in ("no-ca", "no-cert"):
            stage.wait_failing(name)
            assert f"localhost:{server.port}" in failure(stage, name=name)
    finally:
        server.end()


# --- faults ---

def hang(asked):
    time.sleep(5)


FAULTS = {
    "status": ((500, {}, '{"n":0}'), "api returned 500"), "missing": ((404, {}, '{"n":0}'), "api returned 404"), "other": ((204, {}, ""), "api returned 204"),
    "half": (http_source.half, ""), "giant": (http_source.giant, ""), "drip": (http_source.drip, ""), "hang": (hang, ""),
    "no JSON": ("<html>s3cret</html>", "not JSON"), "cut": ('{"n":0', "not JSON"), "absent": ("{}", "got Null"), "null": ('{"n":null}', "got Null"), "text": ('{"n":"s3cret"}', "got String"), "list": ('{"n":[]}', "got JSON"),
}


def test_faults(kscaled, stage, source):
    """No fault is a zero: nothing is scaled in, the message says what it is, and one poll after it is over all is well."""
    source.routes.update({f"/fault/{name}": '{"n":3}' for name in FAULTS})
    stage.deployment(replicas=0)
    objects = {fault: f"f{index}" for index, fault in enumerate(FAULTS)}
    for fault, name in objects.items():
        stage.scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[trigger(f"{source.url}/fault/{fault.replace(' ', '%20')}", timeout="1s")])
    source.routes["/fault/no%20JSON"] = '{"n":3}'
    for name in objects.values():
        eventually(lambda name=name: stage.replicas(name) == 1)
    for fault in FAULTS:
        source.routes[f"/fault/{fault.replace(' ', '%20')}"] = FAULTS[fault][0]
    for fault, name in objects.items():
        fails_with(stage, FAULTS[fault][1], f"127.0.0.1:{source.port}", name=name)
        assert "s3cret" not in failure(stage, name=name)
    throughout(lambda: all(stage.replicas(name) == 1 for name in objects.values()), until=after(3), every=0.3)
    for fault in FAULTS:
        source.routes[f"/fault/{fault.replace(' ', '%20')}"] = '{"n":0}'
    for name in objects.values():
        stage.wait_ready(name)
    for name in objects.values():
        eventually(lambda name=name: stage.replicas(name) == 0)


def test_server_away(kscaled, stage):
    server = HttpSource({"/": '{"n":3}'})
    server.end()
    stage.deployment(replicas=1)
    stage.scaledobject(maxReplicaCount=1, triggers=[trigger(server.url + "/")])
    stage.wait_failing()
    assert f"127.0.0.1:{server.port}" in failure(stage)
    server.start()
    stage.wait_ready()
    has_value(stage, "3")
    server.routes["/"] = lambda asked: None  # closes the connection that is kept
    server.end()
    stage.wait_failing()
    throughout(lambda: stage.replicas() == 1, until=after(2))


# --- the pods behind a Service ---

class Pods:
    """Servers on one of this machine's own addresses, each with a port, and so a slice, of its own."""

    def __init__(self, stage, service):
        self.stage, self.service = stage, service
        self.servers = {}

    def add(self, name, answer, family=socket.AF_INET, address=None, ready=True, uid=None):
        address = address or own_address(family, "198.51.100.1" if family == socket.AF_INET else "2001:db8::1")
        assert address, "this machine has no address but loopback"
        server = HttpSource({"/load": answer})
        server.end()
        server.server = http_source._Server.__new__(http_source._Server)  # pylint: disable=protected-access
        server.server.address_family = family
        server.server.__init__((address, 0), http_source._Handler)        # pylint: disable=protected-access
        server.server.source = server
        server.port = server.server.server_address[1]
        threading.Thread(target=server.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.servers[name] = server
        body = {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4" if family == socket.AF_INET else "IPv6",
            "metadata": {"name": f"{self.service}-{name}", "labels": {"kubernetes.io/service-name": self.service}},
            "endpoints": [{"addresses": [address], "conditions": {"ready": ready}, **({"targetRef": {"kind": "Pod", "name": name, "uid": uid}} if uid else {})}],
            "ports": [{"name": "http", "port": server.port, "protocol": "TCP"}],
        }
        answer = self.stage.cluster.request(f"/apis/discovery.k8s.io/v1/namespaces/{self.stage.namespace}/endpointslices", method="POST", body=body)
        assert answer.status == 201, answer
        return server

    def end(self):
        for server in self.servers.values():
            server.end()


@pytest.fixture
def pods(stage):
    pods = Pods(stage, "queue")
    yield pods
    pods.end()


def test_pods_of_a_service(kscaled, stage, pods):
    numbers = {"a": 2, "b": 4, "c": 9}
    for name in numbers:
        pods.add(name, lambda asked, name=name: json.dumps({"n": numbers[name]}) if asked.query == {"q": "1"} else (400, {}, "{}"))
    pods.add("unready", '{"n":1000}', ready=False)
    if own_address(socket.AF_INET6, "2001:db8::1"):
        numbers["six"] = 5
        pods.add("six", lambda asked: json.dumps({"n": numbers["six"]}), family=socket.AF_INET6, uid="p6")
        pods.add("six-again", '{"n":1000}', uid="p6")
    url = f"http://queue.{stage.namespace}.svc:80/load?q=1"
    stage.deployment(replicas=0)
    kinds = {"average": sum(numbers.values()) / len(numbers), "sum": sum(numbers.values()), "max": 9, "min": 2}
    for kind in kinds:
        stage.scaledobject(kind, target=stage.another(kind), maxReplicaCount=1, triggers=[trigger(url, aggregateFromKubeServiceEndpoints="true", aggregationType=kind, timeout="1s")])
    for kind, wanted in kinds.items():
        stage.wait_ready(kind)
        has_value(stage, f"{int(wanted)}" if wanted == int(wanted) else f"{round(wanted * 1000)}m", name=kind)
        eventually(lambda kind=kind: stage.replicas(kind) == 1)
    # One that fails: the rest is too little for all but the least.
    pods.servers["c"].routes["/load"] = (503, {}, "{}")
    for kind in ("average", "sum", "max"):
        fails_with(stage, "api returned 503", f"one of {len(numbers)} endpoints", name=kind)
    has_value(stage, "2", name="min")
    throughout(lambda: all(stage.replicas(kind) == 1 for kind in kinds), until=after(2))
    # Gone from the Service: it is not missed.
    stage.cluster.request(f"/apis/discovery.k8s.io/v1/namespaces/{stage.namespace}/endpointslices/queue-c", method="DELETE")
    del numbers["c"]
    for kind in ("average", "sum", "max"):
        stage.wait_ready(kind)
    has_value(stage, str(sum(numbers.values())), name="sum")
    # And none at all is an error, too.
    stage.cluster.request(f"/apis/discovery.k8s.io/v1/namespaces/{stage.namespace}/endpointslices", method="DELETE")
    stage.wait_failing("sum")
    assert "no endpoints URLs were given for the service name queue" in failure(stage, name="sum")
    throughout(lambda: all(stage.replicas(kind) == 1 for kind in kinds), until=after(2))


# --- what the process demands of servers ---

def test_ca_dir_and_versions(launch, stage, tmp_path):
    """The files of --ca-dir are trusted without a word in the trigger, and a server of an older TLS than KEDA_HTTP_MIN_TLS_VERSION is refused."""
    folder = tmp_path / "trusted"
    folder.mkdir()
    authority = pki.authority(folder, "ca")
    pathlib.Path(authority.key).rename(tmp_path / "ca.key")
    authority = authority._replace(key=str(tmp_path / "ca.key"))
    pair = pki.certificate(tmp_path, "server", authority, "localhost")
    new, old = HttpSource({"/": JSON}, tls=pair), HttpSource({"/": JSON}, tls=pair)
    old.context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        launch(options={"ca_dir": f"{tmp_path / 'none'},{folder}"}, env={"KEDA_HTTP_MIN_TLS_VERSION": "TLS13", "KEDA_HTTP_TLS_CIPHER_LIST": "TLS_AES_128_GCM_SHA256:TLS_NONSENSE"}).wait_serving()
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[trigger(new.url + "/"), trigger(old.url + "/", "text")])
        has_value(stage, "12")
        assert "protocol version" in stage.metric(metric_name("text", 1)).failure(503, "ServiceUnavailable")
    finally:
        new.end()
        old.end()


# --- kscaled check ---

def manifest(**metadata):
    values = {"url": "http://api.shop.svc/stats", "valueLocation": "n", "targetValue": "5", **metadata}
    return json.dumps({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "worker", "namespace": "shop"},
                       "spec": {"scaleTargetRef": {"name": "worker"}, "triggers": [{"type": "metrics-api", "metadata": {k: v for k, v in values.items() if v is not None}}]}})


@pytest.mark.parametrize("metadata, words", [
    ({}, ""), ({"format": "prometheus", "valueLocation": 'jobs{a=~"x|y"}'}, ""),
    ({"url": None}, "url"), ({"targetValue": None}, "no targetValue given"), ({"format": "csv"}, "format"), ({"valueLocation": "{a,b}"}, "position 1: multipaths"),
    ({"format": "prometheus", "valueLocation": "sum(jobs)"}, "position 4"), ({"format": "xml", "valueLocation": "a..b"}, "position 3"), ({"aggregateFromKubeServiceEndpoints": "true", "url": "http://10.0.0.1/"}, "host must be that of a Service"),
    ({"aggregationType": "median"}, "aggregationType"), ({"authMode": "bearer"}, "bearerToken"), ({"timeout": "soon"}, "timeout"),
])
def test_check(tmp_path, metadata, words):
    path = tmp_path / "f.json"
    path.write_text(manifest(**metadata))
    done = run("check", "--strict", str(path))
    assert (done.returncode == 0) == (not words), done
    assert words in done.stdout + done.stderr
