# SPDX-License-Identifier: Apache-2.0
"""One test's namespace, and short words for what it puts and sees there."""
import copy

from kubernetes.client import ApiException

from .cluster import GROUP, VERSION, gone, metric_path
from .waiting import eventually

MERGE = "application/merge-patch+json"

# The HPA controller's defaults would spread what a test wants to see over minutes.
FAST = {
    "scaleUp": {"stabilizationWindowSeconds": 0, "policies": [{"type": "Pods", "value": 100, "periodSeconds": 1}]},
    "scaleDown": {"stabilizationWindowSeconds": 0, "policies": [{"type": "Percent", "value": 100, "periodSeconds": 1}]},
}


class Stage:
    KIND, PLURAL = "ScaledObject", "scaledobjects"  # what get(), patch(), condition() and the like speak of

    def __init__(self, cluster, namespace, redis):
        self.cluster = cluster
        self.namespace = namespace
        self.redis = redis            # a RedisServer that all tests share: lists carry the namespace in their names
        self.client = redis.client()
        self.jobs = f"{namespace}-jobs"

    # --- workloads ---

    def _template(self, name, env, containers, node="node-0"):
        if containers is None:
            containers = [{"name": "main", "image": "none", "env": [{"name": key, "value": value} for key, value in (env or {}).items()]}]
        return {"metadata": {"labels": {"app": name}}, "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": containers}}

    def deployment(self, name="worker", replicas=0, env=None, containers=None, node="node-0"):
        """On the node None its pods are never ready."""
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": self._template(name, env, containers, node)}
        self.cluster.apps.create_namespaced_deployment(self.namespace, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec})

    def another(self, name, like="worker"):
        """A copy of a Deployment, at zero unless it is there already, as a target: no two ScaledObjects may have the same."""
        labels = {"app": name}
        template = self.cluster.api.sanitize_for_serialization(self.workload(like).spec.template)
        template["metadata"]["labels"] = labels
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
        try:
            self.cluster.apps.create_namespaced_deployment(self.namespace, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec})
        except ApiException as error:
            if error.status != 409:
                raise
        return {"name": name}

    def statefulset(self, name="worker", replicas=0):
        spec = {"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": name}}, "template": self._template(name, None, None)}
        self.cluster.apps.create_namespaced_stateful_set(self.namespace, {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec})

    def workload(self, name="worker", kind="deployment"):
        return getattr(self.cluster.apps, {"deployment": "read_namespaced_deployment", "statefulset": "read_namespaced_stateful_set"}[kind])(name, self.namespace)

    def replicas(self, name="worker", kind="deployment"):
        return self.workload(name, kind).spec.replicas

    def ready_replicas(self, name="worker", kind="deployment"):
        return self.workload(name, kind).status.ready_replicas or 0

    def generation(self, name="worker"):
        """Grows with each change of the spec: with each scaling, here."""
        return self.workload(name).metadata.generation

    def set_replicas(self, count, name="worker"):
        self.cluster.apps.patch_namespaced_deployment_scale(name, self.namespace, {"spec": {"replicas": count}})

    def set_env(self, env, name="worker"):
        container = {"name": "main", "env": [{"name": key, "value": value} for key, value in env.items()]}
        self.cluster.apps.patch_namespaced_deployment(name, self.namespace, {"spec": {"template": {"spec": {"containers": [container]}}}})

    # --- ScaledObjects ---

    def trigger(self, **metadata):
        """A redis trigger on this stage's list; a None takes a default away, _name and so on are fields beside metadata."""
        fields = {key[1:]: metadata.pop(key) for key in list(metadata) if key.startswith("_")}
        values = {"address": self.redis.address, "listName": self.jobs, "listLength": "5", **metadata}
        return {"type": "redis", "metadata": {key: str(value) for key, value in values.items() if value is not None}, **fields}

    def document(self, name="worker", triggers=None, metadata=None, target=None, behavior=FAST, **spec):
        document = {
            "apiVersion": f"{GROUP}/{VERSION}", "kind": self.KIND,
            "metadata": {"name": name, "namespace": self.namespace, **(metadata or {})},
            "spec": {
                "scaleTargetRef": target or {"name": name}, "pollingInterval": 1, "cooldownPeriod": 1, "minReplicaCount": 0, "maxReplicaCount": 10,
                "triggers": triggers if triggers is not None else [self.trigger()], **spec,
            },
        }
        if behavior:
            advanced = document["spec"]["advanced"] = copy.deepcopy(document["spec"].get("advanced") or {})
            advanced.setdefault("horizontalPodAutoscalerConfig", {}).setdefault("behavior", behavior)
        document["spec"] = {key: value for key, value in document["spec"].items() if value is not None}
        return document

    def create(self, document):
        return self.cluster.custom.create_namespaced_custom_object(GROUP, VERSION, self.namespace, self.PLURAL, document)

    def scaledobject(self, *arguments, **more):
        return self.create(self.document(*arguments, **more))

    def ready_scaledobject(self, *arguments, **more):
        """Created, and taken up by kscaled."""
        document = self.scaledobject(*arguments, **more)
        self.wait_ready(document["metadata"]["name"])
        return document

    def get(self, name="worker"):
        return self.cluster.custom.get_namespaced_custom_object(GROUP, VERSION, self.namespace, self.PLURAL, name)

    def patch(self, body, name="worker"):
        return self.cluster.custom.patch_namespaced_custom_object(GROUP, VERSION, self.namespace, self.PLURAL, name, body, _content_type=MERGE)

    @staticmethod
    def annotated(**values):
        """Metadata with KEDA's annotations: annotated(paused_replicas="3")."""
        return {"annotations": {f"autoscaling.keda.sh/{key.replace('_', '-')}": value for key, value in values.items()}}

    def annotate(self, name="worker", **values):
        """A None takes the annotation away."""
        self.patch({"metadata": self.annotated(**values)}, name)

    def delete(self, name="worker"):
        self.cluster.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, self.PLURAL, name)

    def delete_all(self):
        self.cluster.custom.delete_collection_namespaced_custom_object(GROUP, VERSION, self.namespace, self.PLURAL)
        eventually(lambda: not self.cluster.custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, self.PLURAL)["items"])

    def gone(self, name="worker"):
        return gone(lambda: self.get(name))

    def status(self, name="worker"):
        return self.get(name).get("status") or {}

    def condition(self, kind, name="worker"):
        """{} while there is none."""
        return next((c for c in self.status(name).get("conditions") or [] if c["type"] == kind), {})

    def says(self, kind, status, reason=None, name="worker"):
        """Whether the condition is so; asserts, so that eventually() can tell what it was."""
        condition = self.condition(kind, name)
        assert (condition.get("status"), condition.get("reason")) == (status, reason if reason is not None else condition.get("reason")), condition
        return condition

    def wait_ready(self, name="worker", **more):
        return eventually(lambda: self.says("Ready", "True", f"{self.KIND}Ready", name), **more)

    def wait_refused(self, name="worker", **more):
        """Ready=False from the check of the object; its message."""
        return eventually(lambda: self.says("Ready", "False", f"{self.KIND}CheckFailed", name), **more)["message"]

    def wait_failing(self, name="worker", timeout=60, **more):
        """What was Ready stays so for 30 s, unless three polls fail before (src/decide/readiness.h)."""
        return eventually(lambda: self.says("Ready", "False", "TriggerError", name), timeout=timeout, **more)

    # --- HPA, Events, metrics, work ---

    def hpa(self, name="worker"):
        return self.cluster.autoscaling.read_namespaced_horizontal_pod_autoscaler(f"keda-hpa-{name}", self.namespace)

    def hpa_document(self, name="keda-hpa-worker"):
        """As the API server writes it, nothing lost in the client's classes."""
        answer = self.cluster.request(f"/apis/autoscaling/v2/namespaces/{self.namespace}/horizontalpodautoscalers/{name}")
        if answer.status == 404:
            raise ApiException(404)
        assert answer.status == 200, answer
        return answer.json

    def hpa_names(self):
        return sorted(hpa.metadata.name for hpa in self.cluster.autoscaling.list_namespaced_horizontal_pod_autoscaler(self.namespace).items)

    def events(self, name="worker", reason=None):
        """Events about an object, the oldest first."""
        found = [e for e in self.cluster.events.list_namespaced_event(self.namespace).items
                 if e.regarding and e.regarding.kind == self.KIND and e.regarding.name == name and (reason is None or e.reason == reason)]
        return sorted(found, key=lambda e: e.event_time or e.metadata.creation_timestamp)

    def event(self, reason, name="worker"):
        return eventually(lambda: self.events(name, reason))[-1]

    def path(self, metric=None, name="worker", selector=None):
        return metric_path(self.namespace, metric or f"s0-redis-{self.jobs}", name, selector)

    def metric(self, metric=None, name="worker", selector=None):
        """Asked for as the HPA controller does."""
        return self.cluster.as_hpa_controller(self.path(metric, name, selector))

    def push(self, count, jobs=None):
        self.client.rpush(jobs or self.jobs, *range(count))

    def drain(self, jobs=None):
        self.client.delete(jobs or self.jobs)

    # --- accounts ---

    def account(self, name, may_read_metrics):
        """A service account and its token."""
        self.cluster.core.create_namespaced_service_account(self.namespace, {"metadata": {"name": name}})
        if may_read_metrics:
            self.cluster.rbac.create_namespaced_role_binding(self.namespace, {
                "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kscaled-external-metrics-reader"},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": self.namespace}],
            })
        return self.cluster.token(self.namespace, name)
