# SPDX-License-Identifier: Apache-2.0
"""AMQP 0-9-1 by hand: a client that holds messages unacknowledged, and a server that logs everybody in and then says whatever a test wants."""
import contextlib
import socket
import struct

HELLO = b"AMQP\0\0\x09\x01"


def frame(channel, payload, kind=1):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel, one, other, arguments=b""):
    return frame(channel, struct.pack(">HH", one, other) + arguments)


def short(text):
    data = text.encode()
    return bytes([len(data)]) + data


def exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("ended")
        data += more
    return data


def read_frame(connection):
    """(kind, channel, payload)"""
    kind, channel, size = struct.unpack(">BHI", exactly(connection, 7))
    payload = exactly(connection, size)
    assert exactly(connection, 1) == b"\xce"
    return kind, channel, payload


def read_method(connection):
    """(channel, (class, method), arguments), heartbeats left out"""
    while True:
        kind, channel, payload = read_frame(connection)
        if kind == 1:
            return channel, struct.unpack(">HH", payload[:4]), payload[4:]


# ---- A client ----

class Holder:
    """Takes messages and does not acknowledge them, until end()."""

    def __init__(self, port, login, vhost="/"):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.connection.sendall(HELLO)
        self._expect((10, 10))
        answer = "\0".join(("", *login)).encode()
        self.connection.sendall(method(0, 10, 11, struct.pack(">I", 0) + short("PLAIN") + struct.pack(">I", len(answer)) + answer + short("en_US")))
        self._expect((10, 30))
        self.connection.sendall(method(0, 10, 31, struct.pack(">HIH", 1, 131072, 0)) + method(0, 10, 40, short(vhost) + b"\0\0"))
        self._expect((10, 41))
        self.connection.sendall(method(1, 20, 10, b"\0"))
        self._expect((20, 11))

    def _expect(self, wanted):
        _, found, arguments = read_method(self.connection)
        assert found == wanted, (found, arguments)

    def take(self, queue, count=1):
        for _ in range(count):
            self.connection.sendall(method(1, 60, 70, b"\0\0" + short(queue) + b"\0"))
            self._expect((60, 71))
            for _ in range(2):  # header and body
                read_frame(self.connection)

    def end(self):
        """What it held is ready again."""
        self.connection.close()


# ---- A server ----

def logs_in(connection):
    """Everybody, and opens all channels."""
    assert exactly(connection, 8) == HELLO
    connection.sendall(method(0, 10, 10, b"\0\x09" + struct.pack(">I", 0) + struct.pack(">I", 5) + b"PLAIN" + struct.pack(">I", 5) + b"en_US"))
    read_method(connection)
    connection.sendall(method(0, 10, 30, struct.pack(">HIH", 2047, 131072, 60)))
    for _ in range(2):
        read_method(connection)
    connection.sendall(method(0, 10, 41, b"\0"))


def declare_ok(channel, arguments, messages):
    """The answer to a declaration."""
    queue = arguments[2:3 + arguments[2]]
    return method(channel, 50, 11, queue + struct.pack(">II", messages, 0))


def serves(answer):
    """answer(connection, channel, arguments) is called for each declaration."""
    def behave(connection):
        with contextlib.suppress(ConnectionError):
            logs_in(connection)
            while True:
                channel, what, arguments = read_method(connection)
                if what == (20, 10):
                    connection.sendall(method(channel, 20, 11, struct.pack(">I", 0)))
                elif what == (50, 10):
                    answer(connection, channel, arguments)
    return behave
