# SPDX-License-Identifier: Apache-2.0
"""The control plane of tests/cluster, and clients for it."""
import contextlib
import json
import os
import pathlib
import shlex
import subprocess
import time
import urllib.parse

import urllib3
import yaml
from kubernetes import client, config

from . import process
from .waiting import eventually

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "cluster"
GROUP, VERSION = "keda.sh", "v1alpha1"
METRICS = "/apis/external.metrics.k8s.io/v1beta1"
HPA_CONTROLLER = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
HPA_CONTROLLER_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


class Answer:
    """Of a plain HTTP request."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.data.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.text)

    def value(self):
        """The value of an ExternalMetricValueList with one item."""
        assert self.status == 200, self
        (item,) = self.json["items"]
        return item["value"]

    def failure(self, code, reason):
        """Checks that this is a Status as Kubernetes makes them, and returns its message."""
        assert self.status == code, self
        assert self.headers["Content-Type"].startswith("application/json"), self
        status = self.json
        assert (status["kind"], status["apiVersion"], status["status"], status["code"]) == ("Status", "v1", "Failure", code), self
        assert status["reason"] == reason, self
        assert status["message"], self
        return status["message"]

    def __repr__(self):
        return f"<{self.status} {self.text[:600]}>"


def metric_path(namespace, metric, scaledobject, selector=None):
    if selector is None:
        selector = f"scaledobject.keda.sh/name={scaledobject}"
    query = f"?labelSelector={urllib.parse.quote(selector)}" if selector else ""
    return f"{METRICS}/namespaces/{namespace}/{urllib.parse.quote(metric, safe='')}{query}"


class Cluster:
    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.kubeconfig = self.dir / "kubeconfig"
        self.disturbed = False  # a component was stopped in this session
        self.unsettled = []     # times, from and to, in which a component was started
        self.started = None     # the component that was started last, unless another was stopped since

    # --- life ---

    def _script(self, name, *arguments, timeout=1200):
        # Several control planes run at once: rather some memory more than their garbage collected all the time,
        # and rather one thread than several that look for work of each other.
        env = {**os.environ, "GOGC": "400"}
        if "PYTEST_XDIST_WORKER" in os.environ:
            env["GOMAXPROCS"] = "1"
        done = subprocess.run([SCRIPTS / name, self.dir, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=timeout, check=False, env=env)
        assert done.returncode == 0, f"tests/cluster/{name} {' '.join(arguments)}: {done.stdout}"

    def up(self, *arguments):
        process.warden.cluster(self.dir)
        self._script("up", "--ports", f"{process.ports.start}-{process.ports.stop - 1}", *arguments)
        env = dict(line.split("=", 1) for line in (self.dir / "env").read_text().splitlines())
        process.owned.update(int(url.rpartition(":")[2]) for name, url in env.items() if name.endswith("_SERVER"))
        self.server = shlex.split(env["KUBE_SERVER"])[0]
        self.kubectl_program = shlex.split(env["KUBECTL"])[0]
        self.connect()

    def connect(self):
        configuration = client.Configuration()
        config.load_kube_config(str(self.kubeconfig), client_configuration=configuration, persist_config=False)
        # One connection after a restart of the API server must not count: the next try gets a new one.
        configuration.retries = urllib3.Retry(total=2, redirect=0, backoff_factor=0.1, allowed_methods=None, status=0)
        configuration.client_side_validation = False  # the HPA controller writes Events without the eventTime that the client insists on
        self.api = client.ApiClient(configuration)
        self.core = client.CoreV1Api(self.api)
        self.apps = client.AppsV1Api(self.api)
        self.autoscaling = client.AutoscalingV2Api(self.api)
        self.custom = client.CustomObjectsApi(self.api)
        self.coordination = client.CoordinationV1Api(self.api)
        self.events = client.EventsV1Api(self.api)
        self.registration = client.ApiregistrationV1Api(self.api)
        self.extensions = client.ApiextensionsV1Api(self.api)
        self.rbac = client.RbacAuthorizationV1Api(self.api)
        self._admin = self._pool(self.pki("admin.crt"), self.pki("admin.key"))
        self._nobody = self._pool()
        self.minor = int(self.request("/version").json["minor"].rstrip("+"))  # 36 of v1.36.3

    def _pool(self, cert=None, key=None):
        return urllib3.PoolManager(ca_certs=self.pki("ca.crt"), cert_file=cert, key_file=key, retries=False, maxsize=8, timeout=30.0)

    def down(self):
        self._script("down")

    def restart(self, component, *arguments):
        self.disturbed = True
        self.started = None
        self._start("restart", component, *arguments)

    def stop(self, component, *arguments):
        self.disturbed = True
        self.started = None
        self._script("stop", component, *arguments, timeout=200)

    def start(self, component):
        self._start("start", component)

    def _start(self, script, component, *arguments):
        begun = time.time()
        self._script(script, component, *arguments, timeout=200)
        self.unsettled.append((begun, time.time() + 1))
        self.started = component

    def compact(self):
        self._script("compact")

    def pki(self, name):
        return str(self.dir / "pki" / name)

    def component_log(self, name):
        return self.dir / f"{name}.log"

    # --- requests ---

    def request(self, path, method="GET", user=None, groups=(), body=None, text=None, token=None, headers=None):
        """A plain request: as the administrator, as a user impersonated by him, or with a token only. body is sent as JSON, text as it is."""
        pool = self._nobody if token else self._admin
        fields = urllib3.HTTPHeaderDict({"Accept": "application/json"})
        if user:
            fields["Impersonate-User"] = user
            for group in groups:
                fields.add("Impersonate-Group", group)
        if token:
            fields["Authorization"] = f"Bearer {token}"
        if body is not None:
            text = json.dumps(body)
        if text is not None:
            fields["Content-Type"] = "application/json"
        for name, value in (headers or {}).items():
            fields[name] = value
        return Answer(pool.request(method, self.server + path, body=text, headers=fields, redirect=False))

    def as_hpa_controller(self, path):
        return self.request(path, user=HPA_CONTROLLER, groups=HPA_CONTROLLER_GROUPS)

    @staticmethod
    def hpa_controller_headers():
        return [("Impersonate-User", HPA_CONTROLLER), *(("Impersonate-Group", group) for group in HPA_CONTROLLER_GROUPS)]

    def run_kubectl(self, *arguments, stdin=None):
        env = {**os.environ, "GOGC": "off"}  # it ends before collecting garbage would pay
        command = [self.kubectl_program, "--kubeconfig", self.kubeconfig, *arguments]
        return subprocess.run(command, input=stdin, text=True, capture_output=True, timeout=120, check=False, env=env)

    def kubectl(self, *arguments, stdin=None, check=True):
        done = self.run_kubectl(*arguments, stdin=stdin)
        assert not check or done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def everything(self):
        """All objects of all kinds, but those that come and go by themselves, and what is in a namespace that is being deleted."""
        resources = [name for name in self.kubectl("api-resources", "--verbs=list", "-o", "name").split()
                     if name.partition(".")[0] not in ("events", "leases", "componentstatuses") and "metrics" not in name and "insight" not in name]
        lines = self.kubectl("get", ",".join(resources), "-A", "--no-headers", "-o", "custom-columns=V:.apiVersion,K:.kind,N:.metadata.namespace,M:.metadata.name", check=False)
        names = {tuple(line.split()) for line in lines.splitlines()}
        assert ("v1", "Namespace", "<none>", "default") in names
        staying = {one["metadata"]["name"] for one in self.request("/api/v1/namespaces").json["items"] if "deletionTimestamp" not in one["metadata"]}
        return {one for one in names if (one[3] if one[1] == "Namespace" else one[2]) in staying | {"<none>"}}

    # --- accounts ---

    def token(self, namespace, account, seconds=7200, bound_to_secret=None, audience=None):
        spec = {"expirationSeconds": seconds, **({"audiences": [audience]} if audience else {})}
        if bound_to_secret:
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Secret", "name": bound_to_secret}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        return self.core.create_namespaced_service_account_token(account, namespace, body).status.token

    def write_kubeconfig(self, path, namespace, token=None, token_file=None):
        """For an account of the cluster: what kscaled is given, and nothing of the administrator's."""
        with open(self.pki("ca.crt"), "rb") as file:
            ca = file.read()
        import base64
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": self.server, "certificate-authority-data": base64.b64encode(ca).decode()}}],
            "users": [{"name": "it", "user": {"token": token} if token else {"tokenFile": str(token_file)}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it", "namespace": namespace}}],
        }
        path = pathlib.Path(path)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            yaml.safe_dump(document, file)
        return path

    # --- namespaces ---

    def create_namespace(self, name):
        self.core.create_namespace({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def delete_namespace(self, name):
        """Objects of our kinds first: an API server that was started a moment ago does not serve them yet, and a namespace that is deleted then leaves them behind, where nobody sees them but kscaled."""
        for plural in ("scaledobjects", "scaledjobs", "triggerauthentications"):
            eventually(lambda plural=plural: self._delete_all(name, plural), timeout=30)
        with contextlib.suppress(client.ApiException):
            self.core.delete_namespace(name, propagation_policy="Background")

    def _delete_all(self, namespace, plural):
        try:
            self.custom.delete_collection_namespaced_custom_object(GROUP, VERSION, namespace, plural)
        except client.ApiException as error:
            return error.status == 403  # the namespace goes already
        return True


def gone(read):
    """True when read() meets 404."""
    try:
        read()
    except client.ApiException as error:
        if error.status == 404:
            return True
        raise
    return False
