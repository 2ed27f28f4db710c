# SPDX-License-Identifier: Apache-2.0
"""
Azurite, Microsoft's own emulator of Azure Storage, on loopback ports: queues and blobs. It verifies keys and signatures (SharedKey, SAS), and of tokens what they say, but not who signed them. Over TLS it asks for the account in
the host's name, as Azure does: shop.queue.localhost.
"""
import base64
import datetime
import email.utils
import hashlib
import hmac
import pathlib
import subprocess
import urllib.parse

import urllib3

from .process import OneProcess, Process, free_port
from .waiting import eventually

BUILD = pathlib.Path(__file__).resolve().parents[2] / "azurite" / "build"
VERSION = "2021-12-02"
QUEUE, BLOB = "queue", "blob"


def key_of(text):
    return base64.b64encode(text.encode()).decode()


class AzuriteServer(OneProcess):
    """tls: a pki.Pair for localhost and *.localhost names; then tokens are taken, too. It starts with no queue and no container, also again."""

    ACCOUNT = "shop"

    def __init__(self, directory, name="azurite", tls=None):
        assets = subprocess.run([BUILD], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=900).stdout.strip()
        self.directory = pathlib.Path(directory) / f"{name}-data"
        self.directory.mkdir()
        self.log, self.tls, self.key = str(pathlib.Path(directory) / f"{name}.log"), tls, key_of("the-first-key")
        self.ports = {service: free_port() for service in (QUEUE, BLOB, "table")}
        self.pool = urllib3.PoolManager(retries=False, timeout=30.0, **({"cert_reqs": "CERT_NONE"} if tls else {}))
        self.command = ["node", f"{assets}/node_modules/azurite/dist/src/azurite.js", "--inMemoryPersistence", "--disableTelemetry", "--silent",
                        *(word for service, port in self.ports.items() for word in (f"--{service}Host", "127.0.0.1", f"--{service}Port", str(port))),
                        *(["--oauth", "basic", "--cert", tls.cert, "--key", tls.key] if tls else [])]
        self.start()

    def start(self):
        self.process = Process("azurite", self.command, self.log, env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.directory), "AZURITE_ACCOUNTS": f"{self.ACCOUNT}:{self.key}"}, cwd=str(self.directory))
        for service in (QUEUE, BLOB):
            eventually(lambda: self.call("GET", service, "", query="comp=list", expect=200), timeout=60)

    # --- where it is ---

    def endpoint(self, service, port=None):
        if self.tls:
            return f"https://{self.ACCOUNT}.{service}.localhost:{port or self.ports[service]}"
        return f"http://127.0.0.1:{port or self.ports[service]}/{self.ACCOUNT}"

    def endpoints(self, **ports):
        return "".join(f"{service.capitalize()}Endpoint={self.endpoint(service, ports.get(service))};" for service in (QUEUE, BLOB))

    def connection(self, key=None, **ports):
        """With the account's key. ports: another one for a service, of somebody in between."""
        return f"DefaultEndpointsProtocol={'https' if self.tls else 'http'};AccountName={self.ACCOUNT};AccountKey={key or self.key};{self.endpoints(**ports)}"

    def signed_connection(self, permissions, service, hours=1):
        """With a shared access signature of the account (SAS), for what is in one service."""
        end = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
        said = {"sp": permissions, "ss": service[0], "srt": "sco", "st": "", "se": end, "sip": "", "spr": "", "sv": VERSION, "ses": ""}
        to_sign = "".join(f"{text}\n" for text in [self.ACCOUNT, *said.values()])
        query = urllib.parse.urlencode({name: text for name, text in {**said, "sig": self.hmac(to_sign)}.items() if text})
        return f"{self.endpoints()}SharedAccessSignature={query}"

    # --- what it is asked ---

    def hmac(self, text):
        return base64.b64encode(hmac.new(base64.b64decode(self.key), text.encode(), hashlib.sha256).digest()).decode()

    def call(self, method, service, path, body=b"", query="", expect=201, **headers):
        headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": VERSION, **{name.replace("_", "-"): value for name, value in headers.items()}}
        place = f"/{self.ACCOUNT}/{path}"
        parameters = "".join(f"\n{name}:{value}" for name, value in sorted(urllib.parse.parse_qsl(query)))
        lines = [method, "", "", str(len(body)) if body else "", "", headers.get("Content-Type", ""), *[""] * 6, *(f"{name}:{headers[name]}" for name in sorted(headers) if name.startswith("x-ms-")), f"/{self.ACCOUNT}{place}{parameters}"]
        headers["Authorization"] = f"SharedKey {self.ACCOUNT}:{self.hmac(chr(10).join(lines))}"
        url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.ports[service]}{place}{'?' + query if query else ''}"
        answer = self.pool.request(method, url, body=body or None, headers=headers)
        assert answer.status == expect, f"{method} {service} {path} {query}: {answer.status} {answer.data.decode()}"
        return answer

    # --- what there is ---

    def queue(self, name, messages=0):
        self.call("PUT", QUEUE, name)
        self.send(name, messages)

    def send(self, name, messages):
        for number in range(messages):
            self.call("POST", QUEUE, f"{name}/messages", body=f"<QueueMessage><MessageText>{number}</MessageText></QueueMessage>".encode(), Content_Type="application/xml")

    def receive(self, name, messages):
        """So many are being worked on."""
        for _ in range(messages):
            self.call("GET", QUEUE, f"{name}/messages", query="numofmessages=1&visibilitytimeout=3600", expect=200)

    def clear(self, name):
        self.call("DELETE", QUEUE, f"{name}/messages", expect=204)

    def remove_queue(self, name):
        self.call("DELETE", QUEUE, name, expect=204)

    def container(self, name, *blobs):
        self.call("PUT", BLOB, name, query="restype=container")
        for blob in blobs:
            self.put(name, blob)

    def put(self, container, blob):
        self.call("PUT", BLOB, f"{container}/{urllib.parse.quote(blob)}", body=b"x", Content_Type="text/plain", x_ms_blob_type="BlockBlob")

    def remove(self, container, blob):
        self.call("DELETE", BLOB, f"{container}/{urllib.parse.quote(blob)}", expect=202)


def through(azurite, service, asked):
    """What it answers to a request that came to somebody else: signatures do not name the host."""
    headers = {name: value for name, value in asked.headers.items() if name.lower() not in ("accept", "host", "content-length")}
    answer = azurite.pool.request(asked.method, f"http://127.0.0.1:{azurite.ports[service]}{asked.target}", headers=headers)
    return (answer.status, {name: value for name, value in answer.headers.items() if name.lower().startswith(("x-ms-", "content-type"))}, answer.data)
