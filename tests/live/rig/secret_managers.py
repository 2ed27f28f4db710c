# SPDX-License-Identifier: Apache-2.0
"""What the tests of all secret managers need."""
from .waiting import eventually

READ_AGAIN = 60  # seconds between two readings of a value that nobody refuses
SOON = {"metered_interval": "1s"}  # between two of one that its source refuses


def message_of(stage, name, *words, timeout=30):
    """What Ready says, once all of that is in it."""
    def told():
        message = stage.condition("Ready", name).get("message", "")
        assert stage.condition("Ready", name).get("status") == "False" and all(word in message for word in words), message
        return message
    return eventually(told, timeout=timeout)


def from_key(name, key):
    return {"valueFrom": {"secretKeyRef": {"name": name, "key": key}}}


def secret(name, parameter="password", **more):
    """One of the list of a manager of AWS' or Azure's."""
    return {"parameter": parameter, "name": name, **more}
