# SPDX-License-Identifier: Apache-2.0
"""
`kscaled doctor` on installations in Pods, from manifests, and on a host, by `kscaled join`. Each fix is tried on the fault that it is for, and leaves nothing else behind.
On control planes of this file's own, without kubelet and scheduler: the tests write the status of Pods.
"""
import base64
import json
import re

import pytest

from rig.cluster import Cluster
from rig.daemon import Daemon, Installation, run
from rig.practice import Desk, Visit
from rig.process import free_port
from rig.waiting import established, eventually

KINDS = "clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts,services,apiservices,validatingwebhookconfigurations,networkpolicies,customresourcedefinitions"


def standing(cluster):
    """kscaled's objects and their main fields."""
    found = {}
    for one in json.loads(cluster.kubectl("get", KINDS, "-A", "-l", "app.kubernetes.io/name=kscaled", "-o", "json"))["items"]:
        service = {name: value for name, value in (one.get("spec") or {}).items() if name in ("service", "type", "externalName")}
        found[one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]] = (one.get("rules"), one.get("roleRef"), one.get("subjects"), service)
    return found


# --- in Pods ---

class Podded:
    """An installation with few rights by `kscaled manifests`."""

    OPTIONS = ["--namespace", "scaling", "--watch-namespace", "default", "--scale-kinds", "deployments,rollouts.argoproj.io", "--no-scaledjobs", "--restrict-secret-access",
               "--image", "registry.example/kscaled:7", "--priority-class", "system-cluster-critical", "--network-policy"]

    def __init__(self, cluster, directory):
        self.cluster, self.desk = cluster, Desk(cluster, directory)

    def visit(self, *more):
        return Visit("--kubeconfig", self.cluster.kubeconfig, *more)

    def kubectl(self, *arguments, **more):
        return self.cluster.kubectl("-n", "scaling", *arguments, **more)

    def deployment(self):
        return json.loads(self.kubectl("get", "deployment", "kscaled", "-o", "json"))

    def pod(self):
        """The newest Pod that is not being deleted."""
        def found():
            pods = [one for one in json.loads(self.kubectl("get", "pods", "-l", "app.kubernetes.io/name=kscaled", "-o", "json"))["items"] if "deletionTimestamp" not in one["metadata"]]
            image = self.deployment()["spec"]["template"]["spec"]["containers"][0]["image"]
            return next((one for one in pods if one["spec"]["containers"][0]["image"] == image), None)
        return eventually(found)

    def say(self, **status):
        """Sets the Pod's status, like kubelet or scheduler."""
        name = self.pod()["metadata"]["name"]
        self.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
        return name

    def container(self, state, last=None, restarts=0):
        return self.say(conditions=[], containerStatuses=[{"name": "kscaled", "image": "registry.example/kscaled:7", "imageID": "", "ready": False, "restartCount": restarts, "state": state, "lastState": last or {}}])

    def only_pods(self):
        """The only finding; its consequences are skipped."""
        visit = self.visit()
        finding = visit.bad()["pods"]
        assert visit.code == 1 and set(visit.bad()) == {"pods"} and len(visit.of("pods")) == 1, visit.bad()
        assert {one["hop"] for one in visit.all if one["message"] == "not checked: pods failed"} >= {"endpoints", "available", "lease", "objects", "certificates"}
        text = run("doctor", "--kubeconfig", str(self.cluster.kubeconfig)).stdout
        assert len(re.findall("a hop that they need failed", text)) == 1 and text.count("\n") < 25, text
        return finding


@pytest.fixture(scope="module")
def podded(tmp_path_factory, session_dir):
    cluster = Cluster(session_dir / "podded-cluster")
    cluster.up("--apiserver-arg=--runtime-config=policy/v1=true")
    yield Podded(cluster, tmp_path_factory.mktemp("podded"))
    cluster.down()


@pytest.fixture(scope="module")
def installed(podded):
    done = run("manifests", *podded.OPTIONS)
    podded.cluster.kubectl("apply", "-f", "-", stdin=done.stdout)
    established(podded.cluster.kubectl, "customresourcedefinition", "--all")
    return podded


@pytest.fixture
def fresh(installed):
    """With a Pod without a status."""
    installed.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")
    return installed


def test_not_installed(podded):
    """One line with the commands to install it; before all other tests of this file."""
    done = run("doctor", "--kubeconfig", str(podded.cluster.kubeconfig))
    assert done.returncode == 1 and done.stdout.count("\n") == 1, done
    assert done.stdout.startswith("error    release          kscaled is not installed in namespace kscaled of this cluster: install it with kscaled manifests | kubectl apply -f -"), done.stdout
    before = podded.cluster.everything()
    visit = podded.visit()
    assert [one["hop"] for one in visit.all] == ["release"] and podded.cluster.everything() == before
    podded.desk.do(re.search("kscaled manifests.*?-f -", visit.all[0]["message"])[0])
    eventually(lambda: podded.visit().status("release") == "ok")
    podded.cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=run("manifests", "--delete-order").stdout)


def test_omitted_parts_are_not_reported(installed):
    """It is found in any namespace, without repeating options."""
    visit = installed.visit()
    assert visit.of("release")[0]["message"] == "in namespace scaling, in Pods, from manifests"
    assert visit.of("rights")[0] == {"hop": "rights", "status": "ok", "message": visit.of("rights")[0]["message"], "mend": None} and len(visit.of("rights")) == 1
    assert "system:serviceaccount:scaling:kscaled has all" in visit.of("rights")[0]["message"]
    for hop in ("crds", "service", "apiservice"):
        assert visit.status(hop) == "ok", visit.of(hop)


@pytest.mark.parametrize("what, hop", [("rolebinding/kscaled-workloads -n default", "rights"), ("role/kscaled-scale -n default", "rights"), ("clusterrolebinding/kscaled", "rights"), ("service/kscaled -n scaling", "service"),
                                       ("apiservice/v1beta1.external.metrics.k8s.io", "apiservice"), ("crd/clustertriggerauthentications.keda.sh", "crds")])
def test_deleted_objects_are_restored(installed, what, hop):
    stood, deployment = standing(installed.cluster), installed.deployment()["spec"]
    installed.cluster.kubectl("delete", *what.split())
    finding = eventually(lambda: installed.visit().bad().get(hop))
    assert finding["mend"].startswith("kscaled manifests --namespace scaling --watch-namespace default "), finding
    # The cluster no longer shows the kinds.
    assert ("--scale-kinds KINDS" in finding["mend"]) == what.startswith("role/kscaled-scale")
    installed.desk.do(finding["mend"].replace("KINDS", "deployments,rollouts.argoproj.io"))
    eventually(lambda: hop not in installed.visit().bad())
    assert standing(installed.cluster) == stood and installed.deployment()["spec"] == deployment
    assert installed.cluster.run_kubectl("auth", "can-i", "list", "secrets", "-n", "default", "--as=system:serviceaccount:scaling:kscaled").stdout.strip() == "no"


def test_no_image(fresh):
    stood = standing(fresh.cluster)
    for reason in ("ErrImagePull", "ImagePullBackOff"):
        pod = fresh.container({"waiting": {"reason": reason, "message": "rpc error: not found"}})
        finding = fresh.only_pods()
        assert finding["message"].startswith(f"Pod {pod} cannot get its image registry.example/kscaled:7") and f"{reason}: rpc error: not found" in finding["message"], finding
    fresh.desk.do(finding["mend"].replace("REGISTRY", "another.example"))
    spec = fresh.deployment()["spec"]["template"]["spec"]
    assert spec["containers"][0]["image"] == "another.example/kscaled:7" and spec["priorityClassName"] == "system-cluster-critical"
    assert standing(fresh.cluster) == stood
    fresh.kubectl("set", "image", "deployment/kscaled", "kscaled=registry.example/kscaled:7")


def test_no_node(fresh):
    pod = fresh.say(conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available: 1 Insufficient memory."}])
    finding = fresh.only_pods()
    assert finding["message"] == f"Pod {pod} has no node: Unschedulable: 0/1 nodes are available: 1 Insufficient memory.", finding
    assert "Allocated resources:" in fresh.desk.do(finding["mend"])


def test_crash_loop(fresh):
    ended = {"terminated": {"exitCode": 2, "reason": "Error", "message": "one\nkscaled: option secure-port: bad\n"}}
    pod = fresh.container({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}, ended, 4)
    finding = fresh.only_pods()
    assert finding["message"] == f"Pod {pod} keeps exiting (CrashLoopBackOff, 4 restarts so far, exit status 2): kscaled: option secure-port: bad", finding
    assert finding["mend"] == f"kubectl -n scaling logs --previous {pod}"  # which a kubelet answers: tests/artefacts/test_node.py


def test_cannot_be_started(fresh):
    pod = fresh.container({"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "x" not found'}})
    finding = fresh.only_pods()
    assert finding["message"] == f'Pod {pod} cannot be started: CreateContainerConfigError: secret "x" not found', finding
    assert re.search(r"(?m)^Name: +" + pod, told := fresh.desk.do(finding["mend"])) and "CreateContainerConfigError" in told, told


def test_pods_are_forbidden(fresh):
    """A quota, which the Deployment's status does not show."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}
    fresh.kubectl("apply", "-f", "-", stdin=json.dumps(quota))
    fresh.kubectl("patch", "resourcequota", "none", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}}))
    fresh.kubectl("rollout", "restart", "deployment", "kscaled")  # so that there are two ReplicaSets, as after an upgrade
    try:
        def refused():
            fresh.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")
            return "has no Pod" in fresh.visit().bad()["pods"]["message"]
        eventually(refused)
        finding = fresh.only_pods()
        eventually(lambda: "exceeded quota: none" in fresh.desk.do(finding["mend"]))
    finally:
        fresh.kubectl("delete", "resourcequota", "none")
    fresh.kubectl("rollout", "restart", "deployment", "kscaled")  # at once, and not when the controller tries again
    fresh.pod()


def test_conflicting_crd(installed):
    """A CRD with the same kind: the API server accepts only the first."""
    cluster = installed.cluster
    before = json.loads(cluster.kubectl("get", "crd", "scaledjobs.keda.sh", "-o", "json"))
    theirs = {**before, "metadata": {"name": "others.keda.sh"}, "spec": {**before["spec"], "names": {**before["spec"]["names"], "plural": "others", "shortNames": []}}}
    cluster.kubectl("delete", "crd", "scaledjobs.keda.sh")
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(theirs))
    established(cluster.kubectl, "crd/others.keda.sh")
    try:
        finding = installed.visit().bad()["crds"]
        installed.desk.do(finding["mend"])
        finding = eventually(lambda: (lambda one: "is not established" in one["message"] and one)(installed.visit().bad()["crds"]))
        assert "KindConflict" in installed.desk.do(finding["mend"]) or "already in use" in finding["message"], finding
    finally:
        cluster.kubectl("delete", "crd", "others.keda.sh")
    eventually(lambda: installed.visit().status("crds") == "ok")


def test_in_another_namespace(installed):
    """The wrong namespace is reported with the right one."""
    message = installed.visit("--namespace", "default").bad()["release"]["message"]
    told = re.search("kscaled doctor --namespace .*", message)[0]
    assert told == "kscaled doctor --namespace scaling --service-name kscaled" and "in namespace scaling, in Pods" in installed.desk.do(told, code=1)


def test_out_of_memory(fresh):
    stood = standing(fresh.cluster)
    before = fresh.deployment()["spec"]["template"]["spec"]["containers"][0]["resources"]
    ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    for state, last in (({"waiting": {"reason": "CrashLoopBackOff"}}, ended), (ended, None)):
        fresh.container(state, last, 3)
        finding = fresh.only_pods()
        assert "ran out of memory (OOMKilled)" in finding["message"] and "its limit is 96Mi" in finding["message"], finding
    fresh.desk.do(finding["mend"])
    after = fresh.deployment()["spec"]["template"]["spec"]["containers"][0]["resources"]
    assert after == {**before, "limits": {"memory": "192Mi"}} and standing(fresh.cluster) == stood


def test_stopped(installed):
    installed.kubectl("scale", "deployment", "kscaled", "--replicas", "0")
    finding = eventually(lambda: (lambda one: "has 0 replicas" in one["message"] and one)(installed.visit().bad()["pods"]))
    installed.desk.do(finding["mend"])
    assert installed.deployment()["spec"]["replicas"] == 1


def test_one_of_two(installed):
    """kwok acts as kubelet for a scheduled Pod: one is ready, so the other's problem is a warning."""
    installed.kubectl("scale", "deployment", "kscaled", "--replicas", "2")
    pods = eventually(lambda: (lambda names: len(names) == 2 and names)(installed.kubectl("get", "pods", "--field-selector=spec.nodeName=", "-l", "app.kubernetes.io/name=kscaled", "-o", "name").split()))
    name = pods[0].removeprefix("pod/")
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": "node-0"}}
    installed.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/scaling/pods/{name}/binding", "-f", "-", stdin=json.dumps(binding))
    other = pods[1].removeprefix("pod/")
    status = {"containerStatuses": [{"name": "kscaled", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": {"waiting": {"reason": "ErrImagePull"}}}]}
    installed.kubectl("patch", "pod", other, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    visit = eventually(lambda: (lambda visit: visit.status("pods") == "warning" and visit)(installed.visit()))
    assert "1 of 2 ready" in [one["message"] for one in visit.of("pods")]
    finding = visit.bad()["lease"]  # kscaled does not run: the hop is checked again
    assert finding["mend"] == "kubectl -n scaling rollout restart deployment/kscaled" and "restarted" in installed.desk.do(finding["mend"]), finding
    assert "kubectl.kubernetes.io/restartedAt" in installed.deployment()["spec"]["template"]["metadata"]["annotations"]
    installed.kubectl("scale", "deployment", "kscaled", "--replicas", "1")


# --- on a host ---

class Joined:
    """A host that was joined with few rights, and its daemon."""

    NARROW = ["--watch-namespace=default", "--scale-kinds=deployments", "--no-scaledjobs", "--restrict-secret-access", "--no-webhook"]

    def __init__(self, cluster, directory):
        self.cluster, self.desk = cluster, Desk(cluster, directory)
        self.config, self.state = directory / "etc", directory / "state"
        self.kubeconfig = self.config / "kubeconfig"
        self.installation = Installation(cluster, directory)
        self.installation.kubeconfig = self.kubeconfig
        self.port = self.installation.port
        self.places = [f"--config-dir={self.config}", f"--state-dir={self.state}"]
        self.join("--no-start")
        self.daemon = Daemon(self.installation, directory, options={"state_dir": self.state, "watch_namespace": "default", "restrict_secret_access": "true", "webhook": "false"}).wait_serving()

    def join(self, *more):
        done = run("join", f"--kubeconfig={self.cluster.kubeconfig}", *self.places, f"--host=localhost:{self.port}", f"--port={self.port}", *self.NARROW, *more, timeout=180)
        assert done.returncode == 0, done

    def visit(self, kubeconfig=None):
        return Visit("--kubeconfig", kubeconfig or self.kubeconfig)


@pytest.fixture(scope="module")
def joined(tmp_path_factory, session_dir):
    cluster = Cluster(session_dir / "joined-cluster")
    cluster.up()
    host = Joined(cluster, tmp_path_factory.mktemp("joined"))
    yield host
    host.daemon.term()
    cluster.down()


def test_host_without_faults(joined):
    for kubeconfig in (joined.kubeconfig, joined.cluster.kubeconfig):  # from the host, and from a desk
        eventually(lambda kubeconfig=kubeconfig: joined.visit(kubeconfig).fine())
        assert joined.visit(kubeconfig).of("release")[0]["message"] == "by kscaled join, outside the cluster"


def expire(joined):
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    (joined.state / "token").write_text(f"{part({'alg': 'RS256'})}.{part({'sub': 'system:serviceaccount:kscaled:kscaled', 'iat': 1000, 'exp': 2000})}.c2lnbmF0dXJl")


def delete_account(joined):
    joined.cluster.kubectl("-n", "kscaled", "delete", "serviceaccount", "kscaled")
    eventually(lambda: joined.visit().code == 2)


def elsewhere(joined):
    head, _, text = joined.kubeconfig.read_text().partition("\n")
    content = json.loads(text)
    content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_port()}"
    joined.kubeconfig.write_text(f"{head}\n{json.dumps(content)}\n")


def break_file(joined):
    joined.kubeconfig.write_text("{")


@pytest.mark.refused("* *")
@pytest.mark.parametrize("fault, hop, says", [(expire, "credentials", "expired at 1970-01-01T00:33:20Z"), (delete_account, "api-server", "HTTP 401"), (elsewhere, "api-server", "refused"), (break_file, "kubeconfig", "")])
def test_fix_on_a_host_is_join(joined, fault, hop, says):
    stood = standing(joined.cluster)
    fault(joined)
    visit = joined.visit()
    finding = visit.first()
    assert visit.code == 2 and finding["hop"] == hop and says in finding["message"], finding
    assert finding["mend"].startswith(f"sudo kscaled join --kubeconfig={joined.cluster.kubeconfig} --host=localhost:{joined.port} "), finding
    joined.desk.do(finding["mend"])
    eventually(lambda: joined.visit().fine(), timeout=60)
    assert standing(joined.cluster) == stood


def test_superfluous_rights_on_a_host(joined):
    """Left by an installation with more rights, and a webhook without a server."""
    stood = standing(joined.cluster)
    labels = {"app.kubernetes.io/name": "kscaled", "app.kubernetes.io/part-of": "kscaled"}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "kscaled-secrets", "labels": labels},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kscaled-secrets"}, "subjects": []}
    hooks = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "kscaled-admission", "labels": labels}, "webhooks": []}
    joined.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [binding, hooks]}))
    finding = joined.visit(joined.cluster.kubeconfig).bad()["webhook"]
    assert finding["mend"] == "kubectl delete validatingwebhookconfiguration kscaled-admission", finding
    joined.desk.do(finding["mend"])
    finding = joined.visit(joined.cluster.kubeconfig).bad()["rights"]
    assert "clusterrolebindings kscaled-secrets grants more than the options call for" in finding["message"] and finding["mend"].startswith("sudo kscaled join "), finding
    joined.desk.do(f"{finding['mend']} {' '.join(joined.places)}")
    eventually(lambda: joined.visit(joined.cluster.kubeconfig).fine(), timeout=60)
    assert standing(joined.cluster) == stood


@pytest.mark.parametrize("what, hop", [("apiservice/v1beta1.external.metrics.k8s.io", "apiservice"), ("rolebinding/kscaled-workloads -n default", "rights"), ("clusterrolebinding/kscaled", "rights")])
def test_from_an_administrators_machine(joined, what, hop):
    """If only the cluster shows how it was joined."""
    stood = standing(joined.cluster)
    joined.cluster.kubectl("delete", *what.split())
    finding = eventually(lambda: joined.visit(joined.cluster.kubeconfig).bad().get(hop))
    narrow = "--watch-namespace default --scale-kinds deployments --no-scaledjobs --restrict-secret-access --no-webhook"
    assert finding["mend"] == f"sudo kscaled join --kubeconfig {joined.cluster.kubeconfig} --host localhost:{joined.port} {narrow}", finding
    joined.desk.do(f"{finding['mend']} {' '.join(joined.places)}")  # those of a test
    eventually(lambda: joined.visit(joined.cluster.kubeconfig).fine(), timeout=60)
    assert standing(joined.cluster) == stood
