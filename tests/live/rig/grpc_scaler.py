# SPDX-License-Identifier: Apache-2.0
"""
An external scaler in official grpcio, as a process of its own (grpc_service.py) that a test may kill and freeze. What
it says stands in a file that the test rewrites; what it was asked it writes into another. Its messages come from
src/scalers/external/externalscaler.proto, by way of the descriptor that protoc-c makes of it.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys

from .process import OneProcess, Process, free_port
from .waiting import eventually

PROTO = pathlib.Path(__file__).resolve().parents[3] / "src" / "scalers" / "external" / "externalscaler.proto"
PROGRAM = pathlib.Path(__file__).with_name("grpc_service.py")


class GrpcScaler(OneProcess):
    """says(specs=..., values=..., ...) changes what it says from now on."""

    def __init__(self, directory, name="scaler", tls=None, client_ca=None, start=True):
        """tls: a pki.Pair; client_ca: whose client certificates are asked for."""
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.port = free_port()
        self.tls, self.client_ca = tls, client_ca
        self.state = {"specs": [["queue", 5, 0]], "values": {"queue": [0, 0]}, "active": False, "fail": {}, "sleep": {}, "pushes": [], "cuts": 0, "ends": 0}
        self.says()
        self.descriptor = self.dir / "descriptor"
        program = shutil.which("protoc-c")
        assert program, "protoc-c is missing: contrib/install-deps.sh installs it"
        subprocess.run([program, f"--proto_path={PROTO.parent}", f"--descriptor_set_out={self.descriptor}", PROTO.name], check=True)
        if start:
            self.start()

    @property
    def address(self):
        return f"localhost:{self.port}"

    def start(self):
        """Also again, on the same port."""
        tls = [self.tls.cert, self.tls.key, *([self.client_ca] if self.client_ca else [])] if self.tls else []
        self.process = Process(self.name, [sys.executable, str(PROGRAM), str(self.dir), str(self.port), *tls], str(self.dir / "log"))
        eventually(self.listens, timeout=90, every=0.02)

    def listens(self):
        with socket.create_connection(("127.0.0.1", self.port), 1):
            return True

    def says(self, **changes):
        self.state.update(changes)
        path = self.dir / "state"
        (self.dir / "state.new").write_text(json.dumps(self.state))
        os.replace(self.dir / "state.new", path)

    def push(self, *results):
        self.says(pushes=[*self.state["pushes"], *results])

    def asked(self, method=None, since=0.0):
        """The requests so far: method, name, namespace, metadata, metric, peer, time."""
        path = self.dir / "asked"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [one for one in lines if method in (None, one["method"]) and one["time"] >= since]
