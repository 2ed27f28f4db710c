# SPDX-License-Identifier: Apache-2.0
"""
Runs kscaled in the Pods that the cluster makes for it, as a kubelet would: the image's root file system, read-only, as user 65532,
with what container.py says that it has, at an address of the Pod. kwok reports Pods as running and runs nothing;
this does what is missing for those of kscaled, and assigns Pods to the node, for which there is no scheduler.

All of it is in a network namespace of its own, where the control plane's loopback and the Pods' addresses are; and folders below
/var/lib that are written to there are nobody else's.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import urllib.parse

from container import Contents, assign
from control_plane import ControlPlane, TOP, run

class Machine:
    """A network, and a /var/lib, of its own. Root only."""

    def __init__(self):
        script = ("ip link set lo up && mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work && "
                  "mount -t overlay -o lowerdir=/var/lib,upperdir=/mnt/upper,workdir=/mnt/work none /var/lib && echo ready && exec sleep infinity")
        self.holder = subprocess.Popen(["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "ready\n", "no network and folders of our own: this needs root"

    def inside(self, *command, folder=TOP):
        return ["nsenter", "--target", str(self.holder.pid), "--net", "--mount", f"--wd={folder}", *map(str, command)]

    def end(self):
        self.holder.kill()
        self.holder.wait()


class Plane(ControlPlane):
    def __init__(self, machine, directory):
        super().__init__(directory)
        self.machine = machine

    def up(self, *more):
        run(*self.machine.inside(TOP / "tests/cluster/up", self.dir, "--apiserver-arg", "--runtime-config=policy/v1=true", "--hpa-sync-period", "1s", *more), timeout=600)
        self.read_env()

    def kubectl(self, *arguments, stdin=None, check=True):
        return run(*self.machine.inside(self.program, "--kubeconfig", self.kubeconfig, *arguments), stdin=stdin, check=check)

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)


class Kubelet:
    """root: of the image, a folder. Ends with `end`; what a container printed is in its folder."""

    def __init__(self, plane, root, folder):
        self.plane, self.root, self.folder = plane, root, pathlib.Path(folder)
        self.running = {}
        self.ended = {}  # uid -> exit status of those that ended by themselves
        self.stop = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        try:
            while not self.stop.wait(0.3):
                self.look()
        except Exception as failure:  # pylint: disable=broad-exception-caught  # told at the end, by whoever waits
            self.failure = failure

    def look(self):
        pods = {pod["metadata"]["uid"]: pod for pod in self.plane.get("pods", "--all-namespaces")["items"]}
        for pod in pods.values():
            if not pod["spec"].get("nodeName"):
                assign(self.plane, pod, check=False)  # it may be gone
        for uid in set(self.running) - set(pods):
            self.kill(uid)
        for uid, pod in pods.items():
            ours = pod["metadata"].get("labels", {}).get("app.kubernetes.io/part-of") == "kscaled"
            if ours and pod["status"].get("phase") == "Running" and uid not in self.running and uid not in self.ended and "deletionTimestamp" not in pod["metadata"]:
                self.start(pod)
        for uid, process in list(self.running.items()):
            if process.poll() is not None:
                self.ended[uid] = self.running.pop(uid).returncode

    def start(self, pod):
        meta, contents = pod["metadata"], Contents(self.plane, pod, self.folder / pod["metadata"]["uid"])
        # `inside` has a folder for the state, the only thing that can be written to.
        volumes = [word for place, folder, writable in contents.mounts() if not writable for word in ("--volume", f"{folder}:{place}")]
        address = f"10.244.0.{len(self.running) + len(self.ended) + 1}"
        run(*self.plane.machine.inside("ip", "address", "replace", f"{address}/32", "dev", "lo"))
        status = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
        contents.kubectl("patch", "pod", meta["name"], "--subresource=status", "--type=merge", "--patch", json.dumps(status))
        server = urllib.parse.urlparse(self.plane.env["KUBE_SERVER"])
        env = {**contents.environment(), "PATH": os.environ["PATH"], "KUBERNETES_SERVICE_HOST": server.hostname, "KUBERNETES_SERVICE_PORT": str(server.port)}
        command = [TOP / "tests/artefacts/inside", *volumes, self.root, *contents.container().get("args", [])]
        with open(contents.dir / "log", "wb") as log:
            self.running[meta["uid"]] = subprocess.Popen(self.plane.machine.inside(*command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)

    def kill(self, uid):
        process = self.running.pop(uid)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        finally:
            process.kill()

    def logs(self):
        return "".join(path.read_text(errors="replace")[-4000:] for path in self.folder.glob("*/log"))

    def end(self):
        self.stop.set()
        self.thread.join()
        for uid in list(self.running):
            self.kill(uid)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.failure:
            raise self.failure
