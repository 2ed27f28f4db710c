# SPDX-License-Identifier: Apache-2.0
"""
README's first five minutes, each block of commands as it stands there: installed, used, and gone without a trace. Root only.
BUILD: a configured build folder with the program; KUBE_ASSETS. What is not real: the kubelet and the scheduler (pods.py), and k3s, of
which there are its two folders and what it does with them. The host has booted by its own systemd, and the node has a containerd.
"""
import os
import pathlib
import shutil

import pytest
import yaml

from containerdnode import Node
from control_plane import run, tools
from debianhost import DebianHost
from pods import Kubelet, Machine, Plane
from readme import blocks, headings
from rig.waiting import DEFINITIONS_GONE, eventually

BUILD = pathlib.Path(os.environ.get("BUILD", ""))
HELM, K3S, HOST = "In the cluster, by Helm", "On k3s, by a file", "On a host, as a systemd service"
USE, LEAVE = "One ScaledObject", "And gone again"
GONE_FIRST, GONE_HELM, GONE_K3S, GONE_HOST = range(4)


@pytest.fixture(scope="session", name="made")
def fixture_made(tmp_path_factory):
    """What the blocks of `make` make, and kscaled as `make install` leaves it. These alone may need the network, for packages."""
    assert (BUILD / "Makefile").exists(), "the environment variable BUILD must name a configured build folder"
    for folder in ("image", "chart", "k3s"):
        shutil.rmtree(BUILD / folder, ignore_errors=True)
    for heading in (HELM, K3S):
        first = blocks(heading)[0]
        assert first.startswith("make ") and first.count("\n") == 1
        shutil.rmtree(BUILD / "image", ignore_errors=True)
        run("bash", "-euc", first, cwd=BUILD)
    installed = tmp_path_factory.mktemp("installed")
    run("make", "-C", BUILD, "install", f"DESTDIR={installed}")
    return installed


@pytest.fixture(scope="session", name="root")
def fixture_root(made, tmp_path_factory):
    """The image's root file system."""
    assert made
    folder = tmp_path_factory.mktemp("image")
    archive, = (BUILD / "image").glob("*.oci.tar")
    version = archive.name.removeprefix("kscaled-").removesuffix(".oci.tar")
    run("skopeo", "copy", f"oci-archive:{archive}:{version}", f"oci:{folder}/layout:{version}")
    run("umoci", "unpack", "--image", f"{folder}/layout:{version}", folder / "bundle")
    return folder / "bundle/rootfs"


class Tried:
    """A network with a cluster in it, where blocks are run one after the other."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.machine = Machine()
        self.plane = Plane(self.machine, folder / "cluster")
        try:
            self.plane.up(*options)
        except BaseException:
            self.machine.end()
            raise

    def told(self):
        """For who looks why a block failed."""
        return ""

    def run(self, block):
        print(block)
        done = self.do(block)
        print(done.stdout, done.stderr)
        assert done.returncode == 0, f"{block}{done.stdout}{done.stderr}{self.told()}"
        return done.stdout

    def end(self):
        self.plane.down()
        self.machine.end()


SUDO = '#!/bin/sh\nexec "$@"\n'  # where there is none, root needs none


class Outside(Tried):
    """Somebody's machine, beside a cluster that runs kscaled in its Pods."""

    def __init__(self, made, root, folder):
        super().__init__(folder, "--aggregator-routing")
        self.kubelet = Kubelet(self.plane, root, folder / "pods")
        programs = folder / "bin"
        programs.mkdir()
        if not shutil.which("sudo"):
            (programs / "sudo").write_text(SUDO)
            (programs / "sudo").chmod(0o755)
        prefix = next(made.rglob("bin/kscaled")).parent
        self.env = {"KUBECONFIG": str(self.plane.kubeconfig), "HOME": str(folder), "PATH": f"{programs}:{prefix}:{pathlib.Path(self.plane.program).parent}:{tools()}:{os.environ['PATH']}"}

    def do(self, block):
        return run(*self.machine.inside("bash", "-euo", "pipefail", "-c", block, folder=BUILD), env=self.env, check=False, timeout=300)

    def told(self):
        return self.kubelet.logs()

    def end(self):
        try:
            self.kubelet.end()
        finally:
            super().end()


class Host(Tried):
    """A Debian that has booted, with the package, kubectl, and the kubeconfig where k3s has it."""

    def __init__(self, base, packages, folder):
        super().__init__(folder)
        self.host = DebianHost(base, folder, self.machine.inside())
        shutil.copytree(packages, self.host.file("/root/packages"))
        for name, source in (("/etc/rancher/k3s/k3s.yaml", self.plane.kubeconfig), ("/usr/local/bin/kubectl", self.plane.program)):
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

    def do(self, block):
        return self.host.run("env", "KUBECONFIG=/etc/rancher/k3s/k3s.yaml", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "bash", "-euo", "pipefail", "-c", f"cd /root\n{block}")

    def told(self):
        return self.host.run("journalctl", "--unit", "kscaled", "--lines", "100").stdout

    def end(self):
        try:
            self.host.shut_down()
        finally:
            shutil.rmtree(self.host.path)
            super().end()


@pytest.fixture(name="tried")
def fixture_tried(made, root, tmp_path):
    tried = Outside(made, root, tmp_path)
    yield tried
    tried.end()


@pytest.fixture(name="host")
def fixture_host(base, packages, tmp_path):
    host = Host(base, packages, tmp_path)
    yield host
    host.end()


def use(tried):
    apply, why = blocks(USE)
    tried.run(apply)
    told = tried.run(why)
    assert "worker" in told and "kubernetes-workload" in told
    assert tried.plane.get("hpa", "keda-hpa-worker")["status"]["currentMetrics"]
    tried.run(blocks(LEAVE)[GONE_FIRST])


def nothing_is_left(tried):
    assert tried.plane.left() == []
    assert "keda" not in tried.plane.kubectl("get", "crd", "-o", "name").stdout
    assert "kscaled" not in tried.plane.kubectl("get", "apiservice,validatingwebhookconfiguration,clusterrole,clusterrolebinding,namespace", "-o", "name").stdout
    assert "kscaled" not in tried.plane.kubectl("get", "role,rolebinding,lease,hpa,deployment", "--all-namespaces", "-o", "name").stdout


def test_each_block_is_tried():
    """One more block, or one heading more, wants its test."""
    assert headings("First five minutes") == [HELM, K3S, HOST, USE, LEAVE]
    assert [len(blocks(heading)) for heading in (HELM, K3S, HOST, USE, LEAVE)] == [3, 2, 2, 2, 4]


def test_a_node_imports_the_image(made, tmp_path):
    assert made
    node = Node(tmp_path)
    try:
        assert node.good("images", "ls").splitlines()[1:] == []
        words = blocks(HELM)[1]
        run(*node.inside("bash", "-euo", "pipefail", "-c", f"cd {BUILD}\n{words if shutil.which('sudo') else words.replace('sudo ', '')}"))
        name = yaml.safe_load((BUILD / "chart/kscaled/Chart.yaml").read_text())["appVersion"]
        assert f"docker.io/library/kscaled:{name}" in node.good("images", "ls")
    finally:
        node.end()


def test_by_helm(tried):
    tried.run(blocks(HELM)[2])
    use(tried)
    tried.run(blocks(LEAVE)[GONE_HELM])
    nothing_is_left(tried)


def test_on_k3s(tried):
    """k3s imports what lies in the one folder, and applies what lies in the other."""
    lines = blocks(K3S)[1].splitlines(keepends=True)
    first_wait = next(i for i, line in enumerate(lines) if line.startswith("kubectl wait "))
    tried.run("".join(lines[:first_wait]))
    k3s = "/var/lib/rancher/k3s"
    found = tried.run(f"ls -l {k3s}/agent/images {k3s}/server/manifests")
    assert "-rw------- " in found and ".oci.tar" in found
    tried.run(f"kubectl apply --server-side --field-manager=k3s -f {k3s}/server/manifests")
    tried.run("".join(lines[first_wait:]))
    use(tried)
    tried.run(blocks(LEAVE)[GONE_K3S])
    nothing_is_left(tried)


def test_on_a_host(host):
    made, install = blocks(HOST)[0].splitlines(keepends=True)
    assert made == "make deb\n"  # by the fixture, which is shared
    host.run(install)
    host.run(blocks(HOST)[1])
    use(host)
    host.run(blocks(LEAVE)[GONE_HOST])
    eventually(lambda: host.plane.left() == [], timeout=DEFINITIONS_GONE)  # kubectl waits for that, leave does not
    nothing_is_left(host)
    assert host.host.run("find", "/etc", "/usr", "/var/lib", "-name", "*kscaled*").stdout == ""
