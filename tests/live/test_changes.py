# SPDX-License-Identifier: Apache-2.0
"""A ScaledObject is changed while its loop runs: taken up at once, and nothing is lost. And how often a source is asked."""
import time

from rig.waiting import after, eventually, throughout, timed


def named(name):
    return {"horizontalPodAutoscalerConfig": {"name": name}}


def external_names(stage):
    """What the HPA goes by."""
    return [m["external"]["metric"]["name"] for m in stage.hpa_document()["spec"]["metrics"] if m["type"] == "External"]


def test_target(kscaled, stage):
    """Another name, then another kind: the new one is scaled at once, the old one is left as it is."""
    stage.deployment("worker", replicas=0)
    stage.deployment("other", replicas=0)
    stage.statefulset("other", replicas=0)
    stage.push(20)
    stage.ready_scaledobject(pollingInterval=60)
    eventually(lambda: stage.replicas() == 4)
    stage.patch({"spec": {"scaleTargetRef": {"name": "other"}}})
    assert timed(lambda: stage.replicas("other") >= 1) < 5, "at once, not at the next poll"
    eventually(lambda: stage.replicas("other") == 4)
    ref = stage.hpa_document()["spec"]["scaleTargetRef"]
    assert (ref["kind"], ref["name"]) == ("Deployment", "other")
    stage.patch({"spec": {"scaleTargetRef": {"name": "other", "kind": "StatefulSet"}}})
    assert timed(lambda: stage.replicas("other", "statefulset") >= 1) < 5
    eventually(lambda: stage.replicas("other", "statefulset") == 4)
    ref = stage.hpa_document()["spec"]["scaleTargetRef"]
    assert (ref["apiVersion"], ref["kind"], ref["name"]) == ("apps/v1", "StatefulSet", "other")
    status = eventually(lambda: (s := stage.status())["scaleTargetKind"] == "apps/v1.StatefulSet" and s)
    assert status["scaleTargetGVKR"]["resource"] == "statefulsets" and status["originalReplicaCount"] == 0
    assert len(stage.events(reason="KEDAScaleTargetActivated")) == 3
    # To zero and nothing else of the ones before.
    stage.drain()
    stage.patch({"spec": {"pollingInterval": 1}})
    eventually(lambda: stage.replicas("other", "statefulset") == 0)
    assert (stage.replicas(), stage.replicas("other")) == (4, 4)
    # Away and back: one that does not exist is told, and what was is taken up again.
    stage.patch({"spec": {"scaleTargetRef": {"name": "nobody", "kind": None}}})
    assert "nobody" in stage.wait_refused()
    stage.patch({"spec": {"scaleTargetRef": {"name": "worker"}}})
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_triggers(kscaled, stage):
    """Added, reordered, taken away, of another type: the HPA, the status and the loop follow, and no replica is lost on the way."""
    stage.deployment(replicas=0)
    lists = [f"{stage.namespace}-{c}" for c in "abc"]
    a, b, c = (stage.trigger(listName=name) for name in lists)
    stage.push(20, lists[0])
    stage.push(30, lists[1])
    stage.ready_scaledobject(triggers=[a])
    eventually(lambda: stage.replicas() == 4)

    def follow(triggers, metrics, replicas, least):
        stage.patch({"spec": {"triggers": triggers}})
        throughout(lambda: stage.replicas() >= least, until=lambda: external_names(stage) == metrics and stage.status().get("externalMetricNames") == metrics)
        eventually(lambda: stage.replicas() == replicas)
        eventually(lambda: sorted(stage.status()["triggersActivity"]) == sorted(metrics))
        stage.wait_ready()
        for metric in metrics:
            assert stage.metric(metric).status == 200

    def name(i, n):
        return f"s{i}-redis-{lists[n]}"

    follow([a, b], [name(0, 0), name(1, 1)], 6, least=4)
    assert stage.metric(name(1, 1)).value() == "30"
    follow([b, c, a], [name(0, 1), name(1, 2), name(2, 0)], 6, least=6)
    assert stage.metric(name(1, 1)).failure(404, "NotFound"), "b is the first one now"
    assert stage.status()["triggersActivity"] == {name(0, 1): {"isActive": True}, name(1, 2): {"isActive": False}, name(2, 0): {"isActive": True}}
    follow([a], [name(0, 0)], 4, least=4)
    # Of another type and back.
    cpu = {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "50"}}
    stage.patch({"spec": {"triggers": [cpu], "minReplicaCount": 1}})
    eventually(lambda: [m["type"] for m in stage.hpa_document()["spec"]["metrics"]] == ["Resource"])
    status = eventually(lambda: (s := stage.status()).get("resourceMetricNames") == ["cpu"] and s)
    assert status["triggersTypes"] == "cpu" and "externalMetricNames" not in status and "triggersActivity" not in status
    follow([a, {**cpu}], [name(0, 0)], 4, least=4)
    assert stage.status()["triggersTypes"] == "redis,cpu"
    # A type that is unknown is told, and nothing is torn down; right again, it goes on.
    stage.patch({"spec": {"triggers": [{"type": "predictkube", "metadata": {}}]}})
    assert "predictkube" in stage.wait_refused()
    throughout(lambda: stage.replicas() == 4 and external_names(stage) == [name(0, 0)], until=after(1.2))
    follow([b], [name(0, 1)], 6, least=4)
    for jobs in lists:
        stage.drain(jobs)


def test_threshold_of_a_trigger(kscaled, stage):
    """listLength and metricType change what the HPA is told to reach, not what is asked."""
    stage.deployment(replicas=0)
    stage.push(20)
    stage.ready_scaledobject(pollingInterval=60)
    eventually(lambda: stage.replicas() == 4)
    stage.patch({"spec": {"triggers": [stage.trigger(listLength=10)]}})
    eventually(lambda: stage.replicas() == 2)
    stage.patch({"spec": {"triggers": [stage.trigger(listLength=20, _metricType="Value")]}})
    target = eventually(lambda: (t := stage.hpa_document()["spec"]["metrics"][0]["external"]["target"])["type"] == "Value" and t)
    assert target == {"type": "Value", "value": "20"}
    throughout(lambda: stage.replicas() == 2, until=after(1.2))    # as many as there are times 20 / 20
    stage.push(20)
    eventually(lambda: stage.replicas() == 10)
    stage.patch({"spec": {"triggers": [stage.trigger(listLength=20, _metricType="AverageValue")]}})
    eventually(lambda: stage.replicas() == 2)


def test_replica_bounds(kscaled, stage):
    """The minimum and the maximum, without a poll in between."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=60)
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    stage.patch({"spec": {"minReplicaCount": 3}})
    assert timed(lambda: stage.replicas() == 3) < 5
    stage.push(100)
    eventually(lambda: stage.replicas() == 10)
    stage.patch({"spec": {"maxReplicaCount": 4}})
    eventually(lambda: stage.replicas() == 4)
    stage.drain()
    eventually(lambda: stage.replicas() == 3)
    stage.patch({"spec": {"idleReplicaCount": 0}})
    eventually(lambda: stage.replicas() == 0)
    stage.patch({"spec": {"minReplicaCount": 5, "maxReplicaCount": None, "idleReplicaCount": None}})
    eventually(lambda: stage.replicas() == 5)
    assert stage.hpa().spec.max_replicas == 100
    # Bounds that contradict each other are held by the schema; ours is the same object afterwards.
    stage.patch({"spec": {"minReplicaCount": 0}})
    eventually(lambda: stage.replicas() == 0)


def test_name_of_the_hpa(kscaled, stage):
    """Renamed under load: there is no moment at which the replicas are not what the work needs."""
    stage.deployment(replicas=0)
    stage.push(20)
    stage.ready_scaledobject(advanced=named("one"))
    eventually(lambda: stage.replicas() == 4)
    for name in ("two", "three", "one"):
        stage.patch({"spec": {"advanced": named(name)}})
        throughout(lambda: stage.replicas() == 4, until=lambda name=name: stage.hpa_names() == [name] and stage.status()["hpaName"] == name)
    stage.push(20)
    eventually(lambda: stage.replicas() == 8)          # the last one works
    stage.says("Ready", "True")
    assert not stage.events(reason="KEDAScaleTargetDeactivated")


def test_polling_interval(kscaled, stage, start_redis):
    """The next poll comes by the new interval, shorter or longer."""
    server = start_redis()
    client = server.client()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=60, triggers=[stage.trigger(address=server.address, listName="jobs")])
    asked = eventually(lambda: server.evals(client))
    throughout(lambda: server.evals(client) <= asked + 1, until=after(1.5))
    stage.patch({"spec": {"pollingInterval": 1}})
    start, asked = time.monotonic(), server.evals(client)
    eventually(lambda: server.evals(client) >= asked + 4)
    assert 1.5 < time.monotonic() - start < 10
    stage.patch({"spec": {"pollingInterval": 60}})
    eventually(lambda: stage.condition("Ready").get("observedGeneration") == 3)
    throughout(lambda: None, until=after(1))           # one may be on its way
    asked = server.evals(client)
    throughout(lambda: server.evals(client) <= asked, until=after(2.5))


def test_cached_metrics(kscaled, stage, start_redis):
    """useCachedMetrics: the source sees the polls and nothing else, however often it is asked for; without, it sees both."""
    server = start_redis()
    client = server.client()
    client.rpush("jobs", *range(10))
    stage.deployment(replicas=0)
    trigger = stage.trigger(address=server.address, listName="jobs")
    stage.ready_scaledobject(pollingInterval=3, triggers=[{**trigger, "useCachedMetrics": True}])
    metric = "s0-redis-jobs"
    eventually(lambda: stage.replicas() == 2)
    # From one poll to the one after the next: two queries, while the HPA controller asks each second, and we do, too.
    seen = server.evals(client)
    eventually(lambda: server.evals(client) > seen, every=0.02)
    seen, start = server.evals(client), time.monotonic()
    client.rpush("jobs", *range(5))
    throughout(lambda: stage.metric(metric).value() in ("10", "15"), until=lambda: server.evals(client) >= seen + 2, every=0.2)
    assert 5 < time.monotonic() - start < 9, "two polls, 3 s each"
    assert server.evals(client) == seen + 2
    assert stage.metric(metric).value() == "15"
    # As polled, not as it is.
    client.rpush("jobs", *range(25))
    assert stage.metric(metric).value() == "15"
    # A source that is gone is told from the cache, too: as long as the poll's answer counts it is the answer.
    stage.patch({"spec": {"triggers": [{**trigger, "useCachedMetrics": False}]}})
    eventually(lambda: stage.metric(metric).value() == "40")
    seen = server.evals(client)
    throughout(lambda: stage.metric(metric).value() == "40", until=lambda: server.evals(client) >= seen + 3)


def test_many_changes_in_a_row(kscaled, stage):
    """The last word counts, however fast they come."""
    stage.deployment("worker", replicas=0)
    stage.deployment("other", replicas=0)
    stage.push(20)
    stage.ready_scaledobject()
    for i in range(30):
        stage.patch({"spec": {"scaleTargetRef": {"name": ("worker", "other")[i % 2]}, "maxReplicaCount": 3 + i % 5, "minReplicaCount": i % 2,
                              "triggers": [stage.trigger(listLength=1 + i % 4), stage.trigger(listName=f"none-{i}")][:1 + i % 2],
                              "advanced": named(f"hpa-{i % 3}")}})
    stage.patch({"spec": {"scaleTargetRef": {"name": "other"}, "maxReplicaCount": 8, "minReplicaCount": 0, "triggers": [stage.trigger(listLength=4)], "advanced": named("last")}})

    def only_the_last():
        assert stage.hpa_names() == ["last"]
        return True

    eventually(only_the_last)
    eventually(lambda: stage.replicas("other") == 5)
    status = eventually(lambda: (s := stage.status())["hpaName"] == "last" and s["externalMetricNames"] == [f"s0-redis-{stage.jobs}"] and s)
    eventually(lambda: {c.get("observedGeneration") for c in stage.status()["conditions"] if c["type"] != "HPAActive"} == {stage.get()["metadata"]["generation"]})
    assert status["triggersTypes"] == "redis"
    stage.wait_ready()
