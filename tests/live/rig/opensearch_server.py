# SPDX-License-Identifier: Apache-2.0
"""
A real OpenSearch of one node (tests/opensearch) on loopback ports, which lets everybody in; and what stands before it and asks who is there. That is not real: the plugin for it is not among the jars.
"""
import contextlib
import json
import pathlib
import shutil
import subprocess

import urllib3

from .http_source import HttpSource
from .process import OneProcess, Process, free_port
from .waiting import eventually

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "opensearch"
JAVA = ["-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
web = urllib3.PoolManager(retries=False, timeout=30)


class OpensearchServer(OneProcess):
    """An index has one shard, unless its test wants others."""

    def __init__(self, directory, name="opensearch"):
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.assets = subprocess.run([SCRIPTS / "build"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=600, text=True).stdout.strip()
        self.port, self.node_port = free_port(), free_port()
        self.start()

    def start(self, wait=True):
        """Also again, with the same ports and data, after kill."""
        java = shutil.which("java")
        assert java, "java is missing: contrib/install-deps.sh --tests installs it"
        self.process = Process(self.name, [java, *JAVA, "-cp", f"{self.assets}:{self.assets}/jars/*", "Search", str(self.dir), str(self.port), str(self.node_port)], str(self.dir / "log"),
                               stdin=subprocess.PIPE, cwd=str(self.dir))
        if wait:
            eventually(lambda: "search: ready\n" in self.process.log(), timeout=90)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, status=(200, 201)):
        answer = web.request(method, self.url + path, body=None if body is None else json.dumps(body), headers={"Content-Type": "application/json"})
        assert answer.status in status, answer.data
        return json.loads(answer.data)

    def index(self, name, shards=1, **settings):
        self.ask("PUT", f"/{name}", {"settings": {"number_of_shards": shards, "number_of_replicas": 0, **settings}})

    def add(self, index, *documents):
        """There for searches when this returns."""
        for document in documents:
            self.ask("POST", f"/{index}/_doc?refresh=true", document)

    def clear(self, index):
        """By one document after the other: to delete by a query is a module's, too."""
        for hit in self.ask("POST", f"/{index}/_search?size=1000", {})["hits"]["hits"]:
            self.ask("DELETE", f"/{index}/_doc/{hit['_id']}")
        self.ask("POST", f"/{index}/_refresh")

    def template(self, name, source):
        self.ask("PUT", f"/_scripts/{name}", {"script": {"lang": "mustache", "source": source}})


class Gate(HttpSource):
    """
    Before a server, or several: asks for a user and a password, for an API key, or by TLS for a client certificate, answers as theirs do, and passes on what it was asked.
    """

    def __init__(self, server, users=None, keys=(), product=None, **more):
        """product: of X-Elastic-Product, as Elasticsearch says it."""
        self.behind, self.users, self.keys, self.product = server, dict(users or {}), list(keys), product
        super().__init__(**more)

    def answer(self, asked):
        way, _, value = asked.headers.get("Authorization", "").partition(" ")
        known = (way == "ApiKey" and value in self.keys) or (asked.basic and self.users.get(asked.basic[0]) == asked.basic[1]) or (asked.client and way == "")
        if not known:
            return (401, {"WWW-Authenticate": 'Basic realm="security"'}, json.dumps({"error": {"root_cause": [{"type": "security_exception", "reason": "unable to authenticate with provided credentials and anonymous access is not allowed for this request"}]}, "status": 401}))
        if asked.basic and asked.basic[0] == "nobody":
            return (403, {}, json.dumps({"error": {"type": "security_exception", "reason": "no permissions for [indices:data/read/search]"}, "status": 403}))
        with contextlib.suppress(urllib3.exceptions.HTTPError):
            got = web.request(asked.method, self.behind.url + asked.target, body=asked.body, headers={"Content-Type": asked.headers.get("Content-Type", "")})
            return (got.status, {"X-Elastic-Product": self.product} if self.product else {}, got.data)
        return (503, {"Content-Type": "text/plain"}, "no server is available")
