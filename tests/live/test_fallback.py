# SPDX-License-Identifier: Apache-2.0
"""spec.fallback with the real HPA controller: what stands in for a source that is down, from when on, and until when."""
import pytest

from rig.waiting import after, eventually, throughout

THRESHOLD = 8   # failures in a row that change nothing; the loop and the HPA controller each see about one a second


@pytest.fixture
def source(start_redis):
    """A redis-server that goes down."""
    return start_redis()


def fallback(replicas, behavior=None, threshold=THRESHOLD):
    return {"failureThreshold": threshold, "replicas": replicas, **({"behavior": behavior} if behavior else {})}


def metric_of(stage, jobs="jobs"):
    return f"s0-redis-{jobs}"


def health(stage, name="worker"):
    return stage.status(name).get("health") or {}


def falls_back(stage, name="worker"):
    condition = stage.says("Fallback", "True", "FallbackExists", name)
    assert condition["message"].startswith("At least one trigger is falling back on this scaled object: s")  # and which, and why
    return True


def falls_back_no_more(stage, name="worker"):
    condition = stage.says("Fallback", "False", "NoFallbackFound", name)
    assert condition["message"] == "No fallbacks are active on this scaled object"
    return True


# name: fallback, further fields, replicas while the source is down (4 before)
BEHAVIORS = {
    "more": (fallback(6), {}, 6),
    "fewer": (fallback(2, "static"), {}, 2),
    "current": (fallback(9, "currentReplicas"), {}, 4),
    "higher-raises": (fallback(6, "currentReplicasIfHigher"), {}, 6),
    "higher-keeps": (fallback(2, "currentReplicasIfHigher"), {}, 4),
    "lower-keeps": (fallback(6, "currentReplicasIfLower"), {}, 4),
    "lower-lowers": (fallback(2, "currentReplicasIfLower"), {}, 2),
    "formula": (fallback(3, "scalingModifiers"), {"formula": "a ?? 35"}, 7),
    "formula-nil": (fallback(3, "scalingModifiers"), {"formula": "a ?? nil"}, 3),
    "formula-static": (fallback(6, "static"), {"formula": "a"}, 6),
}


def test_each_behavior(kscaled, stage, source):
    """Up to the threshold nothing is scaled; beyond it each behavior does what it is called; and all of it ends with the outage."""
    client = source.client()
    client.rpush("jobs", *range(20))
    for name, (given, modifiers, _) in BEHAVIORS.items():
        stage.deployment(name, replicas=4)
        stage.scaledobject(name, minReplicaCount=1, fallback=given, triggers=[stage.trigger(address=source.address, listName="jobs", _name="a")],
                           advanced={"scalingModifiers": {**modifiers, "target": "5"}} if modifiers else None)
    for name in BEHAVIORS:
        stage.wait_ready(name)
        eventually(lambda name=name: health(stage, name) == {metric_of(stage): {"numberOfFailures": 0, "status": "Happy"}} and falls_back_no_more(stage, name))
        eventually(lambda name=name: stage.says("Active", "True", "ScalerActive", name) and stage.replicas(name) == 4)
    source.kill()
    eventually(lambda: all(health(stage, name)[metric_of(stage)]["status"] == "Failing" for name in BEHAVIORS))

    def holds(name):
        """While the status has not counted to the threshold: on a busy machine that is sooner than all are looked at."""
        replicas, status = stage.replicas(name), stage.status(name)
        if status["health"][metric_of(stage)]["numberOfFailures"] < THRESHOLD:
            fallback = next(condition for condition in status["conditions"] if condition["type"] == "Fallback")
            assert (replicas, fallback["status"], fallback["reason"]) == (4, "False", "NoFallbackFound"), status
        return True

    throughout(lambda: all(holds(name) for name in BEHAVIORS), until=after(1.2))
    assert source.address in stage.event("KEDAScalerFailed", "more").note       # Ready stays, as the fallback will help
    stage.says("Ready", "True", "ScaledObjectReady", "more")
    for name, (_, _, replicas) in BEHAVIORS.items():
        eventually(lambda name=name: falls_back(stage, name))
        eventually(lambda name=name, replicas=replicas: stage.replicas(name) == replicas)
    for name in BEHAVIORS:
        failed = health(stage, name)[metric_of(stage)]
        assert failed["status"] == "Failing" and failed["numberOfFailures"] > THRESHOLD, failed
        stage.says("Ready", "True", "ScaledObjectReady", name)
        stage.says("Active", "True", "ScalerActive", name)
        assert stage.event("ScaledObjectFallbackActivated", name).note == "ScaledObject fallback is active"
        assert not stage.events(name, "ScaledObjectFallbackDeactivated")
    assert stage.metric(metric_of(stage), "more").value() == "30"
    assert stage.metric("composite-metric", "formula").value() == "35"
    expected = {name: replicas for name, (_, _, replicas) in BEHAVIORS.items()}
    throughout(lambda: {name: stage.replicas(name) for name in BEHAVIORS} == expected, until=after(2))
    source.start()
    source.client().rpush("jobs", *range(25))
    for name in BEHAVIORS:
        eventually(lambda name=name: stage.replicas(name) == 5)
        eventually(lambda name=name: falls_back_no_more(stage, name) and health(stage, name) == {metric_of(stage): {"numberOfFailures": 0, "status": "Happy"}})
        assert stage.event("ScaledObjectFallbackDeactivated", name).note == "ScaledObject fallback is no longer active"


def test_threshold_is_counted_in_a_row(kscaled, stage, source):
    """A short outage is no outage."""
    stage.deployment(replicas=2)
    client = source.client()
    client.rpush("jobs", *range(10))
    stage.ready_scaledobject(minReplicaCount=1, fallback=fallback(9), triggers=[stage.trigger(address=source.address, listName="jobs")])
    for _ in range(3):
        source.kill()
        eventually(lambda: health(stage)[metric_of(stage)]["status"] == "Failing")
        source.start()
        source.client().rpush("jobs", *range(10))
        eventually(lambda: health(stage)[metric_of(stage)]["status"] == "Happy")
    assert not stage.events(reason="ScaledObjectFallbackActivated")
    eventually(lambda: stage.replicas() == 2)


@pytest.mark.journey
def test_no_replicas(kscaled, stage, source):
    """fallback.replicas 0 is the one zero that an outage can make, as the user wrote it; a current count of 0 is none."""
    client = source.client()
    client.rpush("jobs", *range(15))
    trigger = stage.trigger(address=source.address, listName="jobs")
    stage.deployment("none", replicas=0)
    stage.deployment("current", replicas=0)
    stage.deployment("without", replicas=0)
    stage.ready_scaledobject("none", fallback=fallback(0, threshold=1), triggers=[trigger])
    stage.ready_scaledobject("without", triggers=[trigger])
    eventually(lambda: stage.replicas("none") == 3 and stage.replicas("without") == 3)
    source.kill()
    eventually(lambda: falls_back(stage, "none") and stage.replicas("none") == 0)
    # Not before the source is known to be down: until then the last answer stands for all who ask the same.
    stage.scaledobject("current", fallback=fallback(5, "currentReplicas", threshold=1), triggers=[trigger])
    assert stage.metric(metric_of(stage), "none").value() == "0"
    eventually(lambda: health(stage, "current")[metric_of(stage)]["numberOfFailures"] > 1)
    stage.wait_failing("current")
    falls_back_no_more(stage, "current")
    message = stage.metric(metric_of(stage), "current").failure(503, "ServiceUnavailable")
    assert "fallback cannot be used: the target has no replicas to go by" in message
    throughout(lambda: stage.replicas("current") == 0 and stage.replicas("without") == 3, until=after(1.5))


def test_metric_type_value(kscaled, stage, source):
    """The HPA multiplies such a value by the ready pods, so it is divided by them; without any it cannot be said."""
    client = source.client()
    client.rpush("jobs", *range(5))
    trigger = stage.trigger(address=source.address, listName="jobs", _metricType="Value")
    stage.deployment("ready", replicas=3)
    stage.deployment("waiting", replicas=3, node=None)      # no node takes its pods
    # The HPA counts pods, we what the Deployment says of them: while pods get ready it may come too high for a moment.
    behavior = {"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}}
    for name in ("ready", "waiting"):
        stage.ready_scaledobject(name, minReplicaCount=1, fallback=fallback(6, threshold=1), triggers=[trigger], advanced=behavior)
    eventually(lambda: stage.ready_replicas("ready") == 3)
    eventually(lambda: stage.metric(metric_of(stage), "ready").value() == "5")
    source.kill()
    eventually(lambda: falls_back(stage, "ready"))

    def stays_at_six():
        throughout(lambda: stage.replicas("ready") == stage.ready_replicas("ready") == 6, until=after(2))
        return True

    eventually(stays_at_six, timeout=60)
    assert stage.metric(metric_of(stage), "ready").value() == "5"   # 5 x 6 for 6 pods
    eventually(lambda: health(stage, "waiting")[metric_of(stage)]["numberOfFailures"] > 1)
    stage.wait_failing("waiting")
    falls_back_no_more(stage, "waiting")
    assert "fallback cannot be used: no pod of the target is ready" in stage.metric(metric_of(stage), "waiting").failure(503, "ServiceUnavailable")
    assert stage.replicas("waiting") == 3


def test_one_of_several_fails(kscaled, stage, source):
    """Only the failing one is replaced; the others say what they said."""
    stage.deployment(replicas=0)
    stage.push(10)
    bad = stage.trigger(address=source.address, listName="jobs")
    stage.ready_scaledobject(triggers=[stage.trigger(), bad], fallback=fallback(6, threshold=1))
    eventually(lambda: stage.replicas() == 2)
    good_metric, bad_metric = f"s0-redis-{stage.jobs}", "s1-redis-jobs"
    assert stage.status()["triggersActivity"] == {good_metric: {"isActive": True}, bad_metric: {"isActive": False}}
    source.kill()
    eventually(lambda: falls_back(stage) and stage.replicas() == 6)
    failing = health(stage)[bad_metric]
    assert failing["status"] == "Failing" and failing["numberOfFailures"] > 1
    assert health(stage)[good_metric] == {"numberOfFailures": 0, "status": "Happy"}
    assert stage.status()["triggersActivity"] == {good_metric: {"isActive": True}, bad_metric: {"isActive": True}}
    assert (stage.metric(good_metric).value(), stage.metric(bad_metric).value()) == ("10", "30")
    stage.push(30)
    eventually(lambda: stage.replicas() == 8)
    stage.drain()
    eventually(lambda: stage.replicas() == 6)
    throughout(lambda: stage.replicas() == 6, until=after(2))  # what falls back is active: not to zero
    source.start()
    eventually(lambda: stage.replicas() == 0)
    assert falls_back_no_more(stage)


def test_down_from_the_start(kscaled, stage, source):
    """A source that is down when the object is created: the HPA is made, fallback counts, the other triggers scale (KEDA does nothing of it)."""
    source.kill()
    bad, other = stage.trigger(address=source.address, listName="jobs"), f"{stage.namespace}-other"
    stage.deployment("falling", replicas=0)
    stage.deployment("beside", replicas=0)
    stage.deployment("alone", replicas=2)
    stage.scaledobject("falling", fallback=fallback(3, threshold=2), triggers=[bad])
    stage.scaledobject("beside", triggers=[bad, stage.trigger(listName=other)])
    stage.scaledobject("alone", triggers=[bad])
    stage.wait_failing("alone")
    stage.wait_failing("beside")
    assert stage.hpa_names() == ["keda-hpa-alone", "keda-hpa-beside", "keda-hpa-falling"]
    event = stage.event("KEDAScalerFailed", "alone")
    assert event.type == "Warning" and event.note.startswith("trigger 0 (redis): ") and source.address in event.note
    stage.push(20, other)
    eventually(lambda: stage.replicas("beside") == 4)
    stage.says("Ready", "Unknown", "PartialTriggerError", "beside")
    eventually(lambda: falls_back(stage, "falling") and stage.replicas("falling") == 3)
    assert stage.status("falling")["externalMetricNames"] == [metric_of(stage)]
    throughout(lambda: stage.replicas("alone") == 2, until=after(1))
    source.start()
    source.client().rpush("jobs", *range(25))
    for name in ("falling", "alone", "beside"):
        stage.wait_ready(name)
        eventually(lambda name=name: stage.replicas(name) == 5)


def test_added_and_taken_away(kscaled, stage, source):
    """A fallback written while the source is down counts what has failed so far or from then on; taken away, nothing of it is left in the status."""
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[stage.trigger(address=source.address, listName="jobs")], minReplicaCount=1)
    stage.wait_ready()
    source.kill()
    stage.wait_failing()
    assert "health" not in stage.status()
    stage.patch({"spec": {"fallback": fallback(5, threshold=2)}})
    eventually(lambda: falls_back(stage) and stage.replicas() == 5)
    stage.wait_ready()
    stage.patch({"spec": {"fallback": fallback(5, threshold=1000)}})
    stage.wait_failing()                               # so many are borne now
    assert falls_back_no_more(stage)
    stage.patch({"spec": {"fallback": fallback(4, threshold=2)}})
    eventually(lambda: falls_back(stage) and stage.replicas() == 4)
    stage.patch({"spec": {"fallback": None}})
    stage.wait_failing()
    assert falls_back_no_more(stage) and "health" not in stage.status()
    assert stage.metric(metric_of(stage)).failure(503, "ServiceUnavailable")
    throughout(lambda: stage.replicas() == 4, until=after(1.5))


def test_count_outlives_kscaled(kscaled, shared_kscaled, stage, source):
    """What the status says of failures is where the next one goes on: no HPA sees an error in between."""
    client = source.client()
    client.rpush("jobs", *range(10))
    stage.deployment(replicas=0)
    stage.ready_scaledobject(fallback=fallback(4, threshold=2), triggers=[stage.trigger(address=source.address, listName="jobs")])
    eventually(lambda: stage.replicas() == 2)
    source.kill()
    eventually(lambda: falls_back(stage) and stage.replicas() == 4)
    kscaled.kill()
    shared_kscaled.running()
    assert stage.metric(metric_of(stage)).value() == "20"
    throughout(lambda: falls_back(stage) and stage.replicas() == 4, until=after(2))
    assert len(stage.events(reason="ScaledObjectFallbackActivated")) == 1
