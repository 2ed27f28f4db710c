# SPDX-License-Identifier: Apache-2.0
"""`kscaled doctor`, and who does what it says."""
import json
import os
import re
import subprocess

from .daemon import program, run
from .waiting import eventually

HOPS = ["kubeconfig", "credentials", "api-server", "clock", "release", "pods", "rights", "crds", "service", "endpoints", "apiservice", "routing", "ca-bundle", "request-header",
        "available", "metric", "webhook", "webhook-reached", "lease", "keda", "hpas", "objects", "certificates", "sources"]


class Visit:
    """What kscaled doctor said once."""

    def __init__(self, *arguments):
        done = run("doctor", "-o", "json", *map(str, arguments))
        assert done.stderr == "", done.stderr
        self.code = done.returncode
        self.all = json.loads(done.stdout)
        if [one["hop"] for one in self.all] == ["release"]:
            return  # nothing is installed
        assert list(dict.fromkeys(one["hop"] for one in self.all)) == HOPS, self.all  # each once, in order

    def of(self, hop):
        return [one for one in self.all if one["hop"] == hop]

    def status(self, hop):
        return max((one["status"] for one in self.of(hop)), key=["ok", "skipped", "warning", "error"].index)

    def bad(self):
        return {one["hop"]: one for one in reversed(self.all) if one["status"] in ("warning", "error")}

    def only(self, hop, status="error"):
        """The finding of the one hop that is wrong."""
        assert set(self.bad()) == {hop}, self.bad()
        assert self.status(hop) == status, self.of(hop)
        assert self.code == (1 if status == "error" else 0), self.code
        return self.bad()[hop]

    def first(self):
        """What is wrong first, of which the others may be consequences."""
        return next(one for one in self.all if one["status"] in ("warning", "error"))

    def fine(self):
        assert not self.bad() and self.code == 0, self.bad()
        return True


def spoken(mend):
    """The commands and options in a sentence."""
    return re.findall("`([^`]+)`", mend)


class Desk:
    """An administrator's, with the programs that are told to be run."""

    def __init__(self, cluster, directory):
        self.cluster = cluster
        self.bin = directory / "bin"
        self.bin.mkdir()
        (self.bin / "kubectl").symlink_to(self.cluster.kubectl_program)
        (self.bin / "kscaled").symlink_to(program())
        (self.bin / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
        (self.bin / "sudo").chmod(0o755)

    def do(self, command, code=0):
        """As it stands, in a shell of the administrator."""
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "KUBECONFIG": str(self.cluster.kubeconfig)}
        done = subprocess.run(["bash", "-euc", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=180, check=False)
        assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if code else "")


class Practice(Desk):
    """Sends the doctor to a kscaled on a host, and does what he says."""

    def __init__(self, installation, directory):
        super().__init__(installation.cluster, directory)
        self.installation = installation
        self.host = f"localhost:{installation.port}"

    def visit(self, *arguments, kubeconfig=None, host=None):
        return Visit("--kubeconfig", kubeconfig or self.cluster.kubeconfig, "--host", host or self.host, *arguments)

    def mended(self, finding):
        self.do(finding["mend"])
        eventually(lambda: self.visit().fine())
