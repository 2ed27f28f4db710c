# SPDX-License-Identifier: Apache-2.0
"""kustomize's base and overlays, and the file for k3s.

KSCALED=src/kscaled python -m pytest tests/artefacts/test_kustomize.py
"""
import pytest

from control_plane import KSCALED, TOP, ControlPlane, manifests, objects, run, tools
from rig.waiting import DEFINITIONS_GONE

NAMESPACED, HOST = "shop,bank", "10.0.0.7:8443"
VARIANTS = {"base": [], "overlays/namespaced": ["--watch-namespace", NAMESPACED], "overlays/host": ["--host", HOST]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("kubernetes")
    run(TOP / "etc/kubernetes/generate", out, KSCALED, "--watch-namespace", NAMESPACED, "--host", HOST)
    return out


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    plane = ControlPlane(tmp_path_factory.mktemp("cluster"))
    try:
        plane.up(tools() / "crds")
        for name in ("kscaled", "shop", "bank"):
            plane.kubectl("create", "namespace", name)
        yield plane
    finally:
        plane.down()


def build(folder):
    return run(tools() / "kustomize", "build", folder)


@pytest.mark.parametrize("variant", VARIANTS)
def test_as_manifests(made, variant):
    """One source: object for object the same, without a warning."""
    done = build(made / variant)
    assert done.stderr == ""
    expected, got = objects(manifests(*VARIANTS[variant])), objects(done.stdout)
    assert set(got) == set(expected)
    for key, one in expected.items():
        assert got[key] == one, key


def test_made_again(made):
    """The same bytes, and what another choice left is gone."""
    before = {path: path.read_bytes() for path in made.rglob("*.yaml")}
    (made / "overlays" / "host" / "stale.yaml").write_text("")
    run(TOP / "etc/kubernetes/generate", made, KSCALED, "--watch-namespace", NAMESPACED, "--host", HOST)
    assert {path: path.read_bytes() for path in made.rglob("*.yaml")} == before


def test_strictly_accepted(made, cluster):
    for variant in VARIANTS:
        cluster.accepts(build(made / variant).stdout)


def test_an_overlay_of_ones_own(made, cluster, tmp_path):
    """As the README says: images and replicas on top."""
    own = made / "own"
    own.mkdir()
    (own / "kustomization.yaml").write_text("resources: [../base]\nimages:\n- {name: kscaled, newName: registry.example.com/kscaled, newTag: '7'}\nreplicas:\n- {name: kscaled, count: 2}\n")
    text = build(own).stdout
    (deployment,) = (one for (kind, _, _), one in objects(text).items() if kind == "Deployment")
    assert deployment["spec"]["replicas"] == 2
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.com/kscaled:7"
    cluster.accepts(text)


def test_k3s(cluster):
    """In the auto-deploy folder: each object names its namespace, and applied again nothing changes."""
    text = manifests()
    in_namespaces = {line.split()[-1] for line in cluster.kubectl("api-resources", "--namespaced=true", "--no-headers").stdout.splitlines()}
    for kind, namespace, name in objects(text):
        assert bool(namespace) == (kind in in_namespaces), (kind, name)
    cluster.kubectl("apply", "-f", "-", stdin=text)
    again = cluster.kubectl("apply", "-f", "-", stdin=text).stdout.splitlines()
    assert [line for line in again if not line.endswith(" unchanged")] == []
    cluster.kubectl("delete", f"--timeout={DEFINITIONS_GONE}s", "-f", "-", stdin=manifests("--delete-order"))
    assert cluster.left() == []
