# SPDX-License-Identifier: Apache-2.0
"""
A TCP server that behaves as it is told. A real Redis cannot be made to answer half a reply, a giant one, garbage or one byte a second, and a broken network or a
hostile server does just that; everything that a real Redis can do is tested with a real one.
"""
import contextlib
import socket
import threading
import time


class Scripted:
    """Calls behave(connection) in a thread for each connection; the connection is closed when that returns."""

    def __init__(self, behave):
        self.behave = behave
        self.accepted = 0
        self.over = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.accepted += 1
                self.connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection:
            self.behave(connection)

    def end(self):
        self.over = True
        # close() alone would not wake the accept.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


def answers(reply):
    """Each command with the same bytes."""
    def behave(connection):
        while connection.recv(65536):
            connection.sendall(reply)
    return behave


def answers_once(reply):
    """The first command, and closes."""
    def behave(connection):
        connection.recv(65536)
        connection.sendall(reply)
    return behave


def floods(head, block, seconds=20):
    """Answers with head and then block without end."""
    def behave(connection):
        connection.recv(65536)
        connection.sendall(head)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.sendall(block)
    return behave


def closes(connection):
    """At once."""


def resets(connection):
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def silent(connection):
    while connection.recv(65536):
        pass


def half(reply):
    """Sends this much and no more."""
    def behave(connection):
        connection.recv(65536)
        connection.sendall(reply)
        silent(connection)
    return behave


def drips(reply):
    """One byte a second."""
    def behave(connection):
        connection.recv(65536)
        for byte in reply:
            connection.sendall(bytes([byte]))
            time.sleep(1)
        silent(connection)
    return behave
