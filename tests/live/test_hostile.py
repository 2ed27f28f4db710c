# SPDX-License-Identifier: Apache-2.0
"""Hostile objects, HTTP and TLS: a clear word about each, everybody else unaffected, no memory without bounds, no crash."""
import concurrent.futures
import contextlib
import copy
import json
import os
import random
import re
import socket
import ssl
import struct
import time

import pytest

from rig.waiting import after, eventually, throughout, timed


@pytest.fixture
def healthy(kscaled, stage):
    """A neighbour, whom none of this may touch; checked at the end, with kscaled's memory and files."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    rss, files = kscaled.rss_mib(), kscaled.open_files()
    yield stage
    stage.push(1)
    assert timed(lambda: stage.replicas() == 1) < 4
    assert stage.metric().value() == "1"
    stage.drain()
    eventually(lambda: stage.replicas() == 0)
    if not kscaled.sanitized():
        assert kscaled.rss_mib() < rss + 24 and kscaled.peak_mib() < 128
    eventually(lambda: kscaled.open_files() < files + 16)
    assert kscaled.metric("kscaled_loop_longest_turn_seconds") < 2


# --- objects ---

def test_ten_thousand_triggers(kscaled, healthy):
    triggers = [{"type": "redis", "metadata": {"listName": f"l{i}", "address": "127.0.0.1:1"}} for i in range(10000)]
    put_anyhow(healthy, healthy.document("many", target=healthy.another("many"), triggers=triggers))
    message = healthy.wait_refused("many")
    assert "spec.triggers" in message and "10000" in message.replace(",", "")
    healthy.delete("many")


def test_as_many_triggers_as_allowed(kscaled, healthy):
    """A thousand: more than anybody needs, and still nobody else waits. (The HPA with all these metrics is the API server's to take or refuse.)"""
    triggers = [healthy.trigger(listName=f"l{i}") for i in range(1000)]
    healthy.scaledobject("many", target=healthy.another("many"), maxReplicaCount=1, triggers=triggers)
    eventually(lambda: healthy.condition("Ready", "many"))
    healthy.delete("many")


def test_a_megabyte_of_metadata(kscaled, healthy):
    for name, metadata in (("one-value", {"listName": "x" * 1000000}), ("many-keys", {f"key-{i:06}": "v" * 80 for i in range(9000)})):
        healthy.scaledobject(name, target=healthy.another(name), triggers=[healthy.trigger(**metadata)])
        message = healthy.wait_refused(name)
        assert "spec.triggers[0].metadata" in message and len(message) < 4096
        healthy.delete(name)


def test_large_labels_and_annotations(kscaled, healthy):
    """200 KB of annotations are copied to the HPA, as KEDA does; they are within what the API allows."""
    annotations = {f"example.com/a{i}": "ä" * 1000 for i in range(100)}
    healthy.ready_scaledobject("big", target=healthy.another("big"), maxReplicaCount=1, metadata={"annotations": annotations, "labels": {f"l{i}": "v" * 63 for i in range(200)}},
                               triggers=[healthy.trigger(listName="none")])
    hpa = healthy.hpa("big")
    assert len(hpa.metadata.annotations) >= 100 and len(hpa.metadata.labels) >= 200
    healthy.delete("big")


def loose_schema_of(cluster):
    """The CRD of somebody who turned validation off: now anything can be in an object."""
    name = "scaledobjects.keda.sh"
    before = cluster.request(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}").json["spec"]["versions"]
    loose = copy.deepcopy(before)
    loose[0]["schema"]["openAPIV3Schema"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    probe = json.dumps({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "probe"}, "spec": {"advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"kept": "x"}}}}})

    def in_force():
        answer = cluster.request("/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects?dryRun=All", "POST", text=probe)
        return answer.status == 201 and '"kept"' in answer.text

    cluster.extensions.patch_custom_resource_definition(name, [{"op": "replace", "path": "/spec/versions", "value": loose}])
    try:
        # Until then the old schema's handler takes objects too, and prunes them.
        for _ in range(3):
            eventually(in_force)
        yield
    finally:
        cluster.extensions.patch_custom_resource_definition(name, [{"op": "replace", "path": "/spec/versions", "value": before}])


@pytest.fixture
def loose_schema(installation):
    yield from loose_schema_of(installation.cluster)


def nested(depth):
    """Lists in lists; put in by deep_json, as Python's own encoder would give up."""
    return f"@nested {depth}@"


def deep_json(document):
    return re.sub(r'"@nested (\d+)@"', lambda match: "[" * int(match[1]) + '"x"' + "]" * int(match[1]), json.dumps(document))


def put_anyhow(stage, document):
    """
    Around the client, which checks too much. The change of the CRD takes a moment to be in force, and a busy API server gives up the greatest
    objects after half a minute.
    """
    path = f"/apis/keda.sh/v1alpha1/namespaces/{stage.namespace}/scaledobjects"

    def put():
        answer = stage.cluster.request(path, "POST", text=deep_json(document))
        assert answer.status in (201, 409), answer
        return True

    eventually(put, timeout=120)


# What is put into spec (or, with a name in front, elsewhere), and the field that must be named.
WRONG = {
    "triggers-text": ({"triggers": "redis"}, "spec.triggers"),
    "triggers-object": ({"triggers": {"type": "redis"}}, "spec.triggers"),
    "trigger-null": ({"triggers": [None]}, "spec.triggers[0]"),
    "trigger-number": ({"triggers": [7]}, "spec.triggers[0]"),
    "type-number": ({"triggers": [{"type": 7, "metadata": {}}]}, "spec.triggers[0].type"),
    "type-missing": ({"triggers": [{"metadata": {}}]}, "spec.triggers[0].type"),
    "metadata-list": ({"triggers": [{"type": "redis", "metadata": [1, 2]}]}, "spec.triggers[0].metadata"),
    "metadata-number": ({"triggers": [{"type": "redis", "metadata": {"listLength": 5}}]}, "spec.triggers[0].metadata"),
    "metadata-deep": ({"triggers": [{"type": "redis", "metadata": {"a": nested(500)}}]}, "spec.triggers[0].metadata"),
    "triggers-deep": ({"triggers": nested(500)}, "spec.triggers"),
    "triggers-none": ({"triggers": []}, "spec.triggers"),
    "target-text": ({"scaleTargetRef": "worker"}, "spec.scaleTargetRef"),
    "target-empty": ({"scaleTargetRef": {}}, "spec.scaleTargetRef.name"),
    "target-name-number": ({"scaleTargetRef": {"name": 7}}, "spec.scaleTargetRef.name"),
    "target-name-path": ({"scaleTargetRef": {"name": "worker/../../../namespaces/kube-system"}}, "spec.scaleTargetRef.name"),
    "target-name-long": ({"scaleTargetRef": {"name": "w" * 300}}, "spec.scaleTargetRef.name"),
    "target-kind-path": ({"scaleTargetRef": {"name": "worker", "kind": "Deployment/x"}}, "spec.scaleTargetRef.kind"),
    "min-text": ({"minReplicaCount": "five"}, "spec.minReplicaCount"),
    "min-overflow": ({"minReplicaCount": 99999999999}, "spec.minReplicaCount"),
    "max-overflow": ({"maxReplicaCount": 2147483648}, "spec.maxReplicaCount"),
    "max-least": ({"maxReplicaCount": -2147483648}, "spec.maxReplicaCount"),
    "max-fraction": ({"maxReplicaCount": 1.5}, "spec.maxReplicaCount"),
    "max-zero": ({"maxReplicaCount": 0}, "spec.maxReplicaCount"),
    "min-negative": ({"minReplicaCount": -1}, "spec.minReplicaCount"),
    "min-above-max": ({"minReplicaCount": 7, "maxReplicaCount": 3}, "spec.minReplicaCount"),
    "polling-zero": ({"pollingInterval": 0}, "spec.pollingInterval"),
    "polling-exponent": ({"pollingInterval": 1e30}, "spec.pollingInterval"),
    "cooldown-negative": ({"cooldownPeriod": -5}, "spec.cooldownPeriod"),
    "cooldown-null-is-fine": ({"cooldownPeriod": None}, None),
    "advanced-list": ({"advanced": [1]}, "spec.advanced"),
    "restore-text": ({"advanced": {"restoreToOriginalReplicaCount": "yes"}}, "spec.advanced.restoreToOriginalReplicaCount"),
    "hpa-config-text": ({"advanced": {"horizontalPodAutoscalerConfig": "x"}}, "spec.advanced.horizontalPodAutoscalerConfig"),
    "behavior-text": ({"advanced": {"horizontalPodAutoscalerConfig": {"behavior": "fast"}}}, "behavior"),
    "behavior-large": ({"advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"x": "y" * 100000}}}}, "behavior"),
    "fallback-text": ({"fallback": "yes"}, "spec.fallback"),
    "control-characters": ({"triggers": [{"type": "re\u0000dis\n\u001b[2J", "metadata": {}}]}, "spec.triggers[0]"),
    "spec-text": ("none", "spec"),
    "spec-list": ([1, 2, 3], "spec"),
    "spec-missing": (None, "spec"),
}


def test_wrong_types(kscaled, healthy, loose_schema):
    for name, (spec, _) in WRONG.items():
        document = healthy.document(name, target=healthy.another(name), behavior=None)
        if isinstance(spec, dict):
            document["spec"].update(spec)
        elif spec is None:
            del document["spec"]
        else:
            document["spec"] = spec
        put_anyhow(healthy, document)
    wrong = {}
    for name, (spec, field) in WRONG.items():
        try:
            if field is None:
                healthy.wait_ready(name)
            else:
                message = healthy.wait_refused(name, timeout=10)
                assert field in message, f"{message!r} does not name {field}"
                assert message.isprintable() and len(message) < 4096
        except AssertionError as error:
            wrong[name] = str(error)
    assert kscaled.metrics()                           # which counts them, too
    for name in WRONG:
        healthy.delete(name)
    assert not wrong, "\n".join(f"{name}: {why}" for name, why in wrong.items())


def test_one_that_cannot_be_parsed_at_all(kscaled, healthy, loose_schema):
    """Nested deeper than any parser of ours goes: that one is left out, by name in the log, and the others, older and newer, are seen as ever."""
    put_anyhow(healthy, healthy.document("abyss", target=healthy.another("abyss"), behavior=None, triggers=nested(4000)))
    healthy.ready_scaledobject("newer", target=healthy.another("newer"), maxReplicaCount=1, triggers=[healthy.trigger(listName="none")])
    healthy.patch({"spec": {"maxReplicaCount": 2}}, "newer")
    eventually(lambda: healthy.hpa("newer").spec.max_replicas == 2)
    eventually(lambda: "abyss" in kscaled.log() or f"{healthy.namespace}/abyss" in kscaled.log(), timeout=10)
    healthy.delete("newer")
    healthy.cluster.request(f"/apis/keda.sh/v1alpha1/namespaces/{healthy.namespace}/scaledobjects/abyss", "DELETE")


def test_found_at_the_start(launch, healthy_objects, loose_schema):
    """The same when it is in the list that a starting kscaled reads."""
    stage = healthy_objects
    put_anyhow(stage, stage.document("abyss", target=stage.another("abyss"), behavior=None, triggers=nested(4000)))
    put_anyhow(stage, {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "nothing"}})
    stage.scaledobject(maxReplicaCount=1)
    launch().wait_serving()
    stage.wait_ready()
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)
    stage.cluster.request(f"/apis/keda.sh/v1alpha1/namespaces/{stage.namespace}/scaledobjects/abyss", "DELETE")


def test_schema_made_strict_again(kscaled, healthy):
    """What was let in before stays in the store, and no status of it can be written any more: the API server refuses each."""
    with contextlib.contextmanager(loose_schema_of)(healthy.cluster):
        for name, (spec, _) in WRONG.items():
            document = healthy.document(name, target=healthy.another(name), behavior=None)
            if isinstance(spec, dict) and "deep" not in name:
                document["spec"].update(spec)
                put_anyhow(healthy, document)
    healthy.ready_scaledobject("newer", target=healthy.another("newer"), maxReplicaCount=1, triggers=[healthy.trigger(listName="none")])
    throughout(kscaled.alive, until=after(4))


@pytest.fixture
def healthy_objects(stage):
    stage.deployment(replicas=0)
    return stage


def test_wrong_status(kscaled, healthy, loose_schema):
    """A status that makes no sense (an older version's, or somebody's hand) does not keep the object from working."""
    statuses = [
        {"conditions": "none", "lastActiveTime": 5}, {"conditions": [1, None, {"type": 5}, {"type": "Ready", "status": "Perhaps"}]}, {"lastActiveTime": "yesterday"},
        {"lastActiveTime": "9999-12-31T23:59:59Z"}, {"scaleTargetGVKR": [], "externalMetricNames": {"a": 1}, "originalReplicaCount": "2", "hpaName": 7},
        {"externalMetricNames": ["x" * 10000] * 20, "triggersActivity": {f"m{i}": {"isActive": True} for i in range(2000)}}, {"hpaName": "../../x"},
        {"health": {"x": 1}, "health2": [[[[[[]]]]]]},
    ]

    def put(name, status):
        # Only now does the API server keep what the schema did not know.
        healthy.cluster.custom.patch_namespaced_custom_object_status("keda.sh", "v1alpha1", healthy.namespace, "scaledobjects", name, {"status": status},
                                                                     _content_type="application/merge-patch+json")
        return True

    for i, status in enumerate(statuses):
        name = f"status-{i}"
        healthy.scaledobject(name, target=healthy.another(name), maxReplicaCount=1, triggers=[healthy.trigger(listName="none")])
        eventually(lambda name=name, status=status: put(name, status))
    for i in range(len(statuses)):
        name = f"status-{i}"
        healthy.patch({"spec": {"cooldownPeriod": 2}}, name)
        healthy.wait_ready(name)
        eventually(lambda name=name: healthy.hpa(name))
        healthy.delete(name)


# --- TLS and HTTP ---

def raw(daemon, timeout=5.0):
    return socket.create_connection(("127.0.0.1", daemon.port), timeout)


def exchange(connection, data, timeout=5.0):
    """Sends and reads to the end, or until nothing more comes."""
    connection.settimeout(timeout)
    answer = b""
    with contextlib.suppress(OSError):
        if data:
            connection.sendall(data)
        while len(answer) < 1 << 20:
            block = connection.recv(65536)
            if not block:
                break
            answer += block
    return answer


def test_garbage_instead_of_tls(kscaled, healthy):
    noise = random.Random(1)
    hello = bytes.fromhex("160301ffff01ffffff0303") + bytes(32)
    for data in [b"", b"\0", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", hello, hello[:5], b"\x80\x80\x01\x03\x01", b"\x15\x03\x03\x00\x02\x02\x28", b"\x16\x03\x01" * 20000,
                 *[noise.randbytes(noise.choice([1, 5, 100, 5000, 70000])) for _ in range(30)]]:
        with raw(kscaled) as connection:
            answer = exchange(connection, data, timeout=0.05)
            assert b"HTTP/1" not in answer, "nothing is ever served in the clear on that port"
    for _ in range(40):                                # reset in the middle of a handshake
        connection = raw(kscaled)
        connection.sendall(hello)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


BAD_REQUESTS = {
    "no-version": b"GET /\r\n\r\n",
    "http09": b"GET\r\n\r\n",
    "http2-preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http3": b"GET / HTTP/3.0\r\n\r\n",
    "no-path": b"GET  HTTP/1.1\r\nHost: x\r\n\r\n",
    "garbage": bytes(range(256)) * 8,
    "nul": b"GET /\0/apis HTTP/1.1\r\nHost: x\r\n\r\n",
    "connect": b"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "absolute": b"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n",
    "long-line": b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "long-header": b"GET / HTTP/1.1\r\nX: " + b"a" * 200000 + b"\r\n\r\n",
    "many-headers": b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20000)) + b"\r\n",
    "folded-header": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n  b\r\n\tc\r\n\r\n",
    "header-without-colon": b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
    "length-negative": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "length-text": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
    "length-huge": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "length-twice": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nabcde",
    "length-and-chunks": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    "chunk-size": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nabc",
    "chunk-no-number": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "body-too-large": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 4000000,
    "chunks-too-large": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 80,
    "expect": b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
    "pipelined": b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 200,
    "bad-percent": b"GET /apis/external.metrics.k8s.io/v1beta1/namespaces/%zz/%00?labelSelector=%ff%fe%%% HTTP/1.1\r\nHost: x\r\n\r\n",
    "authorization": b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe" + b"a" * 20000 + b"\r\n\r\n",
    "header-injection": b"GET /x%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_bad_requests(kscaled, module_stage, name):
    """Refused or answered in order, on the HTTPS and on the plain port, and the next client is served."""
    data = BAD_REQUESTS[name]
    with kscaled.connect(kscaled.tls_context(verify=False)) as secure, socket.create_connection(("127.0.0.1", kscaled.status_port), 5) as insecure, concurrent.futures.ThreadPoolExecutor(2) as pool:
        over_tls, plain = pool.map(lambda connection: exchange(connection, data, timeout=0.3), (secure, insecure))
    for answer in (over_tls, plain):
        assert not answer or answer.startswith(b"HTTP/1."), answer[:100]
        assert b"\r\nSet-Cookie" not in answer
        # 200 only for what anybody may see.
        assert b"200 OK" not in answer[:40] or name in ("folded-header", "pipelined", "authorization"), answer[:200]
    assert b"keda_build_info" not in over_tls, "/metrics on the HTTPS port needs credentials"
    assert kscaled.ask("/healthz").status == 200


def test_many_askers_with_tokens_of_their_own(kscaled, healthy):
    """Each unknown token costs a TokenReview: bounded, and nobody else is shut out."""
    for i in range(150):
        answer = kscaled.ask(healthy.path(), token=f"no-token-{i}")
        assert answer.status in (401, 429), answer


def closed_within(connections, seconds):
    """How many of them the server closed in that time."""
    end = time.monotonic() + seconds
    waiting = list(connections)
    while waiting and time.monotonic() < end:
        for connection in list(waiting):
            connection.settimeout(0.02)
            try:
                if not connection.recv(4096):
                    waiting.remove(connection)
            except TimeoutError:
                pass
            except OSError:
                waiting.remove(connection)
    return len(connections) - len(waiting)


def test_slow_clients(kscaled, healthy):
    """Half a handshake, half a request, a byte now and then: each has its end after 10 s, however busy it looks."""
    context = kscaled.tls_context(verify=False)
    silent = [raw(kscaled) for _ in range(10)]
    half = [kscaled.connect(context) for _ in range(10)]
    for connection in half:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half")
    drips = [kscaled.connect(context) for _ in range(10)]
    body = [kscaled.connect(context) for _ in range(5)]
    for connection in body:
        connection.sendall(b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    plain = [socket.create_connection(("127.0.0.1", kscaled.status_port)) for _ in range(5)]
    for connection in plain:
        connection.sendall(b"GET /hea")
    everybody = silent + half + drips + body + plain
    start = time.monotonic()
    alive = set(drips + body)
    while time.monotonic() - start < 13 and alive:
        for connection in list(alive):
            try:
                connection.sendall(b"a" if connection in drips else b"x")
            except OSError:
                alive.discard(connection)
        assert healthy.metric().value() == "0"
        time.sleep(0.4)
    assert not alive, f"{len(alive)} drips still live after 13 s"
    assert closed_within(everybody, 5) == len(everybody)
    for connection in everybody:
        connection.close()


def test_more_connections_than_there_is_room_for(kscaled, healthy):
    healthy.metric().value()                           # the aggregator has its connection
    flood = []
    try:
        for _ in range(700):
            with contextlib.suppress(OSError):
                flood.append(raw(kscaled, 2.0))
        eventually(lambda: closed_within(flood[-60:], 0.2) >= 50)
        # Who was there before is served: the aggregator, once it uses the connection that it has and not another.
        eventually(lambda: healthy.metric().value() == "0")
        assert kscaled.metric("kscaled_https_connections") <= 520
    finally:
        for connection in flood:
            connection.close()
    eventually(lambda: kscaled.ask("/healthz").status == 200)


def test_clients_that_leave_while_they_wait(kscaled, healthy, start_redis):
    """Held requests whose client goes away are let go."""
    frozen = start_redis()
    healthy.ready_scaledobject("hung", target=healthy.another("hung"), maxReplicaCount=1, triggers=[healthy.trigger(address=frozen.address, listName="jobs")])
    frozen.freeze()
    reader = healthy.account("reader", True)
    request = f"GET {healthy.path('s0-redis-jobs', 'hung')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {reader}\r\n\r\n".encode()
    context = kscaled.tls_context(verify=False)
    for _ in range(30):
        connection = kscaled.connect(context)
        connection.sendall(request)
        connection.close()
    eventually(lambda: kscaled.metric("kscaled_readings_waiters") <= 4)
    frozen.thaw()
    healthy.wait_ready("hung")


def test_random_bytes_over_tls(kscaled, healthy):
    noise = random.Random(os.environ.get("SEED", "7"))
    context = kscaled.tls_context(verify=False)
    words = [b"GET ", b"POST ", b"/apis/external.metrics.k8s.io/v1beta1", b" HTTP/1.1\r\n", b"\r\n", b"Host: x\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked\r\n", b"\r\n\r\n", b"%", b"?a=b",
             b"\0", b"\xff", b"0", b"99999999", b"Connection: close\r\n", b"X-Remote-User: root\r\n", b"Authorization: Bearer x\r\n"]
    for _ in range(80):
        data = b"".join(noise.choice(words) if noise.random() < 0.9 else noise.randbytes(9) for _ in range(noise.randrange(1, 40)))
        with contextlib.suppress(ssl.SSLError, OSError), kscaled.connect(context) as connection:
            answer = exchange(connection, data, timeout=0.03)
            assert not answer or answer.startswith(b"HTTP/1.")
