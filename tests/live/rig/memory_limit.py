# SPDX-License-Identifier: Apache-2.0
"""A control group that a process is started in, so that the kernel holds it to so much memory, as that of a Pod. Needs root and a group that can be made."""
import os
import pathlib
import uuid

ROOT = pathlib.Path("/sys/fs/cgroup")
BUDGET_MIB = 96     # of a kscaled beside hostile tenants


class MemoryLimit:
    def __init__(self, mib):
        self.unified = (ROOT / "cgroup.controllers").exists()
        self.folder = (ROOT if self.unified else ROOT / "memory") / f"kscaled-test-{uuid.uuid4().hex[:8]}"
        self.made = False
        try:
            self.folder.mkdir()
            self.made = True
            (self.folder / ("memory.max" if self.unified else "memory.limit_in_bytes")).write_text(str(mib << 20))
        except OSError as error:
            self.end()
            self.why_not = str(error)

    def under(self):
        """The words before a command that start it in the group; it keeps its pid. None where there is no group."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.folder / "cgroup.procs")] if self.made else []

    def peak_mib(self):
        """Of all that the kernel counts: pages of files and buffers of sockets, too, which it takes back before it ends anybody."""
        return int((self.folder / ("memory.peak" if self.unified else "memory.max_usage_in_bytes")).read_text()) / 2**20 if self.made else None

    def end(self):
        """When the process is over."""
        if self.made:
            os.rmdir(self.folder)
            self.made = False
