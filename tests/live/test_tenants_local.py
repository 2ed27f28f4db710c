# SPDX-License-Identifier: Apache-2.0
"""Where a trigger's server may be: who writes an object reaches nothing on kscaled's host, the cloud's metadata service or kscaled's own ports."""
import pytest

from rig.http_source import HttpSource, own_address
from rig.waiting import eventually

LOOPBACK = "is a loopback address, where no trigger's server may be (--allow-local-sources would allow it)"
LINK_LOCAL = "169.254.169.254 is a link-local address, where clouds have their metadata, where no trigger's server may be"


@pytest.fixture
def source():
    """On the host's own address, as a server in the cluster is on its Pod's. Redirects to wherever it is asked to."""
    def redirect(asked):
        return 302, {"Location": asked.query["to"]}, ""

    address = own_address()
    assert address, "this machine has no address but loopback"
    source = HttpSource({"/n": '{"n": 7}', "/redirect": redirect}, host=address)
    yield source
    source.end()


@pytest.fixture
def deaf():
    """What must never be asked."""
    source = HttpSource({"/n": '{"n": 9}'})
    yield source
    assert not source.accepted
    source.end()


def metrics_api(url):
    return {"type": "metrics-api", "metadata": {"url": url, "valueLocation": "n", "targetValue": "1000"}}


def redis(address):
    return {"type": "redis", "metadata": {"address": address, "listName": "l", "listLength": "5"}}


SOURCES = {
    "redis": redis("127.0.0.1:6379"),
    "redis-by-name": redis("localhost:6379"),
    "redis-mapped": redis("[::ffff:127.0.0.1]:6379"),
    "redis-cluster": {"type": "redis-cluster", "metadata": {"addresses": "127.0.0.1:7000", "listName": "l"}},
    "redis-sentinel": {"type": "redis-sentinel", "metadata": {"addresses": "127.0.0.1:26379", "sentinelMaster": "m", "listName": "l"}},
    "postgresql": {"type": "postgresql", "metadata": {"host": "127.0.0.1", "port": "5432", "userName": "u", "dbName": "d", "sslmode": "disable", "query": "SELECT 1", "targetQueryValue": "1"}},
    "mysql": {"type": "mysql", "metadata": {"host": "127.0.0.1", "port": "3306", "username": "u", "dbName": "d", "query": "SELECT 1", "queryValue": "1"}},
    "mongodb": {"type": "mongodb", "metadata": {"connectionString": "mongodb://127.0.0.1:27017", "dbName": "d", "collection": "c", "query": '{"a": 1}', "queryValue": "1"}},
    "prometheus": {"type": "prometheus", "metadata": {"serverAddress": "http://127.0.0.1:9090", "query": "up", "threshold": "1"}},
    "metrics-api": metrics_api("http://127.0.0.1:8081/n"),
    "metrics-api-by-name": metrics_api("http://localhost:8081/n"),
    "external": {"type": "external", "metadata": {"scalerAddress": "127.0.0.1:50051"}},
}


def test_loopback_is_not_there(launch, stage, source, deaf):
    """Each type says why, by its condition; beside it who asks in the cluster goes on."""
    daemon = launch(options={"allow_local_sources": "false"})
    daemon.wait_serving()
    stage.deployment()
    stage.ready_scaledobject(triggers=[metrics_api(f"{source.url}/n")])
    triggers = {**SOURCES, "listening": metrics_api(f"{deaf.url}/n"), "redirected": metrics_api(f"{source.url}/redirect?to={deaf.url}/n")}
    for name, trigger in triggers.items():
        stage.another(name)
        stage.scaledobject(name, triggers=[trigger])

    def is_told(name):
        condition = stage.says("Ready", "False", name=name)
        assert LOOPBACK in condition["message"], (name, condition)
        return True

    for name in triggers:
        eventually(lambda: is_told(name))  # pylint: disable=cell-var-from-loop
    assert stage.metric("s0-metric-api-n").value() == "7"


@pytest.mark.parametrize("path, option", [("/run/postgresql", "false"), ("/run/nothing.sock", "false")])
def test_unix_sockets_are_not_there(launch, stage, path, option):
    launch(options={"allow_local_sources": option}).wait_serving()
    stage.deployment()
    stage.scaledobject(triggers=[{"type": "postgresql", "metadata": {**SOURCES["postgresql"]["metadata"], "host": path}}])
    eventually(lambda: "is a Unix socket, where no trigger's server may be" in stage.says("Ready", "False")["message"])


def test_never_metadata_nor_own_ports(kscaled, stage, source):
    """Also where local sources are allowed: at once, not after a time-out, and behind a redirect."""
    own = f"http://127.0.0.1:{kscaled.status_port}/metrics"
    urls = {
        "metadata": "http://169.254.169.254/latest/meta-data/", "metadata-mapped": "http://[::ffff:169.254.169.254]/", "redirected": f"{source.url}/redirect?to=http://169.254.169.254/",
        "own": own, "own-redirected": f"{source.url}/redirect?to={own}", "own-by-name": own.replace("127.0.0.1", "localhost"),
    }
    stage.deployment()
    for name, url in urls.items():
        stage.another(name)
        stage.scaledobject(name, triggers=[metrics_api(url)])
    for name in urls:
        words = "is this host, and the port one of kscaled's own" if name.startswith("own") else LINK_LOCAL.removeprefix("169.254.169.254")
        eventually(lambda: words in stage.says("Ready", "False", name=name)["message"])  # pylint: disable=cell-var-from-loop
