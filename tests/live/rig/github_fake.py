# SPDX-License-Identifier: Apache-2.0
"""
A fake: there is no GitHub to run here. It serves the requests of the REST API that the trigger makes, byte by byte as GitHub documents them (lists of repositories, of workflow runs and of their jobs, tokens of an App's
installation); what differs is refused with 400 and kept in `wrong`. The App's token is verified by the public half of its key. It answers as GitHub does to who is not known, to what is not shown to him, to one request too many,
and with 304 to who has the newest already. TLS, as GitHub has it; under a path, as an Enterprise Server is.
"""
import base64
import hashlib
import json
import pathlib
import re
import tempfile
import time

from . import pki
from .http_source import HttpSource

VERSION = {"X-GitHub-Api-Version": "2022-11-28"}
GET = {"host", "accept", "authorization", "x-github-api-version", "user-agent"}
POST = GET | {"content-type", "content-length"}
REPOS = re.compile(r"/(orgs|users)/([A-Za-z0-9._-]+)/repos\?per_page=100&page=([1-9][0-9]*)")
RUNS = re.compile(r"/repos/([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)/actions/runs\?status=(queued|in_progress)&per_page=100(?:&page=([1-9][0-9]*))?")
JOBS = re.compile(r"/repos/([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)/actions/runs/([1-9][0-9]*)/jobs\?per_page=100&page=([1-9][0-9]*)")
TOKENS = re.compile(r"/app/installations/([0-9]+)/access_tokens")


def job(status="queued", labels=("self-hosted", "linux")):
    return {"id": 399444496, "status": status, "conclusion": None, "name": "build", "steps": [], "labels": list(labels), "runner_id": None, "workflow_name": "CI"}


def told(message, status):
    return json.dumps({"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)})


def unpadded(text):
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class App:
    """Number, installation, and a key; its private half is `pem`."""

    def __init__(self, directory, name="app", number=123, installation=456):
        self.number, self.installation, self.name = number, installation, name
        self.folder = pathlib.Path(directory)
        self.life, self.given, self.good = 3600, 0, set()
        self.refused = {}   # installation -> (status, message): of this App, and without a token all the same
        self.new_key()

    def new_key(self):
        """As PKCS #1, the form in which GitHub hands it out."""
        self.pem = pki.openssl("genrsa", "-traditional", "2048").decode()
        (self.folder / f"{self.name}.pub").write_bytes(pki.openssl("rsa", "-pubout", stdin=self.pem.encode()))

    def signed(self, token):
        """Whether GitHub would take it as this App's."""
        try:
            head, claims, signature = token.split(".")
            what = json.loads(unpadded(claims))
            assert json.loads(unpadded(head)) == {"alg": "RS256", "typ": "JWT"} and sorted(what) == ["exp", "iat", "iss"] and what["iss"] == str(self.number)
            assert what["iat"] <= time.time() < what["exp"] <= time.time() + 600 and what["iat"] < what["exp"]
            with tempfile.NamedTemporaryFile(dir=self.folder) as file:
                file.write(unpadded(signature))
                file.flush()
                pki.openssl("dgst", "-sha256", "-verify", self.folder / f"{self.name}.pub", "-signature", file.name, stdin=f"{head}.{claims}".encode())
        except (AssertionError, ValueError):
            return False
        return True

    def give(self):
        self.given += 1
        token = f"ghs_{self.given:036d}"
        self.good.add(token)
        return (201, {}, json.dumps({"token": token, "expires_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.life)), "permissions": {"actions": "read", "metadata": "read"}, "repository_selection": "all"}))


class GitHub(HttpSource):
    """repos: owner -> {name: {run: (status, jobs)}}, whose order is that of the lists; users: owners that are no organizations."""

    def __init__(self, directory, token="ghp_change_me", app=None, prefix=""):
        self.token, self.app, self.prefix = token, app, prefix
        self.repos, self.users, self.archived, self.hidden = {}, set(), set(), set()
        self.counted = 0              # requests that count for the limit
        self.limit, self.reset = 10 ** 9, 0   # so many may count until then
        self.throttled = 0            # seconds; 0: not (the secondary limit)
        self.unchanged = 0            # answers with 304
        self.page_size = 100          # of Gitea and Forgejo, whatever per_page says: another
        self.wrong = []               # requests that differ from what is documented
        self.authority = pki.authority(directory, "github-ca")
        super().__init__(tls=pki.certificate(directory, "github", self.authority, "github"))

    @property
    def api(self):
        return self.url + self.prefix

    def differs(self, asked, headers, accept):
        names = sorted(name.lower() for name in asked.headers)
        good = names == sorted(headers) and asked.headers["Accept"] == accept and asked.headers["X-GitHub-Api-Version"] == "2022-11-28" and asked.headers["User-Agent"] and asked.headers["Host"] == f"localhost:{self.port}"
        if not good:
            self.wrong.append(f"{asked.method} {asked.target} {asked.headers.items()}")
        return not good

    def answer(self, asked):
        if not asked.target.startswith(self.prefix):
            return (404, {}, told("Not Found", 404))
        target = asked.target.removeprefix(self.prefix)
        tokens = TOKENS.fullmatch(target)
        if asked.method == "POST" and tokens:
            return self.installed(asked, int(tokens[1]))
        for pattern, listed in ((REPOS, self.listed_repos), (RUNS, self.listed_runs), (JOBS, self.listed_jobs)):
            found = pattern.fullmatch(target)
            if asked.method == "GET" and asked.body == b"" and found:
                if self.differs(asked, GET | ({"if-none-match"} if "If-None-Match" in asked.headers else set()), "application/vnd.github.v3+json"):
                    return (400, {}, told("Bad Request", 400))
                return self.limited(asked, lambda found=found, listed=listed: listed(found))
        self.wrong.append(f"{asked.method} {asked.target} {asked.body}")
        return (400, {}, told("Bad Request", 400))

    def installed(self, asked, installation):
        if self.differs(asked, POST, "application/vnd.github+json") or asked.headers["Content-Type"] != "application/json" or asked.body != b'{"permissions":{"actions":"read","metadata":"read"}}':
            self.wrong.append(asked.body)
            return (400, {}, told("Bad Request", 400))
        if not self.app or not self.app.signed(asked.bearer or ""):
            return (401, {}, told("A JSON web token could not be decoded", 401))
        if installation != self.app.installation:
            status, message = self.app.refused.get(installation, (404, "Not Found"))
            return (status, {}, told(message, status))
        return self.app.give()

    def limited(self, asked, look):
        """What everybody's requests go through: who asks, how often, and whether he has it already."""
        if asked.bearer not in ({self.token} | (self.app.good if self.app else set())):
            return (401, {}, told("Bad credentials", 401))
        if self.throttled:
            return (403, {"Retry-After": str(self.throttled)}, told("You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", 403))
        if self.reset and time.time() >= self.reset:
            self.counted, self.limit, self.reset = 0, 10 ** 9, 0
        status, body, *link = look()
        etag = f'W/"{hashlib.sha256(body.encode()).hexdigest()}"'
        headers = {"X-RateLimit-Limit": str(self.limit), "X-RateLimit-Reset": str(self.reset or int(time.time()) + 3600), "X-RateLimit-Resource": "core", **(link[0] if link else {})}
        if status == 200 and asked.headers.get("If-None-Match") == etag:
            self.unchanged += 1
            return (304, {**headers, "X-RateLimit-Remaining": str(max(0, self.limit - self.counted)), "ETag": etag}, "")
        if self.counted >= self.limit:
            return (403, {**headers, "X-RateLimit-Remaining": "0"}, told("API rate limit exceeded for user ID 1.", 403))
        self.counted += 1
        return (status, {**headers, "X-RateLimit-Remaining": str(self.limit - self.counted), "ETag": etag}, body)

    # --- the lists ---

    def paged(self, whole, page):
        """The page, and where the next one is."""
        more = len(whole) > page * self.page_size
        return whole[(page - 1) * self.page_size:page * self.page_size], {"Link": f'<{self.api}/somewhere?page={page + 1}>; rel="next", <{self.api}/somewhere?page=9>; rel="last"'} if more else {}

    def listed_repos(self, found):
        kind, owner, page = found[1], found[2], int(found[3])
        if owner not in self.repos or (kind == "users") != (owner in self.users):
            return 404, told("Not Found", 404)
        whole = [{"id": number, "name": name, "full_name": f"{owner}/{name}", "private": True, "archived": name in self.archived, "disabled": False} for number, name in enumerate(self.repos[owner], 1)]
        page, link = self.paged(whole, page)
        return 200, json.dumps(page), link

    def runs_of(self, owner, name):
        return None if name in self.hidden else self.repos.get(owner, {}).get(name)

    def listed_runs(self, found):
        runs = self.runs_of(found[1], found[2])
        if runs is None:
            return 404, told("Not Found", 404)
        mine = [{"id": number, "name": "CI", "status": status, "conclusion": None, "run_attempt": 1, "repository": {"name": found[2]}} for number, (status, _) in runs.items() if status == found[3]]
        return 200, json.dumps({"total_count": len(mine), "workflow_runs": self.paged(mine, int(found[4] or 1))[0]})   # without Link, as a proxy may hand it on

    def listed_jobs(self, found):
        runs = self.runs_of(found[1], found[2]) or {}
        if int(found[3]) not in runs:
            return 404, told("Not Found", 404)
        jobs = runs[int(found[3])][1]
        page, link = self.paged(jobs, int(found[4]))
        return 200, json.dumps({"total_count": len(jobs), "jobs": page}), link
