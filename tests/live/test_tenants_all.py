# SPDX-License-Identifier: Apache-2.0
"""Twenty hostile tenants, each with most of what the other tests of tenants have: what a good one beside them feels of it, and what it costs."""
import itertools
import threading
import time

import pytest

from conftest import new_stage
from rig.asker import Asker
from rig.grpc_scaler import GrpcScaler
from rig.hostile import large, postgres
from rig.hostile.many import Halfway
from rig.hostile.postgres import KerberosServer, authentication
from rig.http_source import HttpSource
from rig.nameserver import NameServer, under
from rig.waiting import eventually, timed

TENANTS = 20
WINDOWS = 20


class Servers:
    """Of all hostile tenants."""

    def __init__(self, directory):
        self.over = threading.Event()
        self.large = large.source()
        self.halfway = Halfway(6 * TENANTS)
        self.hanging = HttpSource({"/": lambda asked: self.over.wait(300) and None})
        specs = [[f"metric-{n}", 5, 0] for n in range(64)]
        self.grpc = GrpcScaler(directory, "hostile")
        self.grpc.says(specs=specs, values={name: [1, 0] for name, _, _ in specs}, sleep={"GetMetrics": 20, "IsActive": 20})
        self.pg = KerberosServer(authentication(postgres.GSSAPI))

    def end(self):
        self.over.set()
        self.large.end()
        self.halfway.end()
        self.hanging.end()
        self.grpc.end()
        self.pg.end()


@pytest.fixture
def servers(tmp_path):
    servers = Servers(tmp_path)
    yield servers
    servers.end()


@pytest.fixture
def tenants(cluster, shared_redis):
    stages = [new_stage(cluster, shared_redis, f"hostile-{n}") for n in range(TENANTS)]
    yield stages
    for stage in stages:
        cluster.delete_namespace(stage.namespace)


@pytest.fixture
def names():
    names = NameServer({})
    yield names
    names.end()


@pytest.fixture
def daemon(launch, names, tmp_path):
    return launch(under=under(names.resolv_conf(tmp_path))).wait_serving()


def put(stage, name, triggers):
    stage.scaledobject(name, target=stage.another(name), pollingInterval=1, triggers=triggers)


def attack(stage, servers, numbers):
    stage.deployment("worker", env={"PG": servers.pg.string()})
    put(stage, "hang", [{"type": "metrics-api", "metadata": {"url": f"{servers.hanging.url}/?{next(numbers)}", "valueLocation": "n", "targetValue": "5", "timeout": "1h"}} for _ in range(10)])
    put(stage, "large", [{"type": "metrics-api", "metadata": {"url": f"{servers.large.url}/{kind}?{next(numbers)}", "format": kind, "valueLocation": where, "targetValue": "1", "timeout": "20s"}}
                         for kind, (where, _) in large.ANSWERS.items() for _ in range(2)])
    half = [servers.halfway.addresses[next(numbers) % len(servers.halfway.addresses)] for _ in range(6)]
    put(stage, "halfway", [{"type": "metrics-api", "metadata": {"url": f"http://{at}/", "valueLocation": "n", "targetValue": "5", "timeout": "20s"}} for at in half] +
        [{"type": "redis", "name": f"t{n}", "metadata": {"address": at, "listName": stage.namespace}} for n, at in enumerate(half[:2])])
    put(stage, "external", [{"type": "external", "metadata": {"scalerAddress": servers.grpc.address, "number": str(next(numbers))}} for _ in range(4)])
    put(stage, "names", [{"type": "redis", "name": f"t{n}", "metadata": {"address": f"t{n}.{stage.namespace}.silent:6379", "listName": "x"}} for n in range(50)])
    put(stage, "kerberos", [{"type": "postgresql", "metadata": {"connectionFromEnv": "PG", "query": "SELECT 1", "targetQueryValue": "5"}}])


def reached(servers, names):
    """How much of it has reached whom it is to harm."""
    return {**{kind: len(servers.large.to(f"/{kind}")) for kind in large.ANSWERS}, "hanging": len(servers.hanging.asked), "halfway": servers.halfway.served, "kerberos": servers.pg.logins,
            "names": len([name for name in names.asked if name.endswith(".silent")])}


def is_under_attack(servers, names):
    seen = reached(servers, names)
    return all(count >= (TENANTS if what != "names" else 20 * TENANTS) for what, count in seen.items() if what not in large.ANSWERS) and all(seen[kind] >= 4 for kind in large.ANSWERS)


@pytest.fixture
def ask():
    askers = []

    def ask(*arguments):
        askers.append(Asker(*arguments))
        return askers[-1]

    yield ask
    for asker in askers:
        asker.end()


@pytest.mark.alone  # how long anything takes
def test_all_at_once(cluster, daemon, stage, servers, names, tenants, ask):
    stage.deployment("good")
    stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=3)
    quiet, _ = ask(cluster, stage.path(name="good"), 3).result()
    numbers = itertools.count()
    for tenant in tenants:
        attack(tenant, servers, numbers)
    eventually(lambda: is_under_attack(servers, names) or print(reached(servers, names)), timeout=60, every=1)
    daemon.metric("kscaled_loop_longest_turn_seconds")
    asker = ask(cluster, stage.path(name="good"), WINDOWS)
    longest = []
    for _ in range(WINDOWS):
        time.sleep(1)  # a window of time is what is looked at
        longest.append(daemon.metric("kscaled_loop_longest_turn_seconds"))
    took, values = asker.result()
    assert values == ["0"]
    stage.push(12)
    woken = timed(lambda: stage.replicas("good") > 0)
    longest.sort()
    p99, usual = took[int(len(took) * 0.99)], longest[len(longest) // 2]
    figures = (f"longest turn {longest[-1] * 1000:.0f} ms, of a second as a rule {usual * 1000:.0f} ms; GET p99 {p99 * 1000:.1f} ms of {len(took)} (p50 {took[len(took) // 2] * 1000:.1f}; "
               f"before {quiet[int(len(quiet) * 0.99)] * 1000:.1f} and {quiet[len(quiet) // 2] * 1000:.1f}); 0 -> 1 in {woken:.2f} s; peak {daemon.peak_mib():.1f} MiB; "
               f"{daemon.open_files()} files; {reached(servers, names)}")
    print(figures)
    # What is aimed at are 50 ms, 10 ms, 1.5 s and 96 MiB. The times are looser here: what other work on the machine takes from this process is in them.
    assert daemon.sanitized() or (usual < 0.4 and took[len(took) // 2] < 0.25 and woken < 5 and daemon.peak_mib() < 96), figures
    assert daemon.leading()
