# SPDX-License-Identifier: Apache-2.0
"""What run and instructions stand on: a control plane, a Redis, and kscaled under its own service account's rights."""
import base64
import json
import os
import subprocess
import sys
import time

from api import Api
from measure import eventually
from processes import Kscaled, Redis, free_port

HERE = os.path.dirname(os.path.abspath(__file__))
NS = "bench"
SO = f"/apis/keda.sh/v1alpha1/namespaces/{NS}/scaledobjects"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NS}/deployments"
HPAS = f"/apis/autoscaling/v2/namespaces/{NS}/horizontalpodautoscalers"
METRICS = "/apis/external.metrics.k8s.io/v1beta1"


def deployment(name, replicas=0):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {
            "nodeName": "node-0", "containers": [{"name": "c", "image": "none"}]}}}}


def with_trigger(name, trigger, poll=5, annotations=None, **spec):
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"scaleTargetRef": {"name": name}, "pollingInterval": poll, "maxReplicaCount": 3,
                     "triggers": [trigger], **spec}}


def scaled_object(name, port, poll=5, tls=False, cooldown=3600, annotations=None, auth=None):
    metadata = {"address": f"127.0.0.1:{port}", "listName": name, "listLength": "5"}
    if tls:
        metadata.update(enableTLS="true", unsafeSsl="true")
    trigger = {"type": "redis", "metadata": metadata, **({"authenticationRef": {"name": auth}} if auth else {})}
    return with_trigger(name, trigger, poll, annotations, cooldownPeriod=cooldown)


def metric_path(name):
    return f"{METRICS}/namespaces/{NS}/s0-redis-{name}?labelSelector=scaledobject.keda.sh%2Fname%3D{name}"


class Plane:
    manifest_flags = ()

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.cluster = os.path.join(folder, "cluster")
        self.children = []
        self.kscaled = None
        self.up = False

    def start_plane(self, *flags):
        self.say("starting the control plane")
        subprocess.run([os.path.join(HERE, "../cluster/up"), self.cluster, *flags], check=True, stdout=sys.stderr)
        self.up = True
        with open(os.path.join(self.cluster, "env")) as file:
            env = dict(line.strip().split("=", 1) for line in file if "=" in line)
        self.kubectl = env["KUBECTL"].strip("'\"")
        self.api_arguments = (self.kubectl, os.path.join(self.cluster, "kubeconfig"))
        self.api = Api(*self.api_arguments)
        self.secure_port = free_port()
        self.apply(subprocess.run([self.arguments.binary, "manifests", "--host", f"localhost:{self.secure_port}",
                                   "--namespace", "kscaled", *self.manifest_flags],
                                  check=True, capture_output=True).stdout)
        self.api.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})
        self.kubeconfig = self.service_account_kubeconfig()
        self.redis = self.keep(Redis(self.folder))

    def keep(self, child):
        self.children.append(child)
        return child

    def apply(self, yaml):
        for attempt in range(3):  # objects of kinds that the same file defines come a moment too early
            done = subprocess.run([self.kubectl, "--kubeconfig", self.api_arguments[1], "apply", "-f", "-"], input=yaml,
                                  capture_output=True)
            if done.returncode == 0:
                return
            time.sleep(1)
        raise RuntimeError(done.stderr.decode())

    def token(self, namespace, account):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 36000}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return json.loads(self.api.call("POST", path, body)[1])["status"]["token"]

    def service_account_kubeconfig(self):
        path = os.path.join(self.folder, "kscaled.kubeconfig")
        ca = base64.b64encode(self.api.ca_pem.encode()).decode()
        server = {"server": f"https://{self.api.host}:{self.api.port}", "certificate-authority-data": ca}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "x",
                  "clusters": [{"name": "x", "cluster": server}],
                  "users": [{"name": "x", "user": {"token": self.token("kscaled", "kscaled")}}],
                  "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]}
        with open(path, "w") as file:
            json.dump(config, file)
        return path

    def run_kscaled(self, *flags, under=()):
        if self.kscaled:
            self.kscaled.stop()
            self.children.remove(self.kscaled)
        self.kscaled = self.keep(Kscaled(self.arguments.binary, self.folder, self.kubeconfig, self.secure_port, *flags,
                                         under=under))
        self.kscaled.wait_ready(180)
        if not under:
            eventually("APIService that is available", lambda: self.api.call("GET", METRICS, ok=None)[0] == 200, 60)

    def stop(self):
        for child in reversed(self.children):
            child.stop()
        if self.up:
            subprocess.run([os.path.join(HERE, "../cluster/down"), self.cluster], stdout=sys.stderr, check=False)

    def say(self, text):
        print(f"bench: {text}", file=sys.stderr, flush=True)

    def create(self, names, replicas=0, port=None, **fields):
        self.api.many([("POST", DEPLOYMENTS, deployment(name, replicas)) for name in names])
        self.api.many([("POST", SO, scaled_object(name, port or self.redis.port, **fields)) for name in names])
        return time.monotonic()

    def create_with_triggers(self, names, triggers, poll):
        self.api.many([("POST", DEPLOYMENTS, deployment(name)) for name in names])
        self.api.many([("POST", SO, with_trigger(name, trigger, poll)) for name, trigger in zip(names, triggers)])

    def wait_ready(self, names, timeout):
        eventually(f"{len(names)} ready objects", lambda: self.all_ready(names), timeout, 1)

    def is_ready(self, name):
        conditions = self.api.get(f"{SO}/{name}").get("status", {}).get("conditions", [])
        return {"Ready": "True"}.items() <= {c["type"]: c["status"] for c in conditions}.items()

    def all_ready(self, names, paused=None):
        """paused: "True" or "False", and the condition Paused is that, too."""
        wanted = set(names)
        for item in self.api.get(SO)["items"]:
            says = {c["type"]: c["status"] for c in item.get("status", {}).get("conditions", [])}
            if says.get("Ready") == "True" and paused in (None, says.get("Paused")):
                wanted.discard(item["metadata"]["name"])
        return not wanted
