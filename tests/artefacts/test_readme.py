# SPDX-License-Identifier: Apache-2.0
"""
README's first five minutes, each block of commands as it stands there: made in a Debian with nothing in it (newcomer.py), installed,
used, and gone without a trace. Root only. BUILD: a configured build folder; KUBE_ASSETS. The node is a true one, which runs the Pods
(kubenode.py); a host has booted by its own systemd. What is not there is k3s: of it there are its two folders, and what it does with
them.
"""
import re
import shutil

import pytest

from control_plane import run, tools
from debianhost import DebianHost
from debpackage import NAME, VERSION
from kubenode import Node
from newcomer import SUDO, Newcomer
from readme import block, blocks, headings
from rig.waiting import DEFINITIONS_GONE, eventually

HELM, K3S, HOST = "In the cluster, by Helm", "On k3s, by a file", "On a host, as a systemd service"
USE, LEAVE = "One ScaledObject", "Uninstall"
BEGIN = "First five minutes"
TRIED = {  # how the blocks below each heading begin, in order
    HELM: ["make", "sudo ctr", "helm install"],
    K3S: ["make", "sudo install"],
    HOST: ["make", "sudo kscaled join"],
    USE: ["kubectl create", "kubectl kscaled"],
    LEAVE: ["kubectl delete", "helm uninstall", "sudo rm", "sudo kscaled leave"],
}
NOT_HERE = ("docker ", "podman ", "skopeo ", "kind ", "k3d ", "minikube ")  # ways to registries and clusters that are others'


@pytest.fixture(scope="module", name="newcomer")
def fixture_newcomer(tmp_path_factory):
    newcomer = Newcomer(tmp_path_factory.mktemp("machine") / "root")
    yield newcomer
    shutil.rmtree(newcomer.root)


@pytest.fixture(scope="module", name="made")
def fixture_made(newcomer):
    """Cloned, built, installed, and what the blocks of `make` make. These alone may need the network."""
    build, install = blocks(BEGIN)[:2]
    newcomer.good(build)
    newcomer.good(f"cd kscaled\n{install}")
    for heading in (HELM, K3S):
        newcomer.good(f"cd kscaled\n{block(heading, 'make')}")
    newcomer.good(f"cd kscaled\n{block(HOST, 'make')}", answer="y\n")
    return newcomer


class Tried:
    """A fresh node, with which blocks are run one after the other. do() is the subclasses': it runs one."""

    def __init__(self, folder):
        self.node = Node(folder / "node")
        self.node.up("--hpa-sync-period", "1s")

    def run(self, commands):
        print(commands)
        done = self.do(commands)
        print(done.stdout, done.stderr)
        assert done.returncode == 0, f"{commands}{done.stdout}{done.stderr}{self.told()}"
        return done.stdout

    def told(self):
        return self.node.told()

    def end(self):
        self.node.down()


class OnTheNode(Tried):
    """Somebody who sits at the node with what was made, and helm and kscaled in the PATH."""

    def __init__(self, made, folder):
        super().__init__(folder)
        self.made = made
        self.env = {"KUBECONFIG": str(self.node.kubeconfig), "HOME": str(folder), "PATH": f"{made.programs}:{tools()}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

    def do(self, commands):
        return run(*self.node.inside("bash", "-euo", "pipefail", "-c", commands), env=self.env, check=False, timeout=300, cwd=self.made.source)


class Host(Tried):
    """A Debian that has booted beside the node, with the package that was made, kubectl, and the kubeconfig where k3s has it."""

    def __init__(self, base, made, folder):
        super().__init__(folder)
        self.host = DebianHost(base, folder, self.node.network())
        shutil.copytree(made.source / "packages", self.host.file("/root/packages"))
        for name, source in (("/etc/rancher/k3s/k3s.yaml", self.node.kubeconfig), ("/usr/local/bin/kubectl", self.node.program)):
            self.host.file(name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, self.host.file(name))
        sudo = self.host.file("/usr/local/bin/sudo")
        sudo.write_text(SUDO)
        sudo.chmod(0o755)
        try:
            self.host.boot()
        except BaseException:
            super().end()
            raise

    def do(self, commands):
        return self.host.run("env", "KUBECONFIG=/etc/rancher/k3s/k3s.yaml", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "bash", "-euo", "pipefail", "-c", f"cd /root\n{commands}")

    def told(self):
        return self.host.run("journalctl", "--unit", "kscaled", "--lines", "100").stdout + super().told()

    def end(self):
        try:
            self.host.shut_down()
        finally:
            shutil.rmtree(self.host.path)
            super().end()


@pytest.fixture(name="tried")
def fixture_tried(made, tmp_path):
    tried = OnTheNode(made, tmp_path)
    yield tried
    tried.end()


@pytest.fixture(name="host")
def fixture_host(base, made, tmp_path):
    host = Host(base, made, tmp_path)
    yield host
    host.end()


def use(tried):
    """The example's Pods run, three for six, and what people ask is answered."""
    tried.run(block(USE, "kubectl create"))
    tried.run("kubectl wait deployment/worker --for=jsonpath='{.status.readyReplicas}'=3 --timeout=2m")
    told = tried.run(block(USE, "kubectl kscaled"))
    assert "worker" in told and "kubernetes-workload" in told
    assert tried.node.get("hpa", "keda-hpa-worker")["status"]["currentMetrics"]
    tried.run(block(LEAVE, "kubectl delete"))


def nothing_is_left(tried):
    kubectl = tried.node.kubectl
    assert tried.node.left() == []
    assert "keda" not in kubectl("get", "crd", "-o", "name").stdout
    assert "kscaled" not in kubectl("get", "apiservice,validatingwebhookconfiguration,clusterrole,clusterrolebinding,namespace", "-o", "name").stdout
    assert "kscaled" not in kubectl("get", "role,rolebinding,lease,hpa,deployment,pod", "--all-namespaces", "-o", "name").stdout


def test_each_block_is_tried():
    """One more block, or one heading more, wants its test."""
    assert headings(BEGIN) == list(TRIED)
    assert [one.split()[0] for one in blocks(BEGIN)] == ["git", "sudo"]
    for heading, begins in TRIED.items():
        found = [one for one in blocks(heading) if not one.startswith(NOT_HERE)]
        assert len(found) == len(begins) and all(one.startswith(f"{begin} ") for one, begin in zip(found, begins)), (heading, found)


# ---- Made ----

def test_all_that_the_image_lacks_is_told_at_once(newcomer):
    done = newcomer.run(f"/srv/kscaled/contrib/image/make-image --version {VERSION} --output /tmp/image amd64=/srv/kscaled/src/kscaled")
    assert done.returncode == 2 and done.stderr == "image: missing: python3 binutils. Install them: sudo apt-get install python3 binutils\n"
    with_list = newcomer.run(f"SBOM=yes /srv/kscaled/contrib/image/make-image --version {VERSION} --output /tmp/image amd64=/srv/kscaled/src/kscaled")
    lacking = re.fullmatch(r"image: missing: (.*)\. Install them: sudo apt-get install (.*)\n", with_list.stderr)
    assert lacking and lacking[1] == lacking[2] == "python3 binutils python3-venv"
    assert set(lacking[1].split()) <= set(newcomer.good("/srv/kscaled/contrib/install-deps.sh --packages --list").split())


def test_made(made):
    for name in (f"image/kscaled-{VERSION}.oci.tar", f"chart/kscaled-{VERSION}.tgz", "k3s/kscaled.yaml", f"packages/{NAME}"):
        assert (made.source / name).stat().st_size > 10_000, name
    # As make install has it, and as the package has it.
    for program in ("kubectl-kscaled", "/usr/bin/kscaled"):
        assert made.good(f"{program} version").startswith(f"kscaled {VERSION}\n")
    assert made.good("cd kscaled && git status --porcelain") == ""


# ---- Use and uninstall ----

def test_by_helm(tried):
    tried.run(block(HELM, "sudo ctr"))
    tried.run(block(HELM, "helm install"))
    use(tried)
    tried.run(block(LEAVE, "helm uninstall"))
    nothing_is_left(tried)


def test_on_k3s(tried):
    """k3s imports what lies in the one folder, and applies what lies in the other."""
    lines = block(K3S, "sudo install").splitlines(keepends=True)
    first_wait = next(i for i, line in enumerate(lines) if "kubectl wait " in line)
    tried.run("".join(lines[:first_wait]))
    k3s = "/var/lib/rancher/k3s"
    found = tried.run(f"ls -l {k3s}/agent/images {k3s}/server/manifests")
    assert "-rw------- " in found and ".oci.tar" in found
    tried.run(f"ctr --namespace k8s.io images import {k3s}/agent/images/*\nkubectl apply --server-side --field-manager=k3s -f {k3s}/server/manifests")
    tried.run("".join(lines[first_wait:]))
    use(tried)
    tried.run(block(LEAVE, "sudo rm"))
    nothing_is_left(tried)


def test_on_a_host(host):
    made, install = block(HOST, "make").splitlines(keepends=True)
    assert made == "make deb\n"  # by the fixture, which is shared
    host.run(install)
    host.run(block(HOST, "sudo kscaled join"))
    use(host)
    host.run(block(LEAVE, "sudo kscaled leave"))
    eventually(lambda: host.node.left() == [], timeout=DEFINITIONS_GONE)  # kubectl waits for that, leave does not
    nothing_is_left(host)
    assert host.host.run("find", "/etc", "/usr", "/var/lib", "-name", "*kscaled*").stdout == ""
