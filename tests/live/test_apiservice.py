# SPDX-License-Identifier: Apache-2.0
"""The APIService: our authority in it, conflicts, and one that points to somebody else."""
import base64

import pytest

from rig import pki
from rig.cluster import gone
from rig.daemon import APISERVICE, INSIGHT
from rig.process import free_port
from rig.waiting import after, eventually, throughout

FOREIGN = {"spec": {"service": {"namespace": "keda", "name": "keda-metrics-apiserver", "port": 443}}}


def patch(installation, body):
    installation.cluster.registration.patch_api_service(APISERVICE, body)


def test_authority_is_injected(kscaled, installation):
    from_secret = installation.cluster.core.read_namespaced_secret("kscaled-certs", installation.namespace).data["ca.crt"]
    assert base64.b64decode(from_secret).decode() in installation.ca_pem()
    assert kscaled.ask("/healthz").status == 200       # verified against the caBundle, for the Service's name
    assert installation.available()
    assert not installation.apiservice().spec.insecure_skip_tls_verify


def test_edited_authority_is_corrected(kscaled, installation, tmp_path):
    right = installation.ca_pem()
    for wrong in (open(pki.authority(tmp_path, "wrong").cert, "rb").read(), None):
        patch(installation, {"spec": {"caBundle": base64.b64encode(wrong).decode() if wrong else None}})
        eventually(lambda: installation.ca_pem() == right)
        eventually(installation.available)


def test_applied_again(kscaled, installation):
    """`kubectl apply` of the manifests leaves the authority where it is."""
    right, version = installation.ca_pem(), installation.apiservice().metadata.resource_version
    installation.apply()
    assert installation.ca_pem() == right
    throughout(lambda: installation.apiservice().spec.ca_bundle, until=after(1))
    assert installation.apiservice().metadata.resource_version == version


def test_deleted_and_made_again(kscaled, installation, stage):
    installation.cluster.registration.delete_api_service(APISERVICE)
    stage.deployment(replicas=0)
    stage.push(1)
    throughout(kscaled.alive, until=after(1))
    installation.apply()
    eventually(installation.available)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.metric().status == 200)


@pytest.fixture
def foreign(restored):
    """KEDA's metrics server is the one that is registered."""
    patch(restored, FOREIGN)
    return restored


def test_one_of_somebody_else_is_not_taken(launch, foreign, stage):
    before = foreign.apiservice().spec
    stage.deployment(replicas=0)
    stage.push(1)
    stage.scaledobject(maxReplicaCount=1)
    daemon = launch().wait_ready()

    def untouched():
        return not daemon.leading() and "status" not in stage.get() and stage.replicas() == 0 and foreign.apiservice().spec == before

    throughout(untouched, until=after(4))
    assert "keda-metrics-apiserver" in daemon.log()
    foreign.apply()                                    # and when it is ours, it acts
    eventually(daemon.leading)
    eventually(lambda: stage.replicas() == 1)


def test_taken_over_when_told_to(launch, foreign, stage):
    stage.deployment(replicas=0)
    stage.push(1)
    stage.scaledobject(maxReplicaCount=1)
    daemon = launch(options={"take_over": "true"}).wait_ready()
    eventually(daemon.leading)
    eventually(lambda: foreign.apiservice().spec.service.name == "kscaled")
    eventually(lambda: stage.replicas() == 1)
    assert foreign.apiservice().spec.service.namespace == "kscaled"


def test_taken_away_while_it_leads(launch, restored, stage):
    daemon = launch().wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    patch(restored, FOREIGN)
    eventually(lambda: not daemon.leading())
    stage.push(1)
    throughout(lambda: stage.replicas() == 0, until=after(2))
    assert restored.apiservice().spec.service.name == "keda-metrics-apiserver"
    restored.apply()
    eventually(daemon.leading)
    eventually(lambda: stage.replicas() == 1)


def test_none_at_all(launch, restored, stage):
    """Without an APIService the HPA gets no metrics, but 0 -> 1 -> 0 works, and the log says what is missing."""
    restored.cluster.registration.delete_api_service(APISERVICE)
    daemon = launch().wait_ready()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.scaledobject(maxReplicaCount=1)
    eventually(lambda: APISERVICE in daemon.log())
    eventually(lambda: stage.replicas() == 1)
    stage.drain()
    eventually(lambda: stage.replicas() == 0)


def released(restored):
    return all(gone(lambda name=name: restored.apiservice(name)) for name in (APISERVICE, INSIGHT))


def test_released_at_a_stop(launch, restored, cluster, stage):
    """--release-apiservice-on-stop: while the host is away nothing waits for it, and at its start all is as it was."""
    spec = restored.apiservice().spec.to_dict()
    daemon = launch(options={"release_apiservice_on_stop": "true"}).wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    cluster.create_namespace(f"{stage.namespace}-other")
    daemon.term()
    assert released(restored)
    cluster.core.delete_namespace(f"{stage.namespace}-other")
    eventually(lambda: cluster.request(f"/api/v1/namespaces/{stage.namespace}-other").status == 404, timeout=60)
    again = launch("again", options={"release_apiservice_on_stop": "true"}).wait_serving()
    eventually(lambda: stage.metric().value() == "1")
    now = restored.apiservice().spec.to_dict()
    assert {**now, "ca_bundle": None, "insecure_skip_tls_verify": None} == {**spec, "ca_bundle": None, "insecure_skip_tls_verify": None}
    eventually(lambda: restored.available(INSIGHT))
    # A crash releases nothing, and nor does who does not lead.
    again.kill()
    assert not gone(restored.apiservice) and not gone(lambda: restored.apiservice(INSIGHT))


def test_the_next_leader_creates_it_again(launch, restored):
    first = launch(options={"release_apiservice_on_stop": "true"}).wait_serving()
    second = launch("second", port=free_port(), options={"release_apiservice_on_stop": "true"}).wait_ready()
    assert not second.leading()
    first.term()
    eventually(second.leading)
    eventually(lambda: not released(restored) and restored.apiservice().spec.ca_bundle)
    second.term()
    assert released(restored)
