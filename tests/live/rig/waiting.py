# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions. Tests never sleep and then assert: they look until a deadline."""
import resource
import time

import redis
import urllib3
from kubernetes.client.exceptions import ApiException

# What a look may fail with while the thing looked at is not there yet.
NOT_YET = (AssertionError, LookupError, ApiException, OSError, urllib3.exceptions.HTTPError, redis.RedisError)

TIMEOUT = 30.0  # generous: the machine may be busy; what must be fast is measured and asserted by itself

# Kubernetes may forget a CustomResourceDefinition that is being deleted, until it looks at all of them again every five minutes: an
# attempt that failed (its storage was just being made) is repeated with an old copy, and the conflict is taken for a change that it
# will be told of (kube-apiserver's crd_finalizer.go).
DEFINITIONS_GONE = 400


def eventually(check, timeout=TIMEOUT, every=0.1):
    """Looks until check() gives something true, and returns that. A failing assertion inside check() is "not yet"."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            value = check()
            if value:
                return value
            last = f"the last look gave {value!r}"
        except NOT_YET as error:
            last = f"{type(error).__name__}: {error}"
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s; {last}")
        time.sleep(every)


def established(kubectl, *definitions):
    """Waits for CustomResourceDefinitions; kubectl itself fails at one that has no conditions yet, as just after its creation."""
    eventually(lambda: kubectl("wait", "--for=condition=Established", *definitions, "--timeout=60s"), timeout=60)


def throughout(check, until, timeout=TIMEOUT, every=0.05):
    """check() must hold (assert inside it, or return something true) at every look until until() is true."""
    deadline = time.monotonic() + timeout
    while True:
        value = check()
        assert value is None or value, f"it did not last: {value!r}"
        if until():
            return
        assert time.monotonic() < deadline, f"the end of what was to be watched did not come within {timeout} s"
        time.sleep(every)


def after(seconds):
    """An `until` for throughout: true when so much time has gone by."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def timed(check, timeout=TIMEOUT, every=0.02):
    """How many seconds it took until check() was true."""
    start = time.monotonic()
    eventually(check, timeout, every)
    return time.monotonic() - start


def children_cpu():
    """Processor time of all programs that were run and have ended: how long they took, whatever else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
