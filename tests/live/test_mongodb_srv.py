# SPDX-License-Identifier: Apache-2.0
"""
The mongodb trigger with mongodb+srv, as MongoDB Atlas hands it out: a name whose SRV and TXT records, from a name server of the test's own, say the members and their options. The members are rig/mongo_fake.py with
TLS, as nothing else here has replica sets and logins.
"""
import ssl

import pytest

from rig import pki
from rig.credentials import ref
from rig.mongo_fake import MongoFake, elect
from rig.nameserver import NameServer, under
from rig.waiting import after, eventually, throughout

PASSWORD = "open-sesame/+:@"
QUOTED = "open-sesame%2F+%3A%40"
METRIC = "s0-mongodb-jobs"
HOSTS = ("a.db.test", "b.db.test")
USERS = {"people.scaler": PASSWORD}


@pytest.fixture(scope="module")
def authority(session_dir):
    return pki.authority(session_dir, "mongo-srv-ca")


@pytest.fixture
def members(tmp_path, authority):
    """A replica set with TLS, whose members have the names that the records have; the second is the primary."""
    pair = pki.certificate(tmp_path, "members", authority, "db.test", names=HOSTS)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.cert, pair.key)
    fakes = [MongoFake(USERS, tls=tls, set_name="rs0", counts=12) for _ in HOSTS]
    elect(fakes, fakes[1])
    for fake in fakes:
        fake.members, fake.primary = [f"{host}:{one.port}" for host, one in zip(HOSTS, fakes)], f"{HOSTS[1]}:{fakes[1].port}"
    yield fakes
    for fake in fakes:
        fake.end()


@pytest.fixture
def names(members):
    both = [(host, fake.port) for host, fake in zip(HOSTS, members)]
    server = NameServer(
        {**{host: ["127.0.0.1"] for host in HOSTS}, "plain.db.test": ["127.0.0.1"], "evil.other.test": ["127.0.0.1"]},
        {"_mongodb._tcp.c.db.test": both, "_other._tcp.c.db.test": both[1:], "_mongodb._tcp.strict.db.test": both, "_mongodb._tcp.outside.db.test": [*both, ("evil.other.test", members[1].port)]},
        {"c.db.test": ["authSource=people&replicaSet=rs0"], "strict.db.test": ["ssl=false"], "outside.db.test": ["authSource=people"]})
    yield server
    server.end()


@pytest.fixture
def daemon(launch, names, tmp_path):
    return launch(under=under(names.resolv_conf(tmp_path))).wait_serving()


def put(stage, credentials, name, replicas=0, metadata=None, **secrets):
    """One object of that name, whose parameters but for what is counted are in a Secret."""
    stage.deployment(name, replicas=replicas)
    credentials.secret(name, **secrets)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in secrets])
    stage.scaledobject(name, target={"name": name}, maxReplicaCount=3, triggers=[
        {"type": "mongodb", "metadata": {"dbName": "shop", "collection": "jobs", "query": '{"done": false}', "queryValue": "5", **(metadata or {})}, "authenticationRef": ref(name)}])


def wait_value(stage, name, value):
    def is_there():
        assert stage.metric(METRIC, name).value() == str(value)
        return True
    eventually(is_there)


def wait_message(stage, name, words):
    def is_told():
        message = stage.metric(METRIC, name).failure(503, "ServiceUnavailable")
        assert words in message and "open-sesame" not in message, message
        return True
    eventually(is_told)


def test_records_lead_to_the_primary(daemon, stage, names, members, authority, credentials):
    """TLS by itself, the user's database and the set by the TXT record, the primary among the hosts; and what is refused, which scales nothing in."""
    plain = MongoFake({"admin.scaler": PASSWORD}, counts=7)
    names.services["_mongodb._tcp.plain.db.test"] = [("plain.db.test", plain.port)]
    ca = open(authority.cert, encoding="utf-8").read()
    login = f"mongodb+srv://scaler:{QUOTED}@"
    good = {
        "string": (12, None, {"connectionString": f"{login}c.db.test", "ca": ca}),
        "enabled": (12, None, {"connectionString": f"{login}c.db.test/?retryWrites=true&w=majority", "ca": ca, "tls": "enable"}),
        "parts": (12, {"scheme": "mongodb+srv", "host": "c.db.test", "username": "scaler"}, {"password": PASSWORD, "ca": ca}),
        "service": (12, None, {"connectionString": f"{login}c.db.test/?srvServiceName=other", "ca": ca}),
        "clear": (7, None, {"connectionString": f"{login}plain.db.test/?tls=false"}),
    }
    bad = {
        "overruled": ({"connectionString": f"{login}c.db.test/?authSource=admin", "ca": ca}, "Authentication failed."),
        "stranger": ({"connectionString": f"{login}c.db.test"}, "certificate"),
        "none": ({"connectionString": f"{login}none.db.test", "ca": ca}, "looking up the SRV record of _mongodb._tcp.none.db.test: Domain name not found"),
        "outside": ({"connectionString": f"{login}outside.db.test", "ca": ca}, "the SRV record of _mongodb._tcp.outside.db.test names the host evil.other.test, which is not below db.test"),
        "option": ({"connectionString": f"{login}strict.db.test", "ca": ca}, 'the TXT record of strict.db.test has an option "ssl"'),
        "silent": ({"connectionString": f"{login}c.silent", "ca": ca}, "looking up the S"),
        "limited": ({"connectionString": f"{login}c.db.test/?srvMaxHosts=1", "ca": ca}, "srvMaxHosts cannot be a positive value if a replica set name is specified"),
    }
    try:
        for name, (_, metadata, secrets) in good.items():
            put(stage, credentials, name, metadata=metadata, **secrets)
        for name, (secrets, _) in bad.items():
            put(stage, credentials, name, replicas=2, **secrets)
        for name, (value, _, _) in good.items():
            wait_value(stage, name, value)
        for name, (_, words) in bad.items():
            stage.wait_failing(name)
            wait_message(stage, name, words)
            assert stage.replicas(name) == 2
        assert not members[0].commands("aggregate") and members[0].logins == []
        assert names.asked["_mongodb._tcp.c.db.test"] >= 1 and names.asked["c.db.test"] >= 1
        assert "evil.other.test" not in names.asked
        assert not any(word in daemon.log() for word in (PASSWORD, QUOTED))
    finally:
        plain.end()


def test_members_move(daemon, stage, names, members, authority, credentials):
    """The old ones end, the records name others: nothing is scaled in, and the count comes from there."""
    ca = open(authority.cert, encoding="utf-8").read()
    names.services["_mongodb._tcp.c.db.test"] = [(HOSTS[1], members[1].port)]
    put(stage, credentials, "worker", connectionString=f"mongodb+srv://scaler:{QUOTED}@c.db.test", ca=ca)
    eventually(lambda: stage.replicas("worker") == 3)
    members[1].end()
    stage.wait_failing("worker")
    wait_message(stage, "worker", f"no primary found: {HOSTS[1]}:{members[1].port}: connecting: Connection refused")
    throughout(lambda: stage.replicas("worker") == 3, until=after(1))
    members[0].counts = 30
    elect(members, members[0])
    names.services["_mongodb._tcp.c.db.test"] = [(HOSTS[0], members[0].port)]
    stage.wait_ready("worker")
    eventually(lambda: members[0].commands("aggregate"))
