# SPDX-License-Identifier: Apache-2.0
"""
awsSecretManager against moto, which verifies signatures and rights; azureKeyVault and gcpSecretManager against servers that stand in for them (rig/azure_vault.py, rig/google_fake.py say what these are): what is read, as whom, how it is rotated, and
what Ready says when it cannot be had.
"""
import json
import time

import pytest

from rig.azure_vault import PRIVATE, TENANT, VAULT, AzureVault
from rig.credentials import LockedRedis, ref
from rig.google_fake import Metadata
from rig.google_secrets import GoogleSecrets
from rig.http_source import HttpSource, half
from rig.moto_server import REGION, MotoServer, allow, keys_of, through
from rig.waiting import after, eventually, throughout

PASSWORD = LockedRedis.PASSWORD
READ_AGAIN = 60  # seconds between two readings of a value


def message_of(stage, name, *words, timeout=30):
    """What Ready says, once all of that is in it."""
    def told():
        message = stage.condition("Ready", name).get("message", "")
        assert stage.condition("Ready", name).get("status") == "False" and all(word in message for word in words), message
        return message
    return eventually(told, timeout=timeout)


def from_key(name, key):
    return {"valueFrom": {"secretKeyRef": {"name": name, "key": key}}}


# --- AWS Secrets Manager ---

@pytest.fixture(scope="module")
def moto(session_dir):
    moto = MotoServer(session_dir, "moto-secrets")
    moto.reader = moto.user("reader", allow("secretsmanager:GetSecretValue"))
    yield moto
    moto.end()


@pytest.fixture
def front(moto):
    """Between kscaled and moto: remembers what was asked, and may be broken."""
    source = HttpSource()
    source.routes["/"] = lambda asked: through(moto, asked)
    yield source
    source.end()


def environment(moto, **more):
    return {"AWS_ENDPOINT_URL_SECRETS_MANAGER": moto.url, "AWS_ENDPOINT_URL_STS": moto.url, **more}


def with_keys(credentials, name, keys, *secrets, **more):
    """awsSecretManager with these keys in a Secret of that name."""
    credentials.secret(name, id=keys[0], key=keys[1], **({"token": keys[2]} if len(keys) > 2 else {}))
    login = {"accessKey": from_key(name, "id"), "accessSecretKey": from_key(name, "key"), **({"accessToken": from_key(name, "token")} if len(keys) > 2 else {})}
    return by(*secrets, credentials=login, **more)


def by(*secrets, **more):
    return {"awsSecretManager": {"region": REGION, "secrets": list(secrets), **more}}


def secret(name, parameter="password", **more):
    return {"parameter": parameter, "name": name, **more}


def test_aws_values(launch, stage, credentials, locked_redis, moto, front):
    """By name and by ARN; versions and stages; members of one secret, by one request; what is asked, byte by byte."""
    n = stage.namespace
    moto.secret(f"{n}/plain", "old")
    arn = moto.secret(f"{n}/json", json.dumps({"user": "default", "pw": PASSWORD, "port": 1}))
    first = moto.change_secret(f"{n}/plain", PASSWORD)
    moto.secret(f"{n}/current", "old")
    moto.change_secret(f"{n}/current", PASSWORD)
    specs = {"name": [secret(f"{n}/current")], "arn": [secret(arn, secretKey="pw"), secret(f"{n}/json", "username", secretKey="user")], "version": [secret(f"{n}/plain", versionId=first)]}
    login = with_keys(credentials, "keys", moto.reader)["awsSecretManager"]["credentials"]
    launch(env=environment(front)).wait_serving()
    for name, secrets in specs.items():
        credentials.authentication(name, **by(*secrets, credentials=login))
        locked_redis.scaledobject(stage, name, ref(name))
        locked_redis.scaledobject(stage, f"{name}-too", ref(name))
    for name in specs:
        locked_redis.wait_read(stage, name)
        locked_redis.wait_read(stage, f"{name}-too")
    bodies = sorted(asked.body.decode() for asked in front.asked)
    assert bodies == sorted(['{"SecretId":"%s/current"}' % n, '{"SecretId":"%s"}' % arn, '{"SecretId":"%s/json"}' % n, '{"SecretId":"%s/plain","VersionId":"%s"}' % (n, first)])
    for asked in front.asked:
        assert (asked.method, asked.target, asked.headers["X-Amz-Target"], asked.headers["Content-Type"]) == ("POST", "/", "secretsmanager.GetSecretValue", "application/x-amz-json-1.1")
        assert f"/{REGION}/secretsmanager/aws4_request" in asked.headers["Authorization"]
    # Another one, and one of a stage.
    moto.change_secret(f"{n}/current", "another")
    credentials.authentication("stage", **by(secret(f"{n}/current", versionStage="AWSPREVIOUS"), credentials=login))
    locked_redis.scaledobject(stage, "stage", ref("stage"))
    locked_redis.wait_read(stage, "stage")


def test_aws_told(launch, stage, credentials, locked_redis, moto):
    """What is wrong is said with the secret's name and AWS's code, and never a value; the object is not scaled."""
    n = stage.namespace
    moto.secret(f"{n}/json", json.dumps({"pw": PASSWORD, "port": 1}))
    moto.secret(f"{n}/plain", PASSWORD)
    moto.secret(f"{n}/binary", PASSWORD.encode())
    nobody = moto.user(f"nobody-{n}", allow("iam:GetUser"))
    good = with_keys(credentials, "good", moto.reader)["awsSecretManager"]["credentials"]
    reader = lambda *secrets, **more: by(*secrets, credentials=good, **more)
    specs = {
        "gone": (reader(secret(f"{n}/gone")), (f"secret {n}/gone: HTTP status 404, ResourceNotFoundException: Secrets Manager can't find the specified secret",)),
        "binary": (reader(secret(f"{n}/binary")), (f"secret {n}/binary", "is binary (SecretBinary)")),
        "no-member": (reader(secret(f"{n}/json", secretKey="nope")), (f"secret {n}/json: secretKey \"nope\": SecretKey Not Found",)),
        "number": (reader(secret(f"{n}/json", secretKey="port")), ("SecretKey value is not a string",)),
        "no-object": (reader(secret(f"{n}/plain", secretKey="pw")), ("the secret's value is no JSON object",)),
        "wrong": (with_keys(credentials, "wrong", (moto.reader[0], "wrong-secret"), secret(f"{n}/plain")), ("HTTP status 403, SignatureDoesNotMatch",)),
        "unknown": (with_keys(credentials, "unknown", ("AKIAIOSFODNN7EXAMPLE", "x"), secret(f"{n}/plain")), ("HTTP status 403, InvalidClientTokenId",)),
        "nobody": (with_keys(credentials, "nobody", nobody, secret(f"{n}/plain")), ("HTTP status 403, AccessDenied", "needed is the right secretsmanager:GetSecretValue")),
        "no-keys": (by(secret(f"{n}/plain")), ("AccessKeyID and AccessSecretKey are expected when not using a pod identity provider",)),
        "no-region": (reader(secret(f"{n}/plain"), region=""), ("awsSecretManager.region: missing",)),
        "no-secret": (by(secret(f"{n}/plain"), credentials={"accessKey": from_key("nope", "id"), "accessSecretKey": from_key("good", "key")}), ("awsSecretManager.credentials.accessKey", f"Secret {n}/nope")),
        "pod": (by(secret(f"{n}/plain"), podIdentity={"provider": "gcp"}), ("pod identity provider gcp not supported",)),
        "workload": (by(secret(f"{n}/plain"), podIdentity={"provider": "aws", "identityOwner": "workload"}), ("identityOwner workload is not supported",)),
        "itself": (by(secret(f"{n}/plain"), podIdentity={"provider": "aws"}), ("kscaled's own identity at the cloud", "ClusterTriggerAuthentication")),
        "role": (by(secret(f"{n}/plain"), podIdentity={"provider": "aws", "roleArn": "arn:aws:iam::123456789012:role/x"}), ("kscaled's own identity at the cloud",)),
    }
    daemon = launch(env=environment(moto, AWS_ACCESS_KEY_ID=moto.reader[0], AWS_SECRET_ACCESS_KEY=moto.reader[1]))
    daemon.wait_serving()
    for name, (spec, _) in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    for name, (_, words) in specs.items():
        message = message_of(stage, name, f"TriggerAuthentication {n}/{name}", "awsSecretManager", *words)
        assert PASSWORD not in message and "wrong-secret" not in message and moto.reader[1] not in message
    assert all(stage.replicas(name) == 0 for name in specs)
    # What is missing comes; wrong keys become right ones.
    moto.secret(f"{n}/gone", PASSWORD)
    credentials.change_secret("wrong", key=moto.reader[1])
    locked_redis.wait_read(stage, "wrong")
    locked_redis.wait_read(stage, "gone", timeout=70)
    assert PASSWORD not in daemon.log()


def test_aws_identities(launch, stage, credentials, locked_redis, moto):
    """As kscaled itself, and by a role, for a ClusterTriggerAuthentication; by temporary keys; the region of the environment."""
    n = stage.namespace
    moto.secret(f"{n}/it", PASSWORD)
    kscaled = moto.user(f"kscaled-{n}", allow("sts:AssumeRole"))
    role = moto.role(f"reader-{n}", allow("secretsmanager:GetSecretValue"), f"kscaled-{n}", external_id="shop")
    given = keys_of(moto.session(moto.role(f"temporary-{n}", allow("secretsmanager:GetSecretValue"), "admin")))
    one = secret(f"{n}/it")
    credentials.authentication("temporary", **with_keys(credentials, "temporary", (given["AccessKeyId"], given["SecretAccessKey"], given["Token"]), one))
    credentials.cluster_authentication(f"{n}-role", **by(one, podIdentity={"provider": "aws", "roleArn": role, "externalID": "shop"}, region=""))
    credentials.cluster_authentication(f"{n}-other", **by(one, podIdentity={"provider": "aws", "roleArn": role, "externalID": "bank"}))
    credentials.cluster_authentication(f"{n}-own", **by(one, podIdentity={"provider": "aws"}))
    launch(env=environment(moto, AWS_ACCESS_KEY_ID=kscaled[0], AWS_SECRET_ACCESS_KEY=kscaled[1], AWS_REGION=REGION)).wait_serving()
    locked_redis.scaledobject(stage, "temporary", ref("temporary"))
    for name in ("role", "other", "own"):
        locked_redis.scaledobject(stage, name, ref(f"{n}-{name}", cluster=True))
    for name in ("temporary", "role"):
        locked_redis.wait_read(stage, name)
    message_of(stage, "other", f"AssumeRole {role}", "AccessDenied", "sts:AssumeRole")
    message_of(stage, "own", f"user/kscaled-{n} is not authorized to perform: secretsmanager:GetSecretValue")


def test_aws_rotated_and_down(launch, stage, credentials, locked_redis, moto, front):
    """Another value is in use within a minute. What cannot be read again stays in use; who comes now waits, and knows for what."""
    n = stage.namespace
    moto.secret(f"{n}/it", "old")
    credentials.authentication("it", **with_keys(credentials, "keys", moto.reader, secret(f"{n}/it")))
    credentials.authentication("late", **by(secret(f"{n}/it", versionStage="AWSCURRENT"), credentials={"accessKey": from_key("keys", "id"), "accessSecretKey": from_key("keys", "key")}))
    daemon = launch(env=environment(front))
    daemon.wait_serving()
    locked_redis.scaledobject(stage, "it", ref("it"))
    stage.wait_failing("it")
    moto.change_secret(f"{n}/it", PASSWORD)
    locked_redis.wait_read(stage, "it", timeout=READ_AGAIN + 10)
    front.routes["/"] = lambda asked: (503, {}, json.dumps({"__type": "ServiceUnavailable", "message": "come back later"}))
    seen = len(front.asked)
    eventually(lambda: len(front.asked) > seen, timeout=READ_AGAIN + 10)
    locked_redis.scaledobject(stage, "late", ref("late"))
    message_of(stage, "late", "AWS Secrets Manager http://127.0.0.1:", f"secret {n}/it: HTTP status 503, ServiceUnavailable: come back later")
    throughout(lambda: stage.says("Ready", "True", name="it"), until=after(3), every=0.5)
    eventually(lambda: "the value read before stays in use" in daemon.log())
    front.routes["/"] = lambda asked: through(moto, asked)
    locked_redis.wait_read(stage, "late", timeout=READ_AGAIN + 10)
    stage.says("Ready", "True", name="it")


def test_aws_faults(launch, stage, credentials, locked_redis, moto, front):
    """Half an answer, a giant one, nonsense, none: Ready says so, and the next reading after the end is well."""
    n = stage.namespace
    moto.secret(f"{n}/it", PASSWORD)
    login = with_keys(credentials, "keys", moto.reader)["awsSecretManager"]["credentials"]
    good = front.routes["/"]
    broken = {"half": (half, ("AWS Secrets Manager",)), "giant": ((200, {}, '{"SecretString":"' + "x" * (1 << 20) + '"}'), ("larger than 524288 bytes",)), "nonsense": ((200, {}, "<html>"), ("the answer is not JSON",)),
              "empty": ((200, {}, '{"SecretString":""}'), ("is empty",)), "nul": ((200, {}, '{"SecretString":"a\\u0000b"}'), ("holds a NUL character",)), "away": ((302, {"Location": "http://127.0.0.1:1/"}, ""), ("HTTP status 302",)),
              "slow": (lambda asked: time.sleep(12), ("no complete answer within 10000 ms",))}
    launch(env=environment(front)).wait_serving()
    for name, (behaviour, words) in broken.items():
        front.routes["/"] = behaviour
        credentials.authentication(name, **by(secret(f"{n}/it", versionStage="AWSCURRENT"), credentials=login))
        locked_redis.scaledobject(stage, name, ref(name))
        message_of(stage, name, *words)
        assert stage.replicas(name) == 0
        front.routes["/"] = good
        locked_redis.wait_read(stage, name, timeout=READ_AGAIN + 10)
        stage.delete(name)


# --- Azure Key Vault ---

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
    """The current value and one version; several of one vault, by one token; a token that is refused early; another value; what cannot be read again stays in use."""
    vault.application("reader")
    credentials.secret("reader", secret="client-s3cret\n")
    specs = {"current": [secret("redis"), secret("user", "username")], "version": [secret("redis", version="1" * 32)]}
    daemon = launch(env=vault.env())
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
    # Whose token is over gets another one; the value has changed.
    vault.revoked |= set(vault.given)
    vault.secrets["redis"]["2" * 32] = "another"
    stage.wait_failing("current", timeout=READ_AGAIN + 20)
    assert len(vault.exchanged) == 2
    stage.says("Ready", "True", name="version")
    vault.secrets["redis"]["3" * 32] = PASSWORD
    locked_redis.wait_read(stage, "current", timeout=READ_AGAIN + 20)
    vault.broken = (503, {}, "")
    eventually(lambda: "Azure Key Vault https://shop.vault.azure.net:443: secret redis: HTTP status 503; the value read before stays in use" in daemon.log(), timeout=READ_AGAIN + 20)
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
    needed = "needed is the right to get secrets (role Key Vault Secrets User)"
    specs = {
        "gone": (of_vault(secret("gone"), client="reader"), ("Azure Key Vault https://shop.vault.azure.net:443: secret gone: HTTP status 404, SecretNotFound: A secret with (name/id) gone was not found",)),
        "no-version": (of_vault(secret("redis", version="9" * 32), client="reader"), ("secret redis: HTTP status 404, SecretNotFound",)),
        "off": (of_vault(secret("off"), client="reader"), ("HTTP status 403, Forbidden/SecretDisabled: Operation get is not allowed on a disabled secret.",)),
        "empty": (of_vault(secret("empty"), client="reader"), ("secret \"empty\" is empty",)),
        "no-name": (of_vault(secret("../keys/k"), client="reader"), ("its name is none",)),
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
    for name, broken, words in (("nonsense", (200, {}, "<html>"), "the answer is not JSON"), ("empty-handed", (200, {}, '{"id":"x"}'), "its value is no text"), ("half", half, "Azure Key Vault"),
                                ("echoes", lambda asked: (400, {}, json.dumps({"error": {"code": "x", "message": asked.headers["Authorization"]}})), "words that are not shown")):
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
    message_of(stage, "elsewhere", "vault.evil.test is none of Microsoft's hosts", "--azure-trusted-hosts")
    assert sorted((one["client_id"], one["scope"]) for one in vault.exchanged) == [("kscaled", "https://vault.azure.net/.default"), ("kscaled", "https://vault.private.test/.default"), ("private", "https://vault.private.test/.default")]
    assert "federated.token" not in daemon.log()


# --- Google Secret Manager ---

@pytest.fixture
def google(tmp_path):
    google = GoogleSecrets(tmp_path)
    google.secrets = {("shop", "redis"): {"1": b"old", "2": PASSWORD.encode()}, ("shop", "user_name"): {"1": b"default"}}
    yield google
    google.end()
    assert google.wrong == []
    assert google.tunnels.refused == []


def of_google(*secrets, key=None, **more):
    """key: a Secret with a service account's key, by its name."""
    return {"gcpSecretManager": {"secrets": list(secrets), **({"credentials": {"clientSecret": from_key(key, "key")}} if key else {}), **more}}


def version(name, parameter="password", **more):
    return {"parameter": parameter, "id": name, **more}


def test_google_values(launch, stage, credentials, locked_redis, google):
    """The latest version, one by its number, one by an alias; several by one token; another value; what cannot be read again stays in use."""
    google.aliases[("shop", "redis", "prod")] = "2"
    credentials.secret("reader", key=google.account("reader").key())
    specs = {"latest": [version("redis"), version("user_name", "username")], "number": [version("redis", version="2")], "alias": [version("redis", version="prod")]}
    daemon = launch(env=google.env())
    daemon.wait_serving()
    for name, secrets in specs.items():
        credentials.authentication(name, **of_google(*secrets, key="reader"))
        for twice in (name, f"{name}-too"):
            locked_redis.scaledobject(stage, twice, ref(name))
    for name in specs:
        locked_redis.wait_read(stage, name)
        locked_redis.wait_read(stage, f"{name}-too")
    root = "/v1/projects/shop/secrets/"
    assert sorted(google.read()) == [f"{root}redis/versions/2:access", f"{root}redis/versions/latest:access", f"{root}redis/versions/prod:access", f"{root}user_name/versions/latest:access"]
    assert len(google.exchanged) == 1
    google.secrets[("shop", "redis")]["3"] = b"another"
    stage.wait_failing("latest", timeout=READ_AGAIN + 20)
    google.secrets[("shop", "redis")]["4"] = PASSWORD.encode()
    locked_redis.wait_read(stage, "latest", timeout=READ_AGAIN + 20)
    google.corrupted = True
    eventually(lambda: "Google Secret Manager https://secretmanager.googleapis.com:443: secret redis: secret payload data corruption detected; the value read before stays in use" in daemon.log(), timeout=READ_AGAIN + 20)
    for name in specs:
        stage.says("Ready", "True", name=name)
    assert PASSWORD not in daemon.log() and "ya29" not in daemon.log()


def test_google_told(launch, stage, credentials, locked_redis, google):
    """What Google says, by its codes, and never a secret; the object is not scaled."""
    n = stage.namespace
    google.secrets[("shop", "binary")] = {"1": b"a\0b"}
    google.secrets[("shop", "empty")] = {"1": b""}
    google.states = {("shop", "redis", "1"): "DISABLED"}
    reader, nobody, stranger = google.account("reader"), google.account("nobody", roles=()), google.account("stranger")
    keys = {"reader": reader.key(), "nobody": nobody.key(), "stranger": stranger.key(), "homeless": reader.key(project_id=None), "user": json.dumps({"type": "authorized_user"}), "nonsense": "not a key"}
    del google.accounts[stranger.email]
    for name, key in keys.items():
        credentials.secret(name, key=key)
    one = version("redis")
    specs = {
        "gone": (of_google(version("gone"), key="reader"), ("Google Secret Manager https://secretmanager.googleapis.com:443: secret gone: HTTP status 404, NOT_FOUND: Secret [projects/1/secrets/gone] not found or has no versions.",)),
        "no-version": (of_google(version("redis", version="9"), key="reader"), ("HTTP status 404, NOT_FOUND: Secret Version [projects/shop/secrets/redis/versions/9] not found.",)),
        "disabled": (of_google(version("redis", version="1"), key="reader"), ("HTTP status 400, FAILED_PRECONDITION", "is in DISABLED state.")),
        "binary": (of_google(version("binary"), key="reader"), ("secret binary: its value holds a NUL character",)),
        "empty": (of_google(version("empty"), key="reader"), ("secret \"empty\" is empty",)),
        "no-name": (of_google(version("../x"), key="reader"), ("its id is none",)),
        "nobody": (of_google(one, key="nobody"), ("HTTP status 403, PERMISSION_DENIED: Permission 'secretmanager.versions.access' denied", "needed is the right secretmanager.versions.access")),
        "stranger": (of_google(one, key="stranger"), ("Google token: ", "no token: HTTP status 400, invalid_grant")),
        "homeless": (of_google(one, key="homeless"), ("gcpSecretManager.credentials.clientSecret: project_id field is missing in the json credentials",)),
        "user": (of_google(one, key="user"), ("the key's type is authorized_user, which is not supported",)),
        "nonsense": (of_google(one, key="nonsense"), ("the key is not a JSON object",)),
        "no-key": (of_google(one), ("clientSecret is expected when not using a pod identity provider",)),
        "no-secret": (of_google(one, key="nope"), (f"Secret {n}/nope",)),
        "pod": (of_google(one, podIdentity={"provider": "aws"}), ("gcp secret manager does not support pod identity provider - aws",)),
        "itself": (of_google(one, podIdentity={"provider": "gcp"}), ("kscaled's own identity at the cloud", "ClusterTriggerAuthentication")),
    }
    daemon = launch(env=google.env())
    daemon.wait_serving()
    for name, (spec, _) in specs.items():
        credentials.authentication(name, **spec)
        locked_redis.scaledobject(stage, name, ref(name))
    for name, (_, words) in specs.items():
        message = message_of(stage, name, f"TriggerAuthentication {n}/{name}", "gcpSecretManager", *words)
        assert PASSWORD not in message and "PRIVATE KEY" not in message and "ya29" not in message
    assert all(stage.replicas(name) == 0 for name in specs)
    for number, (broken, words) in enumerate((((200, {}, "<html>"), "the answer is not JSON"), ((200, {}, '{"payload":{"data":"%"}}'), "the answer has no payload in base64"), (half, "Google Secret Manager"))):
        google.broken = broken
        credentials.authentication(f"broken-{number}", **of_google(version("user_name", version=f"{number + 10}"), key="reader"))
        locked_redis.scaledobject(stage, f"broken-{number}", ref(f"broken-{number}"))
        message_of(stage, f"broken-{number}", words)
    google.broken = None
    # A disabled version comes back.
    google.secrets[("shop", "redis")]["1"] = PASSWORD.encode()
    del google.states[("shop", "redis", "1")]
    locked_redis.wait_read(stage, "disabled", timeout=READ_AGAIN + 20)
    assert PASSWORD not in daemon.log() and "PRIVATE KEY" not in daemon.log() and "ya29" not in daemon.log()


def test_google_identity(launch, stage, credentials, locked_redis, google):
    """kscaled's own, of the machine, for a ClusterTriggerAuthentication: whose project it asks is the machine's, or what the environment says."""
    n = stage.namespace
    google.secrets[("other", "redis")] = {"1": PASSWORD.encode()}
    metadata = Metadata(google, google.account("machine", roles=("shop", "other")))
    try:
        credentials.cluster_authentication(n, **of_google(version("redis"), podIdentity={"provider": "gcp"}))
        locked_redis.scaledobject(stage, "own", ref(n, cluster=True))
        daemon = launch("denied", env=google.env(**metadata.env))
        daemon.wait_serving()
        message_of(stage, "own", "kscaled has no Google identity of its own", "cloud-metadata")
        daemon.term()
        daemon = launch("machine", env=google.env(**metadata.env), options={"cloud_metadata": "true"})
        daemon.wait_serving()
        locked_redis.wait_read(stage, "own")
        daemon.term()
        launch("said", env=google.env(**metadata.env, CLOUDSDK_CORE_PROJECT="other"), options={"cloud_metadata": "true"}).wait_serving()
        locked_redis.wait_read(stage, "own")
        assert google.read() == ["/v1/projects/shop/secrets/redis/versions/latest:access", "/v1/projects/other/secrets/redis/versions/latest:access"]
    finally:
        metadata.end()
