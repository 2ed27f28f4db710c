# SPDX-License-Identifier: Apache-2.0
"""Servers at hundreds of addresses of loopback, each at one port: one that takes no connection, and one that sends most of a large answer and no more."""
import contextlib
import errno
import selectors
import socket
import struct
import threading


def listen_at(count, backlog=16):
    """So many listening sockets, at addresses of their own."""
    sockets, port = [], 0
    while len(sockets) < count:
        n = len(sockets)
        try:
            sockets.append(socket.create_server((f"127.7.{n // 250}.{n % 250 + 1}", port), backlog=backlog))
            port = sockets[0].getsockname()[1]
        except OSError as e:    # another process has this port there
            if e.errno != errno.EADDRINUSE:
                raise
            for s in sockets:
                s.close()
            sockets, port = [], 0
    return sockets


def addresses_of(sockets):
    return ["%s:%d" % s.getsockname() for s in sockets]


class Silent:
    """Connections are made by the kernel, and never taken: whoever connects is not answered."""

    def __init__(self, count):
        self.sockets = listen_at(count)
        self.addresses = addresses_of(self.sockets)

    def end(self):
        for s in self.sockets:
            s.close()


def message(kind, body):
    return kind + struct.pack(">I", 4 + len(body)) + body


class Halfway:
    """
    Speaks HTTP, Redis and PostgreSQL, as it is spoken to, and sends all but the end of an answer of a megabyte; who has had it waits. Real servers
    could not be stopped at that point.
    """
    SIZE = 1000000
    SENT = SIZE - 50000

    def __init__(self, count):
        self.sockets = listen_at(count)
        self.addresses = addresses_of(self.sockets)
        self.served = 0
        self.waiting = []
        self.selector = selectors.DefaultSelector()
        self.over = False
        for s in self.sockets:
            s.setblocking(False)
            self.selector.register(s, selectors.EVENT_READ, self._accept)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over:
            for key, _ in self.selector.select(0.2):
                key.data(key.fileobj)

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, self._hear)

    def _hear(self, connection):
        heard = b""
        with contextlib.suppress(OSError):
            heard = connection.recv(65536)
        reply = self._reply(heard)
        if not heard or reply is None:
            self.selector.unregister(connection)
            connection.close()
            return
        self.selector.modify(connection, selectors.EVENT_WRITE, lambda c: self._send(c, reply, len(reply) > 1000))

    def _send(self, connection, reply, large):
        try:
            rest = reply[connection.send(reply[:65536]):]
        except BlockingIOError:
            return
        except OSError:
            self.selector.unregister(connection)
            connection.close()
            return
        if rest:
            self.selector.modify(connection, selectors.EVENT_WRITE, lambda c: self._send(c, rest, large))
        elif large:
            self.served += 1
            self.waiting.append(connection)
            self.selector.unregister(connection)
        else:
            self.selector.modify(connection, selectors.EVENT_READ, self._hear)

    def _reply(self, heard):
        filler = b"1," * (self.SENT // 2)
        if heard.startswith(b"GET "):
            return b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{"n":[' % self.SIZE + filler
        if heard.startswith(b"*"):
            return b"$%d\r\n" % self.SIZE + filler
        if heard[4:8] == struct.pack(">I", 196608):
            return message(b"R", struct.pack(">I", 0)) + message(b"Z", b"I")
        if heard.startswith(b"Q"):
            columns = struct.pack(">H", 1) + b"n\0" + struct.pack(">IHIHIH", 0, 0, 25, 0xFFFF, 0xFFFFFFFF, 0)
            row = struct.pack(">HI", 1, self.SIZE)
            return message(b"T", columns) + b"D" + struct.pack(">I", 4 + len(row) + self.SIZE) + row + filler
        return None

    def end(self):
        self.over = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        for connection in self.waiting:
            connection.close()
        self.selector.close()
