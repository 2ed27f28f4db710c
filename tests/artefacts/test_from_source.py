# SPDX-License-Identifier: Apache-2.0
"""
README's blocks that make something, as they stand there, in a Debian in which nothing is installed: cloned, built, the image, the chart,
the file for k3s, the package. Root only. Compiled without optimization, which is all that differs from what a person does.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from debpackage import NAME, TOP, VERSION, good
from readme import blocks

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kscaled"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
               "MAKEFLAGS": "-j2", "CFLAGS": "-O0", "DEB_BUILD_OPTIONS": "noopt nocheck", "SBOM": "no"}
# What was downloaded for other tests is shared: the image's packages.
INSIDE = """
mount --make-rprivate /
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t tmpfs none "$0/run"
mount --bind "$1" "$0/root/.cache/kscaled"
exec chroot "$0" bash -euo pipefail -c "$2"
"""


class Newcomer:
    """Somebody on a machine of their own, who is root."""

    def __init__(self, root):
        self.root = root
        (root / "root/.cache/kscaled").mkdir(parents=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        sudo = root / "usr/local/bin/sudo"
        sudo.write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
        sudo.chmod(0o755)

    def run(self, block, answer=""):
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-euc", INSIDE, self.root, CACHE, block]
        done = subprocess.run(command, input=answer, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        print(block, done.stdout[-3000:], done.stderr[-3000:])
        return done

    def good(self, block, **more):
        done = self.run(block, **more)
        assert done.returncode == 0, f"{block}{done.stdout[-5000:]}{done.stderr[-5000:]}"
        return done.stdout


@pytest.fixture(scope="module", name="newcomer")
def fixture_newcomer(tmp_path_factory):
    """The source is where git is told to look for the address that README names."""
    base = pathlib.Path(good(TOP / "contrib/package/debian-root", "ca-certificates", "git").splitlines()[-1])
    root = tmp_path_factory.mktemp("machine") / "root"
    good("cp", "-a", "--reflink=auto", base, root)
    newcomer = Newcomer(root)
    source = re.search(r"AC_SUBST\(\[SOURCE_URL\], \[([^]]*)\]\)", (TOP / "configure.ac").read_text(encoding="utf-8"))[1]
    good(TOP / "contrib/package/copy-tree", root / "srv/kscaled")
    newcomer.good(f"cd /srv/kscaled\ngit init -q\ngit add -A\ngit -c user.name=a -c user.email=a@example.com commit -qm source\n"
                  f"git config --global url./srv/kscaled.insteadOf {source}.git\n")
    yield newcomer
    shutil.rmtree(root)


def test_all_that_the_image_lacks_is_told_at_once(newcomer):
    done = newcomer.run(f"/srv/kscaled/contrib/image/make-image --version {VERSION} --output /tmp/image amd64=/srv/kscaled/src/kscaled")
    assert done.returncode == 2 and done.stderr == "image: missing: python3 binutils. Install them: sudo apt-get install python3 binutils\n"
    with_list = newcomer.run(f"SBOM=yes /srv/kscaled/contrib/image/make-image --version {VERSION} --output /tmp/image amd64=/srv/kscaled/src/kscaled")
    lacking = re.fullmatch(r"image: missing: (.*)\. Install them: sudo apt-get install (.*)\n", with_list.stderr)
    assert lacking and lacking[1] == lacking[2] == "python3 binutils python3-venv"
    assert set(lacking[1].split()) <= set(newcomer.good("/srv/kscaled/contrib/install-deps.sh --packages --list").split())


def test_from_nothing(newcomer):
    first, install = blocks("First five minutes")[:2]
    newcomer.good(first)
    there = "cd kscaled\n"
    assert install == "sudo make install\n"
    newcomer.good(there + install)
    assert newcomer.good("kubectl-kscaled version").startswith(f"kscaled {VERSION}\n")
    newcomer.good("cd kscaled && make uninstall")
    for heading in ("In the cluster, by Helm", "On k3s, by a file"):
        newcomer.good(there + blocks(heading)[0])
    newcomer.good(there + blocks("On a host, as a systemd service")[0], answer="y\n")
    source = newcomer.root / "kscaled"
    for name in (f"image/kscaled-{VERSION}.oci.tar", f"chart/kscaled-{VERSION}.tgz", "k3s/kscaled.yaml", f"packages/{NAME}"):
        assert (source / name).stat().st_size > 10_000, name
    assert newcomer.good("/usr/bin/kscaled version").startswith(f"kscaled {VERSION}\n")
    assert newcomer.good(there + "git status --porcelain") == ""
