# SPDX-License-Identifier: Apache-2.0
"""
kscaled in a Pod of a true node (kubenode.py), installed by the chart: what kubelet, containerd and runc make of the image and of
the Pod's spec, its token and its rights, and what becomes of Pods, Jobs and the scaling. Root only. KSCALED: the program; KUBE_ASSETS.
"""
import base64
import json
import os
import shlex
import signal

import pytest

from control_plane import KSCALED, run
from debpackage import ARCHITECTURE, VERSION
from kubenode import ACCOUNTS, RESTRICTED, RUNNING, refused
from rig.waiting import DEFINITIONS_GONE, eventually, throughout

API = "v1beta1.external.metrics.k8s.io"
IMAGE = f"docker.io/library/kscaled:{VERSION}"
PAUSE = "registry.k8s.io/pause:3.10"
PLACE = "/var/run/secrets/kubernetes.io/serviceaccount/token"


def test_the_image(node):
    """Whole, for this machine, unpacked, and under the name that the manifests say."""
    assert sorted(one for one in node.images() if "@" not in one and not one.startswith("sha256:")) == [IMAGE, PAUSE]
    ctr = lambda *words: run(*node.inside("ctr", "--namespace", "k8s.io", "images", *words, f"name=={IMAGE}")).stdout.splitlines()[1:]
    (line,), (checked,) = ctr("ls"), ctr("check")
    assert {"amd64": "linux/amd64", "arm64": "linux/arm64", "armhf": "linux/arm/v7"}[ARCHITECTURE] in line.split()
    assert "complete (3/3)" in checked and checked.split()[-1] == "true"


def test_the_program_by_itself(node):
    node.kubectl("-n", "shop", "run", "version", f"--image=kscaled:{VERSION}", "--restart=Never", "--command", "--", "kscaled", "version")
    node.kubectl("-n", "shop", "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/version", "--timeout=120s")
    assert node.kubectl("-n", "shop", "logs", "version").stdout.startswith(f"kscaled {VERSION}\n")
    node.kubectl("-n", "shop", "delete", "pod", "version")


class Release:
    """Of the chart, Available, and the only Pod of it."""

    def __init__(self, node, helm, chart):
        self.node, self.chart = node, chart
        self.helm = lambda *arguments: helm(*arguments, "--kubeconfig", node.kubeconfig, "--namespace", RUNNING, on=node)
        done = self.helm("install", "kscaled", chart)
        assert "PodSecurity" not in done.stderr, done.stderr
        self.available()

    def available(self):
        try:
            self.node.kubectl("wait", "--for=condition=Available", f"apiservice/{API}", "--timeout=120s")
        except AssertionError as failure:
            raise AssertionError(self.node.told()) from failure

    def kubectl(self, *arguments, **more):
        return self.node.kubectl("--namespace", RUNNING, *arguments, **more).stdout

    def pod(self):
        """That of now: one that ends is gone."""
        pods = self.node.get("pods", "--namespace", RUNNING)["items"]
        (pod,) = [one for one in pods if "deletionTimestamp" not in one["metadata"]]
        return pod

    def container(self):
        (container,) = self.pod()["status"]["containerStatuses"]
        return container

    def process(self):
        """Its number on the node."""
        (pid,) = run(*self.node.inside("pgrep", "--exact", "kscaled")).stdout.split()
        return pid

    def read(self, name):
        return run(*self.node.inside("cat", f"/proc/{self.process()}/{name}")).stdout

    def signal(self, number):
        run(*self.node.inside("kill", f"-{int(number)}", self.process()))

    def doctor(self, says):
        """What kscaled doctor finds of the Pods."""
        def found():
            said = json.loads(run(*self.node.inside(os.path.abspath(KSCALED), "doctor", "-o", "json", "--kubeconfig", self.node.kubeconfig), check=False).stdout)
            return next((one for one in said if one["hop"] == "pods" and says in one["message"]), None)
        return eventually(found, timeout=90)

    def do(self, command):
        """As it stands, by the administrator."""
        return run(*self.node.inside("sh", "-euc", command)).stdout

    def ready(self, wanted):
        eventually(lambda: self.container()["ready"] is wanted, timeout=120)


@pytest.fixture(scope="module", name="release")
def fixture_release(node, helm, chart):
    node.kubectl("create", "namespace", RUNNING)
    node.kubectl("label", "namespace", RUNNING, RESTRICTED)
    release = Release(node, helm, chart)
    yield release
    release.helm("uninstall", "kscaled", "--wait", "--timeout", f"{DEFINITIONS_GONE}s")
    node.kubectl("delete", "namespace", RUNNING, "--timeout=120s")  # and what kscaled itself has made there
    assert node.left() == []


def test_restricted(release):
    """The namespace refuses what is not, and has taken kscaled's."""
    other = release.node.kubectl("-n", RUNNING, "run", "other", f"--image={PAUSE}", check=False)
    assert other.returncode != 0 and "violates PodSecurity" in other.stderr, other.stderr
    assert release.container()["ready"]


def test_confined(release):
    status = dict(line.split(":\t", 1) for line in release.read("status").splitlines())
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"65532"}
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    mounts = {line.split()[4]: line.split()[5].split(",") for line in release.read("mountinfo").splitlines()}
    assert "ro" in mounts["/"] and "rw" in mounts["/var/lib/kscaled"] and "ro" in mounts[PLACE.rpartition("/")[0]]


def test_token(release):
    """That of the admission: for this Pod alone, and it ends."""
    claims = release.read(f"root{PLACE}").split(".")[1]
    token = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    assert token["kubernetes.io"]["pod"]["uid"] == release.pod()["metadata"]["uid"] and token["exp"] > token["iat"]
    assert token["sub"] == f"system:serviceaccount:{ACCOUNTS[0]}"


def test_probes(release):
    """Frozen, it is not ready any more, and nobody is sent to it; then it is again, and was not restarted."""
    before = release.container()
    release.signal(signal.SIGSTOP)
    try:
        release.ready(False)
        eventually(lambda: release.node.get("apiservice", API)["status"]["conditions"][0]["status"] == "False", timeout=60)
    finally:
        release.signal(signal.SIGCONT)
    release.ready(True)
    release.available()
    assert release.container()["restartCount"] == before["restartCount"]


def lease(release):
    return release.node.get("lease", "operator.keda.sh", "-n", RUNNING)["spec"]["holderIdentity"]


def test_killed(release):
    """The kubelet starts it again in the same Pod, where it is who it was."""
    holder, before = eventually(lambda: lease(release)), release.container()["restartCount"]
    release.signal(signal.SIGKILL)
    eventually(lambda: release.container()["restartCount"] == before + 1 and release.container()["ready"], timeout=120)
    release.available()
    assert lease(release) == holder


def workload(name, **spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {**spec, "selector": {"matchLabels": {"app": name}}, "template": {
        "metadata": {"labels": {"app": name}}, "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": name, "image": PAUSE}]}}}}


def scaled(kind, target, value, **spec):
    trigger = {"type": "kubernetes-workload", "metadata": {"podSelector": "app=queue", "value": value}}
    return {"apiVersion": "keda.sh/v1alpha1", "kind": kind, "metadata": {"name": "worker"}, "spec": {**target, "pollingInterval": 1, "triggers": [trigger], **spec}}


class Shop:
    """A queue of Pods, and what is scaled by it."""

    def __init__(self, node):
        self.node = node

    def kubectl(self, *arguments, **more):
        return self.node.kubectl("--namespace", "shop", *arguments, **more).stdout

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def deployment(self):
        return self.node.get("deployment", "worker", "-n", "shop")

    def jobs(self):
        return self.node.get("jobs", "-n", "shop")["items"]

    def has(self, replicas):
        eventually(lambda: self.deployment()["status"].get("readyReplicas", 0) == self.deployment()["spec"]["replicas"] == replicas, timeout=120)


@pytest.fixture(name="shop")
def fixture_shop(release):
    shop = Shop(release.node)
    yield shop
    shop.kubectl("delete", "scaledobject,scaledjob,deployment,job", "--all", "--timeout=120s")


def test_rollouts(release, shop, tmp_path):
    """A new Pod takes over, by a restart, and by an upgrade that changes a value: the API is there again, and nothing was scaled meanwhile."""
    shop.apply(workload("queue", replicas=6), workload("worker", replicas=0), scaled("ScaledObject", {"scaleTargetRef": {"name": "worker"}}, "2"))
    shop.has(3)
    steady = lambda: shop.deployment()["spec"]["replicas"] == 3
    values = tmp_path / "values.yaml"
    values.write_text(json.dumps({"logging": {"operator": {"level": "debug"}}}))
    for roll in (lambda: release.kubectl("rollout", "restart", "deployment/kscaled"), lambda: release.helm("upgrade", "kscaled", release.chart, "--values", values)):
        before, holder = release.pod()["metadata"]["name"], lease(release)
        roll()
        throughout(steady, lambda: lease(release) not in (holder, "") and release.container()["ready"], timeout=200)
        release.kubectl("rollout", "status", "deployment/kscaled", "--timeout=120s")
        release.kubectl("wait", "--for=delete", f"pod/{before}", "--timeout=120s")
        release.available()
        # The HPA has asked the new one.
        shop.kubectl("scale", "deployment/queue", "--replicas=4")
        shop.has(2)
        shop.kubectl("scale", "deployment/queue", "--replicas=6")
        shop.has(3)
    assert "--log-level=debug" in release.pod()["spec"]["containers"][0]["args"]


def test_jobs_that_end(release, shop):
    """Their Pods run to their end, never more at once than there may be; when the queue is empty, no more come."""
    assert release.container()["ready"]
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "work", "image": PAUSE, "args": ["1"]}]}}
    shop.apply(workload("queue", replicas=3), scaled("ScaledJob", {"jobTargetRef": {"template": template, "backoffLimit": 0}}, "1", maxReplicaCount=2))
    complete = lambda job: any(one["type"] == "Complete" and one["status"] == "True" for one in job["status"].get("conditions", []))
    open_ = lambda: [job for job in shop.jobs() if not complete(job)]
    throughout(lambda: len(open_()) <= 2, lambda: len([job for job in shop.jobs() if complete(job)]) >= 4, timeout=200)
    shop.kubectl("scale", "deployment/queue", "--replicas=0")
    shop.kubectl("wait", "--for=delete", "pod", "-l", "app=queue", "--timeout=120s")
    shop.kubectl("wait", "--for=condition=Active=False", "scaledjob/worker", "--timeout=60s")
    eventually(lambda: not open_(), timeout=120)
    assert {job["status"].get("succeeded") for job in shop.jobs()} == {1}


def test_doctor_at_a_program_that_hangs(release):
    """What it has said so far. The kubelet may have started it again when it is let go."""
    release.signal(signal.SIGSTOP)
    try:
        finding = release.doctor("runs, but is not ready")
        assert finding["mend"] == f"kubectl -n {RUNNING} logs {release.pod()['metadata']['name']}" and "kscaled" in release.do(finding["mend"]), finding
    finally:
        release.signal(signal.SIGCONT)
    release.ready(True)
    release.available()


def test_doctor_at_a_program_that_ends(release):
    """What it said before it ended, while the one before still works."""
    release.kubectl("set", "env", "deployment/kscaled", "KSCALED_LEASE_DURATION=never")
    try:
        finding = release.doctor("keeps exiting")
        says = 'KSCALED_LEASE_DURATION: "never" is not a duration'
        assert finding["status"] == "warning" and says in finding["message"] and says in release.do(finding["mend"]), finding
    finally:
        release.kubectl("rollout", "undo", "deployment/kscaled")
        release.kubectl("rollout", "status", "deployment/kscaled", "--timeout=120s")
    release.available()


def test_doctor_at_an_account_that_was_deleted(release):
    """No Pod is made without; the release has it."""
    release.kubectl("delete", "serviceaccount", "kscaled")
    release.kubectl("delete", "pod", release.pod()["metadata"]["name"])
    finding = release.doctor("no Pod can be created: ServiceAccount")
    chart = f"kscaled-{VERSION}.tgz"
    assert finding["mend"] == f"helm upgrade kscaled {chart} --namespace {RUNNING} --reuse-values", finding
    release.helm(*(str(release.chart) if word == chart else word for word in shlex.split(finding["mend"])[1:]))
    release.kubectl("rollout", "status", "deployment/kscaled", "--timeout=120s")
    release.available()


def test_rights(release):
    """After all this: kscaled asked a lot, and nothing that it has no right to."""
    events = release.node.asked(ACCOUNTS[0])
    assert {("create", "jobs"), ("patch", "scaledobjects"), ("create", "horizontalpodautoscalers")} <= {(event["verb"], event.get("objectRef", {}).get("resource")) for event in events}
    assert refused(events) == []
