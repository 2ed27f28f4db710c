# SPDX-License-Identifier: Apache-2.0
"""The etcd trigger: values, users, TLS, several members and push against real etcd; what none of them says by a server in grpcio."""
import datetime
import json
import pathlib
import time

import grpc
import pytest

from rig import pki, scripted
from rig.credentials import ref
from rig.daemon import run
from rig.etcd_server import EtcdCluster, EtcdFake, Member, field, found
from rig.process import free_port
from rig.waiting import after, eventually, throughout, timed

FAR = 30  # the poll: what happens before was not its doing
SOON = 6


@pytest.fixture(scope="module")
def etcd(tmp_path_factory):
    member = Member(tmp_path_factory.mktemp("etcd"), "alone")
    yield member
    member.end()


@pytest.fixture
def fake():
    server = EtcdFake()
    yield server
    server.end()


def trigger(server, key="jobs", **metadata):
    """_name and so on are fields beside metadata."""
    fields = {name[1:]: metadata.pop(name) for name in list(metadata) if name.startswith("_")}
    values = {"endpoints": getattr(server, "address", server), "watchKey": key, "value": "5", **metadata}
    return {"type": "etcd", "metadata": {name: str(value) for name, value in values.items()}, **fields}


def value(stage, key="jobs", index=0, name="worker"):
    return stage.metric(f"s{index}-etcd-{key}", name).value()


def says(stage, words, key="jobs", index=0, name="worker"):
    """Sooner or later: the poll before may have met something else."""
    def told():
        message = stage.metric(f"s{index}-etcd-{key}", name).failure(503, "ServiceUnavailable")
        assert words in message, message
        return message
    return eventually(told)


def push_of(daemon, stage, name="worker"):
    done = daemon.tell("explain", f"{stage.namespace}/{name}", "-o", "json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)["triggers"][0]["push"]


def wait_push(daemon, stage, state, words="", name="worker", **more):
    def is_so():
        push = push_of(daemon, stage, name)
        assert push["state"] == state and words in (push.get("why") or ""), push
        return push
    return eventually(is_so, **more)


def login(credentials, name="etcd", **parameters):
    credentials.secret(name, **parameters)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in parameters])
    return ref(name)


def text(path):
    return pathlib.Path(path).read_text()


# --- values ---

def test_zero_to_many_and_back(kscaled, stage, etcd):
    etcd.put("jobs", 3)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(f"http://{etcd.address}/", activationValue="3")])
    eventually(lambda: value(stage) == "3")
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    etcd.put("jobs", 22.5)
    eventually(lambda: value(stage) == "22500m")
    eventually(lambda: stage.replicas() == 5)
    etcd.put("jobs", "0")
    eventually(lambda: stage.replicas() == 0)


def test_values(kscaled, stage, etcd):
    good = {"1e1": "10", "0.5": "500m", "+7": "7", ".25": "250m"}
    bad = {"many": "must be a number", "12 ": "must be a number", "": "must be a number", "NaN": "must be a number", "0x10": "must be a number", "500m": "must be a number", "9" * 200: "must be a number"}
    stage.deployment(replicas=0)
    stage.deployment("failing", replicas=2)
    for index, text_ in enumerate([*good, *bad]):
        etcd.put(f"v{index}", text_)
    stage.ready_scaledobject(triggers=[trigger(etcd, f"v{index}") for index in range(len(good))])
    for index, expected in enumerate(good.values()):
        eventually(lambda index=index, expected=expected: value(stage, f"v{index}", index) == expected)
    first = len(good)
    stage.scaledobject("failing", triggers=[*(trigger(etcd, f"v{first + n}") for n in range(len(bad))), trigger(etcd, "none")])
    stage.wait_failing("failing")
    for n, words in enumerate(bad.values()):
        assert "many" not in says(stage, words, f"v{first + n}", n, "failing")
    says(stage, "watchKey none doesn't exist", "none", len(bad), "failing")
    throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))


# --- ways in ---

def test_users(kscaled, stage, credentials, tmp_path):
    """A login for all questions; what it may not read; a token that was dropped, a password that was changed, both found by the poll."""
    member = Member(tmp_path, "locked", extra=["--auth-token-ttl=300"])
    try:
        member.put("shop/jobs", 7)
        member.put("other", 7)
        member.lock()
        stage.deployment(replicas=0)
        stage.deployment("failing", replicas=2)
        by = {"_authenticationRef": login(credentials, username="reader", password="right-password")}
        wrong = {"_authenticationRef": login(credentials, "wrong", username="reader", password="wr0ng-secret")}
        stage.ready_scaledobject(triggers=[trigger(member, "shop/jobs", **by), *(trigger(member, "shop/jobs", watchProgressNotifyInterval=str(n), **by) for n in (601, 602, 603))])
        assert value(stage, "shop-jobs") == "7"
        wait_push(kscaled, stage, "on")
        stage.scaledobject("failing", triggers=[trigger(member, "other", **by), trigger(member, "shop/jobs"), trigger(member, "shop/jobs", **wrong)])
        stage.wait_failing("failing")
        says(stage, "PERMISSION_DENIED: etcdserver: permission denied", "other", 0, "failing")
        says(stage, "user name is empty", "shop-jobs", 1, "failing")
        assert "wr0ng" not in says(stage, "Authenticate: INVALID_ARGUMENT: etcdserver: authentication failed, invalid user ID or password", "shop-jobs", 2, "failing")
        wait_push(kscaled, stage, "failing", "permission denied", "failing")
        # Who restarts it takes all tokens away.
        member.kill()
        stage.wait_failing()
        member.start()
        eventually(lambda: value(stage, "shop-jobs") == "7")
        wait_push(kscaled, stage, "on")
        member.log_in()
        member.password("reader", "rotated")
        assert "rotated" not in says(stage, "invalid user ID or password", "shop-jobs")
        credentials.change_secret("etcd", password="rotated")
        eventually(lambda: value(stage, "shop-jobs") == "7")
        throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))
    finally:
        member.end()


def test_a_user_where_there_are_none(kscaled, stage, credentials, etcd):
    """Who logs in at an etcd without users is let in, as by etcd's own client."""
    etcd.put("shop/open", 7)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(etcd, "shop/open", _authenticationRef=login(credentials, username="reader", password="right-password"))])
    assert value(stage, "shop-open") == "7"
    wait_push(kscaled, stage, "on")


def test_tls(kscaled, stage, credentials, tmp_path):
    """With an authority, a client certificate whose key is encrypted; without them."""
    authority, other = pki.authority(tmp_path, "etcd-ca"), pki.authority(tmp_path, "other-ca")
    # etcd asks itself, too, with the same certificate.
    pair, client = pki.certificate(tmp_path, "etcd", authority, "localhost", usage="serverAuth,clientAuth"), pki.certificate(tmp_path, "client", authority, "reader", usage="clientAuth")
    locked = pki.openssl("pkey", "-in", client.key, "-aes256", "-passout", "pass:of-the-key").decode()
    now = datetime.datetime.now(datetime.timezone.utc)
    expired = EtcdFake(tls=pki.certificate(tmp_path, "expired", authority, "localhost", begin=now - datetime.timedelta(days=9), end=now - datetime.timedelta(days=1)))
    member = Member(tmp_path, "secure", tls=pair, client_ca=authority.cert)
    try:
        member.put("jobs", 7)
        stage.deployment(replicas=0)
        stage.deployment("failing", replicas=2)
        whole = {"tls": "enable", "ca": text(authority.cert), "cert": text(client.cert), "key": locked, "keyPassword": "of-the-key"}
        good = {"_authenticationRef": login(credentials, **whole)}
        stage.ready_scaledobject(triggers=[trigger(member, **good), trigger(f"https://{member.address}", watchProgressNotifyInterval="60", **good)])
        assert value(stage) == value(stage, index=1) == "7"
        wait_push(kscaled, stage, "on")
        stranger = {"_authenticationRef": login(credentials, "stranger", **{**whole, "ca": text(other.cert)})}
        nobody = {"_authenticationRef": login(credentials, "nobody", tls="enable", ca=text(authority.cert))}
        stage.scaledobject("failing", triggers=[trigger(member, **stranger), trigger(member, **nobody), trigger(member), trigger(f"localhost:{expired.port}", **nobody)])
        stage.wait_failing("failing")
        says(stage, "certificate", index=0, name="failing")
        says(stage, f"etcd {member.address}", index=1, name="failing")
        says(stage, f"etcd {member.address}", index=2, name="failing")
        says(stage, "certificate has expired", index=3, name="failing")
        throughout(lambda: stage.replicas("failing") == 2, until=after(1.5))
    finally:
        member.end()
        expired.end()


# --- push ---

def test_push(kscaled, stage, etcd):
    """A put wakes, and so does a delete, which is an error then; polls are half a minute away."""
    etcd.put("pushed", 0)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=FAR, cooldownPeriod=1, maxReplicaCount=1, triggers=[trigger(etcd, "pushed")])
    wait_push(kscaled, stage, "on")
    etcd.put("pushed", 7)
    took = timed(lambda: stage.replicas() == 1)
    assert took < SOON, f"{took} s"
    etcd.delete("pushed")
    assert timed(lambda: stage.event("KEDAScalerFailed")) < SOON
    assert stage.replicas() == 1


def test_push_after_an_outage(kscaled, stage, tmp_path):
    """What was written while nobody was listening is found when the watch begins anew."""
    member = Member(tmp_path, "victim")
    try:
        member.put("jobs", 0)
        stage.deployment(replicas=0)
        stage.ready_scaledobject(pollingInterval=300, maxReplicaCount=1, triggers=[trigger(member)])
        wait_push(kscaled, stage, "on")
        member.kill()
        wait_push(kscaled, stage, "failing")
        member.start()
        member.put("jobs", 7)
        assert timed(lambda: stage.replicas() == 1) < 30
        wait_push(kscaled, stage, "on")
    finally:
        member.end()


def test_watches_that_end(kscaled, stage):
    """Ended, canceled, compacted, silent, flooding: told, and begun anew; the value is polled all the while."""
    created, begun = b"\x18\x01", set()

    def silent(messages, context):
        yield created
        while context.is_active():
            time.sleep(0.1)

    def flood(messages, context):
        yield created
        while context.is_active():
            yield field(11, b"")

    def noted(name):
        return lambda messages, context: begun.add(name) or silent(messages, context)

    ends = {
        "the watch was canceled: etcdserver: no leader": [created + b"\x20\x01" + field(6, b"etcdserver: no leader")], "its revision has been compacted": [b"\x20\x01\x28\x09"], "not a valid WatchResponse": [b"\xff\xff"],
        "as by etcd's gRPC proxy": [created], "more than 1000 messages in a second": flood, "no watch progress notification in twice watchProgressNotifyInterval (1 s)": silent,
    }
    servers = {f"w{number}": EtcdFake(watch=watch) for number, watch in enumerate(ends.values())}
    try:
        stage.deployment(replicas=0)
        for name, server in servers.items():
            stage.scaledobject(name, target=stage.another(name), triggers=[trigger(server, watchProgressNotifyInterval="1")])
        for (name, server), words in zip(servers.items(), ends):
            wait_push(kscaled, stage, "failing", words, name)
            server.watch = noted(name)
        for name in servers:
            stage.wait_ready(name)
            assert value(stage, name=name) == "7"
        eventually(lambda: begun == set(servers))
    finally:
        for server in servers.values():
            server.end()


# --- members ---

def test_members(kscaled, stage, tmp_path):
    """One of three is killed, another freezes, whoever it was that is asked: nobody is scaled in, and push is found elsewhere."""
    cluster = EtcdCluster(tmp_path)
    try:
        cluster.members[0].put("jobs", 12)
        stage.deployment(replicas=0)
        stage.ready_scaledobject(triggers=[trigger(f"127.0.0.1:{free_port()},{cluster.addresses}")])
        eventually(lambda: stage.replicas() == 3)
        wait_push(kscaled, stage, "on")
        for member, fault, undo in ((cluster.members[0], "kill", "start"), (cluster.members[1], "freeze", "thaw"), (cluster.members[2], "kill", "start")):
            getattr(member, fault)()
            other = next(one for one in cluster.members if one is not member)
            eventually(lambda other=other: other.put("jobs", 11))   # once they have a leader again
            eventually(lambda: value(stage) == "11")
            assert stage.replicas() == 3
            getattr(member, undo)()
            member.wait_ready()
            other.put("jobs", 12)
            eventually(lambda: value(stage) == "12")
        eventually(lambda: stage.says("Ready", "True"))
        wait_push(kscaled, stage, "on", timeout=60)
    finally:
        cluster.end()


# --- faults ---

def test_killed_frozen_and_back(kscaled, stage, fake, tmp_path):
    victim = Member(tmp_path, "victim")
    try:
        victim.put("jobs", 12)
        stage.deployment(replicas=0)
        stage.deployment("neighbour", replicas=1)
        stage.ready_scaledobject(triggers=[trigger(victim)])
        stage.ready_scaledobject("neighbour", triggers=[trigger(fake)])
        eventually(lambda: stage.replicas() == 3)
        for fault, undo, words in (("freeze", "thaw", "Range:"), ("kill", "start", "Connection refused")):
            getattr(victim, fault)()
            stage.wait_failing()
            assert f"etcd {victim.address}: " in says(stage, words)
            throughout(lambda: stage.replicas() == 3, until=after(1.5))
            assert value(stage, name="neighbour") == "7"
            getattr(victim, undo)()
            stage.wait_ready()
        assert stage.replicas() == 3
    finally:
        victim.end()


def test_down_at_start(kscaled, stage):
    port = free_port()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[trigger(f"127.0.0.1:{port}")])
    stage.wait_failing()
    assert stage.replicas() == 2 and stage.hpa()
    late = EtcdFake(port=port)
    stage.wait_ready()
    late.end()


def test_nonsense(kscaled, stage, credentials):
    """Each says so, and none is 0; no word that repeats a password or a token is shown."""
    def fails(code, words):
        return lambda message, context: context.abort(code, words)

    def slow(message, context):
        time.sleep(8)
        return found(b"7")

    by = {"_authenticationRef": login(credentials, username="reader", password="p4ssword-of-reader")}
    answers = {
        "watchKey jobs doesn't exist": b"", "is not a valid RangeResponse": b"\xff\xff\xff", "keys instead of one": found(b"7") * 2, "must be a number": found(b"\xff\x00"), "UNAVAILABLE: etcdserver: no leader": fails(grpc.StatusCode.UNAVAILABLE, "etcdserver: no leader"),
        "RESOURCE_EXHAUSTED": fails(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many"), "Range: ": slow, "message of 5": found(b"7" * (5 << 20)), "as it contains the password": fails(grpc.StatusCode.INTERNAL, "p4ssword-of-reader?"),
        "as it contains the token": fails(grpc.StatusCode.INTERNAL, "token.of-reader?"),
    }
    logins = {"no valid token": b"", "not a valid AuthenticateResponse": b"\xff", "has no valid token": field(2, b"a\r\nb: c"), "as it contains the password": fails(grpc.StatusCode.INTERNAL, "p4ssword-of-reader?"), "UNAUTHENTICATED": field(2, b"useless")}
    servers = [EtcdFake(range_=answer, login=field(2, b"token.of-reader")) for answer in answers.values()]
    servers += [EtcdFake(login=answer, range_=fails(grpc.StatusCode.UNAUTHENTICATED, "etcdserver: invalid auth token")) for answer in logins.values()]
    strange, cut = scripted.Scripted(scripted.answers(bytes(range(255, -1, -1)) * 8)), scripted.Scripted(scripted.resets)
    try:
        stage.deployment(replicas=3)
        stage.scaledobject(triggers=[*(trigger(one, **by) for one in servers), trigger(strange), trigger(cut)])
        stage.wait_failing()
        for index, words in enumerate([*answers, *logins, "etcd ", "etcd "]):
            message = says(stage, words, index=index)
            assert "p4ssword" not in message and "token.of" not in message, message
        throughout(lambda: stage.replicas() == 3, until=after(1.5))
    finally:
        for one in (*servers, strange, cut):
            one.end()


def test_check(tmp_path):
    manifest = """apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: default}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: etcd
    metadata: {endpoints: "etcd:2379", watchKey: jobs, value: "5"}
"""
    path = tmp_path / "f.yaml"
    for old, new, said in ((None, None, None), ('"5"', '"0"', '"value" value "0" must be greater than 0'), ("etcd:2379", "etcd", "must be host:port"), ("watchKey: jobs, ", "", 'missing required parameter "watchKey"'),
                           ('"5"', '"5", watchProgressNotifyInterval: "0"', "watchProgressNotifyInterval must be greater than 0"), ('"5"', '"5", activationvalue: x', '"activationvalue" (did you mean "activationValue"?)')):
        path.write_text(manifest.replace(old, new) if old else manifest)
        done = run("check", str(path))
        assert (said or "") in done.stdout and bool(said) == bool(done.stdout), done
