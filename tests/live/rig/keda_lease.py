# SPDX-License-Identifier: Apache-2.0
"""What can be seen of a KEDA at work without one."""
import contextlib
import datetime
import threading

from kubernetes.client import ApiException


def micro_time(seconds_ago=0):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Keda:
    """What can be seen of a KEDA at work: its Lease."""

    def __init__(self, cluster, namespace="keda"):
        self.leases, self.namespace = cluster.coordination, namespace
        self.stopped = threading.Event()
        self.thread = None

    def take(self, duration=3):
        with contextlib.suppress(ApiException):
            self.leases.delete_namespaced_lease("operator.keda.sh", self.namespace)
        self.leases.create_namespaced_lease(self.namespace, {"metadata": {"name": "operator.keda.sh"}, "spec": {
            "holderIdentity": "keda-operator-5c8_1234", "leaseDurationSeconds": duration, "acquireTime": micro_time(), "renewTime": micro_time(), "leaseTransitions": 0}})

    def renew(self):
        def work():
            while not self.stopped.wait(0.5):
                with contextlib.suppress(ApiException):
                    self.leases.patch_namespaced_lease("operator.keda.sh", self.namespace, {"spec": {"renewTime": micro_time()}})
        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopped.set()
        if self.thread:
            self.thread.join()
