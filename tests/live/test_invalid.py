# SPDX-License-Identifier: Apache-2.0
"""What an object may not say: refused in Ready by the name of the field, never ignored; and it heals."""
import copy

import pytest
from kubernetes.client import ApiException

from rig.waiting import after, eventually, throughout


def with_spec(**spec):
    return lambda document, stage: document["spec"].update(spec)


def with_trigger(**fields):
    return lambda document, stage: document["spec"]["triggers"][0].update(fields)


def with_metadata(**metadata):
    def change(document, stage):
        values = document["spec"]["triggers"][0]["metadata"]
        for key, value in metadata.items():
            if value is None:
                del values[key]
            else:
                values[key] = value
    return change


def with_annotation(key, value):
    return lambda document, stage: document["metadata"].update(annotations={key: value})


def two_triggers(**fields):
    return lambda document, stage: document["spec"].update(triggers=[{**stage.trigger(), **fields}, {**stage.trigger(listName="other"), **fields}])


def with_formula(**modifiers):
    def change(document, stage):
        document["spec"].update(triggers=[{**stage.trigger(), "name": "a"}], advanced={"scalingModifiers": {"formula": "a", **modifiers}})
    return change


REFUSED = {
    "formula-without-names": (with_spec(advanced={"scalingModifiers": {"formula": "a", "target": "5"}}), "spec.advanced.scalingModifiers.formula: column 1"),
    "formula-unknown-name": (with_formula(formula="a + b", target="5"), "spec.advanced.scalingModifiers.formula: column 5"),
    "target-zero": (with_formula(target="0"), "spec.advanced.scalingModifiers.target"),
    "activation-target-no-number": (with_formula(target="5", activationTarget="1,5"), "spec.advanced.scalingModifiers.activationTarget"),
    "transfer-unreadable": (with_annotation("scaledobject.keda.sh/transfer-hpa-ownership", "perhaps"), "scaledobject.keda.sh/transfer-hpa-ownership"),
    "target-kind-letters": (with_spec(scaleTargetRef={"name": "worker", "kind": "../Secret"}), "spec.scaleTargetRef.kind"),
    "target-kind-unknown": (with_spec(scaleTargetRef={"name": "worker", "apiVersion": "apps/v1", "kind": "Nonesuch"}), "Nonesuch"),
    "target-without-scale": (with_spec(scaleTargetRef={"name": "worker", "apiVersion": "v1", "kind": "ConfigMap"}), "kind ConfigMap of v1 has no scale subresource"),
    "target-container": (with_spec(scaleTargetRef={"name": "worker", "envSourceContainerName": "nobody"}), "spec.scaleTargetRef.envSourceContainerName: worker has no container"),
    "target-no-number": (with_formula(target="many"), "spec.advanced.scalingModifiers.target"),
    "authentication-name": (with_trigger(authenticationRef={"name": "Not A Name"}), "spec.triggers[0].authenticationRef.name"),
    "paused-unreadable": (with_annotation("autoscaling.keda.sh/paused", "perhaps"), "autoscaling.keda.sh/paused"),
    "paused-replicas-unreadable": (with_annotation("autoscaling.keda.sh/paused-replicas", "none"), "autoscaling.keda.sh/paused-replicas"),
    "unknown-trigger": (with_trigger(type="predictkube"), "predictkube"),
    "target-name": (with_spec(scaleTargetRef={"name": "../../secrets"}), "spec.scaleTargetRef.name"),
    "target-version": (with_spec(scaleTargetRef={"name": "worker", "apiVersion": "a/b/c"}), "scaleTargetRef"),
    "names-twice": (two_triggers(name="same"), "same"),
    "metric-type-unknown": (with_trigger(metricType="Median"), "Median"),
    "no-list-name": (with_metadata(listName=None), "listName"),
    "no-address": (with_metadata(address=None), "address"),
    "empty-address": (with_metadata(address="  "), "address"),
    "address-without-port": (with_metadata(address="localhost"), "localhost"),
    "host-without-port": (with_metadata(address=None, host="localhost"), "port"),
    "length-no-number": (with_metadata(listLength="many"), "listLength"),
    "length-zero": (with_metadata(listLength="0"), "listLength"),
    "length-negative": (with_metadata(listLength="-5"), "listLength"),
    "length-fraction": (with_metadata(listLength="1.5"), "listLength"),
    "length-overflow": (with_metadata(listLength="99999999999999999999"), "listLength"),
    "activation-no-number": (with_metadata(activationListLength="x"), "activationListLength"),
    "database-negative": (with_metadata(databaseIndex="-1"), "databaseIndex"),
    "tls-no-switch": (with_metadata(enableTLS="perhaps"), "enableTLS"),
    "env-not-there": (with_metadata(address=None, addressFromEnv="NOPE"), "NOPE"),
    "hpa-name": (with_spec(advanced={"horizontalPodAutoscalerConfig": {"name": "Not A Name"}}), "horizontalPodAutoscalerConfig.name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name_and_healed(kscaled, stage, case):
    change, named = REFUSED[case]
    stage.deployment(replicas=1)
    good = stage.document()
    bad = copy.deepcopy(good)
    change(bad, stage)
    stage.push(1)
    stage.create(bad)
    assert named in stage.wait_refused()
    eventually(lambda: stage.says("Active", "Unknown", "UnknownState"))
    # Where KEDA has a text of its own, ours is another Event behind it.
    events = eventually(lambda: [event for event in stage.events(reason="ScaledObjectCheckFailed") if named in event.note])
    assert events[0].type == "Warning"
    assert stage.hpa_names() == [] and stage.replicas() == 1
    # Mended: goes on as if nothing had been.
    good["metadata"]["resourceVersion"] = stage.get()["metadata"]["resourceVersion"]
    stage.cluster.custom.replace_namespaced_custom_object("keda.sh", "v1alpha1", stage.namespace, "scaledobjects", "worker", good)
    stage.wait_ready()
    assert stage.hpa_names() == ["keda-hpa-worker"]
    eventually(lambda: stage.says("Active", "True", "ScalerActive"))


@pytest.mark.parametrize("spec", [
    {"minReplicaCount": 5, "maxReplicaCount": 3}, {"pollingInterval": 0}, {"cooldownPeriod": -1}, {"maxReplicaCount": 0}, {"minReplicaCount": -1}, {"triggers": []},
    {"scaleTargetRef": {}}, {"minReplicaCount": 3000000000}, {"fallback": {"replicas": 1}}, {"triggers": [{"metadata": {}}]},
    {"triggers": [{"type": "redis", "metadata": {"listLength": 5}}]}, {"pollingInterval": "soon"},
    {"idleReplicaCount": 3, "minReplicaCount": 3}, {"triggers": [{"type": "redis", "metricType": "Utilization", "metadata": {}}]}, {"triggers": [{"type": "cron", "useCachedMetrics": True, "metadata": {}}]},
    {"fallback": {"failureThreshold": 3, "replicas": 2}, "triggers": [{"type": "cpu", "metadata": {}}]}, {"fallback": {"failureThreshold": 3, "replicas": 2, "behavior": "scalingModifiers"}},
    {"fallback": {"failureThreshold": -1, "replicas": 2}}, {"fallback": {"failureThreshold": 3, "replicas": -2}}, {"fallback": {"failureThreshold": 3, "replicas": 2, "behavior": "sometimes"}},
    {"advanced": {"scalingModifiers": {"formula": "a", "target": "5", "metricType": "Utilization"}}}, {"initialCooldownPeriod": -1}, {"idleReplicaCount": -1},
    {"triggers": [{"type": "redis", "metadata": {}, "authenticationRef": {"kind": "TriggerAuthentication"}}]},
    {"triggers": [{"type": "redis", "metadata": {}, "authenticationRef": {"name": "a", "kind": "Secret"}}]}, {"advanced": {"restoreToOriginalReplicaCount": "perhaps"}},
    {"advanced": {"scalingModifiers": {"target": "5"}}}, {"advanced": {"scalingModifiers": {"formula": "a"}}},
], ids=str)
def test_refused_by_the_schema(installation, stage, spec):
    """The CRDs that `kscaled manifests` prints let no nonsense in."""
    with pytest.raises(ApiException) as refused:
        stage.scaledobject(**spec)
    assert refused.value.status in (400, 422)


@pytest.mark.parametrize("annotation", ["autoscaling.keda.sh/paused", "autoscaling.keda.sh/paused-scale-in", "autoscaling.keda.sh/force-activation"])
def test_readable_false_is_no_pause(kscaled, stage, annotation):
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(metadata={"annotations": {annotation: "false"}})
    eventually(lambda: stage.replicas() >= 1)


def test_made_invalid_while_it_runs(kscaled, stage):
    """Nothing is scaled by a rule that cannot be read, and nothing is torn down."""
    stage.deployment(replicas=0)
    stage.push(10)
    stage.ready_scaledobject()
    eventually(lambda: stage.replicas() == 2)
    stage.patch({"metadata": {"annotations": {"autoscaling.keda.sh/paused": "perhaps"}}})
    assert "autoscaling.keda.sh/paused" in stage.wait_refused()
    stage.drain()
    throughout(lambda: stage.replicas() >= 1 and stage.hpa(), until=after(3))
    stage.patch({"metadata": {"annotations": {"autoscaling.keda.sh/paused": None}}})
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


@pytest.mark.journey
def test_target_missing_then_created(kscaled, stage):
    stage.push(1)
    stage.scaledobject(maxReplicaCount=1)
    message = stage.wait_refused()
    assert "worker" in message and "ScaledObject doesn't have correct scaleTargetRef specification" in message
    assert stage.hpa_names() == []
    stage.deployment(replicas=0)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 1)
    # Gone and back.
    stage.cluster.apps.delete_namespaced_deployment("worker", stage.namespace)
    stage.wait_refused()
    stage.deployment(replicas=0)
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 1)
    assert stage.status()["originalReplicaCount"] == 0


def test_second_trigger_is_named(kscaled, stage):
    stage.deployment(replicas=0)
    stage.scaledobject(triggers=[stage.trigger(), stage.trigger(listLength="x")])
    message = stage.wait_refused()
    assert "trigger 1" in message and "listLength" in message


@pytest.mark.parametrize("target, words, ours", [
    ({"name": "nobody"}, "Target resource doesn't exist", "Deployment"),
    ({"name": "default", "apiVersion": "v1", "kind": "ServiceAccount"},
     "Target resource doesn't expose /scale subresource", "ServiceAccount"),
], ids=["missing", "no-scale"])
def test_wrong_targets_are_told_as_keda_does(kscaled, stage, target, words, ours):
    """One Event in KEDA's words and no others, by which people look for it, and one in ours."""
    stage.scaledobject(target=target)
    assert ours in stage.wait_refused()

    def notes():
        return [event.note for event in stage.events(reason="ScaledObjectCheckFailed")]

    eventually(lambda: len(notes()) == 2)
    assert notes().count(words) == 1
    step = "ScaledObject doesn't have correct scaleTargetRef specification: "
    assert any(note.startswith(step) and ours in note for note in notes())


def test_error_is_told_once(kscaled, stage):
    stage.deployment(replicas=0)
    stage.scaledobject(triggers=[stage.trigger(listLength="x")])
    stage.wait_refused()
    version = stage.get()["metadata"]["resourceVersion"]
    stage.patch({"metadata": {"labels": {"touched": "1"}}})
    stage.patch({"metadata": {"labels": {"touched": "2"}}})
    throughout(lambda: None, until=after(1.5))
    assert len(stage.events(reason="ScaledObjectCheckFailed")) == 1
    lines = [line for line in kscaled.log().splitlines() if f"scaledobject {stage.namespace}/worker" in line and "listLength" in line]
    assert len(lines) == 1, "one failure, one log line"
    assert version


def test_name_too_long(kscaled, stage):
    name = "w" * 64
    stage.deployment(replicas=0)
    stage.scaledobject(name, target={"name": "worker"})
    assert "metadata.name" in stage.wait_refused(name)
    # 63 fit, also with keda-hpa- in front, which the webhook alone refuses, of a new object.
    stage.deployment("other", replicas=0)   # the older object keeps the first, if it is refused or not
    name = "v" * 63
    stage.scaledobject(name, target={"name": "other"})
    stage.wait_ready(name)
    stage.patch({"spec": {"advanced": {"horizontalPodAutoscalerConfig": {"name": "short"}}}}, name)
    eventually(lambda: stage.hpa_names() == ["short"])


def test_fallback_without_a_trigger_that_it_is_for(kscaled, stage):
    """The webhook refuses it when it is new, and KEDA may have stored it: it is scaled."""
    stage.deployment(replicas=1)
    document = stage.document(minReplicaCount=1, fallback={"failureThreshold": 3, "replicas": 2}, triggers=[{"type": "cpu", "metricType": "Utilization", "metadata": {"value": "50"}}])
    document["spec"]["advanced"] = {"scalingModifiers": {}}  # which the schema takes for a formula
    stage.create(document)
    stage.wait_ready()
    assert stage.hpa_document()["spec"]["metrics"][0]["type"] == "Resource"
