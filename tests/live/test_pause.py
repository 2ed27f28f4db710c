# SPDX-License-Identifier: Apache-2.0
"""The annotations that hold an object: paused, paused-replicas, paused-scale-in, paused-scale-out, force-activation; each means what it says, and outlives kscaled."""
import pytest

from rig.stage import FAST
from rig.waiting import after, eventually, throughout

PREFIX = "autoscaling.keda.sh/"


def wait_paused(stage, name="worker"):
    """Paused, and nothing is half done at the moment at which the status says so."""
    eventually(lambda: stage.says("Paused", "True", "ScaledObjectPaused", name), every=0.02)
    names, status = stage.hpa_names(), stage.status(name)
    ready = stage.says("Ready", "True", "ScaledObjectReady", name)
    assert f"keda-hpa-{name}" not in names, "when the status says so it is done"
    assert stage.condition("Paused", name)["message"] == ready["message"] == "ScaledObject is paused"
    return status


def wait_kept(stage, numbers, seconds=0):
    """Replicas by name. The HPA controller may have been about to scale when its HPA went, and does so after that: it is answered as everybody is."""
    eventually(lambda: throughout(lambda: {name: stage.replicas(name) for name in numbers} == numbers, until=after(seconds)) is None)


def wait_unpaused(stage, name="worker"):
    eventually(lambda: stage.says("Paused", "False", "ScaledObjectUnpaused", name), every=0.02)
    assert f"keda-hpa-{name}" in stage.hpa_names()
    assert stage.condition("Paused", name)["message"] == "pause annotation removed for ScaledObject"
    assert "pausedReplicaCount" not in stage.status(name)


# --- wholly paused ---

def test_paused_and_back(kscaled, stage, start_redis):
    """Nothing is scaled, nothing is asked, there is no HPA; and back."""
    server = start_redis()
    client = server.client()
    stage.deployment(replicas=0)
    client.rpush("jobs", *range(10))
    stage.ready_scaledobject(triggers=[stage.trigger(address=server.address, listName="jobs")])
    eventually(lambda: stage.replicas() == 2)
    stage.annotate(paused="true")
    status = wait_paused(stage)
    assert "pausedReplicaCount" not in status
    asked = server.evals(client)
    client.delete("jobs")
    throughout(lambda: stage.replicas() == 2, until=after(2.5))
    client.rpush("jobs", *range(40))
    stage.set_replicas(3)                              # whoever does that may: no number was named
    throughout(lambda: stage.replicas() == 3 and stage.hpa_names() == [], until=after(1.5))
    assert server.evals(client) == asked
    assert [e.note for e in stage.events(reason="ScaledObjectPaused")] == ["ScaledObject is paused"]
    stage.event("KEDAScalersStopped")
    # Wholly: a change of the spec makes no HPA, either.
    stage.patch({"spec": {"maxReplicaCount": 6}})
    throughout(lambda: stage.hpa_names() == [], until=after(0.7))
    stage.annotate(paused=None)
    wait_unpaused(stage)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 6)
    assert stage.event("ScaledObjectUnpaused").note == "pause annotation removed for ScaledObject"
    assert stage.condition("Ready")["message"] == "ScaledObject is defined correctly and is ready for scaling"


@pytest.mark.journey
def test_paused_at_a_number(kscaled, stage):
    """From below, from above, from nothing; other numbers; and back to what the triggers say."""
    for name, replicas in (("up", 1), ("down", 4), ("zero", 2)):
        stage.deployment(name, replicas=replicas)
        stage.scaledobject(name, maxReplicaCount=6)
    stage.push(10)
    for name in ("up", "down", "zero"):
        stage.wait_ready(name)
        eventually(lambda name=name: stage.replicas(name) == 2)
    numbers = {"up": 8, "down": 1, "zero": 0}          # beyond maxReplicaCount, too: the user said so
    for name, number in numbers.items():
        stage.annotate(name, paused_replicas=str(number))
    for name, number in numbers.items():
        assert wait_paused(stage, name)["pausedReplicaCount"] == number
        assert stage.status(name)["originalReplicaCount"] != number
    stage.push(20)
    wait_kept(stage, numbers, seconds=1.5)
    stage.annotate("up", paused_replicas="3")
    eventually(lambda: stage.status("up")["pausedReplicaCount"] == 3, every=0.02)
    assert stage.replicas("up") == 3
    for name in numbers:
        stage.annotate(name, paused_replicas=None)
    for name in numbers:
        wait_unpaused(stage, name)
        eventually(lambda name=name: stage.replicas(name) == 6)


def test_number_is_kept(kscaled, stage):
    """Whoever scales the target by hand is answered, and told so; a StatefulSet is no different."""
    stage.deployment(replicas=1)
    stage.statefulset("set", replicas=1)
    metadata = stage.annotated(paused_replicas="2")
    stage.scaledobject(metadata=metadata)
    stage.scaledobject("set", metadata=metadata, target={"name": "set", "kind": "StatefulSet"})
    for name in ("worker", "set"):
        assert wait_paused(stage, name)["pausedReplicaCount"] == 2
    assert stage.status()["originalReplicaCount"] == 1, "as it was before the pause that it was born with"
    assert stage.replicas() == 2 and stage.replicas("set", "statefulset") == 2
    assert stage.hpa_names() == []
    for count in (5, 0):
        stage.set_replicas(count)
        stage.cluster.apps.patch_namespaced_stateful_set_scale("set", stage.namespace, {"spec": {"replicas": count}})
        eventually(lambda: stage.replicas() == 2 and stage.replicas("set", "statefulset") == 2)
    note = eventually(lambda: next(e for e in stage.events(reason="ScaledObjectPaused") if e.type == "Warning")).note
    assert note == f"ScaledObject is paused at 2 replicas, but somebody scales Deployment {stage.namespace}/worker; it is set back each time"
    throughout(lambda: stage.says("Paused", "True") and stage.says("Ready", "True"), until=after(0.5))


def test_false_beside_a_number(kscaled, stage):
    """paused: "false" is no pause, whatever stands beside it (KEDA pauses)."""
    stage.deployment(replicas=0)
    stage.push(20)
    stage.ready_scaledobject(metadata=stage.annotated(paused="false", paused_replicas="1"))
    eventually(lambda: stage.replicas() == 4)
    stage.says("Paused", "False")
    assert "pausedReplicaCount" not in stage.status()
    stage.annotate(paused="T")                         # as Go's ParseBool reads it
    assert wait_paused(stage)["pausedReplicaCount"] == 1
    wait_kept(stage, {"worker": 1})
    stage.annotate(paused="F")
    wait_unpaused(stage)
    eventually(lambda: stage.replicas() == 4)


UNREADABLE = [("paused", "yes"), ("paused", ""), ("paused-replicas", "-1"), ("paused-replicas", "1.5"), ("paused-replicas", "2147483648"), ("paused-replicas", ""),
              ("paused-scale-in", "on"), ("paused-scale-out", "tRUE"), ("force-activation", "2")]


def test_unreadable(kscaled, stage):
    """Never a guess: Ready=False with the annotation and its value, and nothing is done."""
    stage.push(5)
    names = {f"w{i}": pair for i, pair in enumerate(UNREADABLE)}
    for name, (key, value) in names.items():
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, metadata={"annotations": {PREFIX + key: value}})
    for name, (key, value) in names.items():
        must = "is not a whole number from 0 to 2147483647" if key == "paused-replicas" else "is neither true nor false"
        assert stage.wait_refused(name) == f'metadata.annotations[{PREFIX}{key}]: "{value}" {must}'
        stage.says("Paused", "False", name=name)
    throughout(lambda: stage.hpa_names() == [] and all(stage.replicas(name) == 2 for name in names), until=after(1))
    # Beside a pause that can be read it is told, too: which of the two is meant nobody knows.
    stage.annotate("w2", paused="true")
    assert "paused-replicas" in stage.wait_refused("w2")
    for name, (key, _) in names.items():
        stage.patch({"metadata": {"annotations": {PREFIX + key: None, PREFIX + "paused": None}}}, name)
    for name in names:
        stage.wait_ready(name)


def test_unreadable_while_paused(kscaled, stage):
    """A pause that becomes unreadable neither goes on by a guess nor ends by one: no HPA comes."""
    stage.deployment(replicas=2)
    stage.push(50)
    stage.scaledobject(metadata=stage.annotated(paused="true"))
    wait_paused(stage)
    stage.annotate(paused="maybe")
    assert PREFIX + "paused" in stage.wait_refused()
    throughout(lambda: stage.hpa_names() == [] and stage.replicas() == 2, until=after(1.5))
    stage.says("Paused", "True", "ScaledObjectPaused")
    stage.annotate(paused=None)
    wait_unpaused(stage)
    eventually(lambda: stage.replicas() == 10)


def test_paused_need_not_be_right(kscaled, stage):
    """An object that rests may be broken elsewhere; it is told when it is to work again. Only what the pause itself needs must be there."""
    broken = {
        "type": ({"triggers": [{"type": "predictkube", "metadata": {}}]}, "predictkube"),
        "length": ({"triggers": [stage.trigger(listLength="x")]}, "listLength"),
        "formula": ({"triggers": [stage.trigger(_name="a")], "advanced": {"scalingModifiers": {"formula": "a +", "target": "5"}}}, "formula"),
        "target": ({"target": {"name": "nobody"}}, "nobody"),
    }
    for name, (spec, _) in broken.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, metadata=stage.annotated(paused="true"), **spec)
    for name in broken:
        wait_paused(stage, name)
    for name in ("type", "length", "target"):
        stage.annotate(name, paused_replicas="3")
    for name in ("type", "length"):
        eventually(lambda name=name: stage.replicas(name) == 3)
    message = stage.wait_refused("target")
    assert message.startswith("failed to scale target to paused replica count") and "nobody" in message
    for name, (_, named) in broken.items():
        stage.annotate(name, paused=None, paused_replicas=None)
        eventually(lambda name=name: stage.says("Paused", "False", "ScaledObjectUnpaused", name))
        assert named in stage.wait_refused(name)
    assert stage.hpa_names() == []


def test_paused_while_a_source_is_down(kscaled, stage, start_redis):
    """A pause rests from errors, too; what fails is told again afterwards, and holds."""
    dead = start_redis()
    dead.kill()
    stage.deployment(replicas=2)
    stage.scaledobject(triggers=[stage.trigger(address=dead.address)])
    stage.wait_failing()
    stage.annotate(paused="true")
    wait_paused(stage)
    told = len(stage.events(reason="KEDAScalerFailed"))
    throughout(lambda: stage.says("Ready", "True") and stage.replicas() == 2, until=after(1.5))
    assert len(stage.events(reason="KEDAScalerFailed")) == told
    stage.annotate(paused=None)
    wait_unpaused(stage)
    stage.wait_failing()
    throughout(lambda: stage.replicas() == 2, until=after(1.2))


# --- over restarts ---

COUNT = 12


def test_outlives_kscaled(kscaled, shared_kscaled, stage):
    """Ended by -9 in the middle of pausing, and of un-pausing; pausing and un-pausing while nobody is there."""
    names = [f"w{i}" for i in range(COUNT)]
    stage.push(10)
    for name in names:
        stage.deployment(name, replicas=1)
        stage.scaledobject(name)
    for name in names:
        eventually(lambda name=name: stage.replicas(name) == 2)

    def pause(some):
        for i, name in enumerate(some):
            stage.annotate(name, **({"paused": "true"} if i % 3 == 0 else {"paused_replicas": str(i % 3)}))

    def expected(i):
        return {} if i % 3 == 0 else {"pausedReplicaCount": i % 3}

    pause(names[:COUNT // 2])
    kscaled.kill()
    pause(names[COUNT // 2:])                          # the same pattern goes on: half of it is a multiple of 3
    kscaled = shared_kscaled.running()
    for i, name in enumerate(names):
        status = wait_paused(stage, name)
        assert {key: status[key] for key in status if key == "pausedReplicaCount"} == expected(i)
        wait_kept(stage, {name: i % 3 or 2})
    # A new one finds it as it is: it writes nothing and says nothing.
    kscaled.term()
    versions = [stage.get(name)["metadata"]["resourceVersion"] for name in names]
    events = len(stage.events("w0"))
    kscaled = shared_kscaled.running()
    throughout(lambda: [stage.get(name)["metadata"]["resourceVersion"] for name in names] == versions, until=after(2))
    assert stage.hpa_names() == [] and len(stage.events("w0")) == events

    def unpause(some):
        for name in some:
            stage.annotate(name, paused=None, paused_replicas=None)

    unpause(names[:COUNT // 2])
    kscaled.kill()
    unpause(names[COUNT // 2:])
    shared_kscaled.running()
    for name in names:
        wait_unpaused(stage, name)
        eventually(lambda name=name: stage.replicas(name) == 2)


# --- one direction ---

def policies(stage, name="worker"):
    behavior = stage.hpa_document(f"keda-hpa-{name}")["spec"].get("behavior") or {}
    return behavior.get("scaleUp", {}).get("selectPolicy"), behavior.get("scaleDown", {}).get("selectPolicy")


def test_scale_in_paused(kscaled, stage):
    """Neither the HPA nor the loop lowers; both raise."""
    for name, spec in (("worker", {}), ("idle", {"idleReplicaCount": 0, "minReplicaCount": 2}), ("plain", {"behavior": None})):
        stage.deployment(name, replicas=0)
        stage.scaledobject(name, metadata=stage.annotated(paused_scale_in="true"), **spec)
    for name in ("worker", "idle", "plain"):
        stage.wait_ready(name)
        stage.says("Paused", "True", "ScaledObjectPaused", name)
        assert policies(stage, name) == ("Max", "Disabled")
    behavior = stage.hpa_document()["spec"]["behavior"]
    assert behavior["scaleUp"]["policies"] == FAST["scaleUp"]["policies"] and behavior["scaleDown"]["policies"] == FAST["scaleDown"]["policies"], "the rest is the user's"
    stage.push(20)
    for name in ("worker", "idle", "plain"):
        eventually(lambda name=name: stage.replicas(name) == 4)
    stage.drain()
    for name in ("worker", "idle", "plain"):
        eventually(lambda name=name: stage.says("Active", "False", "ScalerNotActive", name))
    throughout(lambda: all(stage.replicas(name) == 4 for name in ("worker", "idle", "plain")), until=after(3))
    stage.push(30)
    eventually(lambda: stage.replicas() == 6)
    stage.drain()
    for name in ("worker", "idle", "plain"):
        stage.annotate(name, paused_scale_in=None)
    for name in ("worker", "idle", "plain"):
        wait_unpaused(stage, name)
        assert stage.condition("Ready", name)["message"] == "ScaledObject is defined correctly and is ready for scaling"
        eventually(lambda name=name: stage.replicas(name) == 0)
    assert policies(stage) == ("Max", "Max")
    assert policies(stage, "plain") == (None, None)


def test_scale_out_paused(kscaled, stage):
    """Neither raises, also not from zero nor to the minimum; both lower. And both directions at once: nothing moves."""
    stage.deployment("zero", replicas=0)
    stage.deployment("least", replicas=0)
    stage.deployment("two", replicas=2)
    stage.deployment("both", replicas=2)
    stage.push(50)
    out = stage.annotated(paused_scale_out="true")
    stage.scaledobject("zero", metadata=out)
    stage.scaledobject("least", metadata=out, minReplicaCount=3)
    stage.scaledobject("two", metadata=out)
    stage.scaledobject("both", metadata=stage.annotated(paused_scale_out="1", paused_scale_in="1"))
    counts = {"zero": 0, "least": 0, "two": 2, "both": 2}
    for name in counts:
        stage.wait_ready(name)
        stage.says("Paused", "True", "ScaledObjectPaused", name)
        eventually(lambda name=name: stage.says("Active", "True", "ScalerActive", name))
        assert policies(stage, name) == ("Disabled", "Disabled" if name == "both" else "Max")
    throughout(lambda: {name: stage.replicas(name) for name in counts} == counts, until=after(3))
    stage.drain()
    eventually(lambda: stage.replicas("two") == 0)
    throughout(lambda: stage.replicas("both") == 2, until=after(2))
    stage.push(10)
    eventually(lambda: stage.says("Active", "True", "ScalerActive", "zero"))
    for name in counts:
        stage.annotate(name, paused_scale_out=None, paused_scale_in=None)
    for name, replicas in (("zero", 2), ("two", 2), ("least", 3), ("both", 2)):
        wait_unpaused(stage, name)
        eventually(lambda name=name, replicas=replicas: stage.replicas(name) == replicas)


# --- forced ---

@pytest.mark.parametrize("bounds,replicas", [({}, 1), ({"minReplicaCount": 2, "idleReplicaCount": 0}, 2)], ids=["zero", "idle"])
def test_forced_active(kscaled, stage, bounds, replicas):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(pollingInterval=60, **bounds)
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    stage.annotate(force_activation="true")
    eventually(lambda: stage.replicas() == replicas, timeout=10)    # at once, not after 60 s
    assert eventually(lambda: stage.says("Active", "True", "ScalerActive"))["message"] == "Scaling is performed because activation is being forced by annotation"
    assert stage.event("KEDAScaleTargetActivated").note == f"Scaled Deployment {stage.namespace}/worker from 0 to {replicas}, caused by forced activation annotation"
    assert stage.status()["triggersActivity"] == {f"s0-redis-{stage.jobs}": {"isActive": False}}
    stage.says("Paused", "False")
    throughout(lambda: stage.replicas() == replicas, until=after(2))
    stage.patch({"spec": {"pollingInterval": 1}, "metadata": stage.annotated(force_activation=None)})
    eventually(lambda: stage.replicas() == 0)
    assert eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))


def test_forced_beside_others(kscaled, stage, start_redis):
    """Beside a source that is down it starts the work all the same; beside a pause the pause wins."""
    dead = start_redis()
    dead.kill()
    for name in ("down", "out", "paused"):
        stage.deployment(name, replicas=0)
    stage.scaledobject("down", metadata=stage.annotated(force_activation="true"), triggers=[stage.trigger(address=dead.address)])
    stage.scaledobject("out", metadata=stage.annotated(force_activation="true", paused_scale_out="true"))
    stage.scaledobject("paused", metadata=stage.annotated(force_activation="true", paused="true"))
    eventually(lambda: stage.replicas("down") == 1)
    eventually(lambda: stage.says("Ready", "Unknown", "PartialTriggerError", "down"))
    eventually(lambda: stage.says("Active", "True", "ScalerActive", "out"))
    wait_paused(stage, "paused")
    throughout(lambda: stage.replicas("out") == 0 and stage.replicas("paused") == 0, until=after(2))


# --- its end ---

def test_deleted_while_paused(kscaled, stage):
    """What was there before is put back also from a pause, and nobody keeps the number any more."""
    for name in ("restored", "left"):
        stage.deployment(name, replicas=4)
        stage.scaledobject(name, metadata=stage.annotated(paused_replicas="1"), advanced={"restoreToOriginalReplicaCount": name == "restored"})
    for name in ("restored", "left"):
        assert wait_paused(stage, name)["originalReplicaCount"] == 4
        assert stage.replicas(name) == 1
        stage.delete(name)
        eventually(lambda name=name: stage.gone(name))
    eventually(lambda: stage.replicas("restored") == 4)
    stage.set_replicas(2, "left")
    throughout(lambda: (stage.replicas("restored"), stage.replicas("left")) == (4, 2), until=after(1.5))
