# SPDX-License-Identifier: Apache-2.0
"""A process under callgrind: its counters between two moments, and when it has nothing to do."""
import glob
import hashlib
import re
import subprocess
import time

OBJECT = re.compile(r"(c?ob)=\((\d+)\)(?: (.*))?")
QUIET_S, QUIET_CPU_NS = 0.35, 1_000_000  # longer than a status waits for the tick that may have more to say


def command(folder):
    return ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/callgrind", "-q"]


def counts_of(path, binary):
    """What a dump says: instructions in all, those in the binary itself, and calls of the binary's own functions."""
    total = own = entries = 0
    names = {}
    in_own = callee_own = skip = False
    with open(path, errors="replace") as file:
        for line in file:
            first = line[0]
            if first.isdigit() or first in "+-*":
                if skip:  # what a call cost, already counted where it was spent
                    skip = False
                    continue
                cost = int(line.split()[1])
                total += cost
                own += cost if in_own else 0
            elif line.startswith("calls="):
                entries += int(line[6:].split()[0]) if callee_own else 0
                skip, callee_own = True, in_own
            elif line.startswith(("ob=", "cob=")):
                kind, number, name = OBJECT.match(line.rstrip("\n")).groups()
                names.setdefault(number, name)
                callee_own = names[number] == binary
                in_own = callee_own if kind == "ob" else in_own
    if not total:
        raise RuntimeError(f"{path}: nothing was counted")
    return {"total": total, "own": own, "entries": entries}


class Callgrind:
    def __init__(self, process, folder):
        self.process, self.folder = process, folder
        self.dumps = 0

    def tell(self, *words):
        done = subprocess.run(["vgdb", f"--pid={self.process.pid}", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise RuntimeError(f"vgdb {' '.join(words)}: {done.stdout.decode()}")

    def zero(self):
        self.tell("zero")

    def dump(self):
        """Counters into a file, whose name is returned, and from zero again."""
        self.dumps += 1
        self.tell("dump")
        return f"{self.folder}/callgrind.{self.dumps}"

    def cpu_ns(self):
        total = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path) as file:
                total += int(file.read().split()[0])
        return total

    def settle(self, timeout=300):
        """Until it has had next to nothing to do for a while: all that was asked of it is done."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            before = self.cpu_ns()
            time.sleep(QUIET_S)
            if self.cpu_ns() - before < QUIET_CPU_NS:
                return
        raise RuntimeError(f"kscaled did not come to rest in {timeout} s")


def compiler(binary):
    """As the compiler wrote it into the binary."""
    text = subprocess.run(["readelf", "-p", ".comment", binary], check=True, stdout=subprocess.PIPE).stdout.decode()
    return "; ".join(sorted(set(re.findall(r"\] +(.*)", text))))


def libraries(binary):
    """A digest of all that the binary is linked with."""
    text = subprocess.run(["ldd", binary], check=True, stdout=subprocess.PIPE).stdout.decode()
    digest = hashlib.sha256()
    for path in sorted(re.findall(r"(/\S+) \(0x", text)):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]
