# SPDX-License-Identifier: Apache-2.0
"""The kafka and apache-kafka triggers against a real Kafka: whose lag counts and how much of it, listeners and logins, connections, faults."""
import contextlib
import datetime
import os
import pathlib
import re

import pytest

from rig import pki, scripted
from rig.credentials import ref
from rig.http_source import HttpSource
from rig.kafka_server import LOST, MSK_KEYS, MSK_REGION, PASSWORD, KafkaServer, token
from rig.process import free_port
from rig.tcp_proxy import TcpProxy
from rig.waiting import after, eventually, throughout, timed


@pytest.fixture(scope="module")
def authority(session_dir):
    return pki.authority(session_dir, "kafka-ca")


@pytest.fixture(scope="module")
def server(session_dir, authority):
    server = KafkaServer(session_dir, "kafka", pair=pki.certificate(session_dir, "kafka", authority, "localhost"), authority=authority.cert)
    server.user("scram")
    yield server
    server.end()


@pytest.fixture
def topic(stage, server):
    """One with 12 messages in its first partition and none in its three others."""
    name = f"{stage.namespace}-jobs"
    server.topic(name, 4, messages=(12,))
    return name


def trigger(server, group, topic=None, auth=None, kind="kafka", listener="plain", **metadata):
    values = {"bootstrapServers": server.address(listener), "consumerGroup": group, "topic": topic, "lagThreshold": 5, **metadata}
    more = {"authenticationRef": auth} if auth else {}
    return {"type": kind, "metadata": {key: str(value) for key, value in values.items() if value is not None}, **more}


def put(stage, name, *triggers, replicas=3):
    stage.scaledobject(name, target=stage.another(name), maxReplicaCount=replicas, triggers=list(triggers))


def metric_of(stage, name="worker"):
    return stage.hpa(name).spec.metrics[0].external.metric.name


def wait_value(stage, value, name="worker"):
    def is_there():
        assert stage.metric(metric_of(stage, name), name).value() == value
        return True
    eventually(is_there)


def why(stage, name="worker"):
    stage.wait_failing(name)
    return stage.metric(metric_of(stage, name), name).failure(503, "ServiceUnavailable")


# --- the job ---

@pytest.mark.journey
def test_from_zero_and_back(kscaled, stage, server, topic):
    server.commit("workers", topic, 12, 0, 0, 0)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(server, "workers", topic)])
    assert metric_of(stage) == f"s0-kafka-{topic}"
    assert stage.replicas() == 0
    server.produce(topic, 1, 12)
    eventually(lambda: stage.replicas() == 3)
    server.commit("workers", topic, 12, 12, 0, 0)
    eventually(lambda: stage.replicas() == 0)


def test_rules(kscaled, stage, server, topic):
    """What each parameter makes of 12 messages in one of four partitions, and 3 committed."""
    group = f"{topic}-group"
    server.commit(group, topic, 3)
    server.topic(f"{topic}-other", 2, messages=(4, 4))
    server.commit(group, f"{topic}-other", 2, 4)
    server.topic(f"{topic}-trimmed", 1, messages=(10,))
    server.first.do("trim", f"{topic}-trimmed", 0, 6)
    stage.deployment(replicas=0)
    rows = {
        # 9 of the first, and 1 of each in which nothing is committed
        "plain": ((group, topic), {}, "12"),
        "to-zero": ((group, topic), {"scaleToZeroOnInvalidOffset": "true"}, "9"),
        "earliest": ((group, topic), {"offsetResetPolicy": "earliest"}, "9"),
        "nothing-committed": (("nobody", topic), {}, "4"),
        "all-from-the-start": (("nobody", topic), {"offsetResetPolicy": "earliest"}, "12"),
        "trimmed": (("nobody", f"{topic}-trimmed"), {"offsetResetPolicy": "earliest"}, "4"),
        "one-partition": ((group, topic), {"partitionLimitation": "0"}, "9"),
        "others": ((group, topic), {"partitionLimitation": "1-2, 3"}, "3"),
        "bounded": ((group, topic), {"lagThreshold": "2"}, "8"),
        "idle": ((group, topic), {"lagThreshold": "2", "allowIdleConsumers": "true"}, "12"),
        "lagging": ((group, topic), {"lagThreshold": "2", "limitToPartitionsWithLag": "true", "scaleToZeroOnInvalidOffset": "true"}, "2"),
        "evenly": ((group, topic), {"lagThreshold": "5", "ensureEvenDistributionOfPartitions": "true"}, "20"),
        "all-topics": ((group, None), {"scaleToZeroOnInvalidOffset": "true"}, "11"),
        "no-topics": ((f"{topic}-unused", None), {}, "0"),
        "behind": (("ahead", topic), {"partitionLimitation": "0"}, "0"),
    }
    server.commit("ahead", topic, 100)
    for name, (which, more, _) in rows.items():
        put(stage, name, trigger(server, *which, **more))
    put(stage, "list", trigger(server, group, f"{topic},{topic}-other", kind="apache-kafka", scaleToZeroOnInvalidOffset="true"))
    put(stage, "single", trigger(server, group, topic, kind="apache-kafka"))
    for name, (_, _, value) in rows.items():
        wait_value(stage, value, name)
    wait_value(stage, "11", "list")
    wait_value(stage, "12", "single")
    assert metric_of(stage, "list") == f"s0-kafka-{topic},{topic}-other" and metric_of(stage, "all-topics") == f"s0-kafka-{group}-topics"


def test_activation_looks_at_all_of_it(kscaled, stage, server, topic):
    """The HPA gets no more than the partitions can do; whether there is enough to begin is asked of the whole lag."""
    server.commit("workers", topic, 0, 0, 0, 0)
    stage.deployment(replicas=0)
    put(stage, "more", trigger(server, "workers", topic, partitionLimitation="0", lagThreshold="5", activationLagThreshold="11"))
    put(stage, "less", trigger(server, "workers", topic, partitionLimitation="0", lagThreshold="5", activationLagThreshold="12"))
    wait_value(stage, "5", "more")
    wait_value(stage, "5", "less")
    eventually(lambda: stage.replicas("more") == 1)
    asked = kscaled.asked()
    throughout(lambda: stage.replicas("less") == 0, until=lambda: kscaled.asked() > asked + 3)


def test_lag_that_nobody_works_on(kscaled, stage, server, topic):
    """Counted once, then left out, whoever looks between two polls; it goes on counting for the activation."""
    server.produce(topic, 1, 3)
    server.commit("workers", topic, 0, 0, 0, 0)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=2, triggers=[trigger(server, "workers", topic, excludePersistentLag="true", allowIdleConsumers="true")])
    wait_value(stage, "0")
    eventually(lambda: stage.replicas() == 1)  # active
    server.commit("workers", topic, 1)         # one of them is worked on again
    wait_value(stage, "11")
    wait_value(stage, "0")
    # Another threshold builds the trigger anew: it is not seen for the first time.
    stage.patch({"spec": {"triggers": [trigger(server, "workers", topic, excludePersistentLag="true", allowIdleConsumers="true", lagThreshold="6")]}})
    eventually(lambda: stage.hpa().spec.metrics[0].external.target.average_value == "6")
    asked = kscaled.asked()
    throughout(lambda: stage.metric(metric_of(stage)).value() == "0", until=lambda: kscaled.asked() > asked + 2)


def test_topics_change(kscaled, stage, server, topic):
    server.commit("workers", topic, 0, 0, 0, 0)
    stage.deployment(replicas=1)
    stage.ready_scaledobject(minReplicaCount=1, triggers=[trigger(server, "workers", topic)])
    eventually(lambda: stage.replicas() == 3)
    server.first.do("drop", topic)
    assert f"topic {topic}: UNKNOWN_TOPIC_OR_PARTITION" in why(stage)
    assert stage.replicas() == 3
    server.topic(topic, 2, messages=(4, 4))
    stage.wait_ready()
    # What was committed of the old one is ahead of the new one's end: no lag, and no debt for others.
    server.commit("workers", topic, 100, 1)
    wait_value(stage, "3")


# --- who is let in ---

def test_ways_in(kscaled, stage, server, topic, credentials, authority, tmp_path):
    server.commit("workers", topic, 5, 0, 0, 0)
    pem = lambda path: open(path, encoding="ascii").read()
    client, stranger = pki.certificate(tmp_path, "client", authority, "reader", usage="clientAuth"), pki.authority(tmp_path, "stranger")
    trust, login, scram = {"ca": pem(authority.cert)}, {"username": "reader", "password": PASSWORD}, {"username": "scram", "password": PASSWORD}
    both = {"cert": pem(client.cert), "key": pem(client.key)}
    locked = {"cert": pem(client.cert), "key": pki.openssl("pkey", "-aes256", "-passout", "pass:key-password", stdin=both["key"].encode()).decode()}
    rows = {
        "tls": ("tls", {"tls": "enable"}, trust, "7"),
        "unsafe": ("tls", {"tls": "enable", "unsafeSsl": "true"}, {}, "7"),
        "certificate": ("mtls", {"tls": "enable"}, {**trust, **both}, "7"),
        "locked-key": ("mtls", {"tls": "enable"}, {**trust, **locked, "keyPassword": "key-password"}, "7"),
        "plain": ("sasl", {"sasl": "plaintext"}, login, "7"),
        "scram-256": ("sasl", {"sasl": "scram_sha256"}, scram, "7"),
        "scram-512": ("sasl", {"sasl": "scram_sha512"}, scram, "7"),
        "from-secret": ("sasltls", {}, {**trust, **scram, "tls": "enable", "sasl": "scram_sha512"}, "7"),
        "plain-tls": ("sasltls", {"tls": "enable", "sasl": "plaintext"}, {**trust, **login}, "7"),
        "wrong-password": ("sasl", {"sasl": "plaintext"}, {**login, "password": "wrong-password"}, "SaslAuthenticate (PLAIN): Authentication failed"),
        "wrong-scram": ("sasl", {"sasl": "scram_sha512"}, {**scram, "password": "wrong-password"}, "SaslAuthenticate (SCRAM-SHA-512)"),
        "no-user": ("sasl", {"sasl": "scram_sha256"}, {**scram, "username": "nobody"}, "SaslAuthenticate (SCRAM-SHA-256)"),
        "no-login": ("sasl", {}, {}, "does this listener ask for a login? set sasl"),
        "login-where-none-is": ("plain", {"sasl": "plaintext"}, login, "SaslHandshake: ILLEGAL_SASL_STATE"),
        "no-tls": ("tls", {}, {}, "is TLS needed here? set tls to enable"),
        "tls-where-none-is": ("plain", {"tls": "enable"}, trust, "does the server speak TLS here?"),
        "wrong-ca": ("tls", {"tls": "enable"}, {"ca": pem(stranger.cert)}, "TLS handshake: "),
        "system-ca": ("tls", {"tls": "enable"}, {}, "TLS handshake: unable to get local issuer certificate"),
        "no-certificate": ("mtls", {"tls": "enable"}, trust, "does it ask for a client certificate? give cert and key"),
    }
    stage.deployment(replicas=1)
    for name, (listener, more, secret, _) in rows.items():
        auth = None
        if secret:
            credentials.secret(name, **secret)
            credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in secret])
            auth = ref(name)
        put(stage, name, trigger(server, "workers", topic, auth, listener=listener, **more))
    put(stage, "wrong-name", trigger(server, "workers", topic, ref("tls"), tls="enable", bootstrapServers=server.address("tls").replace("localhost", "127.0.0.1")))
    put(stage, "nowhere", trigger(server, "workers", topic, bootstrapServers="localhost:1"))
    put(stage, "no-name", trigger(server, "workers", topic, bootstrapServers="kafka.does-not-exist.invalid:9092"))
    put(stage, "second", trigger(server, "workers", topic, bootstrapServers=f"localhost:1,{server.address()}"))
    put(stage, "lost", trigger(server, "workers", topic, listener="lost"))
    for name, (_, _, _, expected) in rows.items():
        if expected == "7":
            wait_value(stage, "7", name)
        else:
            message = why(stage, name)
            assert expected in message and "wrong-password" not in message, (name, message)
    assert "IP address mismatch" in why(stage, "wrong-name")
    assert "bootstrap server localhost:1: connecting: Connection refused" in why(stage, "nowhere")
    assert "kafka.does-not-exist.invalid" in why(stage, "no-name")
    assert f"broker 1 advertises {LOST}:{server.first.ports['lost']}, which cannot be reached" in why(stage, "lost")
    wait_value(stage, "7", "second")
    log = kscaled.log()
    assert all(secret not in log for secret in (PASSWORD, "PRIVATE KEY", "key-password"))


def test_logins_that_end(kscaled, stage, server, topic, credentials, authority):
    """A broker that cuts connections whose login is a second old (connections.max.reauth.ms), at the next request: nobody is told of trouble."""
    secret = {"ca": pathlib.Path(authority.cert).read_text(encoding="ascii"), "username": "scram", "password": PASSWORD}
    credentials.secret("login", **secret)
    credentials.authentication("login", secretTargetRef=[{"parameter": key, "name": "login", "key": key} for key in secret])
    server.commit("workers", topic, 5, 0, 0, 0)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(server, "workers", topic, ref("login"), listener="sasltls", tls="enable", sasl="scram_sha256")])
    seen = set()

    def some_ended():
        seen.update(sockets(kscaled, server.first.ports["sasltls"]))
        return len(seen) > 2
    throughout(lambda: stage.says("Ready", "True"), until=some_ended)
    assert not stage.events(reason="KEDAScalerFailed")


def test_mechanisms_that_are_offered(kscaled, stage, server, topic, credentials):
    """By a broker that has only some of them: said with the error."""
    answer = scripted.Scripted(_offers("GSSAPI", "SCRAM-SHA-256"))
    try:
        credentials.secret("login", username="reader", password=PASSWORD)
        credentials.authentication("login", secretTargetRef=[{"parameter": key, "name": "login", "key": key} for key in ("username", "password")])
        stage.deployment(replicas=1)
        stage.scaledobject(triggers=[trigger(server, "workers", topic, ref("login"), sasl="plaintext", bootstrapServers=answer.address)])
        assert "the broker does not offer PLAIN on this listener; it offers GSSAPI, SCRAM-SHA-256" in why(stage)
        assert PASSWORD not in kscaled.log()
    finally:
        answer.end()


def _offers(*mechanisms):
    """A fake: ApiVersions as of an old broker, and these mechanisms."""
    def text(word):
        return len(word).to_bytes(2, "big") + word.encode()

    def behave(connection):
        while (head := connection.recv(4)):
            request = connection.recv(int.from_bytes(head, "big"), 0x100)  # MSG_WAITALL
            if request[:2] == b"\0\x12":
                apis = b"".join(bytes([0, api, 0, 0, 0, 9]) for api in (2, 3, 9, 10, 17, 18, 36))
                body = b"\0\0" + (7).to_bytes(4, "big") + apis
            else:
                body = b"\0\x21" + len(mechanisms).to_bytes(4, "big") + b"".join(map(text, mechanisms))
            connection.sendall((4 + len(body)).to_bytes(4, "big") + request[4:8] + body)
    return behave


def test_tokens(kscaled, stage, server, topic, credentials):
    """Of an OAuth server: fetched, sent, and the broker's words when it does not like one."""
    tokens = HttpSource({
        "/token": lambda asked: '{"access_token": "%s", "token_type": "Bearer", "expires_in": 600}' % token(),
        "/stale": lambda asked: '{"access_token": "%s", "token_type": "Bearer", "expires_in": 600}' % token(seconds=-60),
        "/denied": lambda asked: (401, {}, '{"error": "invalid_client"}'),
    })
    server.commit("workers", topic, 5, 0, 0, 0)
    stage.deployment(replicas=1)
    try:
        for path in ("token", "stale", "denied"):
            secret = {"username": "client", "password": PASSWORD, "oauthTokenEndpointUri": f"{tokens.url}/{path}", "scopes": "kafka,read", "oauthExtensions": "pool=p-1"}
            credentials.secret(path, **secret)
            credentials.authentication(path, secretTargetRef=[{"parameter": key, "name": path, "key": key} for key in secret])
            put(stage, path, trigger(server, "workers", topic, ref(path), listener="sasl", sasl="oauthbearer"))
        wait_value(stage, "7", "token")
        assert "SaslAuthenticate (OAUTHBEARER)" in why(stage, "stale")
        assert "OAuth token" in why(stage, "denied")
        assert token()[:30] not in kscaled.log() and PASSWORD not in kscaled.log()
    finally:
        tokens.end()


def test_msk(kscaled, stage, server, topic, credentials, authority):
    """AWS keys at a listener that asks as Amazon MSK does: as a token, as MSK's own mechanism, with session tokens, and what is wrong."""
    server.commit("workers", topic, 5, 0, 0, 0)
    stage.deployment(replicas=1)
    bearer = {"kind": "kafka", "sasl": "oauthbearer", "saslTokenProvider": "aws_msk_iam", "awsRegion": MSK_REGION}
    own = {"kind": "apache-kafka", "sasl": "aws_msk_iam", "awsRegion": MSK_REGION}
    plain, temporary = ({"awsAccessKeyID": key, "awsSecretAccessKey": secret, **({"awsSessionToken": session} if session else {})} for key, (secret, session) in MSK_KEYS.items())
    wrong, stranger = {**plain, "awsSecretAccessKey": "wrong-secret"}, {**plain, "awsAccessKeyID": "AKIDNOBODY"}
    old = {**temporary, "awsSessionToken": "sess+ion/of-yesterday"}
    rows = {
        "bearer": (bearer, plain, "7"), "bearer-session": (bearer, temporary, "7"), "own": (own, plain, "7"), "own-session": (own, temporary, "7"),
        "bearer-wrong": (bearer, wrong, "SaslAuthenticate (OAUTHBEARER)"), "own-wrong": (own, wrong, "SaslAuthenticate (AWS_MSK_IAM): [r-1]: Access denied (signature)"),
        "own-stranger": (own, stranger, "SaslAuthenticate (AWS_MSK_IAM): [r-1]: Access denied (unknown key)"), "own-old": (own, old, "SaslAuthenticate (AWS_MSK_IAM): [r-1]: Access denied (session)"),
        "own-elsewhere": ({**own, "awsRegion": "eu-west-2"}, plain, "SaslAuthenticate (AWS_MSK_IAM): [r-1]: Access denied (scope)"), "bearer-elsewhere": ({**bearer, "awsRegion": "eu-west-2"}, plain, "SaslAuthenticate (OAUTHBEARER)"),
    }
    for name, (more, keys, _) in rows.items():
        secret = {**keys, "ca": open(authority.cert, encoding="ascii").read()}
        credentials.secret(name, **secret)
        credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in secret])
        put(stage, name, trigger(server, "workers", topic, ref(name), listener="msk", tls="enable", **more))
    for name, (_, keys, expected) in rows.items():
        if expected == "7":
            wait_value(stage, "7", name)
        else:
            message = why(stage, name)
            assert expected in message and "X-Amz" not in message, (name, message)
    log = kscaled.log()
    for secret in (plain, temporary, wrong, old):
        assert secret["awsSecretAccessKey"] not in log and secret.get("awsSessionToken", "?-?") not in log


def test_msk_as_kscaled(launch, stage, server, topic, credentials, authority, tmp_path):
    """
    By podIdentity: kscaled's own AWS identity, which a ClusterTriggerAuthentication may use and one of a namespace may not. What it signs is good for all of MSK: only brokers that
    --aws-trusted-hosts names besides Amazon's get it, and none that the object would have verified otherwise.
    """
    key, (secret, session) = list(MSK_KEYS.items())[1]
    server.commit("workers", topic, 5, 0, 0, 0)
    stage.deployment(replicas=1)
    name = f"{stage.namespace}-own"
    credentials.cluster_authentication(name, podIdentity={"provider": "aws"})
    credentials.authentication("own", podIdentity={"provider": "aws"})
    (tmp_path / "ca.crt").write_bytes(pathlib.Path(authority.cert).read_bytes())
    env = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": session}
    launch(env=env, options={"ca_dir": str(tmp_path), "aws_trusted_hosts": "localhost"}).wait_serving()
    more = {"listener": "msk", "tls": "enable", "sasl": "oauthbearer", "saslTokenProvider": "aws_msk_iam", "awsRegion": MSK_REGION}
    put(stage, "cluster", trigger(server, "workers", topic, {"name": name, "kind": "ClusterTriggerAuthentication"}, **more))
    put(stage, "own", trigger(server, "workers", topic, ref("own"), **more))
    wait_value(stage, "7", "cluster")
    assert "kscaled's own AWS identity" in stage.wait_refused("own")
    login = {"name": name, "kind": "ClusterTriggerAuthentication"}
    refused = {"elsewhere": ({"bootstrapServers": "evil.example:9098"}, "evil.example is not one of Amazon MSK's hosts"), "unsafe": ({"unsafeSsl": "true"}, "unsafeSsl")}
    for case, (values, words) in refused.items():
        put(stage, case, trigger(server, "workers", topic, login, **{**more, **values}))
        assert words in stage.wait_refused(case)


def test_rights(kscaled, stage, server, topic, credentials):
    """Without DESCRIBE on the topic, and on the group."""
    server.user("limited")
    server.user("grouped")
    server.first.do("deny", "limited", "topic", topic)
    server.first.do("deny", "grouped", "group", "secret-group")
    server.topic(f"{topic}-open")  # who is not denied something of the other is not allowed it, either
    stage.deployment(replicas=1)
    for user, group, name in (("limited", "workers", topic), ("grouped", "secret-group", f"{topic}-open")):
        credentials.secret(user, username=user, password=PASSWORD)
        credentials.authentication(user, secretTargetRef=[{"parameter": key, "name": user, "key": key} for key in ("username", "password")])
        put(stage, user, trigger(server, group, name, ref(user), listener="sasl", sasl="scram_sha256"))
    assert "TOPIC_AUTHORIZATION_FAILED" in why(stage, "limited")
    assert "GROUP_AUTHORIZATION_FAILED" in why(stage, "grouped")


def test_rotated_password(kscaled, stage, server, topic, credentials):
    server.user("rotating", "before-rotation")
    server.commit("workers", topic, 5, 0, 0, 0)
    credentials.secret("login", username="rotating", password="before-rotation")
    credentials.authentication("login", secretTargetRef=[{"parameter": key, "name": "login", "key": key} for key in ("username", "password")])
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(server, "workers", topic, ref("login"), listener="sasl", sasl="scram_sha512")])
    eventually(lambda: stage.replicas() == 2)
    server.user("rotating", "after-rotation")
    credentials.change_secret("login", password="after-rotation")
    server.commit("workers", topic, 12)
    eventually(lambda: stage.replicas() == 0)
    stage.wait_ready()
    assert "rotation" not in kscaled.log()


# --- connections ---

def sockets(kscaled, port):
    """Those of kscaled's that lead to this port of loopback."""
    mine = set()
    for fd in pathlib.Path(f"/proc/{kscaled.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            mine.add(os.readlink(fd))
    lines = (line.split() for table in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:])
    return mine & {f"socket:[{fields[9]}]" for fields in lines if int(fields[2].rpartition(":")[2], 16) == port}


def connections(kscaled, port):
    return len(sockets(kscaled, port))


def test_few_connections(kscaled, stage, server, topic):
    """Hundreds of questions of many groups, one connection to the one broker; a request for each group, and few for all ends."""
    for i in range(20):
        server.commit(f"group-{i}", topic, i, 0, 0, 0)
    before = connections(kscaled, server.first.ports["plain"])  # of other bootstrap servers and logins; idle, and soon closed
    stage.deployment(replicas=0)
    for i in range(20):
        put(stage, f"so-{i}", *(trigger(server, f"group-{i}", topic, allowIdleConsumers="true", partitionLimitation=j % 4, lagThreshold=5 + j) for j in range(20)), replicas=1)
    for i in range(20):
        stage.wait_ready(f"so-{i}")
    names = ("Metadata", "OffsetFetch", "ListOffsets")
    asked, requests = kscaled.asked(), [int(server.first.do("requests", name)) for name in names]
    throughout(lambda: 1 <= connections(kscaled, server.first.ports["plain"]) <= before + 1, until=lambda: kscaled.asked() > asked + 240, every=0.2)  # 80 in a second
    asked, (metadata, committed, ends) = kscaled.asked() - asked, [int(server.first.do("requests", name)) - begun for name, begun in zip(names, requests)]
    # Each group is asked about each of four partitions; on a busy machine polls fall into more windows than one.
    assert metadata < 5 and 20 <= committed < asked / 2 and 1 <= ends < asked / 2, (asked, metadata, committed, ends)
    wait_value(stage, "12", "so-0")


# --- faults ---

@pytest.fixture
def outage(kscaled, stage, server, topic):
    """A running workload, and a healthy neighbour on Redis."""
    server.commit("workers", topic, 5, 0, 0, 0)
    stage.deployment("worker")
    stage.deployment("neighbour")
    stage.ready_scaledobject(triggers=[trigger(server, "workers", topic)])
    stage.ready_scaledobject("neighbour", maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 2)
    yield server
    if server.first.process.alive():
        server.thaw()
    else:
        server.start()


def check_outage(stage, server):
    message = why(stage)
    assert server.address() in message, message
    failed = stage.event("KEDAScalerFailed")
    assert failed.type == "Warning" and server.address() in failed.note
    throughout(lambda: stage.replicas() == 2, until=after(2))
    stage.push(1)
    assert timed(lambda: stage.replicas("neighbour") == 1) < 8
    stage.drain()
    return message


def test_hung(kscaled, stage, outage):
    outage.freeze()
    assert re.search("in time|timed out", check_outage(stage, outage))  # of a call, or of the next connection
    outage.thaw()
    stage.wait_ready()
    assert stage.replicas() == 2


def test_killed_and_back(kscaled, stage, outage, topic):
    outage.kill()
    assert "refused" in check_outage(stage, outage)
    outage.start()
    stage.wait_ready()
    outage.produce(topic, 0, 5)
    eventually(lambda: stage.replicas() == 3)


def test_down_from_the_beginning(kscaled, stage, server, topic):
    """Its bootstrap server, which leads to the broker once it is there."""
    server.commit("workers", topic, 2, 0, 0, 0)
    stage.deployment(replicas=2)
    port = free_port()
    stage.scaledobject(triggers=[trigger(server, "workers", topic, bootstrapServers=f"127.0.0.1:{port}")])
    stage.wait_failing()
    assert stage.hpa().spec.max_replicas == 10
    throughout(lambda: stage.replicas() == 2, until=after(2))
    proxy = TcpProxy("localhost", server.first.ports["plain"], port)
    try:
        stage.wait_ready()
    finally:
        proxy.end()


@pytest.mark.parametrize("behave", [scripted.silent, scripted.answers(b"\0\0\0\x08\0\0\0\1\0\0"), scripted.answers(b"\x7f" * 64), scripted.answers(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                                    scripted.answers(b"\0\0\0\x0c\0\0\0\1\0\0\x7f\xff\xff\xff\0\0"), scripted.drips(b"\0\0\0\x40" + bytes(64))],
                         ids=["silent", "half", "giant", "http", "a count that lies", "drip"])
def test_nonsense(kscaled, stage, server, topic, behave):
    """From a server that is none: an error, and nothing is scaled in."""
    other = scripted.Scripted(behave)
    try:
        stage.deployment(replicas=2)
        stage.scaledobject(triggers=[trigger(server, "workers", topic, bootstrapServers=other.address)])
        message = why(stage)
        assert other.address in message and ("ApiVersions" in message or "in time" in message), message
        assert stage.replicas() == 2
    finally:
        other.end()


def test_expired_certificate(kscaled, stage, topic, server, authority, credentials, tmp_path):
    now = datetime.datetime.now(datetime.timezone.utc)
    expired = pki.certificate(tmp_path, "expired", authority, "localhost", begin=now - datetime.timedelta(days=2), end=now - datetime.timedelta(days=1))
    old = HttpSource(tls=expired)
    try:
        credentials.secret("ca", ca=open(authority.cert, encoding="ascii").read())
        credentials.authentication("ca", secretTargetRef=[{"parameter": "ca", "name": "ca", "key": "ca"}])
        stage.deployment(replicas=2)
        stage.scaledobject(triggers=[trigger(server, "workers", topic, ref("ca"), tls="enable", bootstrapServers=f"localhost:{old.port}")])
        assert "certificate has expired" in why(stage)
        assert stage.replicas() == 2
    finally:
        old.end()
