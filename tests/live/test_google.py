# SPDX-License-Identifier: Apache-2.0
"""gcp-pubsub, Google's Managed Prometheus, and the ways to be somebody at Google, against a server that stands in for it (rig/google_fake.py says what that is)."""
import pytest

from rig.google_fake import IAM, MONITORING, STS, TOKEN_URL, TOKENS, Google, Metadata
from rig.http_source import HttpSource, drip, giant, half
from rig.waiting import eventually

PROMETHEUS = f"https://{MONITORING}/v1/projects/shop/location/global/prometheus"
FETCH = "fetch pubsub_{0} | metric 'pubsub.googleapis.com/{0}/{1}' | filter (resource.project_id == '{2}' && resource.{0}_id == '{3}') | within "
METRIC = "s0-gcp-ps-orders"


@pytest.fixture
def google(tmp_path):
    google = Google(tmp_path)
    yield google
    google.end()
    assert google.wrong == []
    assert google.tunnels.refused == []


@pytest.fixture
def reader(google):
    """An account that may read what is in the project shop."""
    return google.account("reader")


@pytest.fixture
def kscaled(launch, google):
    """One whose Google is this one."""
    daemon = launch(env=google.env())
    daemon.wait_serving()
    return daemon


def give(credentials, key, name="google"):
    """A TriggerAuthentication with this key; the trigger's reference to it."""
    credentials.secret(name, key=key)
    credentials.authentication(name, secretTargetRef=[{"parameter": "GoogleApplicationCredentials", "name": name, "key": "key"}])
    return {"authenticationRef": {"name": name}}


@pytest.fixture
def login(credentials, reader):
    return give(credentials, reader.key())


def pubsub(login=None, **metadata):
    values = {**({} if "topicName" in metadata or "subscriptionNameFromEnv" in metadata else {"subscriptionName": "orders"}), **metadata}
    return {"type": "gcp-pubsub", "metadata": {key: str(value) for key, value in values.items()}, **(login or {})}


def prometheus(login=None, address=PROMETHEUS, **metadata):
    values = {"serverAddress": address, "query": "up", "threshold": 1, **metadata}
    return {"type": "prometheus", "metadata": {key: str(value) for key, value in values.items()}, **(login or {})}


def failure(stage, metric, *words, name="worker"):
    """What the metric's error says, once all of that is in it."""
    def is_said():
        message = stage.metric(metric, name).failure(503, "ServiceUnavailable")
        assert all(word in message for word in words), message
        return message
    return eventually(is_said)


# --- what is counted ---

def test_what_is_asked(kscaled, stage, google, reader, login):
    """Each parameter that changes what is asked, letter for letter; both ways to name a thing; one token for all."""
    reader.roles.add("other")
    google.series = {("subscription", "shop", "orders", "num_undelivered_messages"): 12, ("subscription", "shop", "orders", "oldest_unacked_message_age"): 1.5, ("topic", "shop", "or.ders", "message_sizes"): 7.25,
                     ("subscription", "other", "orders", "num_undelivered_messages"): 3}
    delta = " | align delta(3m0s) | every 3m0s | group_by [], "
    cases = [
        ({}, "orders", "12", ("subscription", "num_undelivered_messages", "shop", "orders"), "2m0s"),
        ({"mode": "NumUndeliveredMessages", "timeHorizon": "90s"}, "orders", "12", ("subscription", "num_undelivered_messages", "shop", "orders"), "1m30s"),
        ({"mode": "OldestUnackedMessageAge"}, "orders", "1500m", ("subscription", "oldest_unacked_message_age", "shop", "orders"), "2m0s"),
        ({"topicName": "or.ders", "mode": "MessageSizes", "aggregation": "percentile99"}, "or-ders", "7250m", ("topic", "message_sizes", "shop", "or.ders"), "5m0s" + delta + "percentile(value, 99)"),
        ({"topicName": "or.ders", "mode": "MessageSizes", "aggregation": "mean", "timeHorizon": "1h"}, "or-ders", "7250m", ("topic", "message_sizes", "shop", "or.ders"), "1h0m0s" + delta + "mean(value)"),
        ({"subscriptionName": "projects/other/subscriptions/orders"}, "projects-other-subscriptions-orders", "3", ("subscription", "num_undelivered_messages", "other", "orders"), "2m0s"),
        ({"subscriptionNameFromEnv": "SUBSCRIPTION"}, "orders", "12", ("subscription", "num_undelivered_messages", "shop", "orders"), "2m0s"),
        ({"subscriptionName": "new", "valueIfNull": "2.5"}, "new", "2500m", ("subscription", "num_undelivered_messages", "shop", "new"), "2m0s"),
    ]
    stage.deployment(replicas=1, env={"SUBSCRIPTION": "orders"})
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[pubsub(login, value=1000, **metadata) for metadata, *_ in cases])
    for index, (metadata, name, wanted, *_) in enumerate(cases):
        assert stage.metric(f"s{index}-gcp-ps-{name}").value() == wanted, metadata
    assert set(google.queries()) == {FETCH.format(*where) + rest for *_, where, rest in cases}
    assert len(google.exchanged) == 1
    # KEDA's words, as an Event.
    event = stage.event("KEDAScalersInfo")
    assert event.type == "Normal" and "scaler gcp-pubsub info: This scaler is deprecated. More info -> 'https://keda.sh/blog/2025-09-15-gcp-deprecations'" in (event.note or event.message)


def test_scales(kscaled, stage, google, login):
    where = ("subscription", "shop", "orders", "num_undelivered_messages")
    stage.deployment(replicas=0)
    google.series[where] = 1           # is not above 1
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[pubsub(login, value=2, activationValue=1)])
    eventually(lambda: stage.metric(METRIC).value() == "1")
    assert stage.replicas() == 0
    google.series[where] = 6
    eventually(lambda: stage.replicas() == 3)
    google.series[where] = 0
    eventually(lambda: stage.replicas() == 0)


def test_nothing_is_not_zero(kscaled, stage, google, login):
    """No series, one without points, one of another type, pages without any, and what was not all done."""
    where = ("subscription", "shop", "orders", "num_undelivered_messages")
    google.series[where] = 4
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[pubsub(login, value=1)])
    eventually(lambda: stage.replicas() == 2)
    query = FETCH.format("subscription", "num_undelivered_messages", "shop", "orders") + "2m0s"
    del google.series[where]
    failure(stage, METRIC, f"gcp-pubsub https://{MONITORING}: could not find stackdriver metric with query {query}")
    google.series[where] = {"distributionValue": {"count": "3"}}
    failure(stage, METRIC, "could not extract value from metric of type distributionValue")
    google.series[where] = None
    failure(stage, METRIC, "could not find stackdriver metric with query")
    google.series[where], google.partial = 4, "Deadline expired"
    failure(stage, METRIC, "the query was only partly answered: Deadline expired")
    assert stage.replicas() == 2
    google.partial, google.pages_before = None, 3
    eventually(lambda: stage.metric(METRIC).value() == "4")
    stage.wait_ready()


# --- who asks ---

def test_keys(kscaled, stage, google, reader, credentials):
    """Of nobody, deleted, without the right, with a wrong clock's answer; from the environment; rotated."""
    google.series[("subscription", "shop", "orders", "num_undelivered_messages")] = 2
    stranger, nobody, mistaken = google.account("stranger"), google.account("nobody", roles=()), google.account("mistaken")
    del google.accounts[stranger.email]
    old = mistaken.key()
    mistaken.rotate()
    cases = {"stranger": (stranger.key(), ("Google token: ", f"https://{TOKENS}", "no token: HTTP status 400, invalid_grant")),
             "nobody": (nobody.key(), (f"gcp-pubsub https://{MONITORING}: HTTP status 403, PERMISSION_DENIED: Permission monitoring.timeSeries.list denied", "missing permission: monitoring.timeSeries.list (role Monitoring Viewer)")),
             "mistaken": (old, ("no token: HTTP status 400, invalid_grant",))}
    for name, (key, _) in cases.items():
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, maxReplicaCount=2, triggers=[pubsub(give(credentials, key, name))])
    for name, (_, words) in cases.items():
        stage.wait_failing(name)
        failure(stage, METRIC, *words, name=name)
        assert stage.replicas(name) == 2
    credentials.change_secret("mistaken", key=mistaken.key())
    eventually(lambda: stage.metric(METRIC, "mistaken").value() == "2")
    stage.deployment(replicas=1, env={"KEY": reader.key()})
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[pubsub(credentialsFromEnv="KEY")])
    assert stage.metric(METRIC).value() == "2"


def test_what_is_refused(kscaled, stage, reader, credentials):
    """Before anybody is asked: keys of other types, files, and kscaled itself by an authentication of a namespace."""
    credentials.authentication("own", podIdentity={"provider": "gcp"})
    cases = {
        "external": (give(credentials, reader.key(type="external_account"), "external"), {}, "the key's type is external_account, which is not supported"),
        "user": (give(credentials, reader.key(type="authorized_user"), "user"), {}, "it must be service_account"),
        "broken": (give(credentials, reader.key(private_key="-----BEGIN"), "broken"), {}, "the private key is not a PEM text"),
        "projectless": (give(credentials, reader.key(project_id=None), "projectless"), {}, "the key has no project_id"),
        "file": (None, {"credentialsFromEnvFile": "KEY"}, "no file that a trigger names is read"),
        "nobody": (None, {}, "google application credentials not found"),
        "size": (None, {"subscriptionSize": 5}, "The 'subscriptionSize' setting is DEPRECATED and is removed in v2.20 - Use 'mode' and 'value' instead"),
        "own": ({"authenticationRef": {"name": "own"}}, {}, "kscaled's own Google identity"),
    }
    for name, (login, metadata, _) in cases.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[pubsub(login, **metadata)])
    for name, (_, _, words) in cases.items():
        message = stage.wait_refused(name)
        assert words in message, message
        assert "BEGIN" not in message


def test_a_token_ends_early(kscaled, stage, google, login):
    """Google refuses it before its time: another one is fetched, once, and the trigger does not fail."""
    google.series[("subscription", "shop", "orders", "num_undelivered_messages")] = 2
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[pubsub(login)])
    assert len(google.exchanged) == 1
    google.revoked |= set(google.given)
    seen = len(google.queries())
    eventually(lambda: len(google.queries()) > seen + 3)
    assert len(google.exchanged) == 2
    stage.says("Ready", "True")


def test_where_tokens_come_from(kscaled, stage, reader, credentials):
    """The server that a key names is a trigger's server: the machine's metadata server is none."""
    cases = {"metadata": ("http://169.254.169.254/token", "169.254.169.254"), "gone": ("http://127.0.0.1:1/token", "127.0.0.1:1")}
    for name, (url, _) in cases.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[pubsub(give(credentials, reader.key(token_uri=url), name))])
    message = failure(stage, METRIC, "Google token: ", "169.254.169.254", name="metadata")
    assert "link-local" in message, message
    failure(stage, METRIC, "Google token: ", "127.0.0.1:1", name="gone")


@pytest.mark.parametrize("which", ["key", "machine"])
def test_as_kscaled_itself(launch, stage, google, credentials, tmp_path, which):
    """By a ClusterTriggerAuthentication: with a key that its environment names, or the machine's account where that is allowed. The project is its own, or the name's."""
    own = google.account("kscaled", roles=("shop", "other", "mine"))
    google.series = {("subscription", project, "orders", "num_undelivered_messages"): number for project, number in (("shop", 4), ("other", 5), ("mine", 6))}
    google.numbers["up"] = 9
    machine = Metadata(google, own)
    (tmp_path / "own.json").write_text(own.key())
    env = {"key": {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "own.json")}, "machine": machine.env}[which]
    name = f"{stage.namespace}-google"
    credentials.cluster_authentication(name, podIdentity={"provider": "gcp"})
    login = {"authenticationRef": {"name": name, "kind": "ClusterTriggerAuthentication"}}
    try:
        daemon = launch(env=google.env(**env))
        daemon.wait_serving()
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[pubsub(login, value=1000), pubsub(login, subscriptionName="projects/other/subscriptions/orders", value=1000), prometheus(login, threshold=1000)])
        if which == "machine":
            for metric in (METRIC, "s2-prometheus"):
                failure(stage, metric, "kscaled's own Google token: kscaled has no Google identity of its own", "cloud-metadata")
            assert machine.asked == [] and google.asked == []
            daemon.term()
            daemon = launch("second", env=google.env(**env), options={"cloud_metadata": "true"})
            daemon.wait_serving()
        for metric, wanted in ((METRIC, "4"), ("s1-gcp-ps-projects-other-subscriptions-orders", "5"), ("s2-prometheus", "9")):
            eventually(lambda: stage.metric(metric).value() == wanted)
        stage.wait_ready()
        assert len(google.given) == 1
        assert [asked.path.rpartition("/")[2] for asked in machine.asked] == ([] if which == "key" else ["project-id", "token"])
        daemon.term()
        launch("third", env=google.env(CLOUDSDK_CORE_PROJECT="mine", **env), options={"cloud_metadata": "true"}).wait_serving()
        eventually(lambda: stage.metric(METRIC).value() == "6")
    finally:
        machine.end()


class Place(HttpSource):
    """Another place, which says a token of its own to who asks it so."""

    token = "eyJ.place.2"

    def answer(self, asked):
        return (200, {}, f'{{"id": "{self.token}"}}') if asked.method == "GET" and asked.target == "/token?audience=pool" and asked.headers.get("Metadata") == "true" else (400, {}, "{}")


def test_federation(launch, stage, google, credentials, tmp_path, tmp_path_factory):
    """Workload identity federation: a token of another place, from a file that is replaced or from a URL, with and without an account that is impersonated."""
    where = ("subscription", "shop", "orders", "num_undelivered_messages")
    google.series[where] = 4
    reader, principal, viewer = google.account("reader"), google.account("principal", roles=()), google.account("viewer")
    google.subjects = {"eyJ.place.1": principal, Place.token: viewer}
    config, token, place = tmp_path / "federation.json", tmp_path_factory.mktemp("place") / "token", Place()  # not below what else kscaled may read
    token.write_text("eyJ.unknown\n")
    config.write_text(google.federated({"file": str(token)}, reader))
    name = f"{stage.namespace}-google"
    credentials.cluster_authentication(name, podIdentity={"provider": "gcp"})
    env = google.env(GOOGLE_APPLICATION_CREDENTIALS=str(config), CLOUDSDK_CORE_PROJECT="shop")
    try:
        daemon = launch(env=env)
        daemon.wait_serving()
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[pubsub({"authenticationRef": {"name": name, "kind": "ClusterTriggerAuthentication"}}, value=1000)])
        message = failure(stage, METRIC, "kscaled's own Google token: ", f"https://{STS}", "Google's token service: no token: HTTP status 400, invalid_grant")
        assert "eyJ" not in message
        (token.parent / "new").write_text("eyJ.place.1\n")
        (token.parent / "new").rename(token)
        message = failure(stage, METRIC, f"https://{IAM}", "the service account: no token: HTTP status 403, PERMISSION_DENIED")
        assert "ya29" not in message
        principal.roles.add("impersonator")
        eventually(lambda: stage.metric(METRIC).value() == "4")
        daemon.term()
        google.series[where] = 5
        config.write_text(google.federated({"url": f"{place.url}/token?audience=pool", "headers": {"Metadata": "true"}, "format": {"type": "json", "subject_token_field_name": "id"}}))
        launch("second", env=env).wait_serving()
        eventually(lambda: stage.metric(METRIC).value() == "5")
        assert "eyJ" not in daemon.log() and "ya29" not in daemon.log()
    finally:
        place.end()


def test_a_machine_without_an_account(launch, stage, google, credentials):
    """Or without a project: said, and well again when there is one."""
    google.series[("subscription", "shop", "orders", "num_undelivered_messages")] = 4
    machine = Metadata(google, None, project=None)
    name = f"{stage.namespace}-google"
    credentials.cluster_authentication(name, podIdentity={"provider": "gcp"})
    try:
        launch(env=google.env(**machine.env), options={"cloud_metadata": "true"}).wait_serving()
        stage.deployment(replicas=2)
        stage.scaledobject(maxReplicaCount=2, triggers=[pubsub({"authenticationRef": {"name": name, "kind": "ClusterTriggerAuthentication"}})])
        failure(stage, METRIC, "the machine's metadata server: no token: HTTP status 404")
        google.life = 1
        machine.account = google.account("machine")
        failure(stage, METRIC, "kscaled's own Google identity has no project", "CLOUDSDK_CORE_PROJECT")
        assert stage.replicas() == 2
        machine.project = "shop"
        eventually(lambda: stage.metric(METRIC).value() == "4")
    finally:
        machine.end()


def test_our_own_token_is_for_google(launch, stage, google, credentials, tmp_path):
    """Whoever may name a server gets none of it; with a key of his own he may send its tokens anywhere."""
    own, tenant = google.account("kscaled"), google.account("tenant")
    (tmp_path / "own.json").write_text(own.key())
    credentials.authentication("own", podIdentity={"provider": "gcp"})
    thief = HttpSource()
    try:
        launch(env=google.env(GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "own.json")), options={"cloud_identity": "all"}).wait_serving()
        login = {"authenticationRef": {"name": "own"}}
        cases = {"thief": (prometheus(login, address=thief.url), "kscaled shows its own Google token"), "port": (prometheus(login, address=f"https://{MONITORING}:8443"), "not one of Google's hosts for this service"),
                 "unsafe": (prometheus(login, unsafeSsl="true"), "does not go together with kscaled's own Google identity")}
        for name, (trigger, _) in cases.items():
            stage.deployment(name, replicas=1)
            stage.scaledobject(name, triggers=[trigger])
        for name, (_, words) in cases.items():
            assert words in stage.wait_refused(name)
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[prometheus(give(credentials, tenant.key()), address=thief.url)])
        eventually(lambda: thief.asked)
        assert google.given[thief.asked[0].bearer][0] is tenant
        assert [account for account, _ in google.given.values()] == [tenant]
    finally:
        thief.end()


# --- Managed Prometheus ---

def test_prometheus(kscaled, stage, google, login):
    """By a key, with the same token as gcp-pubsub; without one it is refused as Google refuses it."""
    query = 'pubsub_googleapis_com:subscription_num_undelivered_messages{monitored_resource="pubsub_subscription",subscription_id="orders"}'
    google.numbers[query] = 60
    google.series[("subscription", "shop", "orders", "num_undelivered_messages")] = 2
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[prometheus(login, query=query, threshold=20), pubsub(login, value=1000)])
    eventually(lambda: stage.replicas() == 3)
    assert stage.metric("s0-prometheus").value() == "60"
    assert len(google.exchanged) == 1
    stage.deployment("open", replicas=1)
    stage.scaledobject("open", maxReplicaCount=1, triggers=[prometheus(query=query)])
    failure(stage, "s0-prometheus", "HTTP status 401", name="open")


# --- faults ---

def test_faults(kscaled, stage, google, login):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    google.series[("subscription", "shop", "orders", "num_undelivered_messages")] = 4
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[pubsub(login, value=1)])
    eventually(lambda: stage.replicas() == 2)
    good = google.answer
    refused = lambda code, status: (code, {}, f'{{"error": {{"code": {code}, "message": "said\\nso", "status": "{status}"}}}}')
    for broken, words in ((half, (f"gcp-pubsub: https://{MONITORING}",)), (giant, ("larger than 1048576 bytes",)), (drip, ("no complete answer within",)), (lambda asked: (200, {}, "<html>"), ("the answer is not JSON",)), (lambda asked: (200, {}, "[]"), ("unexpected answer: it is not one of Cloud Monitoring's",)),
                          (lambda asked: refused(429, "RESOURCE_EXHAUSTED"), ("HTTP status 429, RESOURCE_EXHAUSTED: said so",)), (lambda asked: refused(503, "UNAVAILABLE"), ("HTTP status 503, UNAVAILABLE",)), (lambda asked: refused(500, "INTERNAL"), ("HTTP status 500, INTERNAL",))):
        google.answer = broken
        stage.wait_failing()
        failure(stage, METRIC, *words)
        assert stage.replicas() == 2
        google.answer = good
        eventually(lambda: stage.metric(METRIC).value() == "4")
        stage.wait_ready()
    google.answer = lambda asked: None  # ends the connections that are kept
    google.server.shutdown()
    google.server.server_close()
    failure(stage, METRIC, f"gcp-pubsub: https://{MONITORING}")
    assert stage.replicas() == 2
    google.answer = good
    google.start()
    eventually(lambda: stage.metric(METRIC).value() == "4")
    stage.wait_ready()


def test_tls(launch, stage, google, login):
    """Of an authority that nobody knows it is refused, and no key's signature is shown to it."""
    env = google.env()
    del env["SSL_CERT_FILE"]
    launch(env=env).wait_serving()
    stage.deployment(replicas=1)
    stage.scaledobject(maxReplicaCount=1, triggers=[pubsub(login)])
    failure(stage, METRIC, "Google token: ", f"https://{TOKENS}", "certificate")
    assert google.asked == []
    assert TOKEN_URL.startswith(f"https://{TOKENS}")
