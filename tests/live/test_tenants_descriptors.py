# SPDX-License-Identifier: Apache-2.0
"""A thousand servers of a tenant, or silent servers of tokens, where a process may have few descriptors: everybody else has theirs, and he is told."""
import pytest

from rig.hostile.many import Silent
from rig.http_source import HttpSource, TokenServer
from rig.waiting import eventually

LIMIT = 1024
SERVERS = 1000
LIMITED = ["sh", "-c", f'ulimit -n {LIMIT} && exec "$@"', "sh"]
KINDS = {
    "redis": lambda at: {"type": "redis", "metadata": {"address": at, "listName": "l", "listLength": "5"}},
    "postgresql": lambda at: {"type": "postgresql", "metadata": {"host": at.partition(":")[0], "port": at.partition(":")[2], "userName": "u", "dbName": "d", "sslmode": "disable", "query": "SELECT 1", "targetQueryValue": "5"}},
    "metrics-api": lambda at: {"type": "metrics-api", "metadata": {"url": f"http://{at}/", "valueLocation": "n", "targetValue": "5", "timeout": "2m"}},
    "external": lambda at: {"type": "external", "metadata": {"scalerAddress": at}},
}


@pytest.fixture
def servers():
    servers = Silent(SERVERS)
    yield servers
    servers.end()


def put_hostile(stage, servers):
    """A quarter of the servers for each kind."""
    of_kind = SERVERS // len(KINDS)
    for k, (kind, trigger) in enumerate(KINDS.items()):
        stage.deployment(kind)
        stage.scaledobject(kind, pollingInterval=1, triggers=[trigger(at) for at in servers.addresses[k * of_kind:(k + 1) * of_kind]])


def messages(stage, name):
    return [condition.get("message", "") for condition in stage.status(name).get("conditions", [])]


def test_a_thousand_servers(launch, stage, module_stage, servers):
    daemon = launch(under=LIMITED).wait_serving()
    most = daemon.metric("kscaled_source_connections_max")
    assert 0 < most < LIMIT
    put_hostile(stage, servers)
    said = f'namespace "{stage.namespace}" has used up the share of connections'
    eventually(lambda: any(said in message and "name fewer servers" in message for kind in KINDS for message in messages(stage, kind)), timeout=60)
    # He has what he may have: more than the half of it is left.
    taken = daemon.metric("kscaled_source_connections")
    assert most / 4 < taken < most / 2, taken

    module_stage.deployment("good")
    module_stage.scaledobject("good", pollingInterval=1, maxReplicaCount=3, triggers=[module_stage.trigger()])
    module_stage.wait_ready("good")
    module_stage.push(12)
    eventually(lambda: module_stage.replicas("good") == 3)
    assert module_stage.metric(name="good").value() == "12"
    assert not module_stage.events("good", "KEDAScalerFailed")
    assert daemon.leading()
    assert "Too many open files" not in daemon.log()

    # Descriptors come back with the objects.
    stage.delete_all()
    eventually(lambda: daemon.metric("kscaled_source_connections") < most / 16, timeout=120)


# --- Tokens ---

TOKEN_SERVERS = 200
FEW = ["sh", "-c", 'ulimit -n 512 && exec "$@"', "sh"]


@pytest.fixture
def token_servers():
    servers = Silent(TOKEN_SERVERS)
    yield servers
    servers.end()


def put_client(credentials, name, token_url, namespace=None):
    credentials.authentication(name, namespace, oauth2={"type": "clientCredentials", "clientId": "client", "tokenUrl": token_url, "clientSecret": {"valueFrom": {"secretKeyRef": {"name": "client", "key": "secret"}}}})


def metrics_api(url, authentication):
    return {"type": "metrics-api", "metadata": {"url": url, "valueLocation": "n", "targetValue": "5", "authMode": "oauth"}, "authenticationRef": {"name": authentication}}


def test_silent_token_servers(launch, stage, module_stage, credentials, token_servers):
    """An exchange counts for the namespace that asks: who has many that hang runs out of his own connections, and others have their tokens."""
    daemon = launch(under=FEW).wait_serving()
    greedy = module_stage.namespace
    credentials.secret("client", greedy, secret="s")
    names = [f"client-{n}" for n in range(TOKEN_SERVERS)]
    for name, at in zip(names, token_servers.addresses):
        put_client(credentials, name, f"http://{at}/token", greedy)
    module_stage.deployment("greedy")
    module_stage.scaledobject("greedy", pollingInterval=1, triggers=[metrics_api("http://127.0.0.1:9/", name) for name in names])
    eventually(lambda: f'namespace "{greedy}" has used up the share of connections' in daemon.log(), timeout=60)

    tokens = TokenServer()
    source = HttpSource({"/token": tokens, "/n": tokens.guard('{"n":12}')})
    try:
        credentials.secret("client", secret="client-secret")
        put_client(credentials, "good", f"{source.url}/token")
        stage.deployment("good")
        stage.scaledobject("good", pollingInterval=1, maxReplicaCount=3, triggers=[metrics_api(f"{source.url}/n", "good")])
        stage.wait_ready("good")
        eventually(lambda: stage.replicas("good") == 3)
        assert not stage.events("good", "KEDAScalerFailed")
        assert daemon.leading()
    finally:
        source.end()
        module_stage.delete_all()
