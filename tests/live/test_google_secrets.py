# SPDX-License-Identifier: Apache-2.0
"""gcpSecretManager against a server that stands in for it (rig/google_secrets.py says what that is): what is read, as whom, how it is rotated, and what Ready says when it cannot be had."""
import json

import pytest

from rig.credentials import LockedRedis, ref
from rig.google_fake import Metadata
from rig.google_secrets import GoogleSecrets
from rig.http_source import half
from rig.secret_managers import READ_AGAIN, SOON, from_key, message_of
from rig.waiting import eventually

PASSWORD = LockedRedis.PASSWORD


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
    """The latest version, one by its number, one by an alias; several by one token; another value, for who was refused; what cannot be read again stays in use."""
    user = f"google-{stage.namespace}"
    google.aliases[("shop", "redis", "prod")] = "2"
    credentials.secret("reader", key=google.account("reader").key())
    specs = {"latest": [version("redis"), version("user_name", "username")], "number": [version("redis", version="2")], "alias": [version("redis", version="prod")]}
    daemon = launch(env=google.env(), options=SOON)
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
    locked_redis.add_user(user)
    google.secrets[("shop", "rotated")] = {"1": b"old"}
    credentials.authentication("rotated", **of_google(version("rotated"), key="reader"))
    locked_redis.scaledobject(stage, "rotated", ref("rotated"), trigger={"username": user})
    stage.wait_failing("rotated")
    google.secrets[("shop", "rotated")]["2"] = locked_redis.password_of(user).encode()
    locked_redis.wait_read(stage, "rotated")
    google.corrupted = {"latest"}
    locked_redis.remove_user(user)
    eventually(lambda: "Google Secret Manager https://secretmanager.googleapis.com:443: secret rotated: secret payload data corruption detected; the value read before stays in use" in daemon.log())
    locked_redis.add_user(user)
    locked_redis.wait_read(stage, "rotated")
    locked_redis.remove_user(user)
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
        "empty": (of_google(version("empty"), key="reader"), ("secret empty: its value is empty",)),
        "no-name": (of_google(version("../x"), key="reader"), ("the id is invalid",)),
        "nobody": (of_google(one, key="nobody"), ("HTTP status 403, PERMISSION_DENIED: Permission 'secretmanager.versions.access' denied", "missing permission: secretmanager.versions.access")),
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
