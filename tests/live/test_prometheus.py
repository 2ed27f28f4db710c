# SPDX-License-Identifier: Apache-2.0
"""
The prometheus trigger, and asking over HTTP: a real Prometheus (values, scaling, TLS, users, certificates, faults), and a server written for the test for what that one does not check (tokens, signatures, redirects) or never does.
"""
import datetime
import pathlib
import time

import pytest

from rig import http_source, pki
from rig.daemon import run
from rig.http_source import HttpSource, TokenServer, vector
from rig.prometheus_server import PrometheusServer
from rig.waiting import after, eventually, throughout

# Of "blue-password" and "green-password"; cheap ones, as each request pays.
HASHES = {"blue": "$2b$04$abcdefghijklmnopqrstuubkidVVPyZsCJ56FbyMztMqEZLMy7/xq", "green": "$2b$04$abcdefghijklmnopqrstuuAyWnUzWAplpZsYtJIbzwk/eJYjeVa9S"}


class Exporter(HttpSource):
    """What Prometheus reads its numbers from."""

    def __init__(self):
        self.queue = 0
        super().__init__({"/metrics": lambda asked: (200, {"Content-Type": "text/plain; version=0.0.4"}, f"test_queue {self.queue}\n" + "".join(f'test_many{{n="{n}"}} {n}\n' for n in range(3)))})

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def exporter():
    exporter = Exporter()
    yield exporter
    exporter.end()


@pytest.fixture(scope="module")
def prometheus(exporter, tmp_path_factory):
    """It reads the exporter."""
    server = PrometheusServer(tmp_path_factory.mktemp("prometheus"), "prometheus", scrapes=[exporter.address])
    yield server
    server.end()


@pytest.fixture
def source():
    source = HttpSource({"/api/v1/query": vector(7)})
    yield source
    source.end()


def trigger(server, query="test_queue", **metadata):
    """A None takes a default away; _name and so on are fields beside metadata."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    values = {"serverAddress": getattr(server, "url", server), "query": query, "threshold": "5", **metadata}
    return {"type": "prometheus", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **fields}


def authenticated(credentials, name="web", **values):
    """A Secret and a TriggerAuthentication with all of it."""
    credentials.secret(name, **values)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
    return {"_authenticationRef": {"name": name}}


def value(stage, index=0, name="worker"):
    return stage.metric(f"s{index}-prometheus", name).value()


def failure(stage, index=0, name="worker"):
    return stage.metric(f"s{index}-prometheus", name).failure(503, "ServiceUnavailable")


def connections_to(port):
    """Local ends of what is connected to a loopback port."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[2] == f"0100007F:{port:04X}" and row[3] == "01"]


def settle(exporter, prometheus, number):
    exporter.queue = number
    eventually(lambda: prometheus.value("test_queue") == number)


# --- values ---

def test_values(kscaled, stage, exporter, prometheus):
    """One object with a trigger for each kind of result."""
    settle(exporter, prometheus, 12)
    empty, asked = 'keda_scaler_empty_upstream_responses_total{ignoreNullValues="true"}', '{scaler="prometheus",status_code="200"}'
    before = kscaled.metrics()
    expected = {
        "test_queue": "12", "scalar(test_queue)": "12", "7": "7", "test_queue / 8": "1500m", "sum(test_many)": "3", 'test_many{n="2"}': "2", "-test_queue": "0",
        "not_there": "0", "test_queue * NaN": "0", "test_queue / 0": "0", "vector(0) > 1": "0",
    }
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(prometheus, query) for query in expected])
    found = {query: value(stage, index) for index, query in enumerate(expected)}
    assert found == expected
    after = kscaled.metrics()
    assert after[empty] >= before.get(empty, 0) + 4
    for name in ("keda_scaler_http_requests_total", "keda_scaler_http_request_duration_seconds_count"):
        assert after[name + asked] >= before.get(name + asked, 0) + len(expected)


def test_what_is_no_value(kscaled, stage, exporter, prometheus):
    settle(exporter, prometheus, 12)
    expected = {
        "test_many": "multiple elements (3)", "test_queue[1m]": "a range of values", '"text"': "a text, not a number", "sum(": "HTTP status 400: bad_data",
        "not_there": "ignoreNullValues is false: the result is empty", "test_queue * NaN": "the value is NaN", "-test_queue / 0": "the value is -Inf",
    }
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(prometheus, query, ignoreNullValues="false") for query in expected])
    stage.wait_failing()
    for index, (query, said) in enumerate(expected.items()):
        message = failure(stage, index)
        assert said in message and prometheus.url in message and f"query {query}" in message, message
    counted = kscaled.metrics()
    assert counted['keda_scaler_http_requests_total{scaler="prometheus",status_code="400"}'] >= 1
    assert counted['keda_scaler_empty_upstream_responses_total{ignoreNullValues="false"}'] >= 1
    throughout(lambda: stage.replicas() == 2, until=after(1.5))


def test_zero_to_many_and_back(kscaled, stage, exporter, prometheus):
    settle(exporter, prometheus, 3)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(prometheus, activationThreshold="3")])
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    settle(exporter, prometheus, 22)
    eventually(lambda: stage.replicas() == 5)
    settle(exporter, prometheus, 0)
    eventually(lambda: stage.replicas() == 0)


def test_parameters_as_sent(kscaled, stage, source):
    source.routes["/mimir/prometheus/api/v1/query"] = vector("4.5")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(f"{source.url}/mimir/prometheus/", 'a + b{c="d&e"}', namespace="shop/1", queryParameters="dedup=true, partial_response=false,x=ä b", customHeaders="X-Scope-OrgID=team 1,X-Other=2")])
    assert value(stage) == "4500m"
    asked = source.to("/mimir/prometheus/api/v1/query")[-1]
    assert abs(time.time() - float(asked.query.pop("time"))) < 60
    assert asked.query == {"query": 'a + b{c="d&e"}', "namespace": "shop/1", "dedup": "true", "partial_response": "false", "x": "ä b"}
    assert (asked.headers["X-Scope-OrgID"], asked.headers["X-Other"], asked.headers.get("Authorization")) == ("team 1", "2", None)


def test_questions_are_shared_and_connections_few(kscaled, stage, exporter, prometheus):
    """200 triggers, 100 questions: a handful of connections, and each question once a second."""
    settle(exporter, prometheus, 12)
    accepted, queries = (lambda: prometheus.own('net_conntrack_listener_conn_accepted_total{listener_name="http"}')), (lambda: prometheus.own('prometheus_http_requests_total{code="200",handler="/api/v1/query"}'))
    begun = accepted()
    for n in range(4):
        stage.deployment(f"worker-{n}", replicas=0)
        stage.scaledobject(f"worker-{n}", triggers=[trigger(prometheus, f"test_queue + {i + 50 * (n % 2)}") for i in range(50)], maxReplicaCount=1)
    for n in range(4):
        stage.wait_ready(f"worker-{n}")
    assert value(stage, 49, "worker-3") == "111"
    begin = queries()
    throughout(lambda: True, until=after(3))
    asked, opened = queries() - begin, accepted() - begun
    assert opened - 20 <= 8, opened  # the test's own looks are connections, too, and fewer than 20
    assert len(connections_to(prometheus.port)) <= 8
    assert asked <= 100 * 3 * 3.5, asked  # polls and the HPA controller each second


# --- who we are ---

@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    directory = tmp_path_factory.mktemp("authorities")
    ca = pki.authority(directory, "ca")
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "ca": ca, "server": pki.certificate(directory, "server", ca, "localhost"), "client": pki.certificate(directory, "client", ca, "kscaled", usage="clientAuth"),
        "expired": pki.certificate(directory, "expired", ca, "localhost", begin=now - datetime.timedelta(days=2), end=now - datetime.timedelta(days=1)),
        "stranger": pki.authority(directory, "stranger"),
    }


def pem(path):
    return pathlib.Path(path).read_text()


def test_tls_users_and_certificates(kscaled, stage, credentials, authorities, tmp_path, exporter):
    """A real Prometheus that wants all of it."""
    server = PrometheusServer(tmp_path, "locked", tls=authorities["server"], client_ca=authorities["ca"].cert, users=HASHES)
    try:
        ca, client = pem(authorities["ca"].cert), {"cert": pem(authorities["client"].cert), "key": pem(authorities["client"].key)}
        blue = {"username": "blue", "password": "blue-password"}
        good = authenticated(credentials, "good", ca=ca, **client, **blue)
        wrong = authenticated(credentials, "wrong", ca=ca, **client, username="blue", password="no-such-password")
        alone = authenticated(credentials, "alone", ca=ca, **blue)
        stranger = authenticated(credentials, "stranger", ca=pem(authorities["stranger"].cert), **client, **blue)
        stage.deployment(replicas=0)
        stage.deployment("failing", replicas=2)
        stage.ready_scaledobject(triggers=[*(trigger(server, f"7 + {n}", authModes="tls,basic", **good) for n in range(40)), trigger(server, "8", authModes="basic,tls", unsafeSsl="true", **stranger)])
        assert [value(stage, 0), value(stage, 39), value(stage, 40)] == ["7", "46", "8"]
        assert len(connections_to(server.port)) == 2  # HTTP/2: one for each way of trust
        # When one request had no answer the next does not go over the same connection.
        server.freeze()
        stage.wait_failing()
        eventually(lambda: len(connections_to(server.port)) > 2)
        server.thaw()
        stage.wait_ready()
        stage.scaledobject("failing", triggers=[trigger(server, "7", authModes="tls,basic", **wrong), trigger(server, "7", authModes="basic", **alone), trigger(server, "7", authModes="tls,basic", **stranger)])
        stage.wait_failing("failing")
        messages = [failure(stage, index, "failing") for index in range(3)]
        assert "HTTP status 401" in messages[0] and "certificate required" in messages[1] and "self-signed certificate" in messages[2] or "unable to get local issuer" in messages[2], messages
        assert all("no-such-password" not in message and "blue" not in message for message in messages), messages
        credentials.change_secret("wrong", username="green", password="green-password")
        eventually(lambda: value(stage, 0, "failing") == "7")
    finally:
        server.end()


def test_ca_without_modes_and_an_expired_certificate(kscaled, stage, credentials, authorities):
    good, expired = HttpSource({"/api/v1/query": vector(3)}, tls=authorities["server"]), HttpSource({"/api/v1/query": vector(3)}, tls=authorities["expired"])
    try:
        known = authenticated(credentials, "known", ca=pem(authorities["ca"].cert))
        stage.deployment(replicas=1)
        stage.deployment("failing", replicas=1)
        stage.ready_scaledobject(triggers=[trigger(good, **known), trigger(expired, unsafeSsl="true")])
        assert [value(stage, 0), value(stage, 1)] == ["3", "3"]
        stage.scaledobject("failing", triggers=[trigger(good), trigger(expired, **known)])
        stage.wait_failing("failing")
        assert "unable to get local issuer certificate" in failure(stage, 0, "failing")
        assert "certificate has expired" in failure(stage, 1, "failing")
    finally:
        good.end()
        expired.end()


def test_bearer_custom_and_a_user_in_the_url(kscaled, stage, credentials, source):
    def route(asked):
        return vector(len(asked.bearer or "") or len("".join(asked.basic or ())) or 1) if asked.headers.get("X-Key") in (None, "k1") else (403, {}, "{}")
    source.routes["/api/v1/query"] = route
    both = authenticated(credentials, "both", bearerToken="four", customAuthHeader="X-Key", customAuthValue="k1")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(source, authModes="bearer,custom", **both), trigger(source.url.replace("//", "//me:p%40ss@"))])
    assert [value(stage, 0), value(stage, 1)] == ["4", "6"]
    credentials.change_secret("both", bearerToken="fiver")
    eventually(lambda: value(stage) == "5")
    credentials.change_secret("both", customAuthValue="k2")
    assert "HTTP status 403" in eventually(lambda: failure(stage))


def test_oauth(kscaled, stage, credentials, source):
    """One token for all triggers of a client; renewed before it ends; again when it is refused; no secret in what goes wrong."""
    tokens, form_only, wrong = TokenServer(life=2), TokenServer(accepts="form", life=None), TokenServer(secret="other")
    source.routes.update({"/token": tokens, "/form": form_only, "/wrong": wrong, "/api/v1/query": tokens.guard(vector(9)), "/two/api/v1/query": form_only.guard(vector(8))})
    client = {"clientID": "client", "clientSecret": "client-secret"}
    one = authenticated(credentials, "one", oauthTokenURI=f"{source.url}/token", scopes="read,write", endpointParams="audience=prom%20x", **client)
    credentials.secret("two", secret="client-secret")
    credentials.authentication("two", oauth2={"type": "clientCredentials", "clientId": "client", "tokenUrl": f"{source.url}/form", "clientSecret": {"valueFrom": {"secretKeyRef": {"name": "two", "key": "secret"}}}})
    bad = authenticated(credentials, "bad", oauthTokenURI=f"{source.url}/wrong", **client)
    stage.deployment(replicas=0)
    stage.deployment("failing", replicas=1)
    stage.ready_scaledobject(triggers=[*(trigger(source, f"q{n}", authModes="oauth", **one) for n in range(3)), trigger(f"{source.url}/two", authModes="oauth", _authenticationRef={"name": "two"})])
    assert [value(stage, index) for index in range(4)] == ["9", "9", "9", "8"]
    assert form_only.given == 1 and len(form_only.asked) == 2
    assert tokens.asked[0].form == {"grant_type": "client_credentials", "scope": "read write", "audience": "prom x"}
    refused = len([asked for asked in source.to("/api/v1/query") if asked.bearer not in tokens.good])
    given = tokens.given
    eventually(lambda: tokens.given >= given + 2)
    assert tokens.given <= 6 and refused == 0
    form_only.revoke()
    eventually(lambda: form_only.given == 2)
    stage.says("Ready", "True")
    stage.scaledobject("failing", triggers=[trigger(source, authModes="oauth", **bad)])
    stage.wait_failing("failing")
    message = failure(stage, 0, "failing")
    assert "OAuth token" in message and "HTTP status 401, invalid_client" in message and "client-secret" not in message, message


def test_aws_signature(kscaled, stage, credentials, source):
    wrong = []

    def route(asked):
        problem = http_source.sigv4_wrong(asked, "eu-west-1", "aps", "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG")
        wrong.append(problem)
        return vector(6) if problem is None else (403, {}, "{}")
    source.routes["/workspaces/ws-1/api/v1/query"] = route
    keys = authenticated(credentials, "aws", awsAccessKeyID="AKIDEXAMPLE", awsSecretAccessKey="wJalrXUtnFEMI/K7MDENG", awsSessionToken="session/token==")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(f"{source.url}/workspaces/ws-1", 'sum(rate(x{a=~"b.*|c/d"}[5m])) * 2 + ä', awsRegion="eu-west-1", queryParameters="Zone=1,a=2", customHeaders="X-Scope-OrgID=t", **keys)])
    assert value(stage) == "6", wrong
    assert source.asked[-1].headers["X-Amz-Security-Token"] == "session/token=="
    assert set(wrong) == {None}


def test_redirects(kscaled, stage, credentials, source):
    """Credentials go along on the same server, and to nobody else."""
    other = HttpSource({"/there/api/v1/query": vector(2), "/api/v1/query": lambda asked: (302, {"Location": asked.target}, "")})
    try:
        moved = lambda where: lambda asked: (307, {"Location": f"{where}?{asked.raw_query}"}, "")
        source.routes.update({"/api/v1/query": moved("/new/api/v1/query"), "/new/api/v1/query": lambda asked: vector(3) if asked.bearer == "t0ken" else (401, {}, "{}"), "/away/api/v1/query": moved(f"{other.url}/there/api/v1/query")})
        token = authenticated(credentials, "token", bearerToken="t0ken", customAuthHeader="X-Key", customAuthValue="k")
        stage.deployment(replicas=0)
        stage.deployment("failing", replicas=1)
        stage.ready_scaledobject(triggers=[trigger(source, authModes="bearer", **token), trigger(f"{source.url}/away", authModes="bearer,custom", customHeaders="X-Scope-OrgID=a", **token)])
        assert [value(stage, 0), value(stage, 1)] == ["3", "2"]
        for asked in other.to("/there/api/v1/query"):
            assert not {"authorization", "x-key", "x-scope-orgid"} & {name.lower() for name in asked.headers}, asked.headers
        stage.scaledobject("failing", triggers=[trigger(other)])
        stage.wait_failing("failing")
        assert "redirected more than 10 times" in failure(stage, 0, "failing")
    finally:
        other.end()


# --- faults ---

def check_outage(stage, message):
    """Told, not scaled in, and a neighbour on a healthy server goes on."""
    stage.wait_failing()

    def told():  # a poll that was under way when the server went says so first
        assert message in failure(stage), failure(stage)
        return True
    eventually(told)
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    assert value(stage, 0, "neighbour") == "7"


def test_killed_frozen_and_back(kscaled, stage, source, tmp_path):
    server = PrometheusServer(tmp_path, "victim")
    try:
        stage.deployment(replicas=0)
        stage.deployment("neighbour", replicas=1)
        stage.ready_scaledobject(triggers=[trigger(server, "12")])
        stage.ready_scaledobject("neighbour", triggers=[trigger(source)])
        eventually(lambda: stage.replicas() == 3)
        server.freeze()
        check_outage(stage, f"prometheus: {server.url}: no complete answer within 3000 ms")
        server.thaw()
        stage.wait_ready()
        server.kill()
        check_outage(stage, f"prometheus: {server.url}: Connection refused")
        server.start()
        stage.wait_ready()
        assert stage.replicas() == 3
    finally:
        server.end()


def test_down_at_start(kscaled, stage, source):
    source.end()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(source)])
    stage.wait_failing()
    assert stage.replicas() == 2 and stage.hpa()
    source.start()
    stage.wait_ready()


def test_nonsense(kscaled, stage, source):
    """Half an answer, a giant one, one that drips, HTML, errors, a name that is nobody's: each says so, and none is 0."""
    source.routes.update({"/html/api/v1/query": (200, {"Content-Type": "text/html"}, "<html>"), "/half/api/v1/query": http_source.half, "/giant/api/v1/query": http_source.giant, "/drip/api/v1/query": http_source.drip,
                          "/503/api/v1/query": (503, {"Content-Type": "text/plain"}, "busy"), "/empty/api/v1/query": (200, {}, ""), "/close/api/v1/query": lambda asked: None,
                          "/warning/api/v1/query": '{"status":"success","data":{"resultType":"vector","result":[]},"warnings":["PromQL info: x","a store is away"]}',
                          "/isPartial/api/v1/query": '{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]}}'})
    expected = {"html": "not JSON but text/html", "half": "transfer closed", "giant": "larger than 1048576 bytes", "drip": "no complete answer within 700 ms", "503": "HTTP status 503", "empty": "not JSON",
                "close": "Empty reply", "warning": "the answer may cover only part of the data: a store is away", "isPartial": "isPartial is true", "missing": "HTTP status 404"}
    stage.deployment(replicas=3)
    triggers = [trigger(f"{source.url}/{path}", timeout="700ms") for path in expected] + [trigger("http://no-such-name.invalid:9090")]
    stage.scaledobject(triggers=triggers)
    stage.wait_failing()

    def all_say_so():  # sooner or later: on a busy machine a poll may run out of time instead
        found = {path: failure(stage, index) for index, path in enumerate(expected)}
        assert not [(path, said) for path, said in expected.items() if said not in found[path]], found
        return True
    eventually(all_say_so)
    assert "http://no-such-name.invalid:9090: " in failure(stage, len(expected))
    throughout(lambda: stage.replicas() == 3, until=after(1.5))


def test_a_time_of_its_own(kscaled, stage, source):
    """A query that takes longer than --metrics-deadline is waited for when its trigger says so, and only then."""
    def slow(asked):
        time.sleep(4)
        return vector(5)
    source.routes["/api/v1/query"] = slow
    stage.deployment(replicas=0)
    stage.deployment("failing", replicas=1)
    stage.scaledobject(triggers=[trigger(source, timeout="8s")], pollingInterval=30)
    stage.scaledobject("failing", triggers=[trigger(source, "other")])
    stage.wait_failing("failing")
    stage.wait_ready()
    assert value(stage) == "5"


# --- said before ---

def test_check(tmp_path):
    manifest = """apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: default}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: prometheus
    metadata: {serverAddress: "http://prometheus:9090", query: up, threshold: "5"}
"""
    path = tmp_path / "f.yaml"
    for old, new, said in ((None, None, None), ('"5"', '"0"', '"threshold" value "0" must be greater than 0'), ("http:", "tcp:", "must be a URL that begins with http:// or https://"),
                           ('"5"', '"5", cortexOrgID: x', '"cortexOrgID"'), ('"5"', '"5", authModes: bearer', 'missing required parameter "bearerToken"')):
        path.write_text(manifest.replace(old, new) if old else manifest)
        done = run("check", str(path))
        assert (said or "") in done.stdout and bool(said) == bool(done.stdout), done
