# SPDX-License-Identifier: Apache-2.0
"""A cluster of one node that runs its Pods (node/up), where a whole Kubernetes is needed. Root only."""
import pathlib

from control_plane import TOP, ControlPlane, run
from rig.process import warden

NODE = TOP / "tests/artefacts/node"


class Node(ControlPlane):
    """All commands run on the node: its network is its own, and what it writes below /var/lib."""

    def up(self, *options):
        run(NODE / "up", self.dir, *options, timeout=1800)
        self.read_env()
        warden.process(int(self.env["NODE_PROCESS"]))

    def down(self):
        run(NODE / "down", self.dir)

    def inside(self, *command):
        return [NODE / "in", self.dir, *command]

    def network(self):
        """Words before a command that is to run beside the node."""
        return ["nsenter", "--target", self.env["NODE_PROCESS"], "--net"]

    def kubectl(self, *arguments, stdin=None, check=True):
        return run(*self.inside(self.program, *arguments), stdin=stdin, check=check)

    def load(self, archive):
        """An image, as an administrator does it by hand."""
        run(*self.inside("ctr", "--namespace", "k8s.io", "images", "import", pathlib.Path(archive).resolve()))

    def images(self):
        return run(*self.inside("ctr", "--namespace", "k8s.io", "images", "ls", "-q")).stdout.split()

    def told(self):
        """For who looks why something failed: what is there, and what its Pods said."""
        kinds = self.kubectl("get", "pods,deployments,jobs,apiservices,events", "-A", "-o", "wide", check=False).stdout[-20000:]
        pods = self.kubectl("get", "pods", "-A", "-o", 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}', check=False).stdout
        logs = [self.kubectl("logs", "-n", *line.split(), "--tail=40", check=False).stdout for line in pods.splitlines()]
        return kinds + "\n".join(logs)
