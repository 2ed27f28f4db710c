# SPDX-License-Identifier: Apache-2.0
"""
PostgreSQL servers of a tenant that ask for a login by Kerberos. libpq would call a library that waits for name servers, here one that never answers, and with it would wait everybody.
A server under TLS is out of our sight until libpq has called that library; it looks up nothing then.
"""
import pytest

from rig import pki
from rig.hostile import postgres
from rig.hostile.postgres import KerberosServer, authentication
from rig.nameserver import NameServer, under
from rig.waiting import eventually

PASSWORD_WANTED = authentication(3)


@pytest.fixture
def daemon(launch, tmp_path):
    """Everything of this host that asks the system for a name waits in vain."""
    names = NameServer(None)
    yield launch(under=under(names.resolv_conf(tmp_path))).wait_serving()
    names.end()


@pytest.fixture
def hostile(tmp_path):
    """By name: the server, and the method that is told."""
    certificate = pki.certificate(tmp_path, "hostile", pki.authority(tmp_path, "hostile-ca"), "localhost")
    servers = {
        "gss": (KerberosServer(authentication(postgres.GSSAPI)), "GSSAPI"),
        "gss-continue": (KerberosServer(authentication(postgres.GSSAPI_CONTINUE, b"x" * 500)), "GSSAPI"),
        "sspi": (KerberosServer(authentication(postgres.SSPI)), "SSPI"),
        "gss-in-pieces": (KerberosServer(authentication(postgres.GSSAPI), piece=1), "GSSAPI"),
        "gss-after-password": (KerberosServer(PASSWORD_WANTED, authentication(postgres.GSSAPI)), "GSSAPI"),
        "gss-tls": (KerberosServer(authentication(postgres.GSSAPI), certificate=certificate), "GSSAPI"),
        "gss-tls-in-pieces": (KerberosServer(authentication(postgres.GSSAPI), piece=1, certificate=certificate), "GSSAPI"),
        "sspi-tls": (KerberosServer(authentication(postgres.SSPI), certificate=certificate), "SSPI"),
        "gss-after-error": (KerberosServer(postgres.error("go away"), authentication(postgres.GSSAPI)), "go away"),
    }
    yield servers
    for server, _ in servers.values():
        server.end()


def put(stage, name, server):
    stage.deployment(name, replicas=2, env={"PG": server.string()})
    stage.scaledobject(name, minReplicaCount=0, maxReplicaCount=4, pollingInterval=1,
                       triggers=[{"type": "postgresql", "metadata": {"connectionFromEnv": "PG", "query": "SELECT 1", "targetQueryValue": "5"}}])


@pytest.mark.alone  # the loop's longest turn
def test_kerberos(daemon, stage, hostile):
    stage.deployment("good")
    stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=3)
    daemon.metric("kscaled_loop_longest_turn_seconds")
    for name, (server, _) in hostile.items():
        put(stage, name, server)
    for name, (server, word) in hostile.items():
        message = stage.wait_failing(name)["message"]
        reason = stage.metric("s0-postgresql", name).failure(503, "ServiceUnavailable")
        assert word in reason, (name, reason)
        if word != "go away":
            assert "postgresql" in message + reason and server.place in reason and "never makes" in reason, (name, message, reason)
        assert stage.replicas(name) == 2
    stage.push(12)
    eventually(lambda: stage.replicas("good") == 3)
    logins = {name: server.logins for name, (server, _) in hostile.items()}
    eventually(lambda: all(server.logins > logins[name] for name, (server, _) in hostile.items()))
    assert daemon.sanitized() or daemon.metric("kscaled_loop_longest_turn_seconds") < 0.25
