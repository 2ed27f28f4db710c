# SPDX-License-Identifier: Apache-2.0
"""A control plane of tests/cluster, and the programs of tools/, for the tests of what is installed."""
import json
import os
import pathlib
import shlex
import subprocess
import threading
import time

import yaml

from rig.waiting import established

TOP = pathlib.Path(__file__).resolve().parents[2]
TOOLS = TOP / "tests" / "artefacts" / "tools" / "build"
KSCALED = os.environ.get("KSCALED", "")


def run(*command, stdin=None, check=True, timeout=600, env=None, cwd=None):
    done = subprocess.run([str(word) for word in command], input=stdin, text=True, capture_output=True, timeout=timeout, check=False, env={**os.environ, **(env or {})}, cwd=cwd)
    assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done


def tools():
    return pathlib.Path(run(TOOLS, timeout=1800).stdout.strip())


def manifests(*options):
    """What `kscaled manifests` prints, as texts."""
    assert os.access(KSCALED, os.X_OK), "the environment variable KSCALED must hold the path of the program"
    return run(KSCALED, "manifests", *options).stdout


def objects(text):
    """Documents by kind, namespace and name."""
    found = {}
    for one in yaml.safe_load_all(text):
        if one:
            key = (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"])
            assert key not in found, f"twice: {key}"
            found[key] = one
    return found


class Reminder:
    """
    The API server sometimes overlooks that a definition is to go, looks again after five minutes, and helm waits for it. A change of
    the definition makes it look at once.
    """

    def __init__(self, kubectl):
        self.kubectl = kubectl
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.remind, daemon=True)
        self.thread.start()

    def remind(self):
        before = set()
        while not self.ended.wait(5):
            found = self.kubectl("get", "customresourcedefinition", "-o", 'jsonpath={range .items[?(@.metadata.deletionTimestamp)]}{.metadata.name}{"\\n"}{end}', check=False)
            going = set(found.stdout.split())
            for name in going & before:  # seen twice
                self.kubectl("annotate", "--overwrite", "customresourcedefinition", name, f"kscaled.io/reminded={time.time():.0f}", check=False)
            before = going

    def end(self):
        self.ended.set()
        self.thread.join()


class ControlPlane:
    """With the API of policy, which the live tests do without, and the Prometheus operator's kinds."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.kubeconfig = self.dir / "kubeconfig"
        self.reminder = None

    def up(self, crds, *more):
        run(TOP / "tests/cluster/up", self.dir, "--apiserver-arg", "--runtime-config=policy/v1=true", *more, timeout=1800)
        self.read_env()
        self.kubectl("apply", "--server-side", "-f", crds)
        established(self.kubectl, "customresourcedefinition", "--all")
        self.reminder = Reminder(self.kubectl)

    def read_env(self):
        self.env = dict(shlex.split(line)[0].split("=", 1) for line in (self.dir / "env").read_text().splitlines())
        self.program = shlex.split(self.env["KUBECTL"])[0]

    def down(self):
        if self.reminder:
            self.reminder.end()
        run(TOP / "tests/cluster/down", self.dir)

    def kubectl(self, *arguments, stdin=None, check=True):
        return run(self.program, "--kubeconfig", self.kubeconfig, *arguments, stdin=stdin, check=check)

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)

    def accepts(self, text):
        """Each object as it stands: no field that the API server does not know, none of a wrong type or value."""
        return self.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)

    def left(self):
        """What is there of kscaled: kinds and names."""
        kinds = self.kubectl("api-resources", "--verbs=list,delete", "-o", "name", check=False).stdout.split()
        wanted = [kind for kind in kinds if not kind.startswith(("events", "leases"))]
        return self.kubectl("get", ",".join(wanted), "-A", "-l", "app.kubernetes.io/part-of=kscaled", "-o", "name").stdout.split()
