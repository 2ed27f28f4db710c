# SPDX-License-Identifier: Apache-2.0
"""Push wake-ups: Redis says that there is work, and nobody waits for the poll, which is half a minute away in all of these."""
import json
import time

import pytest

from rig.process import free_port
from rig.redis_server import RedisServer
from rig.waiting import after, eventually, throughout, timed

FAR = 30  # the poll: what happens before was not its doing
SOON = 6  # seconds, far below the next poll; milliseconds on a machine that has nothing else to do
ALL = "Kglszh"


@pytest.fixture(scope="module")
def notifying(tmp_path_factory):
    """A Redis that announces changes of keys."""
    server = RedisServer(tmp_path_factory.mktemp("push"), "notifying", extra=["--notify-keyspace-events", ALL])
    yield server
    server.end()


@pytest.fixture
def silent(start_redis):
    """One that does not."""
    return start_redis()


def make(stage, server, name="worker", notify="auto", metadata=None, **more):
    """A target at zero that only push can start in time; its list is <namespace>-<name>."""
    stage.deployment(name, replicas=0)
    trigger = stage.trigger(address=server.address, listName=f"{stage.namespace}-{name}", notify=notify, **more)
    stage.ready_scaledobject(name, pollingInterval=FAR, cooldownPeriod=1, maxReplicaCount=1, triggers=[trigger], metadata=metadata)


def push(stage, server, name="worker", count=1):
    server.client().rpush(f"{stage.namespace}-{name}", *range(count))


def explained(daemon, stage, name="worker"):
    """What kscaled says of the push of the first trigger."""
    done = daemon.tell("explain", f"{stage.namespace}/{name}", "-o", "json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)["triggers"][0]["push"]


def wait_push(daemon, stage, state, name="worker", **more):
    def is_so():
        push = explained(daemon, stage, name)
        assert push["state"] == state, push
        return push
    return eventually(is_so, **more)


def subscribers(server):
    return [one for one in server.client().client_list() if int(one["sub"]) > 0]


# --- it wakes ---

@pytest.mark.parametrize("add", ["rpush", "lpush", "sadd", "zadd", "hset"])
def test_wakes(kscaled, stage, notifying, add):
    make(stage, notifying)
    wait_push(kscaled, stage, "on")
    key, client = f"{stage.namespace}-worker", notifying.client()
    {"rpush": lambda: client.rpush(key, "x"), "lpush": lambda: client.lpush(key, "x"), "sadd": lambda: client.sadd(key, "x"),
     "zadd": lambda: client.zadd(key, {"x": 1}), "hset": lambda: client.hset(key, "x", "y")}[add]()
    took = timed(lambda: stage.replicas() == 1)
    assert took < SOON, f"{took} s"
    client.delete(key)


@pytest.mark.journey
def test_default_uses_what_is_there(kscaled, stage, notifying):
    """Without a word in the trigger."""
    make(stage, notifying, notify=None)
    wait_push(kscaled, stage, "on")
    push(stage, notifying)
    assert timed(lambda: stage.replicas() == 1) < SOON


def test_off(kscaled, stage, notifying):
    make(stage, notifying, notify="off")
    assert explained(kscaled, stage) is None
    push(stage, notifying)
    throughout(lambda: stage.replicas() == 0, until=after(2))


def test_other_words_are_refused(kscaled, stage, notifying):
    stage.deployment(replicas=0)
    stage.scaledobject(triggers=[stage.trigger(notify="on")])
    assert 'unable to set param "notify" value "on": must be one of auto, off' in stage.wait_refused()


def test_taking_away_wakes_nobody(kscaled, stage, notifying):
    make(stage, notifying)
    push(stage, notifying, count=50)
    eventually(lambda: stage.replicas() == 1)
    client, key = notifying.client(), f"{stage.namespace}-worker"
    wakes = 'kscaled_push_wakes_total{type="redis"}'
    before = kscaled.metrics()[wakes]
    for _ in range(40):
        client.lpop(key)
    client.rpush(key, "x")  # one that does: all before it were heard by then
    eventually(lambda: kscaled.metrics()[wakes] > before)
    assert kscaled.metrics()[wakes] - before <= 2


# --- and says when it cannot ---

def test_turned_on_later(kscaled, stage, silent):
    make(stage, silent)
    off = wait_push(kscaled, stage, "off")
    assert f"CONFIG SET notify-keyspace-events {ALL}" in off["why"] and silent.address in off["why"]
    told = stage.event("KEDAScalerInfo")
    assert told.type == "Warning" and "push is off" in told.note and f"CONFIG SET notify-keyspace-events {ALL}" in told.note
    assert silent.client().config_get("notify-keyspace-events")["notify-keyspace-events"] == "", "nobody changed it"
    assert not subscribers(silent)
    silent.client().config_set("notify-keyspace-events", ALL)
    wait_push(kscaled, stage, "on", timeout=25)
    push(stage, silent)
    assert timed(lambda: stage.replicas() == 1) < SOON
    assert len(stage.events(reason="KEDAScalerInfo")) == 1


def test_off_is_quiet_unless_asked_for(kscaled, stage, silent):
    make(stage, silent, notify=None)
    assert "CONFIG SET" in wait_push(kscaled, stage, "off")["why"]
    assert not stage.events(reason="KEDAScalerInfo")


def test_user_without_config(kscaled, stage, credentials, start_redis):
    """As with managed servers: nobody can see whether it is on, so it is tried when it was asked for; the first announcement shows it."""
    server = start_redis(extra=["--notify-keyspace-events", ALL])
    server.client().execute_command("ACL", "SETUSER", "scaler", "on", ">pass", "~*", "&*", "+@all", "-config")
    make(stage, server, username="scaler", password="pass")
    assert "CONFIG GET" in wait_push(kscaled, stage, "off")["why"]
    eventually(lambda: subscribers(server))
    push(stage, server)
    assert timed(lambda: stage.replicas() == 1) < SOON
    wait_push(kscaled, stage, "on")
    # Nor may it subscribe.
    server.client().execute_command("ACL", "SETUSER", "scaler", "resetchannels")
    for one in subscribers(server):
        server.client().client_kill_filter(_id=one["id"])
    why = eventually(lambda: "subscribe" in explained(kscaled, stage)["why"] and explained(kscaled, stage)["why"])
    assert "ACL SETUSER" in why and "pass" not in why


# --- connections ---

def test_connection_killed_and_back(kscaled, stage, notifying):
    make(stage, notifying)
    wait_push(kscaled, stage, "on")
    for one in subscribers(notifying):
        notifying.client().client_kill_filter(_id=one["id"])
    eventually(lambda: subscribers(notifying))
    wait_push(kscaled, stage, "on")
    push(stage, notifying)
    assert timed(lambda: stage.replicas() == 1) < SOON


def test_what_came_while_the_server_was_away(kscaled, stage, start_redis):
    """After a reconnect everybody looks once."""
    server = start_redis(extra=["--notify-keyspace-events", ALL])
    make(stage, server)
    wait_push(kscaled, stage, "on")
    server.kill()
    wait_push(kscaled, stage, "failing")
    server.start()
    push(stage, server)
    eventually(lambda: stage.replicas() == 1, timeout=12)


def test_hung_server(kscaled, stage, start_redis):
    """A connection on which nothing comes any more looks like one on which nothing happens: it is asked."""
    server = start_redis(extra=["--notify-keyspace-events", ALL])
    make(stage, server)
    wait_push(kscaled, stage, "on")
    server.freeze()
    wait_push(kscaled, stage, "failing", timeout=45)
    server.thaw()
    wait_push(kscaled, stage, "on")
    push(stage, server)
    assert timed(lambda: stage.replicas() == 1) < SOON


def test_many_objects_one_connection(launch, stage, notifying):
    kscaled = launch().wait_serving()
    names = [f"many-{i}" for i in range(50)]
    for name in names:
        stage.deployment(name, replicas=0)
        stage.scaledobject(name, pollingInterval=300, maxReplicaCount=1, triggers=[stage.trigger(address=notifying.address, listName=f"{stage.namespace}-{name}", notify="auto")])
    eventually(lambda: kscaled.metrics()['kscaled_push_watches{state="on"}'] == 50)
    mine = subscribers(notifying)
    assert len(mine) == 1 and int(mine[0]["sub"]) == 50
    with notifying.client().pipeline() as together:
        for name in names:
            together.rpush(f"{stage.namespace}-{name}", "x")
        together.execute()
    # A busy API server may need its time for fifty; a poll is minutes away.
    eventually(lambda: all(d.spec.replicas == 1 for d in stage.cluster.apps.list_namespaced_deployment(stage.namespace).items), timeout=60)
    stage.delete_all()
    eventually(lambda: not subscribers(notifying), timeout=15)


@pytest.mark.alone  # the processor time of kscaled
def test_storm(kscaled, stage, notifying):
    """A hundred thousand announcements: looks stay ten a second, and nobody is kept busy by them."""
    make(stage, notifying)
    wait_push(kscaled, stage, "on")
    client, key = notifying.client(), f"{stage.namespace}-worker"
    asked, busy, begin = notifying.evals(client), kscaled.metrics()["process_cpu_seconds_total"], time.monotonic()
    for _ in range(100):
        with client.pipeline(transaction=False) as together:
            for _ in range(1000):
                together.rpush(key, "x")
            together.execute()
    took = time.monotonic() - begin
    eventually(lambda: stage.replicas() == 1, timeout=SOON)
    looks = notifying.evals(client) - asked
    spent = kscaled.metrics()["process_cpu_seconds_total"] - busy
    # One a second more is the HPA controller's.
    assert looks <= (took + SOON) * 12 + 3, f"{looks} looks in {took} s"
    assert spent < 0.5 + took * 0.25, f"{spent} s of CPU in {took} s"
    client.delete(key)
    assert explained(kscaled, stage)["state"] == "on"


# --- who is woken ---

def test_paused(kscaled, stage, notifying):
    make(stage, notifying)
    wait_push(kscaled, stage, "on")
    stage.annotate(paused="true")
    eventually(lambda: stage.says("Paused", "True"))
    eventually(lambda: explained(kscaled, stage)["state"] == "unwatched")
    push(stage, notifying)
    throughout(lambda: stage.replicas() == 0, until=after(1.5))
    stage.annotate(paused=None)
    eventually(lambda: stage.replicas() == 1)


def test_standby_does_not_watch(launch, stage, start_redis):
    server = start_redis(extra=["--notify-keyspace-events", ALL])
    short = {"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}
    first = launch("first", options=short).wait_serving()
    second = launch("second", port=free_port(), options=short).wait_ready()
    make(stage, server)
    wait_push(first, stage, "on")
    assert len(subscribers(server)) == 1
    assert explained(second, stage)["state"] == "unwatched"
    first.term()
    eventually(second.leading)
    wait_push(second, stage, "on")
    push(stage, server)
    assert timed(lambda: stage.replicas() == 1) < SOON
