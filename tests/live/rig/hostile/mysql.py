# SPDX-License-Identifier: Apache-2.0
"""A MySQL server that no real one could be: under TLS it sends tickets and nothing else, for which OpenSSL has work, but the connector never an answer."""
import socket
import ssl

from ..mariadb_server import greeting, receive
from ..scripted import Scripted

TICKETS = 200000


class TicketServer(Scripted):
    """Sends so many tickets behind the handshake; how many handshakes there were, and how many of them the other side left before the last ticket."""

    def __init__(self, certificate):
        super().__init__(self._greet)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate.cert, certificate.key)
        self.context.num_tickets = TICKETS
        self.begun = self.left = 0

    def _greet(self, connection):
        connection.settimeout(60)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(greeting(tls=True))
        if not receive(connection):
            return
        self.begun += 1
        try:
            self.context.wrap_socket(connection, server_side=True)
        except OSError:
            self.left += 1

    def trigger(self):
        return {"type": "mysql", "metadata": {
            "host": "127.0.0.1", "port": self.address.rpartition(":")[2], "username": "u", "tls": "skip-verify", "dbName": "shop", "query": "SELECT 1", "queryValue": "1"}}
