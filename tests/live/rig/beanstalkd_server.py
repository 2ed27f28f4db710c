# SPDX-License-Identifier: Apache-2.0
"""A real beanstalkd on a loopback port, and its protocol, which is text over TCP."""
import pathlib
import shutil
import socket

from .process import OneProcess, Process, free_port
from .waiting import eventually


class BeanstalkdServer(OneProcess):
    def __init__(self, directory, name):
        self.name, self.port = name, free_port()
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.address = f"127.0.0.1:{self.port}"
        self.start()

    def start(self):
        """Also again, with the same port and jobs, after kill."""
        program = shutil.which("beanstalkd", path="/usr/bin:/usr/sbin:/usr/local/bin")
        assert program, "beanstalkd is missing: contrib/install-deps.sh --tests installs it"
        self.process = Process(self.name, [program, "-l", "127.0.0.1", "-p", str(self.port), "-b", str(self.dir)], str(self.dir / "log"))
        eventually(lambda: self.client().close() is None, timeout=90, every=0.05)

    def client(self):
        return BeanstalkdClient(self.port)


class BeanstalkdClient:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def say(self, command, body=None):
        """The first line of the answer, and the body of a job that is reserved."""
        self.socket.sendall(command.encode() + b"\r\n" + (b"" if body is None else body + b"\r\n"))
        words = self.file.readline().decode().split()
        if words[0] == "RESERVED":
            self.file.read(int(words[2]) + 2)
        return words

    def put(self, tube, count=1, delay=0):
        self.say(f"use {tube}")
        for _ in range(count):
            assert self.say(f"put 1 {delay} 600 1", b"x")[0] == "INSERTED"

    def take(self, tube, count=1):
        """The numbers of the jobs, which are reserved."""
        self.say(f"watch {tube}")
        return [self.say("reserve-with-timeout 5")[1] for _ in range(count)]

    def delete(self, jobs):
        for job in jobs:
            assert self.say(f"delete {job}") == ["DELETED"]
