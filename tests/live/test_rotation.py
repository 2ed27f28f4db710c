# SPDX-License-Identifier: Apache-2.0
"""
Credentials that change: in use within a second, without an error first. The Redis knows the users blue and green; what is rotated names blue before and green after, and MONITOR tells who asks. Both may enter for a while; then
blue is thrown out, and nothing may happen.
"""
import concurrent.futures
import json
import os
import time

import pytest

from rig.cluster import GROUP, VERSION
from rig.credentials import Asks, Credentials, LockedRedis, from_config_map, from_secret, ref
from rig.stage import Stage
from rig.waiting import after, eventually, throughout, timed

# How long it takes until what is new is in use, in tenths of a second.
pytestmark = pytest.mark.alone

IN_USE = 1.0  # seconds, when objects are polled each second; and what a busy machine takes
SLACK = 1.0


@pytest.fixture
def colours(tmp_path):
    """A Redis of the test's own with the users blue and green."""
    server = LockedRedis(tmp_path, "colours", users=("blue", "green"))
    server.asks = Asks(server)
    yield server
    server.asks.end()
    server.end()


def login(colour):
    return {"username": colour, "password": LockedRedis.password_of(colour)}


def both(make, name="redis"):
    """username and password from the same place."""
    field = next(iter(make()))
    return {field: make(name, "username", "username")[field] + make(name, "password", "password")[field]}


def asks(colours, user):
    return lambda: user in colours.asks.by_user()


def switched(colours, change, user, timeout=30.0, polls=2):
    """Changes; how many seconds it took until all who ask, and some do, are that user."""
    since = time.time()
    change()
    eventually(asks(colours, user), timeout, every=0.02)
    later = lambda who: [when for when in colours.asks.by_user().get(who, []) if when > since]
    throughout(lambda: None, until=lambda: len(later(user)) >= polls, timeout=timeout)
    others = [when for who in colours.asks.by_user() if who != user for when in later(who)]
    return max([min(later(user)), *others]) - since


class Unmoved:
    """No word of trouble about an object from now on."""

    def __init__(self, stage, *names):
        self.stage, self.names = stage, names
        self.since = {name: stage.condition("Ready", name)["lastTransitionTime"] for name in names}

    def check(self):
        for name in self.names:
            ready = self.stage.condition("Ready", name)
            assert ready["status"] == "True" and ready["lastTransitionTime"] == self.since[name], ready
            failed = [event.note for event in self.stage.events(name) if event.type == "Warning"]
            assert not failed, failed
        return True


def settle(colours, *unmoved, asked=2):
    """The old one is thrown out, and nobody minds."""
    colours.remove_user("blue")
    before = colours.evals(colours.admin)
    throughout(lambda: all(one.check() for one in unmoved), until=lambda: colours.evals(colours.admin) >= before + asked)
    assert colours.refused() == 0


def rotate(stage, colours, change, *names, limit=IN_USE + SLACK):
    """From blue to green."""
    eventually(asks(colours, "blue"))
    unmoved = Unmoved(stage, *names)
    took = switched(colours, change, "green")
    settle(colours, unmoved)
    assert took <= limit, f"in use after {took:.2f} s"


# --- everything that can be rotated ---

def keys_of(name, kind):
    return [{"name": "NAME", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": "username"}}}, {"name": "WORD", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": "password"}}}]


FROM_ENV = {"usernameFromEnv": "NAME", "passwordFromEnv": "WORD"}


@pytest.mark.parametrize("what", ["secret", "config-map", "authentication", "cluster-secret", "cluster-authentication", "env-secret", "env-config-map", "env-from", "env-of-authentication", "deployment"])
def test_rotated(kscaled, stage, credentials, colours, what):
    n = stage.namespace
    for name, colour in ((n, "blue"), (f"{n}-next", "green")):
        for namespace in (None, "kscaled"):
            credentials.secret(name, namespace=namespace, **login(colour))
    credentials.config_map(n, **login("blue"))
    main = {"name": "main", "image": "none"}
    auth, trigger, containers = None, {}, None
    change = lambda: credentials.change_secret(n, **login("green"))
    if what == "secret":
        credentials.authentication(**both(from_secret, n))
        auth = ref()
    elif what == "config-map":
        credentials.authentication(**both(from_config_map, n))
        auth, change = ref(), lambda: credentials.change_config_map(n, **login("green"))
    elif what == "authentication":
        credentials.authentication(**both(from_secret, n))
        auth, change = ref(), lambda: credentials.change_authentication(**both(from_secret, f"{n}-next"))
    elif what == "cluster-secret":
        credentials.cluster_authentication(n, **both(from_secret, n))
        auth, change = ref(n, cluster=True), lambda: credentials.change_secret(n, namespace="kscaled", **login("green"))
    elif what == "cluster-authentication":
        credentials.cluster_authentication(n, **both(from_secret, n))
        auth, change = ref(n, cluster=True), lambda: credentials.change_cluster_authentication(n, **both(from_secret, f"{n}-next"))
    elif what == "env-secret":
        trigger, containers = FROM_ENV, [{**main, "env": keys_of(n, "secret")}]
    elif what == "env-config-map":
        trigger, containers = FROM_ENV, [{**main, "env": keys_of(n, "configMap")}]
        change = lambda: credentials.change_config_map(n, **login("green"))
    elif what == "env-from":
        trigger, containers = {"usernameFromEnv": "R_username", "passwordFromEnv": "R_password"}, [{**main, "envFrom": [{"prefix": "R_", "secretRef": {"name": n}}]}]
    elif what == "env-of-authentication":
        containers = [{**main, "env": keys_of(n, "secret")}]
        credentials.authentication(env=[{"parameter": "username", "name": "NAME"}, {"parameter": "password", "name": "WORD"}])
        auth = ref()
    elif what == "deployment":
        trigger, containers = FROM_ENV, [{**main, "env": keys_of(n, "secret")}]
        later = {"spec": {"template": {"spec": {"containers": [{**main, "env": keys_of(f"{n}-next", "secret")}]}}}}
        change = lambda: stage.cluster.apps.patch_namespaced_deployment("it", n, later)
    colours.scaledobject(stage, "it", auth, trigger, containers=containers)
    colours.wait_read(stage, "it")
    rotate(stage, colours, change, "it")


def test_rotated_file(launch, stage, credentials, colours, tmp_path):
    """Files are looked at every 10 s."""
    path = tmp_path / "redis.json"
    path.write_text(json.dumps(login("blue")))
    launch(options={"filepath_auth_root_path": tmp_path}).wait_serving()
    credentials.cluster_authentication(stage.namespace, filePath="redis.json")
    colours.scaledobject(stage, "it", ref(stage.namespace, cluster=True))
    colours.wait_read(stage, "it")

    def change():
        (tmp_path / "next").write_text(json.dumps(login("green")))
        os.rename(tmp_path / "next", path)

    rotate(stage, colours, change, "it", limit=10 + IN_USE + SLACK)


def test_again_and_again(kscaled, stage, credentials, colours):
    """The median is what the issue asks for."""
    credentials.secret(**login("blue"))
    credentials.authentication(**both(from_secret))
    colours.scaledobject(stage, "it", ref())
    colours.wait_read(stage, "it")
    unmoved = Unmoved(stage, "it")
    took = []
    for i in range(7):
        colours.add_user(f"user-{i}")
        took.append(switched(colours, lambda i=i: credentials.change_secret(**login(f"user-{i}")), f"user-{i}", polls=1))
    unmoved.check()
    assert sorted(took)[3] <= IN_USE, took


def test_wrong_then_right(kscaled, stage, credentials, colours):
    """A wrong one is told, and nothing is scaled in; the right one heals at once."""
    credentials.secret(**login("blue"))
    credentials.authentication(**both(from_secret))
    colours.scaledobject(stage, "it", ref())
    colours.wait_read(stage, "it")
    eventually(lambda: stage.replicas("it") == 1)
    credentials.change_secret(password="wrong")
    stage.wait_failing("it")
    assert "WRONGPASS" in stage.metric("s0-redis-jobs", "it").failure(503, "ServiceUnavailable")
    assert "WRONGPASS" in stage.event("KEDAScalerFailed", "it").note
    throughout(lambda: stage.replicas("it") == 1, until=after(2))
    credentials.change_secret(**login("green"))
    took = timed(lambda: stage.says("Ready", "True", name="it"))
    colours.wait_read(stage, "it")
    assert took <= IN_USE + SLACK, f"healed after {took:.2f} s"


# --- many ---

def in_parallel(calls):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


def test_many_namespaces(kscaled, stage, credentials, colours, cluster):
    """Each its own Secret; all are rotated at once."""
    stages = [Stage(cluster, f"{stage.namespace}-{i}", stage.redis) for i in range(12)]
    try:
        for one in stages:
            cluster.create_namespace(one.namespace)
            keys = Credentials(one)
            keys.secret(**login("blue"))
            keys.authentication(**both(from_secret))
            colours.scaledobject(one, "it", ref())
        for one in stages:
            colours.wait_read(one, "it")
        unmoved = [Unmoved(one, "it") for one in stages]
        change = lambda: in_parallel([lambda one=one: Credentials(one).change_secret(**login("green")) for one in stages])
        took = switched(colours, change, "green", polls=8)
        settle(colours, *unmoved)
        assert took <= IN_USE + SLACK, f"in use after {took:.2f} s"
    finally:
        for one in stages:
            cluster.delete_namespace(one.namespace)


def watches(cluster, resource):
    """How many watches the API server has of a core resource, by scope: of one name ("resource"), of a namespace, of the cluster."""
    found = {}
    for line in cluster.request("/metrics").text.splitlines():
        if line.startswith("apiserver_longrunning_requests{") and f'resource="{resource}"' in line and 'verb="WATCH"' in line:
            labels, _, value = line.rpartition(" ")
            scope = labels.split('scope="')[1].split('"')[0]
            found[scope] = found.get(scope, 0) + int(float(value))
    return found


def alone(cluster):
    """No object of an earlier test is left, nor what was watched for it; the watches that there are then."""

    def nothing_left():
        left = cluster.request(f"/apis/{GROUP}/{VERSION}/scaledobjects?limit=1").json["items"]
        assert not left, [f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in left]
        return True

    eventually(nothing_left, timeout=90, every=0.3)  # the controllers are slow after the API server was away

    def no_more():
        now = watches(cluster, "secrets")
        assert now.get("resource", 0) <= 1 and now.get("namespace", 0) == 0, now  # one, of the certificate
        return now

    return eventually(no_more, timeout=90, every=0.3)  # an ended stream is sometimes told to the server with the next frame of its connection: a bookmark, a minute later


def grown(before, now):
    return {scope: now.get(scope, 0) - before.get(scope, 0) for scope in ("resource", "namespace")}


def test_nine_secrets_and_more(kscaled, stage, credentials, colours, cluster):
    """Up to 8 are watched by name; the ninth makes it one watch of the namespace, and nothing is lost on the way."""
    before = alone(cluster)
    for i in range(12):
        credentials.secret(f"s{i}", **login("blue"))
        credentials.authentication(f"a{i}", **both(from_secret, f"s{i}"))
    for i in range(8):
        colours.scaledobject(stage, f"it{i}", ref(f"a{i}"))
    for i in range(8):
        colours.wait_read(stage, f"it{i}")
    assert grown(before, watches(cluster, "secrets")) == {"resource": 8, "namespace": 0}
    unmoved = Unmoved(stage, *(f"it{i}" for i in range(8)))
    for i in range(8, 12):
        colours.scaledobject(stage, f"it{i}", ref(f"a{i}"))
    for i in range(8, 12):
        colours.wait_read(stage, f"it{i}")
    eventually(lambda: grown(before, watches(cluster, "secrets")) == {"resource": 0, "namespace": 1})
    unmoved.check()
    took = switched(colours, lambda: in_parallel([lambda i=i: credentials.change_secret(f"s{i}", **login("green")) for i in range(12)]), "green", polls=6)
    settle(colours, unmoved)
    assert took <= IN_USE + SLACK, f"in use after {took:.2f} s"
    # When the objects go, so does the watch.
    for i in range(12):
        stage.delete(f"it{i}")
    eventually(lambda: grown(before, watches(cluster, "secrets")) == {"resource": 0, "namespace": 0})


def test_api_server_restarted(kscaled, stage, credentials, colours, disturb):
    """What changed is seen by the new watch; in between the old value stays in use."""
    credentials.secret(**login("blue"))
    credentials.authentication(**both(from_secret))
    colours.scaledobject(stage, "it", ref())
    colours.wait_read(stage, "it")
    eventually(asks(colours, "blue"))
    unmoved = Unmoved(stage, "it")
    asked = colours.evals(colours.admin)
    disturb.restart("kube-apiserver", "--signal", "KILL")
    assert colours.evals(colours.admin) > asked and set(colours.asks.by_user()) == {"blue"}
    took = switched(colours, lambda: eventually(lambda: credentials.change_secret(**login("green")) or True), "green")
    settle(colours, unmoved)
    assert took <= 10, f"in use {took:.2f} s after the API server was back"


def test_thousand_objects_one_secret(launch, stage, credentials, colours, cluster):
    """One watch, one value; all use the new one soon; memory does not grow with each rotation."""
    count = 1000
    names = [f"so-{i}" for i in range(count)]
    n = stage.namespace
    objects = f"/apis/{GROUP}/{VERSION}/namespaces/{n}/scaledobjects"
    daemon = launch().wait_serving()
    before = alone(cluster)
    # Thousand HPAs that the controller looks at each second would be a load test of the controller.
    cluster.stop("kube-controller-manager")
    try:
        credentials.secret(**login("blue"))
        credentials.authentication(**both(from_secret))

        def create(name):
            document = stage.document(name, triggers=[colours.trigger(stage, ref(), listName=f"list-{name}")], pollingInterval=5)
            spec = {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "none"}]}}}
            for path, body in ((f"/apis/apps/v1/namespaces/{n}/deployments", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}), (objects, document)):
                answer = cluster.request(path, "POST", body=body)
                assert answer.status == 201, answer

        def ready():
            """Name to when it became ready, of those that are."""
            found = {}
            for item in cluster.request(objects).json["items"]:
                for condition in item.get("status", {}).get("conditions", []):
                    if condition["type"] == "Ready" and condition["status"] == "True":
                        found[item["metadata"]["name"]] = condition.get("lastTransitionTime")
            return found

        in_parallel([lambda name=name: create(name) for name in names])
        eventually(lambda: len(ready()) == count, timeout=90, every=1)
        assert grown(before, watches(cluster, "secrets")) == {"resource": 1, "namespace": 0}
        since, memory = ready(), daemon.rss_mib()
        took = []
        for i in range(3):
            user = f"user-{i}"
            colours.add_user(user)
            took.append(switched(colours, lambda user=user: credentials.change_secret(**login(user)), user, polls=count))
        colours.remove_user("blue")
        evals = colours.evals(colours.admin)
        eventually(lambda: colours.evals(colours.admin) >= evals + count, every=0.5)
        assert ready() == since and colours.refused() == 0
        assert max(took) <= 5, took
        assert len([c for c in colours.admin.client_list() if c["user"] == "user-2"]) == 1, "one connection for all"
        if not daemon.sanitized():
            assert daemon.rss_mib() - memory < 12, f"{memory:.1f} MiB before three rotations, {daemon.rss_mib():.1f} after"
    finally:
        # One by one: the namespace's own end would keep the controllers busy while other tests run.
        in_parallel([lambda name=name: cluster.request(f"{objects}/{name}", "DELETE") for name in names])
        in_parallel([lambda name=name: cluster.request(f"/apis/autoscaling/v2/namespaces/{n}/horizontalpodautoscalers/keda-hpa-{name}", "DELETE") for name in names])
        cluster.start("kube-controller-manager")
        cluster.disturbed = False  # no rights were in doubt
