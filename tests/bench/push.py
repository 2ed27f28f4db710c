# SPDX-License-Identifier: Apache-2.0
"""Push: how soon after something came to a source is the write of /scale at the API server, when the next poll is half a minute away."""
import calendar
import json
import os
import statistics
import time

from measure import eventually, percentile
from servers import Postgres

POLL_S, SINGLE = 30, 220


def stream_trigger(port, name):
    return {"type": "redis-streams", "metadata": {"address": f"127.0.0.1:{port}", "stream": name, "streamLength": "5"}}


def list_trigger(port, name):
    return {"type": "redis", "metadata": {"address": f"127.0.0.1:{port}", "listName": name, "listLength": "5"}}


def notify_trigger(port, name):
    return {"type": "postgresql", "metadata": {"host": "127.0.0.1", "port": str(port), "userName": "bench", "dbName": "postgres", "sslmode": "disable",
                                               "query": f"SELECT count(*) FROM work WHERE queue = '{name}'", "targetQueryValue": "5", "notifyChannel": name}}


class Push:
    """Sections of the benchmark (class Bench in run)."""

    # --- sources -----------------------------------------------------------------------------------------------------------------

    def with_redis_push(self, names, trigger):
        """Objects at zero, on a Redis that announces changes; returns when all are subscribed to."""
        self.redis.send(("CONFIG", "SET", "notify-keyspace-events", "Kglszht"))
        self.create_with_triggers(names, [trigger(self.redis.port, name) for name in names], POLL_S)
        self.wait_ready(names, 300)
        eventually("subscriptions", lambda: f" sub={len(names)} " in self.redis.send(("CLIENT", "LIST"))[0], 60, 0.5)
        time.sleep(5)

    def without_redis_push(self):
        self.remove_all()
        self.redis.send(("CONFIG", "SET", "notify-keyspace-events", ""))

    # --- what the API server says ------------------------------------------------------------------------------------------------

    def scale_writes(self, since=0):
        """When the first write of /scale of each Deployment came in at the API server; wall clock."""
        came = {}
        with open(self.audit_log) as log:
            log.seek(since)
            for line in log:
                entry = json.loads(line)
                stamp = entry["requestReceivedTimestamp"]
                at = calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) + float("0" + stamp[19:-1])
                came.setdefault(entry["objectRef"]["name"], at)
        return came

    def audited(self):
        return os.path.getsize(self.audit_log) if os.path.exists(self.audit_log) else 0

    def one_by_one(self, key, names, give):
        """Something is given to each in turn, at moments that have nothing to do with each other."""
        begun, since = {}, self.audited()
        for i, name in enumerate(names):
            begun[name] = time.time()
            give(name)
            time.sleep(0.15 + i * 0.0137 % 0.05)
        time.sleep(2)
        came = self.scale_writes(since)
        took = [1000 * (came[name] - at) for name, at in begun.items()]
        self.note(f"{key}_p50_ms", statistics.median(took))
        self.note(f"{key}_p99_ms", percentile(took, 0.99))
        self.note(f"{key}_max_ms", max(took))
        self.say("distribution, ms: " + ", ".join(f"p{share}: {percentile(took, share / 100):.1f}" for share in (1, 10, 25, 50, 75, 90, 95, 99)))

    # --- sections ----------------------------------------------------------------------------------------------------------------

    def push(self):
        self.with_redis_push(["storm"], list_trigger)
        self.storm("storm")
        self.remove_all()
        names = [f"p{i}" for i in range(SINGLE)]
        self.with_redis_push(names, list_trigger)
        self.note("push_connections", len([one for one in self.redis.send(("CLIENT", "LIST"))[0].splitlines()]) - 1)
        self.one_by_one("push", names, lambda name: self.redis.send(("RPUSH", name, 1)))
        self.without_redis_push()

    def push_streams(self):
        names = [f"x{i}" for i in range(SINGLE)]
        self.with_redis_push(names, stream_trigger)
        self.one_by_one("push_streams", names, lambda name: self.redis.send(("XADD", name, "*", "n", 1)))
        self.without_redis_push()

    def push_notify(self):
        """NOTIFY in the transaction of the INSERT, by a psql that stays connected."""
        server = self.keep(Postgres(f"{self.folder}/postgres-push.log"))
        server.sql("CREATE TABLE work (queue text)")
        names = [f"n{i}" for i in range(SINGLE)]
        self.create_with_triggers(names, [notify_trigger(server.port, name) for name in names], POLL_S)
        self.wait_ready(names, 300)
        time.sleep(10)
        psql = server.session()
        self.one_by_one("push_notify", names, lambda name: psql(f"BEGIN; INSERT INTO work VALUES ('{name}'); NOTIFY {name}; COMMIT;"))
        self.note("push_notify_connections", server.connections_of_others())
        psql(None)
        self.remove_all()
        self.drop(server)

    def storm(self, name):
        """One list, pushed to for ten seconds as fast as Redis takes it."""
        before, cpu, begin, pushed = self.redis.queries(), self.kscaled.cpu_s(), time.monotonic(), 0
        while time.monotonic() - begin < 10:
            self.redis.send(*[("RPUSH", name, 1)] * 1000)
            pushed += 1000
        passed = time.monotonic() - begin
        self.note("push_storm_percent", 100 * (self.kscaled.cpu_s() - cpu) / passed)
        self.note("push_storm_events_per_s", pushed / passed)
        self.note("push_storm_looks_per_s", (self.redis.queries() - before) / passed)

    def push_500(self):
        names = [f"q{i}" for i in range(self.arguments.objects)]
        self.with_redis_push(names, list_trigger)
        since, begin, cpu = self.audited(), time.time(), self.kscaled.cpu_s()
        self.redis.send(*[("RPUSH", name, *range(5)) for name in names])
        came = eventually("writes of all", lambda: len(found := self.scale_writes(since)) == len(names) and found, 60, 0.5)
        self.note("push_500_s", max(came.values()) - begin)
        self.say("came after, s: " + ", ".join(f"p{share}: {percentile(came.values(), share / 100) - begin:.2f}" for share in (1, 25, 50, 75, 99)) +
                 f"; kscaled's CPU {self.kscaled.cpu_s() - cpu:.2f} s, load {os.getloadavg()[0]:.1f}")
        self.without_redis_push()


def figures():
    """As in run: key, what it is, unit, KEDA's, aim."""
    for key, what in (("push", "RPUSH"), ("push_streams", "XADD"), ("push_notify", "NOTIFY")):
        yield f"{key}_p50_ms", f"{what} -> /scale write at the API server, poll 30 s, p50 of {SINGLE}", "ms", None, "<= 15"
        yield f"{key}_p99_ms", "  p99", "ms", None, "<= 50"
        yield f"{key}_max_ms", "  largest", "ms", None, None
    yield "push_connections", f"Redis connections of {SINGLE} objects with push", "", None, "<= 2"
    yield "push_notify_connections", f"PostgreSQL connections of {SINGLE} objects with LISTEN", "", None, "<= 3"
    yield "push_500_s", "all 500 pushed to at once -> all /scale writes at the API server", "s", None, "<= 2"
    yield "push_storm_percent", "CPU while one list is pushed to without pause", "% of a core", None, None
    yield "push_storm_events_per_s", "  pushes per second meanwhile", "1/s", None, None
    yield "push_storm_looks_per_s", "  looks per second meanwhile", "1/s", None, "<= 11"
