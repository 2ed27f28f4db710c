# SPDX-License-Identifier: Apache-2.0
"""
How many Jobs: each strategy, each calculation over several triggers, minimum and maximum, Pods that are pending. Numbers worked out by hand from doc/keda.md 4.2 and 4.3. Nothing takes an item away but the test, and no Pod ends by itself, so
what is waited for is where the numbers come to rest, and there they stay.
"""
import pytest

from rig.job_stage import PENDING, STAYS
from rig.waiting import after, eventually, throughout

CUSTOM = {"strategy": "custom", "customScalingQueueLengthDeduction": 1, "customScalingRunningJobPercentage": "0.5"}


def rest(record, wanted):
    """{name: Jobs that were created}: so it becomes, and so it stays over two polls. None that was created is ever taken back, so there is no other way to get there."""
    def is_so():
        counted = {name: record.count(name) for name in wanted}
        assert counted == wanted
        return True

    eventually(is_so)
    throughout(is_so, until=after(2.3))


def make(stage, name, items, manner=STAYS, **spec):
    """Its items are there before it is."""
    if items:
        stage.give(items, name)
    stage.scaledjob(name, template=stage.job_template(manner), **spec)


def test_strategies(kscaled, job_stage, record):
    """All at once, from nothing."""
    stage = job_stage
    make(stage, "default", 7)
    make(stage, "limited", 25, maxReplicaCount=4)
    make(stage, "per-five", 12, triggers=[stage.list_trigger("per-five", listLength=5)])             # ceil(12 / 5)
    make(stage, "custom", 4, scalingStrategy=CUSTOM)                                                 # 4-1-0=3; 4-1-1=2; 4-1-2=1; 4-1-3=0
    make(stage, "accurate", 3, PENDING, scalingStrategy={"strategy": "accurate"})                    # 3-0; then all three are pending
    make(stage, "eager", 3, scalingStrategy={"strategy": "eager"})                                   # 3 of 10, 3 of 7, 3 of 4, the last
    make(stage, "eager-pending", 3, PENDING, scalingStrategy={"strategy": "eager"})                  # min(10, 3); min(10-3-3, 3); 10-6-6 is none
    make(stage, "minimum", 0, minReplicaCount=2, maxReplicaCount=5)
    make(stage, "both", 10, minReplicaCount=2, maxReplicaCount=5)                                    # 2, and 3 beyond
    make(stage, "above", 9, minReplicaCount=5, maxReplicaCount=3)                                    # the minimum becomes 3, and 3 beyond
    rest(record, {"default": 7, "limited": 4, "per-five": 3, "custom": 6, "accurate": 3, "eager": 10, "eager-pending": 6, "minimum": 2, "both": 5, "above": 6})
    assert stage.says("Active", "True", name="minimum"), "the minimum keeps it active"

    # More work; what runs already counts as each strategy says.
    stage.give(5, "default")                                                                         # 12, at most 10
    stage.give(1, "per-five")                                                                        # 13: 3 are enough
    rest(record, {"default": 10, "limited": 4, "per-five": 3})
    # One of the minimum ends: it is replaced, though there is nothing to do.
    stage.end_pods("minimum", 1)
    rest(record, {"minimum": 3, "both": 5})
    # Less work ends nobody's Job.
    for name in ("default", "eager", "both"):
        stage.take_all(name)
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive", "default"))
    assert len(stage.running("default")) == 10 and len(stage.running("eager")) == 10 and len(stage.running("both")) == 5


def test_accurate(kscaled, job_stage, record):
    """Items that are taken when the Pod starts: what is in the queue has no Job yet, but for those whose Pods are pending."""
    stage = job_stage
    make(stage, "worker", 3, PENDING, maxReplicaCount=6, scalingStrategy={"strategy": "accurate"})
    rest(record, {"worker": 3})
    # The items go before the Pods run: in the other order there is a moment in which nobody can know better than to make a Job too many.
    stage.take_all()
    for pod in stage.pods_of():
        stage.patch_pod_status(pod["metadata"]["name"], {"phase": "Running"})
    rest(record, {"worker": 3})
    stage.give(2)
    rest(record, {"worker": 5})
    stage.give(3)                                                                                    # 5 wait, 2 are pending: 3 are missing, and room is for one
    rest(record, {"worker": 6})


def test_pending_until_a_condition(kscaled, job_stage, record):
    """pendingPodConditions: a Pod that runs is still pending until it has them all."""
    stage = job_stage
    conditions = ["example.com/warm", "Ready"]
    make(stage, "worker", 2, scalingStrategy={"strategy": "accurate", "pendingPodConditions": conditions})
    make(stage, "plain", 2, scalingStrategy={"strategy": "accurate"}, maxReplicaCount=4)             # runs at once, items stay: two at each poll, until the maximum
    rest(record, {"worker": 2, "plain": 4})
    stage.wait_running_pods(2)
    rest(record, {"worker": 2})
    (one, other) = [pod["metadata"]["name"] for pod in stage.pods_of()]
    warm = {"conditions": [{"type": "example.com/warm", "status": "True"}]}
    stage.patch_pod_status(one, {"conditions": [{"type": "example.com/warm", "status": "False"}]})
    rest(record, {"worker": 2})
    stage.patch_pod_status(one, warm)                                                                # 2 wait, 1 is pending: 1 more, and that is pending, too
    rest(record, {"worker": 3})
    stage.take_all()
    stage.patch_pod_status(other, warm)
    rest(record, {"worker": 3})


CALCULATIONS = {"max": 4, "min": 2, "avg": 3, "sum": 6, None: 4}


def test_several_triggers(kscaled, job_stage, record):
    """4 and 2 items, over each calculation."""
    stage = job_stage
    stage.give(4, "long")
    stage.give(2, "short")
    triggers = [stage.list_trigger("long"), stage.list_trigger("short")]
    for calculation in CALCULATIONS:
        stage.scaledjob(f"calculation-{calculation or 'none'}".lower(), triggers=triggers, template=stage.job_template(STAYS),
                        scalingStrategy=calculation and {"multipleScalersCalculation": calculation})
    # Not active: it has no part in the minimum.
    stage.scaledjob("idle", triggers=[*triggers, stage.list_trigger("none")], template=stage.job_template(STAYS), scalingStrategy={"multipleScalersCalculation": "min"})
    rest(record, {**{f"calculation-{calculation or 'none'}": count for calculation, count in CALCULATIONS.items()}, "idle": 2})


def test_a_failing_trigger_asks_for_nothing(kscaled, job_stage, record, start_redis):
    """It is never a zero, and never more than is known: max and sum go by the others, the minimum is not known. What runs goes on."""
    stage = job_stage
    server = start_redis()
    gone = stage.list_trigger("gone", address=server.address)
    server.kill()
    stage.give(3, "here")
    for name, calculation in (("most", "max"), ("total", "sum"), ("least", "min")):
        stage.scaledjob(name, triggers=[stage.list_trigger("here"), gone], template=stage.job_template(STAYS), scalingStrategy={"multipleScalersCalculation": calculation})
    stage.scaledjob("alone", triggers=[gone], template=stage.job_template(STAYS), minReplicaCount=1)
    rest(record, {"most": 3, "total": 3, "least": 0, "alone": 1})
    for name in ("most", "alone"):
        condition = eventually(lambda name=name: stage.says("Ready", "Unknown", "PartialTriggerError", name))
        assert server.address in condition["message"]
    assert server.address in stage.event("KEDAScalerFailed", "most").note
    server.start()
    for name in ("most", "total", "least", "alone"):
        stage.wait_ready(name)
    server.client().rpush(stage.another_list("gone"), *range(2))
    rest(record, {"most": 3, "total": 5, "least": 3, "alone": 3})                                    # back, empty and thus not active, it had no part in the minimum: 3


@pytest.mark.parametrize("kind", ["hung", "killed"])
def test_outage_ends_nothing_and_starts_nothing(kscaled, job_stage, record, start_redis, kind):
    stage = job_stage
    server = start_redis()
    server.client().rpush(stage.another_list("worker"), *range(2))
    stage.ready_scaledjob(triggers=[stage.list_trigger(address=server.address)], template=stage.job_template(STAYS))
    rest(record, {"worker": 2})
    getattr(server, {"hung": "freeze", "killed": "kill"}[kind])()
    condition = eventually(lambda: stage.says("Ready", "False", "TriggerError"))
    assert server.address in condition["message"]
    assert len(stage.running()) == 2 and record.count() == 2
    if kind == "hung":
        server.thaw()
        stage.wait_ready()
        rest(record, {"worker": 2})
