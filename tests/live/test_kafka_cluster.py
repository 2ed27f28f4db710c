# SPDX-License-Identifier: Apache-2.0
"""A Kafka of three brokers: leaders and coordinators that move, die and freeze; one connection to each, whoever asks."""
import pytest

from rig.kafka_server import KafkaServer
from rig.waiting import after, eventually, throughout
from test_kafka import connections, put, trigger, wait_value


@pytest.fixture(scope="module")
def server(session_dir):
    server = KafkaServer(session_dir, "kafkas", brokers=3)
    yield server
    server.end()


@pytest.fixture
def topic(stage, server):
    """Three partitions, the first led by the second broker, the second by the third, the third by the first; 4 messages in each."""
    name = f"{stage.namespace}-jobs"
    server.topic(name, 3, 2)
    for partition, replicas in enumerate(((2, 1), (3, 1), (1, 2))):
        server.first.do("lead", name, partition, *replicas)
        eventually(lambda partition=partition, first=replicas[0]: server.first.do("leader", name, partition) == str(first), timeout=60)
        server.produce(name, partition, 4)
    return name


def groups(server, topic, count):
    names = [f"{topic}-{i}" for i in range(count)]  # so many that each broker coordinates some
    for name in names:
        server.commit(name, topic, 0, 0, 0)
    return names


def test_one_connection_to_each(kscaled, stage, server, topic):
    stage.deployment(replicas=0)
    for group in groups(server, topic, 6):
        put(stage, group.rpartition("-")[2] + "-th", trigger(server, group, topic, bootstrapServers=server.first.address()), replicas=1)
    for i in range(6):
        wait_value(stage, "12", f"{i}-th")
    throughout(lambda: [connections(kscaled, broker.ports["plain"]) for broker in server.brokers] == [1, 1, 1], until=after(3), every=0.2)


def test_leaders_move(kscaled, stage, server, topic):
    """By order: nobody is told of trouble, and the lag goes on."""
    server.commit("workers", topic, 0, 0, 0)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[trigger(server, "workers", topic, lagThreshold=4)])
    eventually(lambda: stage.replicas() == 3)
    for partition, replicas in enumerate(((1, 2), (2, 3), (3, 1))):
        server.first.do("lead", topic, partition, *replicas)
    asked = kscaled.asked()
    throughout(lambda: stage.says("Ready", "True"), until=lambda: kscaled.asked() > asked + 3)
    server.commit("workers", topic, 4, 4, 4)
    eventually(lambda: stage.replicas() == 0)
    assert not stage.events(reason="KEDAScalerFailed")


def test_a_broker_dies(kscaled, stage, server, topic):
    """Its partitions get other leaders, its groups other coordinators; until then nothing is scaled in, and then all is well without it."""
    names = groups(server, topic, 6)
    stage.deployment(replicas=0)
    for i, group in enumerate(names):
        put(stage, f"so-{i}", trigger(server, group, topic, lagThreshold=4, bootstrapServers=server.address()))
    for i in range(6):
        eventually(lambda i=i: stage.replicas(f"so-{i}") == 3)
    server.brokers[1].kill()
    try:
        for group in names:
            server.commit(group, topic, None, 0, 4)  # the partition that it led is another's by now
        for i in range(6):
            wait_value(stage, "8", f"so-{i}")
            assert stage.replicas(f"so-{i}") >= 2
    finally:
        server.brokers[1].start()
    for i in range(6):
        stage.wait_ready(f"so-{i}")


def test_a_frozen_broker(kscaled, stage, server, topic):
    """The others take it for dead after a while, and lead in its place; kscaled finds them, although its connection is still there."""
    names = groups(server, topic, 6)
    stage.deployment(replicas=0)
    for i, group in enumerate(names):
        put(stage, f"so-{i}", trigger(server, group, topic, lagThreshold=4, bootstrapServers=server.first.address()))
    for i in range(6):
        eventually(lambda i=i: stage.replicas(f"so-{i}") == 3)
    server.brokers[2].freeze()
    try:
        # Until then who needs it waits, fails and is held; then all are asked again, and answer without it.
        def over():
            return any(stage.events(f"so-{i}", "KEDAScalerFailed") for i in range(6)) and all(stage.condition("Ready", f"so-{i}")["status"] == "True" for i in range(6))
        throughout(lambda: all(stage.replicas(f"so-{i}") == 3 for i in range(6)), until=over)
        for i in range(6):
            wait_value(stage, "12", f"so-{i}")
            stage.wait_ready(f"so-{i}")
    finally:
        server.brokers[2].thaw()
    for i in range(6):
        stage.wait_ready(f"so-{i}")
