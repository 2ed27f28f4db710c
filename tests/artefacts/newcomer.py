# SPDX-License-Identifier: Apache-2.0
"""
A Debian in which nothing is installed but git, for who does what README says from its first line. Root only. Compiled without
optimization, and the image without its list of materials: that is all that differs from what a person does.
"""
import os
import pathlib
import re
import shutil
import subprocess

from debpackage import TOP, good

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kscaled"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
               "MAKEFLAGS": "-j2", "CFLAGS": "-O0", "DEB_BUILD_OPTIONS": "noopt nocheck", "SBOM": "no"}
SUDO = '#!/bin/sh\nexec "$@"\n'  # where there is none, root needs none
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
    """Somebody on a machine of their own, who is root. The source is where git is told to look for the address that README names."""

    def __init__(self, root):
        self.root = root
        base = pathlib.Path(good(TOP / "contrib/package/debian-root", "ca-certificates", "git").splitlines()[-1])
        good("cp", "-a", "--reflink=auto", base, root)
        (root / "root/.cache/kscaled").mkdir(parents=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        sudo = root / "usr/local/bin/sudo"
        sudo.write_text(SUDO, encoding="utf-8")
        sudo.chmod(0o755)
        source = re.search(r"AC_SUBST\(\[SOURCE_URL\], \[([^]]*)\]\)", (TOP / "configure.ac").read_text(encoding="utf-8"))[1]
        good(TOP / "contrib/package/copy-tree", root / "srv/kscaled")
        self.good(f"cd /srv/kscaled\ngit init -q\ngit add -A\ngit -c user.name=a -c user.email=a@example.com commit -qm source\n"
                  f"git config --global url./srv/kscaled.insteadOf {source}.git\n")

    @property
    def source(self):
        """Where README's first block has left them."""
        return self.root / "kscaled"

    @property
    def programs(self):
        """Where `make install` puts what people call; with a sudo for root."""
        return self.root / "usr/local/bin"

    def run(self, block, answer=""):
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-euc", INSIDE, self.root, CACHE, block]
        done = subprocess.run(command, input=answer, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        print(block, done.stdout[-3000:], done.stderr[-3000:])
        return done

    def good(self, block, **more):
        done = self.run(block, **more)
        assert done.returncode == 0, f"{block}{done.stdout[-5000:]}{done.stderr[-5000:]}"
        return done.stdout
