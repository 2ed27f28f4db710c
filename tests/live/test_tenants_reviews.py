# SPDX-License-Identifier: Apache-2.0
"""More reviews than kscaled can answer, of objects that each lead to calls to the API server: what it does for itself goes on as if there were none."""
import json
import threading

import pytest
import urllib3

from rig.waiting import after, eventually, throughout, timed

pytestmark = pytest.mark.alone  # how long anything takes

ASKING = 60      # of the 64 that may be under way
ANSWERS_S = 0.8  # how long the API server takes
CPU = [{"type": "cpu", "metricType": "Utilization", "metadata": {"value": "50"}}]


@pytest.fixture
def configured(installation):
    installation.apply(webhook=True)
    yield installation
    installation.apply()


class Flood:
    """Reviews of a ScaledObject with a trigger cpu, whose workload and LimitRanges are looked at each time."""

    def __init__(self, daemon, stage):
        self.daemon, self.over = daemon, threading.Event()
        self.path = daemon.installation.review_path()
        document = stage.document("flood", target={"name": "worker"}, triggers=CPU, minReplicaCount=1)
        self.review = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "kind": {"group": "keda.sh", "version": "v1alpha1", "kind": "ScaledObject"}, "namespace": stage.namespace, "operation": "CREATE", "object": document}}).encode()
        self.answers, self.unchecked = 0, 0
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(ASKING)]

    def _run(self):
        name = f"kscaled.{self.daemon.installation.namespace}.svc"
        with urllib3.HTTPSConnectionPool("127.0.0.1", self.daemon.port, retries=False, timeout=20.0, ssl_context=self.daemon.tls_context(), server_hostname=name, assert_hostname=name) as pool:
            while not self.over.wait(0.02):
                answer = pool.request("POST", self.path, headers={"Content-Type": "application/json"}, body=self.review)
                assert answer.status == 200, answer.data
                self.answers += 1
                self.unchecked += b"too many objects are being validated" in answer.data

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        eventually(lambda: self.answers > ASKING and self.unchecked)
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(30)


def woken(stage, name):
    """From its creation until it has its HPA and is Ready, and from the first item until it runs, in seconds."""
    stage.deployment(name, replicas=0)
    stage.scaledobject(name, maxReplicaCount=1)
    created = timed(lambda: stage.wait_ready(name))
    stage.push(1)
    return created, timed(lambda: stage.replicas(name) == 1)


def test_reviews_delay_nobody(launch, configured, between, stage, module_stage):
    proxy, kubeconfig = between
    daemon = launch(options={"kubeconfig": kubeconfig, "lease_duration": "5s", "renew_deadline": "4s", "retry_period": "1s"}).wait_serving()
    configured.wait_judging()
    stage.deployment()
    proxy.answers_late = ANSWERS_S
    usual = woken(module_stage, "before")
    module_stage.drain()
    with Flood(daemon, stage) as flood:
        beside = woken(module_stage, "beside")
        renewed, answers = daemon.renewals(), flood.answers
        throughout(daemon.leading, until=after(10), every=0.5)
        renewed, answers = daemon.renewals() - renewed, flood.answers - answers
    figures = f"created {usual[0]:.2f} s, beside the flood {beside[0]:.2f} s; woken {usual[1]:.2f} s, {beside[1]:.2f} s; {answers} reviews and {renewed} renewals in 10 s"
    print(figures)
    assert beside[0] < usual[0] + 1 and beside[1] < usual[1] + 1, figures
    assert renewed >= 4, figures
