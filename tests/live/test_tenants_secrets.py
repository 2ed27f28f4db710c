# SPDX-License-Identifier: Apache-2.0
"""What a tenant, who may write objects in one namespace and run the servers that they name, can learn of kscaled's own credentials: nothing. Servers are in rig/hostile."""
import pytest

from rig.credentials import ref
from rig.hostile.thieving_vault import ThievingVault
from rig.waiting import after, eventually, throughout

OWN = "hvs.the-token-of-kscaled"
SECRETS = [{"parameter": "password", "path": "secret/data/x", "key": "password"}]


@pytest.fixture
def thief():
    server = ThievingVault()
    yield server
    server.end()


def by_token(address, token=None):
    return {"hashiCorpVault": {"address": address, "authentication": "token", "secrets": SECRETS, **({"credential": {"token": token}} if token else {})}}


def by_kubernetes(address, **credential):
    return {"hashiCorpVault": {"address": address, "authentication": "kubernetes", "mount": "kubernetes", "role": "any", "secrets": SECRETS, "credential": credential}}


def own_jwt(cluster, daemon):
    """The token that kscaled has for the API server, as a file of its machine."""
    token = cluster.token("kscaled", "kscaled")
    file = daemon.state_dir / "token"
    file.write_text(token)
    return token, file


def wait_denied(stage, name, *words):
    message = stage.wait_refused(name)
    assert all(word in message for word in (f"TriggerAuthentication {stage.namespace}/{name}", "hashiCorpVault", *words)), message
    assert OWN not in message
    return message


# --- Vault ---

def test_own_login_is_shown_to_no_tenant(launch, stage, credentials, locked_redis, cluster, thief):
    """Neither VAULT_TOKEN nor a token of a file; and whether there is one is not told."""
    daemon = launch(env={"VAULT_TOKEN": OWN}).wait_serving()
    jwt, file = own_jwt(cluster, daemon)
    specs = {"token": by_token(thief.url), "file": by_kubernetes(thief.url, serviceAccount=str(file)), "no-file": by_kubernetes(thief.url, serviceAccount="/nonexistent"), "default": by_kubernetes(thief.url)}
    for name, spec in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    told = {name: wait_denied(stage, name, thief.url, "--vault-trusted-addresses", "credential.").replace(f"{stage.namespace}/{name}", "it") for name in specs}
    assert told["file"] == told["no-file"] == told["default"], "it tells which files there are"
    throughout(lambda: not thief.asked, until=after(3))
    # What is the object's own goes there, and goes first.
    credentials.authentication("own", **by_token(thief.url, "hvs.of-the-tenant"))
    locked_redis.scaledobject(stage, "own", ref("own"))
    eventually(lambda: "hvs.of-the-tenant" in thief.tokens())
    assert not thief.has_seen(OWN) and not thief.has_seen(jwt)


def test_own_login_of_cluster_objects(launch, stage, credentials, locked_redis, thief):
    """Who may write a ClusterTriggerAuthentication has kscaled's own token shown where he says."""
    launch(env={"VAULT_TOKEN": OWN}).wait_serving()
    credentials.cluster_authentication(stage.namespace, **by_token(thief.url))
    locked_redis.scaledobject(stage, "it", ref(stage.namespace, cluster=True))
    eventually(lambda: OWN in thief.tokens())


@pytest.mark.parametrize("listed", ("address", "*"))
def test_own_login_at_listed_addresses(launch, stage, credentials, locked_redis, thief, listed):
    """The list gives back what KEDA does, address by address, or for all."""
    launch(env={"VAULT_TOKEN": OWN}, options={"vault_trusted_addresses": thief.url if listed == "address" else "*"}).wait_serving()
    credentials.authentication("it", **by_token(thief.url))
    locked_redis.scaledobject(stage, "it", ref("it"))
    eventually(lambda: OWN in thief.tokens())


def test_no_redirect_carries_a_token(launch, stage, credentials, locked_redis, thief):
    """Wherever a Vault leads, nobody else is shown a token, be it kscaled's or the object's."""
    launch(env={"VAULT_TOKEN": OWN}).wait_serving()
    leading = ThievingVault()
    try:
        leading.lead_to = thief.url.replace("127.0.0.1", "localhost")
        credentials.cluster_authentication(stage.namespace, **by_token(leading.url))
        credentials.authentication("it", **by_token(leading.url, "hvs.of-the-tenant"))
        locked_redis.scaledobject(stage, "cluster", ref(stage.namespace, cluster=True))
        locked_redis.scaledobject(stage, "it", ref("it"))
        for name in ("cluster", "it"):
            eventually(lambda name=name: f"redirected to another server, {leading.lead_to}" in stage.condition("Ready", name).get("message", ""))
        assert {OWN, "hvs.of-the-tenant"} <= leading.tokens() and not thief.asked
    finally:
        leading.end()
