# SPDX-License-Identifier: Apache-2.0
"""A thousand triggers on one server, each with a question of its own, asked every 5 s: what that costs kscaled, and what the server sees of it."""
import time
import urllib.request

from servers import Kafka, Postgres, Prometheus

COUNT, POLL_S, WATCHED_S = 1000, 5, 60


def redis_trigger(port, i):
    return {"type": "redis", "metadata": {"address": f"127.0.0.1:{port}", "listName": f"list{i}", "listLength": "5"}}


def postgresql_trigger(port, i):
    return {"type": "postgresql", "metadata": {"host": "127.0.0.1", "port": str(port), "userName": "bench", "dbName": "postgres", "sslmode": "disable",
                                               "query": f"SELECT count(*) FROM jobs WHERE queue = {i}", "targetQueryValue": "5"}}


def prometheus_trigger(port, i):
    return {"type": "prometheus", "metadata": {"serverAddress": f"http://127.0.0.1:{port}", "query": f'sum(prometheus_http_requests_total{{code="{i}"}}) or vector(0)', "threshold": "5"}}


def kafka_trigger(port, i):
    return {"type": "kafka", "metadata": {"bootstrapServers": f"localhost:{port}", "consumerGroup": f"group{i}", "topic": f"topic{i % Kafka.TOPICS}", "lagThreshold": "5"}}


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

    def kafka_1000(self):
        server = self.keep(Kafka(self.folder, COUNT))
        self.thousand("kafka", server, kafka_trigger)
        self.drop(server)

    def drop(self, child):
        child.stop()
        self.children.remove(child)

    def thousand(self, kind, server, trigger):
        self.run_kscaled()  # so that memory is this section's alone
        self.say(f"{COUNT} {kind} triggers: creating")
        names = [f"{kind}{i}" for i in range(COUNT)]
        self.create_with_triggers(names, [trigger(server.port, i) for i in range(COUNT)], POLL_S)
        self.wait_ready(names, 300)
        time.sleep(20)
        begin, cpu, queries, late = time.monotonic(), self.kscaled.cpu_s(), server.queries(), []
        while time.monotonic() - begin < WATCHED_S:
            time.sleep(POLL_S)
            late += self.lateness_ms()
        passed = time.monotonic() - begin
        self.note(f"{kind}_1000_cpu_percent", 100 * (self.kscaled.cpu_s() - cpu) / passed)
        self.note(f"{kind}_1000_rss_mib", self.kscaled.rss_kib()[0] / 1024)
        self.note(f"{kind}_1000_connections", server.connections_of_others())
        self.note(f"{kind}_1000_queries_per_s", (server.queries() - queries) / passed)
        late.sort()
        self.note(f"{kind}_1000_late_p99_ms", late[int(len(late) * 0.99)])
        self.remove_all()

    def lateness_ms(self):
        """How late the newest poll of each object began. Asking is part of what is measured: twelve scrapes of a thousand objects a minute."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.kscaled.status_port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return [1000 * float(line.split()[-1]) for line in text.splitlines() if line.startswith("keda_internal_scale_loop_latency_seconds{")]


def figures():
    """As in run: key, what it is, unit, KEDA's, aim."""
    for kind, connections, cpu in (("redis", "<= 1", "<= 1"), ("postgresql", "<= 2", "<= 1"), ("prometheus", None, "<= 1"), ("kafka", "<= 1", "<= 2")):
        yield f"{kind}_1000_cpu_percent", f"1,000 {kind} triggers, poll 5 s: CPU", "% of a core", None, cpu
        yield f"{kind}_1000_rss_mib", "  RSS", "MiB", None, "<= 30"
        yield f"{kind}_1000_connections", "  connections that the server sees", "", None, connections
        yield f"{kind}_1000_queries_per_s", "  queries that the server sees", "1/s", None, None
        yield f"{kind}_1000_late_p99_ms", "  polls late by, p99", "ms", None, "<= 50"
