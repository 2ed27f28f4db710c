# SPDX-License-Identifier: Apache-2.0
"""
A Kafka cluster of a tenant that costs as much as it may: hundreds of brokers, of which each asks for the most SCRAM iterations with a salt of its own, or a topic of
100,000 partitions about which nobody is told more. A real one does neither. It speaks the versions that kscaled asks for.
"""
import base64
import contextlib
import hashlib
import hmac
import selectors
import socket
import struct
import threading

from ..credentials import ref
from .many import addresses_of, listen_at

METADATA, LIST_OFFSETS, OFFSET_FETCH, FIND_COORDINATOR, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 3, 2, 9, 10, 17, 18, 36
APIS = (METADATA, LIST_OFFSETS, OFFSET_FETCH, FIND_COORDINATOR, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE)
USER, PASSWORD = "reader", "p1234-of-reader"
MOST = 100000  # iterations, and partitions
TOPIC = "jobs"


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def data(value):
    return struct.pack(">i", len(value)) + value


class Connection:
    def __init__(self, socket_, broker):
        self.socket, self.broker = socket_, broker
        self.input, self.output = b"", b""
        self.first = None   # of SCRAM: the messages until the proof


class Cluster:
    """
    The first broker is the bootstrap server and everybody's coordinator; each partition is led by the next broker in turn. silent_about: requests that are never
    answered.
    """

    def __init__(self, brokers=1, partitions=1, scram=False, silent_about=()):
        self.listeners = listen_at(brokers, backlog=64)
        self.addresses = addresses_of(self.listeners)
        self.partitions, self.scram, self.silent_about = partitions, scram, silent_about
        self.asked = dict.fromkeys(APIS, 0)
        self.salted = 0     # proofs that came from the brokers that ask for the most
        self.topic = self._topic()
        self.over = False
        self.selector = selectors.DefaultSelector()
        for broker, listener in enumerate(self.listeners):
            listener.setblocking(False)
            self.selector.register(listener, selectors.EVENT_READ, broker)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over:
            for key, events in self.selector.select(0.2):
                if not isinstance(key.data, Connection):
                    self._accept(key.fileobj, key.data)
                    continue
                try:
                    if events & selectors.EVENT_WRITE:
                        self._write(key.data)
                    if events & selectors.EVENT_READ:
                        self._read(key.data)
                except OSError:
                    self._close(key.data)

    def _accept(self, listener, broker):
        with contextlib.suppress(OSError):
            accepted, _ = listener.accept()
            accepted.setblocking(False)
            self.selector.register(accepted, selectors.EVENT_READ, Connection(accepted, broker))

    def _close(self, connection):
        self.selector.unregister(connection.socket)
        connection.socket.close()

    def _write(self, connection):
        with contextlib.suppress(BlockingIOError):
            connection.output = connection.output[connection.socket.send(connection.output):]
        self.selector.modify(connection.socket, selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.output else 0), connection)

    def _read(self, connection):
        came = connection.socket.recv(1 << 20)
        if not came:
            raise OSError
        connection.input += came
        while len(connection.input) >= 4:
            size, = struct.unpack_from(">i", connection.input)
            if len(connection.input) < 4 + size:
                break
            frame, connection.input = connection.input[4:4 + size], connection.input[4 + size:]
            api, _, correlation, client = struct.unpack_from(">hhih", frame)
            self.asked[api] += 1
            if api not in self.silent_about:
                answer = self._answer(connection, api, frame[10 + client:])
                connection.output += struct.pack(">ii", 4 + len(answer), correlation) + answer
        if connection.output:
            self._write(connection)

    def _place(self, broker):
        host, _, port = self.addresses[broker].partition(":")
        return struct.pack(">i", broker) + text(host) + struct.pack(">i", int(port))

    def _topic(self):
        partitions = b"".join(struct.pack(">hiiii", 0, p, p % len(self.addresses), 0, 0) for p in range(self.partitions))
        return struct.pack(">ih", 1, 0) + text(TOPIC) + b"\0" + struct.pack(">i", self.partitions) + partitions

    def _answer(self, connection, api, body):
        if api == API_VERSIONS:
            return struct.pack(">hi", 0, len(APIS)) + b"".join(struct.pack(">hhh", one, 0, 9) for one in APIS)
        if api == SASL_HANDSHAKE:
            return struct.pack(">h", 0) + struct.pack(">i", 1) + text("SCRAM-SHA-512")
        if api == SASL_AUTHENTICATE:
            return self._authenticate(connection, body[4:])
        if api == METADATA:
            return struct.pack(">ii", 0, len(self.addresses)) + b"".join(self._place(b) + text("") for b in range(len(self.addresses))) + text("") + struct.pack(">i", 0) + self.topic
        if api == FIND_COORDINATOR:
            return struct.pack(">ih", 0, 0) + text("") + self._place(0)
        if api == OFFSET_FETCH:
            offsets = b"".join(struct.pack(">iqhh", p, 0, 0, 0) for p in range(self.partitions))
            return struct.pack(">ii", 0, 1) + text(TOPIC) + struct.pack(">i", self.partitions) + offsets + struct.pack(">h", 0)
        return struct.pack(">ii", 0, 0)

    def _authenticate(self, connection, message):
        """The first broker knows the password, and so the others are heard of; these never come to that."""
        iterations = MOST if connection.broker else 4096
        salt = b"salt of %d" % connection.broker
        if connection.first is None:
            bare = message.decode().removeprefix("n,,")
            nonce = bare.partition(",r=")[2] + "x"
            mine = f"r={nonce},s={base64.b64encode(salt).decode()},i={iterations}"
            connection.first = f"{bare},{mine},c=biws,r={nonce}"
            return struct.pack(">hh", 0, -1) + data(mine.encode())
        if connection.broker:
            self.salted += 1
            return struct.pack(">h", 58) + text("no") + data(b"")
        salted = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), salt, iterations)
        key = hmac.digest(salted, b"Server Key", "sha512")
        return struct.pack(">hh", 0, -1) + data(b"v=" + base64.b64encode(hmac.digest(key, connection.first.encode(), "sha512")))

    def end(self):
        self.over = True
        self.thread.join(5)
        for key in list(self.selector.get_map().values()):
            with contextlib.suppress(OSError):
                key.fileobj.shutdown(socket.SHUT_RDWR)
            key.fileobj.close()
        self.selector.close()


def trigger(cluster, n, **metadata):
    return {"type": "kafka", "name": f"t{n}", "metadata": {"bootstrapServers": cluster.addresses[0], "consumerGroup": f"g{n}", "topic": TOPIC, "lagThreshold": "5", **metadata}}


def login_trigger(cluster, credentials):
    credentials.secret("login", username=USER, password=PASSWORD)
    credentials.authentication("login", secretTargetRef=[{"parameter": key, "name": "login", "key": key} for key in ("username", "password")])
    return {**trigger(cluster, 0, sasl="scram_sha512"), "authenticationRef": ref("login")}
