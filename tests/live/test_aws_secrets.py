# SPDX-License-Identifier: Apache-2.0
"""awsSecretManager against moto, which verifies signatures and rights: what is read, as whom, how it is rotated, and what Ready says when it cannot be had."""
import json
import time

import pytest

from rig.credentials import LockedRedis, ref
from rig.http_source import HttpSource, half
from rig.moto_server import REGION, MotoServer, allow, keys_of, through
from rig.secret_managers import READ_AGAIN, SOON, from_key, message_of, secret
from rig.waiting import eventually

PASSWORD = LockedRedis.PASSWORD


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
        "no-object": (reader(secret(f"{n}/plain", secretKey="pw")), ("the secret's value is not a JSON object",)),
        "wrong": (with_keys(credentials, "wrong", (moto.reader[0], "wrong-secret"), secret(f"{n}/plain")), ("HTTP status 403, SignatureDoesNotMatch",)),
        "unknown": (with_keys(credentials, "unknown", ("AKIAIOSFODNN7EXAMPLE", "x"), secret(f"{n}/plain")), ("HTTP status 403, InvalidClientTokenId",)),
        "nobody": (with_keys(credentials, "nobody", nobody, secret(f"{n}/plain")), ("HTTP status 403, AccessDenied", "missing permission: secretsmanager:GetSecretValue")),
        "no-keys": (by(secret(f"{n}/plain")), ("AccessKeyID and AccessSecretKey are expected when not using a pod identity provider",)),
        "no-region": (reader(secret(f"{n}/plain"), region=""), ("awsSecretManager.region: missing",)),
        "no-secret": (by(secret(f"{n}/plain"), credentials={"accessKey": from_key("nope", "id"), "accessSecretKey": from_key("good", "key")}), ("awsSecretManager.credentials.accessKey", f"Secret {n}/nope")),
        "pod": (by(secret(f"{n}/plain"), podIdentity={"provider": "gcp"}), ("pod identity provider gcp not supported",)),
        "workload": (by(secret(f"{n}/plain"), podIdentity={"provider": "aws", "identityOwner": "workload"}), ("kscaled's own identity at the cloud",)),
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
    """As kscaled itself, by a role, and by that of the workload, for a ClusterTriggerAuthentication; by temporary keys; the region of the environment."""
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
    credentials.cluster_authentication(f"{n}-workload", **by(one, podIdentity={"provider": "aws", "identityOwner": "workload"}))
    assert eventually(lambda: [one for one in stage.cluster.core.list_namespaced_service_account(n).items if one.metadata.name == "default"])
    stage.cluster.core.patch_namespaced_service_account("default", n, {"metadata": {"annotations": {"eks.amazonaws.com/role-arn": moto.role(f"worker-{n}", allow("secretsmanager:GetSecretValue"), f"kscaled-{n}")}}})
    launch(env=environment(moto, AWS_ACCESS_KEY_ID=kscaled[0], AWS_SECRET_ACCESS_KEY=kscaled[1], AWS_REGION=REGION)).wait_serving()
    locked_redis.scaledobject(stage, "temporary", ref("temporary"))
    for name in ("role", "other", "own", "workload"):
        locked_redis.scaledobject(stage, name, ref(f"{n}-{name}", cluster=True))
    for name in ("temporary", "role", "workload"):
        locked_redis.wait_read(stage, name)
    message_of(stage, "other", f"AssumeRole {role}", "AccessDenied", "sts:AssumeRole")
    message_of(stage, "own", f"user/kscaled-{n} is not authorized to perform: secretsmanager:GetSecretValue")


def test_aws_rotated_and_down(launch, stage, credentials, locked_redis, moto, front):
    """Who is refused with a value gets the one that it was changed to. What cannot be read again stays in use; who comes now waits, and knows for what."""
    n = stage.namespace
    user = f"rotated-{n}"
    locked_redis.add_user(user)
    moto.secret(f"{n}/it", "old")
    credentials.authentication("it", **with_keys(credentials, "keys", moto.reader, secret(f"{n}/it")))
    credentials.authentication("late", **by(secret(f"{n}/it", versionStage="AWSCURRENT"), credentials={"accessKey": from_key("keys", "id"), "accessSecretKey": from_key("keys", "key")}))
    daemon = launch(env=environment(front), options=SOON)
    daemon.wait_serving()
    locked_redis.scaledobject(stage, "it", ref("it"), trigger={"username": user})
    stage.wait_failing("it")
    moto.change_secret(f"{n}/it", locked_redis.password_of(user))
    locked_redis.wait_read(stage, "it")
    front.routes["/"] = lambda asked: (503, {}, json.dumps({"__type": "ServiceUnavailable", "message": "come back later"}))
    locked_redis.remove_user(user)
    eventually(lambda: "the value read before stays in use" in daemon.log())
    locked_redis.scaledobject(stage, "late", ref("late"), trigger={"username": user})
    message_of(stage, "late", "AWS Secrets Manager http://127.0.0.1:", f"secret {n}/it: HTTP status 503, ServiceUnavailable: come back later")
    locked_redis.add_user(user)
    locked_redis.wait_read(stage, "it")
    front.routes["/"] = lambda asked: through(moto, asked)
    locked_redis.wait_read(stage, "late", timeout=READ_AGAIN + 10)
    locked_redis.remove_user(user)


def test_aws_faults(launch, stage, credentials, locked_redis, moto, front):
    """Half an answer, a giant one, nonsense, none: Ready says so, and the next reading after the end is well."""
    n = stage.namespace
    moto.secret(f"{n}/it", PASSWORD)
    login = with_keys(credentials, "keys", moto.reader)["awsSecretManager"]["credentials"]
    good = front.routes["/"]
    broken = {"half": (half, ("AWS Secrets Manager",)), "giant": ((200, {}, '{"SecretString":"' + "x" * (1 << 20) + '"}'), ("larger than 524288 bytes",)), "nonsense": ((200, {}, "<html>"), ("the answer is not JSON",)),
              "empty": ((200, {}, '{"SecretString":""}'), ("its value is empty",)), "nul": ((200, {}, '{"SecretString":"a\\u0000b"}'), ("holds a NUL character",)), "away": ((302, {"Location": "http://127.0.0.1:1/"}, ""), ("HTTP status 302",)),
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
