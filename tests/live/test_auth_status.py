# SPDX-License-Identifier: Apache-2.0
"""What TriggerAuthentications say of their users, and what is said of them: status, Events, KEDA's finalizer."""
import re

import pytest

from rig.cluster import gone
from rig.credentials import LockedRedis, from_secret, ref
from rig.stage import Stage
from rig.waiting import after, eventually, throughout

KEDA_FINALIZER = "finalizer.keda.sh"


@pytest.fixture(autouse=True)
def password(credentials):
    credentials.secret(password=LockedRedis.PASSWORD)


def users(get):
    return (get().get("status") or {}).get("scaledobjects", "")


def lists(get, wanted):
    """The status says so, and stays so."""
    def is_so():
        assert users(get) == wanted
        return True
    eventually(is_so)


def knows_all(daemon, plural="triggerauthentications"):
    """Its first list is over, for which readiness does not wait: what is created later is news."""
    eventually(lambda: re.search(rf"GET \S*/{plural}\?limit=\S*: 200", daemon.log()))


def events(stage, kind, name, namespace=None):
    found = stage.cluster.events.list_namespaced_event(namespace or stage.namespace).items
    return [event.reason for event in found if event.regarding.kind == kind and event.regarding.name == name]


def test_users(kscaled, stage, credentials, locked_redis):
    """Also when a trigger stops to use it, which KEDA forgets."""
    credentials.authentication("one", **from_secret())
    credentials.authentication("two", **from_secret())
    one, two = lambda: credentials.get("one"), lambda: credentials.get("two")
    for name in ("b", "a", "c"):
        locked_redis.scaledobject(stage, name, ref("one"))
    lists(one, "a,b,c")
    assert users(two) == ""
    stage.patch({"spec": {"triggers": [locked_redis.trigger(stage, ref("two"))]}}, "b")
    lists(one, "a,c")
    lists(two, "b")
    # Several triggers of one object are one user; and of several objects that it uses, each lists it.
    stage.patch({"spec": {"triggers": [locked_redis.trigger(stage, ref(name)) for name in ("one", "one", "two")]}}, "b")
    lists(one, "a,b,c")
    lists(two, "b")
    stage.patch({"spec": {"triggers": [locked_redis.trigger(stage)]}}, "b")
    lists(one, "a,c")
    lists(two, "")
    stage.delete("a")
    lists(one, "c")
    stage.delete("c")
    lists(one, "")


def test_users_of_one_that_comes_later(kscaled, stage, credentials, locked_redis):
    locked_redis.scaledobject(stage, "it", ref("later"))
    stage.wait_refused("it")
    credentials.authentication("later", **from_secret())
    lists(lambda: credentials.get("later"), "it")
    credentials.delete_authentication("later")
    credentials.authentication("later", **from_secret())
    lists(lambda: credentials.get("later"), "it")


def test_users_of_the_cluster_kind(kscaled, stage, credentials, locked_redis, cluster):
    """Objects of one name in two namespaces are two."""
    name, other = stage.namespace, Stage(cluster, f"{stage.namespace}-z", stage.redis)
    credentials.secret(name, namespace="kscaled", password=LockedRedis.PASSWORD)
    credentials.cluster_authentication(name, **from_secret(name))
    get = lambda: credentials.get_cluster(name)
    cluster.create_namespace(other.namespace)
    try:
        for one in (stage, other):
            locked_redis.scaledobject(one, "it", ref(name, cluster=True))
        lists(get, f"{stage.namespace}/it,{other.namespace}/it")
        stage.patch({"spec": {"triggers": [locked_redis.trigger(stage)]}}, "it")
        lists(get, f"{other.namespace}/it")
    finally:
        cluster.delete_namespace(other.namespace)
    lists(get, "")


def test_written_on_change_only(kscaled, stage, credentials, locked_redis):
    credentials.authentication(**from_secret())
    locked_redis.scaledobject(stage, "it", ref())
    lists(credentials.get, "it")
    locked_redis.wait_read(stage, "it")
    version = lambda: credentials.get()["metadata"]["resourceVersion"]
    first = version()
    credentials.change_secret(password="wrong")
    stage.wait_failing("it")
    credentials.change_secret(password=LockedRedis.PASSWORD)
    stage.wait_ready("it")
    asked = kscaled.asked()
    throughout(lambda: version() == first, until=lambda: kscaled.asked() >= asked + 3)


def test_wrong_status_is_put_right(kscaled, stage, credentials, locked_redis, cluster):
    """What KEDA left there, for example."""
    credentials.authentication(**from_secret())
    path = f"/apis/keda.sh/v1alpha1/namespaces/{stage.namespace}/triggerauthentications/redis/status"
    cluster.request(path, "PATCH", text='{"status": {"scaledobjects": "ghost"}}', headers={"Content-Type": "application/merge-patch+json"})
    lists(credentials.get, "")
    locked_redis.scaledobject(stage, "it", ref())
    lists(credentials.get, "it")


def test_events(kscaled, stage, credentials):
    knows_all(kscaled)
    credentials.authentication(**from_secret())
    eventually(lambda: events(stage, "TriggerAuthentication", "redis") == ["TriggerAuthenticationAdded"])
    credentials.change_authentication(**from_secret(key="other"))
    eventually(lambda: sorted(events(stage, "TriggerAuthentication", "redis")) == ["TriggerAuthenticationAdded", "TriggerAuthenticationUpdated"])
    credentials.patch_authentication({"metadata": {"labels": {"touched": "1"}}})
    credentials.delete_authentication()
    eventually(lambda: sorted(events(stage, "TriggerAuthentication", "redis")) == [f"TriggerAuthentication{what}" for what in ("Added", "Deleted", "Updated")])


def test_events_of_the_cluster_kind(kscaled, stage, credentials):
    name = stage.namespace
    knows_all(kscaled, "clustertriggerauthentications")
    credentials.cluster_authentication(name, **from_secret())
    credentials.change_cluster_authentication(name, **from_secret(key="other"))
    credentials.delete_cluster_authentication(name)
    eventually(lambda: sorted(events(stage, "ClusterTriggerAuthentication", name, "default")) == [f"ClusterTriggerAuthentication{what}" for what in ("Added", "Deleted", "Updated")])


def test_restart_tells_nothing_anew(launch, stage, credentials, locked_redis):
    """As KEDA does at each start."""
    daemon = launch().wait_serving()
    knows_all(daemon)
    credentials.authentication(**from_secret())
    locked_redis.scaledobject(stage, "it", ref())
    lists(credentials.get, "it")
    eventually(lambda: events(stage, "TriggerAuthentication", "redis"))
    version = credentials.get()["metadata"]["resourceVersion"]
    daemon.term()
    daemon = launch("again").wait_serving()
    locked_redis.wait_read(stage, "it")
    asked = daemon.asked()
    throughout(lambda: None, until=lambda: daemon.asked() >= asked + 2)
    assert events(stage, "TriggerAuthentication", "redis") == ["TriggerAuthenticationAdded"]
    assert credentials.get()["metadata"]["resourceVersion"] == version


def test_finalizer_of_keda_is_released(kscaled, stage, credentials):
    """Or a KEDA that is gone would hold them for ever. Others' finalizers are theirs."""
    credentials.authentication(metadata={"finalizers": [KEDA_FINALIZER, "example.com/keep"]}, **from_secret())
    eventually(lambda: credentials.get()["metadata"].get("finalizers") == ["example.com/keep"])
    credentials.delete_authentication()
    throughout(lambda: credentials.get()["metadata"]["deletionTimestamp"], until=after(1))
    credentials.patch_authentication({"metadata": {"finalizers": None}})
    eventually(lambda: gone(credentials.get))
    name = stage.namespace
    credentials.cluster_authentication(name, metadata={"finalizers": [KEDA_FINALIZER]}, **from_secret())
    credentials.delete_cluster_authentication(name)
    eventually(lambda: gone(lambda: credentials.get_cluster(name)))


def test_deletion_waits_for_nobody(kscaled, stage, credentials, locked_redis):
    credentials.authentication(**from_secret())
    locked_redis.scaledobject(stage, "it", ref())
    locked_redis.wait_read(stage, "it")
    assert not credentials.get()["metadata"].get("finalizers")
    credentials.delete_authentication()
    assert gone(credentials.get)
