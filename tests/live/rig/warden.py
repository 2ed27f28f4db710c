# SPDX-License-Identifier: Apache-2.0
"""
Runs beside pytest and reads what it started, a line each. At the end of the input pytest is gone, and what still runs
is ended. After an orderly end that is nothing.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys

DOWN = pathlib.Path(__file__).resolve().parents[2] / "cluster" / "down"


def end_process(pid, started):
    """With all of its session. The kernel's start time tells it from another that has got its number."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        if file.read().rpartition(")")[2].split()[19] == started:
            os.killpg(int(pid), signal.SIGKILL)


def main():
    lines = [line.split() for line in sys.stdin]
    for kind, *words in reversed(lines):
        if kind == "process":
            end_process(*words)
        elif os.path.isdir(f"{words[0]}/run"):
            subprocess.run([DOWN, words[0]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    main()
