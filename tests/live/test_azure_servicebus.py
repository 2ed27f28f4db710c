# SPDX-License-Identifier: Apache-2.0
"""The azure-servicebus trigger, against a server that stands in for Azure Service Bus (rig/service_bus.py says what that is)."""
import pathlib
import time

import pytest

from rig import pki
from rig.entra_server import EntraServer
from rig.http_source import drip, giant, half
from rig.nameserver import NameServer, under
from rig.service_bus import Entity, Policy, ServiceBus
from rig.waiting import eventually

METRIC = "s0-azure-servicebus-orders"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """With the folder of what is trusted."""
    folder = tmp_path_factory.mktemp("bus-authority")
    pair = pki.authority(folder, "bus-ca")
    (folder / "trusted").mkdir()
    (folder / "trusted" / "ca.pem").write_text(pathlib.Path(pair.cert).read_text())
    return pair, str(folder / "trusted")


@pytest.fixture
def bus(authority, tmp_path):
    bus = ServiceBus(pki.certificate(tmp_path, "bus", authority[0], "localhost", names=("localhost", "shop.bus.test")))
    yield bus
    assert bus.wrong == []
    bus.end()


@pytest.fixture
def trusting(launch, authority):
    """kscaled, which trusts the authority."""
    def start(name="kscaled", **options):
        daemon = launch(name, options={"ca_dir": authority[1], **options})
        daemon.wait_serving()
        return daemon
    return start


def login(credentials, connection, name="bus"):
    credentials.secret(name, connection=connection)
    credentials.authentication(name, secretTargetRef=[{"parameter": "connection", "name": name, "key": "connection"}])
    return {"authenticationRef": {"name": name}}


def trigger(auth, **metadata):
    values = {"queueName": "orders", **metadata} if "topicName" not in metadata else metadata
    return {"type": "azure-servicebus", "metadata": {key: str(value) for key, value in values.items()}, **auth}


def failure(stage, *words, metric=METRIC, name="worker"):
    def is_said():
        message = stage.metric(metric, name).failure(503, "ServiceUnavailable")
        assert all(word in message for word in words), message
        return True
    eventually(is_said)


def test_what_is_counted(trusting, stage, bus, credentials):
    """Queues, subscriptions, lists of them, and each way in by a connection string."""
    bus.queues = {"orders": Entity(7), "eu/new orders": Entity(3), "jobs-a": Entity(4), "jobs-b": Entity(9), "jobs-off": Entity(100, "Disabled"), "jobs": Entity(50), **{f"q{n:03}": Entity(n) for n in range(245)}}
    bus.topics = {"shipped": {"mail": Entity(5), "post": Entity(8), "fax": Entity(1)}}
    bus.policies["of-orders"] = Policy("b25lIHF1ZXVlJ3M=", entity="orders")
    bus.policies["of-shipped"] = Policy("b25lIHRvcGljJ3M=", entity="shipped")
    namespace = login(credentials, bus.connection() + "\n", "namespace")    # as of a file
    of_orders = login(credentials, bus.connection("of-orders", "orders"), "of-orders")
    of_shipped = login(credentials, bus.connection("of-shipped", "shipped"), "of-shipped")
    given = login(credentials, bus.signed(int(time.time()) + 600), "given")
    regex = {"useRegex": "true"}
    cases = [
        (trigger(namespace), "azure-servicebus-orders", 7), (trigger(of_orders), "azure-servicebus-orders", 7), (trigger(given), "azure-servicebus-orders", 7),
        (trigger(namespace, queueName="eu/new orders"), "azure-servicebus-eu-new orders", 3),
        (trigger(namespace, topicName="shipped", subscriptionName="post"), "azure-servicebus-shipped", 8), (trigger(of_shipped, topicName="shipped", subscriptionName="mail"), "azure-servicebus-shipped", 5),
        (trigger(namespace, queueName="jobs-.*", **regex), "azure-servicebus-queue-regex", 13), (trigger(namespace, queueName="jobs-[ab]", operation="max", **regex), "azure-servicebus-queue-regex", 9),
        (trigger(namespace, queueName="jobs-.*", operation="avg", **regex), "azure-servicebus-queue-regex", 6), (trigger(given, queueName="q24[0-9]", **regex), "azure-servicebus-queue-regex", 240 + 241 + 242 + 243 + 244),
        (trigger(namespace, queueName="nothing.*", **regex), "azure-servicebus-queue-regex", 0), (trigger(of_shipped, topicName="shipped", subscriptionName="(mail|post)", **regex), "azure-servicebus-topic-regex", 13),
    ]
    trusting()
    stage.deployment(replicas=1, env={"BUS": bus.connection()})
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[one for one, _, _ in cases] + [trigger({}, connectionFromEnv="BUS")])
    for index, (one, name, wanted) in enumerate(cases):
        assert stage.metric(f"s{index}-{name}").value() == str(wanted), one
    assert stage.metric(f"s{len(cases)}-{cases[0][1]}").value() == "7"
    # A list is read to its end, an empty page.
    assert {asked.query["$skip"] for asked in bus.to("/$Resources/Queues")} == {"0", "100", "200", "251"}


def test_scales(trusting, stage, bus, credentials):
    bus.queues = {"orders": Entity(2)}
    auth = login(credentials, bus.connection())
    trusting()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[trigger(auth, messageCount=2, activationMessageCount=2)])
    eventually(lambda: stage.metric(METRIC).value() == "2")     # is not above 2; dead letters and scheduled ones are none
    assert stage.replicas() == 0
    bus.queues["orders"].active = 6
    eventually(lambda: stage.replicas() == 3)
    bus.queues["orders"].active = 0
    eventually(lambda: stage.replicas() == 0)


def test_faults(trusting, stage, bus, credentials):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    bus.queues, bus.topics = {"orders": Entity(4)}, {"shipped": {}}
    auth = login(credentials, bus.connection())
    trusting()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[trigger(auth, messageCount=1)])
    eventually(lambda: stage.replicas() == 2)

    def fails(*words):
        stage.wait_failing()
        failure(stage, "azure-servicebus", *words)
        assert stage.replicas() == 2

    def is_well():
        eventually(lambda: stage.metric(METRIC).value() == "4")
        stage.wait_ready()

    answers = ServiceBus.answer
    for broken, words in ((half, ()), (giant, ()), (drip, ()), (lambda asked: (200, {}, '{"value": 4}'), ("the answer is not XML",)), (lambda asked: (500, {}, "no"), ("HTTP status 500: no",)),
                          (lambda asked: (200, {}, '<!DOCTYPE x [<!ENTITY a "b">]><entry>&a;</entry>'), ("document type",)), (lambda asked: (200, {}, "<html><title>Sign in</title></html>"), ("not an Atom entry or feed",)),
                          (lambda asked: (410, {}, ""), ("queue orders doesn't exist",)), (lambda asked: (403, {}, f"<Error><Detail>{asked.headers['Authorization'].replace('&', '&amp;')}</Detail></Error>"), ("HTTP status 403",))):
        bus.answer = broken
        fails(*words)
        assert "sig=" not in str(stage.get()["status"])
        bus.answer = lambda asked: answers(bus, asked)
        is_well()
    orders = bus.queues.pop("orders")
    fails("queue orders doesn't exist")
    bus.topics["orders"] = {}
    fails("orders is a topic")
    del bus.topics["orders"]
    for entity, words in ((Entity(4, "Disabled"), "queue orders is disabled (Disabled)"), (Entity(4, "ReceiveDisabled"), "queue orders is disabled (ReceiveDisabled)"), (Entity(None), "the namespace may be throttled")):
        bus.queues["orders"] = entity
        fails(words)
    bus.queues["orders"] = orders
    is_well()
    bus.policies["scaler"].rights = ("Listen",)
    fails("HTTP status 401: Manage,EntityRead claims required for this operation.", "connection needs a policy with the right Manage")
    bus.policies["scaler"] = Policy("rotated")
    fails("HTTP status 401: InvalidSignature")
    credentials.change_secret("bus", connection=bus.connection())
    is_well()
    credentials.change_secret("bus", connection=bus.signed(int(time.time()) - 1))
    fails("HTTP status 401: ExpiredToken", "the SharedAccessSignature of connection may have expired")
    credentials.change_secret("bus", connection=bus.connection())
    is_well()
    bus.answer = lambda asked: None  # ends the connections that are kept
    bus.end()
    fails("https://localhost:")
    bus.answer = lambda asked: answers(bus, asked)
    bus.start()
    is_well()


def test_lists_that_are_not_whole(trusting, stage, bus, credentials):
    """One page that is lost makes no number of those before it; a page may take a while, as a minute is given to all; a topic that is missing is no empty list."""
    bus.queues, bus.topics = {f"q{n}": Entity(1) for n in range(6)}, {"shipped": {"mail": Entity(3)}}
    bus.page = 2
    auth = login(credentials, bus.connection())
    answers = ServiceBus.answer

    def slow(asked):
        if asked.path == "/$Resources/Queues":
            time.sleep(1.2)
        return answers(bus, asked)
    bus.answer = slow
    trusting()
    stage.deployment(replicas=1)
    stage.scaledobject(maxReplicaCount=1, triggers=[trigger(auth, queueName="q.*", useRegex="true"), trigger(auth, topicName="shipped", subscriptionName=".*", useRegex="true")])
    eventually(lambda: stage.metric("s0-azure-servicebus-queue-regex").value() == "6")   # four pages, longer than one request may take
    bus.answer = lambda asked: (503, {}, "") if "skip=4" in asked.target else answers(bus, asked)
    failure(stage, "HTTP status 503", metric="s0-azure-servicebus-queue-regex")
    assert stage.metric("s1-azure-servicebus-topic-regex").value() == "3"
    del bus.topics["shipped"]
    failure(stage, "topic shipped doesn't exist", metric="s1-azure-servicebus-topic-regex")
    bus.answer = lambda asked: answers(bus, asked)
    bus.queues = {"q1": Entity(1, "Disabled")}
    failure(stage, "queue q1 is disabled", metric="s0-azure-servicebus-queue-regex")
    stage.wait_failing()
    assert stage.replicas() == 1


def test_a_pause_is_kept(trusting, stage, bus, credentials):
    """A namespace that throttles is left alone, whatever is asked there with this key; then it is asked again."""
    bus.queues = {"orders": Entity(1), "jobs": Entity(1)}
    auth = login(credentials, bus.connection())
    trusting()
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(auth), trigger(auth, queueName="jobs")])
    bus.throttled = 3
    stage.wait_failing()
    failure(stage, "asked to be left alone (Retry-After)")
    bus.throttled = None
    refused = len(bus.asked)
    eventually(lambda: stage.metric(METRIC).value() == "1")
    times = [asked.time for asked in bus.asked]
    assert times[refused] - times[refused - 1] > 2.9, times[refused - 2:refused + 1]
    stage.wait_ready()


def test_tls(kscaled, stage, bus, credentials):
    """Of an authority that nobody knows it is refused, and is shown no token."""
    bus.queues = {"orders": Entity(1)}
    stage.deployment(replicas=1)
    stage.scaledobject(maxReplicaCount=1, triggers=[trigger(login(credentials, bus.connection()))])
    stage.wait_failing()
    failure(stage, "certificate")
    assert bus.asked == []


def test_workload_identity(launch, authority, stage, bus, credentials, tmp_path):
    """As kscaled itself, by the token of Azure's workload identity; for who may, and to hosts that whoever runs kscaled named."""
    bus.name = "shop.bus.test"
    bus.queues = {"orders": Entity(6)}
    (tmp_path / "token").write_text("federated\n")
    entra, names = EntraServer(clients={"kscaled": "federated"}), NameServer({"shop.bus.test": ["127.0.0.1"]})
    env = {"AZURE_CLIENT_ID": "kscaled", "AZURE_TENANT_ID": entra.tenant, "AZURE_FEDERATED_TOKEN_FILE": str(tmp_path / "token"), "AZURE_AUTHORITY_HOST": entra.url + "/"}
    by_cluster = {"authenticationRef": {"name": "azure", "kind": "ClusterTriggerAuthentication"}}
    where = {"namespace": "shop", "cloud": "Private", "endpointSuffix": f"bus.test:{bus.port}"}
    try:
        credentials.cluster_authentication("azure", podIdentity={"provider": "azure-workload"})
        credentials.authentication("azure", podIdentity={"provider": "azure-workload"})
        launch(env=env, options={"ca_dir": authority[1], "azure_trusted_hosts": "bus.test"}, under=under(names.resolv_conf(tmp_path))).wait_serving()
        for name in ("worker", "elsewhere", "tenant"):
            stage.deployment(name, replicas=1)
        stage.scaledobject("worker", maxReplicaCount=1, triggers=[trigger(by_cluster, **where)])
        stage.scaledobject("elsewhere", maxReplicaCount=1, triggers=[trigger(by_cluster, **{**where, "endpointSuffix": "evil.example"})])
        stage.scaledobject("tenant", maxReplicaCount=1, triggers=[trigger({"authenticationRef": {"name": "azure"}}, **where)])
        # A token that the service does not know is refused by it, and fetched anew.
        failure(stage, "HTTP status 401: InvalidIssuer", "kscaled's identity needs a role")
        bus.tokens = entra.tokens
        eventually(lambda: stage.metric(METRIC).value() == "6")
        for name, words in (("elsewhere", "shop.evil.example is not one of Microsoft's hosts"), ("tenant", "asks for kscaled's own Azure identity")):
            stage.wait_refused(name)
            assert words in stage.condition("Ready", name)["message"]
        assert all(asked.bearer for asked in bus.asked)
        assert set(entra.given) == {("kscaled", "https://servicebus.azure.net/.default")}
    finally:
        entra.end()
        names.end()
