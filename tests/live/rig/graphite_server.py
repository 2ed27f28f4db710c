# SPDX-License-Identifier: Apache-2.0
"""A real Graphite on loopback ports: its web server, and a carbon that takes values and keeps them."""
import os
import pathlib
import shutil
import socket
import time

from .process import OneProcess, Process, free_port
from .waiting import eventually

PYTHON = "/usr/bin/python3"  # Debian's, whose modules they are


class GraphiteServer(OneProcess):
    """What befalls it befalls the web server."""

    def __init__(self, directory, name="graphite"):
        self.name = name
        self.dir = pathlib.Path(directory) / name
        for folder in ("storage/whisper", "storage/log/webapp"):
            (self.dir / folder).mkdir(parents=True)
        self.port, self.line_port, self.pickle_port, self.query_port = (free_port() for _ in range(4))
        storage = self.dir / "storage"
        (self.dir / "storage-schemas.conf").write_text("[all]\npattern = .*\nretentions = 1s:1h\n")
        (self.dir / "carbon.conf").write_text("\n".join([
            "[cache]", "USER =", f"STORAGE_DIR = {storage}", f"CONF_DIR = {self.dir}", f"LOG_DIR = {storage}/log", f"PID_DIR = {storage}", f"LOCAL_DATA_DIR = {storage}/whisper",
            *(f"{kind}_INTERFACE = 127.0.0.1\n{kind}_PORT = {port}" for kind, port in (("LINE_RECEIVER", self.line_port), ("PICKLE_RECEIVER", self.pickle_port), ("CACHE_QUERY", self.query_port))),
            "MAX_CREATES_PER_MINUTE = inf", "ENABLE_LOGROTATION = False", ""]))
        (self.dir / "settings_here.py").write_text("\n".join([
            "SECRET_KEY = 'of a test'", f"STORAGE_DIR = {str(storage)!r}", f"CONF_DIR = {str(self.dir)!r}", "WHISPER_DIR = STORAGE_DIR + '/whisper'", "LOG_DIR = STORAGE_DIR + '/log/webapp'",
            "INDEX_FILE = STORAGE_DIR + '/index'", f"CARBONLINK_HOSTS = ['127.0.0.1:{self.query_port}']", "ALLOWED_HOSTS = ['*']", "TIME_ZONE = 'UTC'",
            "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': STORAGE_DIR + '/graphite.db'}}", ""]))
        carbon = shutil.which("carbon-cache")
        assert carbon, "graphite-carbon is missing: contrib/install-deps.sh --tests installs it"
        self.carbon = Process(f"{name}-carbon", [PYTHON, carbon, f"--config={self.dir / 'carbon.conf'}", "--nodaemon", "start"], str(self.dir / "carbon.log"))
        made = Process(f"{name}-tables", [PYTHON, "-m", "django", "migrate", "--run-syncdb", "-v0"], str(self.dir / "tables.log"), env=self._environment())
        assert made.wait(60) == 0, made.tail()
        self.start()
        eventually(lambda: self._listens(self.line_port), timeout=90, every=0.05)

    def _environment(self):
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.dir), "GRAPHITE_SETTINGS_MODULE": "settings_here", "DJANGO_SETTINGS_MODULE": "graphite.settings"}

    def start(self):
        """The web server; also again, on the same port and with the same data, after kill."""
        self.process = Process(self.name, [PYTHON, "-m", "django", "runserver", "--noreload", f"127.0.0.1:{self.port}"], str(self.dir / "log"), env=self._environment())
        eventually(lambda: self._listens(self.port), timeout=90, every=0.05)

    @staticmethod
    def _listens(port):
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def says(self, name, value, ago=1):
        """A value of a series, so many seconds ago."""
        with socket.create_connection(("127.0.0.1", self.line_port), timeout=5) as connection:
            connection.sendall(f"{name} {value} {int(time.time()) - ago}\n".encode())

    def end(self):
        super().end()
        self.carbon.kill()
