# SPDX-License-Identifier: Apache-2.0
"""A node as far as it takes images: a containerd of its own. Root only."""
import os

from debpackage import good
from rig.process import Process
from rig.waiting import eventually

GROUP = f"kscaled-artefacts-{os.getpid()}"


class Node:
    """A containerd. Its mounts, and those of its containers, are in a namespace of its own, with /run, where shims and runc keep what they know."""

    def __init__(self, folder):
        self.folder = folder
        config = folder / "config.toml"
        config.write_text(f"""version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "{folder}/socket"
[ttrpc]
  address = "{folder}/ttrpc"
""", encoding="utf-8")
        script = 'mount -t tmpfs none /run && exec containerd --config "$0"'
        self.process = Process("containerd", ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", script, config], folder / "log")
        eventually(lambda: self.good("version"))

    def inside(self, *command):
        return ["nsenter", "--target", str(self.process.pid), "--mount", "--", "env", f"CONTAINERD_ADDRESS={self.folder}/socket", *(str(word) for word in command)]

    def words(self, *arguments):
        return self.inside("ctr", "--namespace", "k8s.io", *arguments)

    def good(self, *arguments):
        return good(*self.words(*arguments))

    def run_words(self, name, image, *command, options=()):
        """A control group for it alone: of ctr's own the one above would stay."""
        return self.words("run", "--rm", "--read-only", "--cgroup", f"/{GROUP}", *options, image, name, *command)

    def end(self):
        assert self.process.stop() == 0, self.process.tail()
