# SPDX-License-Identifier: Apache-2.0
"""scalingModifiers: one metric, worked out by a formula from what all triggers say, drives the HPA and the loop alike."""
import pytest

from rig.http_source import HttpSource
from rig.waiting import after, eventually, throughout

COMPOSITE = "composite-metric"


def modifiers(formula, target="5", **more):
    return {"scalingModifiers": {"formula": formula, "target": target, **more}}


@pytest.fixture
def lists(stage):
    """Triggers a, b, c on lists of their own, and a word to fill them: lists(a=3, b=0)."""
    def fill(**lengths):
        for name, length in lengths.items():
            key = f"{stage.namespace}-{name}"
            pipe = stage.client.pipeline()
            pipe.delete(key)
            if length:
                pipe.rpush(key, *range(length))
            pipe.execute()

    fill.trigger = lambda name, **more: stage.trigger(listName=f"{stage.namespace}-{name}", _name=name, **more)
    fill.metric = lambda i, name: f"s{i}-redis-{stage.namespace}-{name}"
    yield fill
    fill(a=0, b=0, c=0)


def metrics_of(stage, name="worker"):
    return stage.hpa_document(f"keda-hpa-{name}")["spec"]["metrics"]


def external(target, name="worker", metric=COMPOSITE):
    return {"type": "External", "external": {"metric": {"name": metric, "selector": {"matchLabels": {"scaledobject.keda.sh/name": name}}}, "target": target}}


def test_one_metric_of_two(kscaled, stage, lists):
    """0 -> N -> 0 by a mean, with a target that is not an integer."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[lists.trigger("a"), lists.trigger("b")], advanced=modifiers("(a + b) / 2", "2.5"))
    assert metrics_of(stage) == [external({"type": "AverageValue", "averageValue": "2500m"})]
    status = stage.status()
    assert status["externalMetricNames"] == [lists.metric(0, "a"), lists.metric(1, "b")]
    assert status["compositeScalerName"] == COMPOSITE
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    lists(a=10, b=5)
    eventually(lambda: stage.replicas() == 3)
    assert stage.metric(COMPOSITE).value() == "7500m"
    assert stage.metric(lists.metric(0, "a")).value() == "10", "each by itself can still be asked for"
    assert stage.event("KEDAScaleTargetActivated").note.endswith(f"triggered by {COMPOSITE}")
    eventually(lambda: stage.status()["triggersActivity"] == {lists.metric(0, "a"): {"isActive": True}, lists.metric(1, "b"): {"isActive": True}})
    lists(a=15)
    eventually(lambda: stage.replicas() == 4)          # 10 / 2.5
    lists(a=0, b=0)
    eventually(lambda: stage.replicas() == 0)
    # Without the modifiers the triggers count by themselves again.
    lists(a=10)
    stage.patch({"spec": {"advanced": {"scalingModifiers": None}}})
    eventually(lambda: [m["external"]["metric"]["name"] for m in metrics_of(stage)] == [lists.metric(0, "a"), lists.metric(1, "b")])
    eventually(lambda: stage.replicas() == 2)
    assert "compositeScalerName" not in stage.status()


VALUES = {  # with a = 12, b = 4, c = 0
    "decimal": ("a * 0.333", "3996m"),
    "max": ("max(a, b, c)", "12"),
    "ternary": ("a > 10 && c == 0 ? b : 99", "4"),
    "let": ("let both = a + b; both > 15 ? both * 2 : 0", "32"),
    "array": ("sum([a, b, c]) + len([a, b])", "18"),
    "count": ("count([a, b, c], {# > 1}) * 5", "10"),
    "filter": ("mean(filter([a, b, c], # > 0))", "8"),
    "in": ("b in [1, 4] ? ceil(a / 5) : 0", "3"),
    "power": ("b ** 2 + 1", "17"),
    "below": ("b - a", "0"),     # KEDA says -8, of which the HPA makes the same: the minimum
}


def test_values(kscaled, stage, lists):
    """What a formula gives, as the HPA controller is told it, in thousandths."""
    lists(a=12, b=4)
    triggers = [lists.trigger(name) for name in "abc"]
    for name, (formula, _) in VALUES.items():
        stage.deployment(name, replicas=0)
        stage.scaledobject(name, triggers=triggers, advanced=modifiers(formula, "1000"))
    for name, (_, value) in VALUES.items():
        stage.wait_ready(name)
        assert stage.metric(COMPOSITE, name).value() == value, name
    for name in VALUES:
        eventually(lambda name=name: stage.says("Active", *(("False", "ScalerNotActive") if name == "below" else ("True", "ScalerActive")), name))
    assert stage.replicas("below") == 0


def test_activation_target(kscaled, stage, lists):
    stage.deployment(replicas=0)
    lists(a=3, b=4)
    stage.ready_scaledobject(triggers=[lists.trigger("a", activationListLength=100), lists.trigger("b")], advanced=modifiers("a + b", activationTarget="7.5"))
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    looks = kscaled.asked()
    throughout(lambda: stage.replicas() == 0, until=lambda: kscaled.asked() >= looks + 6)
    assert stage.metric(COMPOSITE).value() == "7"
    lists(a=4)                                         # 8: above, though a by itself says nothing
    eventually(lambda: stage.replicas() == 2)
    lists(a=3)                                         # 7: not above
    eventually(lambda: stage.replicas() == 0)


def test_metric_type_value(kscaled, stage, lists):
    stage.deployment(replicas=0)
    lists(a=10)
    stage.ready_scaledobject(triggers=[lists.trigger("a")], advanced=modifiers("a", "20", metricType="Value"))
    assert metrics_of(stage) == [external({"type": "Value", "value": "20"})]
    eventually(lambda: stage.replicas() == 1)
    lists(a=40)                                        # twice too much for as many as there are, each time
    eventually(lambda: stage.replicas() == 10)
    lists(a=0)
    eventually(lambda: stage.replicas() == 0)


def test_failing_trigger_is_nil(kscaled, stage, lists, start_redis):
    """With behavior scalingModifiers a trigger beyond the threshold is nil; up to it, it is an error that holds."""
    source = start_redis()
    source.client().rpush("jobs", *range(30))
    lists(b=10)
    triggers = [stage.trigger(address=source.address, listName="jobs", _name="a"), lists.trigger("b")]
    fallback = {"failureThreshold": 6, "replicas": 3, "behavior": "scalingModifiers"}
    stage.deployment("other", replicas=0)
    stage.deployment("nil", replicas=0)
    stage.deployment("without", replicas=0)
    stage.ready_scaledobject("other", triggers=triggers, fallback=fallback, advanced=modifiers("a ?? b"))
    stage.ready_scaledobject("nil", triggers=triggers, fallback=fallback, advanced=modifiers("a == nil ? nil : (a ?? 0)", "2.5"))
    stage.ready_scaledobject("without", triggers=triggers, advanced=modifiers("a + b"))
    names = ("other", "nil", "without")
    counts = {"other": 6, "nil": 10, "without": 8}
    eventually(lambda: {name: stage.replicas(name) for name in names} == counts)
    source.kill()
    stage.wait_failing("without")                      # the others have a fallback, which is not due yet
    assert {name: stage.replicas(name) for name in names} == counts
    event = stage.event("KEDAMetricSourceFailed", "without")
    assert event.type == "Warning" and source.address in event.note
    message = stage.metric(COMPOSITE, "without").failure(503, "ServiceUnavailable")
    assert lists.metric(1, "b") not in message and "s0-redis-jobs" in message
    eventually(lambda: stage.replicas("other") == 2)
    eventually(lambda: stage.replicas("nil") == 3)     # fallback.replicas
    assert stage.metric(COMPOSITE, "other").value() == "10"
    assert stage.metric(COMPOSITE, "nil").value() == "7500m"
    for name in ("other", "nil"):
        eventually(lambda name=name: stage.says("Fallback", "True", "FallbackExists", name))
        stage.says("Ready", "True", "ScaledObjectReady", name)
    lists(b=0)
    eventually(lambda: stage.replicas("other") == 0)   # the formula says 0, and it was asked
    throughout(lambda: stage.replicas("nil") == 3 and stage.replicas("without") == 8, until=after(1.5))
    source.start()
    source.client().rpush("jobs", *range(15))
    for name, replicas in (("other", 3), ("nil", 6), ("without", 3)):
        eventually(lambda name=name, replicas=replicas: stage.replicas(name) == replicas)
        stage.wait_ready(name)


WRONG = {
    "unknown": ("a + z", {}, 'column 5: unknown name "z" (the triggers are a and b)'),
    "ends": ("a +", {}, "column 4: the formula ends too early"),
    "second-line": ("a +\n(b", {}, "line 2, column 3: the formula ends too early"),
    "function": ("a + now()", {}, "column 5: unknown function now"),
    "text": ('a + "b"', {}, "column 5: texts in quotes are not supported"),
    "no-number": ("a > b", {}, "it must give a number"),
    "nil": ("nil", {}, "it must give a number"),
    "target-zero": ("a", {"target": "0"}, "spec.advanced.scalingModifiers.target"),
    "activation": ("a", {"activationTarget": "x"}, "spec.advanced.scalingModifiers.activationTarget"),
}


def test_errors_before_anything_scales(kscaled, stage, lists):
    """In Ready, with the position; no HPA, no scaling; healed by a formula that can be read."""
    lists(a=10)
    for name, (formula, more, _) in WRONG.items():
        stage.deployment(name, replicas=0)
        stage.scaledobject(name, triggers=[lists.trigger("a"), lists.trigger("b")], advanced=modifiers(formula, **{"target": "5", **more}))
    for name, (_, more, message) in WRONG.items():
        said = stage.wait_refused(name)
        assert message in said, said
        assert more or "spec.advanced.scalingModifiers.formula: " in said, said
    assert stage.hpa_names() == [] and all(stage.replicas(name) == 0 for name in WRONG)
    for name in WRONG:
        stage.patch({"spec": {"advanced": {"scalingModifiers": {"formula": "a", "target": "5", "activationTarget": None}}}}, name)
    for name in WRONG:
        stage.wait_ready(name)
        eventually(lambda name=name: stage.replicas(name) == 2)


def test_made_wrong_while_it_runs(kscaled, stage, lists):
    """Neither the loop nor the HPA goes on by the old formula as if nothing had been; nothing is torn down."""
    stage.deployment(replicas=0)
    lists(a=10)
    stage.ready_scaledobject(triggers=[lists.trigger("a")], advanced=modifiers("a"))
    eventually(lambda: stage.replicas() == 2)
    stage.patch({"spec": {"advanced": {"scalingModifiers": {"formula": "a / b"}}}})
    assert 'unknown name "b"' in stage.wait_refused()
    assert 'unknown name "b"' in eventually(lambda: stage.metric(COMPOSITE).failure(503, "ServiceUnavailable"))
    lists(a=0)
    throughout(lambda: stage.replicas() == 2 and stage.hpa(), until=after(2.5))
    stage.patch({"spec": {"advanced": {"scalingModifiers": {"formula": "a / 2"}}}})
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_cannot_be_worked_out(kscaled, stage, lists):
    """A formula that is fine but for these values: an error, never a 0."""
    stage.deployment(replicas=0)
    lists(a=10, b=2)
    stage.ready_scaledobject(triggers=[lists.trigger("a"), lists.trigger("b")], advanced=modifiers("a / b"))
    eventually(lambda: stage.replicas() == 1)
    lists(b=0)
    stage.wait_failing()
    assert "scalingModifiers.formula: the result is infinite, as of a division by zero" in stage.metric(COMPOSITE).failure(503, "ServiceUnavailable")
    assert "division by zero" in stage.event("KEDAMetricSourceFailed").note
    throughout(lambda: stage.replicas() == 1, until=after(2.5))
    lists(b=1)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 2)


def test_fallback_for_the_whole(kscaled, stage, lists, start_redis):
    """With another behavior the formula is not asked while a trigger falls back; any decimal target will do (KEDA needs an integer)."""
    source = start_redis()
    source.client().rpush("jobs", *range(5))
    stage.deployment(replicas=0)
    lists(b=10)
    stage.ready_scaledobject(triggers=[stage.trigger(address=source.address, listName="jobs", _name="a"), lists.trigger("b")],
                             advanced=modifiers("a + b", "7.5", activationTarget="1000"), fallback={"failureThreshold": 1, "replicas": 3})
    eventually(lambda: stage.says("Active", "False", "ScalerNotActive"))
    source.kill()
    eventually(lambda: stage.replicas() == 3)
    assert stage.metric(COMPOSITE).value() == "22500m"
    throughout(lambda: stage.replicas() == 3, until=after(1.5))
    source.start()
    eventually(lambda: stage.replicas() == 0)


def test_cpu_beside_it(kscaled, stage, lists):
    """The HPA reads cpu by itself: it stays beside the composite, and is no name in a formula. One for a container stays, too (KEDA drops it)."""
    stage.deployment(replicas=0)
    lists(a=10)
    cpu = {"type": "cpu", "name": "processor", "metricType": "Utilization", "metadata": {"value": "50"}}
    memory = {"type": "memory", "metricType": "AverageValue", "metadata": {"value": "100Mi", "containerName": "main"}}
    stage.ready_scaledobject(triggers=[cpu, lists.trigger("a"), memory], advanced=modifiers("a"))
    assert metrics_of(stage) == [
        {"type": "ContainerResource", "containerResource": {"name": "memory", "container": "main", "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
        external({"type": "AverageValue", "averageValue": "5"}),
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
    ]
    eventually(lambda: stage.replicas() == 2)
    lists(a=0)
    eventually(lambda: stage.replicas() == 0)          # cpu does not keep it
    stage.patch({"spec": {"advanced": {"scalingModifiers": {"formula": "a + processor"}}}})
    assert 'column 5: unknown name "processor"' in stage.wait_refused()


@pytest.fixture
def page():
    source = HttpSource({"/n": "8"})
    yield source
    source.end()


def test_sources_without_a_target(kscaled, stage, lists, page):
    """What is for the formula alone needs no target of its own, and never reaches the HPA: not while a source fails either. Without the formula it is asked for again."""
    pods = {"type": "kubernetes-workload", "name": "pods", "metadata": {"podSelector": "app=other"}}
    number = {"type": "metrics-api", "name": "number", "metadata": {"url": page.url + "/n", "valueLocation": "@this"}}
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[number, pods, lists.trigger("a")], advanced=modifiers("number + pods + a", "4"), fallback={"failureThreshold": 1, "replicas": 5})
    assert metrics_of(stage) == [external({"type": "AverageValue", "averageValue": "4"})]
    eventually(lambda: stage.replicas() == 2)
    assert stage.metric("s0-metric-api-@this").value() == "8"
    page.routes["/n"] = (500, {}, "")
    eventually(lambda: stage.replicas() == 5)          # by the target of the composite
    page.routes["/n"] = "12"
    eventually(lambda: stage.replicas() == 3)
    stage.patch({"spec": {"advanced": {"scalingModifiers": None}}})
    assert "no targetValue given" in stage.wait_refused()


def test_names(kscaled, stage, lists):
    stage.deployment("missing", replicas=0)
    stage.deployment("dashed", replicas=0)
    nameless = stage.trigger()
    stage.scaledobject("missing", triggers=[lists.trigger("a"), nameless], advanced=modifiers("a + b"))
    message = stage.wait_refused("missing")
    assert 'column 5: unknown name "b" (the triggers are a and one without a name)' in message
    # One that the formula does not need may be without a name.
    stage.patch({"spec": {"advanced": {"scalingModifiers": {"formula": "a + 1"}}}}, "missing")
    stage.wait_ready("missing")
    eventually(lambda: stage.metric(COMPOSITE, "missing").value() == "1")
    # A name that no formula can say is fine as long as none says it.
    dashed = stage.trigger(_name="my-list")
    stage.ready_scaledobject("dashed", triggers=[lists.trigger("a"), dashed], advanced=modifiers("a"))
    stage.patch({"spec": {"advanced": {"scalingModifiers": {"formula": "a + my-list"}}}}, "dashed")
    assert "a formula cannot say my-list" in stage.wait_refused("dashed")
