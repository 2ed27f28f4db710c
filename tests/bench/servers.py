# SPDX-License-Identifier: Apache-2.0
"""The servers of the benchmark's sources beside Redis: Kafka, PostgreSQL, Prometheus, RabbitMQ and what SQS looks like, with what each says of its own connections and queries."""
import base64
import glob
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from processes import Process, free_port


def wait_for(what, ready, timeout=30):
    deadline = time.monotonic() + timeout
    while not ready():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not start")
        time.sleep(0.1)


class Postgres(Process):
    """In a folder of its own, and not as root, which it refuses."""

    def __init__(self, log):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder, self.port = tempfile.mkdtemp(prefix="kscaled-bench-pg-"), free_port()
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            account = pwd.getpwnam(self.user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self.run(f"{self.bin}/initdb", "-D", f"{self.folder}/data", "-U", "bench", "-A", "trust")
        super().__init__([f"{self.bin}/postgres", "-D", f"{self.folder}/data", "-h", "127.0.0.1", "-p", str(self.port), "-k", self.folder, "-c", "fsync=off", "-c", "shared_buffers=32MB"], log)
        wait_for("PostgreSQL", lambda: subprocess.run([f"{self.bin}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode == 0)

    def start(self):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=self.user, cwd=self.folder)
        self.pid = self.child.pid

    def run(self, *command, text=None):
        return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, user=self.user, cwd=self.folder, encoding="utf-8").stdout

    def sql(self, text):
        return self.run(f"{self.bin}/psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-d", "postgres", "-qAt", text=text).strip()

    def session(self):
        """A function that sends a statement over one kept connection, without waiting for its answer; None ends it."""
        child = subprocess.Popen([f"{self.bin}/psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-d", "postgres", "-qAt"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 user=self.user, cwd=self.folder, encoding="utf-8")
        child.stdin.write("SELECT 1;\n")
        child.stdin.flush()
        time.sleep(1)

        def send(text):
            if text is None:
                child.stdin.close()
                child.wait(10)
                return
            child.stdin.write(text + "\n")
            child.stdin.flush()

        return send

    def connections_of_others(self):
        return int(self.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'psql'"))

    def queries(self):
        return int(self.sql("SELECT sum(xact_commit) FROM pg_stat_database"))

    def stop(self):
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Prometheus(Process):
    def __init__(self, folder, log):
        self.port = free_port()
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w") as file:
            file.write(f"global: {{scrape_interval: 5s}}\nscrape_configs: [{{job_name: self, static_configs: [{{targets: ['127.0.0.1:{self.port}']}}]}}]\n")
        super().__init__(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/prometheus", f"--web.listen-address=127.0.0.1:{self.port}"], log)
        wait_for("Prometheus", self.ready)

    def ready(self):
        try:
            return self.get("/-/ready") is not None
        except OSError:
            return False

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def samples(self, name, *parts):
        return sum(float(line.split()[-1]) for line in self.get("/metrics").splitlines() if line.startswith(name) and all(part in line for part in parts))

    def connections_of_others(self):
        """But for our own, and the one by which it scrapes itself."""
        name = "net_conntrack_listener_conn_"
        return int(self.samples(name + "accepted_total", 'listener_name="http"') - self.samples(name + "closed_total", 'listener_name="http"')) - 2

    def queries(self):
        return int(self.samples("prometheus_http_requests_total", 'handler="/api/v1/query"'))


class Rabbit(Process):
    """With a data folder, a cookie and a port mapper (epmd) of its own."""

    def __init__(self, folder, log):
        self.folder = os.path.join(folder, "rabbitmq")
        os.makedirs(os.path.join(self.folder, "home"))
        self.amqp_port, self.http_port, dist_port, epmd_port = (free_port() for _ in range(4))
        self.port = self.amqp_port
        with open(os.path.join(self.folder, "rabbitmq.conf"), "w") as file:
            file.write(f"listeners.tcp.1 = 127.0.0.1:{self.amqp_port}\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {self.http_port}\nlog.console = true\nlog.file = false\n")
        with open(os.path.join(self.folder, "plugins"), "w") as file:
            file.write("[rabbitmq_management].\n")
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": f"{self.folder}/home", "RUNNING_UNDER_SYSTEMD": "true", "ERL_EPMD_PORT": str(epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
               "RABBITMQ_CONF_ENV_FILE": "/dev/null", "RABBITMQ_NODENAME": f"bench-{dist_port}@localhost", "RABBITMQ_DIST_PORT": str(dist_port), "RABBITMQ_MNESIA_BASE": f"{self.folder}/data",
               "RABBITMQ_LOG_BASE": self.folder, "RABBITMQ_CONFIG_FILE": f"{self.folder}/rabbitmq.conf", "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/plugins",
               "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}"}
        with open(log, "ab") as file:
            self.epmd = subprocess.Popen(["epmd"], stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=env)
        time.sleep(0.3)
        super().__init__(glob.glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server"), log, env)
        wait_for("RabbitMQ", self.ready, 90)

    def request(self, path, method="GET", body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.http_port}/api/{path}", method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": "Basic " + base64.b64encode(b"guest:guest").decode(), "Content-Type": "application/json", "Connection": "close"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def ready(self):
        try:
            return self.request(f"health/checks/port-listener/{self.amqp_port}") is not None
        except OSError:
            return False

    def declare(self, queues):
        for queue in queues:
            self.request(f"queues/%2F/{queue}", "PUT", {"durable": False})
        wait_for("statistics", lambda: "messages" in self.request(f"queues/%2F/{queues[-1]}"))

    def connections_of_others(self):
        """To the port that is measured, as the kernel has them; ours ends with each request."""
        with open("/proc/net/tcp", encoding="ascii") as file:
            rows = [line.split() for line in file][1:]
        return sum(row[2] == f"0100007F:{self.port:04X}" and row[3] == "01" for row in rows)

    def stop(self):
        super().stop()
        self.epmd.kill()
        self.epmd.wait()


class Kafka:
    """One broker, as the live tests have it; empty topics of PARTITIONS partitions, and for each trigger a group, which has committed in all of them."""

    TOPICS, PARTITIONS = 100, 12

    def __init__(self, folder, groups):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
        from rig.kafka_server import KafkaServer  # needs what the live tests need
        self.server = KafkaServer(folder, "kafka")
        self.broker = self.server.first
        self.port = self.broker.ports["plain"]
        self.broker.do("topics", "topic", self.TOPICS, self.PARTITIONS)
        self.broker.do("commits", "group", groups, "topic", self.TOPICS, self.PARTITIONS)
        self.own = self.connections()

    def connections(self):
        """Established at the broker's end."""
        with open("/proc/net/tcp") as four, open("/proc/net/tcp6") as six:
            lines = [line.split() for line in [*four.readlines()[1:], *six.readlines()[1:]]]
        return sum(int(fields[1].rpartition(":")[2], 16) == self.port and fields[3] == "01" for fields in lines)

    def connections_of_others(self):
        return self.connections() - self.own

    def queries(self):
        return sum(int(self.broker.do("requests", name)) for name in ("Metadata", "FindCoordinator", "OffsetFetch", "ListOffsets"))

    def stop(self):
        self.server.end()


class Queues(Process):
    def __init__(self, log):
        self.port = free_port()
        super().__init__([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "queues.py"), str(self.port)], log)
        wait_for("the server of queues", self.ready)

    def counts(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5) as answer:
            return json.load(answer)

    def ready(self):
        try:
            return self.counts() is not None
        except OSError:
            return False

    def connections_of_others(self):
        return self.counts()["connections"] - 1

    def queries(self):
        return self.counts()["requests"]
