# SPDX-License-Identifier: Apache-2.0
"""
One tenant who lets kscaled compute and keep all that he can, by every way at once: logins by SCRAM, TLS tickets without end, a key that takes an hour, partitions, floods, answers that cost. A good
one beside him is answered, woken and scaled, no turn computes long, the Lease is renewed and memory is what it may be.
"""
import contextlib
import itertools
import time

import pytest

from rig import pki
from rig.asker import percentile
from rig.credentials import ref
from rig.daemon import BUSY
from rig.hostile import kafka, large
from rig.hostile.mysql import TicketServer
from rig.hostile.postgres import FloodServer, ScramServer, put
from rig.hostile.tls import TicketFlood, give_locked
from rig.memory_limit import BUDGET_MIB
from rig.waiting import eventually, timed

WINDOWS = 60
# What a turn may compute. test_tenants_all asks for 50 ms; here 53 and 57 were seen, on two processors that kscaled waited for two thirds of the time.
COMPUTED_S = 0.1
TOO_LONG = "it is encrypted with more than 600000 rounds"


class Storm:
    """The servers, and how much of each attack has arrived."""

    def __init__(self, directory, ending):
        def begun(server):
            ending.callback(server.end)
            return server

        self.pair = pki.certificate(directory, "storm", pki.authority(directory, "storm-ca"), "localhost")
        self.tickets = begun(TicketFlood(directory, self.pair))
        self.mysql = begun(TicketServer(self.pair))
        self.logins = begun(kafka.Cluster(brokers=700, partitions=700, scram=True))
        self.partitions = begun(kafka.Cluster(partitions=kafka.MOST, silent_about=(kafka.OFFSET_FETCH,)))
        self.large = begun(large.source())
        self.scram = {f"scram-{way}-{iterations}": begun(ScramServer(iterations, pair)) for way, pair in (("clear", None), ("tls", self.pair)) for iterations in (100_000, 2**31 - 1)}
        self.floods = {f"flood-{way}-{shape}": begun(FloodServer(shape, pair)) for way, pair in (("clear", None), ("tls", self.pair)) for shape in FloodServer.SHAPES}

    def attack(self, stage, credentials):
        numbers = itertools.count()
        give_locked(credentials, "locked", self.pair)
        triggers = {
            **{f"tickets-{kind}": [trigger] for kind, trigger in self.tickets.triggers().items()},
            "tickets-mysql": [self.mysql.trigger()],
            "logins": [kafka.login_trigger(self.logins, credentials)],
            "partitions": [kafka.trigger(self.partitions, n) for n in range(24)],
            "locked": [{"type": "redis", "metadata": {"address": "127.0.0.1:1", "listName": "l"}, "authenticationRef": ref("locked")}],
            "large": large.answers(self.large, numbers),
            "costly": large.costly(self.large, numbers),
        }
        for name, of_it in triggers.items():
            stage.deployment(name)
            stage.scaledobject(name, pollingInterval=1, triggers=of_it)
        for name, server in [*self.scram.items(), *self.floods.items()]:
            put(stage, name, server)

    def arrived(self):
        return {"tickets": self.tickets.floods, "mysql": self.mysql.left, "logins": self.logins.salted, "partitions": self.partitions.asked[kafka.OFFSET_FETCH],
                **{kind: len(self.large.to(f"/{kind}")) for kind in large.KINDS},
                **{name: server.logins for name, server in self.scram.items()}, **{name: server.sent >> 20 for name, server in self.floods.items()}}


@pytest.fixture
def storm(tmp_path):
    with contextlib.ExitStack() as ending:
        yield Storm(tmp_path, ending)


@pytest.mark.alone  # the loop's longest turn, and memory
def test_all_from_one(cluster, storm, limit, launch, stage, module_stage, credentials, ask):
    """Its attacks all arrive before the minute and go on in it. What a turn computes is kscaled's alone; times of others are judged only where processors were free."""
    daemon = launch(under=limit.under(), options={"lease_duration": "5s", "renew_deadline": "4s", "retry_period": "1s"}).wait_serving()
    module_stage.deployment("good")
    module_stage.ready_scaledobject("good", pollingInterval=1, maxReplicaCount=3)
    storm.attack(stage, credentials)
    message = stage.wait_refused("locked", timeout=120)
    assert TOO_LONG in message and "s3cret" not in message, message
    eventually(lambda: all(storm.arrived().values()) or print(storm.arrived()), timeout=180, every=1)
    daemon.longest_turns()
    asker, beside = ask(cluster, module_stage.path(name="good"), WINDOWS), ask(cluster, "/version", WINDOWS)
    began, renewed, waited, before, longest = time.monotonic(), daemon.renewals(), daemon.waited_s(), storm.arrived(), []
    for _ in range(WINDOWS):
        time.sleep(1)  # a window of time is what is looked at
        longest.append(daemon.longest_turns())
    took, values = asker.result()
    machine = percentile(beside.result()[0], 99)
    renewed, seconds = daemon.renewals() - renewed, time.monotonic() - began
    busy = (daemon.waited_s() - waited) / seconds
    module_stage.push(12)
    woken = timed(lambda: module_stage.replicas("good") > 0)
    eventually(lambda: module_stage.replicas("good") == 3)
    after, computed = storm.arrived(), max(computed for _, computed in longest)
    figures = (f"longest turn {max(turn for turn, _ in longest) * 1000:.0f} ms, at most {computed * 1000:.0f} ms computing (the median window's {percentile(sorted(cpu for _, cpu in longest), 50) * 1000:.0f}); GET p99 {percentile(took, 99) * 1000:.1f} ms of {len(took)} "
               f"(p50 {percentile(took, 50) * 1000:.1f}; the API server's own {machine * 1000:.1f}; waited for a processor {busy * 100:.0f} % of the time); 0 -> 1 in {woken:.2f} s; "
               f"peak {daemon.peak_mib():.1f} MiB, of the group {limit.peak_mib() or 0:.1f}; {renewed} renewals in {seconds:.0f} s; {before} -> {after}")
    print(figures)
    assert values == ["0"] and daemon.leading() and "stopped leading" not in daemon.log(), figures
    assert sum(after.values()) > sum(before.values()), figures
    if daemon.sanitized():
        return
    assert computed <= COMPUTED_S and daemon.peak_mib() <= BUDGET_MIB and renewed >= 0.7 * seconds, figures
    assert busy > BUSY or (percentile(took, 99) <= 0.01 + 2 * machine and woken <= 1.5), figures
    assert percentile(took, 50) < 0.25 and woken < 5, figures
