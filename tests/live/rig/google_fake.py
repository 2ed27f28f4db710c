# SPDX-License-Identifier: Apache-2.0
"""
A fake: there is no Google to run here. One HTTPS server plays oauth2, sts, iamcredentials and monitoring of googleapis.com under their own names, which kscaled reaches by a proxy of its environment (Tunnels) and trusts by an authority of the test's;
another one plays the metadata server of a machine. What is served is what Google documents: the exchange of a service account's key (RFC 7523), that of another place's token (RFC 8693) and generateAccessToken, projects.timeSeries.query, and the query of Managed Prometheus. Each request is looked at whole, the
signature by openssl and the account's public key; what differs from what is documented is refused with 400 and kept in `wrong`. What can go wrong is answered as Google documents it.
"""
import base64
import json
import pathlib
import re
import subprocess
import threading
import time
import urllib.parse

from . import pki
from .http_source import HttpSource, vector
from .tcp_proxy import TcpProxy

TOKENS, MONITORING = "oauth2.googleapis.com", "monitoring.googleapis.com"
STS, IAM = "sts.googleapis.com", "iamcredentials.googleapis.com"
POOL = "//iam.googleapis.com/projects/1034/locations/global/workloadIdentityPools/pool/providers/cluster"
CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
TOKEN_URL = f"https://{TOKENS}/token"
READ = "https://www.googleapis.com/auth/monitoring.read"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
FORM = "application/x-www-form-urlencoded"
MQL = re.compile(r"fetch pubsub_(?P<what>subscription|topic) \| metric 'pubsub\.googleapis\.com/(?P=what)/(?P<metric>[a-z0-9_]+)' \| filter \(resource\.project_id == '(?P<project>[a-z0-9-]+)' && "
                 r"resource\.(?P=what)_id == '(?P<id>[A-Za-z0-9._~+%-]+)'\) \| within (?P<within>[0-9hms.]+)(?P<aggregation> \| align delta\(3m0s\) \| every 3m0s \| group_by \[\], (mean|median|variance|stddev|sum|count|percentile)\(value(, \d+)?\))?")
SAMPLE_TIME = {"startTime": "2026-11-26T10:00:00Z", "endTime": "2026-11-26T10:00:00Z"}


def refusal(code, status, message):
    """As all of Google's APIs tell an error."""
    return (code, {"Content-Type": "application/json; charset=UTF-8"}, json.dumps({"error": {"code": code, "message": message, "status": status}}))


def said(value):
    return (200, {"Content-Type": "application/json; charset=UTF-8"}, json.dumps(value))


def oauth_error(error, description, code=400):
    return (code, {"Content-Type": "application/json; charset=utf-8"}, json.dumps({"error": error, "error_description": description}))


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Account:
    """A service account. roles: the projects where it is a Monitoring Viewer."""

    def __init__(self, directory, name, roles=("shop",)):
        self.directory, self.email, self.roles = pathlib.Path(directory), f"{name}@shop.iam.gserviceaccount.com", set(roles)
        self.name, self.number = name, 0
        self.rotate()

    def rotate(self):
        """Another key; the one before is no longer good."""
        self.number += 1
        self.key_id = f"{self.name}-{self.number}"
        self.public = self.directory / f"{self.key_id}.pub"
        self.pem = pki.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048").decode()
        self.public.write_bytes(pki.openssl("pkey", "-pubout", stdin=self.pem.encode()))

    def key(self, **changed):
        """What the console hands out. A field that is None is left out."""
        fields = {"type": "service_account", "project_id": "shop", "private_key_id": self.key_id, "private_key": self.pem, "client_email": self.email, "client_id": "1034", "auth_uri": "https://accounts.google.com/o/oauth2/auth",
                  "token_uri": TOKEN_URL, "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs", "universe_domain": "googleapis.com", **changed}
        return json.dumps({name: value for name, value in fields.items() if value is not None}, indent=2)

    def signed(self, text, signature):
        (self.directory / "signature").write_bytes(signature)
        done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", str(self.public), "-signature", str(self.directory / "signature")], input=text.encode(), capture_output=True, timeout=60, check=False)
        return done.returncode == 0


class Google(HttpSource):
    """
    series: {("subscription", project, id, metric): a number, a dict as a point's value, or None: a series without points}; numbers: {a PromQL text: its number}.
    given: tokens, with the account and the scope they are for; subjects: {a token of another place: the account it is for}.
    """

    names = (TOKENS, MONITORING, STS, IAM)
    scope = READ             # what tokens are asked for

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.authority = pki.authority(directory, "google-ca")
        self.accounts, self.given, self.revoked, self.subjects = {}, {}, set(), {}
        self.series, self.numbers, self.pages_before, self.partial = {}, {}, 0, None
        self.wrong, self.exchanged, self.lock_of_tokens = [], [], threading.Lock()
        self.life = 3599
        super().__init__(tls=pki.certificate(directory, "google", self.authority, TOKENS, names=self.names))
        self.tunnels = Tunnels({f"{name}:443": self for name in self.names})

    def account(self, name, **more):
        account = Account(self.directory, name, **more)
        self.accounts[account.email] = account
        return account

    def env(self, **more):
        """Of kscaled."""
        return {"HTTPS_PROXY": f"http://127.0.0.1:{self.tunnels.port}", "NO_PROXY": "127.0.0.1,localhost", "SSL_CERT_FILE": self.authority.cert, **more}

    def end(self):
        super().end()
        self.tunnels.end()

    def queries(self):
        return [json.loads(asked.body)["query"] for asked in list(self.asked) if asked.path.endswith(":query")]

    # --- what is asked ---

    def answer(self, asked):
        host = asked.headers.get("Host")
        if host == TOKENS and asked.path == "/token":
            return self.exchange(asked)
        if host == STS and asked.target == "/v1/token":
            return self.federate(asked)
        account = re.fullmatch(r"/v1/projects/-/serviceAccounts/([^/:]+):generateAccessToken", asked.target)
        if host == IAM and account:
            return self.impersonate(asked, self.accounts.get(account[1]))
        query = re.fullmatch(r"/v3/projects/([a-z0-9-]+)/timeSeries:query", asked.target)
        if host == MONITORING and asked.method == "POST" and query:
            return self.let_in(asked, query[1]) or self.time_series(asked, query[1])
        query = re.fullmatch(r"/v1/projects/([a-z0-9-]+)/location/global/prometheus/api/v1/query", asked.path)
        if host == MONITORING and asked.method == "GET" and query and asked.body == b"":
            return self.let_in(asked, query[1]) or self.prometheus(asked)
        return self.differs(f"{asked.method} https://{host}{asked.target}")

    def differs(self, what):
        self.wrong.append(what)
        return refusal(400, "INVALID_ARGUMENT", what)

    # --- tokens ---

    def exchange(self, asked):
        form = urllib.parse.parse_qsl(asked.body.decode(), strict_parsing=True)
        if asked.method != "POST" or asked.raw_query or asked.headers.get("Content-Type") != FORM or asked.headers.get("Authorization") or [name for name, _ in form] != ["grant_type", "assertion"] or form[0][1] != GRANT:
            self.wrong.append(f"{asked.method} {asked.target} {form}")
            return oauth_error("unsupported_grant_type", "Invalid grant_type")
        head, claims, signature = form[1][1].split(".")
        header, claimed = json.loads(unpadded(head)), json.loads(unpadded(claims))
        account = self.accounts.get(claimed.get("iss"))
        self.exchanged.append(claimed)
        if set(header) != {"alg", "typ", "kid"} or header["alg"] != "RS256" or header["typ"] != "JWT" or set(claimed) != {"iss", "scope", "aud", "iat", "exp"}:
            self.wrong.append(f"{header} {claimed}")
            return oauth_error("invalid_grant", "Invalid JWT")
        if not account:
            return oauth_error("invalid_grant", "Invalid grant: account not found")
        if header["kid"] != account.key_id or not account.signed(f"{head}.{claims}", unpadded(signature)):
            return oauth_error("invalid_grant", "Invalid JWT Signature.")
        if claimed["aud"] != TOKEN_URL:
            return oauth_error("invalid_grant", "Failed audience check. The right audience is " + TOKEN_URL)
        if not (isinstance(claimed["iat"], int) and abs(claimed["iat"] - time.time()) < 300 and 0 < claimed["exp"] - claimed["iat"] <= 3600):
            return oauth_error("invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.")
        if claimed["scope"] != self.scope:
            return oauth_error("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        return self.hand_out(account, claimed["scope"])

    def federated(self, source, account=None):
        """What the console hands out: as whom, by an account of that name or without one."""
        url = account and f"https://{IAM}/v1/projects/-/serviceAccounts/{account.email}:generateAccessToken"
        return json.dumps({"universe_domain": "googleapis.com", "type": "external_account", "audience": POOL, "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": f"https://{STS}/v1/token", "credential_source": source,
                           **({"service_account_impersonation_url": url} if url else {})}, indent=2)

    def federate(self, asked):
        wanted = {"audience": POOL, "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}
        form = {name: value for name, value in asked.form.items() if name not in ("scope", "subject_token")}
        if asked.method != "POST" or asked.headers.get("Content-Type") != FORM or asked.headers.get("Authorization") or form != wanted or asked.form.get("scope") not in (CLOUD_PLATFORM, self.scope):
            self.wrong.append(f"{asked.method} {asked.target} {asked.form}")
            return oauth_error("invalid_request", "Invalid request")
        account = self.subjects.get(asked.form.get("subject_token"))
        if not account:
            return oauth_error("invalid_grant", f"The given credential {asked.form.get('subject_token')} is rejected by the attribute condition.")
        status, headers, body = self.hand_out(account, asked.form["scope"])
        return (status, headers, json.dumps({**json.loads(body), "issued_token_type": wanted["requested_token_type"]}))

    def impersonate(self, asked, account):
        who, scope = self.given.get(asked.bearer, (None, None))
        body = json.loads(asked.body)
        if asked.method != "POST" or asked.headers.get("Content-Type") != "application/json" or set(body) != {"lifetime", "scope"} or body["lifetime"] != "3600s" or body["scope"] != [self.scope]:
            return self.differs(f"{asked.method} {asked.target} {body}")
        if not who or scope != CLOUD_PLATFORM or not account or "impersonator" not in who.roles:
            return refusal(403, "PERMISSION_DENIED", f"Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist). {asked.bearer}")
        status, headers, given = self.hand_out(account, self.scope)
        return (status, headers, json.dumps({"accessToken": json.loads(given)["access_token"], "expireTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))}))

    def hand_out(self, account, scope):
        with self.lock_of_tokens:
            token = f"ya29.c.{account.name}-{len(self.given)}"
            self.given[token] = (account, scope)
        return (200, {"Content-Type": "application/json; charset=UTF-8", "Cache-Control": "private"}, json.dumps({"access_token": token, "expires_in": self.life, "token_type": "Bearer"}))

    def let_in(self, asked, project):
        """None: he may."""
        account, scope = self.given.get(asked.bearer, (None, None))
        if not account or asked.bearer in self.revoked:
            return refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.")
        if scope != READ:
            return refusal(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.")
        if project not in account.roles:
            return refusal(403, "PERMISSION_DENIED", "Permission monitoring.timeSeries.list denied (or the resource may not exist).")
        return None

    # --- Cloud Monitoring ---

    def time_series(self, asked, project):
        body = json.loads(asked.body)
        query = MQL.fullmatch(body.get("query", ""))
        if asked.headers.get("Content-Type") != "application/json" or not set(body) <= {"query", "pageSize", "pageToken"} or body.get("pageSize") != 1 or not query or query["project"] != project:
            return self.differs(f"{asked.headers.get('Content-Type')} {body}")
        page = int(body.get("pageToken", "page-0").removeprefix("page-"))
        if page < self.pages_before:
            return said({"timeSeriesDescriptor": {}, "nextPageToken": f"page-{page + 1}"})
        if self.partial:
            return said({"timeSeriesDescriptor": {}, "partialErrors": [{"code": 4, "message": self.partial}]})
        found = self.series.get((query["what"], project, query["id"], query["metric"]), "none")
        if found == "none":
            return said({"timeSeriesDescriptor": {"pointDescriptors": []}})
        value = found if isinstance(found, dict) else {"int64Value": str(found)} if isinstance(found, int) else {"doubleValue": found}
        points = [] if found is None else [{"values": [value], "timeInterval": SAMPLE_TIME}]
        return said({"timeSeriesDescriptor": {"pointDescriptors": [{"key": f"value.{query['metric']}", "valueType": "INT64", "metricKind": "GAUGE"}]}, "timeSeriesData": [{"labelValues": [], "pointData": points}]})

    def prometheus(self, asked):
        if list(asked.query) != ["query", "time"] or not re.fullmatch(r"\d+\.\d{3}", asked.query["time"]) or asked.query["query"] not in self.numbers:
            return self.differs(asked.target)
        return (200, {}, vector(self.numbers[asked.query["query"]]))


class Metadata(HttpSource):
    """A fake: the metadata server of a machine, of GKE's workload identity too."""

    def __init__(self, google, account, project="shop"):
        self.google, self.account, self.project = google, account, project
        super().__init__()

    @property
    def env(self):
        return {"GCE_METADATA_HOST": f"127.0.0.1:{self.port}"}

    def answer(self, asked):
        if asked.headers.get("Metadata-Flavor") != "Google":
            return (403, {"Content-Type": "text/html"}, "Missing Metadata-Flavor:Google header.")
        if asked.method == "GET" and asked.target == "/computeMetadata/v1/project/project-id":
            return (200, {"Content-Type": "application/text"}, self.project) if self.project else (404, {"Content-Type": "text/html"}, "not found")
        if asked.method == "GET" and asked.path == "/computeMetadata/v1/instance/service-accounts/default/token" and list(asked.query) == ["scopes"]:
            return self.google.hand_out(self.account, asked.query["scopes"]) if self.account else (404, {"Content-Type": "text/html"}, "not found")
        self.google.wrong.append(f"{asked.method} {asked.target}")
        return (404, {"Content-Type": "text/html"}, "not found")


class Tunnels(TcpProxy):
    """An HTTP proxy: CONNECT to a name that it knows leads to a server of the test's, whatever the name is elsewhere; `refused` has the others."""

    def __init__(self, servers):
        self.servers, self.refused = servers, []
        super().__init__(None, None)

    def way(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096) or b"\r\n\r\n"
        method, place = (*head.decode(errors="replace").split(), "", "")[:2]
        server = self.servers.get(place) if method == "CONNECT" else None
        if not server:
            self.refused.append(place)
            client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            raise ConnectionAbortedError(place)
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return server.host, server.port
