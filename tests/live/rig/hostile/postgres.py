# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL servers that ask for what libpq would do: look for tickets and key servers, compute for hours, keep a gigabyte. A real one does none of that."""
import socket
import ssl
import struct

from ..scripted import Scripted

GSSAPI, GSSAPI_CONTINUE, SSPI = 7, 8, 9
SSL_REQUEST = 80877103


def authentication(code, data=b""):
    return b"R" + struct.pack(">II", 8 + len(data), code) + data


def error(text):
    body = b"SFATAL\0C28000\0M" + text.encode() + b"\0\0"
    return b"E" + struct.pack(">I", 4 + len(body)) + body


class Hostile(Scripted):
    """Under TLS when it has a certificate."""

    def __init__(self, certificate=None):
        super().__init__(self._begin)
        self.logins = 0
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate.cert, certificate.key)

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    @property
    def place(self):
        """As kscaled tells it."""
        return f"hostile.test:{self.port}"

    def string(self):
        """Kerberos would look up the name, too."""
        return f"host=hostile.test hostaddr=127.0.0.1 port={self.port} user=u password=p1234 dbname=d sslmode={'require' if self.context else 'disable'}"

    def _begin(self, connection):
        connection.settimeout(30)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        first = connection.recv(8, socket.MSG_PEEK)
        if self.context and len(first) == 8 and struct.unpack(">II", first)[1] == SSL_REQUEST:
            connection.recv(8)
            connection.sendall(b"S")
            with self.context.wrap_socket(connection, server_side=True) as secure:
                self._login(secure)
        else:
            self._login(connection)

    def _login(self, connection):
        if connection.recv(65536):
            self.logins += 1
            self.talk(connection)


class KerberosServer(Hostile):
    """Says messages to whoever wants to log in; in pieces of so many bytes."""

    def __init__(self, *messages, piece=65536, certificate=None):
        super().__init__(certificate)
        self.messages = b"".join(messages)
        self.piece = piece

    def talk(self, connection):
        for at in range(0, len(self.messages), self.piece):
            connection.sendall(self.messages[at:at + self.piece])
        while connection.recv(65536):
            pass


class ScramServer(Hostile):
    """Wants so many iterations for a login."""

    def __init__(self, iterations, certificate=None):
        super().__init__(certificate)
        self.iterations = iterations

    def talk(self, connection):
        connection.sendall(authentication(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"))
        nonce = connection.recv(65536).rpartition(b"r=")[2]
        connection.sendall(authentication(11, b"r=" + nonce + b"x,s=QSXCR+Q6sek8bf92,i=%d" % self.iterations))
        while connection.recv(65536):
            pass


def message(kind, body):
    return kind + struct.pack(">I", 4 + len(body)) + body


READY = message(b"Z", b"I")
NUMBER = message(b"T", b"\0\1n\0" + struct.pack(">IhIhIh", 0, 0, 23, 4, 0xFFFFFFFF, 0)) + message(b"D", b"\0\1" + struct.pack(">I", 1) + b"1") + message(b"C", b"SELECT 1\0")
SETTINGS = b"".join(message(b"S", b"setting%d\0%s\0" % (n, b"x" * 100)) for n in range(7500))  # 900 KiB


class FloodServer(Hostile):
    """
    Answers, and sends what nobody asked for: a notice of a gigabyte, as soon as there is nothing to do; settings without end, then; or 900 KiB of them in each answer.
    """
    SHAPES = ("notice", "settings", "answers")

    def __init__(self, shape, certificate=None):
        super().__init__(certificate)
        self.shape = shape
        self.sent = 0

    def talk(self, connection):
        connection.sendall(authentication(0) + READY)
        while True:
            statement = self._statement(connection)
            if statement is None:
                return
            if self.shape == "answers":
                self._send(connection, SETTINGS)
            listens = statement.startswith(b"LISTEN")
            said = [message(b"C", b"LISTEN\0")] * statement.count(b"LISTEN") if listens else [message(b"C", b"DISCARD ALL\0")] if statement.startswith(b"DISCARD") else [NUMBER]
            connection.sendall(b"".join(said) + READY)
            if statement.startswith((b"DISCARD", b"LISTEN")) and self.shape != "answers":
                self._flood(connection)

    def _flood(self, connection):
        """Until the other side is tired of it."""
        if self.shape == "notice":
            self._send(connection, b"N" + struct.pack(">I", 1 << 30))
        while not self.over:
            self._send(connection, SETTINGS if self.shape == "settings" else b"x" * 65536)

    def _send(self, connection, data):
        connection.sendall(data)
        self.sent += len(data)

    @staticmethod
    def _statement(connection):
        """The next simple query's; None when the other side has left."""
        head = FloodServer._exactly(connection, 5)
        if not head or head[:1] != b"Q":
            return None
        return FloodServer._exactly(connection, struct.unpack(">I", head[1:])[0] - 4)

    @staticmethod
    def _exactly(connection, count):
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                return None
            data += more
        return data


def trigger(query="SELECT 1", **more):
    return {"type": "postgresql", "metadata": {"connectionFromEnv": "PG", "query": query, "targetQueryValue": "5", **more}}


def put(stage, name, server, **more):
    stage.deployment(name, replicas=2, env={"PG": server.string()})
    stage.scaledobject(name, minReplicaCount=0, maxReplicaCount=4, pollingInterval=1, triggers=[trigger(**more)])
