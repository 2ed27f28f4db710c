# SPDX-License-Identifier: Apache-2.0
"""A way between two that can break: what is sent arrives, and the answers do not, or late; or all connections are cut."""
import collections
import contextlib
import selectors
import socket
import threading
import time


class TcpProxy:
    """Passes bytes on to host:port. Sees only bytes: TLS goes through it."""

    def __init__(self, host, port, own_port=0):
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", own_port), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pairs = set()
        self.dead = set()  # pairs
        self.answers_lost = False
        self.answers_late = 0.0  # by so many seconds
        self.sent = 0  # bytes passed on to the target
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def way(self, client):
        """Where this connection leads."""
        return self.target

    def _serve(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(self.way(client), 5) as server, selectors.DefaultSelector() as ready:
            pair = (client, server)
            for one in pair:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.pairs.add(pair)
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            late = collections.deque()
            try:
                while True:
                    for key, _ in ready.select(0.005 if late else None):
                        data = key.fileobj.recv(65536)
                        if not data:
                            return
                        if pair in self.dead:
                            continue
                        if key.fileobj is client:
                            self.sent += len(data)
                            server.sendall(data)
                        elif not self.answers_lost:
                            late.append((time.monotonic() + self.answers_late, data))
                    while late and late[0][0] <= time.monotonic():
                        client.sendall(late.popleft()[1])
            finally:
                with self.lock:
                    self.pairs.discard(pair)
                    self.dead.discard(pair)

    def lose_answers(self):
        """From now on, until cut(): what the client sends arrives, and it hears nothing."""
        self.answers_lost = True

    def freeze(self):
        """The connections of this moment are dead for ever: what is sent is acknowledged, and neither arrives nor is answered. New ones are as they should be."""
        with self.lock:
            self.dead |= self.pairs

    def cut(self):
        """All connections end; new ones are as they should be."""
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self.answers_lost = False

    def end(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
