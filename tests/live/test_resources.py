# SPDX-License-Identifier: Apache-2.0
"""cpu and memory: kscaled writes them into the HPA and never asks. (metrics.k8s.io is not there, so the HPA controller says that it gets none, which changes nothing here.)"""
from rig.waiting import after, eventually, throughout


def resource(kind, value, metric_type="Utilization", container=None, **fields):
    return {"type": kind, "metricType": metric_type, "metadata": {"value": value, **({"containerName": container} if container else {})}, **fields}


def metrics_of(stage, name="worker"):
    return stage.hpa_document(f"keda-hpa-{name}")["spec"]["metrics"]


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}}


def test_alone(kscaled, stage):
    """Always active: nobody says that there is nothing to do."""
    requests = [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]
    stage.deployment(replicas=2, containers=requests)
    stage.deployment("lifted", replicas=0, containers=requests)
    triggers = [resource("cpu", "60"), resource("memory", "100Mi", "AverageValue"), resource("cpu", "250m", "AverageValue", "main")]
    stage.ready_scaledobject(minReplicaCount=1, triggers=triggers)
    stage.ready_scaledobject("lifted", minReplicaCount=3, triggers=triggers)
    assert metrics_of(stage) == [
        {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "main", "target": {"type": "AverageValue", "averageValue": "250m"}}},
        CPU,
        {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
    ]
    active = eventually(lambda: stage.says("Active", "True", "ScalerActive"))
    assert active["message"] == "Scaling is performed because triggers are active"
    status = stage.status()
    assert status["resourceMetricNames"] == ["cpu", "memory"], "not that of one container"
    assert status["triggersTypes"] == "cpu,memory"
    assert "externalMetricNames" not in status and "triggersActivity" not in status and "health" not in status
    eventually(lambda: stage.replicas("lifted") == 3)
    # What the HPA controller says of it is shown, and changes neither Ready nor Active.
    eventually(lambda: stage.says("HPAActive", "False", "FailedGetContainerResourceMetric"))
    assert stage.condition("HPAActive")["message"].startswith("HPA is not actively scaling: ")
    throughout(lambda: stage.replicas() == 2 and stage.says("Ready", "True") and stage.says("Active", "True"), until=after(1.5))
    # Scaled to zero by hand it is raised again.
    stage.set_replicas(0)
    eventually(lambda: stage.replicas() == 1)
    assert stage.metric("cpu").failure(404, "NotFound")


def test_beside_an_external_one(kscaled, stage):
    """The external one alone says whether there is work: cpu does not keep the object."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[resource("cpu", "60"), stage.trigger(), resource("memory", "75", container="main")])
    metric = f"s1-redis-{stage.jobs}"
    metrics = metrics_of(stage)
    assert [m["type"] for m in metrics] == ["ContainerResource", "External", "Resource"]
    assert metrics[0]["containerResource"] == {"name": "memory", "container": "main", "target": {"type": "Utilization", "averageUtilization": 75}}
    assert metrics[1]["external"]["metric"]["name"] == metric, "numbered by its place among all triggers"
    assert metrics[2] == CPU
    status = stage.status()
    assert (status["externalMetricNames"], status["resourceMetricNames"], status["triggersTypes"]) == ([metric], ["cpu"], "cpu,redis,memory")
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    stage.push(20)
    eventually(lambda: stage.replicas() == 4)          # the HPA goes by the metric that it has
    assert stage.status()["triggersActivity"] == {metric: {"isActive": True}}
    assert stage.metric(metric).value() == "20"
    stage.drain()
    # A metric that fails keeps the HPA from scaling in; the loop goes to zero by what it knows.
    eventually(lambda: stage.replicas() == 0)
    # cpu goes, memory for the whole Pod comes.
    stage.patch({"spec": {"triggers": [stage.trigger(), resource("memory", "1Gi", "AverageValue")]}})
    eventually(lambda: stage.status()["externalMetricNames"] == [f"s0-redis-{stage.jobs}"])
    status = stage.status()
    assert (status["resourceMetricNames"], status["triggersTypes"]) == (["memory"], "redis,memory")
    assert [m["type"] for m in metrics_of(stage)] == ["External", "Resource"]
    stage.patch({"spec": {"triggers": [stage.trigger()]}})
    eventually(lambda: "resourceMetricNames" not in stage.status() and len(metrics_of(stage)) == 1)


def test_failing_source_beside_cpu(kscaled, stage, start_redis):
    """cpu says nothing about zero, so a source that is down holds the object where it is."""
    dead = start_redis()
    dead.kill()
    for name, replicas in (("zero", 0), ("two", 2)):
        stage.deployment(name, replicas=replicas)
        stage.scaledobject(name, triggers=[resource("cpu", "60"), stage.trigger(address=dead.address)])
    for name in ("zero", "two"):
        stage.wait_failing(name)
    throughout(lambda: (stage.replicas("zero"), stage.replicas("two")) == (0, 2), until=after(2.5))
    dead.start()
    stage.wait_ready("two")
    eventually(lambda: stage.replicas("two") == 0)


WRONG = {
    "no-metric-type": ({"metricType": None}, "unknown metric type"),
    "value-type": ({"metricType": "Value"}, "unknown metric type: Value, allowed values are 'Utilization' or 'AverageValue'"),
    "no-value": ({"metadata": {}}, "value"),
    "no-number": ({"metadata": {"value": "much"}}, "much"),
    "zero": ({"metadata": {"value": "0"}}, "not a percentage from 1"),
    "fraction": ({"metadata": {"value": "50.5"}}, "value"),
    "negative": ({"metricType": "AverageValue", "metadata": {"value": "-1"}}, "value"),
    "old-type": ({"metadata": {"type": "Utilization", "value": "50"}}, "'type' setting is DEPRECATED"),
}


def test_refused(kscaled, stage):
    for name, (change, _) in WRONG.items():
        trigger = {key: value for key, value in {**resource("cpu", "50"), **change}.items() if value is not None}
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, minReplicaCount=1, triggers=[stage.trigger(), trigger])
    for name, (_, message) in WRONG.items():
        said = stage.wait_refused(name)
        assert message in said and "trigger 1" in said, said
    assert stage.hpa_names() == []
