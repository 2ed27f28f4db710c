# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server, as far as its login goes, that asks for Kerberos: libpq would look for tickets and key servers, and wait for that."""
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


class KerberosServer(Scripted):
    """Says messages to whoever wants to log in; in pieces of so many bytes; under TLS when it has a certificate."""

    def __init__(self, *messages, piece=65536, certificate=None):
        super().__init__(self._login)
        self.messages = b"".join(messages)
        self.piece = piece
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

    def _login(self, connection):
        connection.settimeout(30)
        first = connection.recv(8, socket.MSG_PEEK)
        if self.context and len(first) == 8 and struct.unpack(">II", first)[1] == SSL_REQUEST:
            connection.recv(8)
            connection.sendall(b"S")
            with self.context.wrap_socket(connection, server_side=True) as secure:
                self._ask(secure)
        else:
            self._ask(connection)

    def _ask(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not connection.recv(65536):
            return
        self.logins += 1
        for at in range(0, len(self.messages), self.piece):
            connection.sendall(self.messages[at:at + self.piece])
        while connection.recv(65536):
            pass
