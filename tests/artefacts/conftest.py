# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Debian package share: it is built once, with a small Debian to put it into."""
import os
import pathlib
import re
import shutil

import pytest

from debpackage import NAME, TOP, VERSION, good


@pytest.fixture(scope="session", name="packages")
def built_packages(tmp_path_factory):
    """By make, in a build folder that is not the tree, as in README.md."""
    build = os.environ.get("BUILD", "")
    assert build and os.path.exists(f"{build}/Makefile"), f"the environment variable BUILD must name a configured build folder, not {build!r}"
    folder = pathlib.Path(build) / "packages"
    shutil.rmtree(folder, ignore_errors=True)
    good("make", "-C", build, "deb")
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


@pytest.fixture(scope="session", name="base")
def small_debian(packages):
    """With what the package depends on, so that no test asks for more."""
    depends = good("dpkg-deb", "-f", packages / NAME, "Depends", "Recommends").replace("Depends:", "").replace("Recommends:", ",")
    have = set(good("apt-cache", "pkgnames").split())
    # Of alternatives the first that this Debian has; what only another one has (tzdata-legacy) comes with none here.
    groups = [[re.match(r"\s*(\S*)", word)[1] for word in group.split("|")] for group in depends.split(",")]
    names = {next((name for name in group if name in have), None) for group in groups} - {None}
    return good(TOP / "contrib/package/debian-root", *sorted(names)).strip()
