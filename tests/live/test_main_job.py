# SPDX-License-Identifier: Apache-2.0
"""A Redis list scales a workload 0 -> N -> 0: the loop does what is at zero, the HPA controller what is above."""
import datetime
import time

import pytest

from rig.waiting import after, eventually, throughout, timed


@pytest.mark.journey
def test_zero_to_n_to_zero(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(cooldownPeriod=3)
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))

    stage.push(20)
    assert timed(lambda: stage.replicas() >= 1) < 5, "pollingInterval is 1 s"
    eventually(lambda: stage.replicas() == 4)          # 20 items, 5 for each
    eventually(lambda: stage.ready_replicas() == 4)
    active = eventually(lambda: stage.says("Active", "True", "ScalerActive"))
    assert active["message"] == "Scaling is performed because triggers are active"
    ready = stage.says("Ready", "True", "ScaledObjectReady")
    assert ready["message"] == "ScaledObject is defined correctly and is ready for scaling"
    assert stage.status()["triggersActivity"] == {f"s0-redis-{stage.jobs}": {"isActive": True}}

    stage.push(10)
    eventually(lambda: stage.replicas() == 6)
    stage.drain()
    drained = datetime.datetime.now(datetime.timezone.utc)
    eventually(lambda: stage.says("Active", "False", "ScalerCooldown"), every=0.05)
    eventually(lambda: stage.replicas() == 1)          # the HPA does not go below 1
    eventually(lambda: stage.replicas() == 0)
    eventually(lambda: stage.ready_replicas() == 0)
    idle = eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    assert idle["message"] == "Scaling is not performed because triggers are not active"
    assert stage.status()["triggersActivity"] == {f"s0-redis-{stage.jobs}": {"isActive": False}}

    # To zero only when the cooldown since the last active poll was over.
    last_active = datetime.datetime.fromisoformat(stage.status()["lastActiveTime"])
    to_zero = stage.event("KEDAScaleTargetDeactivated").event_time
    assert drained - datetime.timedelta(seconds=2.5) < last_active < drained + datetime.timedelta(seconds=1), "the last poll that found work, in whole seconds"
    assert to_zero - last_active >= datetime.timedelta(seconds=3)

    reasons = {e.reason: e for e in stage.events()}
    assert reasons["ScaledObjectReady"].note == "ScaledObject is ready for scaling"
    assert {e.note for e in stage.events(reason="KEDAScalersStarted")} == {"Scaler redis is built", "Started scalers watch"}  # in one millisecond
    assert reasons["KEDAScaleTargetActivated"].note == f"Scaled Deployment {stage.namespace}/worker from 0 to 1, triggered by s0-redis-{stage.jobs}"
    assert reasons["KEDAScaleTargetDeactivated"].note == f"Deactivated Deployment {stage.namespace}/worker from 1 to 0"
    assert {e.type for e in reasons.values()} == {"Normal"}
    assert {e.reporting_controller for e in reasons.values()} == {"keda-operator"}


def test_once_more_after_zero(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    for _ in range(2):
        stage.push(1)
        eventually(lambda: stage.replicas() == 1)
        stage.drain()
        eventually(lambda: stage.replicas() == 0)
    assert stage.generation() == 5, "each scaling is one write"


def test_status_fields(kscaled, stage):
    stage.deployment(replicas=2)
    stage.push(3)
    stage.ready_scaledobject(triggers=[stage.trigger(), stage.trigger(listName="a/b.c:d%e(f)")])
    status = stage.status()
    assert status["scaleTargetKind"] == "apps/v1.Deployment"
    assert status["scaleTargetGVKR"] == {"group": "apps", "version": "v1", "kind": "Deployment", "resource": "deployments"}
    assert status["originalReplicaCount"] == 2
    assert status["hpaName"] == "keda-hpa-worker"
    assert status["externalMetricNames"] == [f"s0-redis-{stage.jobs}", "s1-redis-a-b-c-d-e-f-"]
    assert status["triggersTypes"] == "redis"
    assert "authenticationsTypes" not in status and "compositeScalerName" not in status and "pausedReplicaCount" not in status
    fallback, paused = stage.condition("Fallback"), stage.condition("Paused")
    assert (fallback["status"], fallback["reason"], fallback["message"]) == ("False", "NoFallbackFound", "No fallbacks are active on this scaled object")
    assert paused["status"] == "False"
    eventually(lambda: stage.status().get("lastActiveTime"))
    # The manifests' CRD keeps what KEDA's conditions lack.
    for condition in stage.status()["conditions"]:
        assert datetime.datetime.fromisoformat(condition["lastTransitionTime"])
        assert condition["observedGeneration"] == 1
    # The original count is the first one seen, for good.
    stage.set_replicas(3)
    stage.patch({"spec": {"cooldownPeriod": 7}})
    seen = lambda: {c["type"]: c.get("observedGeneration") for c in stage.status()["conditions"] if c["type"] != "HPAActive"}
    eventually(lambda: seen()["Ready"] == 2)
    eventually(lambda: set(seen().values()) == {2}, timeout=5)
    assert stage.status()["originalReplicaCount"] == 2


def test_hpa_state_is_mirrored(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(3)
    stage.ready_scaledobject()
    eventually(lambda: stage.says("HPAActive", "True", "HPAActive"))
    stage.drain()
    eventually(lambda: stage.says("HPAActive", "True", "ScalingDisabled"))


def test_kubectl_shows_it(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=3)
    eventually(lambda: stage.says("Active", "True"))
    head, row = stage.cluster.kubectl("-n", stage.namespace, "get", "so").splitlines()
    assert head.split() == ["NAME", "SCALETARGETKIND", "SCALETARGETNAME", "MIN", "MAX", "READY", "ACTIVE", "FALLBACK", "PAUSED", "TRIGGERS", "AUTHENTICATIONS", "AGE"]
    assert row.split()[:10] == ["worker", "apps/v1.Deployment", "worker", "0", "3", "True", "True", "False", "False", "redis"]


def test_statefulset(kscaled, stage):
    stage.statefulset(replicas=0)
    stage.push(12)
    stage.ready_scaledobject(target={"name": "worker", "kind": "StatefulSet"})
    eventually(lambda: stage.replicas(kind="statefulset") == 3)
    assert stage.status()["scaleTargetKind"] == "apps/v1.StatefulSet"
    stage.drain()
    eventually(lambda: stage.replicas(kind="statefulset") == 0)
    assert "StatefulSet" in stage.event("KEDAScaleTargetDeactivated").note
    # The second one is read by itself: the list is over.
    stage.statefulset("late", replicas=0)
    stage.push(3)
    stage.ready_scaledobject("late", target={"name": "late", "kind": "StatefulSet"}, maxReplicaCount=1)
    eventually(lambda: stage.replicas("late", "statefulset") == 1)


def test_raised_to_minimum_without_work(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(minReplicaCount=2)
    eventually(lambda: stage.replicas() == 2)
    looks = kscaled.asked()
    throughout(lambda: stage.replicas() == 2, until=lambda: kscaled.asked() >= looks + 4)
    assert not stage.events(reason="KEDAScaleTargetActivated"), "raising to the minimum is no activation"


def test_idle_replicas(kscaled, stage):
    """Idle is 0 in practice: the HPA lifts anything else to its minimum at once, as KEDA's documentation says, too."""
    stage.deployment(replicas=4)
    stage.push(1)
    stage.ready_scaledobject(idleReplicaCount=0, minReplicaCount=3, maxReplicaCount=5)
    eventually(lambda: stage.replicas() == 3)          # the HPA, to its minimum
    stage.drain()
    eventually(lambda: stage.replicas() == 0)          # the loop, to idle
    stage.push(1)
    eventually(lambda: stage.replicas() == 3)
    assert "from 0 to 3" in stage.event("KEDAScaleTargetActivated").note


def test_never_above_maximum(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(500)
    stage.ready_scaledobject(maxReplicaCount=3)
    eventually(lambda: stage.replicas() == 3)
    eventually(lambda: any(c.type == "ScalingLimited" and c.status == "True" for c in stage.hpa().status.conditions or []))
    throughout(lambda: stage.replicas() == 3, until=after(2))


def test_cooldown_is_kept(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, cooldownPeriod=4)
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)
    stage.drain()
    # Work that comes during the cooldown begins it anew.
    throughout(lambda: stage.replicas() == 1, until=after(2))
    stage.push(1)
    eventually(lambda: stage.says("Active", "True"))
    stage.drain()
    drained = time.monotonic()
    throughout(lambda: stage.replicas() == 1, until=after(2.8))
    eventually(lambda: stage.replicas() == 0, every=0.02)
    # The last active poll was up to 1 s before.
    assert 2.8 < time.monotonic() - drained < 6.0


def test_end_of_cooldown_does_not_wait_for_the_next_poll(kscaled, stage):
    stage.deployment(replicas=1)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1, pollingInterval=3, cooldownPeriod=4)
    eventually(lambda: stage.says("Active", "True"))
    stage.drain()
    eventually(lambda: stage.says("Active", "False", "ScalerCooldown"), every=0.02)
    last_active = datetime.datetime.fromisoformat(stage.status()["lastActiveTime"])
    note = stage.event("KEDAScaleTargetDeactivated")
    waited = (note.event_time - last_active).total_seconds()
    assert 4.0 <= waited < 5.9, "4 s after the last active poll, when the next polls were due after 3 and 6 s (times in the status are whole seconds)"


def test_initial_cooldown(kscaled, stage):
    stage.deployment(replicas=1)
    stage.ready_scaledobject(initialCooldownPeriod=4, cooldownPeriod=0, maxReplicaCount=1)
    created = datetime.datetime.fromisoformat(stage.get()["metadata"]["creationTimestamp"])
    eventually(lambda: stage.says("Active", "False", "ScalerCooldown"))
    note = stage.event("KEDAScaleTargetDeactivated")
    assert (note.event_time - created).total_seconds() >= 4
    assert stage.replicas() == 0


def test_activation_threshold(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(10)
    stage.ready_scaledobject(triggers=[stage.trigger(activationListLength=10)])
    looks = kscaled.asked()
    throughout(lambda: stage.replicas() == 0, until=lambda: kscaled.asked() >= looks + 3)
    assert stage.metric().value() == "10", "the metric is told all the same"
    stage.push(1)
    eventually(lambda: stage.replicas() >= 1)


@pytest.mark.journey
def test_two_triggers(kscaled, stage):
    stage.deployment(replicas=0)
    other = f"{stage.namespace}-other"
    stage.ready_scaledobject(triggers=[stage.trigger(_name="first"), stage.trigger(listName=other, listLength=2, _name="second")])
    stage.push(8, other)
    eventually(lambda: stage.replicas() == 4)          # the HPA takes the greater one
    assert stage.event("KEDAScaleTargetActivated").note.endswith(f"triggered by s1-redis-{other}")
    assert stage.status()["triggersActivity"] == {f"s0-redis-{stage.jobs}": {"isActive": False}, f"s1-redis-{other}": {"isActive": True}}
    stage.push(25)
    eventually(lambda: stage.replicas() == 5)
    stage.drain(other)
    throughout(lambda: stage.replicas() == 5, until=after(1.5))
    stage.drain()
    eventually(lambda: stage.replicas() == 0)


def test_one_trigger_of_two_fails(kscaled, stage, start_redis):
    dead = start_redis()
    dead.kill()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.scaledobject(maxReplicaCount=1, triggers=[stage.trigger(), stage.trigger(address=dead.address)])
    eventually(lambda: stage.replicas() == 1)          # the good one activates
    partial = eventually(lambda: stage.says("Ready", "Unknown", "PartialTriggerError"))
    assert partial["message"].startswith("Some triggers defined in ScaledObject are not working correctly: s"), partial
    stage.drain()
    eventually(lambda: stage.says("Ready", "False", "TriggerError"))
    looks = kscaled.asked()
    throughout(lambda: stage.replicas() == 1, until=lambda: kscaled.asked() >= looks + 6)  # nothing is known of the other
    dead.start()
    eventually(lambda: stage.replicas() == 0)
    stage.wait_ready()


def test_changed_object_is_followed(kscaled, stage):
    stage.deployment("worker", replicas=0)
    stage.deployment("other", replicas=0)
    stage.push(4)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[stage.trigger(listName="nothing-here")], pollingInterval=60)
    stage.patch({"spec": {"triggers": [stage.trigger()]}})
    assert timed(lambda: stage.replicas() >= 1) < 5, "a change is looked at at once, not after 60 s"
    eventually(lambda: stage.status()["externalMetricNames"] == [f"s0-redis-{stage.jobs}"])
    # Another target.
    stage.patch({"spec": {"scaleTargetRef": {"name": "other"}, "pollingInterval": 1}})
    eventually(lambda: stage.replicas("other") >= 1)
    eventually(lambda: stage.hpa_document()["spec"]["scaleTargetRef"]["name"] == "other")


def test_replicas_changed_by_hand(kscaled, stage):
    """Scaled to zero by somebody while there is work: up again. Scaled up without work: down again."""
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    stage.set_replicas(0)
    eventually(lambda: stage.replicas() == 1)
    stage.drain()
    eventually(lambda: stage.replicas() == 0)
    stage.set_replicas(1)
    eventually(lambda: stage.replicas() == 0)


@pytest.mark.parametrize("count", [40])
def test_many_objects(kscaled, stage, count):
    """All of them woken at once leave zero, and go back; one connection serves them."""
    for i in range(count):
        stage.deployment(f"w{i}", replicas=0)
    for i in range(count):
        stage.scaledobject(f"w{i}", maxReplicaCount=1, triggers=[stage.trigger(listName=f"{stage.namespace}-{i % 7}")])
    eventually(lambda: all(stage.says("Ready", "True", name=f"w{i}") for i in range(count)), every=0.5)
    for i in range(7):
        stage.push(1, f"{stage.namespace}-{i}")

    def all_at(replicas):
        return all(d.spec.replicas == replicas for d in stage.cluster.apps.list_namespaced_deployment(stage.namespace).items)

    eventually(lambda: all_at(1))
    ours = [c for c in stage.client.client_list() if c["cmd"].startswith("eval")]
    assert len(ours) == 1, f"one connection per server and credentials: {ours}"
    for i in range(7):
        stage.drain(f"{stage.namespace}-{i}")
    eventually(lambda: all_at(0))
