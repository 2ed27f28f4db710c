# SPDX-License-Identifier: Apache-2.0
"""A real Vault (tests/vault) on a loopback port, all in memory, and its HTTP API."""
import json
import pathlib
import re
import subprocess

import urllib3

from .process import OneProcess, Process
from .waiting import eventually

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "vault"


class VaultServer(OneProcess):
    """Mounted are secret (key-value 2), kv (key-value 1), leased (key-value 1 with leases) and pki; who may log in how is for the test to say."""

    ROOT = "root-of-the-tests"

    def __init__(self, directory, name, tls=None):
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        subprocess.run([SCRIPTS / "build"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=1200)  # the first time takes minutes
        secure = ["-cert", tls.cert, "-key", tls.key] if tls else []
        self.process = Process(name, [str(SCRIPTS / "run"), "-root-token", self.ROOT, "-unseal-key-file", str(self.dir / "unseal"), *secure], str(self.dir / "log"))
        self.address = eventually(lambda: re.search(r"^https?://\S+$", self.process.log(), re.M), timeout=90).group()
        self.pool = urllib3.PoolManager(retries=False, timeout=10.0, cert_reqs="CERT_NONE")
        for mount, body in {"secret": {"type": "kv", "options": {"version": "2"}}, "kv": {"type": "kv"}, "leased": {"type": "leased"}, "pki": {"type": "pki"}}.items():
            self.write(f"sys/mounts/{mount}", body)
        # The upgrade of a new mount of version 2 takes a moment.
        eventually(lambda: self.write("secret/data/probe", {"data": {"x": "y"}}) or True)
        self.write("sys/policies/acl/reader", {"policy": 'path "secret/*" { capabilities = ["read"] }\npath "kv/*" { capabilities = ["read"] }\npath "leased/*" { capabilities = ["read"] }'})

    def request(self, method, path, body=None, token=None):
        answer = self.pool.request(method, f"{self.address}/v1/{path}", body=None if body is None else json.dumps(body), headers={"X-Vault-Token": token or self.ROOT})
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.data.decode()}"
        return json.loads(answer.data) if answer.data else {}

    def write(self, path, body):
        return self.request("POST", path, body)

    def kv2(self, path, **values):
        self.write(f"secret/data/{path}", {"data": values})

    def token(self, **spec):
        """A token that may read what is in the key-value engines."""
        return self.write("auth/token/create", {"policies": ["reader"], "no_default_policy": False, **spec})["auth"]["client_token"]

    def log_in_by_kubernetes(self, cluster, reviewer):
        """reviewer: a token of somebody who may review tokens."""
        self.write("sys/auth/kubernetes", {"type": "kubernetes"})
        with open(cluster.pki("ca.crt"), encoding="utf-8") as file:
            self.write("auth/kubernetes/config", {"kubernetes_host": cluster.server, "kubernetes_ca_cert": file.read(), "token_reviewer_jwt": reviewer, "disable_local_ca_jwt": True})

    def role(self, name, account, namespace, **spec):
        self.write(f"auth/kubernetes/role/{name}", {"bound_service_account_names": [account], "bound_service_account_namespaces": [namespace], "token_policies": ["reader"], **spec})

    def seal(self):
        self.request("PUT", "sys/seal")

    def unseal(self):
        self.request("PUT", "sys/unseal", {"key": (self.dir / "unseal").read_text().strip()})
