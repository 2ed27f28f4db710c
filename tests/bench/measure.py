# SPDX-License-Identifier: Apache-2.0
"""What the sections of the benchmark measure with."""
import time


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def eventually(what, condition, timeout, step=0.1):
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise RuntimeError(f"in {timeout} s there was no {what}")
        time.sleep(step)
