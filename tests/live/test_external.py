# SPDX-License-Identifier: Apache-2.0
"""external and external-push: a scaler in grpcio says which metrics there are, what they are and whether there is work; it fails in every way, and hostile servers take its place."""
import re
import struct
import time

import pytest

from rig import pki, scripted
from rig.credentials import ref
from rig.daemon import run
from rig.grpc_scaler import GrpcScaler
from rig.waiting import after, eventually, throughout, timed

REFRESH = 25.0  # seconds after which a changed description is in the HPA at the latest, on a busy machine


@pytest.fixture
def start_scaler(tmp_path):
    scalers = []

    def start(**more):
        scalers.append(GrpcScaler(tmp_path, f"scaler-{len(scalers)}", **more))
        return scalers[-1]

    yield start
    for scaler in scalers:
        scaler.end()


@pytest.fixture
def scaler(start_scaler):
    return start_scaler()


def trigger(address, push=False, **metadata):
    """_name and so on are fields beside metadata."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    return {"type": "external-push" if push else "external", "metadata": {"scalerAddress": getattr(address, "address", address), **metadata}, **fields}


def targets(stage, name="worker"):
    """{metric: target} of the HPA."""
    found = {}
    for metric in stage.hpa_document(f"keda-hpa-{name}")["spec"]["metrics"]:
        target = metric["external"]["target"]
        found[metric["external"]["metric"]["name"]] = target.get("averageValue") or target.get("value")
    return found


def working(stage, scaler, **more):
    """An object that has three replicas because of 12 in the queue."""
    scaler.says(values={"queue": [12, 0]}, active=True)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(scaler, **more)])
    eventually(lambda: stage.replicas() == 3)


# --- what is said and done ---

def test_metrics_targets_and_activity(kscaled, stage, scaler):
    scaler.says(specs=[["queue.len:a", 5, 0], ["load", 7, 0.5]], values={"queue.len:a": [12, 0], "load": [1, 1.75]}, active=True)
    stage.deployment(replicas=0, env={"TOKEN": "s3cret-of-env", "EMPTY": ""})
    stage.ready_scaledobject(triggers=[trigger(scaler, list="jobs", tokenFromEnv="TOKEN", emptyFromEnv="EMPTY", goneFromEnv="NONE")])
    assert targets(stage) == {"s0-queue.len:a": "5", "s0-load": "500m"}
    eventually(lambda: stage.replicas() == 4)                     # 1.75 / 0.5
    assert stage.metric("s0-queue.len:a").value() == "12"
    assert stage.metric("s0-load").value() == "1750m"
    assert stage.status()["externalMetricNames"] == ["s0-queue.len:a", "s0-load"]
    one = scaler.asked("GetMetrics")[-1]
    assert (one["name"], one["namespace"]) == ("worker", stage.namespace) and 0 < one["left"] <= 3.1
    assert one["metadata"] == {"scalerAddress": scaler.address, "list": "jobs", "tokenFromEnv": "s3cret-of-env"}
    assert len({each["peer"] for each in scaler.asked()}) == 1     # one connection for all calls
    scaler.says(active=False)                                      # whatever the values
    eventually(lambda: stage.replicas() == 0)
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    scaler.says(fail={"GetMetrics": ["INTERNAL", "no such token s3cret-of-env"]})
    stage.wait_failing()
    assert "the server's message is not shown, as it contains the value of tokenFromEnv" in stage.metric("s0-load").failure(503, "ServiceUnavailable")


def test_new_targets_and_names_reach_the_hpa(kscaled, stage, scaler):
    working(stage, scaler)
    scaler.says(specs=[["queue", 3, 0], ["more", 10, 0]], values={"queue": [12, 0], "more": [1, 0]})
    eventually(lambda: targets(stage) == {"s0-queue": "3", "s0-more": "10"}, timeout=REFRESH)
    eventually(lambda: stage.replicas() == 4)


def test_a_description_that_turns_wrong_is_told(kscaled, stage, scaler):
    """What the server said before stays in use; log, Event and explain tell it, and that it is over."""
    working(stage, scaler)
    scaler.says(specs=[["queue", 0, 0]])
    said = 'metric "queue": its target must be greater than 0'
    eventually(lambda: any("without effect: " in event.note and said in event.note for event in stage.events("worker", "KEDAScalerInfo")), timeout=90)
    assert said in kscaled.tell("explain", f"{stage.namespace}/worker").stdout
    assert stage.replicas() == 3 and targets(stage) == {"s0-queue": "5"}
    scaler.says(specs=[["queue", 4, 0]])
    eventually(lambda: targets(stage) == {"s0-queue": "4"}, timeout=REFRESH)
    assert said not in kscaled.tell("explain", f"{stage.namespace}/worker").stdout


def test_a_hundred_triggers_on_one_connection(kscaled, stage, scaler):
    scaler.says(active=True, values={"queue": [1, 0]})
    for i in range(10):
        stage.deployment(f"w{i}", replicas=0)
        stage.scaledobject(f"w{i}", triggers=[trigger(scaler, n=str(n)) for n in range(10)], maxReplicaCount=1)
    eventually(lambda: all(stage.replicas(f"w{i}") == 1 for i in range(10)))
    assert len({one["peer"] for one in scaler.asked()}) == 1
    assert len({(one["name"], one["metadata"]["n"]) for one in scaler.asked("GetMetrics")}) == 100


# --- TLS ---

@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    directory = tmp_path_factory.mktemp("pki")
    ca = pki.authority(directory, "ca")
    return {
        "ca": ca,
        "other": pki.authority(directory, "other"),
        "server": pki.certificate(directory, "server", ca, "scaler"),
        "client": pki.certificate(directory, "client", ca, "kscaled", usage="clientAuth"),
        "expired": pki.certificate(directory, "expired", ca, "scaler", begin=_days(-9), end=_days(-1)),
    }


def _days(count):
    import datetime
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=count)


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def secret_of(credentials, **parameters):
    credentials.secret("scaler", **parameters)
    credentials.authentication("scaler", secretTargetRef=[{"parameter": key, "name": "scaler", "key": key} for key in parameters])
    return ref("scaler")


def test_tls_and_wrong_authority(kscaled, stage, credentials, start_scaler, authority):
    scaler = start_scaler(tls=authority["server"])
    scaler.says(values={"queue": [12, 0]}, active=True)
    stage.deployment(replicas=0)
    stage.scaledobject(triggers=[trigger(scaler, _authenticationRef=secret_of(credentials, caCert=text(authority["other"].cert)))])
    stage.wait_failing()
    assert "certificate" in stage.event("KEDAScalerFailed").note
    credentials.change_secret("scaler", caCert=text(authority["ca"].cert))
    eventually(lambda: stage.replicas() == 3)
    stage.wait_ready()
    for name, metadata in (("insecure", {"enableTLS": "true", "unsafeSsl": "true"}), ("unknown", {"enableTLS": "true"}), ("plain", {"unsafeSsl": "true"})):
        stage.deployment(name, replicas=0)
        stage.scaledobject(name, triggers=[trigger(scaler, **metadata)], maxReplicaCount=1)
    eventually(lambda: stage.replicas("insecure") == 1)
    stage.wait_failing("unknown")                                  # the system does not know the authority
    stage.wait_failing("plain")                                    # unsafeSsl alone is no TLS
    assert "(does the server want TLS?)" in stage.event("KEDAScalerFailed", "plain").note
    assert "does the server" not in stage.event("KEDAScalerFailed", "unknown").note


def test_mutual_tls(kscaled, stage, credentials, start_scaler, authority):
    scaler = start_scaler(tls=authority["server"], client_ca=authority["ca"].cert)
    scaler.says(values={"queue": [12, 0]}, active=True)
    stage.deployment(replicas=0)
    whole = {"caCert": text(authority["ca"].cert), "tlsClientCert": text(authority["client"].cert), "tlsClientKey": text(authority["client"].key)}
    stage.ready_scaledobject(triggers=[trigger(scaler, _authenticationRef=secret_of(credentials, **whole))])
    eventually(lambda: stage.replicas() == 3)
    assert "PRIVATE KEY" not in str(scaler.asked())
    stage.deployment("stranger", replicas=0)
    credentials.secret("stranger", caCert=whole["caCert"])
    credentials.authentication("stranger", secretTargetRef=[{"parameter": "caCert", "name": "stranger", "key": "caCert"}])
    stage.scaledobject("stranger", triggers=[trigger(scaler, _authenticationRef=ref("stranger"))])
    stage.wait_failing("stranger")
    assert "(does the server ask for a client certificate?)" in stage.event("KEDAScalerFailed", "stranger").note
    assert stage.replicas("stranger") == 0


def test_expired_certificate(kscaled, stage, credentials, start_scaler, authority):
    scaler = start_scaler(tls=authority["expired"])
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(scaler, _authenticationRef=secret_of(credentials, caCert=text(authority["ca"].cert)))])
    stage.wait_failing()
    assert "expired" in stage.event("KEDAScalerFailed").note
    assert stage.replicas() == 2


# --- faults ---

def holds(stage, *words, seconds=1.5):
    """While it fails: told with the server's address and the cause, and nothing is scaled."""
    stage.wait_failing()
    message = stage.metric("s0-queue").failure(503, "ServiceUnavailable")
    for word in words:
        assert word in message, message
    throughout(lambda: stage.replicas() == 3, until=after(seconds))


def test_killed_hung_slow_and_back(kscaled, stage, scaler):
    working(stage, scaler)
    scaler.says(fail={"IsActive": ["UNAVAILABLE", "no backend"]})
    holds(stage, scaler.address, "IsActive: UNAVAILABLE: no backend")
    scaler.says(fail={"GetMetrics": ["PERMISSION_DENIED", "not you"]})
    eventually(lambda: "GetMetrics: PERMISSION_DENIED: not you" in stage.metric("s0-queue").failure(503, "ServiceUnavailable"))
    scaler.says(fail={})
    stage.wait_ready()
    scaler.says(values={})                                         # an answer without a value is no 0
    holds(stage, "GetMetrics: the answer has no value", seconds=0.5)
    scaler.says(values={"queue": [12, 0]}, sleep={"GetMetrics": 6})
    # Who is told first that the time is over, the server by its grpc-timeout or kscaled, is a matter of a millisecond.
    late = re.compile("no complete answer within|DEADLINE_EXCEEDED")
    eventually(lambda: late.search(stage.metric("s0-queue").failure(503, "ServiceUnavailable")))
    scaler.says(sleep={})
    stage.wait_ready()
    scaler.freeze()
    holds(stage, scaler.address)
    scaler.thaw()
    stage.wait_ready()
    scaler.kill()
    holds(stage, scaler.address)                                   # a call that was under way is told of its stream
    eventually(lambda: "refused" in stage.metric("s0-queue").failure(503, "ServiceUnavailable"))
    scaler.says(values={"queue": [22, 0]})
    scaler.start()
    assert timed(lambda: stage.replicas() == 5) < 8
    stage.wait_ready()


def test_a_server_that_comes_later(kscaled, stage, start_scaler):
    """Other triggers scale meanwhile; the HPA gets its metrics when they are known."""
    scaler = start_scaler(start=False)
    scaler.says(values={"queue": [32, 0]}, active=True)
    stage.deployment(replicas=0)
    stage.deployment("alone", replicas=1)
    stage.push(12)
    stage.scaledobject(triggers=[trigger(scaler), stage.trigger()])
    stage.scaledobject("alone", triggers=[trigger(scaler)])
    stage.deployment("fallback", replicas=0)
    stage.scaledobject("fallback", triggers=[trigger(scaler)], fallback={"failureThreshold": 1, "replicas": 4})
    eventually(lambda: stage.replicas() == 3)
    assert targets(stage) == {f"s1-redis-{stage.jobs}": "5"}
    eventually(lambda: stage.says("Ready", "Unknown", "PartialTriggerError"))
    stage.wait_failing("alone")
    note = stage.event("KEDAScalerFailed", "alone").note
    assert scaler.address in note and "GetMetricSpec" in note, note
    assert "keda-hpa-alone" not in stage.hpa_names() and stage.replicas("alone") == 1
    eventually(lambda: stage.replicas("fallback") == 4)
    scaler.start()
    eventually(lambda: targets(stage) == {"s0-queue": "5", f"s1-redis-{stage.jobs}": "5"}, timeout=15)
    eventually(lambda: targets(stage, "alone") == {"s0-queue": "5"})
    eventually(lambda: targets(stage, "fallback") == {"s0-queue": "5"})
    for name in ("worker", "alone", "fallback"):
        eventually(lambda: stage.replicas(name) == 7)
        stage.wait_ready(name)


def test_restarted_while_the_server_is_down(launch, stage, scaler):
    """The HPA stays as it is, and says what fails."""
    daemon = launch()
    daemon.wait_serving()
    scaler.says(specs=[["queue", 5, 0], ["load", 0, 2.5]])
    scaler.says(values={"queue": [12, 0], "load": [0, 1]}, active=True)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(scaler)])
    eventually(lambda: stage.replicas() == 3)
    before = stage.hpa_document()
    scaler.kill()
    daemon.term()
    launch("again").wait_serving()
    holds(stage, scaler.address, "refused", seconds=2)
    after_ = stage.hpa_document()
    assert after_["spec"] == before["spec"] and after_["metadata"]["generation"] == before["metadata"]["generation"] if "generation" in before["metadata"] else after_["spec"] == before["spec"]
    stage.patch({"spec": {"maxReplicaCount": 7}})                  # what is not the server's goes on
    eventually(lambda: stage.hpa().spec.max_replicas == 7)
    assert targets(stage) == {"s0-queue": "5", "s0-load": "2500m"}
    scaler.start()
    stage.wait_ready()
    assert targets(stage) == {"s0-queue": "5", "s0-load": "2500m"}


@pytest.mark.parametrize("specs, said", [
    ([], "the server returned no metric"),
    ([["", 5, 0]], 'metricName "" cannot be the name of a metric'),
    ([["a/b", 5, 0]], 'metricName "a/b" cannot be the name of a metric'),
    ([["a", 5, 0], ["A", 5, 0]], 'metricName "A" occurs twice'),
    ([["a", 0, 0]], 'metric "a": its target must be greater than 0'),
    ([["a", -5, 0.0001]], 'metric "a": its target must be greater than 0'),
    ([["a", 5, float("nan")]], "targetSizeFloat is not a finite number"),
])
def test_descriptions_that_are_none(kscaled, module_stage, tmp_path, specs, said):
    stage, scaler = module_stage, GrpcScaler(tmp_path)
    scaler.says(specs=specs)
    name = f"w{abs(hash(said + str(specs))) % 100000}"
    try:
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[trigger(scaler)])
        stage.wait_failing(name)
        assert said in stage.event("KEDAScalerFailed", name).note
        assert f"keda-hpa-{name}" not in stage.hpa_names()
    finally:
        stage.delete(name)
        scaler.end()


# --- push ---

def test_push_wakes_and_the_stream_comes_back(kscaled, stage, scaler):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(scaler, push=True)], pollingInterval=300, maxReplicaCount=3)
    eventually(lambda: scaler.asked("StreamIsActive"))
    stage.wait_ready()
    scaler.says(values={"queue": [5, 0]}, active=True)
    scaler.push(False)
    throughout(lambda: stage.replicas() == 0, until=after(0.5))    # false means nothing
    scaler.push(True)
    assert timed(lambda: stage.replicas() == 1) < 6
    scaler.says(cuts=1)
    since = time.time()
    eventually(lambda: scaler.asked("StreamIsActive", since), timeout=6)
    scaler.says(active=False)


# --- servers that are none ---

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


SETTINGS = frame(4, 0, 0)
HEADERS = b"\x88" + literal(b"content-type", b"application/grpc")
ANSWER = frame(1, 4, 1, HEADERS)


def message(length, payload=b"", flag=0):
    return bytes([flag]) + struct.pack(">I", length) + payload


def frames(data):
    """(offset, kind, flags, stream) of each whole frame."""
    at = 0
    while at + 9 <= len(data):
        length, kind, flags, stream = struct.unpack(">I", b"\0" + data[at:at + 3])[0], data[at + 3], data[at + 4], struct.unpack(">I", data[at + 5:at + 9])[0]
        yield at, kind, flags, stream
        at += 9 + length


def to_stream(stream, data):
    """Frames written for stream 1, for another."""
    out = bytearray(data)
    for at, _, _, meant in frames(data):
        if meant:
            out[at + 5:at + 9] = struct.pack(">I", stream)
    return bytes(out)


def served(*pieces, then=None):
    """Greets, and answers each request, when it is there as a whole, with the pieces; goes on to `then` after the first."""
    def behave(connection):
        connection.sendall(SETTINGS + frame(4, 1, 0))
        got, answered = b"", set()
        while piece := connection.recv(65536):
            got += piece
            for stream in {stream for _, kind, flags, stream in frames(got[24:]) if kind == 0 and flags & 1} - answered:
                answered.add(stream)
                connection.sendall(to_stream(stream, b"".join(pieces)))
                if then:
                    then(connection)
                    return
    return behave


def goes_on(block):
    def behave(connection):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            connection.sendall(block)
    return behave


HOSTILE = {
    "closes": (scripted.closes, ""),
    "resets": (scripted.resets, ""),
    "http/1.1": (scripted.answers_once(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), ""),
    "garbage": (scripted.answers_once(b"\x00\xff" * 5000), ""),
    "silent": (scripted.silent, "within"),
    "settings and silence": (scripted.half(SETTINGS), "within"),
    "half a head": (served(ANSWER, frame(0, 0, 1, b"\0\0")), "within"),
    "half a message": (served(ANSWER, frame(0, 1, 1, message(100, b"x"))), "grpc-status"),
    "half a frame": (served(ANSWER, frame(0, 1, 1, message(100, b"x"))[:-3], then=scripted.closes), ""),
    "giant length": (served(ANSWER, frame(0, 0, 1, message(0xffffffff, b"x"))), "larger than"),
    "compressed": (served(ANSWER, frame(0, 0, 1, message(1, b"x", 1))), "compressed"),
    "no trailers": (served(ANSWER, frame(0, 1, 1, message(0))), "without a grpc-status"),
    "trailers only": (served(frame(1, 5, 1, HEADERS + literal(b"grpc-status", b"14") + literal(b"grpc-message", b"busy%20%E2%82%AC%00%"))), "UNAVAILABLE: busy \u20ac?%"),
    "a status of its own": (served(frame(1, 5, 1, HEADERS + literal(b"grpc-status", b"99999999999"))), "unknown grpc-status"),
    "a page": (served(frame(1, 4, 1, b"\x88" + literal(b"content-type", b"text/html")), frame(0, 0, 1, b"<html>")), "text/html"),
    "503": (served(frame(1, 5, 1, literal(b":status", b"503"))), "UNAVAILABLE: HTTP status 503"),
    "messages without end": (served(ANSWER, then=goes_on(frame(0, 0, 1, message(0) * 1000))), ""),
    "one without end": (served(ANSWER, frame(0, 0, 1, message(4 << 20)), then=goes_on(frame(0, 0, 1, b"x" * 16000))), ""),
    "headers without end": (served(then=goes_on(frame(1, 0, 1, b"\x88") + frame(9, 0, 1, literal(b"x", b"y" * 100) * 100))), ""),
    "goaway": (served(frame(7, 0, 0, struct.pack(">II", 0, 0)), then=scripted.closes), ""),
    "rst": (served(frame(3, 0, 1, struct.pack(">I", 2))), ""),
    "drips": (served(then=scripted.drips(ANSWER)), "within"),
}


def test_hostile_servers(kscaled, stage):
    """All at once: none may take anything from another, or from kscaled."""
    servers = {name: scripted.Scripted(behave) for name, (behave, _) in HOSTILE.items()}
    memory = kscaled.rss_mib()
    try:
        for i, server in enumerate(servers.values()):
            stage.deployment(f"w{i}", replicas=1)
            stage.scaledobject(f"w{i}", triggers=[trigger(server.address, push=i % 2 == 1)])
        # Those that flood keep this process busy: another may at first have said nothing in time, and its own words later.
        for i, (name, (_, word)) in enumerate(HOSTILE.items()):
            stage.wait_failing(f"w{i}")
            said = lambda i=i: [event.note for event in stage.events(f"w{i}", "KEDAScalerFailed")]
            try:
                eventually(lambda: any(word in note and "external 127.0.0.1" in note for note in said()))
            except AssertionError:
                raise AssertionError(f"{name}: {said()}") from None
        assert all(stage.replicas(f"w{i}") == 1 for i in range(len(servers)))
        if not kscaled.sanitized():
            assert kscaled.rss_mib() < memory + 20
    finally:
        for server in servers.values():
            server.end()


# --- kscaled check ---

SCALEDOBJECT = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: shop}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: external
    metadata: {%s}
"""


@pytest.mark.parametrize("metadata, said", [
    ("scalerAddress: 'scaler:50051', anything: goes", ""),
    ("list: jobs", 'missing required parameter "scalerAddress"'),
    ("scalerAddress: 'unix:/run/x.sock'", '"unix" is not supported here'),
    ("scalerAddress: 'a:b:c'", "must be host:port"),
    ("scalerAddress: 'scaler:1', enableTLS: maybe", 'unable to set param "enableTLS" value "maybe"'),
])
def test_check(tmp_path, metadata, said):
    path = tmp_path / "f.yaml"
    path.write_text(SCALEDOBJECT % metadata)
    done = run("check", str(path))
    assert done.returncode == (1 if said else 0) and said in done.stdout, done
