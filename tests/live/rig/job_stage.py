# SPDX-License-Identifier: Apache-2.0
"""A namespace with ScaledJobs in it, the Jobs they make, and a record of every Job there ever was."""
import contextlib
import threading

from kubernetes import client

from .stage import Stage
from .waiting import eventually
from .watching import Watch

OWNER_LABEL = "scaledjob.keda.sh/name"
GENERATION = "scaledjob.keda.sh/generation"

# Manners of a Job's Pods, which tests/cluster/stages.yaml plays: they succeed, fail, run until somebody ends them, wait for a node.
COMPLETES, FAILS, STAYS, PENDING = "completes", "fails", "stays", "pending"


def finished(job):
    """"Complete", "Failed" or None."""
    return next((c["type"] for c in job.get("status", {}).get("conditions") or [] if c["type"] in ("Complete", "Failed") and c["status"] == "True"), None)


class JobStage(Stage):
    """What Stage does for ScaledObjects, for ScaledJobs. The lists are the same."""

    KIND, PLURAL = "ScaledJob", "scaledjobs"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.batch = client.BatchV1Api(self.cluster.api)

    def another_list(self, name):
        """A name for a list of one object's own."""
        return f"{self.namespace}-{name}"

    # --- ScaledJobs ---

    @staticmethod
    def job_template(manner=COMPLETES, after=None, env=None, image="none", metadata=None, **job):
        """jobTargetRef. after: how long the Pod runs ("500ms")."""
        annotations = {}
        if manner in (FAILS, STAYS):
            annotations["test.kscaled.io/outcome"] = {FAILS: "failed", STAYS: "none"}[manner]
        if after:
            annotations["test.kscaled.io/complete-after"] = after
        pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
               "containers": [{"name": "main", "image": image, **({"env": env if isinstance(env, list) else [{"name": k, "value": v} for k, v in env.items()]} if env else {})}]}
        if manner != PENDING:
            pod["nodeName"] = "node-0"
        return {"backoffLimit": 0, "template": {"metadata": {"annotations": annotations, **(metadata or {})}, "spec": pod}, **job}

    def job_document(self, name="worker", triggers=None, metadata=None, template=None, **spec):
        """As Stage.document: one redis trigger with listLength 1 on a list of the object's own, poll 1 s."""
        document = {
            "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledJob", "metadata": {"name": name, "namespace": self.namespace, **(metadata or {})},
            "spec": {"jobTargetRef": template or self.job_template(), "pollingInterval": 1, "maxReplicaCount": 10,
                     "triggers": triggers if triggers is not None else [self.list_trigger(name)], **spec},
        }
        document["spec"] = {key: value for key, value in document["spec"].items() if value is not None}
        return document

    def list_trigger(self, name="worker", **more):
        return self.trigger(**{"listName": self.another_list(name), "listLength": 1, **more})

    def scaledjob(self, *arguments, **more):
        return self.create(self.job_document(*arguments, **more))

    def ready_scaledjob(self, *arguments, **more):
        document = self.scaledjob(*arguments, **more)
        self.wait_ready(document["metadata"]["name"])
        return document

    def give(self, count, name="worker"):
        """So many items into the list of one object."""
        self.client.rpush(self.another_list(name), *range(count))

    def take_all(self, name="worker"):
        self.client.delete(self.another_list(name))

    def change_template(self, name="worker", **template):
        self.patch({"spec": {"jobTargetRef": self.job_template(**template)}}, name)

    # --- Jobs and Pods ---

    def jobs_of(self, name="worker"):
        """As the API server writes them, the oldest first."""
        answer = self.cluster.request(f"/apis/batch/v1/namespaces/{self.namespace}/jobs?labelSelector={OWNER_LABEL}%3D{name}")
        assert answer.status == 200, answer
        return sorted(answer.json["items"], key=lambda job: (job["metadata"]["creationTimestamp"], job["metadata"]["name"]))

    def running(self, name="worker"):
        return [job for job in self.jobs_of(name) if not finished(job)]

    def pods_of(self, name="worker"):
        answer = self.cluster.request(f"/api/v1/namespaces/{self.namespace}/pods?labelSelector={OWNER_LABEL}%3D{name}")
        assert answer.status == 200, answer
        return answer.json["items"]

    def wait_running_pods(self, count, name="worker"):
        eventually(lambda: sum(pod["status"].get("phase") == "Running" for pod in self.pods_of(name)) == count)

    def bind(self, pod):
        """What a scheduler does: a Pod of the manner PENDING comes to its node, and runs."""
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": {"apiVersion": "v1", "kind": "Node", "name": "node-0"}}
        answer = self.cluster.request(f"/api/v1/namespaces/{self.namespace}/pods/{pod}/binding", "POST", body=body)
        assert answer.status == 201, answer

    def patch_pod_status(self, pod, status):
        answer = self.cluster.request(f"/api/v1/namespaces/{self.namespace}/pods/{pod}/status", "PATCH", body={"status": status}, headers={"Content-Type": "application/strategic-merge-patch+json"})
        if answer.status != 200:
            raise OSError(answer)

    def end_pods(self, name="worker", count=None, phase="Succeeded"):
        """Ends running Pods of the manner STAYS."""
        running = [pod["metadata"]["name"] for pod in self.pods_of(name) if pod["status"].get("phase") == "Running"]
        for pod in running[:count]:
            self.patch_pod_status(pod, {"phase": phase})

    def delete_job(self, name):
        with contextlib.suppress(client.ApiException):
            self.batch.delete_namespaced_job(name, self.namespace, propagation_policy="Background")


class JobRecord:
    """Every Job of a namespace's ScaledJobs from now on, by its uid: what was created counts, whatever became of it."""

    def __init__(self, stage):
        self.lock = threading.Lock()
        self.jobs = {}        # uid: the newest of it that was seen
        self.deleted = set()  # uids
        self.foreground = set()  # uids of those that waited for the end of their Pods
        self.unfinished, self.most = {}, {}  # owner: uids; owner: the most at a time
        self.watch = Watch(stage.cluster, f"/apis/batch/v1/namespaces/{stage.namespace}/jobs", OWNER_LABEL, self._on_event)

    def _on_event(self, kind, job):
        uid, owner = job["metadata"]["uid"], job["metadata"]["labels"][OWNER_LABEL]
        with self.lock:
            self.jobs[uid] = job
            if kind == "DELETED":
                self.deleted.add(uid)
            if "foregroundDeletion" in job["metadata"].get("finalizers", ()):
                self.foreground.add(uid)
            now = self.unfinished.setdefault(owner, set())
            if kind == "DELETED" or finished(job):
                now.discard(uid)
            else:
                now.add(uid)
                self.most[owner] = max(self.most.get(owner, 0), len(now))

    def created(self, owner="worker"):
        """All of one ScaledJob that there ever were."""
        assert self.watch.broken is None and self.watch.is_alive(), self.watch.broken
        with self.lock:
            return [job for job in self.jobs.values() if job["metadata"]["labels"][OWNER_LABEL] == owner]

    def count(self, owner="worker"):
        return len(self.created(owner))

    def names(self, owner="worker"):
        return {job["metadata"]["name"] for job in self.created(owner)}

    def was_deleted(self, owner="worker"):
        """Names."""
        return {job["metadata"]["name"] for job in self.created(owner) if job["metadata"]["uid"] in self.deleted}

    def completed(self, owner="worker"):
        return sum(finished(job) == "Complete" for job in self.created(owner))

    def end(self):
        self.watch.end()
