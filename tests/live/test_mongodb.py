# SPDX-License-Identifier: Apache-2.0
"""
The mongodb trigger: queries, scaling, TLS and outages against mongo-java-server (tests/mongo says why that and not MongoDB); logins and replica sets against rig/mongo_fake.py, which says of itself what it is; and
against servers that no real one could be.
"""
import datetime
import ssl
import struct
import time

import pytest

from rig import mongo_wire, pki, scripted
from rig.credentials import ref
from rig.daemon import run
from rig.mongo_fake import MongoFake, batch, elect, replica_set, slowly
from rig.mongo_server import MongoServer
from rig.scripted import Scripted
from rig.waiting import after, eventually, throughout

PASSWORD = "open-sesame/+:@"
QUOTED = "open-sesame%2F+%3A%40"
METRIC = "s0-mongodb-jobs"


@pytest.fixture(scope="module")
def authority(session_dir):
    return pki.authority(session_dir, "mongo-ca")


@pytest.fixture(scope="module")
def the_mongo(session_dir):
    server = MongoServer(session_dir)
    yield server
    server.end()


@pytest.fixture
def mongo(the_mongo):
    """Alive and empty."""
    if not the_mongo.process.alive():
        the_mongo.start()
    the_mongo.fill(0)
    return the_mongo


@pytest.fixture
def fakes():
    """Ends what was put into it."""
    servers = []

    def add(*more):
        servers.extend(more)
        return more[0] if len(more) == 1 else more

    yield add
    for server in servers:
        server.end()


def trigger(address=None, auth=None, **metadata):
    """address: host:port, or a server's. A None takes a default away."""
    address = address if isinstance(address, str) or address is None else f"127.0.0.1:{address.port}"
    values = {"connectionString": address and f"mongodb://{address}", "dbName": "shop", "collection": "jobs", "query": '{"done": false}', "queryValue": "5", **metadata}
    more = {"authenticationRef": auth} if auth else {}
    return {"type": "mongodb", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **more}


def start(stage, *triggers, name="worker", replicas=0, **spec):
    stage.deployment(name, replicas=replicas, env={"PASSWORD": PASSWORD, "URI": f"mongodb://scaler:{QUOTED}@"})
    stage.scaledobject(name, triggers=list(triggers), **spec)


def put(stage, name, one, replicas=None):
    stage.another(name)
    if replicas is not None:
        stage.set_replicas(replicas, name)
    stage.scaledobject(name, target={"name": name}, maxReplicaCount=3, triggers=[one])


def wait_value(stage, value, metric=METRIC, name="worker"):
    def is_there():
        assert stage.metric(metric, name).value() == str(value)
        return True
    eventually(is_there)


def wait_message(stage, *words, metric=METRIC, name="worker"):
    """The answer for the metric is an error that says so."""
    def is_told():
        message = stage.metric(metric, name).failure(503, "ServiceUnavailable")
        assert all(word in message for word in words), message
        return message
    return eventually(is_told)


def authentication(credentials, name, **values):
    credentials.secret(name, **values)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
    return ref(name)


def text_of(path):
    return open(path, encoding="utf-8").read()


# --- what is counted ---

@pytest.mark.journey
def test_counts_and_scales(kscaled, stage, mongo):
    start(stage, trigger(mongo, queryValue="2.5", activationQueryValue="1"))
    stage.wait_ready()
    wait_value(stage, 0)
    mongo.fill(1)
    wait_value(stage, 1)
    stage.says("Active", "False")
    assert stage.replicas() == 0
    mongo.fill(9)
    eventually(lambda: stage.replicas() == 4)
    assert stage.hpa().spec.metrics[0].external.metric.name == METRIC
    assert stage.hpa().spec.metrics[0].external.target.average_value == "2500m"
    mongo.fill(0)
    eventually(lambda: stage.replicas() == 0)


QUERIES = {
    '{"done": false}': 3,
    '{"number": {"$gte": 1}, "done": {"$in": [false, true]}}': 2,
    '{"number": {"$numberLong": "2"}}': 1,
    '{"kind": {"$regex": "^MAIL", "$options": "i"}}': 2,
    '{"at": {"$lt": {"$date": "2026-01-01T00:00:00Z"}}}': 0,
    '{"_id": {"$oid": "507f1f77bcf86cd799439011"}}': 0,
    '{"$or": [{"number": 0}, {"kind": "mail"}]}': 2,
    '{"kind": {"$exists": true}}': 2,
}


def test_queries(kscaled, stage, mongo):
    """Extended JSON, counted by a server; a collection that is not there has no documents."""
    mongo.fill(3)
    mongo.insert({"kind": "mail"}, {"kind": "Mailing"})
    start(stage, *[trigger(mongo, query=query) for query in QUERIES], trigger(mongo, collection="none"), trigger(mongo, dbName="nowhere"))
    for index, count in enumerate([*QUERIES.values(), 0]):
        wait_value(stage, count, f"s{index}-mongodb-{'jobs' if index < len(QUERIES) else 'none'}")
    wait_value(stage, 0, f"s{len(QUERIES) + 1}-mongodb-jobs")


def test_wrong_query(kscaled, stage, mongo):
    """The server's own words, and no zero."""
    mongo.fill(3)
    start(stage, trigger(mongo, query='{"number": {"$near-by": 1}}'), replicas=2)
    stage.wait_failing()
    wait_message(stage, f"mongodb at 127.0.0.1:{mongo.port}: counting: ", "$near-by")
    assert stage.replicas() == 2
    stage.patch({"spec": {"triggers": [trigger(mongo)]}})
    stage.wait_ready()
    wait_value(stage, 3)


def test_hundred_triggers_share(kscaled, stage, fakes):
    fake = fakes(MongoFake(counts=3))
    for name in ("a", "b", "c", "d"):
        start(stage, *[trigger(fake, query=f'{{"n": {{"$gt": {i}}}, "who": "{name}"}}') for i in range(25)], name=name, maxReplicaCount=1)
    for name in ("a", "b", "c", "d"):
        stage.wait_ready(name)
        wait_value(stage, 3, "s24-mongodb-jobs", name)
    assert fake.accepted <= 2
    one = fake.commands("aggregate")[0]
    assert one["$db"] == "shop" and one["aggregate"] == "jobs" and one["cursor"] == {} and one["maxTimeMS"] > 0
    assert one["pipeline"][1] == {"$group": {"_id": 1, "n": {"$sum": 1}}} and one["pipeline"][0]["$match"]["who"] in "abcd"
    assert fake.commands("hello")[0]["client"]["driver"]["name"] == "kscaled"


# --- ways in ---

def test_logins(kscaled, stage, fakes, credentials):
    """SCRAM of both kinds, in each database, from each place; the wrong ones of each."""
    users = {"admin.scaler": PASSWORD, "shop.scaler": "of-the-shop", "people.a,b=c": PASSWORD}
    both, old, late = fakes(MongoFake(users), MongoFake(users, mechanisms=None, hello=False), MongoFake(users, mechanisms=("SCRAM-SHA-256",)))
    late.done_late = True
    bare = f"scaler:{QUOTED}"
    good = {
        "best": (both, f"mongodb://{bare}@{both.address}", ("admin.scaler", "SCRAM-SHA-256")),
        "sha-1": (both, f"mongodb://{bare}@{both.address}/?authMechanism=SCRAM-SHA-1", ("admin.scaler", "SCRAM-SHA-1")),
        "old": (old, f"mongodb://{bare}@{old.address}", ("admin.scaler", "SCRAM-SHA-1")),
        "late": (late, f"mongodb://{bare}@{late.address}", ("admin.scaler", "SCRAM-SHA-256")),
        "source": (both, f"mongodb://a%2Cb=c:{QUOTED}@{both.address}/shop?authSource=people", ("people.a,b=c", "SCRAM-SHA-256")),
        "path": (both, f"mongodb://scaler:of-the-shop@{both.address}/shop", ("shop.scaler", "SCRAM-SHA-256")),
    }
    bad = {
        "wrong": (f"mongodb://scaler:of-nobody@{both.address}", "logging in (SCRAM-SHA-256): Authentication failed. (AuthenticationFailed, 18)"),
        "stranger": (f"mongodb://nobody:of-nobody@{both.address}", "logging in (SCRAM-SHA-1): Authentication failed."),
        "elsewhere": (f"mongodb://{bare}@{both.address}/shop", "Authentication failed."),
        "without": (f"mongodb://{both.address}", "counting: command aggregate requires authentication (Unauthorized, 13)"),
    }
    stage.deployment(env={"PASSWORD": "of-the-shop", "URI": f"mongodb://{bare}@{both.address}"})
    for name, uri in {**{name: uri for name, (_, uri, _) in good.items()}, **{name: uri for name, (uri, _) in bad.items()}}.items():
        put(stage, name, trigger(auth=authentication(credentials, name, connectionString=uri)))
    stage.scaledobject("worker", triggers=[trigger(connectionStringFromEnv="URI"), trigger(host="127.0.0.1", port=both.port, username="scaler", passwordFromEnv="PASSWORD")])
    for name, (fake, _, login) in good.items():
        wait_value(stage, 7, name=name)
        assert login in fake.logins
    for index in range(2):  # the second: KEDA looks for the user in the database that is counted in
        wait_value(stage, 7, f"s{index}-mongodb-jobs")
    for name, (_, words) in bad.items():
        stage.wait_failing(name)
        assert "of-nobody" not in wait_message(stage, words, name=name)
        assert stage.replicas(name) == 0
    assert not any(word in kscaled.log() for word in (PASSWORD, QUOTED, "of-nobody", "of-the-shop"))


def test_password_rotated(kscaled, stage, fakes, credentials):
    fake = fakes(MongoFake({"admin.turning": "first-one"}))
    uri = f"mongodb://turning:{{}}@{fake.address}"
    auth = authentication(credentials, "db", connectionString=uri.format("not-this-one"))
    start(stage, trigger(auth=auth), replicas=2)
    stage.wait_failing()
    wait_message(stage, "Authentication failed.")
    assert stage.replicas() == 2
    credentials.change_secret("db", connectionString=uri.format("first-one"))
    stage.wait_ready()
    wait_value(stage, 7)
    fake.users["admin.turning"] = "second-one"
    credentials.change_secret("db", connectionString=uri.format("second-one"))
    throughout(lambda: stage.says("Ready", "True"), until=after(2))
    eventually(lambda: len(fake.logins) >= 3)
    assert not any(word in kscaled.log() for word in ("not-this-one", "first-one", "second-one"))


# --- TLS ---

def test_tls(kscaled, stage, session_dir, authority, mongo, fakes, credentials):
    """mongo-java-server with TLS: who is verified how, and the wrong ones of each."""
    secure = fakes(MongoServer(session_dir, f"mongo-tls-{time.time_ns()}", pki.certificate(session_dir, f"mongo-{time.time_ns()}", authority, "localhost")))
    secure.fill(3)
    ca, stranger = text_of(authority.cert), text_of(pki.authority(session_dir, f"stranger-{time.time_ns()}").cert)
    at, by_number = f"mongodb://localhost:{secure.port}", f"mongodb://127.0.0.1:{secure.port}"
    good = {
        "parameter": {"connectionString": at, "tls": "enable", "ca": ca},
        "option": {"connectionString": f"{at}/?tls=true", "ca": ca},
        "insecure": {"connectionString": f"{by_number}/?ssl=true&tlsInsecure=true"},
    }
    bad = {
        "stranger": ({"connectionString": at, "tls": "enable", "ca": stranger}, "TLS handshake: "),
        "system": ({"connectionString": f"{at}/?tls=true"}, "certificate"),
        "misnamed": ({"connectionString": by_number, "tls": "enable", "ca": ca}, "IP address mismatch"),
        "overruled": ({"connectionString": f"{by_number}/?tls=true&tlsInsecure=true", "tls": "enable", "ca": ca}, "IP address mismatch"),
        "clear": ({"connectionString": by_number, "ca": ca}, "is TLS needed here?"),
        "no-tls": ({"connectionString": f"mongodb://127.0.0.1:{mongo.port}", "tls": "enable", "ca": ca}, "TLS handshake: "),
    }
    stage.deployment()
    for name, values in {**good, **{name: values for name, (values, _) in bad.items()}}.items():
        put(stage, name, trigger(auth=authentication(credentials, name, **values)))
    for name in good:
        wait_value(stage, 3, name=name)
    for name, (_, words) in bad.items():
        stage.wait_failing(name)
        wait_message(stage, words, name=name)
        assert stage.replicas(name) == 0


def context(authority, pair, ask=False):
    """Of a server; ask: for a client certificate."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pair.cert, pair.key)
    if ask:
        made.load_verify_locations(authority.cert)
        made.verify_mode = ssl.CERT_REQUIRED
    return made


def test_client_certificate(kscaled, stage, session_dir, authority, fakes, credentials):
    """X.509: the certificate of the connection is the login. Without one the connection ends."""
    serving = pki.certificate(session_dir, f"mongo-{time.time_ns()}", authority, "localhost")
    client = pki.certificate(session_dir, f"client-{time.time_ns()}", authority, "scaler", usage="clientAuth")
    fake = fakes(MongoFake({"$external.CN=scaler": None}, tls=context(authority, serving, ask=True)))
    at = f"mongodb://localhost:{fake.port}/?authMechanism=MONGODB-X509"
    pair = {"tls": "enable", "ca": text_of(authority.cert), "cert": text_of(client.cert), "key": text_of(client.key)}
    stage.deployment()
    rows = {"good": {"connectionString": at, **pair}, "other": {"connectionString": at.replace("://", "://CN=other@"), **pair}, "none": {"connectionString": f"mongodb://localhost:{fake.port}", "tls": "enable", "ca": pair["ca"]}}
    for name, values in rows.items():
        put(stage, name, trigger(auth=authentication(credentials, name, **values)))
    wait_value(stage, 7, name="good")
    stage.wait_failing("other")
    wait_message(stage, "logging in (MONGODB-X509): Authentication failed.", name="other")
    stage.wait_failing("none")
    wait_message(stage, "certificate", name="none")


def test_certificate_expired(kscaled, stage, session_dir, authority, fakes, credentials):
    now = datetime.datetime.now(datetime.timezone.utc)
    good = pki.certificate(session_dir, f"mongo-{time.time_ns()}", authority, "localhost")
    expired = pki.certificate(session_dir, f"expired-{time.time_ns()}", authority, "localhost", begin=now - datetime.timedelta(days=9), end=now - datetime.timedelta(days=1))
    server = fakes(MongoFake(counts=3, tls=context(authority, good)))
    auth = authentication(credentials, "db", connectionString=f"mongodb://localhost:{server.port}", tls="enable", ca=text_of(authority.cert))
    start(stage, trigger(auth=auth))
    wait_value(stage, 3)
    eventually(lambda: stage.replicas() == 1)
    for pair, words in ((expired, "certificate has expired"), (good, None)):
        server.tls = context(authority, pair)
        server.drop()
        if words:
            wait_message(stage, words, f"localhost:{server.port}")
            assert stage.replicas() == 1
    stage.wait_ready()


# --- replica sets ---

def test_finds_the_primary(kscaled, stage, fakes):
    """From any member, whatever else is in the list; and another one where the connection string says so."""
    first, second, third = fakes(*replica_set())
    second.counts = third.counts = 1
    stranger = fakes(MongoFake(set_name="rs1"))
    dead = "127.0.0.1:1"
    rows = {
        "primary": (first.address, "7"), "secondary": (second.address, "7"), "list": (f"{dead},{third.address}/?replicaSet=rs0", "7"), "strange": (f"{stranger.address},{second.address}/?replicaSet=rs0", "7"),
        "direct": (f"{second.address}/?directConnection=true", "1"), "reads": (f"{first.address}/?readPreference=secondary", "1"), "prefers": (f"{first.address}/?readPreference=secondaryPreferred&readConcernLevel=local", "1"),
    }
    stage.deployment()
    for name, (address, _) in rows.items():
        put(stage, name, trigger(address))
    for name, (_, value) in rows.items():
        wait_value(stage, value, name=name)
    modes = {one.get("$readPreference", {}).get("mode") for one in second.commands("aggregate") + third.commands("aggregate")}
    assert modes == {"primaryPreferred", "secondary", "secondaryPreferred"}
    assert all("$readPreference" not in one for one in first.commands("aggregate"))
    put(stage, "wrong", trigger(f"{first.address}/?replicaSet=rs1"), replicas=2)
    stage.wait_failing("wrong")
    wait_message(stage, "it is in another replica set than replicaSet says", name="wrong")
    assert stage.replicas("wrong") == 2


def test_fail_over(kscaled, stage, fakes):
    """The primary steps down, dies, and there is none for a while: nothing is scaled in, and the new one is asked."""
    members = fakes(*replica_set())
    first, second, third = members
    for one in members:
        one.counts = 12
    start(stage, trigger(f"{first.address},{second.address},{third.address}/?replicaSet=rs0"))
    wait_value(stage, 12)
    eventually(lambda: stage.replicas() == 3)

    failed = kscaled.log().count("no primary")
    elect(members, second)
    eventually(lambda: second.commands("aggregate"))
    throughout(lambda: stage.says("Ready", "True"), until=after(2))
    assert kscaled.log().count("no primary") == failed  # nobody noticed

    second.end()
    elect(members, None)
    stage.wait_failing()
    wait_message(stage, "no primary found: ", f"{first.address}: it is a secondary")
    throughout(lambda: stage.replicas() == 3, until=after(2))
    elect(members, third)
    stage.wait_ready()
    eventually(lambda: third.commands("aggregate"))
    assert stage.replicas() == 3


def test_members_that_are_named(kscaled, stage, fakes, credentials):
    """A server may name anybody: a thousand, none of them an address, and the password."""
    fake = fakes(MongoFake({"admin.scaler": "s3cret-word"}, set_name="rs0"))
    fake.role = "secondary"
    fake.members = ["s3cret-word.names.invalid:1", "no address", "[", ":1", "127.0.0.1:1", *[f"127.0.0.1:{2 + n}" for n in range(1000)]]
    fake.primary = "s3cret-word:27017"
    auth = authentication(credentials, "db", connectionString=f"mongodb://scaler:s3cret-word@{fake.address}")
    start(stage, trigger(auth=auth), replicas=2)
    stage.wait_failing()
    wait_message(stage, f"no primary found: {fake.address}: it is a secondary; 127.0.0.1:1: connecting: Connection refused; ")
    assert stage.replicas() == 2
    assert "s3cret-word" not in kscaled.log()


# --- outages ---

@pytest.fixture
def outage(kscaled, stage, mongo):
    mongo.fill(12)
    start(stage, trigger(mongo))
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 3)
    return mongo


def check_outage(stage, server, *words):
    stage.wait_failing()
    wait_message(stage, f"mongodb at 127.0.0.1:{server.port}", *words)
    throughout(lambda: stage.replicas() == 3, until=after(2))


def test_killed_and_back(stage, outage):
    outage.kill()
    check_outage(stage, outage, "Connection refused")
    outage.start()
    outage.fill(30)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 6)


def test_frozen_and_back(stage, outage):
    outage.freeze()
    try:
        check_outage(stage, outage)
    finally:
        outage.thaw()
    stage.wait_ready()
    assert stage.replicas() == 3


def test_down_from_the_beginning(kscaled, stage, mongo):
    mongo.kill()
    start(stage, trigger(mongo), replicas=2)
    stage.wait_failing()
    assert stage.hpa().spec.max_replicas == 10
    throughout(lambda: stage.replicas() == 2, until=after(2))
    mongo.start()
    mongo.fill(0)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_connection_ended_is_no_outage(kscaled, stage, fakes):
    """What a server ends while nobody asks is made again, without a word; and so is a question whose connection ends."""
    fake = fakes(MongoFake(counts=12))
    start(stage, trigger(fake))
    eventually(lambda: stage.replicas() == 3)
    for _ in range(3):
        before = fake.accepted
        fake.drop()
        eventually(lambda b=before: fake.accepted > b)
    stage.wait_ready()
    assert stage.replicas() == 3


def test_slow_count(kscaled, stage, fakes):
    """Others on the same server do not wait for it."""
    def counts(command, connection):
        if "slow" in command["pipeline"][0]["$match"]:
            connection.recv(1)  # until it is ended
            return None
        return batch(12)

    fake = fakes(MongoFake(counts=counts))
    start(stage, trigger(fake, query='{"slow": true}'), name="slow", replicas=2)
    start(stage, trigger(fake))
    eventually(lambda: stage.replicas() == 3)
    stage.wait_failing("slow")
    wait_message(stage, f"mongodb at {fake.address}: no answer in time", name="slow")
    assert stage.replicas("slow") == 2
    stage.says("Ready", "True")


# --- servers that no real one could be ---

def sends(data):
    """After a good greeting."""
    def counts(_, connection):
        connection.sendall(data)
        connection.recv(1)
    return counts


ANSWER = mongo_wire.message(batch(0), 1, 2)
FAKES = {
    "half": sends(ANSWER[:-9]),
    "drip": slowly(batch(0), 0.5),
    "giant": sends(struct.pack("<iiii", 1 << 30, 1, 2, 2013) + b"x" * (4 << 20)),
    "twice": sends(ANSWER * 2),
    "other": sends(mongo_wire.message(batch(0), 1, 77)),
    "more-to-come": sends(mongo_wire.message(batch(0), 1, 2, flags=2)),
    "broken": sends(ANSWER[:30] + b"\xff\xff\xff\x7f" + ANSWER[34:]),
    "wrong-type": lambda *_: {"cursor": {"firstBatch": [{"n": "many"}], "id": 0}, "ok": 1.0},
    "negative": lambda *_: batch(-1),
    "infinite": lambda *_: batch(float("inf")),
    "no-cursor": lambda *_: {"ok": 1.0},
    "not-ok": lambda *_: {"fine": True},
}
OTHERS = {
    "no-mongo": scripted.answers(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "silent": scripted.silent,
    "closes": scripted.closes,
    "resets": scripted.resets,
    "flood": scripted.floods(b"", b"\0" * 65536, seconds=5),
}


def test_nonsense(kscaled, stage, fakes):
    """All at once: told, nothing scaled in, and the process is as small as before."""
    stage.deployment()
    before = kscaled.rss_mib()
    servers = {**{name: MongoFake(counts=counts) for name, counts in FAKES.items()}, **{name: Scripted(behave) for name, behave in OTHERS.items()}}
    fakes(*servers.values())
    for name, server in servers.items():
        put(stage, name, trigger(server.address), replicas=2)
    for name, server in servers.items():
        stage.wait_failing(name)
        wait_message(stage, f"mongodb at {server.address}: ", name=name)
        assert stage.replicas(name) == 2
    throughout(lambda: all(stage.replicas(name) == 2 for name in servers), until=after(2))
    assert kscaled.sanitized() or kscaled.rss_mib() < before + 12


def test_password_is_given_to_nobody(kscaled, stage, fakes, credentials):
    """A server that asks for too little, or proves nothing, learns nothing and is not believed."""
    heard = []

    def serves(first, final=b""):
        def behave(connection):
            while True:
                number, command = mongo_wire.receive(connection)
                heard.append(command)
                if "hello" in command:
                    answer = {"isWritablePrimary": True, "maxWireVersion": 21, "ok": 1.0}
                else:
                    payload = first(command["payload"].decode().rpartition("r=")[2]) if "saslStart" in command else final
                    answer = {"conversationId": 1, "done": False, "payload": payload, "ok": 1.0}
                connection.sendall(mongo_wire.message(answer, 1, number))
        return behave

    rows = {
        "one-round": (serves(lambda nonce: f"r={nonce}x,s=c2FsdA==,i=1".encode()), "too few to protect a password"),
        "many-rounds": (serves(lambda nonce: f"r={nonce}x,s=c2FsdA==,i=99999999".encode()), "more than 100000"),
        "no-proof": (serves(lambda nonce: f"r={nonce}x,s=c2FsdA==,i=4096".encode(), b"v=AAAA"), "does not prove that it knows the password"),
    }
    stage.deployment()
    for name, (behave, _) in rows.items():
        server = fakes(Scripted(behave))
        put(stage, name, trigger(auth=authentication(credentials, name, connectionString=f"mongodb://scaler:{QUOTED}@{server.address}")), replicas=1)
    for name, (_, words) in rows.items():
        stage.wait_failing(name)
        wait_message(stage, words, name=name)
    assert not any("aggregate" in command for command in heard)
    assert PASSWORD not in str(heard) and PASSWORD not in kscaled.log()


# --- before anything runs ---

MANIFEST = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: shop}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: mongodb
    metadata:
      host: db.shop.svc
      port: "27017"
      username: scaler
      passwordFromEnv: PASSWORD
      dbName: shop
      collection: jobs
      query: '{"done": false}'
      queryValue: "5"
"""


@pytest.mark.parametrize("old, new, said", [
    ("dbName", "dbName", None),
    ('queryValue: "5"', 'queryValue: "0"', 'parameter "queryValue" value "0" must be greater than 0'),
    ('port: "27017"', 'port: "mongo"', 'parameters "host" and "port" must be'),
    ("      collection: jobs\n", "", 'missing required parameter "collection"'),
    ("""query: '{"done": false}'""", "query: '{done: false}'", 'parameter "query": failed to parse query: '),
    ("host: db.shop.svc", "hosts: db.shop.svc", "no host given"),
    ("dbName: shop", "dbName: shop\n      scheme: mongodb+srv", None),
    ("host: db.shop.svc", "scheme: mongodb+srv\n      host: db.shop.svc:27017", 'parameter "host": URI with srv must not include a port number'),
])
def test_check(tmp_path, old, new, said):
    path = tmp_path / "f.yaml"
    path.write_text(MANIFEST.replace(old, new))
    done = run("check", str(path))
    assert done.returncode == (1 if said else 0), done
    assert not said or said in done.stdout, done
