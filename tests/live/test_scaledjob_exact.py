# SPDX-License-Identifier: Apache-2.0
"""
A queue drained by Jobs, each of which does one item: so many items, so many Jobs, whatever happens on the way. Jobs are counted as they are created, by a watch.

"Exactly" has a meaning for the strategy `default` with workers that remove an item when it is done and before they exit: then the queue is all that is not done, each of these items either has a Job that runs or needs one, and
a Job that has ended has left the queue. (With `accurate` and items that are taken at the start, an item is in the queue while its Job's Pod starts, and nobody but the worker knows when it has gone: one Job too many may find nothing to do. There
only what is certain can be asserted, in test_scaledjob_strategies.py.)
"""
import base64
import json
import pathlib
import threading

import pytest

from rig import pki
from rig.http_source import HttpSource
from rig.job_worker import AtEnd, Stream
from rig.process import free_port
from rig.waiting import after, eventually, throughout

ITEMS, MAX = 1000, 200
SHORT = {"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}
LONG = 600  # seconds, for a machine that has much else to do

pytestmark = pytest.mark.timeout(1500)


class Drain:
    """A queue, its ScaledJob, those who work, and the count."""

    def __init__(self, stage, record, start_worker):
        self.stage, self.record, self.start_worker = stage, record, start_worker
        self.given = 0

    def list(self, name="worker", **spec):
        self._begin(name, AtEnd(self.stage.client, self.stage.another_list(name)), self.stage.list_trigger(name), spec)
        return self

    def stream(self, name="worker", **spec):
        key = self.stage.another_list(name)
        trigger = self.stage.trigger(address=self.stage.redis.address, stream=key, streamLength=1, listName=None, listLength=None)
        self._begin(name, Stream(self.stage.client, key), {**trigger, "type": "redis-streams"}, spec)
        return self

    def _begin(self, name, work, trigger, spec):
        self.name, self.work = name, work
        self.worker = self.start_worker(work, owner=name, seconds=0.3)
        # None is swept away, so that a watch that must begin anew misses none.
        spec = {"maxReplicaCount": MAX, "successfulJobsHistoryLimit": 2 * ITEMS, "triggers": [trigger], **spec}
        self.stage.ready_scaledjob(name, template=self.stage.job_template("stays"), **spec)

    def give(self, count=ITEMS):
        self.work.fill([f"item-{self.given + i}" for i in range(count)])
        self.given += count
        return self

    def wait_created(self, count, **more):
        eventually(lambda: self.record.count(self.name) >= count, timeout=LONG, every=0.02, **more)

    def check(self):
        """Every item is done once, there was one Job for each and no other, and never more at a time than allowed."""
        def is_done():
            assert (self.record.completed(self.name), self.work.left()) == (self.given, 0), self.worker.report()
            return True

        def none_more():
            assert self.record.count(self.name) == self.given

        eventually(is_done, timeout=LONG, every=0.3)
        throughout(none_more, until=after(3), every=0.3)
        assert set(self.worker.finished.values()) == {1} and len(self.worker.taken) == self.given and not self.worker.empty_handed, self.worker.report()
        assert self.record.most[self.name] <= MAX


@pytest.fixture
def drain(job_stage, record, start_worker):
    return Drain(job_stage, record, start_worker)


def test_list(kscaled, drain):
    """With the history limits of the CRD: Jobs are swept away meanwhile."""
    drain.list(successfulJobsHistoryLimit=None).give().check()
    eventually(lambda: len(drain.stage.jobs_of()) == 100)


def test_stream(kscaled, drain):
    drain.stream().give().check()
    assert drain.stage.client.xpending(drain.work.key, drain.work.GROUP)["pending"] == 0


def test_items_come_all_the_time(kscaled, drain):
    """Woken by each, not by the poll, as often as it may be."""
    drain.stage.client.config_set("notify-keyspace-events", "Kl")
    try:
        drain.list(pollingInterval=2)
        for _ in range(ITEMS // 10):
            drain.give(10)
            drain.wait_created(drain.given - 60)
        drain.check()
    finally:
        drain.stage.client.config_set("notify-keyspace-events", "")


def test_killed_and_back(launch, drain):
    """SIGKILL in the middle of its creates, five times; with the same name, it need not wait for its own Lease."""
    daemon = launch().wait_serving()
    drain.list().give()
    for part in (50, 120, 300, 500, 800):
        drain.wait_created(part)
        daemon.kill()
        daemon = launch()
    drain.check()


def two(launch):
    """Who leads, and who stands by."""
    return launch("first", options=SHORT).wait_serving(), launch("second", port=free_port(), options=SHORT).wait_ready()


def test_leader_killed(launch, drain):
    first, second = two(launch)
    drain.list().give()
    drain.wait_created(100)
    first.kill()
    eventually(second.leading)
    drain.check()


def test_leader_frozen_and_back(launch, drain):
    """Stopped in the middle of its creates until another has made all the rest, several times, each in turn: what it had in mind must not be done on its return."""
    leader, other = two(launch)
    drain.list()
    for _ in range(4):
        drain.give(ITEMS // 4)
        drain.wait_created(drain.given - MAX)
        leader.freeze_at_work()
        eventually(other.leading)
        drain.wait_created(drain.given)
        leader.thaw()
        eventually(lambda leader=leader: not leader.leading())
        leader, other = other, leader
    drain.check()


class Admission:
    """A webhook that is asked about every Job of a namespace, and takes its time with those that come before `pass_new`."""

    CONFIGURATION = "slow-admission-of-jobs"

    def __init__(self, cluster, namespace, directory):
        self.cluster = cluster
        self.waiting, self.ended = 0, 0
        self.pass_new, self.pass_old = threading.Event(), threading.Event()
        authority = pki.authority(directory, "admission-ca")
        self.source = HttpSource({"/jobs": self._judge}, tls=pki.certificate(directory, "admission", authority, "localhost"))
        bundle = base64.b64encode(pathlib.Path(authority.cert).read_bytes()).decode()
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": self.CONFIGURATION},
            "webhooks": [{"name": "jobs.test.kscaled.io", "clientConfig": {"url": f"{self.source.url}/jobs", "caBundle": bundle}, "timeoutSeconds": 30, "failurePolicy": "Fail", "sideEffects": "None",
                          "admissionReviewVersions": ["v1"], "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                          "rules": [{"apiGroups": ["batch"], "apiVersions": ["v1"], "resources": ["jobs"], "operations": ["CREATE"]}]}]}))

    def _judge(self, asked):
        if not self.pass_new.is_set():
            self.waiting += 1
            self.pass_old.wait(60)
        self.ended += 1
        return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": json.loads(asked.body)["request"]["uid"], "allowed": True}})

    def end(self):
        self.pass_new.set()
        self.pass_old.set()
        self.cluster.kubectl("delete", "validatingwebhookconfiguration", self.CONFIGURATION)
        self.source.end()


@pytest.fixture
def admission(cluster, job_stage, tmp_path):
    admission = Admission(cluster, job_stage.namespace, tmp_path)
    yield admission
    admission.end()


def test_leader_frozen_while_its_creates_are_judged(launch, drain, admission):
    """What the API server has taken in, and carries out only after the Lease of who sent it: a webhook of somebody else's has it meanwhile. Nobody cancels it, as its sender is stopped."""
    first = launch("first", options=SHORT).wait_serving()
    second = launch("second", port=free_port(), options=SHORT).wait_ready()
    drain.list().give(20)
    eventually(lambda: admission.waiting >= 20)
    first.freeze()
    eventually(second.leading, timeout=15)
    admission.pass_new.set()
    drain.wait_created(20)
    admission.pass_old.set()
    eventually(lambda: admission.ended >= 40)
    first.thaw()
    drain.check()


def test_api_server_restarted(launch, cluster, drain):
    """Killed, so that answers to creates that it had carried out are lost, and back."""
    launch().wait_serving()
    drain.list().give()
    drain.wait_created(100)
    cluster.restart("kube-apiserver", "--signal", "KILL")
    drain.check()


# --- answers that are lost ---

def test_answers_lost(launch, between, drain):
    """The API server creates Jobs and nobody hears of it: neither the answers come nor the watch. Then the connections break."""
    proxy, kubeconfig = between
    launch(options={"kubeconfig": kubeconfig}).wait_serving()
    drain.list()
    for _ in range(4):
        before = drain.record.count()
        proxy.lose_answers()
        drain.give(ITEMS // 4)
        drain.wait_created(before + 1)
        proxy.cut()
        drain.wait_created(drain.given)
    drain.check()


# --- creates that are refused ---

def refused_creates(cluster):
    """POSTs of Jobs that the API server has answered with 403 so far, whoever sent them."""
    lines = cluster.request("/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines
               if line.startswith("apiserver_request_total{") and all(f'{key}="{value}"' in line for key, value in (("resource", "jobs"), ("verb", "POST"), ("code", "403"))))


def test_quota(kscaled, cluster, drain):
    """A namespace may have 20 Jobs and is asked for 200 at once, of 1,000 in all; then it may have as many as it likes."""
    stage = drain.stage
    cluster.core.create_namespaced_resource_quota(stage.namespace, {"metadata": {"name": "few"}, "spec": {"hard": {"count/jobs.batch": "20"}}})
    eventually(lambda: cluster.core.read_namespaced_resource_quota("few", stage.namespace).status.used)
    drain.list().give()
    drain.wait_created(20)
    event = stage.event("KEDAJobCreateFailed")
    assert event.type == "Warning" and "exceeded quota: few" in event.note
    condition = eventually(lambda: stage.says("Ready", "False", "KEDAJobCreateFailed"))
    assert "exceeded quota: few" in condition["message"]
    before, asked = refused_creates(cluster), kscaled.asked()
    throughout(lambda: drain.record.count() == 20, until=lambda: kscaled.asked() >= asked + 6)
    tried, polls = refused_creates(cluster) - before, kscaled.asked() - asked
    told = stage.events(reason="KEDAJobsCreated")
    assert told and not any(f"Created {MAX} " in event.note for event in told), "the number that was created"
    cluster.core.patch_namespaced_resource_quota("few", stage.namespace, {"spec": {"hard": {"count/jobs.batch": str(2 * ITEMS)}}})
    drain.check()
    stage.wait_ready()
    # One or two at each poll show whether it is still so; as many as are missing would all get the same answer.
    assert 1 <= tried <= 2 * polls + 2, f"{tried} creates in {polls} polls"
