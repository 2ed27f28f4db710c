# SPDX-License-Identifier: Apache-2.0
"""mongo-java-server (tests/mongo says why not MongoDB) on a loopback port: real queries on documents in memory, in the clear or with TLS. No logins, no replica sets: those are rig/mongo_fake.py's."""
import pathlib
import shutil
import ssl
import subprocess

from . import mongo_wire
from .process import OneProcess, Process, free_port
from .waiting import eventually

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "mongo"
JAVA = ["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class MongoServer(OneProcess):
    """Database shop with the collection jobs. pair: its certificate and key; then it speaks TLS."""

    def __init__(self, directory, name="mongo", pair=None):
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.name, self.pair = name, pair
        self.port = free_port()
        self.assets = subprocess.run([SCRIPTS / "build"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=600, text=True).stdout.strip()
        self.start()

    def start(self):
        """Also again, on the same port, with nothing in it."""
        java = shutil.which("java")
        assert java, "java is missing: contrib/install-deps.sh --tests installs it"
        self.process = Process(self.name, [java, *JAVA, "-cp", f"{self.assets}:{self.assets}/jars/*", "Mongo", str(self.port), *(self.pair or ())], str(self.dir / "log"), stdin=subprocess.PIPE)
        eventually(lambda: "mongo: ready\n" in self.process.log(), timeout=60)

    def do(self, command):
        tls = ssl.create_default_context() if self.pair else None
        if tls:
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        return mongo_wire.do(self.port, command, tls=tls)

    def insert(self, *documents, collection="jobs"):
        self.do({"insert": collection, "documents": list(documents)})

    def fill(self, count, collection="jobs"):
        """So many documents, and no others."""
        self.do({"delete": collection, "deletes": [{"q": {}, "limit": 0}]})
        if count:
            self.insert(*[{"number": number, "done": False} for number in range(count)], collection=collection)
