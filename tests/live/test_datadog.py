# SPDX-License-Identifier: Apache-2.0
"""The datadog trigger, against a server that stands in for Datadog and for its Cluster Agent (rig/datadog_fake.py says what that is)."""
import pathlib
import time

import pytest

from rig.datadog_fake import Datadog
from rig.http_source import giant, half
from rig.waiting import eventually

HITS = "sum:trace.redis.hits{env:production,service:shop}.as_rate()"
METRIC = "s0-datadog-sum-trace-redis-hits"


@pytest.fixture
def datadog(tmp_path):
    datadog = Datadog(tmp_path)
    datadog.series[HITS] = [[3, 4]]
    yield datadog
    assert datadog.wrong == []
    datadog.end()


@pytest.fixture
def keys(credentials, datadog):
    """apiKey and appKey as made of files, the site, and who signs it."""
    credentials.secret("datadog", api="api-key-1\n", app="app-key-1\n", site=datadog.site, ca=pathlib.Path(datadog.authority.cert).read_text())
    credentials.authentication("datadog", secretTargetRef=[{"parameter": parameter, "name": "datadog", "key": key} for parameter, key in (("apiKey", "api"), ("appKey", "app"), ("datadogSite", "site"), ("ca", "ca"))])
    return {"authenticationRef": {"name": "datadog"}}


def agent_auth(credentials, name, datadog, **more):
    values = {"datadogNamespace": "localhost", "datadogMetricsService": "agent", "datadogMetricsServicePort": datadog.port, **more}
    if "unsafeSsl" not in more:
        values["ca"] = pathlib.Path(datadog.authority.cert).read_text()
    credentials.secret(name, **{key: str(value) for key, value in values.items()})
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
    return {"authenticationRef": {"name": name}}


def trigger(keys, **metadata):
    return {"type": "datadog", "metadata": {key: str(value) for key, value in {"query": HITS, "targetValue": 1, **metadata}.items()}, **keys}


def of_agent(auth, name="hits", namespace="shop", **metadata):
    return {"type": "datadog", "metadata": {key: str(value) for key, value in {"useClusterAgentProxy": "true", "datadogMetricName": name, "datadogMetricNamespace": namespace, "targetValue": 1, **metadata}.items()}, **auth}


def test_what_is_read(kscaled, stage, datadog, keys):
    """Each parameter that changes what is asked, or what of it counts, in one object; two equal questions are one."""
    datadog.series.update({"avg:a.b{*}": [[1, 2, 5, None]], "avg:a{*} by {h}": [[1], [2, 6]], "avg:none{*}": [], "avg:null{*}": [[None, None]], "(avg:ü{*}+avg:b{*})/2 , max:c{x:y z}": [[0.5], [1.5]]})
    cases = [
        (HITS, {}, "4"), (HITS, {"activationQueryValue": 3}, "4"), ("avg:a.b{*}", {}, "5"), ("avg:a.b{*}", {"lastAvailablePointOffset": 1}, "2"), ("avg:a{*} by {h}", {"queryAggregator": "average"}, "3500m"),
        ("avg:a{*} by {h}", {"queryAggregator": "max", "age": 600, "timeWindowOffset": 60}, "6"), ("avg:none{*}", {"metricUnavailableValue": 7}, "7"), ("avg:null{*}", {"metricUnavailableValue": "1.5"}, "1500m"),
        ("(avg:ü{*}+avg:b{*})/2 , max:c{x:y z}", {"queryAggregator": "average"}, "1"),
    ]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(keys, query=query, targetValue=1000, **metadata) for query, metadata, _ in cases])
    for index, (query, metadata, wanted) in enumerate(cases):
        prefix = query.partition("{")[0].replace(":", "-").replace(".", "-").replace("(", "-")
        assert stage.metric(f"s{index}-datadog-{prefix}").value() == wanted, (query, metadata)
    windows = {(query, seconds, ago // 10 * 10) for query, seconds, ago in datadog.windows}
    assert windows == {(query, 90, 0) for query, metadata, _ in cases if "age" not in metadata} | {("avg:a{*} by {h}", 600, 60)}
    count = len(datadog.windows)
    eventually(lambda: len(datadog.windows) > count + 20)
    newest = [query for query, _, _ in datadog.windows[count:count + 16]]
    assert newest.count(HITS) <= 3 and newest.count("avg:a.b{*}") >= 3, newest   # of each round one, and two


def test_scales(kscaled, stage, datadog, keys):
    stage.deployment(replicas=0)
    datadog.series[HITS] = [[2]]
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[trigger(keys, targetValue=2, activationQueryValue=2)])
    eventually(lambda: stage.metric(METRIC).value() == "2")
    assert stage.replicas() == 0
    datadog.series[HITS] = [[2, 6.5, None]]
    eventually(lambda: stage.replicas() == 4)
    datadog.series[HITS] = [[0]]
    eventually(lambda: stage.replicas() == 0)


def failing(stage, metric, replicas=2):
    def fails(*words, metric=metric):
        def is_said():
            message = stage.metric(metric).failure(503, "ServiceUnavailable")
            assert all(word in message for word in words), message
            assert "key-1" not in message
            return True
        stage.wait_failing()
        eventually(is_said)
        assert stage.replicas() == replicas
    return fails


def test_nonsense(kscaled, stage, datadog, keys):
    """Each says so, and none is 0. Statuses that Datadog documents are in tests/unit/scalers/datadog, one by one."""
    cases = [
        (half, "datadog"), (giant, "larger than"), (lambda asked: (200, {}, "{}"), 'no array "series"'), (lambda asked: (200, {}, '{"series":[{"pointlist":[["now",1],{}]}]}'), "a point of a series"),
        (lambda asked: (200, {}, '{"status":"error","error":"internal\\nproblem"}'), "error when retrieving Datadog metrics: internal problem"), (lambda asked: (500, {}, '{"errors":["Internal Error"]}'), "HTTP status 500: Internal Error"),
        (lambda asked: (200, {"Content-Type": "text/html"}, "<html>"), "not JSON but text/html"), (lambda asked: (400, {}, '{"errors":["you sent app-key-1"]}'), "its text is not shown"),
        (lambda asked: time.sleep(1.5), "no complete answer within 1000 ms"),
    ]
    datadog.answer = lambda asked: cases[int(asked.query["query"].partition("avg:f")[2].partition("{")[0])][0](asked)
    stage.deployment(replicas=2)
    stage.scaledobject(maxReplicaCount=2, triggers=[trigger(keys, query=f"avg:f{n}{{*}}", timeout=1000) for n in range(len(cases))])
    fails = failing(stage, METRIC)
    for n, (_, words) in enumerate(cases):
        fails(words, metric=f"s{n}-datadog-avg-f{n}")


def test_faults(kscaled, stage, datadog, keys, credentials):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[trigger(keys, timeout=1000)])
    eventually(lambda: stage.replicas() == 2)
    fails = failing(stage, METRIC)

    def is_well():
        eventually(lambda: stage.metric(METRIC).value() == "4")
        stage.wait_ready()

    answers = datadog.answer
    datadog.answer = half
    fails("datadog")
    datadog.answer = answers
    is_well()
    hits = datadog.series.pop(HITS)
    fails("HTTP status 400: Error parsing query")
    for series, words in (([], "no Datadog metrics returned for the given time window"), ([[None]], "no Datadog metrics returned for the given time window"), ([[1], [2]], "query returned more than 1 series")):
        datadog.series[HITS] = series
        fails(words)
    datadog.series[HITS] = hits
    is_well()
    datadog.keys = ("api-key-1", "rotated")
    fails("unauthorized to connect to Datadog", "HTTP status 403: Forbidden")
    credentials.change_secret("datadog", app="rotated")
    is_well()
    datadog.answer = lambda asked: None  # ends the connections that are kept
    datadog.end()
    fails(f"api.localhost:{datadog.port}")
    datadog.answer = answers
    datadog.start()
    is_well()


def test_a_limit_is_kept(kscaled, stage, datadog, keys):
    """After a 429 nobody asks with these keys, whatever the query, until Datadog's own X-RateLimit-Reset."""
    datadog.series["avg:other{*}"] = [[1]]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(keys), trigger(keys, query="avg:other{*}")])
    datadog.limited = 4
    stage.wait_failing()
    eventually(lambda: any(word in stage.metric(METRIC).failure(503, "ServiceUnavailable") for word in ("your Datadog account reached the 300 queries per 3600 seconds rate limit, next limit reset will happen in 4 seconds", "asked to be left alone")))
    datadog.limited = 0
    refused = len(datadog.asked)
    eventually(lambda: stage.metric(METRIC).value() == "4")
    times = [asked.time for asked in datadog.asked]
    assert times[refused] - times[refused - 1] > 3.9, times[refused - 3:refused + 1]
    stage.wait_ready()


def test_a_stranger_is_not_trusted(kscaled, stage, datadog, credentials):
    """Without ca: the keys are shown to nobody whom the system does not trust."""
    credentials.secret("datadog", apiKey="api-key-1", appKey="app-key-1", datadogSite=datadog.site)
    credentials.authentication("datadog", secretTargetRef=[{"parameter": key, "name": "datadog", "key": key} for key in ("apiKey", "appKey", "datadogSite")])
    stage.deployment(replicas=1)
    stage.scaledobject(maxReplicaCount=1, triggers=[trigger({"authenticationRef": {"name": "datadog"}})])
    stage.wait_failing()
    eventually(lambda: "certificate" in stage.metric(METRIC).failure(503, "ServiceUnavailable"))
    assert datadog.asked == []


def test_cluster_agent(kscaled, stage, datadog, credentials):
    """The metric has the agent's name for it; without a value metricUnavailableValue counts, when there is one."""
    datadog.token = "agent-token-key-1"
    datadog.metrics = {("shop", "hits"): "1500m", ("shop", "number"): 3}
    auth, wrong = agent_auth(credentials, "agent", datadog, authMode="bearer", token="agent-token-key-1"), agent_auth(credentials, "wrong", datadog, authMode="bearer", token="another-key-1")
    metric = "datadogmetric@shop:hits"
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[of_agent(auth, activationTargetValue=1), of_agent(auth, "number"), of_agent(auth, "none", metricUnavailableValue=0)])
    eventually(lambda: [stage.metric(f"datadogmetric@shop:{name}").value() for name in ("hits", "number", "none")] == ["1500m", "3", "0"])
    eventually(lambda: stage.replicas() == 2)
    stage.patch({"spec": {"triggers": [of_agent(auth, activationTargetValue=1)]}})
    stage.wait_ready()
    fails = failing(stage, metric)
    datadog.metrics["shop", "hits"] = "DatadogMetric is invalid, err: Invalid metric query"
    fails("HTTP status 422: DatadogMetric is invalid")
    answers = datadog.answer
    datadog.answer = lambda asked: (200, {}, '{"items":[{"value":[]}]}')
    fails("the metric value must be of type number or a string representing a Quantity")
    datadog.answer = answers
    datadog.metrics["shop", "hits"] = 2
    eventually(lambda: stage.metric(metric).value() == "2")
    stage.wait_ready()
    stage.patch({"spec": {"triggers": [of_agent(wrong)]}})
    fails("HTTP status 401: Unauthorized")


def test_cluster_agent_unverified(kscaled, stage, datadog, credentials):
    """As Datadog installs it: a certificate of its own, and nobody to log in."""
    datadog.metrics["shop", "hits"] = 5
    auth = agent_auth(credentials, "agent", datadog, unsafeSsl="true")
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[of_agent(auth)])
    eventually(lambda: stage.metric("datadogmetric@shop:hits").value() == "5")
