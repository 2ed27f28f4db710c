# SPDX-License-Identifier: Apache-2.0
"""A real RabbitMQ on loopback ports, with its management plug-in: a node with a name, a cookie, a data folder and a port mapper (epmd) of its own."""
import base64
import http.client
import json
import os
import pathlib
import subprocess
import time
import urllib.parse

from .process import OneProcess, Process, free_port
from .waiting import eventually

# Debian's script in /usr/sbin changes to the user rabbitmq, whose files are not ours.
PROGRAMS = "/usr/lib/rabbitmq/bin"
USER, PASSWORD = "kscaled", "pass:w/ord@1%"


def quoted(text):
    return urllib.parse.quote(text, safe="")


class RabbitServer(OneProcess):
    def __init__(self, directory, name="rabbitmq", tls=None, authority=None):
        """tls: a pki.Pair, for the ports tls_port (AMQP) and https_port; authority: who signs clients that log in by their certificate."""
        program = pathlib.Path(PROGRAMS) / "rabbitmq-server"
        assert program.exists(), "rabbitmq-server is missing: contrib/install-deps.sh --tests installs it"
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.port, self.http_port, self.dist_port, self.epmd_port = (free_port() for _ in range(4))
        self.tls_port, self.https_port = (free_port(), free_port()) if tls else (None, None)
        self.tls = tls
        self.issuer = str(self.dir / "issuer")
        self.authority = authority
        self.epmd = None
        self.connection = None
        self._configure()
        self.start()

    def _configure(self):
        lines = [f"listeners.tcp.1 = 127.0.0.1:{self.port}", f"management.tcp.port = {self.http_port}", "management.tcp.ip = 127.0.0.1",
                 "collect_statistics_interval = 1000",  # as the plug-in below: with less between, it tells rates of 0
                 "management.sample_retention_policies.global.minute = 1", "management.sample_retention_policies.basic.minute = 1", "management.sample_retention_policies.detailed.10 = 1",
                 "log.console = true", "log.console.level = info", "log.file = false", "loopback_users = none",
                 f"default_user = {USER}", "default_pass = guest", "vm_memory_high_watermark.absolute = 2GB", "disk_free_limit.absolute = 1MB"]
        if self.tls:
            for prefix in ("ssl_options", "management.ssl"):
                lines += [f"{prefix}.cacertfile = {self.authority.cert}", f"{prefix}.certfile = {self.tls.cert}", f"{prefix}.keyfile = {self.tls.key}"]
            lines += [f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}", f"management.ssl.port = {self.https_port}", "management.ssl.ip = 127.0.0.1",
                      "ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = false", "ssl_cert_login_from = common_name",
                      "auth_mechanisms.1 = PLAIN", "auth_mechanisms.2 = EXTERNAL"]
            # Tokens let in, too, that this key has signed.
            subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-out", self.issuer], check=True, capture_output=True)
            subprocess.run(["openssl", "pkey", "-in", self.issuer, "-pubout", "-out", f"{self.issuer}.pem"], check=True)
            lines += ["auth_backends.1 = internal", "auth_backends.2 = rabbit_auth_backend_oauth2", "auth_oauth2.resource_server_id = rabbitmq", "auth_oauth2.default_key = issuer",
                      f"auth_oauth2.signing_keys.issuer = {self.issuer}.pem", "auth_oauth2.algorithms.1 = RS256"]
        (self.dir / "rabbitmq.conf").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        plugins = "rabbitmq_management" + (",rabbitmq_auth_mechanism_ssl,rabbitmq_auth_backend_oauth2" if self.tls else "")
        (self.dir / "plugins").write_text(f"[{plugins}].\n", encoding="utf-8")
        (self.dir / "home").mkdir()

    def _environment(self):
        return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.dir / "home"), "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server
                "ERL_EPMD_PORT": str(self.epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_CONF_ENV_FILE": "/dev/null",
                "RABBITMQ_NODENAME": f"{self.name}-{self.dist_port}@localhost", "RABBITMQ_DIST_PORT": str(self.dist_port),
                "RABBITMQ_MNESIA_BASE": str(self.dir / "data"), "RABBITMQ_LOG_BASE": str(self.dir), "RABBITMQ_CONFIG_FILE": str(self.dir / "rabbitmq.conf"),
                "RABBITMQ_ADVANCED_CONFIG_FILE": str(self.dir / "none.config"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.dir / "plugins"),
                "RABBITMQ_PID_FILE": str(self.dir / "pid"), "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1"}

    def start(self):
        """Also again, on the same ports, after kill: what was declared is there again, and so are persistent messages."""
        environment = self._environment()
        if self.epmd is None:
            self.epmd = Process(f"{self.name}-epmd", ["epmd"], str(self.dir / "epmd.log"), env=environment)
            time.sleep(0.2)  # the server would start one itself, which nobody could end
        self.process = Process(self.name, [f"{PROGRAMS}/../lib/rabbitmq_server-{self._version()}/sbin/rabbitmq-server"], str(self.dir / "log"), env=environment)
        eventually(self.answers, timeout=90)
        if self.login == (USER, "guest"):
            self.set_password(PASSWORD)
            self.login = (USER, PASSWORD)

    login = (USER, "guest")  # a configuration file cannot hold every character

    @staticmethod
    def _version():
        folders = sorted(pathlib.Path(PROGRAMS).parent.glob("lib/rabbitmq_server-*"))
        assert len(folders) == 1, folders
        return folders[0].name.removeprefix("rabbitmq_server-")

    def end(self):
        super().end()
        if self.epmd:
            self.epmd.kill()

    # ---- The management API ----

    def request(self, method, path, body=None, login=None):
        user, password = login or self.login
        headers = {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode(), "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text else None

    def do(self, method, path, body=None):
        status, answer = self.request(method, "/api/" + path, body)
        assert 200 <= status < 300, (method, path, status, answer)
        return answer

    def answers(self):
        try:
            return self.request("GET", "/api/health/checks/port-listener/" + str(self.port))[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def set_password(self, password, user=USER, tags="administrator"):
        self.do("PUT", f"users/{quoted(user)}", {"password": password, "tags": tags})

    def add_user(self, user, password, vhosts=("/",), tags="monitoring"):
        """With no right but to enter and to look."""
        self.set_password(password, user, tags)
        for vhost in vhosts:
            self.do("PUT", f"permissions/{quoted(vhost)}/{quoted(user)}", {"configure": "^$", "write": "^$", "read": "^$"})

    def add_vhost(self, vhost):
        self.do("PUT", f"vhosts/{quoted(vhost)}")

    def declare(self, queue, vhost="/"):
        self.do("PUT", f"queues/{quoted(vhost)}/{quoted(queue)}", {"durable": True})

    def delete(self, queue, vhost="/"):
        self.do("DELETE", f"queues/{quoted(vhost)}/{quoted(queue)}")

    def publish(self, queue, count=1, vhost="/"):
        message = {"properties": {"delivery_mode": 2}, "routing_key": queue, "payload": "x", "payload_encoding": "string"}
        for _ in range(count):
            assert self.do("POST", f"exchanges/{quoted(vhost)}/amq.default/publish", message) == {"routed": True}

    def purge(self, queue, vhost="/"):
        self.do("DELETE", f"queues/{quoted(vhost)}/{quoted(queue)}/contents")

    def fill(self, queue, count, vhost="/"):
        """Declared, and with so many messages."""
        self.declare(queue, vhost)
        self.publish(queue, count, vhost)

    def connections(self):
        """Open ones over AMQP."""
        return self.do("GET", "connections?columns=name,user,vhost,client_properties,ssl,auth_mechanism,channels")

    def take(self, queue, count, vhost="/"):
        """So many are consumed, and acknowledged."""
        return self.do("POST", f"queues/{quoted(vhost)}/{quoted(queue)}/get", {"count": count, "ackmode": "ack_requeue_false", "encoding": "auto"})

    # ---- Addresses ----

    def url(self, scheme="amqp", vhost="", login=True):
        port = {"amqp": self.port, "amqps": self.tls_port, "http": self.http_port, "https": self.https_port}[scheme]
        user = f"{quoted(self.login[0])}:{quoted(self.login[1])}@" if login else ""
        return f"{scheme}://{user}127.0.0.1:{port}/{quoted(vhost) if vhost else ''}"
