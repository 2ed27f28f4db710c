# SPDX-License-Identifier: Apache-2.0
"""A fake: Entra ID's token endpoint, which there is nothing to run for. It takes what Microsoft documents of client credentials with a federated token, a secret or a certificate, refuses what differs as Entra ID does, and hands out tokens that nobody signed, unless it has a key."""
import base64
import hashlib
import json
import pathlib
import subprocess
import tempfile
import time

from . import pki
from .http_source import HttpSource

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def _part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


class EntraServer(HttpSource):
    """clients: id -> the federated token that it must show, or its secret; certificates: id -> the file of that by which it must have signed."""

    def __init__(self, tls=None, tenant="tenant", clients=None):
        self.tenant, self.clients, self.certificates = tenant, clients or {}, {}
        self.given, self.tokens = [], []    # (client, scope), and the token of each
        self.life = 3600
        self.words = None                   # handed out in the place of tokens
        self.key, self.claims = None, {}    # the file of a private key that signs them; what they say besides
        super().__init__(tls=tls)

    def answer(self, asked):
        form = asked.form
        client, scope = form.get("client_id"), form.get("scope", "")
        proof = form.get("client_assertion") if form.get("client_assertion_type") == ASSERTION else form.get("client_secret")
        if asked.method != "POST" or asked.path != f"/{self.tenant}/oauth2/v2.0/token":
            return self.refusal(400, "invalid_request", "AADSTS90002: Tenant not found.")
        if form.get("grant_type") != "client_credentials" or not scope.endswith("/.default"):
            return self.refusal(400, "invalid_scope", "AADSTS70011: The provided value for the input parameter 'scope' is not valid.")
        if client in self.certificates and proof == form.get("client_assertion") and self.signed(proof, client, asked):
            proof = self.clients[client]
        if client not in self.clients:
            return self.refusal(400, "unauthorized_client", "AADSTS700016: Application was not found in the directory.")
        if proof != self.clients[client]:
            return self.refusal(401, "invalid_client", "AADSTS700024: Client assertion is not within its valid time range.")
        self.given.append((client, scope))
        self.tokens.append(self.token(client, scope))
        return (200, {}, json.dumps({"token_type": "Bearer", "expires_in": self.life, "access_token": self.tokens[-1]}))

    def signed(self, assertion, client, asked):
        """Whether it is what Microsoft's "certificate credentials" says, of this moment and of the client's certificate."""
        text, _, signature = assertion.rpartition(".")
        head, claims, signature = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (*text.split("."), signature))
        head, claims, now = json.loads(head), json.loads(claims), time.time()
        der = pki.openssl("x509", "-in", self.certificates[client], "-outform", "DER")
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("key", "signature")]
            files[0].write_bytes(pki.openssl("x509", "-in", self.certificates[client], "-noout", "-pubkey"))
            files[1].write_bytes(signature)
            verified = subprocess.run(["openssl", "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest", "-verify", files[0], "-signature", files[1]],
                                      input=text.encode(), capture_output=True, check=False).returncode == 0
        return (verified and head == {"alg": "PS256", "typ": "JWT", "x5t#S256": base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()}
                and claims["aud"] == self.url + asked.path and claims["iss"] == claims["sub"] == client and claims["nbf"] <= now < claims["exp"] <= claims["nbf"] + 600 and claims["jti"])

    def token(self, client, scope):
        if self.words:
            return self.words
        now = int(time.time())
        said = {"aud": scope.removesuffix("/.default"), "iss": f"https://sts.windows.net/{self.tenant}/", "iat": now, "nbf": now - 60, "exp": now + self.life, "appid": client, "jti": str(len(self.given)), **self.claims}
        text = f"{_part({'alg': 'RS256', 'typ': 'JWT'})}.{_part(said)}"
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=text.encode(), capture_output=True, check=True).stdout if self.key else b"nobody"
        return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"

    def workload(self, directory, authority, client="kscaled", **options):
        """What a kscaled is launched with to which Azure's workload identity has given the token of this client: environment, and options; authority: who signed this server."""
        directory = pathlib.Path(directory)
        (directory / "authorities").mkdir()
        (directory / "authorities" / "ca.crt").write_bytes(pathlib.Path(authority.cert).read_bytes())
        (directory / "token").write_text(self.clients[client] + "\n")
        return {"env": {"AZURE_CLIENT_ID": client, "AZURE_TENANT_ID": self.tenant, "AZURE_FEDERATED_TOKEN_FILE": str(directory / "token"), "AZURE_AUTHORITY_HOST": self.url + "/"},
                "options": {"ca_dir": str(directory / "authorities"), **options}}

    @staticmethod
    def refusal(status, error, words):
        return (status, {}, json.dumps({"error": error, "error_description": f"{words} Trace ID: 1 Correlation ID: 2 Timestamp: 2026-11-26 18:00:00Z"}))
