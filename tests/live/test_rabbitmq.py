# SPDX-License-Identifier: Apache-2.0
"""The rabbitmq trigger against a real RabbitMQ, over AMQP and over HTTP: values, names, ways in, TLS, shared connections, outages; and against servers that no real one could be."""
import contextlib
import datetime
import threading
import time

import pytest

from rig import http_source, pki, scripted
from rig.amqp_wire import Holder, declare_ok, method, serves, short
from rig.credentials import ref
from rig.entra_server import EntraServer
from rig.http_source import HttpSource, TokenServer
from rig.rabbitmq_server import PASSWORD, USER, RabbitServer, quoted
from rig.scripted import Scripted
from rig.waiting import after, eventually, throughout

BOTH = pytest.mark.parametrize("scheme", ["amqp", "http"])


@pytest.fixture(scope="module")
def the_rabbit(session_dir):
    authority = pki.authority(session_dir, "rabbit-authority")
    server = RabbitServer(session_dir, tls=pki.certificate(session_dir, "rabbit", authority, "localhost"), authority=authority)
    yield server
    server.end()


@pytest.fixture
def rabbit(the_rabbit):
    """Alive, and without queues."""
    if not the_rabbit.process.alive():
        the_rabbit.start()
    for vhost in the_rabbit.do("GET", "vhosts?columns=name"):
        if vhost["name"] != "/":
            the_rabbit.do("DELETE", f"vhosts/{quoted(vhost['name'])}")
    for queue in the_rabbit.do("GET", "queues?columns=name"):
        the_rabbit.delete(queue["name"])
    return the_rabbit


@pytest.fixture
def misbehaving():
    servers = []

    def start(behave):
        servers.append(Scripted(behave))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


def trigger(host, queue="jobs", auth=None, **metadata):
    """A None takes a default away."""
    values = {"host": host, "queueName": queue, "queueLength": None if "mode" in metadata else "5", **metadata}
    more = {"authenticationRef": ref(auth)} if auth else {}
    return {"type": "rabbitmq", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **more}


def start(stage, *triggers, name="worker", replicas=0, env=None, **spec):
    stage.deployment(name, replicas=replicas, env=env)
    stage.scaledobject(name, triggers=list(triggers), **spec)


def wait_value(stage, value, metric="s0-rabbitmq-jobs", name="worker"):
    def is_there():
        assert stage.metric(metric, name).value() == str(value)
        return True
    eventually(is_there)


def wait_message(stage, *words, metric="s0-rabbitmq-jobs", name="worker"):
    """The answer for the metric is an error that says so."""
    def is_told():
        message = stage.metric(metric, name).failure(503, "ServiceUnavailable")
        assert all(word in message for word in words), message
        return message
    return eventually(is_told)


def known(rabbit, queue, vhost="/"):
    """The management plug-in has statistics of it."""
    eventually(lambda: "messages" in rabbit.do("GET", f"queues/{quoted(vhost)}/{quoted(queue)}"))


# --- what is counted ---

@BOTH
def test_counts_and_scales(kscaled, stage, rabbit, scheme):
    rabbit.fill("jobs", 1)
    start(stage, trigger(rabbit.url(scheme), queueLength="2.5", activationValue="1"))
    stage.wait_ready()
    wait_value(stage, 1)
    stage.says("Active", "False")
    assert stage.replicas() == 0
    rabbit.publish("jobs", 8)
    eventually(lambda: stage.replicas() == 4)
    assert stage.hpa().spec.metrics[0].external.metric.name == "s0-rabbitmq-jobs"
    assert stage.hpa().spec.metrics[0].external.target.average_value == "2500m"
    rabbit.purge("jobs")
    eventually(lambda: stage.replicas() == 0)


@BOTH
def test_names(kscaled, stage, rabbit, scheme):
    """As they are, whatever is in them; of the vhost, too, in the URL and beside it."""
    names = ["a b", "a/b", "a+b", "50%", "Grüße", "q?x=1&y#z"]
    vhost = "shop/eu 1+"
    rabbit.add_vhost(vhost)
    rabbit.do("PUT", f"permissions/{quoted(vhost)}/{USER}", {"configure": ".*", "write": ".*", "read": ".*"})
    for place in ("/", vhost):
        for number, name in enumerate(names):
            rabbit.fill(name, number + (10 if place == vhost else 1), place)
    triggers = [trigger(rabbit.url(scheme), name) for name in names] + [trigger(rabbit.url(scheme, vhost), names[0]), trigger(rabbit.url(scheme, "gone"), names[1], vhostName=vhost)]
    start(stage, *triggers)
    stage.wait_ready()
    found = [metric.external.metric.name for metric in stage.hpa().spec.metrics]
    assert found[:4] == ["s0-rabbitmq-a+b", "s1-rabbitmq-a-2Fb", "s2-rabbitmq-a-2Bb", "s3-rabbitmq-50-25"]
    for metric, value in zip(found, [1, 2, 3, 4, 5, 6, 10, 11]):
        wait_value(stage, value, metric)


def test_unacknowledged(kscaled, stage, rabbit):
    """Over AMQP they are not told; over HTTP they count, unless they are excluded."""
    rabbit.fill("jobs", 6)
    holder = Holder(rabbit.port, rabbit.login)
    holder.take("jobs", 4)
    start(stage, trigger(rabbit.url("amqp")), trigger(rabbit.url("http")), trigger(rabbit.url("http"), excludeUnacknowledged="true"))
    for index, value in enumerate((2, 6, 2)):
        wait_value(stage, value, f"s{index}-rabbitmq-jobs")
    holder.end()
    for index in range(3):
        wait_value(stage, 6, f"s{index}-rabbitmq-jobs")


def test_no_right_but_to_enter(kscaled, stage, rabbit, credentials):
    """A user with neither of the three rights, and over HTTP with the tag monitoring."""
    rabbit.add_user("looker", "look-see")
    rabbit.fill("jobs", 3)
    credentials.secret("mq", username="looker", password="look-see")
    credentials.authentication("mq", secretTargetRef=[{"parameter": key, "name": "mq", "key": key} for key in ("username", "password")])
    start(stage, *[trigger(rabbit.url(scheme, login=False), auth="mq") for scheme in ("amqp", "http")])
    for index in range(2):
        wait_value(stage, 3, f"s{index}-rabbitmq-jobs")


def test_regex(kscaled, stage, rabbit):
    for name, count in (("in-a", 3), ("in-b", 8), ("out", 5)):
        rabbit.fill(name, count)
        known(rabbit, name)
    host = rabbit.url("http")
    rows = [({"operation": "sum"}, 11), ({"operation": "avg"}, 5), ({"operation": "max"}, 8), ({}, 11)]
    start(stage, *[trigger(host, "^in-.$", useRegex="true", **more) for more, _ in rows], trigger(host, "^none", useRegex="true"), trigger(host, "^in-.$", useRegex="true", pageSize="1"),
          trigger(host, "(", useRegex="true"), replicas=2)
    for index, (_, value) in enumerate(rows):
        wait_value(stage, value, f"s{index}-rabbitmq-^in-.$".replace("^", "-5E").replace(".", "-").replace("$", "-24"))
    wait_value(stage, 0, "s4-rabbitmq--5Enone")
    wait_message(stage, "matches more queues than can be recovered at once", metric="s5-rabbitmq--5Ein---24")
    wait_message(stage, "HTTP status 400", metric="s6-rabbitmq--28")


def test_statistics_that_are_not_there(kscaled, stage):
    """A queue that was declared a moment ago is no empty one; nor is it while the plug-in collects nothing, one that is told too slowly, or a list of something else."""
    source = HttpSource({"/api/queues/%2F/jobs": '{"name":"jobs"}', "/api/queues/v/jobs": '{"messages":3,"message_stats":{"publish":9}}', "/api/queues/slow/jobs": http_source.drip,
                         "/api/queues/list": '{"kind":"List","items":[]}'})
    start(stage, trigger(source.url), trigger(f"{source.url}/v", mode="MessageRate", value="1"), replicas=2)
    start(stage, trigger(f"{source.url}/v"), name="other")
    start(stage, trigger(f"{source.url}/slow", timeout="500"), trigger(f"{source.url}/list", useRegex="true"), name="third", replicas=2)
    stage.wait_failing()
    wait_message(stage, 'queue "jobs": it has no statistics', source.url.removeprefix("http://"))
    wait_message(stage, "the server keeps no rates", metric="s1-rabbitmq-jobs")
    wait_value(stage, 3, name="other")
    wait_message(stage, "no complete answer within 500 ms", name="third")
    wait_message(stage, "the answer has no number of pages", metric="s1-rabbitmq-jobs", name="third")
    assert stage.replicas() == stage.replicas("third") == 2
    source.end()


class Traffic:
    """Messages come and go, ten a second and five."""

    def __init__(self, rabbit, queue):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(rabbit, queue), daemon=True)
        self.thread.start()

    def _run(self, rabbit, queue):
        while not self.over.wait(0.2):
            rabbit.publish(queue, 2)
            rabbit.take(queue, 1)

    def end(self):
        self.over.set()
        self.thread.join(10)


def test_rates(kscaled, stage, rabbit):
    """Of a queue with traffic, and of one that is idle."""
    for queue in ("busy", "idle"):
        rabbit.fill(queue, 3)
        known(rabbit, queue)
    modes = ("MessageRate", "DeliverGetRate", "PublishedToDeliveredRatio", "ExpectedQueueConsumptionTime")
    traffic = Traffic(rabbit, "busy")
    try:
        for queue in ("busy", "idle"):
            for mode in modes:
                name = f"{queue}-{mode.lower()[:9]}"
                start(stage, trigger(rabbit.url("http"), queue, mode=mode, value="1000", activationValue="4" if queue == "idle" else "0"), name=name)
                stage.wait_ready(name)

        def number(queue, mode):
            text = stage.metric(f"s0-rabbitmq-{queue}", f"{queue}-{mode.lower()[:9]}").value()
            return float(text.removesuffix("m")) / 1000 if text.endswith("m") else float(text)

        def both_flow():
            rates = number("busy", "MessageRate"), number("busy", "DeliverGetRate")
            assert 1 < rates[0] < 40 and 0.5 < rates[1] < 20, rates
            return True

        eventually(both_flow)
        eventually(lambda: 1 < number("busy", "PublishedToDeliveredRatio") < 4)
        eventually(lambda: number("busy", "ExpectedQueueConsumptionTime") > 0)
        # m = 3, p = d = 0, a = 4
        assert [number("idle", mode) for mode in modes] == [0, 0, 0, 4]
        for mode, active in zip(modes, ("False", "False", "False", "True")):
            eventually(lambda mode=mode, active=active: stage.says("Active", active, name=f"idle-{mode.lower()[:9]}"))
        assert stage.replicas("idle-expectedq") == 1
    finally:
        traffic.end()


def test_missing_queues_do_no_harm_to_others(kscaled, stage, rabbit):
    """Each costs its channel, and all have one connection."""
    rabbit.fill("here", 4)
    start(stage, *[trigger(rabbit.url(), f"none-{i}") for i in range(40)], replicas=2)
    start(stage, *[trigger(rabbit.url(), "here", activationValue=str(i)) for i in range(3)], name="other", maxReplicaCount=1)
    stage.wait_failing()
    wait_message(stage, f'rabbitmq at 127.0.0.1:{rabbit.port}: there is no queue "none-7" in vhost "/"', metric="s7-rabbitmq-none-7")
    stage.wait_ready("other")
    wait_value(stage, 4, "s0-rabbitmq-here", "other")
    throughout(lambda: stage.replicas() == 2 and len(ours(rabbit)) <= 1, until=after(2))
    rabbit.fill("none-7", 6)
    wait_value(stage, 6, "s7-rabbitmq-none-7")


def ours(rabbit, vhost="/"):
    """Those with the login that most tests have; others are idle for a minute after their test."""
    return [one for one in rabbit.connections()
            if one.get("client_properties", {}).get("product") == "kscaled" and (one["user"], one["vhost"], one["ssl"]) == (USER, vhost, False)]


def test_hundreds_of_triggers_share_a_connection(kscaled, stage, rabbit):
    rabbit.add_vhost("shared")
    rabbit.do("PUT", f"permissions/shared/{USER}", {"configure": ".*", "write": ".*", "read": ".*"})
    for i in range(60):
        rabbit.declare(f"q{i}", "shared")
    rabbit.fill("q7", 5, "shared")
    for name in ("a", "b"):
        start(stage, *[trigger(rabbit.url("amqp", "shared"), f"q{i}") for i in range(60)], name=name, maxReplicaCount=2)
    for name in ("a", "b"):
        stage.wait_ready(name)
        wait_value(stage, 5, "s7-rabbitmq-q7", name)
    found = eventually(lambda: ours(rabbit, "shared"))
    assert len(found) == 1
    assert found[0]["client_properties"]["connection_name"] == f"kscaled-{stage.namespace}"
    assert found[0]["client_properties"]["capabilities"] == {"authentication_failure_close": True}


# --- ways in ---

def authenticated(credentials, name, values):
    credentials.secret(name, **values)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
    return name


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_ways_in(kscaled, stage, rabbit, credentials, tmp_path):
    """From the URL, a TriggerAuthentication, the environment; TLS with and without a client certificate; the wrong ones of each."""
    rabbit.fill("jobs", 3)
    known(rabbit, "jobs")
    rabbit.add_vhost("locked")
    rabbit.add_user("scaler", "s3cret")
    ca, stranger = text(rabbit.authority.cert), text(pki.authority(tmp_path, "stranger").cert)
    client = pki.certificate(tmp_path, "client", rabbit.authority, "scaler", usage="clientAuth")
    encrypted = tmp_path / "client.encrypted"
    pki.openssl("pkcs8", "-topk8", "-in", client.key, "-out", encrypted, "-passout", "pass:of the key")
    pair = {"cert": text(client.cert), "key": text(client.key)}
    local = {scheme: rabbit.url(scheme, login=False).replace("127.0.0.1", "localhost") for scheme in ("amqps", "https")}
    login = {"username": "scaler", "password": "s3cret"}
    good = {
        "url": ({}, {"host": rabbit.url("amqp")}),
        "secret-host": ({"host": rabbit.url("amqp")}, {"host": None}),
        "replaced": (login, {"host": rabbit.url("amqp")}),
        "env": ({}, {"host": None, "hostFromEnv": "HOST", "usernameFromEnv": "USER", "passwordFromEnv": "PASSWORD"}),
        "verified": ({**login, "tls": "enable", "ca": ca}, {"host": local["amqps"]}),
        "unverified": (login, {"host": rabbit.url("amqps", login=False), "unsafeSsl": "true"}),
        "external": ({"tls": "enable", "ca": ca, **pair}, {"host": local["amqps"]}),
        "key-password": ({"tls": "enable", "ca": ca, "cert": pair["cert"], "key": text(encrypted), "keyPassword": "of the key"}, {"host": local["amqps"]}),
        "web": ({}, {"host": rabbit.url("http")}),
        "web-secret": (login, {"host": rabbit.url("http", login=False)}),
        "web-verified": ({**login, "tls": "enable", "ca": ca, "cert": pair["cert"], "key": text(encrypted), "keyPassword": "of the key"}, {"host": local["https"]}),
        "web-unverified": (login, {"host": rabbit.url("https", login=False), "unsafeSsl": "true"}),
    }
    bad = {
        "wrong": ({**login, "password": "open-sesamy"}, {"host": rabbit.url("amqp")}, "the login was refused: ACCESS_REFUSED"),
        "nobody": ({}, {"host": rabbit.url("amqp", login=False)}, "the login was refused"),
        "no-vhost": (login, {"host": rabbit.url("amqp", "nowhere", login=False)}, 'vhost "nowhere" cannot be used: NOT_ALLOWED'),
        "locked-vhost": (login, {"host": rabbit.url("amqp", "locked", login=False)}, 'vhost "locked" cannot be used: NOT_ALLOWED'),
        "system": (login, {"host": local["amqps"]}, "TLS handshake: "),
        "stranger": ({**login, "tls": "enable", "ca": stranger}, {"host": local["amqps"]}, "TLS handshake: "),
        "misnamed": ({**login, "tls": "enable", "ca": ca}, {"host": rabbit.url("amqps", login=False)}, "TLS handshake: "),
        "clear-to-tls": (login, {"host": rabbit.url("amqp", login=False).replace(str(rabbit.port), str(rabbit.tls_port))}, "write amqps://"),
        "tls-to-clear": (login, {"host": rabbit.url("amqps", login=False).replace(str(rabbit.tls_port), str(rabbit.port)), "unsafeSsl": "true"}, "TLS handshake: "),
        "other-port": (login, {"host": rabbit.url("amqp", login=False).replace(str(rabbit.port), str(rabbit.http_port))}, "waiting for the server's greeting: timed out"),
        "web-wrong": ({**login, "password": "open-sesamy"}, {"host": rabbit.url("http")}, "HTTP status 401"),
        "web-no-vhost": (login, {"host": rabbit.url("http", "nowhere", login=False)}, "HTTP status 404"),
        "web-stranger": ({**login, "tls": "enable", "ca": stranger}, {"host": local["https"]}, "certificate"),
    }
    stage.deployment(env={"HOST": rabbit.url("amqp", login=False), "USER": "scaler", "PASSWORD": "s3cret"})
    for name, (secret, metadata, *_) in {**good, **bad}.items():
        auth = authenticated(credentials, name, secret) if secret else None
        stage.scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[trigger(metadata.pop("host"), auth=auth, **metadata)])
    for name in good:
        wait_value(stage, 3, name=name)
    for name, (_, _, words) in bad.items():
        stage.wait_failing(name)
        message = wait_message(stage, words, name=name)
        assert "open-sesamy" not in message and "s3cret" not in message and PASSWORD not in message
        assert stage.replicas(name) == 0
    assert {one["auth_mechanism"] for one in rabbit.connections() if one["user"] == "scaler"} >= {"PLAIN", "EXTERNAL"}
    assert not any(word in kscaled.log() for word in ("open-sesamy", "s3cret", PASSWORD))


def test_what_is_sent_over_http(kscaled, stage, credentials):
    """The subpath, the user from the URL, a token by client credentials."""
    tokens = TokenServer()
    source = HttpSource({"/mq/api/queues/shop%2Fx/jobs": '{"messages":4}', "/api/queues/%2F/jobs": tokens.guard('{"messages":6}'), "/token": tokens})
    host = source.url.replace("://", "://user%40:p%2Fw@")
    authenticated(credentials, "oauth", {"oauthTokenURI": f"{source.url}/token", "clientID": tokens.client, "clientSecret": tokens.secret, "scopes": "a,b"})
    start(stage, trigger(f"{host}/mq/shop%2Fx"), trigger(source.url, auth="oauth"))
    wait_value(stage, 4)
    wait_value(stage, 6, "s1-rabbitmq-jobs")
    asked = source.to("/mq/api/queues/shop%2Fx/jobs")[-1]
    assert asked.basic == ("user@", "p/w")
    assert asked.query["columns"].split(",")[:3] == ["name", "messages", "messages_ready"]
    assert source.to("/api/queues/%2F/jobs")[-1].basic is None
    source.end()


def test_kscaleds_own_token(launch, stage, rabbit, credentials, tmp_path):
    """Of Entra ID's, for a RabbitMQ with its plug-in for OAuth 2: one for all triggers. Without one, or with a wrong one, nothing is scaled."""
    entra = EntraServer(pki.certificate(tmp_path, "entra", rabbit.authority, "localhost"), clients={"kscaled": "federated-token"})
    entra.claims = {"aud": "rabbitmq", "scope": "rabbitmq.read:*/* rabbitmq.tag:monitoring"}
    entra.end()
    name = f"{stage.namespace}-own"
    login = {"podIdentity": {"provider": "azure-workload"}, "secretTargetRef": [{"parameter": "workloadIdentityResource", "name": name, "key": "resource"}]}
    credentials.secret(name, namespace="kscaled", resource="api://rabbitmq")
    credentials.secret(name, resource="api://rabbitmq")
    credentials.cluster_authentication(name, **login)
    credentials.authentication(name, **login)
    kscaled = launch(**entra.workload(tmp_path, rabbit.authority, azure_trusted_hosts="localhost")).wait_serving()

    def asks(queue="jobs", scheme="https", host="localhost", cluster=True):
        return {**trigger(rabbit.url(scheme, login=False).replace("127.0.0.1", host), queue), "authenticationRef": ref(name, cluster)}

    rabbit.fill("jobs", 6)
    rabbit.fill("more", 1)
    start(stage, asks(), asks("more"), asks("gone"), replicas=3)
    wait_message(stage, f"Entra ID token: {entra.url}")
    entra.life = 1
    entra.start()
    wait_message(stage, "401")  # signed by nobody
    throughout(lambda: stage.replicas() == 3, until=after(1))
    entra.key, entra.life = rabbit.issuer, 3600
    wait_value(stage, 6)
    wait_value(stage, 1, "s1-rabbitmq-more")
    wait_message(stage, "404", 'queue "gone"', metric="s2-rabbitmq-gone")
    given = len(entra.given)
    throughout(lambda: len(entra.given) == given, until=after(1.5))
    assert set(entra.given) == {("kscaled", "api://rabbitmq/.default")}
    refused = {
        "mine": (asks(cluster=False), "kscaled's own Azure identity"), "clear": (asks(scheme="http"), "must begin with https://"),
        "amqp": (asks(scheme="amqps"), "workload identity is not supported for the AMQP protocol"), "elsewhere": (asks(host="127.0.0.1"), "127.0.0.1 is not one of Microsoft's hosts"),
    }
    for other, (asked, words) in refused.items():
        start(stage, asked, name=other, replicas=1)
        stage.wait_refused(other)
        assert words in stage.condition("Ready", other)["message"]
    assert not any(word in kscaled.log() for word in ("federated-token", *entra.tokens))
    entra.end()


def test_certificate_expired(kscaled, stage, rabbit, credentials, tmp_path):
    now = datetime.datetime.now(datetime.timezone.utc)
    expired = pki.certificate(tmp_path, "expired", rabbit.authority, "localhost", begin=now - datetime.timedelta(days=9), end=now - datetime.timedelta(days=1))
    source = HttpSource({}, tls=expired)
    auth = authenticated(credentials, "mq", {"tls": "enable", "ca": text(rabbit.authority.cert)})
    start(stage, *[trigger(f"{scheme}://localhost:{source.port}", auth=auth) for scheme in ("amqps", "https")], replicas=2)
    stage.wait_failing()
    for index in range(2):
        wait_message(stage, "certificate has expired", f"localhost:{source.port}", metric=f"s{index}-rabbitmq-jobs")
    assert stage.replicas() == 2
    source.end()


@BOTH
def test_password_wrong_and_rotated(kscaled, stage, rabbit, credentials, scheme):
    rabbit.fill("jobs", 3)
    known(rabbit, "jobs")
    rabbit.add_user("turning", "first-one")
    credentials.secret("mq", password="not-this-one", username="turning")
    credentials.authentication("mq", secretTargetRef=[{"parameter": key, "name": "mq", "key": key} for key in ("username", "password")])
    start(stage, trigger(rabbit.url(scheme, login=False), auth="mq"), replicas=2)
    stage.wait_failing()
    wait_message(stage, {"amqp": "the login was refused", "http": "HTTP status 401"}[scheme])
    assert stage.replicas() == 2
    credentials.change_secret("mq", password="first-one")
    stage.wait_ready()
    wait_value(stage, 3)
    rabbit.set_password("second-one", "turning", "monitoring")
    credentials.change_secret("mq", password="second-one")
    for connection in rabbit.connections():
        if connection["user"] == "turning":
            rabbit.request("DELETE", f"/api/connections/{quoted(connection['name'])}")
    stage.wait_ready()
    wait_value(stage, 3)
    assert not any(word in kscaled.log() for word in ("not-this-one", "first-one", "second-one"))


# --- outages ---

PORTS = {"amqp": "port", "http": "http_port"}


@pytest.fixture
def outage(kscaled, stage, rabbit):
    """An object by each protocol, with three replicas."""
    rabbit.fill("jobs", 12)
    rabbit.fill("empty", 0)
    for scheme in PORTS:
        start(stage, trigger(rabbit.url(scheme)), name=scheme)
    for scheme in PORTS:
        stage.wait_ready(scheme)
        eventually(lambda scheme=scheme: stage.replicas(scheme) == 3)
    return rabbit


def check_outage(stage, server, *words):
    for scheme, port in PORTS.items():
        stage.wait_failing(scheme)
        wait_message(stage, f"127.0.0.1:{getattr(server, port)}", *words, name=scheme)


def test_killed_and_back(stage, outage):
    """Objects that were there before, and others that come while it is down. The server takes seconds to start, so that both protocols share one outage."""
    outage.kill()
    check_outage(stage, outage, "refused")
    late = [f"late-{scheme}" for scheme in PORTS]
    for scheme, name in zip(PORTS, late):
        start(stage, trigger(outage.url(scheme), "empty"), name=name, replicas=2)
    for name in late:
        stage.wait_failing(name)
        assert stage.hpa(name).spec.max_replicas == 10
    throughout(lambda: [stage.replicas(name) for name in (*PORTS, *late)] == [3, 3, 2, 2], until=after(2))
    outage.start()
    outage.publish("jobs", 12)  # by the HPA's tolerance one more than four replicas have, whatever it saw on the way
    for name in (*PORTS, *late):
        stage.wait_ready(name)
    for name in (*PORTS, *late):
        eventually(lambda name=name: stage.replicas(name) == (5 if name in PORTS else 0))


def test_frozen_and_back(stage, outage):
    outage.freeze()
    try:
        check_outage(stage, outage)
        throughout(lambda: all(stage.replicas(scheme) == 3 for scheme in PORTS), until=after(2))
    finally:
        outage.thaw()
    for scheme in PORTS:
        stage.wait_ready(scheme)
        assert stage.replicas(scheme) == 3


def test_connection_closed_by_the_administrator(kscaled, stage, rabbit):
    """Told in words, and made again."""
    rabbit.fill("jobs", 12)
    start(stage, trigger(rabbit.url()))
    eventually(lambda: stage.replicas() == 3)
    for _ in range(3):
        before = eventually(lambda: {one["name"] for one in ours(rabbit)})
        for name in before:
            rabbit.request("DELETE", f"/api/connections/{quoted(name)}")
        eventually(lambda b=before: {one["name"] for one in ours(rabbit)} - b)
    assert stage.replicas() == 3
    stage.wait_ready()


# --- servers that no real one could be ---

def drip(connection, channel, arguments):
    for byte in declare_ok(channel, arguments, 0):
        connection.sendall(bytes([byte]))
        time.sleep(0.5)


def half(connection, channel, arguments):
    connection.sendall(declare_ok(channel, arguments, 0)[:-5])
    connection.close()


def giant(connection, channel, arguments):
    connection.sendall(b"\1\0\1\x7f\xff\xff\xff")
    with contextlib.suppress(OSError):
        for _ in range(1 << 12):
            connection.sendall(b"9" * 65536)


BEHAVIOURS = {
    "half": serves(half),
    "drip": serves(drip),
    "giant": serves(giant),
    "garbage": serves(lambda connection, channel, arguments: connection.sendall(b"\xff" * 64)),
    "other-queue": serves(lambda connection, channel, arguments: connection.sendall(method(channel, 50, 11, short("other") + bytes(8)))),
    "refuses-all": serves(lambda connection, channel, arguments: connection.sendall(method(channel, 20, 40, b"\2\x1d" + short("INTERNAL_ERROR") + bytes(4)))),
    "never": serves(lambda connection, channel, arguments: None),
    "no-amqp": scripted.answers(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "amqp-1-0": scripted.answers_once(b"AMQP\0\1\0\0"),
    "silent": scripted.silent,
    "closes": scripted.closes,
    "resets": scripted.resets,
}


def test_misbehaving_servers(kscaled, stage, misbehaving):
    """None of them makes zero, or keeps kscaled from anything."""
    stage.deployment()
    for name, behave in BEHAVIOURS.items():
        address = misbehaving(behave).address
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, triggers=[trigger(f"amqp://{address}")])
    for name in BEHAVIOURS:
        stage.wait_failing(name)
        wait_message(stage, "rabbitmq at 127.0.0.1:", name=name)
    throughout(lambda: all(stage.replicas(name) == 2 for name in BEHAVIOURS), until=after(2))
    assert kscaled.sanitized() or kscaled.peak_mib() < 64


# --- what is refused ---

def test_refused(kscaled, stage):
    rows = {
        "rate": ({"host": "amqp://mq", "mode": "MessageRate", "value": "5"}, "must be http to use mode MessageRate"),
        "both": ({"host": "amqp://mq", "mode": "QueueLength", "value": "5", "queueLength": "5"}, "queueLength is deprecated; use mode and value"),
    }
    for name, (metadata, words) in rows.items():
        stage.deployment(name)
        stage.scaledobject(name, triggers=[{"type": "rabbitmq", "metadata": {"queueName": "jobs", **metadata}}])
        assert words in stage.wait_refused(name)
