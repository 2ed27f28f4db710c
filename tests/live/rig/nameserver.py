# SPDX-License-Identifier: Apache-2.0
"""A name server of the test's own, and how a program comes to ask it and no other: a mount namespace with a resolv.conf of its own."""
import contextlib
import pathlib
import random
import socket
import struct
import threading

A, TXT, AAAA, SRV = 1, 16, 28, 33
NO_ERROR, NO_SUCH_NAME = 0, 3
UDP_MAX, TTL = 512, 5


def _read_name(packet, at):
    labels = []
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += 1 + packet[at]
    return ".".join(labels).lower(), at + 1


def _labels(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


class NameServer:
    """
    names: {"good.test": ["127.0.0.1", ...]}. services: {"_x._tcp.good.test": [("host", port), ...]}; texts: {"good.test": ["text", ...]}; both may be changed at any time. What ends in ".silent" is never answered, other names do not exist; names None: nothing is ever answered. asked counts questions by name, by_tcp those that came over TCP.
    Sits on port 53, as resolv.conf knows no other, of an address of 127.0.0.0/8 that nobody else has.
    """

    def __init__(self, names, services=None, texts=None):
        self.names, self.services, self.texts = names, dict(services or {}), dict(texts or {})
        self.asked = {}
        self.by_tcp = {}
        while True:
            self.address = f"127.{random.randrange(16, 250)}.{random.randrange(256)}.{random.randrange(2, 250)}"
            with contextlib.suppress(OSError):
                self.tcp = socket.create_server((self.address, 53), backlog=64)
                break
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.udp.bind((self.address, 53))
        threading.Thread(target=self._serve_udp, daemon=True).start()
        threading.Thread(target=self._serve_tcp, daemon=True).start()

    def answer(self, packet, limit, counts):
        """The bytes of the answer, truncated beyond limit; None: silence."""
        number = packet[:2]
        name, end = _read_name(packet, 12)
        kind = struct.unpack(">H", packet[end:end + 2])[0]
        question = packet[12:end + 4]
        counts[name] = counts.get(name, 0) + 1
        if self.names is None or name.endswith(".silent"):
            return None
        data = {
            A: [socket.inet_aton(address) for address in self.names.get(name, ())],
            SRV: [struct.pack(">HHH", 0, 0, port) + _labels(host) for host, port in self.services.get(name, ())],
            TXT: [bytes([len(text)]) + text.encode() for text in self.texts.get(name, ())],
        }.get(kind, ())
        records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, TTL, len(one)) + one for one in data)
        count = len(data)
        code = NO_ERROR if name in self.names or name in self.services or name in self.texts else NO_SUCH_NAME
        if 12 + len(question) + len(records) > limit:
            return number + struct.pack(">HHHHH", 0x8380 | code, 1, 0, 0, 0) + question
        return number + struct.pack(">HHHHH", 0x8180 | code, 1, count, 0, 0) + question + records

    def _serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                packet, sender = self.udp.recvfrom(4096)
                if not packet:
                    return
                reply = self.answer(packet, UDP_MAX, self.asked)
                if reply:
                    self.udp.sendto(reply, sender)

    def _serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.tcp.accept()
                threading.Thread(target=self._serve_stream, args=(connection,), daemon=True).start()

    def _serve_stream(self, connection):
        with contextlib.suppress(OSError, struct.error), connection, connection.makefile("rb") as stream:
            while True:
                size = struct.unpack(">H", stream.read(2))[0]
                reply = self.answer(stream.read(size), 65535, self.by_tcp)
                if reply:
                    connection.sendall(struct.pack(">H", len(reply)) + reply)

    def resolv_conf(self, directory, *lines):
        """Written; a program under `under` reads it as its /etc/resolv.conf, also after it was written again."""
        path = pathlib.Path(directory) / "resolv.conf"
        path.write_text("".join(line + "\n" for line in (f"nameserver {self.address}", *lines)))
        return path

    def end(self):
        with contextlib.suppress(OSError):
            self.tcp.shutdown(socket.SHUT_RDWR)
        self.tcp.close()
        with contextlib.suppress(OSError):
            self.udp.shutdown(socket.SHUT_RDWR)
        self.udp.close()


def under(resolv_conf):
    """The words before a command that put this file in the place of /etc/resolv.conf; needs root. The process keeps its pid."""
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', str(resolv_conf)]
