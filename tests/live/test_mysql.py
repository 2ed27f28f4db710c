# SPDX-License-Identifier: Apache-2.0
"""The mysql trigger against a real MariaDB: parameters, ways in, TLS, shared connections, outages; and against servers that no real one could be."""
import datetime
import time

import pytest

from rig import pki, scripted
from rig.credentials import from_secret, ref
from rig.daemon import run
from rig.mariadb_server import MariadbServer, answer, packet, receive, serves, sha2_login, text
from rig.scripted import Scripted
from rig.waiting import after, eventually, throughout

PASSWORD = MariadbServer.PASSWORD
QUERY = "SELECT COUNT(*) FROM jobs"
METRIC = "s0-mysql-shop"


@pytest.fixture(scope="module")
def the_mariadb(session_dir):
    server = MariadbServer(session_dir)
    yield server
    server.end()


@pytest.fixture
def mariadb(the_mariadb):
    """Alive and empty."""
    if not the_mariadb.process.alive():
        the_mariadb.start()
    the_mariadb.fill(0)
    return the_mariadb


@pytest.fixture
def misbehaving():
    servers = []

    def start(behave):
        servers.append(Scripted(behave))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


def trigger(server=None, port=None, auth=None, **metadata):
    """A None takes a default away."""
    values = {"host": "127.0.0.1", "port": port or server and server.port, "username": "scaler", "passwordFromEnv": "PASSWORD", "dbName": "shop", "query": QUERY, "queryValue": "5", **metadata}
    more = {"authenticationRef": auth} if auth else {}
    return {"type": "mysql", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **more}


BARE = {"host": None, "username": None, "passwordFromEnv": None, "dbName": None}


def start(stage, *triggers, name="worker", replicas=0, **spec):
    stage.deployment(name, replicas=replicas, env={"PASSWORD": PASSWORD, "WRONG": "open-sesamy"})
    stage.scaledobject(name, triggers=list(triggers), **spec)


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


# --- what is counted ---

def test_counts_and_scales(kscaled, stage, mariadb):
    start(stage, trigger(mariadb, queryValue="2.5", activationQueryValue="1"))
    stage.wait_ready()
    wait_value(stage, 0)
    mariadb.fill(1)
    wait_value(stage, 1)
    stage.says("Active", "False")
    assert stage.replicas() == 0
    mariadb.fill(9)
    eventually(lambda: stage.replicas() == 4)
    assert stage.hpa().spec.metrics[0].external.metric.name == METRIC
    assert stage.hpa().spec.metrics[0].external.target.average_value == "2500m"
    mariadb.fill(0)
    eventually(lambda: stage.replicas() == 0)


def test_no_number(kscaled, stage, mariadb):
    """What gives no number is an error that says what to write, and no zero."""
    mariadb.fill(1)
    said = {"SELECT NULL": "COALESCE", "SELECT id FROM jobs WHERE id < 0": "gives no row", "SELECT kind FROM jobs": 'column "kind" of the first row is not a number', "SELECT nothing FROM jobs": "Unknown column 'nothing'",
            "SELEC 1": "SQL syntax", "DELETE FROM jobs": "DELETE command denied", "DO 1": "gives no result", "SELECT REPEAT('9', 3000000)": "more than 1048576 bytes"}
    start(stage, *[trigger(mariadb, query=query) for query in said], replicas=2)
    stage.wait_failing()
    for index, words in enumerate(said.values()):
        message = wait_message(stage, words, f"127.0.0.1:{mariadb.port}", metric=f"s{index}-mysql-shop")
        assert "mail" not in message
    assert stage.replicas() == 2
    stage.patch({"spec": {"triggers": [trigger(mariadb, query="SELECT COALESCE(MAX(id) * 0 + 7.25, 0), 'x' FROM jobs")]}})
    stage.wait_ready()
    wait_value(stage, "7250m")


def test_hundred_triggers_share(kscaled, stage, mariadb):
    mariadb.fill(3)
    for name in ("a", "b", "c", "d"):
        start(stage, *[trigger(mariadb, query=f"{QUERY} WHERE id > -{i} OR '{name}' = ''") for i in range(25)], name=name, maxReplicaCount=1)
    for name in ("a", "b", "c", "d"):
        stage.wait_ready(name)
        wait_value(stage, 3, "s24-mysql-shop", name)
    throughout(lambda: 1 <= len(mariadb.connections()) <= 2, until=after(2))


# --- ways in ---

def test_ways_in(kscaled, stage, mariadb, credentials):
    """Connection strings from a TriggerAuthentication and the environment, a Unix socket, TLS with and without a client certificate; the wrong ones of each."""
    mariadb.fill(3)
    ca = open(mariadb.authority.cert, encoding="utf-8").read()
    client = pki.certificate(mariadb.dir, f"client-{time.time_ns()}", mariadb.authority, "scaler", usage="clientAuth")
    stranger = open(pki.authority(mariadb.dir, f"stranger-{time.time_ns()}").cert, encoding="utf-8").read()
    pair = {"cert": open(client.cert, encoding="utf-8").read(), "key": open(client.key, encoding="utf-8").read()}
    mariadb.sql(f"CREATE OR REPLACE USER secure@'%' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL; GRANT SELECT ON shop.* TO secure@'%'; CREATE OR REPLACE USER known@'%' IDENTIFIED BY '{PASSWORD}' REQUIRE X509; GRANT SELECT ON shop.* TO known@'%'")
    at = f"tcp(localhost:{mariadb.port})/shop"
    good = {
        "string": {"connectionString": f"scaler:{PASSWORD}@{at}"},
        "socket": {"connectionString": f"scaler:{PASSWORD}@unix({mariadb.socket})/shop"},
        "verified": {"connectionString": f"secure:{PASSWORD}@{at}", "ca": ca},
        "unverified": {"connectionString": f"secure:{PASSWORD}@{at}?tls=skip-verify"},
        "known": {"connectionString": f"known:{PASSWORD}@{at}", "ca": ca, **pair},
    }
    bad = {
        "plain": ({"connectionString": f"secure:{PASSWORD}@{at}"}, "Access denied"),
        "nobody": ({"connectionString": f"known:{PASSWORD}@{at}", "ca": ca}, "Access denied"),
        "stranger": ({"connectionString": f"secure:{PASSWORD}@{at}", "ca": stranger}, "certificate"),
        "system": ({"connectionString": f"secure:{PASSWORD}@{at}?tls=true"}, "certificate"),
        "misnamed": ({"connectionString": f"secure:{PASSWORD}@tcp(127.0.0.1:{mariadb.port})/shop?tls=true", "ca": ca}, "certificate"),
        "database": ({"connectionString": f"scaler:{PASSWORD}@tcp(localhost:{mariadb.port})/shop2"}, "shop2"),
    }
    stage.deployment()
    for name, values in {**good, **{name: values for name, (values, _) in bad.items()}}.items():
        if name == "misnamed":
            values["connectionString"] = values["connectionString"].replace("?tls=true", "")
        credentials.secret(name, **values)
        credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
        stage.scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[trigger(auth=ref(name), **BARE)])
    for name in good:
        wait_value(stage, 3, METRIC + ("?tls=skip-verify" if name == "unverified" else ""), name)
    for name, (_, words) in bad.items():
        stage.wait_failing(name)
        metric = stage.hpa(name).spec.metrics[0].external.metric.name
        assert PASSWORD not in wait_message(stage, words, metric=metric, name=name)
        assert stage.replicas(name) == 0
    assert PASSWORD not in kscaled.log()


def test_certificate_expired(kscaled, stage, mariadb, credentials):
    now = datetime.datetime.now(datetime.timezone.utc)
    mariadb.fill(3)
    expired = pki.certificate(mariadb.dir, f"expired-{time.time_ns()}", mariadb.authority, "localhost", begin=now - datetime.timedelta(days=9), end=now - datetime.timedelta(days=1))
    mariadb.give(mariadb.dir)
    credentials.secret("db", password=PASSWORD, ca=open(mariadb.authority.cert, encoding="utf-8").read())
    credentials.authentication("db", secretTargetRef=[{"parameter": key, "name": "db", "key": key} for key in ("password", "ca")])
    start(stage, trigger(mariadb, auth=ref("db"), host="localhost", passwordFromEnv=None, tls="true"))
    wait_value(stage, 3)
    eventually(lambda: stage.replicas() == 1)
    try:
        reload_certificate(mariadb, expired)
        wait_message(stage, "certificate has expired", f"localhost:{mariadb.port}")
        assert stage.replicas() == 1
    finally:
        reload_certificate(mariadb, mariadb.serving)
    stage.wait_ready()


def reload_certificate(mariadb, pair):
    """Served to whoever connects from now on; who was connected is put out."""
    config = mariadb.dir / "my.cnf"
    lines = [line for line in config.read_text().splitlines() if not line.startswith(("ssl-cert", "ssl-key"))]
    config.write_text("\n".join([*lines, f"ssl-cert={pair.cert}", f"ssl-key={pair.key}"]) + "\n")
    mariadb.kill()
    mariadb.start()


def test_password_wrong_and_rotated(kscaled, stage, mariadb, credentials):
    mariadb.fill(3)
    mariadb.sql("CREATE OR REPLACE USER turning@'%' IDENTIFIED BY 'first-one'; GRANT SELECT ON shop.* TO turning@'%'")
    credentials.secret("db", password="not-this-one")
    credentials.authentication("db", **from_secret("db"))
    start(stage, trigger(mariadb, auth=ref("db"), username="turning", passwordFromEnv=None), replicas=2)
    stage.wait_failing()
    wait_message(stage, "Access denied for user 'turning'")
    credentials.change_secret("db", password="first-one")
    stage.wait_ready()
    wait_value(stage, 3)
    mariadb.sql("ALTER USER turning@'%' IDENTIFIED BY 'second-one'")
    credentials.change_secret("db", password="second-one")
    throughout(lambda: stage.says("Ready", "True"), until=after(2))
    for connection in mariadb.connections("turning"):
        mariadb.sql(f"KILL {connection}", check=False)
    wait_value(stage, 3)
    assert not any(word in kscaled.log() for word in ("not-this-one", "first-one", "second-one"))


# --- outages ---

@pytest.fixture
def outage(kscaled, stage, mariadb):
    mariadb.fill(12)
    start(stage, trigger(mariadb))
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 3)
    return mariadb


def check_outage(stage, server, *words):
    stage.wait_failing()
    wait_message(stage, f"mysql at 127.0.0.1:{server.port}", *words)
    throughout(lambda: stage.replicas() == 3, until=after(2))


def test_killed_and_back(stage, outage):
    outage.kill()
    check_outage(stage, outage, "Connection refused")
    outage.start()
    outage.fill(22)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 5)


def test_frozen_and_back(stage, outage):
    outage.freeze()
    try:
        check_outage(stage, outage)
    finally:
        outage.thaw()
    stage.wait_ready()
    assert stage.replicas() == 3


def test_connection_killed_is_no_outage(stage, outage):
    """An idle connection that the server ends is made again, without a word."""
    for _ in range(3):
        before = outage.connections()
        for connection in before:
            outage.sql(f"KILL {connection}", check=False)
        eventually(lambda b=before: outage.connections() and not set(outage.connections()) & set(b))
    assert stage.replicas() == 3
    stage.wait_ready()


def test_too_many_connections(kscaled, stage, mariadb):
    mariadb.fill(12)
    mariadb.sql(f"CREATE OR REPLACE USER few@'%' IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 1; GRANT SELECT ON shop.* TO few@'%'")
    with mariadb.occupied("few"):
        start(stage, trigger(mariadb, username="few"), replicas=2)
        stage.wait_failing()
        wait_message(stage, "max_user_connections")
        assert stage.replicas() == 2
    stage.wait_ready()
    wait_value(stage, 12)


def test_slow_query(kscaled, stage, mariadb):
    """Others on the same server do not wait for it, and the server does not go on with it."""
    mariadb.fill(12)
    slow = "SELECT COUNT(*) FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b, information_schema.COLLATIONS c, information_schema.COLLATIONS d"
    start(stage, trigger(mariadb, query=slow), name="slow", replicas=2)
    start(stage, trigger(mariadb))
    eventually(lambda: stage.replicas() == 3)
    stage.wait_failing("slow")
    wait_message(stage, f"mysql at 127.0.0.1:{mariadb.port}", name="slow")
    assert stage.replicas("slow") == 2
    stage.says("Ready", "True")
    stage.delete("slow")
    eventually(lambda: not [line for line in mariadb.sql("SELECT info FROM information_schema.processlist WHERE user='scaler' AND command='Query'").splitlines() if "COLLATIONS" in line])


def test_down_from_the_beginning(kscaled, stage, mariadb):
    mariadb.kill()
    start(stage, trigger(mariadb), replicas=2)
    stage.wait_failing()
    assert stage.hpa().spec.max_replicas == 10
    throughout(lambda: stage.replicas() == 2, until=after(2))
    mariadb.start()
    mariadb.fill(0)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


# --- servers that no real one could be ---

def drip(connection, _):
    for byte in answer(b"0"):
        connection.sendall(bytes([byte]))
        time.sleep(0.5)


def giant(connection, _):
    connection.sendall(packet(1, b"\1"))
    for number in range(1 << 20):
        connection.sendall(packet((number + 2) & 255, text(b"x" * 200)))


def says(payload, then_close=True):
    def behave(connection, _):
        connection.sendall(payload)
        if not then_close:
            receive(connection)
    return behave


BEHAVIOURS = {
    "half": serves(lambda connection, _: (connection.sendall(answer(b"0")[:-14]), connection.close())),
    "drip": serves(drip),
    "giant": serves(giant),
    "huge-packet": serves(lambda connection, _: connection.sendall(b"\xff\xff\xff\1" + b"9" * (4 << 20))),
    "garbage": serves(says(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    "infinite-columns": serves(says(packet(1, b"\xfe" + b"\xff" * 8))),
    "no-mysql": scripted.answers(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "silent": lambda connection: receive(connection),
    "inf": serves(says(answer(b"inf"), then_close=False)),
}


def test_nonsense(kscaled, stage, misbehaving):
    """All at once: told, nothing scaled in, and the process is as small as before."""
    stage.deployment(env={"PASSWORD": PASSWORD})
    before = kscaled.rss_mib()
    servers = {}
    for name, behave in BEHAVIOURS.items():
        servers[name] = misbehaving(behave)
        stage.another(name)
        stage.set_replicas(2, name)
        stage.scaledobject(name, target={"name": name}, triggers=[trigger(port=servers[name].address.rpartition(":")[2])])
    for name, server in servers.items():
        stage.wait_failing(name)
        wait_message(stage, server.address, name=name)
        assert stage.replicas(name) == 2
    throughout(lambda: all(stage.replicas(name) == 2 for name in servers), until=after(2))
    assert kscaled.sanitized() or kscaled.rss_mib() < before + 12


def test_files_and_passwords_are_not_given(kscaled, stage, misbehaving):
    """A server may ask for a file of this machine, or for the password in the clear, or for words from the terminal."""
    heard = {"file": [], "mysql_clear_password": [], "dialog": []}

    def ask_file(connection, _):
        connection.sendall(packet(1, b"\xfb/etc/hostname"))
        heard["file"].append(connection.recv(65536))
        connection.sendall(packet(3, b"\xff\x15\x04#28000no"))

    def ask_word(plugin):
        def switch(connection, login):
            heard[plugin].append(login)
            connection.sendall(packet(2, b"\xfe" + plugin.encode() + b"\0Password:\0"))
            heard[plugin].append(connection.recv(65536))
        return switch

    servers = {"file": misbehaving(serves(ask_file)), **{plugin: misbehaving(serves(None, on_login=ask_word(plugin))) for plugin in ("mysql_clear_password", "dialog")}}
    names = {"file": "file", "mysql_clear_password": "clear", "dialog": "dialog"}
    stage.deployment(env={"PASSWORD": PASSWORD})
    for what, server in servers.items():
        stage.scaledobject(names[what], target=stage.another(names[what]), triggers=[trigger(port=server.address.rpartition(":")[2])])
    for what in servers:
        stage.wait_failing(names[what])
        eventually(lambda w=what: len(heard[w]) >= 1)
    assert all(said in (b"", b"\0\0\0\2") for said in heard["file"]), heard["file"]
    assert not any(PASSWORD.encode() in said for said in heard["mysql_clear_password"] + heard["dialog"])
    wait_message(stage, "only mysql_native_password", name="clear")


def test_no_tls_no_word(kscaled, stage, misbehaving):
    """A server that has lost its TLS, or somebody in between, learns nothing."""
    heard = []
    for index, tls in enumerate(("true", "skip-verify")):
        server = misbehaving(serves(None, on_login=lambda _, login: heard.append(login)))
        start(stage, trigger(port=server.address.rpartition(":")[2], tls=tls), name=f"tls{index}", replicas=1)
        stage.wait_failing(f"tls{index}")
        wait_message(stage, "server", "does not support it" if tls == "true" else "has no TLS", name=f"tls{index}")
    assert not any(heard), heard


def test_mysql_8_logins(kscaled, stage, misbehaving, tmp_path):
    """caching_sha2_password, which MariaDB's server does not have: known to the server, and by RSA over a plain line."""
    key = tmp_path / "rsa.pem"
    pki.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
    give = lambda connection, _: connection.sendall(answer(b"7"))
    stage.deployment(env={"PASSWORD": PASSWORD, "WRONG": "open-sesamy"})
    for name, with_key in (("cached", None), ("full", key)):
        server = misbehaving(serves(give, on_login=sha2_login(PASSWORD.encode(), with_key)))
        port = server.address.rpartition(":")[2]
        stage.scaledobject(name, target=stage.another(name), triggers=[trigger(port=port)])
        wait_value(stage, 7, name=name)
        stage.scaledobject(f"{name}-wrong", target=stage.another(f"{name}-wrong"), triggers=[trigger(port=port, passwordFromEnv="WRONG")])
        stage.wait_failing(f"{name}-wrong")
        wait_message(stage, "Access denied", name=f"{name}-wrong")


# --- before anything runs ---

MANIFEST = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: shop}
spec:
  scaleTargetRef: {name: worker}
  triggers:
  - type: mysql
    metadata:
      host: db.shop.svc
      port: "3306"
      username: scaler
      passwordFromEnv: PASSWORD
      dbName: shop
      query: SELECT COUNT(*) FROM jobs
      queryValue: "5"
"""


@pytest.mark.parametrize("old, new, said", [
    ("dbName", "dbName", None),
    ('queryValue: "5"', 'queryValue: "0"', 'parameter "queryValue" value "0" must be greater than 0'),
    ('port: "3306"', 'port: "mysql"', "the port must be a number from 1 to 65535"),
    ("      query: SELECT COUNT(*) FROM jobs\n", "", 'missing required parameter "query"'),
    ("host: db.shop.svc", "hosts: db.shop.svc", "no host given"),
    ("dbName: shop", "dbName: shop\n      tls: maybe", 'param "tls" value "maybe": must be one of false, true, skip-verify, preferred'),
])
def test_check(tmp_path, old, new, said):
    path = tmp_path / "f.yaml"
    path.write_text(MANIFEST.replace(old, new))
    done = run("check", str(path))
    assert done.returncode == (1 if said else 0), done
    assert not said or said in done.stdout, done
