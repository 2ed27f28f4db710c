# SPDX-License-Identifier: Apache-2.0
"""kscaled as a process of the host, with the rights of its own service account and no more."""
import base64
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess

import urllib3
import yaml

from .cluster import Answer
from .process import Process, free_port, free_socket
from .waiting import eventually

APISERVICE = "v1beta1.external.metrics.k8s.io"
INSIGHT = "v1.insight.kscaled.io"
WEBHOOKS = "kscaled-admission"
BUSY = 0.1  # of the time waited_s(): more, and times tell of other work on the machine
WEBHOOK_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
COMPLAINTS = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|UndefinedBehaviorSanitizer|double free|free\(\): |malloc\(\): |Assertion .* failed|\[(?:err|warn)\] (?:event|evhttp|bufferevent)")


def program():
    path = os.environ.get("KSCALED", "")
    assert path and os.access(path, os.X_OK), f"the environment variable KSCALED must hold the path of the program to test, not {path!r}"
    return os.path.abspath(path)


def run(*arguments, env=None, timeout=60):
    """A sub-command that ends by itself."""
    clean = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})}
    return subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, env=clean, check=False)


class Installation:
    """What `kscaled manifests` put into the cluster, and what a kscaled outside of it needs to work there."""

    NAMESPACE = "kscaled"
    # What the webhook refuses, whatever there is in the cluster.
    BAD = {"apiVersion": "keda.sh/v1alpha1", "kind": "TriggerAuthentication", "metadata": {"name": "probe", "namespace": "default"},
           "spec": {"oauth2": {"type": "clientCredentials", "clientId": "c", "tokenUrl": "nowhere"}}}

    def __init__(self, cluster, directory):
        self.cluster = cluster
        self.dir = pathlib.Path(directory)
        self.port = free_port()
        self.kubeconfig = self.dir / "kubeconfig"
        self.namespace = self.NAMESPACE

    def manifests(self, *arguments):
        done = run("manifests", *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    def apply(self, *more, webhook=False):
        """Also puts back what a test has changed. Without the webhook, which would refuse what most tests want to see in Ready. more: options of `kscaled manifests`."""
        documents = self.manifests("--host", f"localhost:{self.port}", *more).split("---\n")
        if not webhook:
            # Not by --no-webhook, which would take away rights, too.
            documents = [document for document in documents if "kind: ValidatingWebhookConfiguration" not in document]
            self.cluster.kubectl("delete", "validatingwebhookconfiguration", WEBHOOKS, "--ignore-not-found")
        self.cluster.kubectl("apply", "-f", "-", stdin="---\n".join(documents))
        self.prune(documents)
        if not self.kubeconfig.exists():
            self.cluster.write_kubeconfig(self.kubeconfig, self.namespace, self.cluster.token(self.namespace, "kscaled"))

    def prune(self, documents):
        """Takes away roles and bindings that were applied before and are not among the documents: apply leaves them."""
        printed = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in map(yaml.safe_load, documents) if one}
        kinds = {"ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings", "ClusterRole": "clusterroles", "Role": "roles"}
        for kind, plural in kinds.items():
            root = "/apis/rbac.authorization.k8s.io/v1"
            for one in self.cluster.request(f"{root}/{plural}?labelSelector=app.kubernetes.io/name=kscaled").json["items"]:
                name, namespace = one["metadata"]["name"], one["metadata"].get("namespace")
                if (kind, namespace, name) not in printed:
                    self.cluster.request(f"{root}/{f'namespaces/{namespace}/' if namespace else ''}{plural}/{name}", "DELETE")

    def webhooks(self):
        """The configuration by which the API server finds the webhook, whole."""
        return self.cluster.request(f"{WEBHOOK_CONFIGURATIONS}/{WEBHOOKS}").json

    def put_webhooks(self, configuration):
        answer = self.cluster.request(f"{WEBHOOK_CONFIGURATIONS}/{WEBHOOKS}", "PUT", body=configuration)
        assert answer.status == 200, answer

    def review_path(self):
        """Where the API server asks, which an administrator may see."""
        paths = {webhook["clientConfig"]["service"].get("path") for webhook in self.webhooks()["webhooks"]}
        assert len(paths) == 1, paths
        return paths.pop()

    def judged(self):
        """What the API server answers to one who creates what is never good."""
        return self.cluster.request("/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications?dryRun=All", "POST", body=self.BAD)

    def wait_judging(self):
        """The webhook is trusted, and the API server, which takes a moment to see a new configuration, asks it."""
        def is_judging():
            assert {webhook["clientConfig"].get("caBundle") for webhook in self.webhooks()["webhooks"]} == {base64.b64encode(self.ca_pem().encode()).decode()}
            answer = self.judged()
            assert "denied the request" in answer.text, answer
            return True

        eventually(is_judging)

    def apiservice(self, name=APISERVICE):
        return self.cluster.registration.read_api_service(name)

    def available(self, name=APISERVICE):
        conditions = {c.type: c.status for c in self.apiservice(name).status.conditions or []}
        return conditions.get("Available") == "True"

    def ca_pem(self):
        """The caBundle of the APIService: whom the aggregator trusts."""
        bundle = self.apiservice().spec.ca_bundle
        assert bundle, "the APIService has no caBundle"
        return base64.b64decode(bundle).decode()

    def delete_lease(self, name="operator.keda.sh"):
        from kubernetes.client import ApiException
        try:
            self.cluster.coordination.delete_namespaced_lease(name, self.namespace)
        except ApiException as error:
            assert error.status == 404


class Daemon(Process):
    """One running kscaled."""

    def __init__(self, installation, directory, name="kscaled", port=None, options=None, env=None, config=None, under=()):
        """under: words before the command, such as rig.nameserver.under."""
        self.installation = installation
        self.port = port or installation.port
        self.status_port = free_port()
        self.socket = free_socket()
        self.state_dir = pathlib.Path(directory) / f"{name}.state"
        self.state_dir.mkdir(exist_ok=True)
        self.expected_end = False
        flags = {
            "kubeconfig": installation.kubeconfig,
            "namespace": installation.namespace,
            "bind-address": "127.0.0.1",
            "allow-local-sources": "true",
            "metered-interval": "0",  # each poll asks, as tests expect it; tests/live/test_aws.py tries another
            "secure-port": self.port,
            "status-address": f"127.0.0.1:{self.status_port}",
            "insight-socket": self.socket,
            "state-dir": self.state_dir,
            "log-level": "debug",
        }
        flags.update({key.replace("_", "-"): value for key, value in (options or {}).items()})
        command = [*under, program(), "run"] + [f"--{key}={value}" for key, value in flags.items() if value is not None]
        if config:
            command.append(f"--config={config}")
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.state_dir), **(env or {})}
        for name_ in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name_ in os.environ:
                clean[name_] = os.environ[name_]
        super().__init__(name, command, str(pathlib.Path(directory) / f"{name}.log"), env=clean)
        self.checked = self.log_start

    # --- its own word ---

    def status(self, path="/readyz", timeout=3.0):
        pool = urllib3.PoolManager(retries=False, timeout=timeout)
        return Answer(pool.request("GET", f"http://127.0.0.1:{self.status_port}{path}"))

    def tell(self, *arguments):
        """kscaled get, or explain, of this one."""
        return run(*arguments, f"--socket={self.socket}")

    def metrics(self):
        """/metrics as {name or name{labels}: value}."""
        answer = self.status("/metrics")
        assert answer.status == 200, answer
        return dict((name, float(value)) for name, _, value in (line.rpartition(" ") for line in answer.text.splitlines() if line and not line.startswith("#")))

    def metric(self, name):
        return self.metrics()[name]

    def waited_s(self):
        """How long it was ready to run and no processor was free."""
        return int(pathlib.Path(f"/proc/{self.popen.pid}/schedstat").read_text().split()[1]) / 1e9

    def longest_turns(self):
        """Since this was asked last, in seconds: how long a turn took at most, and how much a turn computed."""
        metrics = self.metrics()
        return metrics["kscaled_loop_longest_turn_seconds"], metrics["kscaled_loop_longest_turn_cpu_seconds"]

    def leading(self):
        return self.metric("kscaled_leading") == 1

    def renewals(self):
        """Answers to what the leader wrote into its Lease."""
        return self.log().count("PUT /apis/coordination.k8s.io/v1/namespaces/kscaled/leases/operator.keda.sh?fieldManager=kscaled: 200")

    def ready(self):
        assert self.alive(), f"kscaled ended with {self.popen.returncode}: {self.tail()}"
        return self.status("/readyz").status == 200

    def wait_ready(self, timeout=30.0):
        eventually(self.ready, timeout, every=0.02)
        return self

    def wait_serving(self, timeout=30.0):
        """Leads, and the API server reaches it."""
        eventually(lambda: self.ready() and self.leading(), timeout, every=0.02)
        eventually(self.installation.available, timeout)
        return self

    def asked(self):
        """How many questions were put to sources so far."""
        return self.metric("kscaled_readings_questions_total")

    def writes_sent(self):
        """Requests to the API server so far that were no reads."""
        return sum(value for name, value in self.metrics().items() if name.startswith("kscaled_kube_requests_total{")
                   and not any(f'verb="{verb}"' in name for verb in ("get", "list", "watch")))

    # --- its end ---

    def kill(self):
        self.expected_end = True
        super().kill()

    def term(self, timeout=10.0):
        """SIGTERM; it must end in good order."""
        self.expected_end = True
        code = self.stop(timeout)
        assert code == 0, f"kscaled ended with {code}: {self.tail()}"
        self.check_log()

    def check_log(self):
        """What it has written since the last look, and somewhat before: a line may have been half written then."""
        size = self.log_size()
        log = self.log(self.checked)
        self.checked = max(self.log_start, size - 65536)
        found = COMPLAINTS.search(log)
        assert not found, f"kscaled's log has {found.group()!r}: ...{log[max(0, found.start() - 300):found.end() + 3000]}"

    def check_alive(self):
        """Whatever a test did, kscaled must have survived it."""
        if not self.expected_end:
            assert self.alive(), f"kscaled ended by itself, with {self.popen.returncode}: {self.tail()}"
        self.check_log()

    # --- the endpoint, without the aggregator between ---

    def tls_context(self, verify=True, cert=None, key=None):
        if verify:
            context = ssl.create_default_context(cadata=self.installation.ca_pem())
        else:
            context = ssl._create_unverified_context()  # pylint: disable=protected-access
        if cert:
            context.load_cert_chain(cert, key)
        return context

    def connect(self, context=None, timeout=5.0, host="127.0.0.1"):
        """A TLS connection as the aggregator makes it: the name is the Service's."""
        plain = socket.create_connection((host, self.port), timeout)
        try:
            return (context or self.tls_context()).wrap_socket(plain, server_hostname=f"kscaled.{self.installation.namespace}.svc")
        except BaseException:
            plain.close()
            raise

    def serving_certificate(self):
        """DER of what is served now."""
        with self.connect(self.tls_context(verify=False)) as connection:
            return connection.getpeercert(binary_form=True)

    def ask(self, path, method="GET", token=None, headers=None, cert=None, key=None, body=None):
        """A request straight to the endpoint, verified against the caBundle, without credentials unless given."""
        name = f"kscaled.{self.installation.namespace}.svc"
        fields = dict(headers or {})
        if token:
            fields["Authorization"] = f"Bearer {token}"
        with urllib3.HTTPSConnectionPool("127.0.0.1", self.port, retries=False, timeout=10.0, ssl_context=self.tls_context(cert=cert, key=key),
                                         server_hostname=name, assert_hostname=name) as pool:
            return Answer(pool.request(method, path, headers=fields, body=body, redirect=False))

    def hup(self):
        self.signal(signal.SIGHUP)
