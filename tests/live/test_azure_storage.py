# SPDX-License-Identifier: Apache-2.0
"""The triggers that ask Azure Storage, by keys, signatures and tokens, against Azurite, which verifies them (rig/azurite_server.py); Entra ID is a fake (rig/entra_server.py)."""
import pytest

from rig import pki
from rig.azurite_server import BLOB, QUEUE, AzuriteServer, key_of, through
from rig.entra_server import EntraServer
from rig.http_source import HttpSource, drip, giant, half
from rig.nameserver import NameServer, under
from rig.waiting import eventually


@pytest.fixture(scope="module")
def azurite(session_dir):
    azurite = AzuriteServer(session_dir)
    yield azurite
    azurite.end()


def give(credentials, connection, name="storage"):
    """A TriggerAuthentication with this connection string; the trigger's reference to it."""
    credentials.secret(name, connection=connection)
    credentials.authentication(name, secretTargetRef=[{"parameter": "connection", "name": name, "key": "connection"}])
    return {"authenticationRef": {"name": name}}


@pytest.fixture
def login(credentials, azurite):
    return give(credentials, azurite.connection() + "\n")  # as made of a file


def trigger(kind, login=None, **metadata):
    return {"type": kind, "metadata": {key: str(value) for key, value in metadata.items()}, **(login or {})}


def queue(name, login=None, **metadata):
    return trigger("azure-queue", login, queueName=name, **metadata)


def blob(name, login=None, **metadata):
    return trigger("azure-blob", login, blobContainerName=name, **metadata)


def failure(stage, metric, *words, name="worker"):
    """What the metric's error says, once all of that is in it."""
    def is_said():
        message = stage.metric(metric, name).failure(503, "ServiceUnavailable")
        assert all(word in message for word in words), message
        return message
    return eventually(is_said)


# --- what is counted ---

def test_queue(kscaled, stage, azurite, login):
    """Both strategies: below 32 messages what nobody works on, and beyond what the service says."""
    azurite.queue("counted", 6)
    azurite.receive("counted", 2)
    azurite.queue("many", 34)
    azurite.receive("many", 1)
    azurite.queue("nothing")
    cases = [("counted", {}, "6"), ("counted", {"queueLengthStrategy": "visibleonly"}, "4"), ("many", {"queueLengthStrategy": "visibleonly"}, "34"), ("many", {"queueLengthStrategy": "all"}, "34"), ("nothing", {}, "0"),
             ("nothing", {"queueLengthStrategy": "visibleonly"}, "0")]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[queue(name, login, queueLength=1000, **metadata) for name, metadata, _ in cases])
    for index, (name, metadata, wanted) in enumerate(cases):
        assert stage.metric(f"s{index}-azure-queue-{name}").value() == wanted, metadata


def test_queue_scales(kscaled, stage, azurite, login):
    azurite.queue("scaling", 1)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[queue("scaling", login, queueLength=2, activationQueueLength=1)])
    eventually(lambda: stage.metric("s0-azure-queue-scaling").value() == "1")
    assert stage.replicas() == 0         # is not above 1
    azurite.send("scaling", 5)
    eventually(lambda: stage.replicas() == 3)
    azurite.clear("scaling")
    eventually(lambda: stage.replicas() == 0)


def test_blob(kscaled, stage, azurite, login):
    """Each parameter that changes what is counted."""
    azurite.container("counted", "a.json", "b.txt", "in/1.json", "in/2.xml", "in/deep/3.json", "in/deep/\xe4 & \xf6.json", "in-4.json", "other/5.json")
    azurite.container("nothing")
    cases = [("counted", {}, "3"), ("counted", {"recursive": "true"}, "8"), ("counted", {"blobPrefix": "in"}, "2"), ("counted", {"blobPrefix": "in", "recursive": "true"}, "5"), ("counted", {"blobPrefix": "in", "blobDelimiter": "-"}, "1"),
             ("counted", {"globPattern": "*.json"}, "6"), ("counted", {"globPattern": "/in/*.json"}, "3"), ("counted", {"globPattern": "in/[0-9].{json,xml}"}, "2"), ("counted", {"globPattern": "*.json", "blobPrefix": "in"}, "3"),
             ("counted", {"globPattern": "in/deep/\xe4 & ?.json"}, "1"), ("counted", {"blobPrefix": "none"}, "0"), ("nothing", {}, "0")]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[blob(name, login, blobCount=1000, **metadata) for name, metadata, _ in cases])
    for index, (name, metadata, wanted) in enumerate(cases):
        assert stage.metric(f"s{index}-azure-blob-{name}").value() == wanted, metadata


def test_blob_scales(kscaled, stage, azurite, login):
    azurite.container("scaling", "1")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[blob("scaling", login, blobCount=2, activationBlobCount=1)])
    eventually(lambda: stage.metric("s0-azure-blob-scaling").value() == "1")
    assert stage.replicas() == 0         # is not above 1
    for number in range(2, 7):
        azurite.put("scaling", str(number))
    eventually(lambda: stage.replicas() == 3)
    for number in range(1, 7):
        azurite.remove("scaling", str(number))
    eventually(lambda: stage.replicas() == 0)


def page(count, marker="", begin=0, name="in/{}.json"):
    """A page of a list as Azure sends it, with a mark of its order of bytes."""
    blobs = "".join(f"<Blob><Name>{name.format(begin + n)}</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>" for n in range(count))
    text = f'\ufeff<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="https://shop/" ContainerName="pages"><Blobs>{blobs}</Blobs><NextMarker>{marker}</NextMarker></EnumerationResults>'
    return (200, {"Content-Type": "application/xml"}, text)


def test_blob_pages(kscaled, stage, azurite, credentials):
    """All pages are one number; more than so many are no answer, and neither is a list that goes round."""
    front = HttpSource()
    login = give(credentials, azurite.connection(blob=front.port))

    def five(asked):
        number = int(asked.query.get("marker", "m 0")[2:])
        return page(2000, f"m {number + 1}" if number < 4 else "", begin=number * 2000)

    front.answer = five
    metric = "s0-azure-blob-pages"
    try:
        stage.deployment(replicas=1)
        stage.ready_scaledobject(maxReplicaCount=1, triggers=[blob("pages", login, blobCount=100000), blob("pages", login, blobCount=100000, globPattern="in/*[05].json")])
        eventually(lambda: stage.metric(metric).value() == "10k")
        eventually(lambda: stage.metric("s1-azure-blob-pages").value() == "2k")
        assert {asked.query["maxresults"] for asked in front.asked} == {"2000"}
        assert {asked.query.get("marker") for asked in front.asked} == {None, "m 1", "m 2", "m 3", "m 4"}
        # Azurite verifies what is signed of a page in the middle.
        azurite.container("pages", *"abcde")
        front.answer = lambda asked: through(azurite, BLOB, asked)
        eventually(lambda: stage.metric(metric).value() == "5")
        front.answer = lambda asked: page(1, "again")
        failure(stage, metric, "container pages: the next page repeats this one")
        front.answer = lambda asked: page(1, str(len(front.asked)))
        failure(stage, metric, "there are more than 400000 blobs")
        front.answer = lambda asked: page(60000)
        failure(stage, metric, "container pages: the answer is not a list of blobs: it has more than 100,000 elements")
        front.answer = lambda asked: page(1)
        eventually(lambda: stage.metric(metric).value() == "1")
    finally:
        front.end()


# --- ways in ---

def test_queue_signatures(kscaled, stage, azurite, credentials):
    """By a shared access signature, whose permissions the service holds; and the connection in the metadata."""
    azurite.queue("signed", 3)
    give(credentials, azurite.signed_connection("r", QUEUE), "reads")
    give(credentials, azurite.signed_connection("a", QUEUE), "adds")
    give(credentials, azurite.signed_connection("r", BLOB), "blobs")
    give(credentials, azurite.connection(key=key_of("another-key")), "wrong")
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[queue("signed", {"authenticationRef": {"name": "reads"}}), queue("signed", {"authenticationRef": {"name": "reads"}}, queueLengthStrategy="visibleonly"),
                                                          queue("signed", connection=azurite.connection())])
    for index in range(3):
        eventually(lambda: stage.metric(f"s{index}-azure-queue-signed").value() == "3")
    for name, words in {"adds": "AuthorizationPermissionMismatch", "blobs": "AuthorizationServiceMismatch", "wrong": "AuthenticationFailed"}.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[queue("signed", {"authenticationRef": {"name": name}})])
        message = failure(stage, "s0-azure-queue-signed", "azure-queue http://127.0.0.1:", "queue signed: HTTP status 403", words, "permission r, or the role Storage Queue Data Reader", name=name)
        assert "sig=" not in message and "SharedKey" not in message and key_of("another-key") not in message, message
        stage.wait_failing(name)


# --- faults ---

def test_queue_faults(kscaled, stage, azurite, credentials):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    azurite.queue("faults", 4)
    front = HttpSource()
    good = lambda asked: through(azurite, QUEUE, asked)
    front.answer = good
    metric = "s0-azure-queue-faults"
    login = give(credentials, azurite.connection(queue=front.port))
    try:
        stage.deployment(replicas=0)
        stage.ready_scaledobject(maxReplicaCount=2, triggers=[queue("faults", login, queueLength=1), queue("faults", login, queueLength=1, queueLengthStrategy="visibleonly")])
        eventually(lambda: stage.replicas() == 2)

        def fails(*words, metric=metric):
            stage.wait_failing()
            failure(stage, metric, *words)
            assert stage.replicas() == 2

        def is_well():
            for name in (metric, "s1-azure-queue-faults"):
                eventually(lambda: stage.metric(name).value() == "4")
            stage.wait_ready()

        count = "x-ms-approximate-messages-count"
        for broken, words, peeked in ((lambda asked: (200, {}, ""), f"no {count}", "not a list of a queue's messages"), (lambda asked: (200, {count: "-4"}, ""), f"{count} is not a number", "not a list"),
                                      (lambda asked: (200, {}, "<html><body>"), f"no {count}", "unexpected root element"), (half, "azure-queue", "azure-queue"), (drip, "azure-queue", "azure-queue"), (giant, "azure-queue", "not a list of a queue's messages"),
                                      (lambda asked: (503, {}, "<Error><Code>ServerBusy</Code><Message>The server is busy.</Message></Error>"), "HTTP status 503, ServerBusy: The server is busy.", "HTTP status 503"),
                                      (lambda asked: (204, {count: "0"}, ""), "HTTP status 204", "HTTP status 204")):
            front.answer = broken
            fails(words)
            failure(stage, "s1-azure-queue-faults", peeked)
            front.answer = good
            is_well()
        azurite.remove_queue("faults")
        fails("queue faults: HTTP status 404, QueueNotFound: The specified queue does not exist.")
        azurite.queue("faults", 4)
        is_well()
        azurite.kill()
        front.answer = lambda asked: None
        front.end()
        fails("127.0.0.1:")
        azurite.key = key_of("the-second-key")  # as when keys are rotated
        azurite.start()
        azurite.queue("faults", 4)
        front.answer = good
        front.start()
        fails("HTTP status 403")
        credentials.change_secret("storage", connection=azurite.connection(queue=front.port))
        is_well()
        azurite.freeze()
        front.answer = lambda asked: drip(asked, text="")
        fails("azure-queue")
        azurite.thaw()
        front.answer = good
        is_well()
    finally:
        front.end()


def test_blob_faults(kscaled, stage, azurite, credentials):
    """The same, where the first page is good and a later one is not, too: a part of a list is never taken for the whole."""
    azurite.container("faults", *"abcd")
    front = HttpSource()
    good = lambda asked: through(azurite, BLOB, asked)
    front.answer = good
    metric = "s0-azure-blob-faults"
    login = give(credentials, azurite.connection(blob=front.port))
    give(credentials, azurite.signed_connection("r", BLOB), "reads")
    try:
        stage.deployment(replicas=0)
        stage.ready_scaledobject(maxReplicaCount=2, triggers=[blob("faults", login, blobCount=1)])
        eventually(lambda: stage.replicas() == 2)
        busy = (503, {}, "<Error><Code>ServerBusy</Code><Message>The server is busy.</Message></Error>")
        for broken, *words in ((lambda asked: (200, {}, ""), "container faults: the answer is not a list of blobs"), (half, "azure-blob"), (drip, "azure-blob"), (giant, "the answer is not a list of blobs"), (lambda asked: busy, "ServerBusy"),
                               (lambda asked: (200, {}, "<html/>"), "unexpected root element"), (lambda asked: (200, {}, '<!DOCTYPE a [<!ENTITY b "c">]><EnumerationResults/>'), "a document type"), (lambda asked: (206, {}, page(4)[2]), "HTTP status 206")):
            for answer in (broken, lambda asked: broken(asked) if "marker" in asked.query else page(1, "next")):
                front.answer = answer
                stage.wait_failing()
                failure(stage, metric, *words)
                assert stage.replicas() == 2
                front.answer = good
                eventually(lambda: stage.metric(metric).value() == "4")
                stage.wait_ready()
        stage.deployment("missing", replicas=1)
        stage.scaledobject("missing", maxReplicaCount=1, triggers=[blob("no-such", login)])
        failure(stage, "s0-azure-blob-no-such", "container no-such: HTTP status 404, ContainerNotFound", name="missing")
        stage.deployment("reads", replicas=1)
        stage.scaledobject("reads", maxReplicaCount=1, triggers=[blob("faults", {"authenticationRef": {"name": "reads"}})])
        failure(stage, metric, "HTTP status 403, AuthorizationPermissionMismatch", "permission l, or the role Storage Blob Data Reader", name="reads")
    finally:
        front.end()


# --- as kscaled itself ---

@pytest.fixture(scope="module")
def secure(session_dir):
    """Over TLS with names as Azure's, and an Entra ID beside it, of the same authority."""
    folder = session_dir / "azure"
    folder.mkdir()
    authority = pki.authority(folder, "azure-ca")
    server = AzuriteServer(folder, "secure", tls=pki.certificate(folder, "storage", authority, "storage", names=("localhost", "shop.queue.localhost", "shop.blob.localhost")))
    server.authorities = folder / "authorities"
    server.authorities.mkdir()
    (server.authorities / "ca.crt").write_bytes(open(authority.cert, "rb").read())
    server.entra = EntraServer(pki.certificate(folder, "entra", authority, "entra"), clients={"kscaled": "federated-token", "another": "federated-token", "stranger": "no-such-token"})
    server.queue("orders", 7)
    server.container("files", "a", "b", "c")
    yield server
    server.entra.end()
    server.end()


@pytest.fixture
def names():
    names = NameServer({f"shop.{service}.localhost": ["127.0.0.1"] for service in (QUEUE, BLOB)})
    yield names
    names.end()


@pytest.fixture
def workload(secure, names, tmp_path):
    """The environment and the options of a kscaled that Azure's workload identity has given a token."""
    (tmp_path / "token").write_text("federated-token\n")
    env = {"AZURE_CLIENT_ID": "kscaled", "AZURE_TENANT_ID": "tenant", "AZURE_FEDERATED_TOKEN_FILE": str(tmp_path / "token"), "AZURE_AUTHORITY_HOST": secure.entra.url + "/"}
    secure.entra.given.clear()
    return {"env": env, "under": under(names.resolv_conf(tmp_path)), "options": {"ca_dir": str(secure.authorities), "azure_trusted_hosts": "queue.localhost,blob.localhost"}}


def private(secure, service):
    return {"accountName": secure.ACCOUNT, "cloud": "Private", "endpointSuffix": f"{service}.localhost:{secure.ports[service]}"}


def identity(**more):
    return {"podIdentity": {"provider": "azure-workload", **more}}


def test_workload_identity(launch, stage, secure, workload, credentials):
    """A ClusterTriggerAuthentication's triggers ask with kscaled's token, one for all; a namespace's may not, and one who is not known hears it."""
    prefix = stage.namespace
    for name, more in {"own": {}, "another": {"identityId": "another", "identityTenantId": "tenant"}, "stranger": {"identityId": "stranger"}, "nobody": {"identityId": "nobody"}}.items():
        credentials.cluster_authentication(f"{prefix}-{name}", **identity(**more))
    credentials.authentication("mine", **identity())
    by = lambda name: {"authenticationRef": {"name": f"{prefix}-{name}", "kind": "ClusterTriggerAuthentication"}}
    launch(**workload).wait_serving()
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[queue("orders", by("own"), **private(secure, QUEUE)), queue("orders", by("own"), queueLengthStrategy="visibleonly", **private(secure, QUEUE)), queue("orders", by("another"), **private(secure, QUEUE))])
    for index in range(3):
        eventually(lambda: stage.metric(f"s{index}-azure-queue-orders").value() == "7")
    assert sorted(secure.entra.given) == [("another", "https://storage.azure.com/.default"), ("kscaled", "https://storage.azure.com/.default")]
    for name, words in {"stranger": ("invalid_client", "AADSTS700024"), "nobody": ("unauthorized_client", "AADSTS700016")}.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[queue("orders", by(name), **private(secure, QUEUE))])
        assert "no-such-token" not in failure(stage, "s0-azure-queue-orders", "Entra ID token", *words, name=name)
    refused = {"mine": ({"authenticationRef": {"name": "mine"}}, {}, "kscaled's own Azure identity"), "elsewhere": (by("own"), {"endpointSuffix": "evil.example"}, "shop.evil.example is not one of Microsoft's hosts")}
    for name, (login, metadata, words) in refused.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[queue("orders", login, **{**private(secure, QUEUE), **metadata})])
        stage.wait_refused(name)
        assert words in stage.condition("Ready", name)["message"]


def test_workload_identity_for_blobs(launch, stage, secure, workload, credentials):
    """The same token as for queues, for both; by KEDA's rule of who may, when that is chosen."""
    credentials.authentication("mine", **identity())
    mine = {"authenticationRef": {"name": "mine"}}
    launch(**{**workload, "options": {**workload["options"], "cloud_identity": "all"}}).wait_serving()
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[blob("files", mine, **private(secure, BLOB)), queue("orders", mine, **private(secure, QUEUE))])
    for metric, wanted in {"s0-azure-blob-files": "3", "s1-azure-queue-orders": "7"}.items():
        eventually(lambda: stage.metric(metric).value() == wanted)
    assert secure.entra.given == [("kscaled", "https://storage.azure.com/.default")]
