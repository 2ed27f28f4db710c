# SPDX-License-Identifier: Apache-2.0
"""A cluster of one node that runs its Pods (node/up), where a whole Kubernetes is needed. Root only."""
import json
import pathlib

from control_plane import TOP, ControlPlane, Reminder, run
from rig.process import warden

NODE = TOP / "tests/artefacts/node"
RUNNING, LEAVING = "scaling", "leaving"  # namespaces of releases
ACCOUNTS = [f"{RUNNING}:kscaled", f"{LEAVING}:kscaled-leave"]
RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"


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

    def unload(self, name):
        """All that is known by this name; a container that runs goes on."""
        run(*self.inside("ctr", "--namespace", "k8s.io", "images", "rm", *(one for one in self.images() if name in one)))

    def told(self):
        """For who looks why something failed: what is there, and what its Pods said."""
        kinds = self.kubectl("get", "pods,deployments,jobs,apiservices,events", "-A", "-o", "wide", check=False).stdout[-20000:]
        pods = self.kubectl("get", "pods", "-A", "-o", 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}', check=False).stdout
        logs = [self.kubectl("logs", "-n", *line.split(), "--tail=40", check=False).stdout for line in pods.splitlines()]
        return kinds + "\n".join(logs)


class Watched(Node):
    """Which notes what kscaled's accounts ask of the API server, and has kscaled's image."""

    def __init__(self, directory, image):
        super().__init__(directory)
        self.image = image
        self.audit = self.dir.with_name(f"{self.dir.name}.audit")

    def up(self):
        policy = self.dir.with_name(f"{self.dir.name}.policy")
        rules = [{"level": "Metadata", "users": [f"system:serviceaccount:{one}" for one in ACCOUNTS]}, {"level": "None"}]
        policy.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}))
        arguments = [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit}"]
        super().up("--hpa-sync-period", "1s", "--hpa-downscale-stabilization", "1s", *(word for one in arguments for word in ("--apiserver-arg", one)))
        self.load(self.image)
        self.reminder = Reminder(self.kubectl)

    def down(self):
        if self.reminder:
            self.reminder.end()
        super().down()

    def asked(self, account):
        """What it asked of the API server, in order."""
        lines = self.audit.read_text().splitlines() if self.audit.exists() else []
        return [event for event in map(json.loads, lines) if event["user"]["username"] == f"system:serviceaccount:{account}"]


def refused(events):
    return [event["requestURI"] for event in events if event["annotations"]["authorization.k8s.io/decision"] != "allow"]
