# SPDX-License-Identifier: Apache-2.0
"""The admission webhook as users meet it: kubectl says at once what is wrong, warns of what looks wrong, and goes on without us."""
import copy
import json

import pytest
import urllib3

from rig.daemon import WEBHOOKS
from rig.waiting import eventually

DENIED = 'admission webhook "{}.kscaled.io" denied the request: '


class Applied:
    """What kubectl said of one document."""

    def __init__(self, cluster, document, *arguments):
        done = cluster.run_kubectl("apply", "-f", "-", *arguments, stdin=json.dumps(document))
        self.ok = done.returncode == 0
        self.text = done.stderr
        self.warnings = [line.removeprefix("Warning: ") for line in done.stderr.splitlines() if line.startswith("Warning: ")]

    def denied(self, webhook):
        """By us, not by the schema; the reason."""
        assert not self.ok, self.text
        start = DENIED.format(webhook)
        assert start in self.text, self.text
        return self.text.split(start, 1)[1].strip()


@pytest.fixture(scope="module")
def configured(installation):
    """Installed with the webhook, for all tests of this file."""
    installation.apply(webhook=True)
    yield installation
    installation.apply()


@pytest.fixture
def admission(kscaled, configured):
    """The webhook is trusted, and asked."""
    configured.wait_judging()
    return configured


@pytest.fixture
def apply(admission):
    return lambda document, *arguments: Applied(admission.cluster, document, *arguments)


# --- ScaledObjects ---

def two(stage, **fields):
    return [{**stage.trigger(), **fields}, {**stage.trigger(listName="other"), **fields}]


CPU = [{"type": "cpu", "metricType": "Utilization", "metadata": {"value": "50"}}]

REFUSED = {
    "names-twice": (lambda stage: {"triggers": two(stage, name="same")}, 'spec.triggers: the name "same" is used twice'),
    "target-name": (lambda stage: {"target": {"name": "../../secrets"}}, "spec.scaleTargetRef.name"),
    "annotation": (lambda stage: {"metadata": {"annotations": {"autoscaling.keda.sh/paused": "perhaps"}}}, "metadata.annotations[autoscaling.keda.sh/paused]"),
    "hpa-name-too-long": (lambda stage: {"name": "n" * 60, "target": {"name": "worker"}}, "the name of the HorizontalPodAutoscaler"),
    "target-of-formula": (lambda stage: {"triggers": [{**stage.trigger(), "name": "a"}], "advanced": {"scalingModifiers": {"formula": "a", "target": "0"}}}, "spec.advanced.scalingModifiers.target"),
    "formula": (lambda stage: {"triggers": [{**stage.trigger(), "name": "a"}], "advanced": {"scalingModifiers": {"formula": "a +", "target": "5"}}}, "spec.advanced.scalingModifiers.formula"),
    "trigger-without-name": (lambda stage: {"advanced": {"scalingModifiers": {"formula": "b", "target": "5"}}}, 'unknown name "b" (the triggers are one without a name)'),
    "cpu-without-request": (lambda stage: {"triggers": CPU, "minReplicaCount": 1}, "the container main doesn't have the cpu request defined"),
    "cpu-without-target": (lambda stage: {"triggers": CPU, "minReplicaCount": 1, "target": {"name": "nowhere"}}, "the Deployment 'nowhere' does not exist"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(apply, stage, case):
    make, says = REFUSED[case]
    stage.deployment(replicas=1)
    document = stage.document(**make(stage))
    assert says in apply(document).denied("vscaledobject")
    assert stage.gone(document["metadata"]["name"])


@pytest.mark.journey
def test_good_objects_come_in_without_a_word(apply, stage):
    stage.deployment(replicas=0)
    done = apply(stage.document())
    assert done.ok and not done.warnings, done.text
    stage.wait_ready()
    changed = stage.document(maxReplicaCount=7)
    assert apply(changed).ok
    assert stage.get()["spec"]["maxReplicaCount"] == 7
    stage.delete()
    eventually(stage.gone)


def test_two_objects_one_target(apply, stage):
    stage.deployment(replicas=0)
    assert apply(stage.document()).ok
    stage.wait_ready()
    refused = apply(stage.document("second", target={"name": "worker"})).denied("vscaledobject")
    assert refused.endswith("the workload 'worker' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'worker'")
    other = stage.document("third", target={"name": "elsewhere"}, advanced={"horizontalPodAutoscalerConfig": {"name": "keda-hpa-worker"}})
    assert "the HPA 'keda-hpa-worker' is already managed by the ScaledObject 'worker'" in apply(other).denied("vscaledobject")


def test_hpa_of_somebody_else(apply, stage):
    stage.deployment(replicas=1)
    stage.cluster.autoscaling.create_namespaced_horizontal_pod_autoscaler(stage.namespace, {"metadata": {"name": "mine"}, "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"}, "minReplicas": 1, "maxReplicas": 2}})
    document = stage.document()
    # It is known from a watch, which may be a moment behind.
    eventually(lambda: not apply(document, "--dry-run=server").ok)
    assert "is already managed by the hpa 'mine'" in apply(document).denied("vscaledobject")
    document["metadata"]["annotations"] = {"scaledobject.keda.sh/transfer-hpa-ownership": "true"}
    assert "the existing hpa 'mine'" in apply(document).denied("vscaledobject")
    document["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["name"] = "mine"
    assert apply(document, "--dry-run=server").ok
    # The owner of that HPA may say that it need not be ours.
    stage.cluster.autoscaling.patch_namespaced_horizontal_pod_autoscaler("mine", stage.namespace, {"metadata": {"annotations": {"validations.keda.sh/hpa-ownership": "false"}}})
    eventually(lambda: apply(stage.document(), "--dry-run=server").ok)


def test_cpu_with_requests(apply, stage):
    main = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "100m"}}}
    stage.deployment(replicas=1, containers=[main, {"name": "side", "image": "none"}])
    document = stage.document(triggers=copy.deepcopy(CPU), minReplicaCount=1)
    assert "the container side doesn't have the cpu request defined" in apply(document).denied("vscaledobject")
    assert apply(document, "--dry-run=server").ok                  # a dry run may come before its target
    document["spec"]["triggers"][0]["metadata"]["containerName"] = "main"
    document["spec"]["minReplicaCount"] = 0
    assert "has only cpu/memory triggers" in apply(document).denied("vscaledobject")
    document["spec"]["minReplicaCount"] = 1
    assert apply(document).ok
    del document["spec"]["triggers"][0]["metadata"]["containerName"]
    assert "the container side" in apply(document).denied("vscaledobject")
    stage.cluster.core.create_namespaced_limit_range(stage.namespace, {"metadata": {"name": "usual"}, "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}})
    assert apply(document).ok


def test_warnings(apply, stage):
    stage.deployment(replicas=1)
    done = apply(stage.document(minReplicaCount=1, pollingInterval=5, cooldownPeriod=5))
    assert done.ok
    assert [warning.split(" ")[0] for warning in done.warnings] == ["spec.pollingInterval", "spec.cooldownPeriod"], done.text
    done = apply(stage.document("other", target={"name": "other"}, triggers=[stage.trigger(listLength="many"), {"type": "kafka-of-tomorrow", "metadata": {}}]))
    assert done.ok                                                 # as with KEDA: it is told in Ready, too
    assert any("listLength" in warning for warning in done.warnings) and any("kafka-of-tomorrow" in warning for warning in done.warnings), done.text


# --- the other kinds ---

def document_of(kind, stage, spec):
    return {"apiVersion": "keda.sh/v1alpha1", "kind": kind, "metadata": {"name": "x", **({} if kind.startswith("Cluster") else {"namespace": stage.namespace})}, "spec": spec}


OAUTH2 = {"oauth2": {"type": "clientCredentials", "clientId": "me", "tokenUrl": "example.com/token"}}


@pytest.mark.parametrize("kind", ["TriggerAuthentication", "ClusterTriggerAuthentication"])
def test_authentications(apply, stage, kind):
    assert "spec.oauth2.tokenUrl: must be a valid http or https URL" in apply(document_of(kind, stage, OAUTH2)).denied("vs" + kind.lower())
    good = copy.deepcopy(OAUTH2)
    good["oauth2"]["tokenUrl"] = "https://example.com/token"
    done = apply(document_of(kind, stage, good), "--dry-run=server")
    assert done.ok and not done.warnings, done.text
    done = apply(document_of(kind, stage, {"gcpSecretManager": {"secrets": [{"parameter": "password", "id": "redis"}]}}), "--dry-run=server")
    assert done.ok and len(done.warnings) == 1 and "gcpSecretManager: clientSecret is expected when not using a pod identity provider" in done.warnings[0], done.text


JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "none"}]}}}


def test_scaledjobs(apply, stage):
    def scaledjob(metadata=None, **spec):
        document = document_of("ScaledJob", stage, {"jobTargetRef": JOB, "triggers": [stage.trigger()], **spec})
        document["metadata"].update(metadata or {})
        return document

    for spec, says in (
        ({"triggers": two(stage, name="same")}, 'the name "same" is used twice'),
        ({"metadata": {"annotations": {"autoscaling.keda.sh/paused": "perhaps"}}}, "metadata.annotations[autoscaling.keda.sh/paused]"),
    ):
        assert says in apply(scaledjob(**spec)).denied("vscaledjob")
    done = apply(scaledjob())
    assert done.ok and not done.warnings, done.text
    assert apply(scaledjob(metadata={"annotations": {"autoscaling.keda.sh/paused": "true"}}, maxReplicaCount=3)).ok, "an update is judged, too"
    for spec, warns in (
        ({"triggers": [{**stage.trigger(), "metricType": "AverageValue"}]}, "metricType cannot be set in a ScaledJob"),
        ({"scalingStrategy": {"pendingPodConditions": ["Ready"]}}, "spec.scalingStrategy.pendingPodConditions has no effect"),
        ({"scalingStrategy": {"strategy": "custom", "customScalingRunningJobPercentage": "half"}}, "customScalingRunningJobPercentage is not a number"),
        ({"minReplicaCount": 5, "maxReplicaCount": 3}, "spec.minReplicaCount is more than maxReplicaCount"),
        ({"metadata": {"annotations": {"autoscaling.keda.sh/paused-replicas": "0"}}}, "autoscaling.keda.sh/paused-replicas] has no effect on a ScaledJob"),
    ):
        done = apply(scaledjob(**spec), "--dry-run=server")
        assert done.ok and any(warns in warning for warning in done.warnings), (spec, done.text)


# --- what must go on ---

def test_wrong_objects_can_be_deleted(configured, launch, stage):
    """One that came in before the webhook: its finalizers may go, and so may it."""
    wrong = stage.document(triggers=two(stage, name="same"), metadata={"finalizers": ["example.com/one", "example.com/two"]})
    configured.cluster.kubectl("delete", "validatingwebhookconfiguration", WEBHOOKS)
    stage.create(wrong)
    configured.apply(webhook=True)
    launch().wait_serving()
    configured.wait_judging()
    assert "same" in Applied(configured.cluster, stage.document(triggers=two(stage, name="same"), maxReplicaCount=3)).denied("vscaledobject")
    stage.patch({"metadata": {"finalizers": ["example.com/two"]}})
    stage.delete()
    stage.patch({"metadata": {"finalizers": None}})
    eventually(stage.gone)


def test_without_kscaled_objects_come_in(shared_kscaled, admission, stage):
    shared_kscaled.stop()
    stage.deployment(replicas=0)
    assert Applied(admission.cluster, stage.document(triggers=two(stage, name="same"))).ok
    shared_kscaled.running()
    assert "same" in stage.wait_refused()


def test_counted(kscaled, admission, apply, stage):
    apply(stage.document(triggers=two(stage, name="same"))).denied("vscaledobject")
    apply(stage.document(target={"name": "elsewhere"}))
    labels = f'namespace="{stage.namespace}",action="create"'
    assert kscaled.metric(f"keda_webhook_scaled_object_validations_total{{{labels}}}") == 2
    assert kscaled.metric(f'keda_webhook_scaled_object_validation_errors_total{{{labels},reason="incorrect-triggers"}}') == 1


# --- strangers ---

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("headers, body, status", [
    ({}, b"{}", 415), (JSON, b"", 400), (JSON, b"{", 400), (JSON, b"[" * 100000, 400), (JSON, b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', 400),
    (JSON, b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"keda.sh","kind":"ScaledObject"},"operation":"CREATE","object":[]}}', 400),
    (JSON, b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"keda.sh","kind":"ScaledObject"},"operation":"CREATE","object":{"metadata":7}}}', 200),
    (JSON, b"\x00\xff" * 1000, 400),
], ids=range(8))
def test_nonsense(kscaled, admission, headers, body, status):
    """Of somebody who knows the path."""
    assert kscaled.ask(admission.review_path(), "POST", headers=headers, body=body).status == status
    assert kscaled.ask("/healthz").status == 200


def test_too_long(kscaled, admission):
    """Refused at its head; the client may still be sending then."""
    try:
        assert kscaled.ask(admission.review_path(), "POST", headers=JSON, body=b"x" * (4 << 20)).status == 413
    except urllib3.exceptions.HTTPError:
        pass
    assert kscaled.ask("/healthz").status == 200


def test_only_post(kscaled, admission):
    path = admission.review_path()
    assert kscaled.ask(path).status == 405
    assert kscaled.ask(path + "/x", "POST", headers=JSON, body=b"{}").status == 401
