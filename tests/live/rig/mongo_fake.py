# SPDX-License-Identifier: Apache-2.0
"""
Not MongoDB: its server is in no registry that tests may fetch from, and mongo-java-server knows neither logins nor replica sets. A server that speaks as MongoDB's documentation and its specifications of
drivers have it (the greeting, SCRAM-SHA-1 and SCRAM-SHA-256 computed here by hashlib, X.509, members and their roles, errors by their codes), holds each proof against the password to the letter, and counts what
it is told to count. What it was asked is kept.
"""
import base64
import contextlib
import hashlib
import hmac
import secrets
import ssl
import time

from . import mongo_wire
from .scripted import Scripted

HASHES = {"SCRAM-SHA-1": ("sha1", 10000), "SCRAM-SHA-256": ("sha256", 15000)}
NOT_PRIMARY = {"ok": 0.0, "errmsg": "not primary and secondaryOk=false", "code": 13435, "codeName": "NotPrimaryNoSecondaryOk"}
DENIED = {"ok": 0.0, "errmsg": "Authentication failed.", "code": 18, "codeName": "AuthenticationFailed"}
UNKNOWN = {"ok": 0.0, "errmsg": "no such command", "code": 59, "codeName": "CommandNotFound"}


def batch(count):
    return {"cursor": {"firstBatch": [{"_id": 1, "n": count}], "id": mongo_wire.Int64(0), "ns": "shop.jobs"}, "ok": 1.0}


class Login:
    """The server's side of one SCRAM conversation."""

    def __init__(self, mechanism, user, password, nonce):
        name, self.rounds = HASHES[mechanism]
        self.hash = getattr(hashlib, name)
        if name == "sha1":
            password = hashlib.md5(f"{user}:mongo:{password}".encode()).hexdigest()
        self.salt, self.nonce, self.bare = secrets.token_bytes(16), nonce + secrets.token_hex(8), f"n={user},r={nonce}"
        self.salted = hashlib.pbkdf2_hmac(name, password.encode(), self.salt, self.rounds)
        self.first = f"r={self.nonce},s={base64.b64encode(self.salt).decode()},i={self.rounds}"

    def _hmac(self, key, text):
        return hmac.new(key, text.encode(), self.hash).digest()

    def final(self, message):
        """What proves that the password is known here, too; None: the proof is wrong."""
        without, _, proof = message.rpartition(",p=")
        said = f"{self.bare},{self.first},{without}"
        key = self._hmac(self.salted, "Client Key")
        signature = self._hmac(self.hash(key).digest(), said)
        if without != f"c=biws,r={self.nonce}" or base64.b64decode(proof) != bytes(a ^ b for a, b in zip(key, signature)):
            return None
        return "v=" + base64.b64encode(self._hmac(self._hmac(self.salted, "Server Key"), said)).decode()


class MongoFake:
    """
    users: "database.name" -> password; then nothing is counted for who has not logged in. mechanisms: as it says them; None: it does not (before 4.0). tls: an ssl.SSLContext. members: of its set, if it has a name.
    counts: what a collection has; a function of the command and the connection is called instead, and may answer itself or return a document.
    """

    def __init__(self, users=None, mechanisms=("SCRAM-SHA-1", "SCRAM-SHA-256"), tls=None, set_name=None, counts=7, hello=True):
        self.users, self.mechanisms, self.tls, self.set_name, self.counts, self.knows_hello = dict(users or {}), mechanisms, tls, set_name, counts, hello
        self.role, self.members, self.primary, self.more = "primary", [], None, {}
        self.done_late = False  # servers before 4.4 want one more message at the end of a login
        self.asked, self.logins, self.secure = [], [], []
        self.server = Scripted(self._serve)
        self.address = self.server.address
        self.port = int(self.address.rpartition(":")[2])

    @property
    def accepted(self):
        return self.server.accepted

    def commands(self, name):
        return [one for one in self.asked if next(iter(one)) == name]

    def drop(self):
        """Ends the connections that there are."""
        for connection in [*self.server.connections, *self.secure]:  # the server has only the sockets that the latter were made of
            with contextlib.suppress(OSError):
                connection.shutdown(2)

    def end(self):
        self.server.end()
        self.drop()

    def _serve(self, connection):
        with contextlib.suppress(OSError, ssl.SSLError):
            secure = self.tls.wrap_socket(connection, server_side=True) if self.tls else connection
            if self.tls:
                self.secure.append(secure)
            with secure:
                state = {"user": None, "login": None}
                while True:
                    number, command = mongo_wire.receive(secure)
                    self.asked.append(command)
                    answer = self._answer(command, state, secure)
                    if answer is not None:
                        secure.sendall(mongo_wire.message(answer, 1, number))

    def _answer(self, command, state, connection):
        name = next(iter(command))
        if name == "hello" and not self.knows_hello:
            return UNKNOWN
        if name in ("hello", "isMaster"):
            return self._greeting(command)
        if name == "authenticate":
            subject = ",".join(f"{'CN' if key == 'commonName' else key}={value}" for ((key, value),) in connection.getpeercert()["subject"])
            state["user"] = f"$external.{subject}"
            return {"ok": 1.0} if command["mechanism"] == "MONGODB-X509" and state["user"] in self.users and command.get("user", subject) == subject else DENIED
        if name in ("saslStart", "saslContinue"):
            return self._login(command, state)
        if name != "aggregate":
            return UNKNOWN
        if self.users and not state["user"]:
            return {"ok": 0.0, "errmsg": "command aggregate requires authentication", "code": 13, "codeName": "Unauthorized"}
        if self.set_name and self.role != "primary" and command.get("$readPreference", {}).get("mode") in (None, "primary"):
            return NOT_PRIMARY
        return self.counts(command, connection) if callable(self.counts) else batch(self.counts)

    def _greeting(self, command):
        answer = {"isWritablePrimary" if self.knows_hello else "ismaster": not self.set_name or self.role == "primary", "maxWireVersion": 21, "minWireVersion": 0}
        if self.set_name:
            answer.update({"setName": self.set_name, "secondary": self.role == "secondary", "hosts": self.members, **({"primary": self.primary} if self.primary else {})})
        if self.mechanisms and command.get("saslSupportedMechs") in self.users:
            answer["saslSupportedMechs"] = list(self.mechanisms)
        return {**answer, **self.more, "ok": 1.0}

    def _login(self, command, state):
        text = command["payload"].decode()
        if "saslStart" in command:
            header, fields = text[:3], dict(part.split("=", 1) for part in text[3:].split(","))
            user = fields["n"].replace("=2C", ",").replace("=3D", "=")
            password = self.users.get(f"{command['$db']}.{user}")
            if header != "n,," or password is None or command["mechanism"] not in (self.mechanisms or ("SCRAM-SHA-1",)):
                return DENIED
            self.logins.append((f"{command['$db']}.{user}", command["mechanism"]))
            state.update(login=Login(command["mechanism"], fields["n"], password, fields["r"]), name=f"{command['$db']}.{user}")
            return {"conversationId": 1, "done": False, "payload": state["login"].first.encode(), "ok": 1.0}
        if not text:
            return {"conversationId": 1, "done": True, "payload": b"", "ok": 1.0}
        final = state["login"].final(text)
        if final is None:
            return DENIED
        state["user"] = state["name"]
        return {"conversationId": 1, "done": not self.done_late, "payload": final.encode(), "ok": 1.0}


def replica_set(name="rs0", size=3, **more):
    """As many fakes; the first is the primary."""
    fakes = [MongoFake(set_name=name, **more) for _ in range(size)]
    elect(fakes, fakes[0])
    return fakes


def elect(fakes, primary):
    """primary: None: there is none."""
    for fake in fakes:
        fake.role = "primary" if fake is primary else "secondary"
        fake.members, fake.primary = [one.address for one in fakes], primary and primary.address


def slowly(answer, seconds):
    """One byte after the other."""
    def counts(command, connection):
        for byte in mongo_wire.message(answer, 1, 3):
            connection.sendall(bytes([byte]))
            time.sleep(seconds)
    return counts
