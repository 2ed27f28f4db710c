# SPDX-License-Identifier: Apache-2.0
"""Speaks Vault's API well enough to be told a secret, and keeps what it is shown."""
import json

from ..http_source import HttpSource


class ThievingVault(HttpSource):
    """Lets everybody in and has a value for every key, if it does not lead elsewhere: give lead_to, the beginning of an address."""

    VALUE = "from-the-thief"

    def __init__(self):
        self.lead_to = None
        super().__init__()

    def answer(self, asked):
        if self.lead_to:
            return (307, {"Location": self.lead_to + asked.target}, "")
        if asked.path.endswith("/login"):
            return self._says({"auth": {"client_token": "thief", "lease_duration": 3600, "renewable": False}})
        if asked.path.endswith("/lookup-self"):
            return self._says({"data": {"ttl": 3600, "renewable": False}})
        return self._says({"data": {"data": {"password": self.VALUE}}})

    @staticmethod
    def _says(answer):
        return (200, {}, json.dumps(answer))

    def tokens(self):
        """All that came as a token of Vault, or as one of a service account."""
        bodies = [json.loads(asked.body) for asked in list(self.asked) if asked.body]
        return {asked.headers["X-Vault-Token"] for asked in list(self.asked) if asked.headers.get("X-Vault-Token")} | {body["jwt"] for body in bodies if "jwt" in body}

    def has_seen(self, secret):
        return any(secret in asked.target or secret.encode() in asked.body or any(secret in value for value in asked.headers.values()) for asked in list(self.asked))
