# SPDX-License-Identifier: Apache-2.0
"""The plain port for probes and Prometheus, and the log."""
import json
import re

import pytest

from rig.daemon import APISERVICE
from rig.waiting import eventually


def test_probes(kscaled):
    for path in ("/healthz", "/livez", "/readyz"):
        answer = kscaled.status(path)
        assert (answer.status, answer.text) == (200, "ok")
    verbose = kscaled.status("/readyz?verbose").text
    for check in ("ping", "api-server", "objects", "certificate", "front-proxy"):
        assert f"[+]{check} ok" in verbose
    assert kscaled.status("/healthz/ping").status == 200
    assert kscaled.status("/readyz/nonsense").status == 404


def test_nothing_else_is_there(kscaled, stage):
    for path in ("/", "/apis", stage.path(), "/version", "/openapi/v2", "/debug/pprof", "/objects", "/explain/default/worker", "/apis/insight.kscaled.io/v1/scaledobjectinsights"):
        assert kscaled.status(path).status == 404


def test_metrics(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(6)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[stage.trigger(), stage.trigger(listName='odd"name\\', _name="named")])
    stage.metric().value()
    answer = kscaled.status("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    name = f's0-redis-{stage.jobs}'
    labels = f'namespace="{stage.namespace}",metric="{name}",scaledObject="worker",scaler="redisScaler",triggerIndex="0",type="scaledobject"'
    metrics = kscaled.metrics()
    assert metrics[f"keda_scaler_metrics_value{{{labels}}}"] == 6
    assert metrics[f"keda_scaler_active{{{labels}}}"] == 1
    assert 0 <= metrics[f"keda_scaler_metrics_latency_seconds{{{labels}}}"] < 1
    assert any('scaler="named"' in key and 'odd\\"name\\\\' in key for key in metrics)
    assert metrics[f'keda_resource_registered_total{{type="scaled_object",namespace="{stage.namespace}"}}'] == 1
    assert metrics['keda_trigger_registered_total{type="redis"}'] >= 2
    assert any(key.startswith("keda_build_info{") for key in metrics)
    assert metrics["kscaled_leading"] == 1 and metrics["kscaled_store_synced"] == 1
    assert metrics["process_resident_memory_bytes"] > 0
    # Each family is declared before its samples, once.
    declared, seen = set(), set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            assert line.split()[2] not in declared, line
            declared.add(line.split()[2])
        elif line and not line.startswith("#"):
            assert re.fullmatch(r'[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]\w*="(\\.|[^"\\\n])*",?)*\})? (NaN|[-+]?Inf|[-+0-9.eE]+)', line), line
            family = re.sub(r"_(bucket|sum|count)$", "", line.partition("{")[0].partition(" ")[0])
            assert family in declared or line.partition("{")[0].partition(" ")[0] in declared, line
            seen.add(line.rpartition(" ")[0])
    assert len(seen) == len([l for l in answer.text.splitlines() if l and not l.startswith("#")]), "no series stands twice"


def test_errors_are_counted(kscaled, stage, start_redis):
    dead = start_redis()
    dead.kill()
    stage.deployment(replicas=0)
    stage.scaledobject(triggers=[stage.trigger(address=dead.address)])
    stage.wait_failing()
    stage.metric().failure(503, "ServiceUnavailable")
    metrics = kscaled.metrics()
    assert metrics[f'keda_scaled_object_errors_total{{namespace="{stage.namespace}",scaledObject="worker"}}'] >= 1
    assert any(key.startswith("keda_scaler_detail_errors_total{") and stage.namespace in key and value >= 1 for key, value in metrics.items())


def test_not_ready_before_the_cluster_answers(launch, disturb, installation):
    """Up, alive, not ready, and saying why; ready by itself later."""
    disturb.stop("kube-apiserver")
    try:
        daemon = launch()
        eventually(lambda: daemon.status("/healthz").status == 200)
        answer = daemon.status("/readyz")
        assert answer.status == 503
        assert "objects failed" in answer.text
    finally:
        disturb.start("kube-apiserver")
    daemon.wait_serving(timeout=60)


def test_json_log(launch, stage):
    daemon = launch(options={"log_format": "json"}).wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    stage.scaledobject("bad", target=stage.another("bad"), triggers=[stage.trigger(listLength='"quoted"\n\u2028\\')])
    stage.wait_refused("bad")
    eventually(lambda: stage.replicas() == 1)
    eventually(lambda: "scaled Deployment" in daemon.log())
    lines = daemon.log().rstrip("\n").split("\n")  # not splitlines(), which knows more ends of lines than JSON does
    for line in lines:
        entry = json.loads(line)
        assert entry["level"] in ("debug", "info", "warn", "error") and entry["msg"] and re.match(r"\d{4}-\d\d-\d\dT", entry["ts"])
    about = [json.loads(line) for line in lines if f"{stage.namespace}/worker" in line]
    assert any(entry["object"] == f"scaledobject {stage.namespace}/worker" and "from 0 to 1" in entry["msg"] for entry in about)


@pytest.mark.parametrize("level, there, absent", [("error", [], [" info ", " debug ", " warn "]), ("info", [" info "], [" debug "])])
def test_log_levels(launch, level, there, absent):
    daemon = launch(options={"log_level": level}).wait_serving()
    daemon.term()
    log = daemon.log()
    for word in there:
        assert word in log
    for word in absent:
        assert word not in log


def test_both_families_of_addresses(launch, installation):
    """Without --bind-address it is there for IPv4 and IPv6."""
    daemon = launch(options={"bind_address": None}).wait_serving()
    for host in ("127.0.0.1", "::1"):
        with daemon.connect(host=host) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    assert APISERVICE in daemon.log()
