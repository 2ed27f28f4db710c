# SPDX-License-Identifier: Apache-2.0
"""azureKeyVault against a server that stands in for it (rig/azure_vault.py says what that is): what is read, as whom, how it is rotated, and what Ready says when it cannot be had."""
import json

import pytest

from rig.azure_vault import PRIVATE, TENANT, VAULT, AzureVault
from rig.credentials import LockedRedis, ref
from rig.http_source import half
from rig.secret_managers import READ_AGAIN, SOON, from_key, message_of, secret
from rig.waiting import eventually

PASSWORD = LockedRedis.PASSWORD


@pytest.fixture
def vault(tmp_path):
    vault = AzureVault(tmp_path)
    vault.secrets = {"redis": {"0" * 32: "old", "1" * 32: PASSWORD}, "user": {"0" * 32: "default"}}
    yield vault
    vault.end()
    assert vault.wrong == []
    assert vault.tunnels.refused == []


def of_vault(*secrets, client=None, tenant=TENANT, uri=f"https://{VAULT}/", **more):
    """client: whose secret is key "secret" of the Secret of that name."""
    login = {"credentials": {"clientId": client, "tenantId": tenant, "clientSecret": from_key(client, "secret")}} if client else {}
    return {"azureKeyVault": {"vaultUri": uri, "secrets": list(secrets), **login, **more}}


def test_azure_values(launch, stage, credentials, locked_redis, vault):
    """The current value and one version; several of one vault, by one token; a token that is refused early; another value, for who was refused; what cannot be read again stays in use."""
    user = f"azure-{stage.namespace}"
    vault.application("reader")
    credentials.secret("reader", secret="client-s3cret\n")
    specs = {"current": [secret("redis"), secret("user", "username")], "version": [secret("redis", version="1" * 32)]}
    daemon = launch(env=vault.env(), options=SOON)
    daemon.wait_serving()
    for name, secrets in specs.items():
        credentials.authentication(name, **of_vault(*secrets, client="reader"))
        for twice in (name, f"{name}-too"):
            locked_redis.scaledobject(stage, twice, ref(name))
    for name in specs:
        locked_redis.wait_read(stage, name)
        locked_redis.wait_read(stage, f"{name}-too")
    assert sorted(vault.read()) == ["/secrets/redis/" + "1" * 32 + "?api-version=7.5", "/secrets/redis/?api-version=7.5", "/secrets/user/?api-version=7.5"]
    assert vault.exchanged == [{"client_id": "reader", "grant_type": "client_credentials", "scope": "https://vault.azure.net/.default", "client_secret": "client-s3cret"}]
    locked_redis.add_user(user)
    vault.secrets["rotated"] = {"1" * 32: "old"}
    credentials.authentication("rotated", **of_vault(secret("rotated"), client="reader"))
    locked_redis.scaledobject(stage, "rotated", ref("rotated"), trigger={"username": user})
    stage.wait_failing("rotated")
    assert len(vault.exchanged) == 1
    # Whose token is over gets another one; the value has changed.
    vault.revoked |= set(vault.given)
    vault.secrets["rotated"]["2" * 32] = locked_redis.password_of(user)
    locked_redis.wait_read(stage, "rotated")
    assert len(vault.exchanged) == 2
    vault.broken = (503, {}, "")
    locked_redis.remove_user(user)
    eventually(lambda: "Azure Key Vault https://shop.vault.azure.net:443: secret rotated: HTTP status 503; the value read before stays in use" in daemon.log())
    locked_redis.add_user(user)
    locked_redis.wait_read(stage, "rotated")
    locked_redis.remove_user(user)
    stage.says("Ready", "True", name="version")
    stage.says("Ready", "True", name="current")
    assert PASSWORD not in daemon.log() and "client-s3cret" not in daemon.log() and "eyJ0" not in daemon.log()


def test_azure_told(launch, stage, credentials, locked_redis, vault):
    """What Entra ID and Key Vault say, by their codes, and never a secret; the object is not scaled."""
    n = stage.namespace
    vault.secrets.update({"off": {"0" * 32: PASSWORD}, "empty": {"0" * 32: ""}})
    vault.disabled.add("off")
    for client in ("reader", "wrong", "unknown", "nobody"):
        credentials.secret(client, secret="client-s3cret")
    vault.application("reader")
    vault.application("nobody", reads=False)
    vault.application("wrong", secret="rotated")
    one = secret("redis")
    needed = "missing permission: get secrets (role Key Vault Secrets User)"
    specs = {
        "gone": (of_vault(secret("gone"), client="reader"), ("Azure Key Vault https://shop.vault.azure.net:443: secret gone: HTTP status 404, SecretNotFound: A secret with (name/id) gone was not found",)),
        "no-version": (of_vault(secret("redis", version="9" * 32), client="reader"), ("secret redis: HTTP status 404, SecretNotFound",)),
        "off": (of_vault(secret("off"), client="reader"), ("HTTP status 403, Forbidden/SecretDisabled: Operation get is not allowed on a disabled secret.",)),
        "empty": (of_vault(secret("empty"), client="reader"), ("secret empty: its value is empty",)),
        "no-name": (of_vault(secret("../keys/k"), client="reader"), ("the name is invalid",)),
        "nobody": (of_vault(one, client="nobody"), ("HTTP status 403, Forbidden/ForbiddenByRbac: Caller is not authorized", needed)),
        "wrong": (of_vault(one, client="wrong"), ("Entra ID token: https://login.microsoftonline.com", "no token: HTTP status 401, invalid_client (AADSTS7000215)")),
        "unknown": (of_vault(one, client="unknown"), ("no token: HTTP status 400, unauthorized_client (AADSTS700016)",)),
        "tenant": (of_vault(one, client="reader", tenant="elsewhere"), ("no token: HTTP status 400, invalid_request (AADSTS90002)",)),
        "http": (of_vault(one, client="reader", uri=f"http://{VAULT}"), ("azureKeyVault.vaultUri: must be an https URL",)),
        "no-login": (of_vault(one), ("clientID, tenantID and clientSecret are expected when not using a pod identity provider",)),
        "no-secret": (of_vault(one, client="nope"), ("azureKeyVault.credentials.clientSecret", f"Secret {n}/nope")),
        "pod": (of_vault(one, podIdentity={"provider": "gcp"}), ("key vault does not support pod identity provider - gcp",)),
        "itself": (of_vault(one, podIdentity={"provider": "azure-workload"}), ("kscaled's own identity at the cloud", "ClusterTriggerAuthentication")),
        "cloud": (of_vault(one, client="reader", cloud={"type": "Moon"}), ("invalid cloud environment Moon",)),
    }
    daemon = launch(env=vault.env())
    daemon.wait_serving()
    for name, (spec, _) in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    for name, (_, words) in specs.items():
        message = message_of(stage, name, f"TriggerAuthentication {n}/{name}", "azureKeyVault", *words)
        assert PASSWORD not in message and "client-s3cret" not in message and "eyJ0" not in message
    assert all(stage.replicas(name) == 0 for name in specs)
    # Those that are too much are told when to come again.
    vault.throttled = 5
    credentials.authentication("much", **of_vault(secret("user"), client="reader"))
    locked_redis.scaledobject(stage, "much", ref("much"))
    message_of(stage, "much", "HTTP status 429, Throttled: Request was not processed")
    seen = len(vault.read())
    vault.throttled = 0
    vault.secrets["user"]["1" * 32] = PASSWORD
    locked_redis.wait_read(stage, "much", timeout=READ_AGAIN)
    assert len([one for one in vault.read()[seen:] if "/user/" in one]) == 1
    # What comes is not what was asked for.
    for name, broken, words in (("nonsense", (200, {}, "<html>"), "the answer is not JSON"), ("empty-handed", (200, {}, '{"id":"x"}'), "its value is not a string"), ("half", half, "Azure Key Vault"),
                                ("echoes", lambda asked: (400, {}, json.dumps({"error": {"code": "x", "message": asked.headers["Authorization"]}})), "its text is not shown")):
        vault.broken = broken
        credentials.authentication(name, **of_vault(secret("redis", version=f"{len(name):032}"), client="reader"))
        locked_redis.scaledobject(stage, name, ref(name))
        assert "eyJ0" not in message_of(stage, name, words)
    assert PASSWORD not in daemon.log() and "client-s3cret" not in daemon.log() and "eyJ0" not in daemon.log()
    for name in ("nonsense", "empty-handed", "half", "echoes"):
        stage.delete(name)
    vault.broken = None


def test_azure_workload_identity(launch, stage, credentials, locked_redis, vault):
    """kscaled's own token, by the file that Azure's workload identity puts beside it, for a ClusterTriggerAuthentication, and to Microsoft's vaults and those that are named alone; a private cloud."""
    n = stage.namespace
    with open(vault.file, "w", encoding="ascii") as file:
        file.write("federated.token")
    vault.federated["kscaled"] = "federated.token"
    vault.readers |= {"kscaled"}
    vault.application("private")
    credentials.secret("private", secret="client-s3cret")
    own = {"AZURE_CLIENT_ID": "kscaled", "AZURE_TENANT_ID": TENANT, "AZURE_FEDERATED_TOKEN_FILE": vault.file}
    cloud = {"type": "Private", "keyVaultResourceURL": "https://vault.private.test", "activeDirectoryEndpoint": "https://login.private.test/"}
    workload = {"podIdentity": {"provider": "azure-workload"}}
    credentials.cluster_authentication(f"{n}-own", **of_vault(secret("redis"), **workload))
    credentials.cluster_authentication(f"{n}-elsewhere", **of_vault(secret("redis"), uri="https://vault.evil.test", **workload))
    credentials.cluster_authentication(f"{n}-named", **of_vault(secret("redis"), uri=f"https://{PRIVATE}", cloud=cloud, **workload))
    credentials.authentication("private", **of_vault(secret("redis"), uri=f"https://{PRIVATE}", client="private", cloud=cloud))
    daemon = launch(env=vault.env(**own), options={"azure_trusted_hosts": "vault.private.test"})
    daemon.wait_serving()
    for name in ("own", "elsewhere", "named"):
        locked_redis.scaledobject(stage, name, ref(f"{n}-{name}", cluster=True))
    locked_redis.scaledobject(stage, "private", ref("private"))
    for name in ("own", "named", "private"):
        locked_redis.wait_read(stage, name)
    message_of(stage, "elsewhere", "vault.evil.test is not one of Microsoft's hosts", "--azure-trusted-hosts")
    assert sorted((one["client_id"], one["scope"]) for one in vault.exchanged) == [("kscaled", "https://vault.azure.net/.default"), ("kscaled", "https://vault.private.test/.default"), ("private", "https://vault.private.test/.default")]
    assert "federated.token" not in daemon.log()
