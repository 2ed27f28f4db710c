# SPDX-License-Identifier: Apache-2.0
"""hashiCorpVault against a real Vault: how to log in, what can be read, how it is renewed and rotated, and what Ready says when it cannot be had."""
import datetime
import time

import pytest

from rig.credentials import Credentials, LockedRedis, ref
from rig import pki
from rig.process import free_port
from rig.vault_server import VaultServer
from rig.waiting import after, eventually, throughout

PASSWORD = LockedRedis.PASSWORD
READ_AGAIN = 60  # seconds between two readings of a value of which Vault does not say for how long it is good


@pytest.fixture(scope="module")
def vault(session_dir, cluster):
    server = VaultServer(session_dir, "vault")
    cluster.core.create_namespaced_service_account("default", {"metadata": {"name": "vault"}})
    cluster.rbac.create_cluster_role_binding({"metadata": {"name": "vault"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"},
                                              "subjects": [{"kind": "ServiceAccount", "name": "vault", "namespace": "default"}]})
    server.log_in_by_kubernetes(cluster, cluster.token("default", "vault"))
    yield server
    server.end()


def secret(path, key="password", parameter="password", **more):
    return {"parameter": parameter, "path": path, "key": key, **more}


def by_token(vault, *secrets, token=None, **more):
    return {"hashiCorpVault": {"address": vault.address, "authentication": "token", "credential": {"token": token or vault.token()}, "secrets": list(secrets), **more}}


def by_kubernetes(vault, *secrets, role="reader", mount="kubernetes", **credential):
    return {"hashiCorpVault": {"address": vault.address, "authentication": "kubernetes", "role": role, "mount": mount, "credential": credential, "secrets": list(secrets)}}


def put_everywhere(vault, n, password=PASSWORD):
    vault.kv2(n, password=password)
    vault.write(f"kv/{n}", {"password": password})
    vault.write(f"leased/{n}", {"password": password, "ttl": "3s"})


def message_of(stage, name, *words):
    """What Ready says, once all of that is in it."""
    def told():
        message = stage.condition("Ready", name).get("message", "")
        assert stage.condition("Ready", name).get("status") == "False" and all(word in message for word in words), message
        return message
    return eventually(told)


@pytest.fixture(scope="module")
def read_each_minute(shared_kscaled, module_stage, locked_redis, vault):
    """Objects v2 and v1, with values of which Vault does not say for how long they are good; when these became others in Vault."""
    shared_kscaled.running()
    credentials, n = Credentials(module_stage), module_stage.namespace
    put_everywhere(vault, n)
    for name, path in (("v2", f"secret/data/{n}"), ("v1", f"kv/{n}")):
        credentials.authentication(name, **by_token(vault, secret(path)))
        locked_redis.scaledobject(module_stage, name, ref(name))
    for name in ("v2", "v1"):
        locked_redis.wait_read(module_stage, name)
        module_stage.wait_ready(name)
    changed = time.time()
    put_everywhere(vault, n, "another")
    return changed


# --- what its environment says: each with a kscaled of its own ---

def test_token_of_the_environment(launch, stage, credentials, locked_redis, vault):
    """For who has none of his own, and may have kscaled's: of a ClusterTriggerAuthentication, or at an address that is listed."""
    n = stage.namespace
    put_everywhere(vault, n)
    one = secret(f"secret/data/{n}")
    without = by_token(vault, one)
    del without["hashiCorpVault"]["credential"]
    credentials.cluster_authentication(n, **without)
    for name, spec in {"without": without, "wrong": by_token(vault, one, token="not-a-token-of-this-vault"), "own": by_token(vault, one)}.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    locked_redis.scaledobject(stage, "cluster", ref(n, cluster=True))
    daemon = launch("unlisted", env={"VAULT_TOKEN": vault.token()}).wait_serving()
    for name in ("own", "cluster"):
        locked_redis.wait_read(stage, name)
    message_of(stage, "without", f"{n}/without", vault.address, "--vault-trusted-addresses", "credential.token")
    message_of(stage, "wrong", "403")
    daemon.term()
    launch("listed", env={"VAULT_TOKEN": vault.token()}, options={"vault_trusted_addresses": f"https://another:8200,{vault.address}"}).wait_serving()
    for name in ("own", "cluster", "without"):
        locked_redis.wait_read(stage, name)
    message_of(stage, "wrong", "403")


def test_https(launch, stage, credentials, locked_redis, tmp_path):
    """The server's certificate is verified, against VAULT_CACERT where that is given."""
    authority = pki.authority(tmp_path, "vault-ca")
    server = VaultServer(tmp_path, "vault-tls", tls=pki.certificate(tmp_path, "vault", authority, "vault"))
    try:
        server.address = server.address.replace("127.0.0.1", "localhost")
        server.kv2("it", password=PASSWORD)
        daemon = launch("unsure").wait_serving()
        credentials.authentication(**by_token(server, secret("secret/data/it")))
        locked_redis.scaledobject(stage, "it", ref())
        assert "certificate" in message_of(stage, "it", server.address).lower()
        daemon.term()
        launch("sure", env={"VAULT_CACERT": authority.cert}).wait_serving()
        locked_redis.wait_read(stage, "it")
    finally:
        server.end()


# --- what can be read ---

@pytest.mark.usefixtures("read_each_minute")  # the minute goes by while other tests run
def test_engines(kscaled, stage, credentials, locked_redis, vault):
    n = stage.namespace
    put_everywhere(vault, n)
    objects = {"any-v2": secret(f"secret/data/{n}"), "any-v1": secret(f"kv/{n}"), "v2": secret(f"secret/data/{n}", type="secretV2"), "v1": secret(f"kv/{n}", type="secret"), "leased": secret(f"leased/{n}")}
    for name, one in objects.items():
        credentials.authentication(name, **by_token(vault, one))
        locked_redis.scaledobject(stage, name, ref(name))
    for name in objects:
        locked_redis.wait_read(stage, name)


def test_certificates(kscaled, stage, credentials, vault, start_redis, tmp_path):
    """PKI: certificate and key are of one and the same issue, and a Redis that wants certificates lets them in."""
    vault.write("pki/root/generate/internal", {"common_name": "vault of the tests", "ttl": "24h"})
    vault.write("pki/roles/redis", {"allow_any_name": True, "max_ttl": "1h", "key_type": "ec", "key_bits": 256})
    issued = vault.write("pki/issue/redis", {"common_name": "localhost", "ip_sans": "127.0.0.1"})["data"]
    pair = pki.Pair(str(tmp_path / "redis.crt"), str(tmp_path / "redis.key"))
    (tmp_path / "redis.crt").write_text(issued["certificate"])
    (tmp_path / "redis.key").write_text(issued["private_key"])
    (tmp_path / "ca.crt").write_text(issued["issuing_ca"])
    server = start_redis(tls=pair)
    admin = server.client()
    admin.rpush("jobs", *range(LockedRedis.LENGTH))
    admin.config_set("tls-ca-cert-file", str(tmp_path / "ca.crt"))
    admin.config_set("tls-auth-clients", "yes")
    data = {"commonName": "scaler", "ttl": "30m"}
    vault.write("sys/policies/acl/issuer", {"policy": 'path "pki/issue/redis" { capabilities = ["update"] }'})
    token = vault.token(policies=["issuer"])
    keys = {"cert": "certificate", "key": "private_key", "ca": "issuing_ca"}
    credentials.authentication("all", **by_token(vault, *(secret("pki/issue/redis", key, parameter, type="pki", pkiData=data) for parameter, key in keys.items()), token=token))
    credentials.authentication("ca", **by_token(vault, secret("pki/issue/redis", "issuing_ca", "ca", type="pki", pkiData=data), token=token))
    for name in ("all", "ca"):
        stage.deployment(name)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[stage.trigger(address=server.address, listName="jobs", enableTLS="true", _authenticationRef=ref(name))])
    stage.wait_ready("all")
    eventually(lambda: stage.metric("s0-redis-jobs", "all").value() == str(LockedRedis.LENGTH))
    stage.wait_failing("ca")


# --- who may ---

def test_login_by_service_account(launch, token_rights, stage, credentials, locked_redis, vault, cluster, tmp_path):
    """By name, of the object's namespace; and by a token in a file. It is the role that lets in."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    launch(options={"vault_trusted_addresses": vault.address, "vault_credential_dir": folder}).wait_serving()
    n = stage.namespace
    put_everywhere(vault, n)
    vault.role(n, "visitor", n)
    for name in ("visitor", "stranger"):
        cluster.core.create_namespaced_service_account(n, {"metadata": {"name": name}})
    one = secret(f"secret/data/{n}")
    file = folder / "visitor.jwt"
    file.write_text(cluster.token(n, "visitor") + "\n")
    nonsense = folder / "nonsense"
    nonsense.write_text("root:x:0:0\n")
    specs = {
        "by-name": by_kubernetes(vault, one, role=n, serviceAccountName="visitor"),
        "by-file": by_kubernetes(vault, one, role=n, serviceAccount=str(file)),
        "by-its-name": by_kubernetes(vault, one, role=n, serviceAccount="visitor.jwt"),
        "stranger": by_kubernetes(vault, one, role=n, serviceAccountName="stranger"),
        "no-role": by_kubernetes(vault, one, role="nonsense", serviceAccountName="visitor"),
        "no-mount": by_kubernetes(vault, one, role=n, mount="elsewhere", serviceAccountName="visitor"),
        "no-account": by_kubernetes(vault, one, role=n, serviceAccountName="nobody"),
        "no-jwt": by_kubernetes(vault, one, role=n, serviceAccount=str(nonsense)),
        "no-file": by_kubernetes(vault, one, role=n, serviceAccount="/nonexistent/token"),
    }
    for name, spec in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    for name in ("by-name", "by-file", "by-its-name"):
        locked_redis.wait_read(stage, name)
    told = {"stranger": ("auth/kubernetes/login", "403"), "no-role": ("auth/kubernetes/login", "role"), "no-mount": ("auth/elsewhere/login",), "no-account": (f"{n}/nobody",), "no-jwt": (str(nonsense),),
            "no-file": ("/nonexistent/token",)}
    for name, words in told.items():
        message = message_of(stage, name, "hashiCorpVault", f"{n}/{name}", *words)
        assert "root:x" not in message


@pytest.mark.parametrize("source", ("asked for", "file"))
def test_own_login(launch, stage, credentials, locked_redis, vault, cluster, tmp_path, source):
    """As itself, with a token that opens nothing but Vault, which the API server gives it or a projected volume has. Without the right to make tokens of others."""
    n = stage.namespace
    put_everywhere(vault, n)
    vault.role(n, "kscaled", "kscaled", audience="vault")
    file = tmp_path / "token"
    file.write_text(cluster.token("kscaled", "kscaled", audience="vault"))
    launch(options={"vault_trusted_addresses": vault.address, **({"vault_jwt_file": file} if source == "file" else {})}).wait_serving()
    one = secret(f"secret/data/{n}")
    credentials.authentication("own", **by_kubernetes(vault, one, role=n))
    credentials.authentication("as-in-keda", **by_kubernetes(vault, one, role=n, serviceAccount="/var/run/secrets/kubernetes.io/serviceaccount/token"))
    credentials.cluster_authentication(n, **by_kubernetes(vault, one, role=n))
    for name in ("own", "as-in-keda"):
        locked_redis.scaledobject(stage, name, ref(name))
    locked_redis.scaledobject(stage, "cluster", ref(n, cluster=True))
    for name in ("own", "as-in-keda", "cluster"):
        locked_redis.wait_read(stage, name)


# --- how long it is good ---

def test_renewed_and_rotated(kscaled, token_rights, stage, credentials, locked_redis, vault, cluster):
    """Tokens are renewed, or logged in anew, while they are used; a lease says when to read again. What cannot be read again stays in use."""
    n = stage.namespace
    put_everywhere(vault, n)
    vault.role(f"{n}-short", "visitor", n, token_ttl="4s", token_max_ttl="6s")
    cluster.core.create_namespaced_service_account(n, {"metadata": {"name": "visitor"}})
    leased = secret(f"leased/{n}")
    specs = {
        "renewed": by_token(vault, leased, token=vault.token(ttl="4s", renewable=True)),
        "anew": by_kubernetes(vault, leased, role=f"{n}-short", serviceAccountName="visitor"),
        "expired": by_token(vault, leased, token=vault.token(ttl="6s", renewable=False)),
    }
    for name, spec in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    for name in specs:
        locked_redis.wait_read(stage, name)
    throughout(lambda: all(stage.says("Ready", "True", name=name) for name in specs), until=after(9), every=1)
    put_everywhere(vault, n, "another")
    for name in ("renewed", "anew"):
        stage.wait_failing(name, timeout=8)
    stage.says("Ready", "True", name="expired")  # with what was read before
    put_everywhere(vault, n)
    for name in ("renewed", "anew"):
        locked_redis.wait_read(stage, name, timeout=8)


def test_refused(kscaled, stage, credentials, locked_redis, vault):
    """Who is refused with a value gets the one that it was changed to, before its minute is over."""
    n = stage.namespace
    vault.kv2(n, password="old")
    credentials.authentication(**by_token(vault, secret(f"secret/data/{n}")))
    locked_redis.scaledobject(stage, "it", ref())
    stage.wait_failing("it")
    vault.kv2(n, password=PASSWORD)
    locked_redis.wait_read(stage, "it", timeout=READ_AGAIN / 2)


# --- what goes wrong ---

def test_told(kscaled, stage, credentials, locked_redis, vault):
    n = stage.namespace
    put_everywhere(vault, n)
    vault.kv2(f"{n}-empty", password="")
    away = f"http://127.0.0.1:{free_port()}"
    gone = VaultServer.__new__(VaultServer)
    gone.address, gone.token = away, lambda: "hvs.x"
    specs = {
        "no-path": (by_token(vault, secret(f"secret/data/{n}-nope")), (f"secret/data/{n}-nope",)),
        "no-key": (by_token(vault, secret(f"secret/data/{n}", "nope")), (f"secret/data/{n}", "nope")),
        "empty": (by_token(vault, secret(f"secret/data/{n}-empty")), (f"secret/data/{n}-empty", "empty")),
        "no-right": (by_token(vault, secret(f"secret/data/{n}"), token=vault.token(policies=["default"])), (f"secret/data/{n}", "permission denied")),
        "no-token": (by_token(vault, secret(f"secret/data/{n}"), token="hvs.nonsense"), (vault.address, "looking up the token", "403")),
        "unreachable": (by_token(gone, secret(f"secret/data/{n}")), (away, "refused")),
        "address": (by_token(vault, secret(f"secret/data/{n}"), address="vault:8200"), ("vault:8200", "http://")),
    }
    for name, (spec, _) in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    for name, (_, words) in specs.items():
        message = message_of(stage, name, f"TriggerAuthentication {n}/{name}", "hashiCorpVault parameter \"password\"", *words)
        assert "hvs." not in message and vault.address.startswith("http")
    assert all(stage.replicas(name) == 0 for name in specs)
    # What is missing comes; tried again at growing distances.
    vault.kv2(f"{n}-nope", password=PASSWORD)
    locked_redis.wait_read(stage, "no-path", timeout=60)


def test_lost_key(kscaled, stage, credentials, locked_redis, vault):
    """A key that a secret no longer has is an error, and no mixture of old and new."""
    n = stage.namespace
    vault.write(f"leased/{n}", {"password": PASSWORD, "ttl": "3s"})
    credentials.authentication(**by_token(vault, secret(f"leased/{n}")))
    locked_redis.scaledobject(stage, "it", ref())
    locked_redis.wait_read(stage, "it")
    vault.write(f"leased/{n}", {"pasword": PASSWORD, "ttl": "3s"})
    message_of(stage, "it", vault.address, f"leased/{n}", "no key \"password\"")
    vault.write(f"leased/{n}", {"password": PASSWORD, "ttl": "3s"})
    locked_redis.wait_read(stage, "it", timeout=10)


def test_sealed(kscaled, stage, credentials, locked_redis, tmp_path):
    """What was read stays in use; who comes now waits, and knows for what."""
    server = VaultServer(tmp_path, "vault-sealed")
    try:
        server.write("leased/it", {"password": PASSWORD, "ttl": "2s"})
        for name in ("before", "after"):
            credentials.authentication(name, **by_token(server, secret("leased/it")))
        locked_redis.scaledobject(stage, "before", ref("before"))
        locked_redis.wait_read(stage, "before")
        server.seal()
        locked_redis.scaledobject(stage, "after", ref("after"))
        message_of(stage, "after", server.address, "sealed")
        throughout(lambda: stage.says("Ready", "True", name="before"), until=after(4), every=0.5)
        server.unseal()
        locked_redis.wait_read(stage, "after", timeout=60)
        stage.says("Ready", "True", name="before")
    finally:
        server.end()


# --- what began with the first tests ---

def test_read_again_each_minute(kscaled, module_stage, read_each_minute):
    """Where no lease says otherwise. When that was seen is what counts: it may have been while other tests ran."""
    for name in ("v2", "v1"):
        failing = module_stage.wait_failing(name, timeout=max(read_each_minute + READ_AGAIN + 5 - time.time(), 1))
        took = datetime.datetime.fromisoformat(failing["lastTransitionTime"]).timestamp() - read_each_minute
        assert took <= READ_AGAIN + 5, f"{name}: read again after {took:.0f} s"
