# SPDX-License-Identifier: Apache-2.0
"""A fake, beside rig/google_fake.py, whose tokens it takes: secretmanager.googleapis.com. It serves projects.secrets.versions.access as Google documents it, refuses what differs, and answers each error as Google does."""
import base64
import re

from .google_fake import CLOUD_PLATFORM, Google, refusal, said

SECRETS = "secretmanager.googleapis.com"


def checksum(data):
    """CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class GoogleSecrets(Google):
    """secrets: {(project, id): {version: bytes}}, the last of which is the latest; aliases: {(project, id, alias): version}; states: {(project, id, version): "DISABLED" or "DESTROYED"}; corrupted: versions, as they are asked for, that are broken on their way. Accounts may access what is in the projects of their roles."""

    names = (*Google.names, SECRETS)
    scope = CLOUD_PLATFORM

    def __init__(self, directory):
        self.secrets, self.aliases, self.states = {}, {}, {}
        self.corrupted, self.broken = set(), None
        super().__init__(directory)

    def read(self):
        """The paths that were asked for."""
        return [asked.target for asked in list(self.asked) if asked.headers.get("Host") == SECRETS]

    def answer(self, asked):
        if asked.headers.get("Host") != SECRETS:
            return super().answer(asked)
        if self.broken:
            return self.broken(asked) if callable(self.broken) else self.broken
        path = re.fullmatch(r"/v1/projects/([a-z0-9-]+)/secrets/([A-Za-z0-9_-]+)/versions/([A-Za-z0-9_-]+):access", asked.target)
        if asked.method != "GET" or not path or asked.body:
            return self.differs(f"{asked.method} https://{SECRETS}{asked.target}")
        account, scope = self.given.get(asked.bearer, (None, None))
        if not account or asked.bearer in self.revoked:
            return refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.")
        if scope != CLOUD_PLATFORM:
            return refusal(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.")
        return self.access(account, *path.groups())

    def access(self, account, project, name, version):
        whole = f"projects/{project}/secrets/{name}/versions/{version}"
        if project not in account.roles:
            return refusal(403, "PERMISSION_DENIED", f"Permission 'secretmanager.versions.access' denied for resource '{whole}' (or it may not exist).")
        versions = self.secrets.get((project, name))
        if not versions:
            return refusal(404, "NOT_FOUND", f"Secret [projects/1/secrets/{name}] not found or has no versions.")
        number = list(versions)[-1] if version == "latest" else self.aliases.get((project, name, version), version)
        if number not in versions:
            return refusal(404, "NOT_FOUND", f"Secret Version [{whole}] not found.")
        state = self.states.get((project, name, number))
        if state:
            return refusal(400, "FAILED_PRECONDITION", f"Secret Version [{whole}] is in {state} state.")
        data = versions[number]
        return said({"name": f"projects/1/secrets/{name}/versions/{number}", "payload": {"data": base64.b64encode(data).decode(), "dataCrc32c": str(checksum(data) ^ (version in self.corrupted))}})
