# SPDX-License-Identifier: Apache-2.0
"""
A fake: there is no Azure to run here. One HTTPS server plays Entra ID and Key Vault under their own names, which kscaled reaches by a proxy of its environment (rig/google_fake.py, Tunnels) and trusts by an authority of the test's; under others it is a
private cloud. What is served is what Microsoft documents: the client credentials flow of the identity platform (v2.0), by secret and by federated token, and Get Secret of Key Vault's REST API. Each request is looked at whole; what differs from what
is documented is refused with 400 and kept in `wrong`. What can go wrong is answered as Microsoft documents it.
"""
import json
import pathlib
import re
import threading
import urllib.parse

from . import pki
from .google_fake import Tunnels
from .http_source import HttpSource

LOGIN, VAULT, PRIVATE = "login.microsoftonline.com", "shop.vault.azure.net", "shop.vault.private.test"
RESOURCES = {VAULT: "https://vault.azure.net", PRIVATE: "https://vault.private.test"}
TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
FORM = "application/x-www-form-urlencoded"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def said(status, value, **headers):
    return (status, {"Content-Type": "application/json; charset=utf-8", **headers}, json.dumps(value))


def oauth_error(error, number, words, status=400):
    return said(status, {"error": error, "error_description": f"AADSTS{number}: {words} Trace ID: 0 Correlation ID: 0 Timestamp: 2026-11-26 10:00:00Z", "error_codes": [number], "error_uri": f"https://{LOGIN}/error?code={number}"})


def refusal(status, code, message, inner=None, **headers):
    """As Key Vault tells an error."""
    return said(status, {"error": {"code": code, "message": message, **({"innererror": {"code": inner}} if inner else {})}}, **headers)


class AzureVault(HttpSource):
    """
    applications: {client id: its secret}; federated: {client id: its token}; readers: client ids that may get secrets; secrets: {name: {version: value}}, the last version is the current one; disabled: names.
    """

    def __init__(self, directory):
        self.authority = pki.authority(directory, "azure-ca")
        self.file = str(pathlib.Path(directory) / "federated-token")
        self.applications, self.federated, self.readers = {}, {}, set()
        self.secrets, self.disabled = {}, set()
        self.given, self.revoked, self.throttled, self.broken = {}, set(), 0, None
        self.wrong, self.exchanged, self.lock_of_tokens = [], [], threading.Lock()
        names = (LOGIN, VAULT, PRIVATE, "login.private.test")
        super().__init__(tls=pki.certificate(directory, "azure", self.authority, LOGIN, names=names))
        self.tunnels = Tunnels({f"{name}:443": self for name in names})

    def env(self, **more):
        """Of kscaled."""
        return {"HTTPS_PROXY": f"http://127.0.0.1:{self.tunnels.port}", "NO_PROXY": "127.0.0.1,localhost", "SSL_CERT_FILE": self.authority.cert, **more}

    def end(self):
        super().end()
        self.tunnels.end()

    def application(self, name, secret="client-s3cret", reads=True):
        self.applications[name] = secret
        if reads:
            self.readers.add(name)
        return name

    def read(self):
        """The paths of vaults that were asked for."""
        return [asked.target for asked in self.asked if asked.target.startswith("/secrets/")]

    # --- what is asked ---

    def answer(self, asked):
        host = asked.headers.get("Host")
        if host in (LOGIN, "login.private.test"):
            return self.exchange(asked)
        if host in RESOURCES:
            if self.broken:
                return self.broken(asked) if callable(self.broken) else self.broken
            return self.let_in(asked, RESOURCES[host]) or self.get(asked, host)
        return self.differs(f"{asked.method} https://{host}{asked.target}")

    def differs(self, what):
        self.wrong.append(what)
        return refusal(400, "BadParameter", what)

    # --- Entra ID ---

    def exchange(self, asked):
        form = urllib.parse.parse_qsl(asked.body.decode(), strict_parsing=True)
        values = dict(form)
        by_secret = ["client_id", "grant_type", "scope", "client_secret"]
        by_token = ["client_id", "grant_type", "scope", "client_assertion_type", "client_assertion"]
        path = re.fullmatch(r"/([^/]+)/oauth2/v2\.0/token", asked.target)
        if asked.method != "POST" or not path or asked.headers.get("Content-Type") != FORM or asked.headers.get("Authorization") or [name for name, _ in form] not in (by_secret, by_token) or values["grant_type"] != "client_credentials" \
                or values.get("client_assertion_type", ASSERTION) != ASSERTION:
            self.wrong.append(f"{asked.method} {asked.target} {form}")
            return oauth_error("invalid_request", 900144, "The request body must contain more.")
        self.exchanged.append(values)
        client, resource = values["client_id"], values["scope"].removesuffix("/.default")
        if path[1] != TENANT:
            return oauth_error("invalid_request", 90002, f"Tenant '{path[1]}' not found.")
        if resource not in RESOURCES.values() or not values["scope"].endswith("/.default"):
            return oauth_error("invalid_resource", 500011, f"The resource principal named {resource} was not found in the tenant.")
        if client not in self.applications and client not in self.federated:
            return oauth_error("unauthorized_client", 700016, f"Application with identifier '{client}' was not found in the directory.")
        if "client_secret" in values and values["client_secret"] != self.applications.get(client):
            return oauth_error("invalid_client", 7000215, "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value.", 401)
        if "client_assertion" in values and values["client_assertion"] != self.federated.get(client):
            return oauth_error("invalid_client", 70021, "No matching federated identity record found for presented assertion.", 401)
        with self.lock_of_tokens:
            token = f"eyJ0eXAiOiJKV1Qi.{client}.{len(self.given)}"
            self.given[token] = (client, resource)
        return said(200, {"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": token})

    # --- Key Vault ---

    def let_in(self, asked, resource):
        """None: he may."""
        client, audience = self.given.get(asked.bearer, (None, None))
        challenge = {"WWW-Authenticate": f'Bearer authorization="https://{LOGIN}/{TENANT}", resource="{resource}"'}
        if not asked.bearer:
            return refusal(401, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.", **challenge)
        if not client or asked.bearer in self.revoked:
            return refusal(401, "Unauthorized", "AKV10032: Invalid issuer.", **challenge)
        if audience != resource:
            return refusal(401, "Unauthorized", f"AKV10022: Invalid audience. Expected {resource}, found: {audience}.", **challenge)
        if self.throttled:
            return refusal(429, "Throttled", "Request was not processed because too many requests were received.", **{"Retry-After": str(self.throttled)})
        if client not in self.readers:
            return refusal(403, "Forbidden", f"Caller is not authorized to perform action on resource.\r\nCaller: appid={client};oid=1\r\nAction: 'Microsoft.KeyVault/vaults/secrets/getSecret/action'", "ForbiddenByRbac")
        return None

    def get(self, asked, host):
        path = re.fullmatch(r"/secrets/([0-9A-Za-z-]{1,127})/([0-9a-f]{32})?\?api-version=7\.5", asked.target)
        if asked.method != "GET" or not path or asked.body:
            return self.differs(f"{asked.method} {asked.target}")
        name, version = path[1], path[2]
        versions = self.secrets.get(name, {})
        if not versions or (version and version not in versions):
            return refusal(404, "SecretNotFound", f"A secret with (name/id) {name}{'/' + version if version else ''} was not found in this key vault. If you recently deleted this secret you may be able to recover it using the correct recovery command.")
        if name in self.disabled:
            return refusal(403, "Forbidden", "Operation get is not allowed on a disabled secret.", "SecretDisabled")
        version = version or list(versions)[-1]
        return said(200, {"value": versions[version], "contentType": "text/plain", "id": f"https://{host}/secrets/{name}/{version}", "attributes": {"enabled": True, "created": 1, "updated": 1, "recoveryLevel": "Recoverable+Purgeable"}, "tags": {}})
