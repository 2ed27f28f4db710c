# SPDX-License-Identifier: Apache-2.0
"""TriggerAuthentication, ClusterTriggerAuthentication and the container's environment, against a Redis that lets nobody in without its password."""
import base64
import json

import pytest
from kubernetes.client import ApiException

from rig.credentials import LockedRedis, from_config_map, from_secret, ref
from rig.scripted import Scripted
from rig.waiting import after, eventually, throughout, timed

PASSWORD = LockedRedis.PASSWORD
AT_ONCE = 6.0  # seconds; the machine may be busy


def variable(name, **value_from):
    return {"name": name, "valueFrom": value_from}


def container(name="main", **more):
    return {"name": name, "image": "none", **more}


# --- each source ---

SOURCES = {
    "secret": from_secret(),
    "config-map": from_config_map(),
    "env": {"env": [{"parameter": "password", "name": "PASSWORD"}]},
    "env-of-container": {"env": [{"parameter": "password", "name": "HIDDEN", "containerName": "second"}]},
    "env-from-secret": {"env": [{"parameter": "password", "name": "SECRET"}]},
}


@pytest.mark.parametrize("source", SOURCES)
def test_source(kscaled, stage, credentials, locked_redis, source):
    credentials.secret(password=PASSWORD)
    credentials.config_map(password=PASSWORD)
    first = container("first", env=[{"name": "PASSWORD", "value": PASSWORD}, {"name": "HIDDEN", "value": "wrong"}, variable("SECRET", secretKeyRef={"name": "redis", "key": "password"})])
    credentials.authentication(**SOURCES[source])
    locked_redis.scaledobject(stage, "it", ref(), containers=[first, container("second", env=[{"name": "HIDDEN", "value": PASSWORD}])])
    locked_redis.wait_read(stage, "it")
    eventually(lambda: stage.replicas("it") == 1)
    # It is this that lets it in: without, it is out.
    locked_redis.scaledobject(stage, "without")
    stage.wait_failing("without")
    assert stage.status("it")["authenticationsTypes"] == "redis"
    assert "authenticationsTypes" not in stage.status("without") or stage.status("without")["authenticationsTypes"] == ""


@pytest.mark.journey
def test_cluster_kind(kscaled, stage, credentials, locked_redis):
    """What it names lies in the cluster object namespace, not in the object's."""
    name = stage.namespace
    credentials.secret(name, password="the wrong one")
    credentials.secret(name, namespace="kscaled", password=PASSWORD)
    credentials.config_map(f"{name}-map", namespace="kscaled", password=PASSWORD)
    credentials.cluster_authentication(f"{name}-secret", **from_secret(name))
    credentials.cluster_authentication(f"{name}-map", **from_config_map(f"{name}-map"))
    credentials.cluster_authentication(f"{name}-env", env=[{"parameter": "password", "name": "PASSWORD"}])
    for kind in ("secret", "map", "env"):
        locked_redis.scaledobject(stage, kind, ref(f"{name}-{kind}", cluster=True), env={"PASSWORD": PASSWORD})
    for kind in ("secret", "map", "env"):
        locked_redis.wait_read(stage, kind)


def test_cluster_object_namespace(launch, stage, credentials, locked_redis):
    launch(options={"cluster_object_namespace": stage.namespace}).wait_serving()
    credentials.secret(password=PASSWORD)
    credentials.cluster_authentication(stage.namespace, **from_secret())
    locked_redis.scaledobject(stage, "it", ref(stage.namespace, cluster=True))
    locked_redis.wait_read(stage, "it")


def test_files(launch, stage, credentials, locked_redis, tmp_path):
    """filePath: below one folder, JSON of texts, ClusterTriggerAuthentications only; it replaces what the other sources say."""
    root = tmp_path / "files"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "good.json").write_text(json.dumps({"password": PASSWORD}))
    (root / "list.json").write_text("[]")
    (root / "number.json").write_text('{"password": 5}')
    (tmp_path / "outside.json").write_text(json.dumps({"password": PASSWORD}))
    (root / "link").symlink_to(tmp_path / "outside.json")
    launch(options={"filepath_auth_root_path": root}).wait_serving()
    n = stage.namespace
    credentials.cluster_authentication(f"{n}-good", filePath="sub/good.json", **from_secret("does-not-exist"))
    locked_redis.scaledobject(stage, "good", ref(f"{n}-good", cluster=True))
    wrong = {"up": "../outside.json", "absolute": str(root / "sub" / "good.json"), "missing": "missing.json", "list": "list.json", "number": "number.json", "folder": "sub", "link": "link"}
    for name, path in wrong.items():
        credentials.cluster_authentication(f"{n}-{name}", filePath=path)
        locked_redis.scaledobject(stage, name, ref(f"{n}-{name}", cluster=True))
    locked_redis.wait_read(stage, "good")
    for name, path in wrong.items():
        message = stage.wait_refused(name)
        assert path in message and "filePath" in message and f"{n}-{name}" in message, message
    # Put there, it is found; looked for every 10 s.
    (root / "missing.json").write_text(json.dumps({"password": PASSWORD}))
    locked_redis.wait_read(stage, "missing")


def test_files_are_not_for_everybody(kscaled, stage, credentials, locked_redis):
    credentials.cluster_authentication(stage.namespace, filePath="good.json")
    locked_redis.scaledobject(stage, "no-root", ref(stage.namespace, cluster=True))
    assert "--filepath-auth-root-path" in stage.wait_refused("no-root")
    credentials.authentication(filePath="good.json")
    locked_redis.scaledobject(stage, "own", ref())
    message = stage.wait_refused("own")
    assert "filePath" in message and "ClusterTriggerAuthentication" in message


# --- tokens of service accounts ---

class Doorkeeper:
    """Plays a Redis that notes what clients log in with, which a real one keeps for itself, and lets all of them in."""

    def __init__(self):
        self.passwords = []
        self.server = Scripted(self._serve)
        self.address = self.server.address

    def _serve(self, connection):
        stream = connection.makefile("rb")
        while line := stream.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int(stream.readline()[1:])
                words.append(stream.read(size + 2)[:-2])
            if words[0].upper() == b"AUTH":
                self.passwords.append(words[-1].decode())
            connection.sendall(b":6\r\n" if words[0].upper() == b"EVAL" else b"+OK\r\n")


@pytest.fixture
def doorkeeper():
    doorkeeper = Doorkeeper()
    yield doorkeeper
    doorkeeper.server.end()


def who(cluster, token):
    answer = cluster.request("/apis/authentication.k8s.io/v1/tokenreviews", "POST", body={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}})
    return answer.json["status"].get("user", {}).get("username")


def test_bound_service_account_token(token_rights, launch, stage, credentials, doorkeeper, cluster):
    launch(options={"bound_service_account_token_expiry": "2h"}).wait_serving()
    n = stage.namespace
    credentials.authentication(boundServiceAccountToken=[{"parameter": "password", "serviceAccountName": "visitor"}])
    for name in ("it", "cluster"):
        stage.deployment(name)
    stage.scaledobject("it", maxReplicaCount=1, triggers=[stage.trigger(address=doorkeeper.address, listName="jobs", _authenticationRef=ref())])
    message = stage.wait_refused("it")
    assert f"ServiceAccount {n}/visitor does not exist" in message, message
    assert not doorkeeper.passwords
    cluster.core.create_namespaced_service_account(n, {"metadata": {"name": "visitor"}})
    stage.wait_ready("it")
    token = eventually(lambda: doorkeeper.passwords)[-1]
    assert who(cluster, token) == f"system:serviceaccount:{n}:visitor"
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["exp"] - claims["iat"] == 7200
    # The cluster's kind means an account of the cluster object namespace.
    credentials.cluster_authentication(n, boundServiceAccountToken=[{"parameter": "password", "serviceAccountName": "kscaled"}])
    doorkeeper.passwords.clear()
    stage.scaledobject("cluster", maxReplicaCount=1, triggers=[stage.trigger(address=doorkeeper.address, listName="jobs", _authenticationRef=ref(n, cluster=True))])
    stage.wait_ready("cluster")
    eventually(lambda: any(who(cluster, token) == "system:serviceaccount:kscaled:kscaled" for token in doorkeeper.passwords))


@pytest.mark.refused("create serviceaccounts/token")
def test_token_without_the_right(kscaled, stage, credentials, locked_redis, cluster):
    """The message says what to grant."""
    cluster.core.create_namespaced_service_account(stage.namespace, {"metadata": {"name": "visitor"}})
    credentials.authentication(boundServiceAccountToken=[{"parameter": "password", "serviceAccountName": "visitor"}])
    locked_redis.scaledobject(stage, "it", ref())
    message = stage.wait_refused("it")
    assert f"ServiceAccount {stage.namespace}/visitor" in message and "serviceaccounts/token" in message, message
    stage.delete_all()  # so that no other kscaled is denied


# --- oauth2: no trigger uses it yet, but it is looked up like all others ---

OAUTH2 = {"type": "clientCredentials", "clientId": "me", "tokenUrl": "https://id.example/token", "scopes": ["a", "b"], "tokenUrlParams": {"audience": "x y"},
          "clientSecret": {"valueFrom": {"secretKeyRef": {"name": "oauth", "key": "secret"}}}}


def test_oauth2(kscaled, stage, credentials, locked_redis):
    credentials.secret(password=PASSWORD)
    credentials.authentication(oauth2=OAUTH2, **from_secret())
    locked_redis.scaledobject(stage, "it", ref())
    message = stage.wait_refused("it")
    assert f"oauth2 parameter \"clientSecret\": Secret {stage.namespace}/oauth" in message, message
    credentials.secret("oauth", secret="x")
    locked_redis.wait_read(stage, "it")


@pytest.mark.parametrize("change", [{"type": "password"}, {"tokenUrl": None}, {"clientId": None}], ids=str)
def test_oauth2_refused_by_the_schema(installation, stage, credentials, change):
    with pytest.raises(ApiException) as refused:
        credentials.authentication(oauth2={key: value for key, value in {**OAUTH2, **change}.items() if value is not None})
    assert refused.value.status == 422
    assert next(iter(change)) in refused.value.body


# --- whose word counts ---

def test_order_of_sources(kscaled, stage, credentials, locked_redis):
    """Of one TriggerAuthentication: env, then ConfigMap, then Secret; the later one counts."""
    env = {"PASSWORD": "from-env"}
    credentials.config_map(password="from-config-map")
    credentials.secret(password=PASSWORD)
    sources = {"env": [{"parameter": "password", "name": "PASSWORD"}], **from_config_map(), **from_secret()}
    credentials.authentication("all", **sources)
    locked_redis.scaledobject(stage, "all", ref("all"), env=env)
    locked_redis.wait_read(stage, "all")
    del sources["secretTargetRef"]
    credentials.authentication("two", **sources)
    locked_redis.scaledobject(stage, "two", ref("two"), env=env)
    stage.wait_failing("two")
    credentials.change_config_map(password=PASSWORD)
    locked_redis.wait_read(stage, "two")


def test_order_of_places(kscaled, stage, credentials, locked_redis):
    """As keda's redis trigger says: the address from the trigger, else the TriggerAuthentication, else the environment; the password from the environment before the TriggerAuthentication."""
    nobody = "127.0.0.1:1"
    env = {"ADDRESS": nobody, "PASSWORD": PASSWORD, "BAD": "wrong"}
    credentials.secret(password=PASSWORD, address=locked_redis.address, wrong="wrong", nobody=nobody)

    def both(password, address):
        keys = from_secret(key=password)["secretTargetRef"]
        return keys + from_secret(key=address, parameter="address")["secretTargetRef"] if address else keys

    credentials.authentication("good", secretTargetRef=both("password", "address"))
    credentials.authentication("bad-address", secretTargetRef=both("password", "nobody"))
    credentials.authentication("bad-password", secretTargetRef=both("wrong", None))
    reads = {
        "metadata-before-auth": ("bad-address", {}),
        "auth-before-env": ("good", {"address": None, "addressFromEnv": "ADDRESS"}),
        "auth-alone": ("good", {"address": None}),
        "password-env-before-auth": ("bad-password", {"passwordFromEnv": "PASSWORD"}),
    }
    for name, (auth, metadata) in reads.items():
        locked_redis.scaledobject(stage, name, ref(auth), metadata, env=env)
    locked_redis.scaledobject(stage, "env-wrong", ref("good"), {"passwordFromEnv": "BAD"}, env=env)
    for name in reads:
        locked_redis.wait_read(stage, name)
    stage.wait_failing("env-wrong")


# --- the container's environment ---

ENVIRONMENTS = {
    "secret-key": {"env": [variable("IT", secretKeyRef={"name": "redis", "key": "password"})]},
    "config-map-key": {"env": [variable("IT", configMapKeyRef={"name": "redis", "key": "password"})]},
    "all-of-a-secret": {"envFrom": [{"secretRef": {"name": "capitals"}}]},
    "all-of-a-config-map": {"envFrom": [{"configMapRef": {"name": "capitals"}}]},
    "prefix": {"envFrom": [{"prefix": "I", "secretRef": {"name": "tail"}}]},
    "last-of-several": {"envFrom": [{"secretRef": {"name": "wrong"}}, {"secretRef": {"name": "capitals"}}]},
    "env-over-env-from": {"envFrom": [{"secretRef": {"name": "wrong"}}], "env": [variable("IT", secretKeyRef={"name": "redis", "key": "password"})]},
    "expanded": {"env": [{"name": "A", "value": "open"}, variable("B", secretKeyRef={"name": "redis", "key": "half"}), {"name": "IT", "value": "$(A)-$(B)"}]},
    "expanded-from-all": {"envFrom": [{"prefix": "X_", "secretRef": {"name": "redis"}}], "env": [{"name": "IT", "value": "$(X_password)"}]},
    "optional-there": {"env": [variable("IT", secretKeyRef={"name": "redis", "key": "password", "optional": True})]},
    "optional-missing-leaves-what-was": {"envFrom": [{"secretRef": {"name": "capitals"}}, {"secretRef": {"name": "nope", "optional": True}}],
                                         "env": [variable("IT", secretKeyRef={"name": "nope", "key": "x", "optional": True})]},
}


def test_environment(kscaled, stage, credentials, locked_redis):
    credentials.secret(password=PASSWORD, half="sesame")
    credentials.config_map(password=PASSWORD)
    credentials.secret("capitals", IT=PASSWORD)
    credentials.config_map("capitals", IT=PASSWORD)
    credentials.secret("tail", T=PASSWORD)
    credentials.secret("wrong", IT="wrong")
    for name, environment in ENVIRONMENTS.items():
        locked_redis.scaledobject(stage, name, None, {"passwordFromEnv": "IT"}, containers=[container(**environment)])
    for name in ENVIRONMENTS:
        locked_redis.wait_read(stage, name)


UNRESOLVED = {
    "secret": ({"env": [variable("IT", secretKeyRef={"name": "nope", "key": "k"})]}, "Secret {n}/nope does not exist"),
    "secret-key": ({"env": [variable("IT", secretKeyRef={"name": "redis", "key": "k"})]}, 'Secret {n}/redis has no key "k"'),
    "config-map": ({"env": [variable("IT", configMapKeyRef={"name": "nope", "key": "k"})]}, "ConfigMap {n}/nope does not exist"),
    "config-map-key": ({"env": [variable("IT", configMapKeyRef={"name": "redis", "key": "k"})]}, 'ConfigMap {n}/redis has no key "k"'),
    "env-from": ({"envFrom": [{"secretRef": {"name": "nope"}}]}, "Secret {n}/nope does not exist"),
    "optional": ({"env": [variable("IT", secretKeyRef={"name": "nope", "key": "k", "optional": True})]}, "no environment variable IT"),
    "referred-to": ({"env": [variable("A", secretKeyRef={"name": "nope", "key": "k"}), {"name": "IT", "value": "x$(A)"}]}, "Secret {n}/nope does not exist"),
    "empty": ({"env": [variable("IT", secretKeyRef={"name": "redis", "key": "nothing"})]}, "IT"),
    "field": ({"env": [variable("IT", fieldRef={"fieldPath": "metadata.name"})]}, "field of the pod"),
}


def test_environment_that_cannot_be_had(kscaled, stage, credentials, locked_redis):
    credentials.secret(password=PASSWORD, nothing="")
    credentials.config_map(password=PASSWORD)
    for name, (environment, _) in UNRESOLVED.items():
        locked_redis.scaledobject(stage, name, None, {"passwordFromEnv": "IT"}, containers=[container(**environment)])
    for name, (_, told) in UNRESOLVED.items():
        message = stage.wait_refused(name)
        assert told.format(n=stage.namespace) in message and "passwordFromEnv" in message and "IT" in message, message
    # What is missing comes.
    credentials.secret("nope", k=PASSWORD)
    for name in ("secret", "optional"):
        assert timed(lambda name=name: stage.says("Ready", "True", name=name)) < AT_ONCE
        locked_redis.wait_read(stage, name)


# --- what is missing, and comes ---

MISSING = {
    "authentication": (None, "TriggerAuthentication {n}/redis does not exist", lambda c: c.authentication(**from_secret())),
    "secret": (from_secret("other"), "Secret {n}/other does not exist", lambda c: c.secret("other", password=PASSWORD)),
    "secret-key": (from_secret(key="pw"), 'Secret {n}/redis has no key "pw"', lambda c: c.change_secret(pw=PASSWORD)),
    "secret-empty": (from_secret(key="empty"), 'key "empty" of Secret {n}/redis is empty', lambda c: c.change_secret(empty=PASSWORD)),
    "secret-blank": (from_secret(key="blank"), 'key "blank" of Secret {n}/redis is empty', lambda c: c.change_secret(blank=PASSWORD)),
    "config-map": (from_config_map("other"), "ConfigMap {n}/other does not exist", lambda c: c.config_map("other", password=PASSWORD)),
    "config-map-key": (from_config_map(key="pw"), 'ConfigMap {n}/redis has no key "pw"', lambda c: c.change_config_map(pw=PASSWORD)),
    "variable": ({"env": [{"parameter": "password", "name": "NOPE"}]}, "NOPE", lambda c: c.stage.set_env({"NOPE": PASSWORD}, "it")),
    "container": ({"env": [{"parameter": "password", "name": "NOPE", "containerName": "third"}]}, "third", lambda c: c.change_authentication(**from_secret())),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing_then_there(kscaled, stage, credentials, locked_redis, case):
    spec, told, mend = MISSING[case]
    credentials.secret(password=PASSWORD, empty="", blank=" \n")
    credentials.config_map(password=PASSWORD)
    if spec:
        credentials.authentication(**spec)
    locked_redis.scaledobject(stage, "it", ref(), replicas=1)
    message = stage.wait_refused("it")
    assert told.format(n=stage.namespace) in message, message
    assert spec is None or f"TriggerAuthentication {stage.namespace}/redis" in message, message
    assert stage.hpa_names() == [] and stage.replicas("it") == 1
    answer = stage.metric("s0-redis-jobs", "it")
    assert answer.status >= 400 and told.format(n=stage.namespace) in answer.json["message"], f"nobody tries without a password: {answer}"
    mend(credentials)
    if case == "container":
        credentials.change_authentication(env=None)
    took = timed(lambda: stage.says("Ready", "True", name="it"))
    locked_redis.wait_read(stage, "it")
    assert took < AT_ONCE, f"healed after {took:.1f} s"


def test_missing_cluster_kind(kscaled, stage, credentials, locked_redis):
    name = stage.namespace
    locked_redis.scaledobject(stage, "it", ref(name, cluster=True))
    assert f"ClusterTriggerAuthentication {name} does not exist" in stage.wait_refused("it")
    credentials.cluster_authentication(name, **from_secret(name))
    eventually(lambda: f"Secret kscaled/{name} does not exist" in stage.condition("Ready", "it")["message"])
    credentials.secret(name, namespace="kscaled", password=PASSWORD)
    locked_redis.wait_read(stage, "it")


def test_unknown_kind(installation, stage, locked_redis):
    with pytest.raises(ApiException) as refused:
        locked_redis.scaledobject(stage, "it", {"name": "redis", "kind": "Password"})
    assert refused.value.status == 422 and "authenticationRef.kind" in refused.value.body


@pytest.mark.parametrize("what", ["authentication", "secret", "key"])
def test_taken_away_while_in_use(kscaled, stage, credentials, locked_redis, what):
    """Ready says what is missing; nothing is scaled and nothing is torn down; and it heals."""
    credentials.secret(password=PASSWORD)
    credentials.authentication(**from_secret())
    locked_redis.scaledobject(stage, "it", ref())
    locked_redis.wait_read(stage, "it")
    eventually(lambda: stage.replicas("it") == 1)
    told, take, give = {
        "authentication": ("TriggerAuthentication {n}/redis does not exist", credentials.delete_authentication, lambda: credentials.authentication(**from_secret())),
        "secret": ("Secret {n}/redis does not exist", credentials.delete_secret, lambda: credentials.secret(password=PASSWORD)),
        "key": ('Secret {n}/redis has no key "password"', lambda: credentials.change_secret(password=None), lambda: credentials.change_secret(password=PASSWORD)),
    }[what]
    take()
    assert told.format(n=stage.namespace) in stage.wait_refused("it")
    throughout(lambda: stage.replicas("it") == 1 and stage.hpa("it"), until=after(2.5))
    give()
    locked_redis.wait_read(stage, "it")
    assert stage.replicas("it") == 1


def test_the_minimum_needs_no_secret(kscaled, stage, credentials, locked_redis):
    """A new object without its Secret is raised to its minimum, has no HPA and says what is missing; what is lost later leaves both."""
    credentials.authentication(**from_secret())
    locked_redis.scaledobject(stage, "it", ref(), minReplicaCount=2, maxReplicaCount=3)
    locked_redis.scaledobject(stage, "idle", ref(), minReplicaCount=2, maxReplicaCount=3, idleReplicaCount=0)
    missing = f"Secret {stage.namespace}/redis does not exist"
    eventually(lambda: stage.replicas("it") == 2)
    assert missing in stage.wait_refused("it") and missing in stage.wait_refused("idle")
    assert stage.hpa_names() == [] and stage.replicas("idle") == 0
    credentials.secret(password=PASSWORD)
    locked_redis.wait_read(stage, "it")
    eventually(lambda: stage.hpa("it").spec.min_replicas == 2)
    credentials.delete_secret()
    stage.wait_refused("it")
    stage.set_replicas(0, "it")
    eventually(lambda: stage.replicas("it") == 2)
    assert stage.hpa("it").spec.min_replicas == 2


def test_more_config_maps_than_are_watched_one_by_one(kscaled, stage, credentials, locked_redis):
    """From the ninth on those of the namespace are watched together, and one that is named later is read by itself."""
    for i in range(9):
        credentials.config_map(f"map{i}", password=PASSWORD)
    credentials.authentication("many", configMapTargetRef=[{"parameter": f"p{i}" if i else "password", "name": f"map{i}", "key": "password"} for i in range(9)])
    locked_redis.scaledobject(stage, "it", ref("many"))
    locked_redis.wait_read(stage, "it")
    credentials.config_map("late", password=PASSWORD)
    credentials.authentication("late", **from_config_map("late"))
    locked_redis.scaledobject(stage, "late", ref("late"))
    locked_redis.wait_read(stage, "late")


# --- restricted Secrets ---

def test_restricted_secret_access(launch, restored, stage, credentials, locked_redis, cluster):
    """Denied, and not looked for elsewhere; and what the manifests then grant is enough."""
    n = stage.namespace
    restored.apply("--restrict-secret-access")
    may = lambda where: cluster.kubectl("auth", "can-i", "get", "secrets", "-n", where, "--as=system:serviceaccount:kscaled:kscaled", check=False).strip()
    eventually(lambda: (may(n), may("kscaled")) == ("no", "yes"))
    daemon = launch(options={"restrict_secret_access": "true"}).wait_serving()
    credentials.secret(n, password=PASSWORD)
    credentials.secret(n, namespace="kscaled", password=PASSWORD)
    credentials.config_map(password=PASSWORD)
    credentials.authentication("secret", **from_secret(n))
    credentials.authentication("map", **from_config_map())
    credentials.cluster_authentication(n, **from_secret(n))
    locked_redis.scaledobject(stage, "denied", ref("secret"))
    locked_redis.scaledobject(stage, "denied-env", None, {"passwordFromEnv": "IT"}, containers=[container(env=[variable("IT", secretKeyRef={"name": n, "key": "password"})])])
    locked_redis.scaledobject(stage, "cluster", ref(n, cluster=True))
    locked_redis.scaledobject(stage, "map", ref("map"))
    for name in ("cluster", "map"):
        locked_redis.wait_read(stage, name)
    for name in ("denied", "denied-env"):
        message = stage.wait_refused(name)
        assert "--restrict-secret-access" in message and f"Secret {n}/{n}" in message, message
    # The own namespace is the one that is allowed, also for objects that live in it.
    own = type(stage)(cluster, "kscaled", stage.redis)
    credentials.authentication(n, namespace="kscaled", **from_secret(n))
    try:
        locked_redis.scaledobject(own, n, ref(n))
        locked_redis.wait_read(own, n)
    finally:
        own.delete(n)
        cluster.apps.delete_namespaced_deployment(n, "kscaled")
    assert "forbidden: User" not in daemon.log()


# --- clouds that the type does not log in to ---

@pytest.mark.parametrize("provider", ["azure-workload", "aws", "gcp", "none"])
def test_a_cloud_that_the_type_does_not_log_in_to(kscaled, stage, credentials, locked_redis, provider):
    """It is left alone, and told, beside a source that does."""
    credentials.secret(password=PASSWORD)
    credentials.authentication("cloud", podIdentity={"provider": provider}, **from_secret())
    locked_redis.scaledobject(stage, "cloud", ref("cloud"))
    locked_redis.wait_read(stage, "cloud")
    told = json.loads(kscaled.tell("explain", f"{stage.namespace}/cloud", "-o", "json").stdout)["triggers"][0]["ignored"]
    assert told is None if provider == "none" else f"podIdentity {provider} of its authentication has no effect" in told, told
