# SPDX-License-Identifier: Apache-2.0
"""The Debian package's name, and programs that are run, for the tests of it."""
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"AC_INIT\(\[kscaled\], \[([^]]+)\]", (TOP / "configure.ac").read_text(encoding="utf-8"))[1]
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
NAME = f"kscaled_{VERSION}_{ARCHITECTURE}.deb"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)


def good(*command, **more):
    done = run(*command, **more)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout
