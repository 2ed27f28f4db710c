# SPDX-License-Identifier: Apache-2.0
"""What a tenant, who may write objects in one namespace and run the servers that they name, can learn of kscaled's own credentials: nothing. Servers are in rig/hostile."""
import json
import pathlib

import pytest
from kubernetes.client import ApiException

from rig.credentials import from_secret, ref
from rig.daemon import run
from rig.hostile.thieving_vault import ThievingVault
from rig.scripted import Scripted, answers_once
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
    """What Ready says, once all of that is in it."""
    def told():
        message = stage.wait_refused(name)
        assert all(word in message for word in (f"TriggerAuthentication {stage.namespace}/{name}", "hashiCorpVault", *words)), message
        assert OWN not in message
        return message
    return eventually(told)


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


def test_own_login_opens_nothing_else(launch, stage, credentials, locked_redis, cluster, thief):
    """What kscaled shows a Vault as itself, where it may, is no token for the API server."""
    launch(options={"vault_trusted_addresses": thief.url}).wait_serving()
    credentials.authentication("it", **by_kubernetes(thief.url))
    locked_redis.scaledobject(stage, "it", ref("it"))
    token = eventually(lambda: next((token for token in thief.tokens() if token.count(".") == 2), None))
    review = lambda **spec: cluster.request("/apis/authentication.k8s.io/v1/tokenreviews", "POST", body={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, **spec}}).json["status"]
    assert not review().get("authenticated")
    assert review(audiences=["vault"])["user"]["username"] == "system:serviceaccount:kscaled:kscaled"


def test_files_tell_nothing(launch, stage, credentials, locked_redis, cluster, thief, tmp_path):
    """Where files may be named at all, those outside of the folder are not read, and sound as those that are not there."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.write_text(cluster.token("kscaled", "kscaled"))
    (folder / "link").symlink_to(outside)
    (folder / "nonsense").write_text("root:x:0:0")
    launch(options={"vault_trusted_addresses": thief.url, "vault_credential_dir": folder}).wait_serving()
    paths = {"none": folder / "none", "nonsense": folder / "nonsense", "outside": outside, "link": folder / "link", "up": folder / ".." / "outside", "passwd": "/etc/passwd", "shadow": "/etc/shadow", "etc": "/etc"}
    for name, path in paths.items():
        credentials.authentication(name, **by_kubernetes(thief.url, serviceAccount=str(path)))
        locked_redis.scaledobject(stage, name, ref(name))
    told = {name: wait_denied(stage, name, "credential.serviceAccount", str(path)).replace(f"{stage.namespace}/{name}", "it").replace(str(path), "it") for name, path in paths.items()}
    assert len(set(told.values())) == 1, told
    assert not thief.asked


def test_authorities_tell_nothing(kscaled, stage, credentials):
    """Of PostgreSQL: a file that is there and one that is not sound the same."""
    server = Scripted(answers_once(b"S"))  # "I do TLS": libpq now reads the file
    try:
        there = next(str(path) for path in pathlib.Path("/etc/ssl").iterdir() if path.is_file())
        paths = {"there": there, "none": "/etc/ssl/there-is-no-such-file"}
        for name, path in paths.items():
            host, _, port = server.address.rpartition(":")
            credentials.secret(name, connection=f"host={host} port={port} user=u sslmode=verify-ca sslrootcert={path}")
            credentials.authentication(name, **from_secret(name, "connection", "connection"))
            stage.deployment(name)
            stage.scaledobject(name, triggers=[{"type": "postgresql", "metadata": {"query": "SELECT 1", "targetQueryValue": "5"}, "authenticationRef": {"name": name}}])
        def message_of(name):
            message = stage.condition("Ready", name).get("message", "")
            assert "root" in message, message
            return message

        told = {name: eventually(lambda name=name: message_of(name)).replace(path, "it") for name, path in paths.items()}
        assert told["there"] == told["none"]
    finally:
        server.end()


# --- what goes in the clear ---

CLEAR = {
    "redis": ("redis", {"address": "127.0.0.1:1", "listName": "x"}, "enableTLS"),
    "postgresql": ("postgresql", {"host": "127.0.0.1", "port": "1", "userName": "u", "dbName": "d", "sslmode": "prefer", "query": "SELECT 1", "targetQueryValue": "5"}, "sslmode"),
    "mysql": ("mysql", {"host": "127.0.0.1", "username": "u", "tls": "preferred", "query": "SELECT 1", "queryValue": "5"}, "tls"),
    "mongodb": ("mongodb", {"connectionString": "mongodb://127.0.0.1:1", "dbName": "d", "collection": "c", "query": '{"a": 1}', "queryValue": "5"}, "tls"),
    "rabbitmq": ("rabbitmq", {"host": "amqp://127.0.0.1:1", "queueName": "x"}, "host"),
    "external": ("external", {"scalerAddress": "127.0.0.1:1"}, "enableTLS"),
}


def test_tls_may_be_required(launch, stage, tmp_path):
    """Ready says so, and `kscaled check`, and nobody is asked."""
    launch(options={"require_tls": "true"}).wait_serving()
    silent = Scripted(lambda connection: connection.recv(1))
    try:
        port = silent.address.rpartition(":")[2]
        for name, (kind, metadata, advice) in CLEAR.items():
            metadata = {key: value.replace("127.0.0.1:1", silent.address) for key, value in metadata.items()}
            document = stage.document(name, triggers=[{"type": kind, "metadata": {**metadata, **({"port": port} if "host" in metadata else {})}}])
            stage.deployment(name)
            stage.create(document)
            message = stage.wait_refused(name)
            assert f"trigger 0 ({kind})" in message and "--require-tls" in message and f"set {advice} to" in message, message
            file = tmp_path / f"{name}.yaml"
            file.write_text(json.dumps(document))
            done = run("check", "--require-tls", str(file))
            assert done.returncode == 1 and "--require-tls" in done.stdout, done.stdout
            assert run("check", str(file)).returncode == 0
        assert silent.accepted == 0
    finally:
        silent.end()


def test_tls_is_required_at_the_door(launch, stage, restored):
    """The webhook refuses it."""
    restored.apply(webhook=True)
    launch(options={"require_tls": "true"}).wait_serving()
    restored.wait_judging()
    with pytest.raises(ApiException) as refused:
        stage.scaledobject()
    assert "--require-tls" in refused.value.body and "denied the request" in refused.value.body
