# SPDX-License-Identifier: Apache-2.0
"""A tenant's Kafka clusters: hundreds of logins that cost as much as they may, and as many partitions. The Lease, memory and everybody else are as before."""
import hashlib
import time

import pytest

from rig.hostile import kafka
from rig.waiting import eventually

BROKERS = 700
TRIGGERS = 24


@pytest.fixture
def clusters():
    """Makes them; they end with the test."""
    made = []

    def make(**behaviour):
        made.append(kafka.Cluster(**behaviour))
        return made[-1]

    yield make
    for cluster in made:
        cluster.end()


@pytest.fixture
def others(module_stage, request):
    """Beside, another namespace's, which is ready; called, it has to be scaled. The kscaled comes first: launch."""
    name = request.node.name.replace("_", "-")

    def begin():
        module_stage.deployment(name)
        module_stage.drain()
        module_stage.ready_scaledobject(name, pollingInterval=1, maxReplicaCount=3)

    def expect():
        module_stage.push(12)
        eventually(lambda: module_stage.replicas(name) == 3)
        assert module_stage.metric(name=name).value() == "12"
        assert not module_stage.events(name, "KEDAScalerFailed")

    expect.begin = begin
    yield expect
    module_stage.drain()


def one_login_s():
    """The processor's time for what one of these brokers asks for."""
    before = time.thread_time()
    hashlib.pbkdf2_hmac("sha512", kafka.PASSWORD.encode(), b"salt", kafka.MOST)
    return time.thread_time() - before


@pytest.mark.alone  # the loop's longest turn
def test_logins_that_cost(launch, stage, others, clusters, credentials):
    """100,000 iterations at each of 700 brokers, whose salts are all different, at each poll: no turn of the loop takes half as long as one of them."""
    daemon = launch(options={"lease_duration": "5s", "renew_deadline": "4s", "retry_period": "1s"}).wait_serving()
    cluster = clusters(brokers=BROKERS, partitions=BROKERS, scram=True)
    others.begin()
    login = kafka.login_trigger(cluster, credentials)
    stage.deployment("logins")
    daemon.longest_turns()
    stage.scaledobject("logins", pollingInterval=1, triggers=[login])
    longest = []

    def while_it_computes(check):
        longest.append(daemon.longest_turns()[1])  # since the last time
        return check()

    eventually(lambda: while_it_computes(lambda: cluster.salted >= 5), timeout=120)
    renewed, salted = daemon.renewals(), cluster.salted
    others()
    eventually(lambda: while_it_computes(lambda: daemon.renewals() >= renewed + 8 and cluster.salted > salted), timeout=120)
    computed, one = max(longest), one_login_s()
    assert daemon.leading()
    print(f"{cluster.salted} logins; longest turn {computed * 1000:.0f} ms computing; one login {one * 1000:.0f} ms")
    assert daemon.sanitized() or computed < one / 2, computed


@pytest.mark.alone  # memory
def test_partitions_times_triggers(limit, launch, stage, others, clusters):
    """24 questions about 100,000 partitions each, at a coordinator that never answers: they are under way one by one."""
    daemon = launch(under=limit.under()).wait_serving()
    cluster = clusters(partitions=kafka.MOST, silent_about=(kafka.OFFSET_FETCH,))
    others.begin()
    before = daemon.rss_mib()
    stage.deployment("partitions")
    stage.scaledobject("partitions", pollingInterval=1, triggers=[kafka.trigger(cluster, n) for n in range(TRIGGERS)])
    said = f'namespace "{stage.namespace}" has used its share of the 300000 partitions that may be asked about at a time'
    eventually(lambda: any(said in condition.get("message", "") for condition in stage.status("partitions").get("conditions", [])) or said in daemon.log(), timeout=60)
    seen = cluster.asked[kafka.OFFSET_FETCH]
    eventually(lambda: cluster.asked[kafka.OFFSET_FETCH] >= seen + 3, timeout=60)
    others()
    grown = daemon.peak_mib() - before
    print(f"{cluster.asked[kafka.OFFSET_FETCH]} questions, {grown:.1f} MiB more")
    daemon.check_alive()
    assert daemon.sanitized() or grown < 50, grown
    stage.delete_all()
