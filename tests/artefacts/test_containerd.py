# SPDX-License-Identifier: Apache-2.0
"""
A node takes the OCI image: containerd imports it under the name that `kscaled manifests` prints, and runc runs it as a Pod would be
run, against a control plane. Root only. KSCALED: the program; KUBE_ASSETS: what tests/cluster/build prints.
"""
import os
import pathlib
import re

import pytest

from containerdnode import GROUP, Node
from debpackage import ARCHITECTURE, TOP, VERSION, good, run
from rig.cluster import Cluster
from rig.process import Process, free_port
from rig.waiting import eventually

PROGRAM = os.environ.get("KSCALED", "")


@pytest.fixture(scope="module", name="name")
def printed_name():
    """What a node is asked for: without a registry Docker's is meant."""
    assert os.access(PROGRAM, os.X_OK), f"the environment variable KSCALED must hold the path of a program, not {PROGRAM!r}"
    return "docker.io/library/" + re.search(r'image: "([^"]+)"', good(PROGRAM, "manifests"))[1]


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    node = Node(tmp_path_factory.mktemp("containerd"))
    yield node
    node.end()
    assert str(node.folder) not in pathlib.Path("/proc/mounts").read_text()
    assert not [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if GROUP in folder]


@pytest.fixture(scope="module", name="image")
def imported_image(node, name, tmp_path_factory):
    folder = tmp_path_factory.mktemp("image") / "image"
    good(TOP / "contrib/image/make-image", "--version", VERSION, "--output", folder, f"{ARCHITECTURE}={os.path.abspath(PROGRAM)}",
         env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000", "KSCALED_REVISION": "0" * 40})
    node.good("images", "import", folder / f"kscaled-{VERSION}.oci.tar")
    return name


def test_imported(node, image):
    (line,) = node.good("images", "ls").splitlines()[1:]
    assert line.split()[0] == image
    platform = {"amd64": "linux/amd64", "arm64": "linux/arm64", "armhf": "linux/arm/v7"}[ARCHITECTURE]
    assert platform in line.split()
    # Nothing is missing, and it is unpacked for this machine.
    (line,) = node.good("images", "check").splitlines()[1:]
    assert line.split()[0] == image and "complete (3/3)" in line and line.split()[-1] == "true"


def test_version(node, image):
    assert good(*node.run_words("version", image, "kscaled", "version")).startswith(f"kscaled {VERSION}\n")


def test_by_itself(node, image):
    """The command of the image, which misses a Pod around it."""
    done = run(*node.run_words("itself", image))
    assert done.returncode == 1 and "kscaled: cannot start: not in a pod" in done.stderr, done.stderr


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("plane") / "cluster")
    cluster.up()
    yield cluster
    cluster.down()


def test_as_in_a_pod(node, image, cluster, tmp_path):
    """The API server reaches it; it has the rights of the Deployment's securityContext, and ends orderly."""
    port = free_port()
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=good(PROGRAM, "manifests", "--host", f"localhost:{port}"))
    folder = tmp_path / "etc"
    folder.mkdir()
    cluster.write_kubeconfig(folder / "kubeconfig", "kscaled", cluster.token("kscaled", "kscaled"))
    for path in (folder, folder / "kubeconfig"):
        os.chown(path, 65532, 65532)
    options = ["--net-host", "--mount", "type=tmpfs,src=none,dst=/var/lib/kscaled,options=mode=1777", "--mount", f"type=bind,src={folder},dst=/etc/kscaled,options=rbind:ro"]
    command = ["kscaled", "run", "--kubeconfig=/etc/kscaled/kubeconfig", f"--secure-port={port}", "--status-address=127.0.0.1:0"]
    process = Process("kscaled", node.run_words("pod", image, *command, options=options), tmp_path / "log")
    try:
        eventually(lambda: [one.status for one in cluster.registration.read_api_service("v1beta1.external.metrics.k8s.io").status.conditions] == ["True"], timeout=60)
        (pid,) = re.findall(r"(?m)^pod +(\d+) +RUNNING", node.good("tasks", "ls"))
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"65532"}
        assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    finally:
        assert process.stop(60) == 0, process.tail()
    assert "kscaled: stopped" in process.log()
    assert node.good("tasks", "ls").splitlines()[1:] == []
