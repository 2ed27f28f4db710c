# SPDX-License-Identifier: Apache-2.0
"""
The nats-jetstream trigger against real NATS servers: values, accounts, TLS, a cluster of three whose leaders move, die and freeze, and outages; against a server written for the test what no NATS server says.
"""
import json
import pathlib

import pytest

from rig import http_source, pki
from rig.daemon import run
from rig.http_source import HttpSource
from rig.nats_server import NatsCluster, NatsServer
from rig.process import free_port
from rig.waiting import after, eventually, throughout


@pytest.fixture(scope="module")
def nats(tmp_path_factory):
    server = NatsServer(tmp_path_factory.mktemp("nats"), "alone")
    yield server
    server.end()


@pytest.fixture
def client(nats):
    """With the stream orders, and its consumer worker, empty again at each test."""
    with nats.client() as client:
        if "orders" in (client.api("STREAM.NAMES")["streams"] or []):
            client.api("STREAM.DELETE.orders")
        client.stream("orders")
        client.consumer("orders", "worker")
        yield client


@pytest.fixture(scope="module")
def nats_cluster(tmp_path_factory):
    cluster = NatsCluster(tmp_path_factory.mktemp("nats-cluster"))
    with cluster["n1"].client() as client:
        client.stream("orders", replicas=3)
        client.consumer("orders", "worker", replicas=3)
        client.add("orders", 7)
        client.stream("single")
        client.consumer("single", "worker")
        client.add("single", 5)
    yield cluster
    cluster.end()


def trigger(server, **metadata):
    """A None takes a default away; _name and so on are fields beside metadata."""
    fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
    values = {"natsServerMonitoringEndpoint": getattr(server, "address", server), "account": "$G", "stream": "orders", "consumer": "worker", "lagThreshold": "5", **metadata}
    return {"type": "nats-jetstream", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **fields}


def value(stage, index=0, name="worker", stream="orders"):
    return stage.metric(f"s{index}-nats-jetstream-{stream}", name).value()


def failure(stage, index=0, name="worker", stream="orders"):
    return stage.metric(f"s{index}-nats-jetstream-{stream}", name).failure(503, "ServiceUnavailable")


def says(stage, words, index=0, name="worker", stream="orders"):
    """Sooner or later: the poll before may have met something else."""
    def told():
        message = failure(stage, index, name, stream)
        assert words in message, message
        return message
    return eventually(told)


# --- values ---

def test_zero_to_many_and_back(kscaled, stage, client, nats):
    """What is delivered and not acknowledged counts as what is not delivered."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(nats, activationLagThreshold="3")])
    client.add("orders", 3)
    eventually(lambda: value(stage) == "3")
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    client.add("orders", 9)
    eventually(lambda: value(stage) == "12")
    eventually(lambda: stage.replicas() == 3)
    taken = client.take("orders", "worker", 4)
    assert client.api("CONSUMER.INFO.orders.worker")["num_ack_pending"] == 4
    throughout(lambda: value(stage) == "12", until=after(1.2))
    client.acknowledge(taken[:3])
    eventually(lambda: value(stage) == "9")
    client.acknowledge(taken[3:] + client.take("orders", "worker", 8))
    eventually(lambda: value(stage) == "0")
    eventually(lambda: stage.replicas() == 0)


def test_what_is_not_there(kscaled, stage, client, nats, tmp_path):
    """Each by its name, none of them 0, and well when it is made."""
    plain = NatsServer(tmp_path, "no-jetstream", jetstream=False)
    try:
        expected = {"account not found: the server has no such account": trigger(nats, account="shop"), 'stream "nothing" not found': trigger(nats, stream="nothing"),
                    'consumer "later" not found in stream "orders"': trigger(nats, consumer="later"), "JetStream is not enabled on this server": trigger(plain),
                    "Received HTTP/0.9 when not allowed": trigger(f"127.0.0.1:{nats.client_port}"), "no-such-name.invalid": trigger("no-such-name.invalid:8222")}
        stage.deployment(replicas=3)
        stage.scaledobject(triggers=list(expected.values()))
        stage.wait_failing()
        for index, (words, one) in enumerate(expected.items()):
            says(stage, words, index, stream=one["metadata"]["stream"])
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
        client.consumer("orders", "later")
        eventually(lambda: value(stage, 2) == "0")
    finally:
        plain.end()


def test_an_account_with_a_jwt(kscaled, stage):
    """A server with an operator, since 2.10.12, as it answers who names the account: its details are told to who asks for all accounts."""
    said = {"server_id": "A", "accounts": 1, "streams": 1, "consumers": 1}
    details = [{"name": "SHOP", "id": "AAAA", "stream_detail": [{"name": "orders", "consumer_detail": [{"name": "worker", "num_pending": 12, "num_ack_pending": 3}]}]}]
    source = HttpSource({"/jsz": lambda asked: json.dumps({**said, **({"account_details": details} if asked.query.get("accounts") == "true" else {})})})
    stage.deployment(replicas=1)
    stage.ready_scaledobject(triggers=[trigger(source.url.removeprefix("http://"), account="SHOP")])
    assert value(stage) == "15"
    source.end()


def test_accounts(kscaled, stage, credentials, tmp_path):
    """By name, by ID, and from an authentication; what one account has is nothing of the other."""
    accounts = {name: {"jetstream": "enabled", "users": [{"user": name, "password": "x"}]} for name in ("SHOP", "MAIL")}
    server = NatsServer(tmp_path, "accounts", accounts=accounts)
    try:
        for name, count in (("SHOP", 4), ("MAIL", 6)):
            with server.client(user=name, **{"pass": "x"}) as client:
                client.stream("orders")
                client.consumer("orders", "worker")
                client.add("orders", count)
        credentials.secret("nats", endpoint=server.address, account="MAIL")
        credentials.authentication("nats", secretTargetRef=[{"parameter": "natsServerMonitoringEndpoint", "name": "nats", "key": "endpoint"}, {"parameter": "account", "name": "nats", "key": "account"}])
        stage.deployment(replicas=0)
        stage.ready_scaledobject(triggers=[trigger(server, account="SHOP"), trigger(server, account=None, accountID="MAIL"), trigger(server, account="unused", accountID="SHOP"),
                                           trigger("127.0.0.1:1", _authenticationRef={"name": "nats"})])
        assert [value(stage, index) for index in range(4)] == ["4", "6", "4", "6"]
        credentials.change_secret("nats", account="HIDDEN")
        assert "HIDDEN" not in says(stage, "account not found", 3)
    finally:
        server.end()


def test_questions_are_shared(kscaled, stage, client, nats):
    """Two hundred triggers of one consumer, whatever their thresholds: one question a second, and one for each HPA."""
    client.add("orders", 8)
    for n in range(4):
        stage.deployment(f"worker-{n}", replicas=0)
        stage.scaledobject(f"worker-{n}", triggers=[trigger(nats, lagThreshold=str(5 + i)) for i in range(50)], maxReplicaCount=1)
    for n in range(4):
        stage.wait_ready(f"worker-{n}")
    assert value(stage, 49, "worker-3") == "8"
    before, connections = nats.asked(), nats.get("/varz")
    throughout(lambda: True, until=after(3))
    assert connections["server_name"] == "alone" and nats.asked() - before <= 4 * 4 * 2, nats.asked() - before


# --- TLS ---

@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    directory = tmp_path_factory.mktemp("nats-authorities")
    ca = pki.authority(directory, "ca")
    return {"ca": ca, "server": pki.certificate(directory, "server", ca, "localhost"), "other": pki.certificate(directory, "other", ca, "other.example", names=("other.example",))}


def test_tls(launch, stage, authorities, tmp_path):
    """useHttps: who is not of an authority of the system, or of --ca-dir, is refused, and who has another name."""
    folder = tmp_path / "authorities"
    folder.mkdir()
    (folder / "ca.pem").write_text(pathlib.Path(authorities["ca"].cert).read_text())
    server, other = NatsServer(tmp_path, "locked", tls=authorities["server"]), NatsServer(tmp_path, "misnamed", tls=authorities["other"])
    try:
        with server.client() as client:
            client.stream("orders")
            client.consumer("orders", "worker")
            client.add("orders", 6)
        triggers = [trigger(server, useHttps="true"), trigger(other, useHttps="true"), trigger(server)]
        stage.deployment(replicas=3)
        kscaled = launch()
        kscaled.wait_serving()
        stage.scaledobject(triggers=triggers)
        stage.wait_failing()
        says(stage, "unable to get local issuer certificate", 0)
        says(stage, "HTTP status 400: Client sent an HTTP request to an HTTPS server.", 2)
        kscaled.term()
        launch("trusting", options={"ca-dir": str(folder)}).wait_serving()
        eventually(lambda: value(stage) == "6")
        says(stage, "SSL: no alternative certificate subject name matches target host name 'localhost'", 1)
        assert stage.replicas() == 3
    finally:
        server.end()
        other.end()


# --- a cluster ---

def consumer_of(server, stream="orders"):
    """As this server has it; None: it does not."""
    account, = server.get("/jsz?consumers=true")["account_details"]
    found = [one for one in account["stream_detail"] if one["name"] == stream]
    return found[0]["consumer_detail"][0] if found else None


def test_the_leader_is_asked(kscaled, stage, nats_cluster):
    """Whichever server is named: the leader's number, which is not the others', and from then on by one request to the leader alone; also where one server has the stream alone."""
    stage.deployment(replicas=0)
    names = list(nats_cluster.servers)
    stage.ready_scaledobject(triggers=[trigger(nats_cluster[name], stream=stream) for name in names for stream in ("orders", "single")])
    with nats_cluster["n1"].client() as client:
        taken = client.take("orders", "worker", 3)
        client.acknowledge(taken[:1])
        leader = nats_cluster[client.leader("orders", "worker")]
        alone = nats_cluster[client.leader("single", "worker")]
    said = {server.name: (one["num_pending"], one["num_ack_pending"]) for server in nats_cluster.alive() for one in [consumer_of(server)]}
    assert said[leader.name] == (4, 2) and len(set(map(sum, said.values()))) > 1, said
    for index in range(0, 6, 2):
        eventually(lambda index=index: value(stage, index) == "6")
        assert value(stage, index + 1, stream="single") == "5"

    def is_settled():
        """All that is asked in a second is the leaders' /jsz."""
        before = {(server.name, path): server.asked(path) for server in nats_cluster.alive() for path in ("/jsz", "/varz")}
        polls = kscaled.asked()
        eventually(lambda: kscaled.asked() >= polls + 12)
        asked = {where: nats_cluster[where[0]].asked(where[1]) - count for where, count in before.items()}
        others = [count for (name, path), count in asked.items() if path == "/jsz" and name not in (leader.name, alone.name)]
        return sum(others) == 0 and asked[(leader.name, "/jsz")] > 0 and all(count <= 6 for (_, path), count in asked.items() if path == "/varz")   # /varz: of this test
    eventually(is_settled)


def test_leaders_that_move_die_and_freeze(kscaled, stage, nats_cluster):
    """Never scaled in, and well as soon as there is a leader. One that leads since a moment counts what is pending, and only then what waits for its acknowledgement."""
    with nats_cluster["n1"].client() as client:
        client.stream("mail", replicas=3)
        client.consumer("mail", "worker", replicas=3)
        client.add("mail", 12)
        client.take("mail", "worker", 2)
    stage.deployment(replicas=0)
    endpoint = "n1"
    stage.ready_scaledobject(triggers=[trigger(nats_cluster[endpoint], stream="mail", lagThreshold=4)])
    eventually(lambda: value(stage, stream="mail") == "12")
    eventually(lambda: stage.replicas() == 3)

    def leader():
        with next(server for server in nats_cluster.alive() if server.name == endpoint).client() as client:
            return client.leader("mail", "worker")

    def is_right():
        assert stage.replicas() == 3
        answer = stage.metric("s0-nats-jetstream-mail")
        return answer.status != 200 or answer.value() in ("12", "10")

    first = eventually(leader)
    with nats_cluster[endpoint].client() as client:
        client.api("CONSUMER.LEADER.STEPDOWN.mail.worker")
    eventually(lambda: leader() not in (None, first))
    throughout(is_right, until=after(3))
    stage.wait_ready()
    eventually(lambda: value(stage, stream="mail") == "12")
    # Until one leads that is not the endpoint, which must stay to be asked.
    while eventually(leader) == endpoint:
        with nats_cluster[endpoint].client() as client:
            client.api("CONSUMER.LEADER.STEPDOWN.mail.worker")
        eventually(lambda: leader())
    stage.wait_ready()
    for fault in ("kill", "freeze"):
        victim = nats_cluster[eventually(leader)]
        if victim.name == endpoint:
            continue
        getattr(victim, fault)()
        try:
            throughout(is_right, until=after(2))
            eventually(lambda victim=victim: leader() not in (None, victim.name), timeout=60)
            stage.wait_ready()
            eventually(lambda: value(stage, stream="mail") == "12")
        finally:
            victim.start() if fault == "kill" else victim.thaw()
        eventually(nats_cluster.is_whole, timeout=60)
    assert stage.replicas() == 3


def test_servers_that_do_not_advertise(kscaled, stage, tmp_path):
    """Their routes lead to the leader. Where neither leads anywhere the error says what must be so."""
    cluster = NatsCluster(tmp_path, advertise=False)
    try:
        with cluster["n1"].client() as client:
            client.stream("orders", replicas=3)
            client.consumer("orders", "worker", replicas=3)
            client.add("orders", 4)
        assert not cluster.advertises()
        stage.deployment(replicas=0)
        stage.ready_scaledobject(triggers=[trigger(server) for server in cluster.servers.values()])
        assert [value(stage, index) for index in range(3)] == ["4"] * 3
    finally:
        cluster.end()


def test_a_leader_out_of_reach(kscaled, stage):
    """As from outside of the cluster: what its servers tell of each other is nothing that answers here."""
    names = iter(range(10**6))
    consumer = {"name": "worker", "num_pending": 7, "num_ack_pending": 0, "cluster": {"leader": "nats-2"}}
    jsz = json.dumps({"server_id": "I", "meta_cluster": {"cluster_size": 3}, "account_details": [{"name": "$G", "stream_detail": [{"name": "orders", "consumer_detail": [consumer]}]}]})
    source = HttpSource({"/jsz": jsz, "/varz": lambda asked: json.dumps({"server_id": "I", "server_name": f"nats-{next(names) % 2}", "connect_urls": ["127.0.0.1:4222", "127.0.0.9:4222"]})})
    try:
        stage.deployment(replicas=3)
        stage.scaledobject(triggers=[trigger(f"127.0.0.1:{source.port}")])
        stage.wait_failing()
        message = says(stage, 'leader node not found for consumer "worker": none of the cluster\'s 2 addresses, at the endpoint\'s port, belongs to nats-2;')
        assert f"connect_urls in /varz must be reachable from here; http://127.0.0.9:{source.port}: Connection refused" in message
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
    finally:
        source.end()


# --- faults ---

def check_outage(stage, message):
    """Told, not scaled in, and a neighbour on a healthy server goes on."""
    stage.wait_failing()
    says(stage, message)
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    assert value(stage, 0, "neighbour") == "2"


def test_killed_frozen_and_back(kscaled, stage, nats, client, tmp_path):
    victim = NatsServer(tmp_path, "victim")
    try:
        client.add("orders", 2)
        with victim.client() as other:
            other.stream("orders")
            other.consumer("orders", "worker")
            other.add("orders", 12)
        stage.deployment(replicas=0)
        stage.deployment("neighbour", replicas=1)
        stage.ready_scaledobject(triggers=[trigger(victim)])
        stage.ready_scaledobject("neighbour", triggers=[trigger(nats)])
        eventually(lambda: stage.replicas() == 3)
        victim.freeze()
        check_outage(stage, f"nats-jetstream: http://{victim.address}: no complete answer within 3000 ms")
        victim.thaw()
        stage.wait_ready()
        victim.kill()
        check_outage(stage, f"nats-jetstream: http://{victim.address}: Connection refused")
        victim.start()
        stage.wait_ready()
        assert stage.replicas() == 3 and value(stage) == "12"
    finally:
        victim.end()


def test_down_at_start(kscaled, stage, tmp_path):
    ports = free_port(), free_port()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(f"127.0.0.1:{ports[1]}")])
    stage.wait_failing()
    assert stage.replicas() == 2 and stage.hpa()
    server = NatsServer(tmp_path, "late", ports=ports)
    try:
        with server.client() as client:
            client.stream("orders")
            client.consumer("orders", "worker")
        stage.wait_ready()
    finally:
        server.end()


def test_nonsense(kscaled, stage):
    """Half an answer, a giant one, one that drips, HTML, errors, numbers that are none: each says so, and none is 0."""
    def of(consumer):
        return json.dumps({"server_id": "I", "account_details": [{"name": "$G", "stream_detail": [{"name": "orders", "consumer_detail": [{"name": "worker", **consumer}]}]}]})
    pages = {
        (200, "<html>"): "the answer is not JSON: is this the monitoring port of a NATS server?", http_source.half: "transfer closed", http_source.giant: "larger than 4194304 bytes",
        http_source.drip: "no complete answer within 3000 ms", (503, "busy"): "HTTP status 503: busy", (404, of({"num_pending": 7, "num_ack_pending": 0})): "HTTP status 404", (200, ""): "not JSON",
        (200, of({})): "the consumer's num_pending is not a number of messages", (200, of({"num_pending": "7", "num_ack_pending": 0})): "num_pending is not", (200, of({"num_pending": -7, "num_ack_pending": 0})): "num_pending is not",
        (200, "[" + "0," * 150000 + "0]"): "too many streams and consumers for one answer", (200, "{}"): "the answer has no server_id",
    }
    sources = [HttpSource({"/jsz": page if callable(page) else (page[0], {"Content-Type": "text/plain"}, page[1])}) for page in pages]
    try:
        stage.deployment(replicas=3)
        stage.scaledobject(triggers=[trigger(f"127.0.0.1:{source.port}") for source in sources])
        stage.wait_failing()
        for index, words in enumerate(pages.values()):
            says(stage, words, index)
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
    finally:
        for source in sources:
            source.end()


# --- said before ---

def test_check(tmp_path):
    manifest = """apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: default}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: nats-jetstream
    metadata: {natsServerMonitoringEndpoint: "nats:8222", account: $G, stream: orders, consumer: worker, lagThreshold: "5"}
"""
    path = tmp_path / "f.yaml"
    for old, new, said in ((None, None, None), ('"5"', '"0"', '"lagThreshold" value "0" must be greater than 0'), ("nats:8222", "http://nats:8222", "must be host:port"), ("account: $G, ", "", "no account name or id given"),
                           ("consumer: worker, ", "", 'missing required parameter "consumer"'), ('"5"', '"5", lagTreshold: "6"', '"lagTreshold" (did you mean "lagThreshold"?)')):
        path.write_text(manifest.replace(old, new) if old else manifest)
        done = run("check", str(path))
        assert (said or "") in done.stdout and bool(said) == bool(done.stdout), done
