# SPDX-License-Identifier: Apache-2.0
"""What a tenant can do by TLS: a server that sends session tickets without end, and a client key whose password takes an hour to try."""
import base64
import pathlib
import socket
import subprocess

from ..process import Process, free_port
from ..waiting import eventually

SOURCE = pathlib.Path(__file__).with_name("tls_flood.c")


class TicketFlood:
    """pair: its certificate."""

    def __init__(self, directory, pair):
        self.port = free_port()
        program = pathlib.Path(directory) / "tls_flood"
        subprocess.run(["cc", "-O1", "-o", program, SOURCE, "-lssl", "-lcrypto"], check=True, timeout=120)
        self.log = pathlib.Path(directory) / "tls_flood.log"
        self.process = Process("tls_flood", [str(program), str(self.port), pair.cert, pair.key], str(self.log))
        eventually(self._listens, every=0.01)

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def floods(self):
        """Connections that it has flooded and that ended."""
        return self.log.read_text().count("flooded")

    def triggers(self):
        """By type."""
        return {
            "redis": {"type": "redis", "metadata": {"address": f"127.0.0.1:{self.port}", "listName": "l", "listLength": "5", "enableTLS": "true", "unsafeSsl": "true"}},
            "prometheus": {"type": "prometheus", "metadata": {"serverAddress": f"https://127.0.0.1:{self.port}", "query": "up", "threshold": "5", "unsafeSsl": "true"}},
        }

    def end(self):
        self.process.kill()


def _der(tag, *parts):
    body = b"".join(parts)
    length = bytes([len(body)]) if len(body) < 128 else bytes([0x81, len(body)])
    return bytes([tag]) + length + body


def locked_key(rounds):
    """A key in PEM, said to be encrypted by AES-256 and PBKDF2 with that many rounds: EncryptedPrivateKeyInfo (RFC 5958) with PBES2 (RFC 8018)."""
    oid = lambda digits: _der(0x06, bytes.fromhex(digits))
    sha256 = _der(0x30, oid("2a864886f70d0209"), b"\x05\x00")
    derive = _der(0x30, oid("2a864886f70d01050c"), _der(0x30, _der(0x04, b"saltsalt"), _der(0x02, rounds.to_bytes(4, "big")), sha256))
    cipher = _der(0x30, oid("60864801650304012a"), _der(0x04, bytes(16)))
    whole = _der(0x30, _der(0x30, oid("2a864886f70d01050d"), _der(0x30, derive, cipher)), _der(0x04, bytes(96)))
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{base64.encodebytes(whole).decode()}-----END ENCRYPTED PRIVATE KEY-----\n"


def give_locked(credentials, name, pair):
    """A TriggerAuthentication whose client key has the most rounds that can be written."""
    credentials.secret(name, cert=pathlib.Path(pair.cert).read_text(), key=locked_key(2**31 - 1), password="s3cret", tls="enable")
    given = {"cert": "cert", "key": "key", "keyPassword": "password", "tls": "tls"}
    credentials.authentication(name, secretTargetRef=[{"parameter": parameter, "name": name, "key": key} for parameter, key in given.items()])
