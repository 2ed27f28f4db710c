# SPDX-License-Identifier: Apache-2.0
"""
A host joins a cluster that has nothing of kscaled, and leaves it as it was: the commands of the README, as an administrator runs them, on a control plane of this file's own.
"""
import base64
import json
import os
import re
import subprocess
import time

import pytest
import yaml

from rig.cluster import Cluster
from rig.daemon import Daemon, Installation, program, run
from rig.process import free_port
from rig.stage import Stage
from rig.waiting import DEFINITIONS_GONE, eventually


@pytest.fixture(scope="module")
def empty(session_dir):
    """An empty control plane."""
    cluster = Cluster(session_dir / "empty-cluster")
    # With Services of both IP families, for host addresses of either.
    cluster.up("--hpa-sync-period=1s", "--hpa-downscale-stabilization=1s", "--apiserver-arg=--service-cluster-ip-range=10.96.0.0/16,fd00:96::/108")
    yield cluster
    cluster.down()


class Host:
    """The files of `kscaled join`, and a daemon with them."""

    def __init__(self, cluster, directory):
        self.cluster = cluster
        self.dir = directory
        self.config, self.state = directory / "etc", directory / "state"
        self.port = free_port()
        self.installation = Installation(cluster, directory)
        self.installation.port = self.port
        self.installation.kubeconfig = self.config / "kubeconfig"
        self.daemon = None

    def command(self, name, *arguments, timeout=180):
        return run(name, f"--kubeconfig={self.cluster.kubeconfig}", f"--config-dir={self.config}", f"--state-dir={self.state}", *arguments, timeout=timeout)

    def join(self, *arguments, code=0):
        done = self.command("join", "--no-start", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def leave(self, *arguments, code=0):
        done = self.command("leave", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, config=None, **options):
        """Like the unit: the daemon gets only what join wrote."""
        env = dict(line.split("=", 1) for line in (self.config / "join.env").read_text().splitlines() if "=" in line and not line.startswith("#"))
        self.daemon = Daemon(self.installation, self.dir, options={"state_dir": self.state, "secure_port": None if "KSCALED_SECURE_PORT" in env else self.port, **options}, env=env, config=config)
        return self.daemon

    def stop(self):
        if self.daemon and self.daemon.alive():
            self.daemon.term()

    def token(self):
        return (self.state / "token").read_text()


@pytest.fixture
def host(empty, tmp_path):
    host = Host(empty, tmp_path)
    yield host
    host.stop()
    if host.daemon:
        host.daemon.check_alive()


@pytest.fixture
def place(empty, shared_redis, request):
    """A namespace on that control plane."""
    stage = Stage(empty, re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_")).strip("-")[:40], shared_redis)
    empty.create_namespace(stage.namespace)
    yield stage
    eventually(lambda: empty.request(f"/api/v1/namespaces/{stage.namespace}", "DELETE").status in (200, 202, 404, 409))
    stage.drain()


def claims(token):
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def test_from_nothing_and_gone(empty, host, place):
    before = empty.everything()
    # A dry run changes nothing.
    said = host.join("--dry-run", f"--host=localhost:{host.port}")
    assert "would apply Namespace kscaled" in said and f"would write {host.state}/token" in said and f"localhost:{host.port}" in said
    assert empty.everything() == before and not host.config.exists() and not host.state.exists()

    said = host.join(f"--host=localhost:{host.port}")
    assert "start kscaled with" in said
    assert "renewed" not in said and host.token() not in said
    for path in (host.config / "kubeconfig", host.state / "token", host.config / "join.env"):
        assert path.stat().st_mode & 0o7777 == 0o600
    assert claims(host.token())["sub"] == "system:serviceaccount:kscaled:kscaled"
    assert host.token() not in (host.config / "kubeconfig").read_text()
    assert "certificate-authority-data" in (host.config / "kubeconfig").read_text()
    host.start()
    said = host.join(f"--host=localhost:{host.port}", "--wait=60s")
    assert f"the API server reaches kscaled at localhost:{host.port}" in said and "no ScaledObject has a metric yet" in said
    host.daemon.wait_serving()
    place.deployment(replicas=2)
    place.push(1)
    place.ready_scaledobject(maxReplicaCount=1, advanced={"restoreToOriginalReplicaCount": True})
    eventually(lambda: place.replicas() == 1)
    said = host.join(f"--host=localhost:{host.port}", "--wait=60s")  # again
    assert f"fetched a metric of ScaledObject {place.namespace}/" in said, said

    # It refuses while kscaled runs, and a dry run changes nothing.
    with_it = empty.everything()
    assert "running: stop it first (nothing was undone)" in host.leave("--wait=1s", code=1)
    assert "would wait until Lease kscaled/operator.keda.sh is free" in host.leave("--dry-run", "--purge")
    assert empty.everything() == with_it
    host.stop()

    said = host.leave("--restore-replicas")
    assert "deleted APIService v1beta1.external.metrics.k8s.io" in said
    assert f"the target of scaledobjects {place.namespace}/worker has its original 2 replicas" in said
    assert ": no finalizer" in said, said
    assert not place.get()["metadata"].get("finalizers")
    assert place.replicas() == 2 and not place.hpa_names() and not list(host.config.iterdir()) and not (host.state / "token").exists()
    delete_and_see_gone(empty, place.namespace)

    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404)
    empty.create_namespace(place.namespace)
    eventually(lambda: empty.everything() == before, timeout=DEFINITIONS_GONE)
    assert "failed" not in host.leave("--purge")  # nothing is left, which is not an error


def delete_and_see_gone(cluster, namespace):
    cluster.core.delete_namespace(namespace)
    eventually(lambda: cluster.request(f"/api/v1/namespaces/{namespace}").status == 404, timeout=60)


def joined(host):
    host.join(f"--host=localhost:{host.port}")
    return host.start().wait_serving()


def test_restored_replicas_stay(empty, host, place):
    """More replicas than their HPAs allow, which would revert them; only the final number is reported."""
    names = [f"worker-{i}" for i in range(12)]
    joined(host)
    place.push(100)
    for name in names:
        place.deployment(name, replicas=5)
        place.scaledobject(name, minReplicaCount=1, maxReplicaCount=3)
    for name in names:
        eventually(lambda: place.replicas(name) == 3, timeout=60)  # pylint: disable=cell-var-from-loop
    # An HPA of KEDA: its target is left alone.
    hpa = place.hpa_names()[0]
    theirs = hpa.removeprefix("keda-hpa-")
    host.stop()
    labels = {"app.kubernetes.io/managed-by": "keda-operator", "kscaled.io/managed": None}
    empty.kubectl("-n", place.namespace, "patch", "hpa", hpa, "--type=merge", "-p", json.dumps({"metadata": {"labels": labels}}))
    said = host.leave("--restore-replicas")
    assert f"horizontalpodautoscalers {place.namespace}/{hpa} stays: it belongs to another installation" in said
    assert place.hpa_names() == [hpa] and place.replicas(theirs) == 3
    for name in names:
        if name != theirs:
            assert f"the target of scaledobjects {place.namespace}/{name} has its original 5 replicas" in said and place.replicas(name) == 5
    # The controller continues only with the remaining HPA.
    place.set_replicas(9, theirs)
    eventually(lambda: place.replicas(theirs) == 3)
    assert all(place.replicas(name) == 5 for name in names if name != theirs)


def test_replicas_that_cannot_be_restored(empty, host, place):
    """A policy of the cluster allows at most four."""
    joined(host)
    place.deployment(replicas=5)
    place.push(100)
    place.scaledobject(minReplicaCount=1, maxReplicaCount=3)
    eventually(lambda: place.replicas() == 3)
    host.stop()
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["deployments/scale"]}
    policy = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": place.namespace},
              "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": f"object.metadata.namespace != '{place.namespace}' || object.spec.replicas < 5"}]}}
    binding = {**policy, "kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": place.namespace, "validationActions": ["Deny"]}}
    empty.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all([policy, binding]))
    scale = f"/apis/apps/v1/namespaces/{place.namespace}/deployments/worker/scale"
    eventually(lambda: empty.request(f"{scale}?dryRun=All", "PUT", body={"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "worker", "namespace": place.namespace}, "spec": {"replicas": 6}}).status == 422)
    said = host.leave("--restore-replicas", code=1)
    assert f"scaledobjects {place.namespace}/worker: its target has 3 replicas, not the original 5" in said and "2 steps failed" in said, said
    empty.kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", place.namespace)


HELM = {"labels": {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/name": "keda-operator"}, "annotations": {"meta.helm.sh/release-name": "keda", "meta.helm.sh/release-namespace": "keda"}}
METRICS = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.external.metrics.k8s.io"
KINDS = ("scaledobjects", "scaledjobs", "triggerauthentications", "clustertriggerauthentications")


def definition(cluster, kind):
    return cluster.request(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind}.keda.sh")


@pytest.mark.parametrize("installed_by", ["helm", "hand"])
def test_objects_of_others_stay(empty, host, place, installed_by):
    """KEDA's CRDs with the users' objects, its APIService and a namespace: kscaled uses them, and leave keeps them."""
    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404 and all(definition(empty, kind).status == 404 for kind in KINDS), timeout=DEFINITIONS_GONE)
    marks = HELM if installed_by == "helm" else {"labels": {"app.kubernetes.io/part-of": "keda-operator"}}
    definitions = [one for one in yaml.safe_load_all(host.installation.manifests()) if one and one["kind"] == "CustomResourceDefinition"]
    for one in definitions:
        one["metadata"] = {"name": one["metadata"]["name"], **marks}
    empty.kubectl("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(definitions))
    for namespace in ("keda", "kscaled"):
        if empty.request(f"/api/v1/namespaces/{namespace}").status == 404:
            empty.create_namespace(namespace)
    service = {"namespace": "keda", "name": "keda-operator-metrics-apiserver", "port": 443}
    empty.kubectl("apply", "-f", "-", stdin=yaml.safe_dump({"apiVersion": "v1", "kind": "Service", "metadata": {"name": service["name"], "namespace": "keda"}, "spec": {"ports": [{"port": 443}]}}))
    spec = {"group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": True, "service": service}
    empty.kubectl("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta1.external.metrics.k8s.io", **marks}, "spec": spec}))

    for _ in range(2):  # the second run keeps the note of the owner
        host.join(f"--host=localhost:{host.port}", "--take-apiservice")
        host.start(release_apiservice_on_stop="true").wait_serving()
        host.stop()
    host.start().wait_serving()
    place.deployment(replicas=0)
    place.push(1)
    place.ready_scaledobject(maxReplicaCount=1)
    host.stop()
    taken = empty.request(METRICS).json
    assert taken["spec"]["service"]["namespace"] == "kscaled" and "app.kubernetes.io/version" not in taken["metadata"]["labels"]

    said = host.leave("--purge")
    assert place.get()["metadata"]["name"] == "worker"
    why = "Helm release keda/keda made it" if installed_by == "helm" else "it has no label app.kubernetes.io/name=kscaled"
    for kind in KINDS:
        assert f"CustomResourceDefinition {kind}.keda.sh, with all its objects stays: {why}" in said, said
        assert definition(empty, kind).json["metadata"]["labels"] == marks["labels"]
    assert "Namespace kscaled stays: " in said and empty.request("/api/v1/namespaces/kscaled").json["metadata"].get("deletionTimestamp") is None
    assert "back to Service keda/keda-operator-metrics-apiserver" in said
    back = empty.request(METRICS).json
    assert back["spec"] == spec and back["metadata"]["labels"] == marks["labels"] and "kscaled.io/taken-from" not in back["metadata"].get("annotations", {})

    # Its server is gone, too: an APIService without one would block deletions of namespaces.
    host.join(f"--host=localhost:{host.port}", "--take-apiservice")
    empty.kubectl("-n", "keda", "delete", "service", service["name"])
    host.leave()
    assert empty.request(METRICS).status == 404
    for kind in KINDS:
        empty.kubectl("delete", "crd", f"{kind}.keda.sh")
    for namespace in ("keda", "kscaled"):
        delete_and_see_gone(empty, namespace)


def test_fewer_options_mean_fewer_rights(empty, host):
    """Only the rights of the new options remain; foreign roles are kept."""
    narrow = [f"--host=localhost:{host.port}", "--watch-namespace=default", "--scale-kinds=deployments", "--no-scaledjobs", "--restrict-secret-access", "--no-webhook"]
    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "theirs", "labels": {"app.kubernetes.io/name": "kscaled", "app.kubernetes.io/managed-by": "flux"}}, "rules": []}
    empty.kubectl("apply", "-f", "-", stdin=json.dumps(role))
    host.join(*narrow)
    alone = empty.everything()
    host.join(f"--host=localhost:{host.port}", "--service-account-tokens", "--watch-namespace=default,kube-public")
    host.join(f"--host=localhost:{host.port}", "--service-account-tokens")
    wide = empty.everything()
    may = lambda *what: empty.run_kubectl("auth", "can-i", *what, "--as=system:serviceaccount:kscaled:kscaled").stdout.strip()
    assert may("list", "secrets", "-n", "kube-system") == "yes"
    said = host.join("--dry-run", *narrow)
    assert "would delete clusterrolebindings kscaled-secrets: no longer needed with these options" in said and empty.everything() == wide
    said = host.join(*narrow)
    assert "deleted clusterrolebindings kscaled-secrets: no longer needed with these options" in said and "deleted validatingwebhookconfigurations kscaled-admission" in said
    assert empty.everything() == alone
    assert may("list", "secrets", "-n", "kube-system") == "no" and may("create", "serviceaccounts/token", "-n", "default") == "no"
    empty.kubectl("delete", "clusterrole", "theirs")


def test_killed_and_left(empty, host):
    """The Lease was not released: leave waits for its expiry."""
    joined(host)
    host.daemon.kill()
    said = host.leave("--wait=2s", code=1)
    assert "holds Lease kscaled/operator.keda.sh and may still be running: stop it first (nothing was undone)" in said and "--wait must exceed 15 seconds" in said
    assert "deleted the Lease operator.keda.sh" in host.leave()


def test_the_token_is_renewed(empty, host, place):
    """A token of ten minutes, less than the quarter of an hour before which it is renewed."""
    host.join(f"--host=localhost:{host.port}")
    short = empty.token("kscaled", "kscaled", seconds=600)
    (host.state / "token").write_text(short)
    daemon = host.start()
    eventually(lambda: host.token() != short)
    assert (host.state / "token").stat().st_mode & 0o7777 == 0o600
    said = claims(host.token())
    assert said["sub"] == "system:serviceaccount:kscaled:kscaled" and said["exp"] > time.time() + 86400
    daemon.wait_serving()
    assert re.search(r"credentials: .*/token: renewed, good until ", daemon.log())
    eventually(lambda: daemon.metric('kscaled_credentials_expiry_timestamp_seconds{credential="token"}') == said["exp"])
    eventually(lambda: daemon.metrics().get('kscaled_credentials_expiry_timestamp_seconds{credential="serving-certificate"}', 0) > time.time() + 86400, timeout=60)  # checked every 30 s
    assert short not in daemon.log() and host.token() not in daemon.log()
    place.deployment(replicas=0)
    place.push(1)
    place.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: place.replicas() == 1)


def test_a_token_elsewhere_is_left_alone(empty, host, tmp_path):
    host.join(f"--host=localhost:{host.port}")
    short = empty.token("kscaled", "kscaled", seconds=600)
    (tmp_path / "token").write_text(short)
    empty.write_kubeconfig(host.config / "kubeconfig", "kscaled", token_file=tmp_path / "token")
    daemon = host.start().wait_serving()
    assert (tmp_path / "token").read_text() == short and "renewed, good until" not in daemon.log() and "renewing" not in daemon.log()


def test_the_kubeconfig_is_replaced(empty, host):
    """By a rename, as k3s does it: used at once, and a broken one is reported at once."""
    daemon = joined(host)
    another = empty.token("kscaled", "kscaled")
    empty.write_kubeconfig(host.config / "new", "kscaled", another)
    os.replace(host.config / "new", host.config / "kubeconfig")
    eventually(lambda: f"credentials: kubeconfig {host.config}/kubeconfig" in daemon.log() and ": read again" in daemon.log(), timeout=10)
    (host.config / "kubeconfig").write_text("{")
    eventually(lambda: "the old ones stay in use" in daemon.log(), timeout=10)
    assert daemon.leading()


def test_reload(empty, host, tmp_path):
    host.join(f"--host=localhost:{host.port}")
    config = tmp_path / "etc" / "kscaled.conf"
    config.write_text("log-level = info\n")
    daemon = host.start(config=config, log_level=None).wait_serving()
    config.write_text("log-level = debug\nlease-name = another\n")
    daemon.hup()
    eventually(lambda: "option lease-name: the new value needs a restart" in daemon.log())
    assert "option log-level: the new value is in force" in daemon.log() and ": nothing has changed" in daemon.log()
    eventually(lambda: " debug " in daemon.log())
    config.write_text("log-level = loud\n")
    daemon.hup()
    eventually(lambda: 'log-level: "loud"' in daemon.log() and "the old ones stay in force" in daemon.log())
    assert daemon.alive()


def test_finds_the_address(empty, host):
    """Without --host: cluster IPs do not work here, so the host's name remains."""
    host.join(f"--port={host.port}")
    assert f"KSCALED_SECURE_PORT={host.port}" in (host.config / "join.env").read_text()
    host.start(allow_local_sources="true").wait_ready()
    said = host.join(f"--port={host.port}", "--wait=12s")
    assert f"the API server reaches kscaled at localhost:{host.port}" in said
    refused = [line for line in said.splitlines() if line.startswith("not reached at ")]
    assert all(line.partition(": ")[2] for line in refused), said
    host.daemon.wait_serving()


def test_not_reached(empty, host):
    """Nothing runs here: reported with the reason; another run completes it."""
    said = host.join(f"--host=localhost:{host.port}", "--wait=3s", code=1)
    assert f"not reached at localhost:{host.port}: " in said and "does not reach kscaled: check that it runs here" in said
    host.start()
    assert "the API server reaches kscaled" in host.join(f"--host=localhost:{host.port}", "--wait=60s")


def test_restores_after_an_unusable_address(empty, host, place):
    """The previous state is restored: objects, rights and files, also with other changed options."""
    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
    host.join(f"--host=localhost:{host.port}", "--watch-namespace=default")
    host.start().wait_serving()
    host.join(f"--host=localhost:{host.port}", "--watch-namespace=default", "--wait=60s")  # reached
    files = lambda: {path: path.read_text() for path in (host.config / "kubeconfig", host.config / "join.env", host.state / "token")}
    rules = lambda: {(kind, one["metadata"].get("namespace", ""), one["metadata"]["name"]): (one.get("rules"), one.get("roleRef"), one.get("subjects"), one.get("webhooks"), (one.get("spec") or {}).get("service"))
                     for kind in ("clusterroles", "clusterrolebindings", "roles", "rolebindings", "apiservices", "validatingwebhookconfigurations")
                     for one in json.loads(empty.kubectl("get", kind, "-A", "-l", "app.kubernetes.io/name=kscaled", "-o", "json"))["items"]}
    stood, files_stood, rules_stood = way(empty), files(), rules()
    for to, more in ((f"localhost:{free_port()}", ["--no-webhook", "--no-scaledjobs"]), ("192.0.2.7:8443", ["--service-account-tokens"]), ("nowhere.example.com:8443", [])):
        said = host.join(f"--host={to}", "--wait=2s", *more, code=1)
        assert f"not reached at {to}: " in said and f"restored the previous state: the API server reaches kscaled at localhost:{host.port} again" in said, said
        assert way(empty) == stood and files() == files_stood and rules() == rules_stood
    host.daemon.wait_serving()
    # A working address is not reverted.
    assert "restored the previous state" not in host.join(f"--host=localhost:{host.port}", "--no-webhook", "--wait=60s")
    assert "--no-webhook" in (host.config / "join.env").read_text()


def test_port(empty, host):
    """Without --port the previous one is kept; required forwarding is reported."""
    host.leave("--purge")
    said = host.join(f"--host=localhost:{host.port}", f"--port={host.port}")
    assert f"kscaled listens on port {host.port} here\n" in said, said
    assert f"KSCALED_SECURE_PORT={host.port}" in (host.config / "join.env").read_text()
    said = host.join("--host=scaler.example.com:443")
    assert f"kscaled listens on port {host.port} here (change it with --port): port 443 of scaler.example.com must be forwarded to it" in said, said
    assert f"KSCALED_SECURE_PORT={host.port}" in (host.config / "join.env").read_text()
    assert "kscaled would listen on port 8443 here" in host.join("--host=localhost:8443", "--port=8443", "--dry-run")
    host.join("--host=localhost:8443", "--port=8443")
    assert "KSCALED_SECURE_PORT" not in (host.config / "join.env").read_text()
    # The configuration file overrides the previous --port, and --port overrides both.
    host.join(f"--host=localhost:{host.port}", f"--port={host.port}")
    (host.config / "kscaled.conf").write_text("secure-port = 7443\n")
    assert "kscaled listens on port 7443 here" in host.join("--host=localhost:7443")
    assert "KSCALED_SECURE_PORT" not in (host.config / "join.env").read_text()
    host.join("--host=localhost:8443", "--port=8443")
    assert "KSCALED_SECURE_PORT=8443" in (host.config / "join.env").read_text()
    (host.config / "kscaled.conf").unlink()


def test_apiservice_of_others(empty, host):
    """The external metrics of another server: refused by name before any change, and taken over with --take-apiservice."""
    spec = {"group": "external.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": True,
            "service": {"namespace": "keda", "name": "keda-operator-metrics-apiserver"}}
    host.leave("--purge")
    empty.registration.create_api_service({"metadata": {"name": "v1beta1.external.metrics.k8s.io"}, "spec": spec})
    said = host.join(f"--host=localhost:{host.port}", code=1)
    assert "belongs to Service keda/keda-operator-metrics-apiserver" in said and "--take-apiservice" in said
    assert empty.request("/api/v1/namespaces/kscaled").status == 404 and not host.config.exists()
    assert "v1beta1.external.metrics.k8s.io stays: it does not point to Service kscaled/kscaled" in host.leave()
    assert "from Service keda/" in host.join(f"--host=localhost:{host.port}", "--take-apiservice")
    host.start().wait_serving()


def test_killed_and_freed_by_hand(empty, host, place):
    """By the commands in kscaled-leave(1), without kscaled: no namespace hangs."""
    daemon = joined(host)
    place.deployment(replicas=0)
    place.ready_scaledobject(maxReplicaCount=1, advanced={"restoreToOriginalReplicaCount": True})
    assert place.get()["metadata"]["finalizers"]
    daemon.kill()
    empty.kubectl("delete", "apiservice", "v1beta1.external.metrics.k8s.io", "v1.insight.kscaled.io")
    for line in empty.kubectl("get", "scaledobjects", "-A", "-o", "custom-columns=N:.metadata.namespace,M:.metadata.name", "--no-headers").splitlines():
        namespace, name = line.split()
        empty.kubectl("-n", namespace, "patch", "scaledobject", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    delete_and_see_gone(empty, place.namespace)


def way(cluster):
    """The addresses in the Service, its EndpointSlices and its Endpoints; and the Service's UID."""
    objects = [cluster.request(f"{api}/namespaces/kscaled/{kind}") for api, kind in (("/api/v1", "services"), ("/apis/discovery.k8s.io/v1", "endpointslices"), ("/api/v1", "endpoints"))]
    (service,), slices, endpoints = (answer.json["items"] for answer in objects)
    spec = service["spec"]
    return [
        (spec.get("externalName", ""), spec.get("ipFamilies", []), [port["port"] for port in spec["ports"]]),
        [(one["addressType"], one["endpoints"][0]["addresses"], one["ports"][0]["port"]) for one in slices],
        [(one["subsets"][0]["addresses"][0]["ip"], one["subsets"][0]["ports"][0]["port"]) for one in endpoints]], service["metadata"]["uid"]


WAYS = {
    "192.0.2.7:8443": [("", ["IPv4"], [443]), [("IPv4", ["192.0.2.7"], 8443)], [("192.0.2.7", 8443)]],
    "192.0.2.8:8444": [("", ["IPv4"], [443]), [("IPv4", ["192.0.2.8"], 8444)], [("192.0.2.8", 8444)]],
    "[2001:db8::7]:8445": [("", ["IPv6"], [443]), [("IPv6", ["2001:db8::7"], 8445)], [("2001:db8::7", 8445)]],
    "scaler.example.com:8446": [("scaler.example.com", [], [8446]), [], []],
}


def test_another_address(empty, host):
    """From each kind of address to each other, which applying alone does not achieve."""
    first, second, third, name = WAYS
    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
    host.join(f"--host={first}")
    _, service = way(empty)
    before = first
    for to in (third, first, second, name, third, name, first, first):
        said = host.join("--dry-run", f"--host={to}")
        family = lambda text: text.count(":") if text != name else 0
        assert ("would replace Service kscaled/kscaled" in said) == (family(before) != family(to)), said
        assert ("would replace EndpointSlice kscaled/kscaled-host" in said) == (family(before) != family(to) and name not in (before, to)), said
        assert ("would delete" in said) == (to == name), said
        assert way(empty) == (WAYS[before], service)
        host.join(f"--host={to}")
        assert way(empty) == (WAYS[to], service)  # the same Service: deleting it would delete Endpoints later
        before = to
    # And it works: once the daemon runs, it is reached.
    host.start()
    assert f"the API server reaches kscaled at localhost:{host.port}" in host.join(f"--host=localhost:{host.port}", "--wait=60s")


def test_another_address_after_kubectl_apply(empty, host):
    """Ports that another field manager applied would stay beside ours."""
    first, _, third, name = WAYS
    for applied, joined_by in ((first, name), (name, third)):
        host.leave("--purge")
        eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
        empty.kubectl("apply", "-f", "-", stdin=host.installation.manifests(f"--host={applied}"))
        assert way(empty)[0] == WAYS[applied]
        host.join(f"--host={joined_by}")
        assert way(empty)[0] == WAYS[joined_by]


def test_another_address_with_a_foreign_service(empty, host):
    """Refused by name before any change."""
    first, _, third, name = WAYS
    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
    empty.create_namespace("kscaled")
    api = "/apis/discovery.k8s.io/v1/namespaces/kscaled/endpointslices"
    slice_ = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "kscaled-host"}, "addressType": "IPv6", "endpoints": [{"addresses": ["2001:db8::1"]}], "ports": []}
    assert empty.request(api, "POST", body=slice_).status == 201
    before = empty.everything()
    for options in ([], ["--dry-run"]):
        said = host.join(f"--host={first}", *options, code=1)
        assert "EndpointSlice kscaled/kscaled-host belongs to another installation" in said and "--service-name" in said
    assert empty.everything() == before and not host.config.exists()
    host.join(f"--host={name}")  # nothing of theirs must be replaced
    assert empty.request(f"{api}/kscaled-host").json["addressType"] == "IPv6"

    services = "/api/v1/namespaces/kscaled/services"
    assert empty.request(f"{services}/kscaled", "DELETE").status == 200 and empty.request(f"{api}/kscaled-host", "DELETE").status == 200
    theirs = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "kscaled", "labels": {"app.kubernetes.io/part-of": "another"}}, "spec": {"type": "ExternalName", "externalName": "their.example.com"}}
    assert empty.request(services, "POST", body=theirs).status == 201
    assert "Service kscaled/kscaled belongs to another installation" in host.join(f"--host={third}", code=1)
    assert empty.request(f"{services}/kscaled").json["spec"]["externalName"] == "their.example.com"
    host.join(f"--host={third}", "--service-name=another", "--take-apiservice")
    assert empty.request(f"{services}/kscaled").json["spec"]["externalName"] == "their.example.com"
    assert empty.request(f"{api}/another-host").json["addressType"] == "IPv6"
    host.leave("--service-name=another")
    delete_and_see_gone(empty, "kscaled")  # which existed before, so that --purge does not delete it


# A host with systemd and its users in a file, in its own namespaces.
ON_A_HOST = """
mount -t tmpfs none /run
mkdir -p /run/systemd/system
mount --bind "$1" /etc/passwd
mount --bind "$2" /etc/nsswitch.conf
shift 2
exec "$@"
"""


def test_the_user_of_the_service(empty, host, tmp_path):
    """Without the user the service cannot start: reported before any change; `make install` does not create it."""
    host.leave("--purge")
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
    before = empty.everything()
    root = "root:x:0:0:root:/root:/bin/sh\n"
    (tmp_path / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")

    def join(users, *arguments):
        (tmp_path / "passwd").write_text(users)
        command = ["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-eu", "-c", ON_A_HOST, "sh", tmp_path / "passwd", tmp_path / "nsswitch.conf",
                   program(), "join", f"--kubeconfig={empty.kubeconfig}", f"--config-dir={host.config}", f"--state-dir={host.state}", f"--host=localhost:{host.port}", *arguments]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)

    done = join(root)
    assert done.returncode == 1 and "user kscaled, which kscaled.service runs as, does not exist" in done.stderr and '"systemd-sysusers kscaled.conf"' in done.stderr, done.stderr
    assert done.stdout == ""
    done = join(root, "--dry-run")
    assert done.returncode == 0 and "warning: user kscaled, which kscaled.service runs as, does not exist" in done.stderr and "would enable and start" in done.stdout, done.stderr
    done = join(root + "kscaled:x:990:990::/var/lib/kscaled:/usr/sbin/nologin\n", "--dry-run")
    assert done.returncode == 0 and done.stderr == "" and "would enable and start" in done.stdout
    assert empty.everything() == before and not host.config.exists() and not host.state.exists()
    done = join(root, "--no-start")
    assert done.returncode == 0 and "warning: user kscaled, which kscaled.service runs as, does not exist" in done.stderr and "start kscaled with: systemctl enable --now kscaled" in done.stdout, done.stderr


def test_a_service_that_does_not_start(empty, host, tmp_path):
    """The last log lines are shown; with fake systemctl and journalctl."""
    root = "root:x:0:0:root:/root:/bin/sh\nkscaled:x:0:0::/:/usr/sbin/nologin\n"
    (tmp_path / "passwd").write_text(root)
    (tmp_path / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (("systemctl", 'case "$1" in restart) echo "Job for kscaled.service failed" >&2; exit 1;; esac'),
                       ("journalctl", f'echo "$@" >{tmp_path}/asked; echo one; echo "kscaled: option secure-port: 80: permission denied"; echo')):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    command = ["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-eu", "-c", ON_A_HOST, "sh", tmp_path / "passwd", tmp_path / "nsswitch.conf",
               "env", f"PATH={programs}:{os.environ['PATH']}", program(), "join", f"--kubeconfig={empty.kubeconfig}", f"--config-dir={host.config}", f"--state-dir={host.state}", f"--host=localhost:{host.port}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 1 and "kscaled.service does not start: systemctl restart failed" in done.stderr, done
    assert "last log lines of kscaled (journalctl -u kscaled):\n  one\n  kscaled: option secure-port: 80: permission denied\n" in done.stderr, done.stderr
    assert "--unit=kscaled.service" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("command, arguments, said", [
    ("join", [], "--kubeconfig is missing"), ("leave", [], "--kubeconfig is missing"), ("join", ["--kubeconfig=/none"], "/none"), ("leave", ["--kubeconfig=/none"], "/none"),
    ("join", ["--kubeconfig=x", "--host=10.0.0.300:1"], "10.0.0.300"), ("join", ["--kubeconfig=x", "--wait=2h"], "out of range"), ("join", ["--kubeconfig=x", "--port=0"], "is not a port"),
    ("join", ["--kubeconfig=x", "--config-dir=etc"], "is not an absolute path"), ("join", ["--kubeconfig=x", "more"], 'unexpected argument "more"'), ("join", ["--kubeconfig=x", "--namespace=A"], "--namespace"),
    ("leave", ["--kubeconfig=x", "--namespace=A"], "--namespace"), ("leave", ["--kubeconfig=x", "--wait=soon"], "--wait"),
])
def test_wrong_usage(command, arguments, said):
    done = run(command, *arguments)
    assert done.returncode == (1 if "/none" in said else 2) and said in done.stderr, done.stderr


def test_leaves_a_cluster_install(empty, host):
    """An installation by `kscaled manifests` without --host; the files of this host are not touched."""
    host.leave("--purge")  # remains of another test
    eventually(lambda: empty.request("/api/v1/namespaces/kscaled").status == 404, timeout=60)
    before = empty.everything()
    empty.kubectl("apply", "-f", "-", stdin=host.installation.manifests("--watch-namespace", "default,kube-public"))
    host.config.mkdir()
    (host.config / "kubeconfig").write_text("another's")
    said = host.leave("--in-cluster", "--purge", "--delete-hpas")
    assert "changed Deployment kscaled: 0 replicas" in said and "deleted deployments kscaled/kscaled" in said and "deleted rolebindings kube-public/" in said
    assert (host.config / "kubeconfig").read_text() == "another's"
    eventually(lambda: empty.everything() <= before, timeout=DEFINITIONS_GONE)
    assert not any("kscaled" in name or "keda" in name for one in empty.everything() for name in one)
