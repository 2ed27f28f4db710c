# SPDX-License-Identifier: Apache-2.0
"""Plays scheduler, kubelet and container runtime for one Pod, of which kwok runs no program. Each step is the test's: pods.py does it for all.

What the Pod's only container is told is what KSCALED gets: its arguments, its variables, its volumes at their places, a token of its
account; nothing else can be written to, user and group are 65532. It has a network of its own with nothing in it but the API server,
at kubernetes.default.svc:443. Needs no root: it is all done in namespaces (as tests/artefacts/inside).
"""
import array
import fcntl
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import threading
import urllib.parse

if __name__ != "__main__":
    from control_plane import KSCALED, run

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def assign(plane, pod, check=True):
    """To the one node, as the scheduler does."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": "node-0"}}
    return plane.kubectl("create", "--raw", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", "-f", "-", stdin=json.dumps(binding), check=check)


class Contents:
    """What a Pod's only container has, as its object says it."""

    def __init__(self, plane, pod, directory):
        self.plane, self.object = plane, pod
        self.name, self.namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        self.dir = pathlib.Path(directory)
        self.dir.mkdir(parents=True)

    def kubectl(self, *arguments, **more):
        return self.plane.kubectl("--namespace", self.namespace, *arguments, **more)

    def token(self, **asked):
        bound = {"bound-object-kind": "Pod", "bound-object-name": self.name, "bound-object-uid": self.object["metadata"]["uid"]}
        options = [f"--{name}={value}" for name, value in {**bound, **asked}.items() if value]
        return self.kubectl("create", "token", self.object["spec"].get("serviceAccountName", "default"), *options).stdout.strip()

    def volume(self, volume):
        """Its files, by name."""
        if "emptyDir" in volume:
            return {}
        if "configMap" in volume:
            return json.loads(self.kubectl("get", "configmap", volume["configMap"]["name"], "-o", "json").stdout)["data"]
        tokens = [source["serviceAccountToken"] for source in volume["projected"]["sources"]]
        return {one["path"]: self.token(audience=one.get("audience"), duration=f"{one['expirationSeconds']}s") for one in tokens}

    def mounts(self):
        """Places in the container, and the folders that stand there."""
        volumes = {one["name"]: one for one in self.object["spec"].get("volumes", [])}
        mounts = [(one["mountPath"], self.volume(volumes[one["name"]]), not one.get("readOnly")) for one in self.container().get("volumeMounts", [])]
        # By the admission plugin ServiceAccount, which the test control plane has not.
        mounts.append((ACCOUNT, {"token": self.token(), "ca.crt": (self.plane.dir / "pki/ca.crt").read_text(), "namespace": self.namespace}, False))
        for number, (place, files, writable) in enumerate(mounts):
            folder = self.dir / f"volume-{number}"
            folder.mkdir()
            for name, text in files.items():
                (folder / name).write_text(text)
            yield place, str(folder), writable

    def environment(self):
        own = {"metadata.name": self.name, "metadata.namespace": self.namespace}
        env = {one["name"]: one["value"] if "value" in one else own[one["valueFrom"]["fieldRef"]["fieldPath"]] for one in self.container().get("env", [])}
        return {"PATH": "/usr/bin:/bin", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "443", **env}

    def container(self):
        (container,) = self.object["spec"]["containers"]
        return container


class Pod(Contents):
    """One that waits for a node."""

    def __init__(self, plane, name, namespace, directory):
        get = lambda: json.loads(plane.kubectl("--namespace", namespace, "get", "pod", name, "-o", "json").stdout)
        super().__init__(plane, get(), directory)
        self.process = None
        self.taken_on()
        self.object = get()

    def taken_on(self):
        """It gets its node, where kwok makes it Running, and leaves its end to us."""
        self.kubectl("annotate", "pod", self.name, "test.kscaled.io/outcome=none")
        assign(self.plane, self.object)
        self.kubectl("wait", "--for=jsonpath={.status.phase}=Running", f"pod/{self.name}", "--timeout=60s")

    def start(self):
        ours, theirs = socket.socketpair()
        stage = self.dir / "root"
        stage.mkdir()
        told = {"stage": str(stage), "program": os.path.abspath(KSCALED), "mounts": list(self.mounts()), "env": self.environment(), "args": self.container()["args"], "socket": theirs.fileno()}
        self.log = open(self.dir / "log", "wb")
        self.process = subprocess.Popen(["unshare", "--user", "--map-root-user", "--mount", "--net", "--propagation", "private", "--", sys.executable, __file__, json.dumps(told)],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, pass_fds=[theirs.fileno()])
        theirs.close()
        _, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
        assert ancillary, self.said()
        self.listener = socket.socket(fileno=array.array("i", ancillary[0][2])[0])
        threading.Thread(target=self.forward, daemon=True).start()
        ours.close()
        return self

    def forward(self):
        """From the container's network to the API server: the socket was made there, and is read from here."""
        server = urllib.parse.urlparse(self.plane.env["KUBE_SERVER"])
        while True:
            try:
                inner, _ = self.listener.accept()
            except OSError:
                return
            outer = socket.create_connection((server.hostname, server.port))
            for from_, to in ((inner, outer), (outer, inner)):
                threading.Thread(target=pump, args=(from_, to), daemon=True).start()

    def said(self):
        return (self.dir / "log").read_text()

    def stop(self):
        """TERM, and its end; nothing where it has ended."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
        return self.wait()

    def wait(self, timeout=180):
        code = self.process.wait(timeout)
        self.listener.close()
        self.log.close()
        return code

    def end(self):
        """Waits for the program, and the Pod ends as that did. Returns the exit status."""
        code = self.wait()
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [{
            "name": self.container()["name"], "image": self.container()["image"], "imageID": "", "ready": False, "restartCount": 0, "state": {"terminated": {"exitCode": code}}}]}
        self.kubectl("patch", "pod", self.name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
        return code


def pump(from_, to):
    try:
        while data := from_.recv(65536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


# ---- Inside of the namespaces ----

def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        SIOCSIFFLAGS, IFF_UP = 0x8914, 1
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def hand_over_listener(channel):
    listener = socket.create_server(("127.0.0.1", 443))
    with socket.socket(fileno=channel) as sender:
        sender.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener.fileno()]))])
    listener.close()


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def furnish(stage, program, mounts):
    """The host's libraries, the program, the volumes, and nothing else."""
    mount("-t", "tmpfs", "-o", "mode=755", "none", stage)
    for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr", "proc", "dev"):
        host, place = pathlib.Path("/", name), stage / name
        if host.is_symlink():
            place.symlink_to(os.readlink(host))
        elif host.exists():
            place.mkdir()
            mount("--rbind", host, place)
    (stage / "etc").mkdir()
    (stage / "etc/hosts").write_text("127.0.0.1 localhost kubernetes.default.svc\n")
    for name in ("ld.so.cache", "nsswitch.conf"):
        shutil.copy(f"/etc/{name}", stage / "etc")
    (stage / "kscaled").touch()
    mount("--bind", program, stage / "kscaled")
    for place, folder, writable in mounts:
        shutil.copytree(folder, stage / place[1:])
        if writable:
            mount("-t", "tmpfs", "none", stage / place[1:])
    mount("-o", "remount,bind,ro", stage)


def main(told):
    bring_up_loopback()
    furnish(pathlib.Path(told["stage"]), told["program"], told["mounts"])
    hand_over_listener(told["socket"])
    command = ["unshare", "--user", "--map-user=65532", "--map-group=65532", f"--root={told['stage']}", "--wd=/", "--", "/kscaled", *told["args"]]
    os.execvpe(command[0], command, told["env"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
