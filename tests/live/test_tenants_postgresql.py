# SPDX-License-Identifier: Apache-2.0
"""
PostgreSQL servers of a tenant that want from libpq what would stop everybody: a login by Kerberos, whose library waits for name servers, here one that never answers; two thousand million
iterations of SCRAM; bytes that are kept. And tenants who share a login: what one of them does to its session, another one does not see.
"""
import pytest

from rig import pki
from rig.hostile import postgres
from rig.hostile.postgres import FloodServer, KerberosServer, ScramServer, authentication, put, trigger
from rig.nameserver import NameServer, under
from rig.postgres_server import PASSWORD, PgBouncer, PostgresServer
from rig.waiting import eventually, throughout

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


@pytest.mark.alone  # the loop's longest turn
def test_iterations(launch, stage, tmp_path):
    """Of SCRAM, in the clear and under TLS: too many are refused before they are begun, and as many as may be are computed in slices."""
    daemon = launch().wait_serving()
    certificate = pki.certificate(tmp_path, "hostile", pki.authority(tmp_path, "hostile-ca"), "localhost")
    servers = {"clear": ScramServer(2**31 - 1), "tls": ScramServer(2**31 - 1, certificate), "just-too-many": ScramServer(100_001)}
    most = [ScramServer(100_000) for _ in range(4)]
    try:
        stage.deployment("good")
        stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=3)
        daemon.longest_turns()
        for n, server in enumerate(most):
            put(stage, f"most-{n}", server)
        for name, server in servers.items():
            put(stage, name, server)
        for name, server in servers.items():
            message = stage.wait_failing(name)["message"]
            reason = stage.metric("s0-postgresql", name).failure(503, "ServiceUnavailable")
            for part in ("hostile.test", str(server.port), str(server.iterations), "at most 100000"):
                assert part in message + reason, (name, message, reason)
        eventually(lambda: all(server.logins >= 2 for server in most))
        stage.push(12)
        eventually(lambda: stage.replicas("good") == 3)
        assert daemon.sanitized() or daemon.longest_turns()[1] < 0.25
    finally:
        for server in [*servers.values(), *most]:
            server.end()


def test_floods(launch, stage, tmp_path):
    """Where nothing is expected, too: while a connection is idle, and while it listens. The floods go on until each was cut several times."""
    daemon = launch().wait_serving()
    certificate = pki.certificate(tmp_path, "hostile", pki.authority(tmp_path, "hostile-ca"), "localhost")
    servers = {f"{way}-{shape}": FloodServer(shape, pair) for way, pair in (("clear", None), ("tls", certificate)) for shape in FloodServer.SHAPES}
    try:
        stage.deployment("good")
        stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=3)
        before = daemon.rss_mib()
        for name, server in servers.items():
            put(stage, name, server)
            put(stage, f"{name}-told", server, notifyChannel="jobs")
        for name, server in servers.items():
            enough = (32 << 20) if name.endswith("answers") else (4 << 20)
            eventually(lambda server=server, enough=enough: server.sent > enough, timeout=120)
        stage.push(12)
        eventually(lambda: stage.replicas("good") == 3)
        assert daemon.sanitized() or daemon.peak_mib() - before < 6, (before, daemon.peak_mib())
    finally:
        for server in servers.values():
            server.end()


# What a tenant's query leaves in its session, and the query of another one that shows it: 1 where nothing of it is left.
MARKS = {
    "temp-table": ("CREATE TEMP TABLE jobs AS SELECT false AS done WHERE false", "SELECT (count(*) = 7)::int FROM jobs"),
    "search-path": ("SELECT length(set_config('search_path', 'pg_temp', false))", "SELECT (current_setting('search_path') = '\"$user\", public')::int"),
    "role": ("SET ROLE other", "SELECT (current_user = 'scaler')::int"),
    "lock": ("SELECT (pg_advisory_lock(7) IS NULL)::int", "SELECT (count(*) = 0)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"),
    "prepared": ("PREPARE mine AS SELECT 1", "SELECT (count(*) = 0)::int FROM pg_prepared_statements WHERE name = 'mine'"),
    "listen": ("LISTEN mine", "SELECT (count(*) = 0)::int FROM pg_listening_channels()"),
    "transaction": ("BEGIN", "SELECT (now() = statement_timestamp())::int"),
}


@pytest.fixture(scope="module")
def shared(session_dir):
    server = PostgresServer(session_dir, "shared-login", settings={"log_statement": "all"})
    server.user("scaler")
    server.sql("CREATE ROLE other; GRANT other TO scaler; GRANT SELECT ON jobs TO other")
    server.jobs(7)
    yield server
    server.end()


@pytest.mark.parametrize("way", ["direct", "pooler"])
def test_sessions(launch, stage, module_stage, session_dir, shared, way):
    """Two namespaces with one login: what the queries of the one leave in their session is gone before the next query. In transaction mode a pooler's one session serves everybody."""
    launch().wait_serving()
    bouncer = PgBouncer(session_dir, "shared-pooler", shared, {"scaler": PASSWORD}, pool=1) if way == "pooler" else None
    string = shared.string("scaler", port=bouncer.port if bouncer else shared.port)
    log = shared.dir / "log"
    try:
        for which in (stage, module_stage):
            which.deployment(f"{way}-like", env={"PG": string})
        module_stage.scaledobject(way, target=module_stage.another(way, f"{way}-like"), pollingInterval=1, maxReplicaCount=1, triggers=[trigger(query) for _, query in MARKS.values()])
        module_stage.wait_ready(way)
        begun = len(log.read_text(errors="replace"))
        for name, (query, _) in MARKS.items():
            stage.scaledobject(name, target=stage.another(name, f"{way}-like"), pollingInterval=1, maxReplicaCount=1, triggers=[trigger(query)])

        def told(query):
            return log.read_text(errors="replace")[begun:].count(query)

        def is_untouched():
            for n, name in enumerate(MARKS):
                assert module_stage.metric(f"s{n}-postgresql", way).value() == "1", name
            return True
        throughout(is_untouched, until=lambda: all(told(query) >= 5 for query, _ in MARKS.values()), timeout=120)
        assert bouncer or shared.connections() <= 2
    finally:
        for name in MARKS:
            stage.delete(name)
        module_stage.delete(way)
        if bouncer:
            bouncer.end()
