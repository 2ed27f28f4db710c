# SPDX-License-Identifier: Apache-2.0
"""
kscaled's own token of Entra ID at Azure Managed Prometheus and Azure DevOps, which --azure-trusted-hosts lets servers of the test's stand in for; Entra ID is a fake (rig/entra_server.py). What else these types ask is tried in
test_prometheus.py and test_azure_pipelines.py, and the token for Azure's storage and queues in test_azure_storage.py and test_azure_servicebus.py.
"""
import base64
import json

import pytest

from rig import pki
from rig.azure_devops import AzureDevops, job
from rig.entra_server import EntraServer
from rig.http_source import HttpSource, vector
from rig.waiting import eventually

METRICS, DEVOPS = "https://prometheus.monitor.azure.com/.default", "499b84ac-1321-427f-aa17-267ca6975798/.default"
WORKLOAD = {"podIdentity": {"provider": "azure-workload"}}


def audience(asked):
    """For what the bearer token is that came."""
    kind, _, token = asked.headers.get("Authorization", "").partition(" ")
    assert kind == "Bearer", asked.headers
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["aud"]


class Devops(AzureDevops):
    """Takes whoever has a token for it."""

    def answer(self, asked):
        if audience(asked) == DEVOPS.removesuffix("/.default"):
            asked.headers.replace_header("Authorization", "Basic " + base64.b64encode(f":{self.token}".encode()).decode())
        return super().answer(asked)


@pytest.fixture
def azure(tmp_path):
    """All of one authority, on localhost; and what a kscaled is launched with that Azure's workload identity has given a token."""
    authority = pki.authority(tmp_path, "azure-ca")
    pair = pki.certificate(tmp_path, "azure", authority, "localhost")
    entra = EntraServer(pair, clients={"kscaled": "federated-token"})
    prometheus, devops = HttpSource({"/api/v1/query": lambda asked: vector(12) if audience(asked) == METRICS.removesuffix("/.default") else (401, {}, "")}, tls=pair), Devops(tls=pair)
    devops.jobs[7] = [job(1), job(2)]
    yield entra, prometheus, devops, entra.workload(tmp_path, authority, azure_trusted_hosts="localhost")
    for server in (entra, prometheus, devops):
        server.end()


def test_own_token(launch, stage, azure, credentials):
    """One token for each service, to servers that may see it; to no others, and not for everybody."""
    entra, prometheus, devops, workload = azure
    credentials.cluster_authentication(f"{stage.namespace}-own", **WORKLOAD)
    credentials.authentication("mine", **WORKLOAD)
    own, mine = {"authenticationRef": {"name": f"{stage.namespace}-own", "kind": "ClusterTriggerAuthentication"}}, {"authenticationRef": {"name": "mine"}}
    launch(**workload).wait_serving()

    def metrics(login, url=prometheus.url, **metadata):
        return {"type": "prometheus", "metadata": {"serverAddress": url, "query": "jobs", "threshold": "5", **metadata}, **login}

    def jobs(login, url=f"{devops.url}/shop"):
        return {"type": "azure-pipelines", "metadata": {"organizationURL": url, "poolID": "7"}, **login}

    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[metrics(own), jobs(own), metrics(own, query="others")])
    for metric, wanted in {"s0-prometheus": "12", "s1-azure-pipelines-7": "2", "s2-prometheus": "12"}.items():
        eventually(lambda: stage.metric(metric).value() == wanted)
    assert sorted(entra.given) == [("kscaled", DEVOPS), ("kscaled", METRICS)]
    refused = {
        "mine": ([metrics(mine)], "kscaled's own Azure identity"), "elsewhere": ([metrics(own, "https://evil.example")], "evil.example is not one of Microsoft's hosts"),
        "clear": ([metrics(own, prometheus.url.replace("https", "http"))], "must begin with https://"), "cloud": ([metrics(own, cloud="Moon")], "invalid cloud environment Moon"),
        "other": ([jobs(own, "https://evil.example/shop")], "evil.example is not one of Microsoft's hosts"),
    }
    for name, (triggers, words) in refused.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, maxReplicaCount=1, triggers=triggers)
        stage.wait_refused(name)
        assert words in stage.condition("Ready", name)["message"]
    assert devops.wrong == [] and len(entra.given) == 2


def test_outside_of_azure(launch, stage, azure, credentials, tmp_path):
    """Where no workload identity is, as on a host: by a certificate whose key has a password; one that Entra ID does not know is told, and read again when it was replaced."""
    entra, prometheus, _, workload = azure
    made = {}
    for name in ("known", "other"):
        pair = pki.Pair(tmp_path / f"{name}.crt", tmp_path / f"{name}.key")
        pki.openssl("req", "-x509", "-newkey", "rsa:2048", "-passout", "pass:s3cret", "-days", "2", "-keyout", pair.key, "-out", pair.cert, "-subj", "/CN=kscaled")
        made[name] = (pair.key.read_text() + pair.cert.read_text(), pair.cert)
    entra.certificates["kscaled"] = made["known"][1]
    pem = tmp_path / "application.pem"
    pem.write_text(made["other"][0])
    env = {name: value for name, value in workload["env"].items() if name != "AZURE_FEDERATED_TOKEN_FILE"}
    daemon = launch(env={**env, "AZURE_CLIENT_CERTIFICATE_PATH": str(pem), "AZURE_CLIENT_CERTIFICATE_PASSWORD": "s3cret"}, options=workload["options"])
    daemon.wait_serving()
    credentials.cluster_authentication(f"{stage.namespace}-own", **WORKLOAD)
    stage.deployment(replicas=1)
    stage.scaledobject(maxReplicaCount=1, triggers=[{"type": "prometheus", "metadata": {"serverAddress": prometheus.url, "query": "jobs", "threshold": "5"},
                                                     "authenticationRef": {"name": f"{stage.namespace}-own", "kind": "ClusterTriggerAuthentication"}}])
    stage.wait_failing()
    assert "no token: HTTP status 401, invalid_client (AADSTS700024)" in stage.condition("Ready")["message"]
    pem.write_text(made["known"][0])
    eventually(lambda: stage.metric("s0-prometheus").value() == "12")
    assert entra.given == [("kscaled", METRICS)]
    assert "s3cret" not in daemon.log() and "eyJ" not in daemon.log()
