# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus on a loopback port."""
import json
import pathlib
import shutil
import socket

import urllib3

from .process import OneProcess, Process, free_port
from .waiting import eventually


class PrometheusServer(OneProcess):
    def __init__(self, directory, name, scrapes=(), tls=None, client_ca=None, users=None):
        """scrapes: addresses whose /metrics it reads, five times a second; tls: a pki.Pair; client_ca: a path, then clients must have a certificate; users: name -> bcrypt hash."""
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.port = free_port()
        self.tls = tls
        self.process = None
        self.options = []
        jobs = [{"job_name": address, "static_configs": [{"targets": [address]}]} for address in scrapes]
        (self.dir / "prometheus.yml").write_text(json.dumps({"global": {"scrape_interval": "200ms", "scrape_timeout": "200ms"}, "scrape_configs": jobs}))
        self._web_config(client_ca, users)
        self.start()

    def _web_config(self, client_ca, users):
        config = {"basic_auth_users": users} if users else {}
        if self.tls:
            config["tls_server_config"] = {"cert_file": self.tls.cert, "key_file": self.tls.key,
                                           **({"client_ca_file": client_ca, "client_auth_type": "RequireAndVerifyClientCert"} if client_ca else {})}
        if config:
            (self.dir / "web.yml").write_text(json.dumps(config))
            self.options.append(f"--web.config.file={self.dir / 'web.yml'}")

    def start(self):
        """Also again, on the same port and with the same data, after kill."""
        program = shutil.which("prometheus")
        assert program, "prometheus is missing: contrib/install-deps.sh --tests installs it"
        self.process = Process(self.name, [program, f"--config.file={self.dir / 'prometheus.yml'}", f"--web.listen-address=127.0.0.1:{self.port}", f"--storage.tsdb.path={self.dir / 'data'}",
                                           "--log.level=warn", *self.options], str(self.dir / "log"))
        eventually(self.listens, timeout=90, every=0.05)

    def listens(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{'localhost' if self.tls else '127.0.0.1'}:{self.port}"

    def get(self, path, **fields):
        """Plain servers only."""
        answer = urllib3.PoolManager(retries=False, timeout=5).request("GET", self.url + path, fields=fields or None)
        assert answer.status == 200, answer.data
        return answer.data.decode()

    def value(self, query):
        """None when there is none."""
        result = json.loads(self.get("/api/v1/query", query=query))["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def own(self, prefix):
        """Sum of its own metrics whose lines begin so."""
        return sum(float(line.rpartition(" ")[2]) for line in self.get("/metrics").splitlines() if line.startswith(prefix))
