# SPDX-License-Identifier: Apache-2.0
"""A thousand triggers (of RabbitMQ 600) on one server, each with a question of its own, asked every 5 s: what that costs kscaled, and what the server sees of it."""
import time
import urllib.request

from plane import NS
from servers import Kafka, Postgres, Prometheus, Queues, Rabbit

COUNT, POLL_S, WATCHED_S = 1000, 5, 60


def redis_trigger(port, i):
    return {"type": "redis", "metadata": {"address": f"127.0.0.1:{port}", "listName": f"list{i}", "listLength": "5"}}


def postgresql_trigger(port, i):
    return {"type": "postgresql", "metadata": {"host": "127.0.0.1", "port": str(port), "userName": "bench", "dbName": "postgres", "sslmode": "disable",
                                               "query": f"SELECT count(*) FROM jobs WHERE queue = {i}", "targetQueryValue": "5"}}


def prometheus_trigger(port, i):
    return {"type": "prometheus", "metadata": {"serverAddress": f"http://127.0.0.1:{port}", "query": f'sum(prometheus_http_requests_total{{code="{i}"}}) or vector(0)', "threshold": "5"}}


def amqp_trigger(port, i):
    return {"type": "rabbitmq", "metadata": {"host": f"amqp://127.0.0.1:{port}", "queueName": f"q{i}", "mode": "QueueLength", "value": "5"}}


def http_trigger(port, i):
    return {"type": "rabbitmq", "metadata": {"host": f"http://guest:guest@127.0.0.1:{port}", "queueName": f"q{i}", "mode": "QueueLength", "value": "5"}}


def kafka_trigger(port, i):
    return {"type": "kafka", "metadata": {"bootstrapServers": f"localhost:{port}", "consumerGroup": f"group{i}", "topic": f"topic{i % Kafka.TOPICS}", "lagThreshold": "5"}}


def sqs_trigger(port, i):
    return {"type": "aws-sqs-queue", "metadata": {"queueURL": f"https://sqs.eu-west-1.amazonaws.com/123456789012/orders{i}", "awsRegion": "eu-west-1", "awsEndpoint": f"http://127.0.0.1:{port}", "queueLength": "5"},
            "authenticationRef": {"name": "aws"}}


AWS_LOGINS = f"/apis/keda.sh/v1alpha1/namespaces/{NS}/triggerauthentications"
AWS_LOGIN = f"{AWS_LOGINS}/aws"


def make_aws_login(api):
    """What sqs_trigger refers to."""
    api.call("POST", f"/api/v1/namespaces/{NS}/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "aws"}, "stringData": {"id": "AKIAIOSFODNN7EXAMPLE", "secret": "wJalrXUtnFEMI/K7MDENG"}})
    api.call("POST", AWS_LOGINS, {
        "apiVersion": "keda.sh/v1alpha1", "kind": "TriggerAuthentication", "metadata": {"name": "aws"},
        "spec": {"secretTargetRef": [{"parameter": "awsAccessKeyID", "name": "aws", "key": "id"}, {"parameter": "awsSecretAccessKey", "name": "aws", "key": "secret"}]}})


class Sources:
    """Sections of the benchmark (class Bench in run)."""

    def redis_1000(self):
        self.thousand("redis", self.redis, redis_trigger)

    def postgresql_1000(self):
        server = self.keep(Postgres(f"{self.folder}/postgres.log"))
        server.sql("CREATE TABLE jobs (queue int, body text); CREATE INDEX ON jobs (queue); INSERT INTO jobs SELECT 5000 + i, 'x' FROM generate_series(1, 1000) i; ANALYZE jobs")
        self.thousand("postgresql", server, postgresql_trigger)
        self.drop(server)

    def prometheus_1000(self):
        server = self.keep(Prometheus(self.folder, f"{self.folder}/prometheus.log"))
        self.thousand("prometheus", server, prometheus_trigger)
        self.drop(server)

    def rabbitmq_600(self):
        server = self.keep(Rabbit(self.folder, f"{self.folder}/rabbitmq.log"))
        self.say("600 queues: declaring")
        server.declare([f"q{i}" for i in range(600)])
        for kind, port, trigger in (("amqp", server.amqp_port, amqp_trigger), ("http", server.http_port, http_trigger)):
            server.port = port
            self.thousand(f"rabbitmq_{kind}", server, trigger, 600)
        self.drop(server)

    def kafka_1000(self):
        server = self.keep(Kafka(self.folder, COUNT))
        self.thousand("kafka", server, kafka_trigger)
        self.drop(server)

    def sqs_1000(self):
        """What is signed is not verified: that is the live tests' matter."""
        make_aws_login(self.api)
        server = self.keep(Queues(f"{self.folder}/queues.log"))
        self.thousand("sqs", server, sqs_trigger)
        self.drop(server)

    def drop(self, child):
        child.stop()
        self.children.remove(child)

    def thousand(self, kind, server, trigger, count=COUNT):
        self.run_kscaled()  # so that memory is this section's alone
        self.say(f"{count} {kind} triggers: creating")
        queried = getattr(server, "queries", self.asked)  # RabbitMQ does not count passive declarations
        names = [f"{kind.replace('_', '-')}{i}" for i in range(count)]
        self.create_with_triggers(names, [trigger(server.port, i) for i in range(count)], POLL_S)
        self.wait_ready(names, 300)
        time.sleep(20)
        begin, cpu, queries, late, most = time.monotonic(), self.kscaled.cpu_s(), queried(), [], 0
        while time.monotonic() - begin < WATCHED_S:
            time.sleep(POLL_S)
            late += self.lateness_ms()
            most = max(most, server.connections_of_others())
        passed = time.monotonic() - begin
        self.note(f"{kind}_{count}_cpu_percent", 100 * (self.kscaled.cpu_s() - cpu) / passed)
        self.note(f"{kind}_{count}_rss_mib", self.kscaled.rss_kib()[0] / 1024)
        self.note(f"{kind}_{count}_connections", most)
        self.note(f"{kind}_{count}_queries_per_s", (queried() - queries) / passed)
        late.sort()
        self.note(f"{kind}_{count}_late_p99_ms", late[int(len(late) * 0.99)])
        self.remove_all()

    def status(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.kscaled.status_port}/metrics", timeout=10) as answer:
            return answer.read().decode().splitlines()

    def asked(self):
        """How many questions kscaled has put to sources."""
        return sum(float(line.split()[-1]) for line in self.status() if line.startswith("kscaled_readings_questions_total"))

    def lateness_ms(self):
        """How late the newest poll of each object began. Asking is part of what is measured: twelve scrapes of a thousand objects a minute."""
        return [1000 * float(line.split()[-1]) for line in self.status() if line.startswith("keda_internal_scale_loop_latency_seconds{")]


def figures():
    """As in run: key, what it is, unit, KEDA's, aim."""
    for kind, count, keda, connections, cpu in (("redis", 1000, None, "<= 1", "<= 1"), ("postgresql", 1000, None, "<= 2", "<= 1"), ("prometheus", 1000, None, None, "<= 1"),
                                                ("rabbitmq_amqp", 600, None, "<= 1", "<= 1"), ("rabbitmq_http", 600, None, "<= 4", "<= 1"), ("kafka", 1000, None, "<= 1", "<= 2"),
                                                ("sqs", 1000, None, "<= 8", "<= 1")):
        yield f"{kind}_{count}_cpu_percent", f"{count:,} {kind.replace('_', ' by ')} triggers, poll 5 s: CPU", "% of a core", None, cpu
        yield f"{kind}_{count}_rss_mib", "  RSS", "MiB", None, "<= 30"
        yield f"{kind}_{count}_connections", "  connections that the server sees, most", "", keda, connections
        yield f"{kind}_{count}_queries_per_s", "  queries that the server sees", "1/s", None, None
        yield f"{kind}_{count}_late_p99_ms", "  polls late by, p99", "ms", None, "<= 50"
