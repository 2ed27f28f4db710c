# SPDX-License-Identifier: Apache-2.0
"""
The way to the API server is bad for a while, in each manner that proxies, balancers and servers have; then all is well again, and everything is as if nothing had been.

What comes by HTTP/2 goes through a proxy of bytes, which can freeze, lose and cut; statuses and half lines need one that sees requests, which speaks HTTP/1.1.
"""
import collections
import random

import pytest
import yaml

from rig.api_proxy import FaultyApi
from rig.job_worker import AtEnd
from rig.waiting import eventually
from rig.watching import Watch

OBJECTS, ITEMS = 6, 30
# A try to renew has half the deadline.
LEASE = {"lease_duration": "8s", "renew_deadline": "6s", "retry_period": "500ms"}
LONG = 180  # seconds: a watch that lost its server tries again each half minute at last
HITS = 12   # requests that a fault meets before it ends

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def faulty(cluster, installation, tmp_path):
    proxy = FaultyApi(cluster)
    document = yaml.safe_load(installation.kubeconfig.read_text())
    document["clusters"][0]["cluster"] = {"server": proxy.url}
    path = tmp_path / "through-the-faults"
    path.write_text(yaml.safe_dump(document))
    path.chmod(0o600)
    yield proxy, path
    proxy.end()


class Load:
    """Some ScaledObjects that have work all the while, and a ScaledJob that is given some; what must never be is noted when it is."""

    def __init__(self, stage, job_stage, record, start_worker):
        self.stage, self.jobs, self.record = stage, job_stage, record
        self.work = AtEnd(job_stage.client, job_stage.another_list("worker"))
        self.worker = start_worker(self.work, owner="worker", seconds=0.2)
        self.given = 0
        self.names = [f"worker-{i}" for i in range(OBJECTS)]
        self.least = {}    # by name: the fewest replicas since there was one
        self.awake = set()
        self.watch = Watch(stage.cluster, f"/apis/apps/v1/namespaces/{stage.namespace}/deployments", "", self._on_deployment)

    def _on_deployment(self, _, deployment):
        name, replicas = deployment["metadata"]["name"], deployment["spec"]["replicas"]
        if replicas > 0:
            self.awake.add(name)
        if name in self.awake:
            self.least[name] = min(replicas, self.least.get(name, replicas))

    def list_of(self, name):
        return f"{self.stage.namespace}-{name}"

    def begin(self):
        for name in self.names:
            self.stage.deployment(name)
            self.stage.scaledobject(name, triggers=[self.stage.trigger(listName=self.list_of(name), listLength=1)], maxReplicaCount=4)
            self.stage.push(1, self.list_of(name))
        self.jobs.ready_scaledjob(template=self.jobs.job_template("stays"), successfulJobsHistoryLimit=2 * ITEMS, maxReplicaCount=10, triggers=[self.jobs.list_trigger()])
        eventually(lambda: self.awake == set(self.names), timeout=LONG)

    def give(self, count):
        self.work.fill([f"item-{self.given + i}" for i in range(count)])
        self.given += count

    def check(self, daemon):
        """All is as it would be if there had been no fault."""
        for name in self.names:
            self.stage.push(2, self.list_of(name))
        for name in self.names:
            eventually(lambda name=name: self.stage.replicas(name) == 3, timeout=LONG)
            self.stage.wait_ready(name, timeout=LONG)
            self.stage.says("Active", "True", name=name)
        assert set(self.least.values()) == {1}, self.least
        assert self.watch.broken is None
        self.jobs.wait_ready(timeout=LONG)
        eventually(lambda: (self.record.completed("worker"), self.work.left()) == (self.given, 0), timeout=LONG)
        assert self.record.count("worker") == self.given, "one Job for each item"
        assert set(self.worker.finished.values()) == {1} and not self.worker.empty_handed, self.worker.report()
        eventually(lambda: daemon.leading() and daemon.ready())
        self.check_events(daemon)
        for name in self.names:
            self.stage.drain(self.list_of(name))
        for name in self.names:
            eventually(lambda name=name: self.stage.replicas(name) == 0, timeout=LONG)

    def check_events(self, daemon):
        """None twice; but who leads anew tells anew."""
        terms = max(1, daemon.log().count(": leading: "))
        told = collections.Counter()
        for stage in (self.stage, self.jobs):
            for event in stage.cluster.events.list_namespaced_event(stage.namespace).items:
                if event.reporting_controller == "keda-operator":
                    told[event.regarding.kind, event.regarding.name, event.type, event.reason, event.action, event.note] += 1
        assert told
        assert max(told.values()) <= terms, (terms, told.most_common(3))

    def end(self):
        self.watch.end()


@pytest.fixture
def load(stage, job_stage, record, start_worker):
    load = Load(stage, job_stage, record, start_worker)
    yield load
    load.end()
    stage.client.delete(*map(load.list_of, load.names))


@pytest.mark.parametrize("seed", range(1, 6))
def test_all_kinds_of_faults(launch, faulty, load, seed):
    proxy, kubeconfig = faulty
    pick = random.Random(seed)
    daemon = launch(options={"kubeconfig": kubeconfig, **LEASE}).wait_serving()
    load.begin()
    for fault in pick.sample(proxy.FAULTS, 5):
        load.give(ITEMS // 5)
        proxy.begin(fault)
        eventually(lambda: proxy.struck() >= HITS, timeout=LONG, every=0.02)
        proxy.heal()
        eventually(daemon.leading, timeout=LONG)
    load.check(daemon)


def test_dead_connections_are_left(launch, between, stage):
    """What is on the way acknowledges everything and answers nothing, for ever; a new connection would be answered. Nobody loses the Lease for that, and no watch stays behind."""
    proxy, kubeconfig = between
    daemon = launch(options={"kubeconfig": kubeconfig, **LEASE}).wait_serving()
    stage.deployment()
    stage.ready_scaledobject()
    for count in (1, 6):
        renewals, connections = daemon.renewals(), len(proxy.dead)
        proxy.freeze()
        assert len(proxy.dead) > connections
        eventually(lambda renewals=renewals: daemon.renewals() > renewals)
        stage.push(count)
        eventually(lambda count=count: stage.replicas() == min(count, 2), timeout=LONG)
        stage.patch({"metadata": {"annotations": {"autoscaling.keda.sh/paused-replicas": "4"}}})
        eventually(lambda: stage.replicas() == 4)  # a watch tells of it; the others ask Redis
        stage.annotate(paused_replicas=None)
        eventually(lambda count=count: stage.replicas() == min(count, 2), timeout=LONG)
    assert daemon.log().count("stopped leading") == 0


def test_lost_contact_is_said(launch, between):
    """A replica that nobody answers is alive, and not ready."""
    proxy, kubeconfig = between
    daemon = launch(options={"kubeconfig": kubeconfig, **LEASE}).wait_serving()
    proxy.lose_answers()
    eventually(lambda: daemon.status().status == 503)
    assert "[-]api-server failed: the API server has not answered for" in daemon.status().text
    assert daemon.status("/healthz").status == daemon.status("/livez").status == 200
    proxy.cut()
    daemon.wait_ready()
    eventually(daemon.leading)


def test_an_event_whose_answer_was_lost_is_there_once(launch, faulty, stage):
    """Also when it is told again."""
    proxy, kubeconfig = faulty
    daemon = launch(options={"kubeconfig": kubeconfig, **LEASE}).wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    settled = lambda: sum(value for name, value in daemon.metrics().items() if name.startswith("kscaled_events_total"))
    told = lambda word: [event for event in stage.events(reason="ScaledObjectCheckFailed") if word in event.note]
    eventually(lambda: stage.events(reason="ScaledObjectReady") and stage.events(reason="KEDAScalersStarted") and settled() >= len(stage.events()))
    before = settled()
    proxy.begin("lost")
    stage.annotate(paused="perhaps")
    eventually(lambda: told("perhaps"))
    proxy.heal()
    eventually(lambda: settled() > before)
    for word in (None, "perhaps", "last-of-all"):
        stage.annotate(paused=word)
        eventually(lambda word=word: word in stage.says("Ready", "False")["message"] if word else stage.says("Ready", "True"))
    eventually(lambda: told("last-of-all"))
    assert len(told("perhaps")) == 1
