# SPDX-License-Identifier: Apache-2.0
"""A real MariaDB on a loopback port and a Unix socket, with TLS; asked as root by the mariadb program. And what a server says on the wire, for one that misbehaves."""
import contextlib
import hashlib
import os
import pathlib
import shutil
import struct
import subprocess

from . import pki
from .process import OneProcess, Process, free_port, open_way
from .waiting import eventually


def find(name):
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    assert path, f"{name} is missing: contrib/install-deps.sh --tests installs it"
    return path


class MariadbServer(OneProcess):
    """Database shop with the table jobs; user "scaler" with PASSWORD. `serving` is its certificate, signed by `authority`, for localhost."""

    PASSWORD = "open-sesame"

    def __init__(self, directory, name="mariadb"):
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        open_way(self.dir)  # the server gives up root's rights
        self.name = name
        self.port = free_port()
        self.socket = self.dir / "sock"
        self.authority = pki.authority(self.dir, "mariadb-ca")
        self.serving = pki.certificate(self.dir, "serving", self.authority, "localhost")
        self._configure()
        install = subprocess.run([find("mariadb-install-db"), f"--defaults-file={self.dir}/my.cnf", "--auth-root-authentication-method=normal", "--skip-test-db"], capture_output=True, timeout=120, check=False)
        assert install.returncode == 0, install
        self.process = None
        self.start()
        self.sql(f"CREATE DATABASE shop; CREATE TABLE shop.jobs (id INT PRIMARY KEY AUTO_INCREMENT, kind VARCHAR(20)); CREATE USER scaler@'%' IDENTIFIED BY '{self.PASSWORD}'; GRANT SELECT ON shop.* TO scaler@'%'")

    def _configure(self):
        own = [f"datadir={self.dir}/data", f"socket={self.socket}", f"port={self.port}", "bind-address=127.0.0.1", f"pid-file={self.dir}/pid", f"ssl-ca={self.authority.cert}", f"ssl-cert={self.serving.cert}",
               f"ssl-key={self.serving.key}", "skip-name-resolve", "skip-log-bin", "innodb-buffer-pool-size=8M", "innodb-log-file-size=4M", "innodb-flush-log-at-trx-commit=0", "performance-schema=OFF"]
        (self.dir / "my.cnf").write_text("\n".join(["[mariadbd]", *own, *(["user=mysql"] if os.geteuid() == 0 else [])]) + "\n")
        self.give(self.dir)

    def give(self, path):
        """To the user that the server runs as."""
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "mysql", str(path)], check=True)

    def start(self):
        """Also again, on the same port and with the same data, after stop and kill."""
        self.process = Process(self.name, [find("mariadbd"), f"--defaults-file={self.dir}/my.cnf"], str(self.dir / "log"))
        eventually(self.answers, timeout=90, every=0.05)

    def answers(self):
        assert self.process.alive(), self.process.tail()
        return self.sql("SELECT 1", check=False).strip() == "1"

    def sql(self, text, check=True):
        done = subprocess.run([find("mariadb"), "--no-defaults", "-N", "-B", "-u", "root", "-S", self.socket, "-e", text], capture_output=True, timeout=60, check=False)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.stdout.decode()

    def fill(self, count):
        self.sql("DELETE FROM shop.jobs" if not count else "DELETE FROM shop.jobs; INSERT INTO shop.jobs (kind) VALUES " + ",".join(["('mail')"] * count))

    @contextlib.contextmanager
    def occupied(self, user):
        """A connection of this user's, all the while."""
        process = subprocess.Popen([find("mariadb"), "--no-defaults", "-u", user, f"-p{self.PASSWORD}", "-h", "127.0.0.1", "-P", str(self.port), "-e", "SELECT SLEEP(600)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: len(self.connections(user)) == 1)
            yield
        finally:
            process.kill()
            process.wait()

    def connections(self, user="scaler"):
        return [int(line) for line in self.sql(f"SELECT id FROM information_schema.processlist WHERE user='{user}'").split()]


# --- the wire ---

def packet(number, payload):
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def text(value):
    return bytes([len(value)]) + value


OK = b"\0\0\0\2\0\0\0"
EOF = b"\xfe\0\0\2\0"
SALT = b"abcdefghijklmnopqrst"
CAPABILITIES = 0x1 | 0x8 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x80000


def greeting(tls=False):
    capabilities = CAPABILITIES | (0x800 if tls else 0)
    return packet(0, b"\x0a5.5.5-10.11.6-MariaDB\0" + struct.pack("<I", 7) + SALT[:8] + b"\0" + struct.pack("<HBHH", capabilities & 0xffff, 45, 2, capabilities >> 16) + bytes([21]) + bytes(10)
                  + SALT[8:] + b"\0mysql_native_password\0")


COLUMN = text(b"def") + text(b"") * 3 + text(b"n") * 2 + b"\x0c" + struct.pack("<HIBHB", 45, 20, 8, 0, 0) + b"\0\0"


def answer(value):
    return packet(1, b"\1") + packet(2, COLUMN) + packet(3, EOF) + packet(4, text(value)) + packet(5, EOF)


def receive(connection):
    """One packet's payload; b"" at the end."""
    got = b""
    while len(got) < 4 or len(got) < 4 + int.from_bytes(got[:3], "little"):
        more = connection.recv(65536)
        if not more:
            return b""
        got += more
    return got[4:]


def serves(on_query, on_login=None, tls=False):
    """For scripted.Scripted: everybody gets in (or, with on_login, whom it sends OK and returns true for), SET is fine, what a reset would leave is not told, and on_query(connection, text) does as it likes with the rest."""
    def behave(connection):
        connection.sendall(greeting(tls))
        login = receive(connection)
        if on_login and not on_login(connection, login):
            return
        if not on_login:
            connection.sendall(packet(2, OK))
        while command := receive(connection):
            if command.startswith(b"\x03SET"):
                connection.sendall(packet(1, OK))
            elif b"@@init_connect" in command:
                connection.sendall(packet(1, b"\xff\x28\x04#42000none"))
            elif command.startswith(b"\x03"):
                on_query(connection, command[1:])
            elif command.startswith(b"\x01"):
                return
    return behave


def sha2_login(password, key=None):
    """How MySQL 8 asks by default (caching_sha2_password), as on_login: with a password that it has in its cache; or, with an RSA key (a PEM file), with one that it has not, over a line in the clear."""
    def sha(*parts):
        return hashlib.sha256(b"".join(parts)).digest()

    def on_login(connection, _):
        connection.sendall(packet(2, b"\xfecaching_sha2_password\0" + SALT + b"\0"))
        wanted = bytes(a ^ b for a, b in zip(sha(password), sha(sha(sha(password)), SALT)))
        if receive(connection) != wanted:
            connection.sendall(packet(4, b"\xff\x15\x04#28000Access denied"))
            return False
        number = 4
        if key:
            connection.sendall(packet(4, b"\1\4"))
            assert receive(connection) == b"\2", "the public key is asked for"
            connection.sendall(packet(6, b"\1" + pki.openssl("pkey", "-in", key, "-pubout")))
            padded = pki.openssl("pkeyutl", "-decrypt", "-inkey", key, "-pkeyopt", "rsa_padding_mode:oaep", stdin=receive(connection))
            assert bytes(c ^ SALT[i % 20] for i, c in enumerate(padded)) == password + b"\0"
            number = 7
        else:
            connection.sendall(packet(4, b"\1\3"))
        connection.sendall(packet(number + 1, OK))
        return True
    return on_login
