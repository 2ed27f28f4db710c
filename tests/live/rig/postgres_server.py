# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL on a loopback port, and pgbouncer in front of it. Neither runs as root: then they are another user's."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from .process import Process, free_port, open_way
from .waiting import eventually

ADMIN = "admin"
PASSWORD = "right-password"


def _bin(name):
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    path = str(found[-1]) if found else shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    assert path, f"{name} is missing: contrib/install-deps.sh --tests installs it"
    return path


def _somebody():
    """Whom servers run as that refuse root; None when we are not root ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("neither user postgres nor nobody is there")


def _as_somebody(command):
    who = _somebody()
    return command if who is None else ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", *command]


def _give(path):
    who = _somebody()
    if who is not None:
        os.chown(path, who.pw_uid, who.pw_gid)


class PostgresServer:
    """Users: admin, and whom user() makes. hba: lines of pg_hba.conf before the last one, which lets admin in by the Unix socket."""

    def __init__(self, directory, name, hba=("host all all 127.0.0.1/32 scram-sha-256",), settings=(), tls=None, client_ca=None):
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        open_way(self.dir)
        self.sockets = self.dir / "s"
        self.data = self.dir / "data"
        for folder in (self.sockets, self.data):
            folder.mkdir()
            _give(folder)
        self.port = free_port()
        self.process = None
        done = subprocess.run(_as_somebody([_bin("initdb"), "-D", str(self.data), "-U", ADMIN, "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8", "--no-instructions"]),
                              capture_output=True, text=True, timeout=60, check=False, cwd="/")
        assert done.returncode == 0, done.stderr
        self.settings = {"port": self.port, "listen_addresses": "'127.0.0.1'", "unix_socket_directories": f"'{self.sockets}'", "fsync": "off", "max_connections": 40,
                         "shared_buffers": "16MB", "log_connections": "on", "autovacuum": "off", **dict(settings)}
        if tls:
            self.certify(tls, client_ca)
        self.hba(*hba)
        self.start()
        self.sql("CREATE TABLE IF NOT EXISTS jobs (id serial PRIMARY KEY, done boolean NOT NULL DEFAULT false)")

    def certify(self, pair, client_ca=None):
        """Takes this certificate from the next (re)start or reload on."""
        for name, source in (("server.crt", pair.cert), ("server.key", pair.key), ("root.crt", client_ca)):
            if source:
                shutil.copyfile(source, self.data / name)
                os.chmod(self.data / name, 0o600)
                _give(self.data / name)
        self.settings.update({"ssl": "on", **({"ssl_ca_file": "'root.crt'"} if client_ca else {})})

    def hba(self, *lines):
        (self.data / "pg_hba.conf").write_text("\n".join([*lines, f"local all {ADMIN} trust", ""]))

    def configure(self):
        (self.data / "postgresql.auto.conf").write_text("".join(f"{key} = {value}\n" for key, value in self.settings.items()))

    def reload(self):
        self.configure()
        self.sql("SELECT pg_reload_conf()")

    def start(self):
        """Also again, on the same port, after stop and kill."""
        self.configure()
        with contextlib.suppress(FileNotFoundError):
            (self.data / "postmaster.pid").unlink()
        self.process = Process(self.name, _as_somebody([_bin("postgres"), "-D", str(self.data)]), str(self.dir / "log"), cwd="/")
        eventually(lambda: self.sql("SELECT 1") == "1", timeout=90, every=0.05)

    def psql(self, sql, user=ADMIN, database="postgres", host=None, port=None, check=True, password=None):
        command = [_bin("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(host or self.sockets), "-p", str(port or self.port), "-U", user, "-d", database, "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, env={"PATH": os.environ["PATH"], "PGPASSWORD": password or "", "PGCONNECT_TIMEOUT": "5"})
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip() if check else done

    def sql(self, sql, **more):
        return self.psql(sql, **more)

    def user(self, name, password=PASSWORD, encryption="scram-sha-256", rights="SELECT"):
        self.sql(f"SET password_encryption = '{encryption}'; CREATE ROLE {name} LOGIN PASSWORD '{password}'; GRANT {rights} ON ALL TABLES IN SCHEMA public TO {name}")

    def jobs(self, count):
        """So many are there from now on."""
        self.sql(f"DELETE FROM jobs; INSERT INTO jobs (done) SELECT false FROM generate_series(1, {count})")

    def connections(self, application="kscaled"):
        return int(self.sql(f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{application}'"))

    def accepted(self):
        """How many connections there were of all, those of the Unix socket not counted."""
        return (self.dir / "log").read_text(errors="replace").count("connection received: host=127.0.0.1")

    def string(self, user=ADMIN, password=PASSWORD, **more):
        parts = {"host": "127.0.0.1", "port": self.port, "user": user, "password": password, "dbname": "postgres", **more}
        return " ".join(f"{key}={value}" for key, value in parts.items() if value is not None)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _family(self):
        """The postmaster and its children, which a signal to the one does not reach."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [self.process.pid, *map(int, children.read_text().split())] if self.process.alive() else []

    def _signal(self, number):
        for pid in self._family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        self._signal(signal.SIGKILL)
        self.process.kill()

    def freeze(self):
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    def end(self):
        if self.process and self.process.alive():
            self.thaw()
            self.process.signal(signal.SIGINT)  # fast: not waiting for clients
            self.process.wait(20)


class PgBouncer:
    """In transaction mode unless told; it lets everybody in whom it has in its list, with any password known to it."""

    def __init__(self, directory, name, server, users, mode="transaction", pool=2):
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        open_way(self.dir)
        _give(self.dir)
        self.port = free_port()
        listed = self.dir / "users"
        listed.write_text("".join(f'"{user}" "{password}"\n' for user, password in users.items()))
        config = self.dir / "pgbouncer.ini"
        config.write_text(f"[databases]\npostgres = host=127.0.0.1 port={server.port} dbname=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
                          f"auth_type = scram-sha-256\nauth_file = {listed}\npool_mode = {mode}\ndefault_pool_size = {pool}\nmax_client_conn = 500\n")
        self.process = Process(name, _as_somebody([_bin("pgbouncer"), str(config)]), str(self.dir / "log"), cwd="/")
        eventually(lambda: server.psql("SELECT 1", host="127.0.0.1", port=self.port, user=next(iter(users)), password=next(iter(users.values()))) == "1", every=0.05)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def end(self):
        if self.process.alive():
            self.process.signal(signal.SIGINT)
            self.process.wait(10)
