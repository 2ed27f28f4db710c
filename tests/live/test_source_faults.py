# SPDX-License-Identifier: Apache-2.0
"""
All sources at once, failing in all ways for thousands of cycles: nothing grows, nothing is scaled in, healthy servers are not waited for, and what comes back is in use within a poll.

Where each fault is shown by itself, with what is said of it (ra: redis_outages, ro: rotation, au: authentication, r: redis, c: redis_cluster, s: redis_sentinel, t: redis_streams, p: postgresql, m: mysql,
h: prometheus, a: metrics_api, q: rabbitmq, e: external, k: kafka, g: mongodb, d: etcd, b: beanstalkd; here: this file; -: cannot happen there; other types over HTTP share prometheus' connections, so that its column is theirs):

                       redis  cluster  sentinel  streams  postgresql  mysql  prometheus  metrics-api  rabbitmq    external                    kafka mongodb etcd  beanstalkd
    down at start       ra     c        s         t        p           m      h           a            q           e                          k     g       d     b
    killed              ra     c        s         t        p           m      h           a            q           e                          k     g       d     b
    hung                ra     c        s         here     p           m      h           a            q           e                          k     g       d     b
    wrong password      r      c        s         t        p           m      h           a            q           e: its code                k     g       d     -
    wrong type          r      c        s         t        p           m      h           a            q: missing  e                          -     g       d     -
    password rotated    ro     ro       ro        ro       p           m      au          au           q           ro: client certificates    k     g       d     -
    certificate expired r      c        s         r        p           m      h           h            q           e                          k     g       d     -
    slow drip           ra     c        ra        t        p           m      h           a            q           e                          k     g       d     b
    giant answer        ra     c        ra        t        p           m      h           a            q           e                          k     g       d     b
    half an answer      ra     c        ra        t        p           m      h           a            q           e                          k     g       d     b
    1,000 cycles        here   here     here      here     here        here   here        here         here        here                       here  here    here  here
    back within a poll  here   here     here      here     here        here   here        here         here        here                       here  here    here  here
"""
import concurrent.futures
import time

import pytest

from rig import rabbitmq_server, scripted
from rig.beanstalkd_server import BeanstalkdServer
from rig.credentials import LockedRedis
from rig.etcd_server import Member
from rig.grpc_scaler import GrpcScaler
from rig.http_source import HttpSource, vector
from rig.kafka_server import KafkaServer
from rig.mariadb_server import MariadbServer
from rig.mongo_fake import MongoFake
from rig.mongo_server import MongoServer
from rig.postgres_server import PASSWORD, PostgresServer
from rig.process import free_port
from rig.rabbitmq_server import RabbitServer
from rig.redis_cluster import RedisCluster
from rig.redis_sentinel import MASTER, RedisSentinels
from rig.redis_server import RedisServer
from rig.waiting import eventually, timed

# How long healthy servers take to answer beside those that fail, and those that come back; kscaled's memory.
pytestmark = pytest.mark.alone

EACH = 40      # questions per source and fault
CYCLES = 1000  # per source
METRICS = {"redis": "s0-redis-jobs", "redis-cluster": "s0-redis-jobs", "redis-sentinel": "s0-redis-jobs", "redis-streams": "s0-redis-streams-events", "postgresql": "s0-postgresql", "mysql": "s0-mysql-shop",
           "prometheus": "s0-prometheus", "metrics-api": "s0-metric-api-n", "rabbitmq": "s0-rabbitmq-jobs", "external": "s0-queue", "kafka": "s0-kafka-jobs",
           "mongodb": "s0-mongodb-jobs", "etcd": "s0-etcd-jobs", "beanstalkd": "s0-beanstalkd-jobs"}
SOURCES = tuple(METRICS)


def question(kind, port, n, password=None):
    """A trigger that asks 127.0.0.1:port; n makes it another question, 0 has an answer on a healthy server. A wrong password when one is given."""
    address, more = f"127.0.0.1:{port}", f"-{n}" if n else ""
    if kind.startswith("redis"):
        place = {"redis-cluster": {"addresses": address}, "redis-sentinel": {"addresses": address, "sentinelMaster": MASTER}}.get(kind, {"address": address})
        key = {"stream": f"events{more}"} if kind == "redis-streams" else {"listName": f"jobs{more}", "listLength": "5"}
        metadata = {**place, **key, **({"password": password, **({"sentinelPassword": password} if kind == "redis-sentinel" else {})} if password else {})}
    elif kind == "postgresql":
        metadata = {"host": "127.0.0.1", "port": port, "userName": "scaler", "dbName": "postgres", "sslmode": "disable", "passwordFromEnv": "WRONG" if password else "PG", "query": f"SELECT {7 + n}", "targetQueryValue": "5"}
    elif kind == "mysql":
        metadata = {"host": "127.0.0.1", "port": port, "username": "scaler", "dbName": "shop", "passwordFromEnv": "WRONG" if password else "MYSQL", "query": f"SELECT {7 + n}", "queryValue": "5"}
    elif kind == "prometheus":
        metadata = {"serverAddress": f"http://{address}{'/denied' if password else ''}", "query": f"up{n}", "threshold": "5"}
    elif kind == "metrics-api":
        metadata = {"url": f"http://{address}/{'denied' if password else ''}?n={n}", "valueLocation": "n", "targetValue": "5"}
    elif kind == "rabbitmq":
        metadata = {"host": f"amqp://{rabbitmq_server.USER}:{rabbitmq_server.quoted(password or rabbitmq_server.PASSWORD)}@{address}", "queueName": f"jobs{more}", "queueLength": "5"}
    elif kind == "kafka":
        metadata = {"bootstrapServers": address, "consumerGroup": f"workers{more}", "topic": "jobs", "lagThreshold": "5"}
    elif kind == "mongodb":
        login = f"scaler:{password}@" if password else ""
        metadata = {"connectionString": f"mongodb://{login}{address}", "dbName": "shop", "collection": "jobs", "query": f'{{"number": {{"$gte": {-n}}}}}', "queryValue": "5"}
    elif kind == "etcd":
        metadata = {"endpoints": address, "watchKey": f"jobs{more}", "value": "5"}
    elif kind == "beanstalkd":
        metadata = {"server": address, "tube": f"jobs{more}", "value": "5"}
    else:
        metadata = {"scalerAddress": address, "n": n}
    return {"type": kind, "metadata": {name: str(value) for name, value in metadata.items()}}


class Servers:
    """One healthy server for each source (those of the same protocol share), which may go and come back."""

    def __init__(self, directory):
        self.pages = {"/api/v1/query": vector(7), "/": '{"n":7}'}
        makers = {
            "redis": lambda: RedisServer(directory, "faults-redis"), "cluster": lambda: RedisCluster(directory, "faults-cluster", masters=3), "pg": lambda: PostgresServer(directory, "faults-pg"),
            "sentinels": lambda: RedisSentinels(directory, "faults-guarded", replicas=0, sentinels=1), "mysql": lambda: MariadbServer(directory, "faults-mariadb"),
            "http": lambda: HttpSource(self.pages), "grpc": lambda: GrpcScaler(directory, "faults-grpc"), "rabbit": lambda: RabbitServer(directory, "faults-rabbit"), "locked": lambda: LockedRedis(directory, "faults-locked"),
            "kafka": lambda: KafkaServer(directory, "faults-kafka"), "mongo": lambda: MongoServer(directory, "faults-mongo"), "mongo_login": lambda: MongoFake({"admin.scaler": PASSWORD}),
            "etcd": lambda: Member(directory, "faults-etcd"), "beanstalkd": lambda: BeanstalkdServer(directory, "faults-beanstalkd"),
        }
        self.all = {}
        with concurrent.futures.ThreadPoolExecutor(len(makers)) as pool:
            for name, made in [(name, pool.submit(make)) for name, make in makers.items()]:
                self.all[name] = made.result()
        self.__dict__.update(self.all)
        # Those that are more than one server are not here.
        self.of = {"redis": self.redis, "redis-streams": self.redis, "postgresql": self.pg, "mysql": self.mysql, "prometheus": self.http, "metrics-api": self.http, "rabbitmq": self.rabbit, "external": self.grpc,
                   "kafka": self.kafka, "mongodb": self.mongo, "etcd": self.etcd, "beanstalkd": self.beanstalkd}
        self.pg.user("scaler")
        self.grpc.says(values={"queue": [7, 0]}, active=True)
        self.rabbit.fill("jobs", 7)
        self.kafka.topic("jobs", messages=(7,))
        self.kafka.commit("workers", "jobs", 0)
        self.mongo.fill(7)
        self.etcd.put("jobs", 7)
        self.beanstalkd.client().put("jobs", 7)
        self.fill()

    def fill(self):
        """What a Redis forgets with its process."""
        self.redis.client().rpush("jobs", *range(7))
        for _ in range(7):
            self.redis.client().xadd("events", {"a": "b"})
        self.cluster.do("jobs", "RPUSH", "jobs", *range(7))
        self.sentinels.servers[0].client().rpush("jobs", *range(7))

    def ports(self):
        return {**{kind: server.port for kind, server in self.of.items() if kind != "kafka"}, "kafka": self.kafka.first.ports["plain"],
                "redis-cluster": self.cluster.nodes[0].port, "redis-sentinel": self.sentinels.sentinels[0].port}

    def guarded(self):
        """Who refuses a wrong password."""
        return {kind: self.locked.port if kind.startswith("redis") else port for kind, port in {**self.ports(), "mongodb": self.mongo_login.port}.items()}

    def away(self):
        for one in (*{*self.of.values()} - {self.http, self.kafka}, *self.cluster.nodes, *self.sentinels.sentinels, self.sentinels.servers[0], *self.kafka.brokers):
            (one.process if hasattr(one, "process") and not hasattr(one, "kill") else one).kill()
        self.http.routes = {path: lambda asked: None for path in self.pages}  # ends the connections that are kept
        self.http.end()

    def groups(self):
        """The sources by their servers."""
        groups = {}
        for kind in SOURCES:
            groups.setdefault(self.of.get(kind, kind), []).append(kind)
        return groups.values()

    def back(self, kinds):
        """The servers of these sources; returns when they answer."""
        if "redis-cluster" in kinds:
            for node in self.cluster.nodes:
                node.start()
            eventually(lambda: all(self.cluster.is_settled(node) for node in self.cluster.nodes), every=0.02)
        elif "redis-sentinel" in kinds:
            for one in (self.sentinels.servers[0], *self.sentinels.sentinels):
                one.start()
        elif "mongodb" in kinds:
            self.mongo.start()
            self.mongo.fill(7)
        else:
            self.http.routes = dict(self.pages)
            self.of[kinds[0]].start()

    def end(self):
        for one in self.all.values():
            one.end()


@pytest.fixture(scope="module")
def servers(session_dir):
    servers = Servers(session_dir)
    yield servers
    servers.end()


ENV = {"PG": PASSWORD, "MYSQL": MariadbServer.PASSWORD, "WRONG": "open-sesamy"}


@pytest.fixture(scope="module")
def healthy(shared_kscaled, module_stage, servers):
    """One object on each healthy server; 7 at a target of 5 (or of 1: streams), so two replicas at most."""
    shared_kscaled.running()
    stage = module_stage
    stage.deployment("worker", replicas=0, env=ENV)
    for kind, port in servers.ports().items():
        stage.scaledobject(kind, target=stage.another(kind), minReplicaCount=0, maxReplicaCount=2, triggers=[question(kind, port, 0)])
    for kind in SOURCES:
        stage.wait_ready(kind)
        eventually(lambda kind=kind: stage.replicas(kind) == 2)
    return stage


@pytest.fixture
def failing(stage, servers):
    """For each source an object that asks dead, strange and forbidding servers, and one that asks a hung one. Nothing is scaled: no HPA controller asks for a thousand metrics."""
    hung = {"redis": RedisServer(servers.redis.dir, "hung")}
    hung["redis"].freeze()
    silent, strange, dead = scripted.Scripted(scripted.silent), scripted.Scripted(scripted.answers(bytes(range(255, -1, -1)) * 8)), free_port()
    stage.deployment("worker", replicas=0, env=ENV)

    def port_of(server):
        return int(server.address.rpartition(":")[2])

    for kind in SOURCES:
        numbers = range(1, EACH + 1)
        fast = [question(kind, port, n, password) for port, password in ((dead, None), (port_of(strange), None), (servers.guarded()[kind], "open-sesamy")) for n in numbers if kind not in ("external", "kafka", "beanstalkd") or not password]  # which have no password in the metadata
        slow = [question(kind, port_of(hung["redis"] if kind.startswith("redis") else silent), n) for n in numbers]
        for name, triggers in ((f"{kind}-fast", fast), (f"{kind}-hung", slow)):
            stage.scaledobject(name, target=stage.another(name), triggers=triggers)
    yield stage
    stage.delete_all()
    silent.end()
    strange.end()
    hung["redis"].end()


def names():
    return [f"{kind}-{how}" for kind in SOURCES for how in ("fast", "hung")]


def test_thousands_of_failures(kscaled, healthy, failing):
    """Memory and descriptors settle; healthy servers answer as always, whoever hangs beside them."""
    for name in names():
        failing.wait_failing(name)

    def seen_over(cycles):
        """Greatest RSS (MiB) and number of descriptors while so many questions were put."""
        start, rss, files = kscaled.asked(), 0, 0
        deadline = time.monotonic() + 60
        while kscaled.asked() < start + cycles:
            assert time.monotonic() < deadline, f"only {kscaled.asked() - start} questions in a minute"
            rss, files = max(rss, kscaled.rss_mib()), max(files, kscaled.open_files())
            time.sleep(0.1)
        return rss, files

    seen_over(CYCLES * len(SOURCES) // 3)
    before = seen_over(CYCLES * len(SOURCES) // 3)
    took = {kind: [] for kind in SOURCES}
    for _ in range(10):
        for kind in SOURCES:
            start = time.monotonic()
            healthy.metric(METRICS[kind], kind).value()
            took[kind].append(time.monotonic() - start)
    then = seen_over(CYCLES * len(SOURCES) * 2 // 3)
    assert then[1] <= before[1] + 24, (before, then)
    if not kscaled.sanitized():
        assert then[0] < before[0] + 3, (before, then)
        assert kscaled.metric("kscaled_loop_longest_turn_seconds") < 0.5
    assert all(sorted(times)[5] < 0.25 for times in took.values()), took
    for kind in SOURCES:
        # Python's servers have much to refuse here: one poll may have waited for its three seconds.
        eventually(lambda kind=kind: healthy.says("Ready", "True", "ScaledObjectReady", kind))
        assert healthy.replicas(kind) == 2
    assert all(failing.replicas(name) == 0 for name in names())


def test_back_within_a_poll(kscaled, healthy, servers):
    """However long it was away: the back-off is no longer than what a poll waits for."""
    servers.away()
    for kind in SOURCES:
        healthy.wait_failing(kind)
        assert "127.0.0.1:" in healthy.metric(METRICS[kind], kind).failure(503, "ServiceUnavailable") or kind == "external"
    asked = kscaled.asked()
    eventually(lambda: kscaled.asked() >= asked + 5 * len(SOURCES))  # until each has the longest back-off
    assert all(healthy.replicas(kind) == 2 for kind in SOURCES)

    took = {}
    for group in servers.groups():
        servers.back(group)
        for kind in group:
            took[kind] = timed(lambda kind=kind: healthy.metric(METRICS[kind], kind).value())
    # The poll may have begun just before, and the server been dialled just before that; the rest is for a busy machine.
    assert all(seconds < 1 + 1.2 + 1.3 for seconds in took.values()), took
    for kind in SOURCES:
        healthy.wait_ready(kind)
