# SPDX-License-Identifier: Apache-2.0
"""What several files of tests share, made once: the Debian package, with a small Debian to put it into; and the chart."""
import os
import pathlib
import re
import shutil

import pytest

from control_plane import KSCALED, run, tools
from debpackage import ARCHITECTURE, NAME, TOP, VERSION, good
from kubenode import Watched


@pytest.fixture(scope="session", name="packages")
def built_packages(tmp_path_factory):
    """
    By make, in a build folder that is not the tree, as in README.md. What was compiled in an earlier run is found again: whether that is
    what compiling gives, test_it_is_the_same_when_built_again tells.
    """
    build = os.environ.get("BUILD", "")
    assert build and os.path.exists(f"{build}/Makefile"), f"the environment variable BUILD must name a configured build folder, not {build!r}"
    folder = pathlib.Path(build) / "packages"
    shutil.rmtree(folder, ignore_errors=True)
    good("make", "-C", build, "deb", env={**os.environ, "PATH": f"/usr/lib/ccache:{os.environ['PATH']}"})
    kept = tmp_path_factory.mktemp("deb") / "packages"
    shutil.copytree(folder, kept)
    return kept


@pytest.fixture(scope="session", name="older")
def older_package(packages, tmp_path_factory):
    """
    The version before. There is none yet that was released: it is this one with a lower version, another text in the configuration
    file and a file that went away since.
    """
    folder = tmp_path_factory.mktemp("older")
    good("dpkg-deb", "-R", packages / NAME, folder / "tree")
    control = folder / "tree/DEBIAN/control"
    control.write_text(control.read_text().replace(f"Version: {VERSION}\n", "Version: 0.0.9\n"))
    conf = folder / "tree/etc/kscaled/kscaled.conf"
    conf.write_text("# of the version before\n" + conf.read_text())
    (folder / "tree/usr/share/doc/kscaled/of-old").write_text("gone\n")
    good("dpkg-deb", "--root-owner-group", "-b", folder / "tree", folder / "kscaled-older.deb")
    return folder / "kscaled-older.deb"


def debian_for(packages, *more):
    """With what the package depends on, so that no test asks for more, and with these."""
    depends = good("dpkg-deb", "-f", packages / NAME, "Depends", "Recommends").replace("Depends:", "").replace("Recommends:", ",")
    have = set(good("apt-cache", "pkgnames").split())
    # Of alternatives the first that this Debian has; what only another one has (tzdata-legacy) comes with none here.
    groups = [[re.match(r"\s*(\S*)", word)[1] for word in group.split("|")] for group in depends.split(",")]
    names = {next((name for name in group if name in have), None) for group in groups} - {None} | set(more)
    return good(TOP / "contrib/package/debian-root", *sorted(names)).strip()


@pytest.fixture(scope="session", name="base")
def small_debian(packages):
    return debian_for(packages)


@pytest.fixture(scope="session", name="lived_in")
def debian_of_a_host(packages):
    """Where somebody works who is not root, on a clock that may be set."""
    return debian_for(packages, "dbus", "libfaketime", "sudo", "systemd-timesyncd")


@pytest.fixture(scope="session", name="helm")
def fixture_helm(tmp_path_factory):
    """The program, called with words before its own, if any: of a node, on which it then runs."""
    home = tmp_path_factory.mktemp("helm")
    env = {"HELM_CACHE_HOME": str(home), "HELM_CONFIG_HOME": str(home), "HELM_DATA_HOME": str(home)}
    program = tools() / "helm"
    return lambda *arguments, on=None, **more: run(*(on.inside(program) if on else [program]), *arguments, env=env, **more)


@pytest.fixture(scope="session", name="chart")
def fixture_chart(tmp_path_factory):
    out = tmp_path_factory.mktemp("chart")
    run(TOP / "contrib/helm/generate", out, "--version", VERSION)
    return out / "kscaled"


@pytest.fixture(scope="session", name="node")
def fixture_node(tmp_path_factory):
    """With the image as `make image` makes it."""
    folder = tmp_path_factory.mktemp("node")
    good(TOP / "contrib/image/make-image", "--version", VERSION, "--output", folder / "image", f"{ARCHITECTURE}={os.path.abspath(KSCALED)}",
         env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000", "KSCALED_REVISION": "0" * 40, "SBOM": "no"})
    node = Watched(folder / "node", folder / "image" / f"kscaled-{VERSION}.oci.tar")
    node.up()
    try:
        node.kubectl("create", "namespace", "shop")
        yield node
    finally:
        node.down()
