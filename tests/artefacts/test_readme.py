# SPDX-License-Identifier: Apache-2.0
"""
README's first five minutes, each block of commands as it stands there: installed, used, and gone without a trace. Root only.
BUILD: a configured build folder with the program; KUBE_ASSETS. The node is a true one, which runs the Pods (kubenode.py); a host has
booted by its own systemd. What is not there is k3s: of it there are its two folders, and what it does with them.
"""
import os
import pathlib
import shutil

import pytest

from control_plane import run, tools
from debianhost import DebianHost
from kubenode import Node
from readme import block, blocks, headings
from rig.waiting import DEFINITIONS_GONE, eventually

BUILD = pathlib.Path(os.environ.get("BUILD", ""))
HELM, K3S, HOST = "In the cluster, by Helm", "On k3s, by a file", "On a host, as a systemd service"
USE, LEAVE = "One ScaledObject", "And gone again"
TRIED = {  # how the blocks below each heading begin, in order
    HELM: ["make", "sudo ctr", "helm install"],
    K3S: ["make", "sudo install"],
    HOST: ["make", "sudo kscaled join"],
    USE: ["kubectl create", "kubectl kscaled"],
    LEAVE: ["kubectl delete", "helm uninstall", "sudo rm", "sudo kscaled leave"],
}
NOT_HERE = ("docker ", "podman ", "skopeo ", "kind ", "k3d ", "minikube ")  # ways to registries and clusters that are others'


@pytest.fixture(scope="session", name="made")
def fixture_made(tmp_path_factory):
    """What the blocks of `make` make, and kscaled as `make install` leaves it. These alone may need the network, for packages."""
    assert (BUILD / "Makefile").exists(), "the environment variable BUILD must name a configured build folder"
    for folder in ("image", "chart", "k3s"):
        shutil.rmtree(BUILD / folder, ignore_errors=True)
    for heading in (HELM, K3S):
        first = block(heading, "make")
        assert first.count("\n") == 1
        shutil.rmtree(BUILD / "image", ignore_errors=True)
        run("bash", "-euc", first, cwd=BUILD)
    installed = tmp_path_factory.mktemp("installed")
    run("make", "-C", BUILD, "install", f"DESTDIR={installed}")
    return installed


SUDO = '#!/bin/sh\nexec "$@"\n'  # where there is none, root needs none


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
    """Somebody who sits at the node, with helm and kscaled in the PATH."""

    def __init__(self, made, folder):
        super().__init__(folder)
        programs = folder / "bin"
        programs.mkdir()
        if not shutil.which("sudo"):
            (programs / "sudo").write_text(SUDO)
            (programs / "sudo").chmod(0o755)
        prefix = next(made.rglob("bin/kscaled")).parent
        self.env = {"KUBECONFIG": str(self.node.kubeconfig), "HOME": str(folder), "PATH": f"{programs}:{prefix}:{tools()}:{os.environ['PATH']}"}

    def do(self, commands):
        return run(*self.node.inside("bash", "-euo", "pipefail", "-c", commands), env=self.env, check=False, timeout=300, cwd=BUILD)


class Host(Tried):
    """A Debian that has booted beside the node, with the package, kubectl, and the kubeconfig where k3s has it."""

    def __init__(self, base, packages, folder):
        super().__init__(folder)
        self.host = DebianHost(base, folder, self.node.network())
        shutil.copytree(packages, self.host.file("/root/packages"))
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
def fixture_host(base, packages, tmp_path):
    host = Host(base, packages, tmp_path)
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
    assert headings("First five minutes") == list(TRIED)
    for heading, begins in TRIED.items():
        found = [one for one in blocks(heading) if not one.startswith(NOT_HERE)]
        assert len(found) == len(begins) and all(one.startswith(f"{begin} ") for one, begin in zip(found, begins)), (heading, found)


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
