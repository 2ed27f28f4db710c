# SPDX-License-Identifier: Apache-2.0
"""
README's first five minutes, each block of commands as it stands there: installed, used, and gone without a trace. Root only.
BUILD: a configured build folder with the program; KUBE_ASSETS. What is not real: the kubelet and the scheduler (pods.py), and k3s, of
which there are its two folders and what it does with them. The way onto a host is tried in test_host.py, where systemd is.
"""
import os
import pathlib
import shutil
import subprocess

import pytest

from control_plane import TOP, run, tools
from pods import Kubelet, Machine, Plane
from readme import blocks, headings

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
    """A machine with a cluster, where blocks are run one after the other."""

    def __init__(self, made, root, folder):
        self.machine = Machine()
        self.plane = Plane(self.machine, folder / "cluster")
        try:
            self.plane.up()
            self.kubelet = Kubelet(self.plane, root, folder / "pods")
        except BaseException:
            self.machine.end()
            raise
        programs = folder / "bin"
        programs.mkdir()
        if not shutil.which("sudo"):  # where there is none, root needs none
            (programs / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
            (programs / "sudo").chmod(0o755)
        prefix = next(made.rglob("bin/kscaled")).parent
        self.env = {"KUBECONFIG": str(self.plane.kubeconfig), "HOME": str(folder), "PATH": f"{programs}:{prefix}:{pathlib.Path(self.plane.program).parent}:{tools()}:{os.environ['PATH']}"}

    def run(self, block):
        print(block)
        done = run(*self.machine.inside("bash", "-euo", "pipefail", "-c", block, folder=BUILD), env=self.env, check=False, timeout=300)
        print(done.stdout, done.stderr)
        assert done.returncode == 0, f"{block}{done.stdout}{done.stderr}{self.kubelet.logs()}"
        return done.stdout

    def end(self):
        try:
            self.kubelet.end()
        finally:
            self.plane.down()
            self.machine.end()


@pytest.fixture(name="tried")
def fixture_tried(made, root, tmp_path):
    tried = Tried(made, root, tmp_path)
    yield tried
    tried.end()


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


def test_by_helm(tried):
    _, copied, installed = blocks(HELM)
    assert copied.startswith("sudo ctr ")
    tried.run(installed)
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
