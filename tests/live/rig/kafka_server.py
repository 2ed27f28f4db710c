# SPDX-License-Identifier: Apache-2.0
"""A real Kafka of one or three brokers (tests/kafka, KRaft) on loopback ports, and hands that make topics, messages and commits in it."""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import time

from .process import OneProcess, Process, free_port
from .waiting import eventually

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "kafka"
PASSWORD = "right-password"
CLUSTER = "kscaled-tests-0000000A"  # 22 characters of base64, as KRaft wants it
JAVA = ["-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]

# Listener and what it speaks. `lost` is for a broker that advertises a name that leads nowhere.
LISTENERS = {"plain": "PLAINTEXT", "lost": "PLAINTEXT", "sasl": "SASL_PLAINTEXT"}
SECURE = {"tls": "SSL", "mtls": "SSL", "sasltls": "SASL_SSL", "msk": "SASL_SSL"}
LOST = "kafka-0.lost.invalid"
LOGINS = {
    "plain": f'org.apache.kafka.common.security.plain.PlainLoginModule required user_reader="{PASSWORD}";',
    "scram-sha-256": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "scram-sha-512": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "oauthbearer": 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
}
# Of the listener that asks as Amazon MSK does (tests/kafka/Msk.java): key id -> secret, session token.
MSK_REGION = "eu-west-1"
MSK_KEYS = {"AKIDREADER": ("msk/secret+1", ""), "ASIAREADER": ("msk/secret+2", "sess+ion/token==")}
MSK_OPTIONS = f'mskRegion="{MSK_REGION}" mskKeys="{";".join(",".join((key, *rest)) for key, rest in MSK_KEYS.items())}"'
MSK_LOGINS = {
    "oauthbearer": f'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker" {MSK_OPTIONS};',
    "aws_msk_iam": f"Msk$Login required {MSK_OPTIONS};",
}


def token(subject="reader", seconds=3600, now=None):
    """A token that the brokers take without a signature: theirs is a validator for tests."""
    def part(claims):
        return base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    now = int(now or time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': subject, 'iat': now, 'exp': now + seconds})}."


class Broker(OneProcess):
    """Broker `number` of a cluster; the first is its controller, too."""

    def __init__(self, directory, number, controller, pair=None, authority=None, replicas=1, log_name="kafka"):
        self.number = number
        self.dir = pathlib.Path(directory) / f"broker-{number}"
        self.dir.mkdir(parents=True)
        self.assets = subprocess.run([SCRIPTS / "build"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=600, text=True).stdout.strip()
        self.listeners = {**LISTENERS, **(SECURE if pair else {})}
        self.ports = {name: free_port() for name in self.listeners}
        self.controller = controller
        self.pair, self.authority, self.replicas = pair, authority, replicas
        self.name = f"{log_name}-{number}"
        self.configure()

    def address(self, listener="plain"):
        return f"localhost:{self.ports[listener]}"

    def configure(self):
        own = self.number == 1
        names = {name.upper(): f"localhost:{port}" for name, port in self.ports.items()}
        listeners = {**names, **({"CONTROLLER": f"localhost:{self.controller}"} if own else {})}
        advertised = {**names, "LOST": f"{LOST}:{self.ports['lost']}"}
        config = {
            "node.id": self.number, "process.roles": "broker,controller" if own else "broker", "controller.quorum.voters": f"1@localhost:{self.controller}", "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(f"{name}://{at}" for name, at in listeners.items()), "advertised.listeners": ",".join(f"{name}://{at}" for name, at in advertised.items()),
            "listener.security.protocol.map": ",".join(["CONTROLLER:PLAINTEXT", *(f"{name.upper()}:{protocol}" for name, protocol in self.listeners.items())]), "inter.broker.listener.name": "PLAIN",
            "log.dirs": self.dir / "data", "offsets.topic.replication.factor": self.replicas, "offsets.topic.num.partitions": 3, "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1, "group.initial.rebalance.delay.ms": 0, "auto.create.topics.enable": "false", "num.partitions": 1, "log.cleaner.enable": "false",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "allow.everyone.if.no.acl.found": "true", "super.users": "User:ANONYMOUS", "connection.failed.authentication.delay.ms": 10,
            "controlled.shutdown.enable": "false", "broker.session.timeout.ms": 3000, "broker.heartbeat.interval.ms": 500, "num.network.threads": 2, "num.io.threads": 4, "background.threads": 2,
        }
        for listener in self.listeners:
            if listener.startswith("sasl"):
                config[f"listener.name.{listener}.sasl.enabled.mechanisms"] = ",".join(name.upper() for name in LOGINS)
                config.update({f"listener.name.{listener}.{name}.sasl.jaas.config": module for name, module in LOGINS.items()})
        if "sasltls" in self.listeners:
            config["listener.name.sasltls.connections.max.reauth.ms"] = 1000  # a login is good for so long
        if "msk" in self.listeners:
            config["listener.name.msk.sasl.enabled.mechanisms"] = ",".join(name.upper() for name in MSK_LOGINS)
            config["listener.name.msk.oauthbearer.sasl.server.callback.handler.class"] = "Msk$Tokens"
            config.update({f"listener.name.msk.{name}.sasl.jaas.config": module for name, module in MSK_LOGINS.items()})
        if self.pair:
            store = self.dir / "keystore.pem"
            store.write_text(pathlib.Path(self.pair.key).read_text() + pathlib.Path(self.pair.cert).read_text())
            config.update({"ssl.keystore.type": "PEM", "ssl.keystore.location": store, "ssl.truststore.type": "PEM", "ssl.truststore.location": self.authority, "listener.name.mtls.ssl.client.auth": "required"})
        (self.dir / "config").write_text("".join(f"{key}={value}\n" for key, value in config.items()))

    def begin(self):
        """Started; not yet there."""
        java = shutil.which("java")
        assert java, "java is missing: contrib/install-deps.sh --tests installs it"
        self.process = Process(self.name, [java, *JAVA, f"-XX:SharedArchiveFile={self.assets}/broker.jsa", "-cp", f"{self.assets}/broker.jar:{self.assets}/jars/*", "Broker", str(self.dir / "config"), CLUSTER, self.address()], str(self.dir / "log"),
                               stdin=subprocess.PIPE, cwd=str(self.dir))
        self.answers = 0

    def start(self):
        self.begin()
        self.wait_ready()

    def wait_ready(self):
        eventually(lambda: "hands: ready\n" in self.process.log(), timeout=90)

    def do(self, *words):
        """A command of Broker.java; what it answers."""
        self.process.popen.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.popen.stdin.flush()
        self.answers += 1

        def answer():
            found = re.findall(r"^hands: (ok|failed) (.*)$", self.process.log(), re.M)
            return found[self.answers - 1] if len(found) >= self.answers else None
        how, what = eventually(answer, timeout=120, every=0.01)
        assert how == "ok", f"{words}: {what}"
        return what


class KafkaServer:
    """brokers: how many. Topics are made by topic(), and exist on all brokers when that returns."""

    def __init__(self, directory, name, brokers=1, pair=None, authority=None):
        directory = pathlib.Path(directory) / name
        controller = free_port()
        self.brokers = [Broker(directory, number, controller, pair, authority, min(brokers, 3), name) for number in range(1, brokers + 1)]
        for broker in self.brokers:
            broker.begin()
        for broker in self.brokers:
            broker.wait_ready()

    @property
    def first(self):
        return self.brokers[0]

    def address(self, listener="plain"):
        return ",".join(broker.address(listener) for broker in self.brokers)

    def topic(self, name, partitions=1, replicas=1, messages=()):
        """messages: how many in each partition."""
        self.first.do("topic", name, partitions, replicas)
        for partition, count in enumerate(messages):
            self.produce(name, partition, count)

    def produce(self, topic, partition, count):
        if count:
            self.first.do("produce", topic, partition, count)

    def commit(self, group, topic, *offsets):
        """Of each partition; None: nothing."""
        self.first.do("commit", group, topic, *("-" if offset is None else offset for offset in offsets))

    def user(self, name, password=PASSWORD):
        self.first.do("user", name, password)

    def kill(self):
        for broker in self.brokers:
            broker.kill()

    def start(self):
        """Also again, on the same ports, with the same data."""
        for broker in self.brokers:
            broker.begin()
        for broker in self.brokers:
            broker.wait_ready()

    def freeze(self):
        for broker in self.brokers:
            broker.freeze()

    def thaw(self):
        for broker in self.brokers:
            broker.thaw()

    def end(self):
        for broker in self.brokers:
            broker.end()
