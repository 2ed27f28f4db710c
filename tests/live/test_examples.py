# SPDX-License-Identifier: Apache-2.0
"""
Every manifest of etc/examples, applied by kubectl with the webhook on, each in a namespace of its own. Only what must be another here is replaced: names of servers, by those of real ones; the namespace "default"; and for cron
the times of day. What the examples tell in their comments to do elsewhere (users, tables, the roles of Vault) is done as they tell it.
"""
import concurrent.futures
import dataclasses
import datetime
import json
import pathlib
import re
import shlex
import time
import zoneinfo

import pytest
import redis
import yaml

from rig import pki
from rig.azure_devops import AzureDevops, job
from rig.beanstalkd_server import BeanstalkdServer
from rig.datadog_fake import Datadog
from rig.azure_vault import AzureVault
from rig.credentials import LockedRedis
from rig.google_fake import Google
from rig.azurite_server import AzuriteServer
from rig.github_fake import App, GitHub
from rig.github_fake import job as github_job
from rig.google_secrets import GoogleSecrets
from rig.etcd_server import Member
from rig.graphite_server import GraphiteServer
from rig.grpc_scaler import GrpcScaler
from rig.http_source import HttpSource, own_address, vector
from rig.job_stage import JobStage
from rig.loki_fake import LokiFake
from rig.kafka_server import KafkaServer
from rig.moto_server import MotoServer, allow
from rig.mariadb_server import MariadbServer
from rig.mongo_fake import MongoFake
from rig.nats_server import NatsServer
from rig.opensearch_server import Gate, OpensearchServer
from rig.postgres_server import PostgresServer
from rig.prometheus_server import PrometheusServer
from rig.rabbitmq_server import RabbitServer
from rig.redis_cluster import RedisCluster
from rig.redis_sentinel import RedisSentinels
from rig.redis_server import RedisServer
from rig.service_bus import Entity, Policy, ServiceBus
from rig.stage import Stage
from rig.vault_server import VaultServer
from rig.waiting import eventually

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "etc" / "examples"
PASSWORD = "change-me"
SCALER = ["+eval", "+type", "+llen", "+scard", "+zcard", "+hlen", "+cluster|slots"]  # what the comment of redis-cluster says


# --- the servers, of each kind as few as the passwords of the examples allow ---

class Open:
    """A Redis without a password, which tells what happens to its keys."""

    def __init__(self, directory, cluster):
        self.server = RedisServer(directory, "open", extra=["--notify-keyspace-events", "Kglszht"])
        client = self.server.client()
        client.rpush("jobs", *range(12))
        client.rpush("urgent", 1)
        client.xgroup_create("events", "workers", id="0", mkstream=True)
        for i in range(30):
            client.xadd("events", {"n": i})


class Locked:
    def __init__(self, directory, cluster):
        self.server = RedisServer(directory, "locked", extra=["--requirepass", PASSWORD])
        client = self.server.client(password=PASSWORD)
        client.acl_setuser("autoscaler", enabled=True, passwords=[f"+{PASSWORD}"], keys=["*"], commands=SCALER[:-1], reset=True)
        client.rpush("jobs", *range(12))


class Cluster:
    def __init__(self, directory, cluster):
        self.server = RedisCluster(directory)
        for node in self.server.nodes:
            node.client().acl_setuser("counter", enabled=True, passwords=[f"+{PASSWORD}"], keys=["*"], commands=SCALER, reset=True)
        self.server.do("jobs", "RPUSH", "jobs", *range(12))
        for i in range(150):
            self.server.do("events", "XADD", "events", "*", "n", i)


class Sentinels:
    def __init__(self, directory, cluster):
        self.server = RedisSentinels(directory, "plain", replicas=0)
        client = redis.Redis("127.0.0.1", self.server.servers[0].port, db=2)
        client.xgroup_create("events", "workers", id="0", mkstream=True)
        for i in range(30):
            client.xadd("events", {"n": i})


class LockedSentinels:
    def __init__(self, directory, cluster):
        self.server = RedisSentinels(directory, "guarded", replicas=0, password=PASSWORD, sentinel_password="change-me-too")
        self.server.client(self.server.servers[0]).rpush("jobs", *range(12))


class Postgres:
    """Two databases: jobs of shop come later."""

    def __init__(self, directory, cluster):
        self.server = PostgresServer(directory, "postgres")
        self.server.sql(f"CREATE ROLE scaler LOGIN PASSWORD '{PASSWORD}'")
        for database in ("orders", "shop"):
            self.server.sql(f"CREATE DATABASE {database}")
            self.server.sql("CREATE TABLE jobs (id serial, state text DEFAULT 'queued'); GRANT SELECT ON jobs TO scaler", database=database)
        self.server.sql(commented("postgresql-notify/scaledobject.yaml", "CREATE FUNCTION"), database="shop")
        self.insert("orders")

    def insert(self, database):
        self.server.sql("INSERT INTO jobs (state) SELECT 'queued' FROM generate_series(1, 12)", database=database)


class Mariadb:
    def __init__(self, directory, cluster):
        self.server = MariadbServer(directory, "mariadb")
        self.server.sql(f"DROP USER scaler@'%'; DROP TABLE shop.jobs; CREATE TABLE shop.jobs (id INT PRIMARY KEY AUTO_INCREMENT, state VARCHAR(20)); CREATE USER scaler@'%' IDENTIFIED BY '{PASSWORD}'")
        self.server.sql(commented("mysql/scaledobject.yaml", "GRANT SELECT") + "@'%'; INSERT INTO shop.jobs (state) VALUES " + ",".join(["('queued')"] * 12))


class Mongo:
    """A fake, as the example logs in: rig/mongo_fake.py."""

    def __init__(self, directory, cluster):
        self.server = MongoFake({"shop.scaler": PASSWORD}, counts=12)


class Graphite:
    def __init__(self, directory, cluster):
        self.server = GraphiteServer(directory)
        for name in ("mail", "web"):
            self.server.says(f"shop.queue.{name}", 120, ago=60)


class Watcher:
    """Three replicas' worth of hits."""

    def __init__(self, directory, cluster):
        self.server = Datadog(directory, keys=(PASSWORD, "change-me-too"))
        self.server.series[yaml.safe_load(list((FOLDER / "datadog/scaledobject.yaml").read_text().split("---"))[2])["spec"]["triggers"][0]["metadata"]["query"]] = [[240, 250, None]]


class Forge:
    """Three jobs, each in its run, for an App."""

    def __init__(self, directory, cluster):
        self.server = GitHub(directory, token=None, app=App(directory))
        self.server.repos["shop"] = {"web": {n: ("queued", [github_job(labels=["self-hosted", "gpu"])]) for n in (7, 8, 9)}, "mail": {}}


class Beanstalkd:
    def __init__(self, directory, cluster):
        self.server = BeanstalkdServer(directory, "beanstalkd")
        client = self.server.client()
        client.put("jobs", 12)
        client.close()


class Nats:
    def __init__(self, directory, cluster):
        self.server = NatsServer(directory, "nats")
        with self.server.client() as client:
            client.stream("orders")
            client.consumer("orders", "worker")
            client.add("orders", 12)


class Search:
    """12 documents that are queued, by a template that says how much they are together, for those who know the password; and a place where no server is."""

    def __init__(self, directory, cluster):
        self.server = OpensearchServer(directory)
        self.gate = Gate(self.server, {"scaler": PASSWORD})
        lines = (FOLDER / "opensearch/scaledobject.yaml").read_text().splitlines()
        (script,) = [line.removeprefix("#") for line in lines if line.startswith('#   {"script"')]
        self.server.ask("PUT", "/_scripts/queued-size", json.loads(script))
        self.server.index("jobs")
        self.server.add("jobs", *[{"state": "queued", "size": 20}] * 12, {"state": "done", "size": 1000})

    def end(self):
        self.gate.end()
        self.server.end()


class Etcd:
    """A key that says 12, for who knows the password."""

    def __init__(self, directory, cluster):
        self.server = Member(directory, "etcd")
        self.server.put("shop/jobs", 12)
        self.server.lock("scaler", PASSWORD)


class Kafka:
    """12 messages of 16 that nobody has committed, in a topic of four partitions."""

    def __init__(self, directory, cluster):
        self.authority = pki.authority(directory, "kafka-ca")
        self.server = KafkaServer(directory, "kafka", pair=pki.certificate(directory, "kafka", self.authority, "localhost"), authority=self.authority.cert)
        self.server.user("scaler", PASSWORD)
        self.server.topic("orders", 4, messages=(8, 8))
        self.server.topic("returns", 1)
        self.server.commit("workers", "orders", 2, 2, 0, 0)


class Prometheus:
    """It reads a counter that grows by a million a second, and a number that stays."""

    def __init__(self, directory, cluster):
        start = time.monotonic()
        self.shop = HttpSource({"/metrics": lambda _: (200, {"Content-Type": "text/plain"}, f'http_requests_total{{app="shop"}} {int(1e6 * (time.monotonic() - start))}\nfiles_waiting{{app="shop"}} 12\n')})
        self.server = PrometheusServer(directory, "prometheus", [f"127.0.0.1:{self.shop.port}"])
        query = yaml.safe_load((FOLDER / "prometheus/scaledobject.yaml").read_text())["spec"]["triggers"][0]["metadata"]["query"]
        eventually(lambda: (self.server.value(query) or 0) > 1000)

    def end(self):
        self.server.end()
        self.shop.end()


class Pages:
    """What the comments of metrics-api show, and a Mimir of sorts."""

    def __init__(self, directory, cluster):
        self.authority = pki.authority(directory, "mimir-ca")
        text = {"Content-Type": "text/plain"}
        self.stats = HttpSource({
            "/queues": lambda asked: '{"queues": [{"name": "jobs", "messages": 42}]}' if asked.headers.get("X-API-KEY") == PASSWORD else (401, {}, "{}"),
            "/stats.xml": (200, {"Content-Type": "text/xml"}, '<stats><queue name="mail" length="3"/><queue name="jobs" length="9"/></stats>'),
            "/load.yaml": (200, text, "{load: {workers: [{jobs: 5}, {jobs: 500m}]}}"),
        })
        self.mimir = HttpSource({"/prometheus/api/v1/query": lambda asked: vector(50) if (asked.bearer, asked.headers.get("X-Scope-OrgID")) == (PASSWORD, "shop") else (401, {}, "{}")},
                                tls=pki.certificate(directory, "mimir", self.authority, "localhost"))
        self.loki = LokiFake({yaml.safe_load((FOLDER / "loki/scaledobject.yaml").read_text())["spec"]["triggers"][0]["metadata"]["query"]: [25]}, tenants=["shop"])
        self.devops = AzureDevops(token=PASSWORD)
        self.devops.jobs[7] = [job(n, demands=["docker"]) for n in range(3)]
        assert own_address(), "this machine has no address but loopback"
        self.web = HttpSource({"/metrics": (200, text, 'requests_waiting{queue="slow",kind="internal"} 1\nrequests_waiting{queue="slow",kind="user"} 18\n')}, host=own_address())

    def end(self):
        for server in (self.stats, self.mimir, self.loki, self.web, self.devops):
            server.end()


class Rabbit:
    """A user as the comment of the example has it."""

    def __init__(self, directory, cluster):
        self.server = RabbitServer(directory, "rabbitmq-of-examples")
        self.server.add_vhost("shop")
        self.server.do("PUT", f"permissions/shop/{self.server.login[0]}", {"configure": ".*", "write": ".*", "read": ".*"})
        self.server.add_user("scaler", PASSWORD, vhosts=["shop"], tags="")
        self.server.fill("jobs", 50, "shop")


class Scalers:
    def __init__(self, directory, cluster):
        self.authority = pki.authority(directory, "orders-ca")
        self.pair = pki.certificate(directory, "orders", self.authority, "localhost")
        self.client = pki.certificate(directory, "kscaled", self.authority, "kscaled", usage="clientAuth")
        self.asked = GrpcScaler(directory, "orders-scaler", tls=self.pair, client_ca=self.authority.cert)
        self.asked.says(values={"queue": [12, 0]}, active=True)
        self.pushing = GrpcScaler(directory, "pushing-scaler")

    def push(self):
        self.pushing.says(values={"queue": [12, 0]}, active=True)
        self.pushing.push(True)

    def end(self):
        self.asked.end()
        self.pushing.end()


class Vault:
    """Set up as the comment of the example does with the program vault."""

    def __init__(self, directory, cluster):
        self.server = VaultServer(directory, "vault-of-examples")
        cluster.core.create_namespaced_service_account("default", {"metadata": {"name": "vault-of-examples"}})
        cluster.rbac.create_cluster_role_binding({"metadata": {"name": "vault-of-examples"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"},
                                                  "subjects": [{"kind": "ServiceAccount", "name": "vault-of-examples", "namespace": "default"}]})
        self.server.log_in_by_kubernetes(cluster, cluster.token("default", "vault-of-examples"))
        self.server.kv2("redis", password=PASSWORD)
        self.server.write("sys/policies/acl/redis", {"policy": 'path "secret/data/redis" { capabilities = ["read"] }'})
        self.server.role("worker", "worker", namespace_of("vault/scaledobject.yaml"), token_policies=["redis"])


class Aws:
    """A queue, a metric and a stream, each worth three replicas."""

    def __init__(self, directory, cluster):
        self.server = MotoServer(directory)
        self.keys = self.server.user("reader", allow("sqs:GetQueueAttributes", "monitoring:GetMetricData", "kinesis:DescribeStreamSummary"))
        self.server.queue("orders", messages=12)
        self.server.put_metric("Shop", "OrdersWaiting", 60, at=int(time.time()) // 60 * 60 - 60, Region="north")
        self.server.stream("orders", 3)


class Bus:
    """A queue worth three replicas, of a Service Bus whose authority is in --ca-dir."""

    def __init__(self, directory, cluster):
        authority = pki.authority(directory, "bus-ca")
        self.trusted = directory / "trusted"
        self.trusted.mkdir()
        (self.trusted / "ca.pem").write_text(pathlib.Path(authority.cert).read_text())
        self.server = ServiceBus(pki.certificate(directory, "bus", authority, "localhost"))
        self.server.policies, self.server.queues = {"scaler": Policy(PASSWORD, entity="orders")}, {"orders": Entity(14)}


class Azure:
    """A queue and a folder of a container, each worth three replicas."""

    def __init__(self, directory, cluster):
        self.server = AzuriteServer(directory)
        self.server.queue("orders", messages=12)
        self.server.container("orders", *(f"in/{number}" for number in range(12)), "done/1")


class Servers:
    """All of them, started at once; `servers.open` is the Open, and so on."""

    KINDS = (Kafka, Rabbit, Mariadb, Postgres, Vault, Cluster, Sentinels, LockedSentinels, Graphite, Beanstalkd, Nats, Prometheus, Scalers, Open, Locked, Pages, Aws, Bus, Watcher, Search, Azure, Mongo, Forge, Etcd)

    def __init__(self, directory, cluster):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            def start(kind):
                folder = directory / kind.__name__.lower()
                folder.mkdir()
                return kind(folder, cluster)
            futures = {kind: pool.submit(start, kind) for kind in self.KINDS}
        self.started = [future.result() for future in futures.values() if not future.exception()]
        for kind, future in futures.items():
            if future.exception():
                self.end()
            setattr(self, kind.__name__.lower(), future.result())

    def end(self):
        for one in self.started:
            getattr(one, "server", one).end() if not hasattr(one, "end") else one.end()


# --- the table ---

@dataclasses.dataclass
class Example:
    """One ScaledObject or ScaledJob of etc/examples."""

    replace: object = lambda servers: {}        # what stands there: what must stand there here
    replicas: object = 3                        # what there must be of the target in the end; a function may judge. Of a ScaledJob: how many Jobs, whose pods are given to no node, so that all go on waiting
    beside: tuple = ()                          # other files that belong to it; of those with a ScaledObject all but that
    before: object = lambda stage, servers: None  # what must be there first
    later: object = None                        # work that comes only when the object was seen at zero


ADDRESSES = ",".join(f"redis-{i}.redis.default.svc:6379" for i in range(3))
SENTINELS = ",".join(f"sentinel-{i}.sentinel.default.svc:26379" for i in range(3))


def on_open(servers):
    return {"redis.default.svc.cluster.local:6379": servers.open.server.address}


def on_locked(servers):
    return {"redis.default.svc.cluster.local:6379": servers.locked.server.address}


def indented(text, spaces):
    return "".join(" " * spaces + line + "\n" for line in text.splitlines())


def on_datadog(servers):
    """Its site, and who signs that: the keys of the Secret stand below the site."""
    datadog = servers.watcher.server
    ca = indented(pathlib.Path(datadog.authority.cert).read_text(), 4)
    return {"  site: datadoghq.com\n": f"  site: {datadog.site}\n  ca: |\n{ca}", "key: site}\n": "key: site}\n  - {parameter: ca, name: datadog, key: ca}\n"}


def on_github(servers):
    github = servers.forge.server
    keys = f"stringData:\n  ca: |\n{indented(pathlib.Path(github.authority.cert).read_text(), 4)}  appKey: |\n{indented(github.app.pem, 4)}"
    first = "apiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\n"
    return {first: f"apiVersion: v1\nkind: Secret\nmetadata: {{name: github, namespace: default}}\n{keys}---\n{first}",
            "key: appKey}\n---": "key: appKey}\n  - {parameter: ca, name: github, key: ca}\n---", "      owner: shop\n": f"      owner: shop\n      githubApiURL: {github.api}\n"}


def hours(count):
    when = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin")) + datetime.timedelta(hours=count)
    return f"{when.minute} {when.hour} * * *"


def authority_in(file, ours):
    """The certificate that stands there, and ours."""
    pem = re.search(r"    -----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----\n", (FOLDER / file).read_text(), re.S).group()
    return {pem: "".join(f"    {line}\n" for line in pathlib.Path(ours.cert).read_text().splitlines())}


def on_mimir(servers):
    return {**authority_in("prometheus-bearer/scaledobject.yaml", servers.pages.authority), "https://mimir.monitoring.svc.cluster.local": servers.pages.mimir.url}


def on_kafka(servers):
    return {**authority_in("kafka/scaledobject.yaml", servers.kafka.authority), "kafka.default.svc.cluster.local:9093": servers.kafka.server.address("sasltls")}


def may(cluster, *what):
    """Rights take a moment to be there."""
    eventually(lambda: cluster.kubectl("auth", "can-i", *what, "--as=system:serviceaccount:kscaled:kscaled", check=False).strip() == "yes")


def gadgets(stage, servers):
    """Its CustomResourceDefinition, the role, and one of them."""
    keep = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    stage.cluster.extensions.create_custom_resource_definition({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gadgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget"}, "versions": [{
            "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": keep, "status": keep}}},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}}}]},
    })
    stage.cluster.kubectl("apply", "-f", str(FOLDER / "custom-kind/role.yaml"))
    may(stage.cluster, "list", "gadgets.example.com", "-A")
    body = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "worker"}, "spec": {"replicas": 0}}
    eventually(lambda: stage.cluster.custom.create_namespaced_custom_object("example.com", "v1", stage.namespace, "gadgets", body))
    stage.cluster.custom.patch_namespaced_custom_object_status("example.com", "v1", stage.namespace, "gadgets", "worker", {"status": {"replicas": 1, "selector": "app=worker"}})


def front_ends(stage, servers):
    for i in range(5):
        stage.cluster.core.create_namespaced_pod(stage.namespace, {"metadata": {"name": f"front-{i}", "labels": {"app": "front-end"}}, "spec": {"containers": [{"name": "main", "image": "none"}]}})


def queues(stage, servers):
    """By the command of its comment."""
    text = (FOLDER / "kubernetes-resource/scaledobject.yaml").read_text()
    (command,) = [line for line in text.splitlines() if "kubectl create configmap" in line]
    stage.cluster.kubectl(*shlex.split(command.removeprefix("#"))[1:], "-n", stage.namespace)


def web_pods(stage, servers):
    """The Service, with one pod that is a server of ours."""
    server = servers.pages.web
    stage.cluster.core.create_namespaced_service(stage.namespace, {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 9090}]}})
    answer = stage.cluster.request(f"/apis/discovery.k8s.io/v1/namespaces/{stage.namespace}/endpointslices", "POST", body={
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": {"name": "web-0", "labels": {"kubernetes.io/service-name": "web"}},
        "endpoints": [{"addresses": [server.host], "conditions": {"ready": True}}], "ports": [{"port": server.port, "protocol": "TCP"}]})
    assert answer.status == 201, answer


def certificates(stage, servers):
    read = lambda path: pathlib.Path(path).read_text()
    stage.cluster.core.create_namespaced_secret(stage.namespace, {"metadata": {"name": "orders-scaler-tls"}, "stringData": {
        "ca.crt": read(servers.scalers.authority.cert), "tls.crt": read(servers.scalers.client.cert), "tls.key": read(servers.scalers.client.key)}})


def on_stats(servers):
    return {"http://stats.default.svc:8080": servers.pages.stats.url}


def on_aws(servers):
    moto, (key, secret) = servers.aws.server, servers.aws.keys
    return {"AKIAIOSFODNN7EXAMPLE": key, "change-me": secret, "awsRegion: eu-west-1": f"awsRegion: eu-west-1\n      awsEndpoint: {moto.url}", "https://sqs.eu-west-1.amazonaws.com": moto.url}


def on_azure(servers):
    return {"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=Y2hhbmdlLW1l;EndpointSuffix=core.windows.net": servers.azure.server.connection()}


EXAMPLES = {
    "redis-list": Example(lambda s: {**on_open(s), "redis.default.svc.cluster.local": "127.0.0.1"}, beside=("redis-list/redis.yaml", "redis-list/deployment.yaml")),
    "secret": Example(on_locked),
    "cluster-authentication": Example(on_locked),
    "vault": Example(lambda s: {**on_locked(s), "https://vault.vault.svc.cluster.local:8200": s.vault.server.address}),
    "fallback": Example(on_open),
    "pausing": Example(on_open),
    "scaling-modifiers": Example(on_open),
    "custom-kind": Example(on_open, beside=("custom-kind/role.yaml",), before=gadgets),
    "cpu-and-redis": Example(on_open),
    "cpu-memory": Example(replicas=1),
    "redis-cluster": Example(lambda s: {ADDRESSES: s.cluster.server.addresses}),
    "redis-sentinel": Example(lambda s: {SENTINELS: s.lockedsentinels.server.addresses}),
    "redis-streams": Example(on_open, replicas=2),
    "redis-cluster-streams": Example(lambda s: {ADDRESSES: s.cluster.server.addresses}, replicas=2),
    "redis-sentinel-streams": Example(lambda s: {SENTINELS: s.sentinels.server.addresses}, replicas=2),
    "postgresql": Example(lambda s: {"postgres.default.svc.cluster.local:5432": s.postgres.server.address}),
    "postgresql-notify": Example(lambda s: {"postgres.default.svc.cluster.local:5432/orders": f"{s.postgres.server.address}/shop"}, beside=("postgresql/scaledobject.yaml",),
                                 later=lambda s: s.postgres.insert("shop")),
    "mysql": Example(lambda s: {"mysql.default.svc.cluster.local": "127.0.0.1", '"3306"': f'"{s.mariadb.server.port}"'}),
    "mongodb": Example(lambda s: {"mongodb.default.svc.cluster.local": "127.0.0.1", '"27017"': f'"{s.mongo.server.port}"'}),
    "rabbitmq": Example(lambda s: {"rabbitmq.default.svc.cluster.local:5672": f"127.0.0.1:{s.rabbit.server.port}"}),
    "kafka": Example(on_kafka),
    "apache-kafka": Example(lambda s: {"kafka.default.svc.cluster.local:9092": s.kafka.server.address()}),
    "prometheus": Example(lambda s: {"http://prometheus.monitoring.svc.cluster.local:9090": s.prometheus.server.url}, replicas=lambda count: count > 1),
    "prometheus-bearer": Example(on_mimir),
    "loki": Example(lambda s: {"http://loki.monitoring.svc.cluster.local:3100": s.pages.loki.url}, replicas=3),
    "graphite": Example(lambda s: {"http://graphite.monitoring.svc.cluster.local:8080": s.graphite.server.url}, replicas=3),
    "datadog": Example(on_datadog, replicas=3),
    "elasticsearch": Example(lambda s: {"http://elasticsearch.default.svc.cluster.local:9200": s.search.gate.url}, replicas=3),
    "opensearch": Example(lambda s: {"http://opensearch-0.opensearch.default.svc.cluster.local:9200": "http://127.0.0.1:9", "http://opensearch-1.opensearch.default.svc.cluster.local:9200": s.search.gate.url}, replicas=3),
    "etcd": Example(lambda s: {"etcd-0.etcd.default.svc.cluster.local:2379": "127.0.0.1:9", "etcd-1.etcd.default.svc.cluster.local:2379": s.etcd.server.address}, replicas=3),
    "beanstalkd": Example(lambda s: {"beanstalkd.default.svc.cluster.local:11300": s.beanstalkd.server.address}, replicas=3),
    "nats-jetstream": Example(lambda s: {"nats.default.svc.cluster.local:8222": s.nats.server.address}, replicas=2),
    "metrics-api": Example(on_stats, replicas=lambda count: count in (4, 5)),   # 42 messages; to the HPA controller 4 is near enough, if it comes by there
    "metrics-api/xml.yaml": Example(on_stats, replicas=2),
    "metrics-api/yaml.yaml": Example(on_stats, replicas=2),
    "metrics-api/prometheus.yaml": Example(before=web_pods, replicas=4),
    "cron": Example(lambda s: {"0 8 * * 1-5": hours(-2), "0 20 * * 1-5": hours(2), "30 11 * * mon-fri": hours(4), "0 14 * * mon-fri": hours(6)}, replicas=lambda count: count > 1),
    "kubernetes-workload": Example(before=front_ends, replicas=2),
    "kubernetes-resource": Example(before=queues),
    "external": Example(lambda s: {"orders-scaler.default.svc.cluster.local:50051": s.scalers.asked.address}, before=certificates),
    "external-push": Example(lambda s: {"orders-scaler.default.svc.cluster.local:50051": s.scalers.pushing.address}, later=lambda s: s.scalers.push()),
    "aws-sqs-queue": Example(on_aws),
    "aws-cloudwatch": Example(on_aws),
    "aws-kinesis-stream": Example(on_aws),
    "azure-servicebus": Example(lambda s: {"shop.servicebus.windows.net": s.bus.server.authority}),
    "azure-queue": Example(on_azure),
    "azure-blob": Example(on_azure),
    "scaledjob-azure-pipelines": Example(lambda s: {"https://dev.azure.com": s.pages.devops.url}, replicas=3),
    "scaledjob-github-runner": Example(on_github, replicas=3),
    "scaledjob-redis-list": Example(lambda s: {**on_open(s), "redis.default.svc.cluster.local": "127.0.0.1"}, replicas=10),          # of 12 entries
    "scaledjob-redis-streams": Example(lambda s: {**on_open(s), "redis.default.svc.cluster.local": "127.0.0.1"}, replicas=5),        # of 30 entries
    "scaledjob-prometheus": Example(lambda s: {"http://prometheus.monitoring.svc.cluster.local:9090": s.prometheus.server.url}, replicas=3),  # 12 files, 4 for each; what is pending is not started again
    "scaledjob-authentication": Example(lambda s: {**on_locked(s), "redis.default.svc.cluster.local": "127.0.0.1"}, replicas=4),
}


# Those that ask Google, whose servers no manifest names: kscaled's environment leads to ours.
AT_GOOGLE = ("gcp-pubsub", "prometheus-google")
# The same of those whose password is with a secret manager of a cloud.
AT_MANAGERS = ("aws-secret-manager", "azure-key-vault", "gcp-secret-manager")


def file_of(name):
    return name if name.endswith(".yaml") else f"{name}/{'scaledjob' if name.startswith('scaledjob-') else 'scaledobject'}.yaml"


def is_for_jobs(name):
    return file_of(name).endswith("/scaledjob.yaml")


def namespace_of(name):
    return "example-" + re.sub(r"[/.]", "-", file_of(name).removesuffix(".yaml").removesuffix("/scaledobject").removesuffix("/scaledjob"))


def commented(file, first):
    """The SQL that stands in a comment, from the line that begins so."""
    lines = [line.removeprefix("#").strip() for line in (FOLDER / file).read_text().splitlines() if line.startswith("#")]
    found = next(i for i, line in enumerate(lines) if first in line)
    return " ".join([lines[found][lines[found].index(first):], *lines[found + 1:]])


# --- applied, all at once ---

def documents(file, namespace, replace):
    """As it is but for the replacements, each of which must find something."""
    text = (FOLDER / file).read_text()
    for old, new in replace.items():
        assert old in text, f"{file} has no {old!r}"
        text = text.replace(old, new)
    text = text.replace("namespace: default", f"namespace: {namespace}").replace("web.default.svc", f"web.{namespace}.svc")
    assert "default.svc" not in text and "monitoring.svc" not in text, f"a server of {file} is not replaced: {text}"
    return list(yaml.safe_load_all(text))


def workloads(namespace, names, address):
    """That of redis-list, which the others name, too, with nothing running in it."""
    for name in names:
        text = (FOLDER / "redis-list/deployment.yaml").read_text().replace("redis.default.svc.cluster.local:6379", address)
        document = yaml.safe_load(text.replace("namespace: default", f"namespace: {namespace}"))
        document["metadata"]["name"] = name
        document["spec"]["replicas"] = 0
        yield document


class Applied:
    def __init__(self, cluster, servers):
        self.cluster, self.servers = cluster, servers
        self.stages, self.objects = {}, {}
        everything = []
        for name, example in EXAMPLES.items():
            stage = self.stages[name] = (JobStage if is_for_jobs(name) else Stage)(cluster, namespace_of(name), servers.open.server)
            cluster.create_namespace(stage.namespace)
            mine = self._documents(name, example, stage)
            (self.objects[name],) = [document for document in mine if document["kind"] == stage.KIND]
            target = self.objects[name]["spec"].get("scaleTargetRef")
            if target and target.get("kind", "Deployment") == "Deployment":
                everything = [*workloads(stage.namespace, [target["name"]], servers.open.server.address), *everything]
            everything += mine
            example.before(stage, servers)
        done = cluster.run_kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(everything))
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout.count("scaledobject.keda.sh/") + done.stdout.count("scaledjob.keda.sh/") == len(EXAMPLES)

    def _documents(self, name, example, stage):
        replace = example.replace(self.servers)
        own = file_of(name)
        found = []
        for file in [own, *example.beside]:
            text = (FOLDER / file).read_text()
            here = {old: new for old, new in replace.items() if old in text}
            found += [document for document in documents(file, stage.namespace, here) if file == own or document["kind"] != "ScaledObject"]
        assert not any(old in json.dumps(found) for old in replace if "\n" not in old)
        return [document for document in found if document["kind"] != "Deployment" or document["metadata"]["name"] != "worker"]

    def clear(self):
        for stage in self.stages.values():
            stage.delete_all()
        for stage in self.stages.values():
            self.cluster.delete_namespace(stage.namespace)
        # The role stays: kscaled may still have its watch.
        for what in ("clustertriggerauthentication/redis", "crd/gadgets.example.com", "secret/redis -n kscaled"):
            self.cluster.kubectl("delete", "--ignore-not-found", *what.split())


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    servers = Servers(tmp_path_factory.mktemp("examples"), cluster)
    yield servers
    servers.end()


@pytest.fixture(scope="module")
def applied(servers, installation, shared_kscaled, cluster):
    installation.apply("--service-account-tokens", webhook=True)
    shared_kscaled.stop()
    shared_kscaled.options = {"ca_dir": servers.bus.trusted}
    shared_kscaled.running()
    installation.wait_judging()
    may(cluster, "create", "serviceaccounts", "--subresource=token", "-A")
    applied = Applied(cluster, servers)
    yield applied
    applied.clear()
    shared_kscaled.stop()
    shared_kscaled.options = {}
    installation.apply()


# --- what is looked at ---

def test_every_file_is_in_the_table():
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    listed = {file_of(name) for name in (*EXAMPLES, *AT_GOOGLE, *AT_MANAGERS)} | {file for example in EXAMPLES.values() for file in example.beside}
    assert there == listed


def test_every_type_has_one():
    """Those that the pages of the manual have."""
    pages = (FOLDER.parents[1] / "man").glob("kscaled-triggers-*.5")
    types = {word for page in pages for line in re.findall(r"^\.Ss ([a-z].*)$", page.read_text(), re.M) for word in line.split(", ")}
    used = {trigger["type"] for name in (*EXAMPLES, *AT_GOOGLE, *AT_MANAGERS) for document in yaml.safe_load_all((FOLDER / file_of(name)).read_text()) if document["kind"] in ("ScaledObject", "ScaledJob") for trigger in document["spec"]["triggers"]}
    assert types == used


@pytest.mark.parametrize("name", [name for name in EXAMPLES if is_for_jobs(name)])
def test_example_of_a_scaledjob(kscaled, applied, name):
    """The Jobs that the comments promise appear, no more, and the API server and its Job controller take them."""
    example, stage, document = EXAMPLES[name], applied.stages[name], applied.objects[name]
    called, interval = document["metadata"]["name"], document["spec"].get("pollingInterval", 30)
    stage.wait_ready(called)
    eventually(lambda: len(stage.running(called)) == example.replicas)
    eventually(lambda: stage.says("Active", "True", name=called))
    eventually(lambda: len(stage.pods_of(called)) == example.replicas)
    if interval <= 5:
        time.sleep(interval + 1)   # the next poll finds the same work, and Jobs enough for it
        assert len(stage.jobs_of(called)) == example.replicas
    stage.says("Ready", "True", name=called)
    assert stage.events(called, "KEDAScalerInfo") == [], "no key is unknown"


@pytest.mark.parametrize("name", [name for name in EXAMPLES if not is_for_jobs(name)])
def test_example(kscaled, applied, servers, name):
    example, stage, document = EXAMPLES[name], applied.stages[name], applied.objects[name]
    called, target = document["metadata"]["name"], document["spec"]["scaleTargetRef"]
    stage.wait_ready(called)
    metrics = eventually(lambda: stage.hpa(called).spec.metrics)

    def replicas():
        if target.get("kind") == "Gadget":
            return stage.cluster.custom.get_namespaced_custom_object("example.com", "v1", stage.namespace, "gadgets", target["name"])["spec"]["replicas"]
        return stage.replicas(target["name"])

    def is_read():
        return all(stage.metric(metric.external.metric.name, called).status == 200 for metric in metrics if metric.type == "External")

    eventually(is_read)
    if example.later:
        eventually(lambda: stage.says("Active", "False", name=called))
        assert replicas() == 0
        example.later(servers)
        eventually(lambda: replicas() > 0, timeout=20)   # long before the next poll: by push
    judge = example.replicas if callable(example.replicas) else lambda count: count == example.replicas
    eventually(lambda: judge(replicas()))
    eventually(lambda: stage.says("Active", "True", name=called))
    stage.says("Ready", "True", name=called)
    stage.says("Fallback", "False", name=called)
    assert stage.events(called, "KEDAScalerInfo") == [], "no key is unknown"


def test_examples_at_google(launch, cluster, stage, tmp_path):
    """One after the other, with a key that Google knows in the place of that of the manifest."""
    google = Google(tmp_path)
    key = json.dumps(json.loads(google.account("scaler").key()))
    google.series[("subscription", "shop", "orders", "num_undelivered_messages")] = 60
    try:
        launch(env=google.env()).wait_serving()
        for name in AT_GOOGLE:
            found = documents(file_of(name), stage.namespace, {})
            (secret,) = [document["spec"]["secretTargetRef"][0]["name"] for document in found if document["kind"] == "TriggerAuthentication"]
            found.insert(0, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret, "namespace": stage.namespace}, "stringData": {"key.json": key}})
            (called,) = [document["metadata"]["name"] for document in found if document["kind"] == "ScaledObject"]
            for document in found:
                if document["kind"] == "ScaledObject":
                    document["metadata"]["name"] = document["spec"]["scaleTargetRef"]["name"] = name
                    for trigger in document["spec"]["triggers"]:
                        google.numbers[trigger["metadata"].get("query")] = 60
            assert called == "worker"
            stage.deployment(name, replicas=0)
            cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(found))
            stage.wait_ready(name)
            eventually(lambda: stage.replicas(name) == 3)
            assert stage.events(name, "KEDAScalerInfo") == [], "no key is unknown"
    finally:
        google.end()
    assert google.wrong == []


def at_aws(directory):
    """The manager, kscaled's environment, what stands in the place of the manifest's credentials, and a Secret that it wants to be there."""
    moto = MotoServer(directory, "moto-secrets")
    moto.secret("shop/redis", json.dumps({"password": LockedRedis.PASSWORD}))
    key_id, key = moto.user("scaler", allow("secretsmanager:GetSecretValue"))
    return moto, {"AWS_ENDPOINT_URL_SECRETS_MANAGER": moto.url}, {"AKIAIOSFODNN7EXAMPLE": key_id, "change-me-too": key}, {}


def at_azure(directory):
    vault = AzureVault(directory)
    vault.secrets["redis-password"] = {"0" * 32: LockedRedis.PASSWORD}
    vault.application("11111111-2222-3333-4444-555555555555", secret="change-me-too")
    return vault, vault.env(), {}, {}


def at_google(directory):
    google = GoogleSecrets(directory)
    google.secrets[("shop", "redis-password")] = {"1": LockedRedis.PASSWORD.encode()}
    return google, google.env(), {}, {"key.json": google.account("scaler").key()}


@pytest.mark.parametrize("name, begin", list(zip(AT_MANAGERS, (at_aws, at_azure, at_google))))
def test_example_of_a_secret_manager(launch, cluster, stage, credentials, tmp_path, locked_redis, name, begin):
    manager, env, replace, key = begin(tmp_path)
    try:
        launch(env=env).wait_serving()
        stage.deployment(replicas=0)
        if key:
            credentials.secret("google", **key)
        found = documents(file_of(name), stage.namespace, {**replace, "redis.default.svc.cluster.local:6379": locked_redis.address})
        cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(found))
        stage.wait_ready()
        eventually(lambda: stage.replicas() == 2)   # of 6 entries
        assert stage.events("worker", "KEDAScalerInfo") == [], "no key is unknown"
    finally:
        manager.end()
    assert getattr(manager, "wrong", []) == []
