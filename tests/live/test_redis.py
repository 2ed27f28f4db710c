# SPDX-License-Identifier: Apache-2.0
"""The redis trigger against real servers: kinds of keys, credentials, TLS, databases, parameters from the workload's environment."""
import pytest

from rig import pki
from rig.waiting import after, eventually, throughout


def wait_value(stage, value, metric=None, name="worker"):
    def is_there():
        assert stage.metric(metric, name).value() == value
        return True
    eventually(is_there)


# --- what is counted ---

@pytest.mark.parametrize("kind", ["list", "set", "hash", "zset", "none"])
def test_kinds_of_keys(kscaled, stage, kind):
    fill = {
        "list": lambda: stage.client.rpush(stage.jobs, *"abc"),
        "set": lambda: stage.client.sadd(stage.jobs, *"abc"),
        "hash": lambda: stage.client.hset(stage.jobs, mapping={"a": 1, "b": 2, "c": 3}),
        "zset": lambda: stage.client.zadd(stage.jobs, {"a": 1, "b": 2, "c": 3}),
        "none": lambda: None,
    }[kind]
    fill()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    wait_value(stage, "0" if kind == "none" else "3")
    eventually(lambda: stage.replicas() == (0 if kind == "none" else 1))


@pytest.mark.parametrize("kind", ["string", "stream"])
def test_wrong_kind_of_key(kscaled, stage, kind):
    """An error is no zero: nothing is scaled in."""
    stage.push(1)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    stage.drain()
    with stage.client.pipeline() as together:
        if kind == "string":
            together.set(stage.jobs, "x")
        else:
            together.xadd(stage.jobs, {"a": "b"})
        together.execute()
    stage.wait_failing()
    assert kind in stage.metric().failure(503, "ServiceUnavailable")
    failed = stage.event("KEDAScalerFailed")
    assert failed.type == "Warning" and kind in failed.note
    looks = stage.redis.evals(stage.client)
    throughout(lambda: stage.replicas() == 1, until=lambda: stage.redis.evals(stage.client) >= looks + 4)
    stage.drain()
    stage.wait_ready()
    eventually(lambda: stage.replicas() == 0)


def test_key_that_goes_and_comes(kscaled, stage):
    """A key that does not exist has length 0: that is Redis' own answer."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)
    stage.drain()
    eventually(lambda: stage.replicas() == 0)
    stage.says("Ready", "True")


def test_strange_names(kscaled, stage):
    """Names are bytes to Redis, and cannot get out of their place in the command or in the metric's name."""
    names = ["with space", "line\r\nbreak", "$3\r\nfoo", "ünïcödé", '"quoted"\\', "a" * 120]
    stage.deployment(replicas=0)
    for i, name in enumerate(names):
        stage.client.delete(name)
        stage.client.rpush(name, *range(i + 1))
        stage.scaledobject(f"so-{i}", target=stage.another(f"so-{i}"), maxReplicaCount=1, triggers=[stage.trigger(listName=name)])

    def told(name):
        """Ready, or refused because the HPA cannot have such a metric name; in no case anything else."""
        condition = stage.condition("Ready", name)
        assert condition.get("status") in ("True", "False"), condition
        return condition

    for i, name in enumerate(names):
        condition = eventually(lambda i=i: told(f"so-{i}"))
        metric = "s0-redis-" + name.translate(str.maketrans("/.:%()", "------"))
        if condition["status"] == "True":
            wait_value(stage, str(i + 1), metric, f"so-{i}")
        stage.client.delete(name)
    assert stage.says("Ready", "True", name="so-5")


# --- where and how ---

def test_database_index(kscaled, stage, start_redis):
    server = start_redis()
    server.client(db=3).rpush("jobs", *range(9))
    server.client(db=0).rpush("jobs", *range(2))
    stage.deployment(replicas=0)
    for database in (0, 3, 5):
        stage.ready_scaledobject(f"db{database}", target=stage.another(f"db{database}"), maxReplicaCount=1, triggers=[stage.trigger(address=server.address, listName="jobs", databaseIndex=database)])
    for database, value in ((0, "2"), (3, "9"), (5, "0")):
        wait_value(stage, value, "s0-redis-jobs", f"db{database}")
    stage.scaledobject("db99", target=stage.another("db99"), triggers=[stage.trigger(address=server.address, listName="jobs", databaseIndex=99)])
    stage.wait_failing("db99")
    assert "database" in stage.metric("s0-redis-jobs", "db99").failure(503, "ServiceUnavailable").lower() or "DB index" in stage.event("KEDAScalerFailed", "db99").note


def test_host_and_port(kscaled, stage):
    stage.push(4)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[stage.trigger(address=None, host="127.0.0.1", port=stage.redis.port)])
    wait_value(stage, "4")
    stage.ready_scaledobject("by-name", target=stage.another("by-name"), maxReplicaCount=1, triggers=[stage.trigger(address=f"localhost:{stage.redis.port}")])
    wait_value(stage, "4", name="by-name")


def test_name_that_does_not_resolve(kscaled, stage):
    stage.deployment(replicas=1)
    stage.scaledobject(triggers=[stage.trigger(address="redis.does-not-exist.invalid:6379")])
    stage.wait_failing()
    assert "redis.does-not-exist.invalid" in stage.metric().failure(503, "ServiceUnavailable")
    assert stage.replicas() == 1


def test_password(kscaled, stage, start_redis):
    server = start_redis(extra=["--requirepass", "open-sesame"])
    server.client(password="open-sesame").rpush("jobs", *range(6))
    stage.deployment(replicas=1, env={"RIGHT": "open-sesame", "WRONG": "open-sesamy"})
    at = {"address": server.address, "listName": "jobs"}
    objects = {"right": {"passwordFromEnv": "RIGHT"}, "wrong": {"passwordFromEnv": "WRONG"}, "none": {}}
    for name, more in objects.items():
        stage.scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[stage.trigger(**at, **more)])
    stage.wait_ready("right")
    wait_value(stage, "6", "s0-redis-jobs", "right")
    for name in ("wrong", "none"):
        stage.wait_failing(name)
        message = stage.metric("s0-redis-jobs", name).failure(503, "ServiceUnavailable")
        assert any(word in message for word in ("WRONGPASS", "NOAUTH")), message
    assert "open-sesam" not in kscaled.log(), "no secret is ever logged"
    assert all("open-sesam" not in e.note for name in objects for e in stage.events(name))
    assert stage.replicas("wrong") == 0


def test_logins_that_nobody_asks_for(kscaled, stage, start_redis):
    """As with KEDA's client: a password for a server that has none, and a user without a password, who need not exist."""
    server = start_redis()
    stage.deployment(env={"PASSWORD": "secret"})
    for name, more in {"password": {"passwordFromEnv": "PASSWORD"}, "user": {"username": "nobody"}}.items():
        stage.ready_scaledobject(name, target=stage.another(name), maxReplicaCount=1, triggers=[stage.trigger(address=server.address, listName=name, **more)])
        server.client().rpush(name, 1)
        wait_value(stage, "1", f"s0-redis-{name}", name)


def test_acl_user(kscaled, stage, start_redis):
    server = start_redis()
    admin = server.client()
    admin.rpush("jobs", *range(6))
    admin.acl_setuser("scaler", enabled=True, passwords=["+secret"], keys=["jobs"], commands=["+eval", "+type", "+llen", "+select"], reset=True)
    admin.acl_setuser("stranger", enabled=True, passwords=["+secret"], keys=["other"], commands=["+eval", "+type", "+llen"], reset=True)
    stage.deployment(replicas=1, env={"PASSWORD": "secret"})
    at = {"address": server.address, "listName": "jobs", "passwordFromEnv": "PASSWORD"}
    stage.ready_scaledobject("allowed", target=stage.another("allowed"), maxReplicaCount=1, triggers=[stage.trigger(**at, username="scaler")])
    wait_value(stage, "6", "s0-redis-jobs", "allowed")
    stage.scaledobject("denied", target=stage.another("denied"), maxReplicaCount=1, triggers=[stage.trigger(**at, username="stranger")])
    stage.wait_failing("denied")
    message = stage.metric("s0-redis-jobs", "denied").failure(503, "ServiceUnavailable")
    assert "NOPERM" in message or "permission" in message.lower() or "can't access" in message.lower(), message
    # Granted later: heals by itself.
    admin.acl_setuser("stranger", keys=["jobs"])
    stage.wait_ready("denied")


def test_tls(kscaled, stage, start_redis, tmp_path):
    authority = pki.authority(tmp_path, "redis-ca")
    server = start_redis(tls=pki.certificate(tmp_path, "redis", authority, "redis"))
    server.client().rpush("jobs", *range(8))
    stage.deployment(replicas=1)
    at = {"address": server.address, "listName": "jobs", "_name": "one"}
    stage.ready_scaledobject("unsafe", target=stage.another("unsafe"), maxReplicaCount=1, triggers=[stage.trigger(**at, enableTLS="true", unsafeSsl="true")])
    wait_value(stage, "8", "s0-redis-jobs", "unsafe")
    # Nobody we trust has signed that certificate.
    stage.scaledobject("verified", target=stage.another("verified"), maxReplicaCount=1, triggers=[stage.trigger(**at, enableTLS="true")])
    # And without TLS there is no answer that makes sense.
    stage.scaledobject("plain", target=stage.another("plain"), maxReplicaCount=1, triggers=[stage.trigger(**at)])
    for name, word in (("verified", "certificate"), ("plain", server.address)):
        stage.wait_failing(name)
        assert word in stage.metric("s0-redis-jobs", name).failure(503, "ServiceUnavailable")
    # TLS to a server that speaks none.
    stage.scaledobject("tls-to-plain", target=stage.another("tls-to-plain"), maxReplicaCount=1, triggers=[stage.trigger(enableTLS="true", unsafeSsl="true")])
    stage.wait_failing("tls-to-plain")


# --- from the workload's environment ---

def test_address_from_env_is_followed(kscaled, stage, start_redis):
    one, two = start_redis(), start_redis()
    one.client().rpush("jobs", *range(1))
    two.client().rpush("jobs", *range(2))
    stage.deployment(replicas=0, env={"REDIS": one.address, "UNUSED": "x"})
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[stage.trigger(address=None, addressFromEnv="REDIS", listName="jobs")])
    wait_value(stage, "1", "s0-redis-jobs")
    stage.set_env({"REDIS": two.address})
    wait_value(stage, "2", "s0-redis-jobs")
    # Taken out: Ready says so, by name; and it heals.
    stage.cluster.apps.patch_namespaced_deployment("worker", stage.namespace, {"spec": {"template": {"spec": {"containers": [{"name": "main", "env": [{"name": "REDIS", "$patch": "delete"}]}]}}}})
    assert "REDIS" in stage.wait_refused()
    stage.set_env({"REDIS": one.address})
    stage.wait_ready()
    wait_value(stage, "1", "s0-redis-jobs")


def test_host_port_and_references_between_variables(kscaled, stage):
    stage.push(3)
    stage.deployment(replicas=0, env={"HOST": "127.0.0.1", "PORT": str(stage.redis.port), "BOTH": "$(HOST):$(PORT)", "TWO": "$$(HOST)"})
    stage.ready_scaledobject("a", target=stage.another("a"), maxReplicaCount=1, triggers=[stage.trigger(address=None, hostFromEnv="HOST", portFromEnv="PORT")])
    stage.ready_scaledobject("b", target=stage.another("b"), maxReplicaCount=1, triggers=[stage.trigger(address=None, addressFromEnv="BOTH")])
    wait_value(stage, "3", name="a")
    wait_value(stage, "3", name="b")


def test_container_of_choice(kscaled, stage):
    stage.push(3)
    containers = [{"name": "first", "image": "none", "env": [{"name": "REDIS", "value": "127.0.0.1:1"}]},
                  {"name": "second", "image": "none", "env": [{"name": "REDIS", "value": stage.redis.address}]}]
    stage.deployment(replicas=0, containers=containers)
    trigger = stage.trigger(address=None, addressFromEnv="REDIS")
    stage.ready_scaledobject("second", target={**stage.another("second"), "envSourceContainerName": "second"}, maxReplicaCount=1, triggers=[trigger])
    wait_value(stage, "3", name="second")
    stage.scaledobject("first", target=stage.another("first"), maxReplicaCount=1, triggers=[trigger])
    stage.wait_failing("first")
    stage.scaledobject("third", target={**stage.another("third"), "envSourceContainerName": "third"}, maxReplicaCount=1, triggers=[trigger])
    assert "third" in stage.wait_refused("third")


# --- connections ---

def test_one_connection_for_many_triggers(kscaled, stage, start_redis):
    server = start_redis()
    stage.deployment(replicas=0)
    for i in range(12):
        stage.scaledobject(f"so-{i}", target=stage.another(f"so-{i}"), maxReplicaCount=1, triggers=[stage.trigger(address=server.address, listName=f"list-{i}")])
    eventually(lambda: all(stage.says("Ready", "True", name=f"so-{i}") for i in range(12)))
    client = server.client()
    asked = server.evals(client)
    throughout(lambda: others(client) <= 1, until=lambda: server.evals(client) >= asked + 24)


def others(client):
    """Connections that are not the test's own."""
    own = {connection["id"] for connection in client.client_list() if connection["cmd"] in ("client|list", "info", "ping", "NULL")}
    return len([connection for connection in client.client_list() if connection["id"] not in own])


def test_same_question_is_asked_once(kscaled, stage, start_redis):
    """Ten triggers on one list, asked within one slot, are one query."""
    server = start_redis()
    stage.deployment(replicas=0)
    for i in range(3):
        stage.ready_scaledobject(f"so-{i}", target=stage.another(f"so-{i}"), maxReplicaCount=1, triggers=[stage.trigger(address=server.address, listName="one", listLength=i + 1) for _ in range(10)])
    client = server.client()
    before = server.evals(client)
    throughout(lambda: None, until=after(4))
    asked = server.evals(client) - before
    assert 4 <= asked <= 60, f"{asked} queries in 4 s; thirty triggers asked each for itself, by the loop and by the HPA controller, would be 240"
