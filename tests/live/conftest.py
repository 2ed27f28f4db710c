# SPDX-License-Identifier: Apache-2.0
"""Fixtures: one control plane and one Redis for all tests, one namespace for each; kscaled as a process with the rights of its own service account."""
import itertools
import os
import re
import sys
import time

import pytest
import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
pytest.register_assert_rewrite("rig")

# pylint: disable=wrong-import-position
from rig import process  # noqa: E402
from rig.asker import Asker  # noqa: E402
from rig.cluster import Cluster  # noqa: E402
from rig.credentials import Credentials, LockedRedis  # noqa: E402
from rig.daemon import Daemon, Installation, program  # noqa: E402
from rig.job_stage import JobRecord, JobStage  # noqa: E402
from rig.job_worker import Worker  # noqa: E402
from rig.memory_limit import BUDGET_MIB, MemoryLimit  # noqa: E402
from rig.redis_server import RedisServer  # noqa: E402
from rig.rights import Audit  # noqa: E402
from rig.stage import Stage  # noqa: E402
from rig.tcp_proxy import TcpProxy  # noqa: E402
from rig.waiting import eventually  # noqa: E402


def pytest_sessionstart():
    program()  # fails at once and for all when there is nothing to test


# Files that take longest, the longest first: who begins them last makes all others wait (pytest -n).
LONGEST = ("test_scaledjob_exact",)


def pytest_collection_modifyitems(items):
    """Also in a run without workers, so that tests never meet in an order that only one of the two has."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


# --- what a failing test shows beside its own words ---

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    for one in process.started:
        one.mark = one.log_size()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        # Who was started again writes on in the same file.
        for one in {one.log_path: one for one in process.started}.values():
            if one.alive() or one.log_size() > one.mark:
                report.sections.append((f"{one.name}, pid {one.pid}, {'alive' if one.alive() else f'ended with {one.popen.returncode}'}: {one.log_path}", one.tail()))


# --- the rights that the manifests give are enough, by the word of the API server ---

audited = []  # an Audit and its cluster, once there is one
expected = []  # what the test that runs may be refused


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    expected[:] = [pattern for marker in item.iter_markers("refused") for pattern in marker.args]
    for audit, _ in audited:
        audit.begin(time.time(), expected)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    try:
        return (yield)
    finally:
        refused = [one for audit, cluster in audited for one in audit.look(cluster.unsettled)]
        assert not refused, "the API server refused what kscaled asked for, and the test has no marker refused that tells so: " + "; ".join(refused[:10])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    for audit, cluster in audited:
        audit.look(cluster.unsettled)
        if "KSCALED_RIGHTS_DIR" in os.environ:
            audit.store(os.environ["KSCALED_RIGHTS_DIR"], os.environ.get("PYTEST_XDIST_WORKER", "alone"))


# --- for all tests ---

@pytest.fixture(scope="session")
def session_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="session")
def cluster(session_dir):
    cluster = Cluster(session_dir / "cluster")
    audit = Audit(session_dir)
    cluster.up("--hpa-sync-period=1s", "--hpa-downscale-stabilization=1s", *audit.options(cluster.dir))
    audit.begin(time.time(), expected)
    audited.append((audit, cluster))
    yield cluster
    cluster.down()


@pytest.fixture(scope="session")
def shared_redis(session_dir):
    server = RedisServer(session_dir, "redis")
    yield server
    server.end()


@pytest.fixture(scope="session")
def locked_redis(session_dir):
    """Lets nobody in without its password."""
    server = LockedRedis(session_dir, "locked-redis")
    yield server
    server.end()


@pytest.fixture(scope="session")
def installation(cluster, session_dir):
    installation = Installation(cluster, session_dir)
    installation.apply()
    # The garbage collector looks for new kinds every 30 s, and when it starts.
    cluster.restart("kube-controller-manager", "--signal", "KILL")
    cluster.disturbed = False
    yield installation
    check_openapi(cluster)


def check_openapi(cluster):
    """Over the whole session the API server must have had nothing to say against our OpenAPI documents, but that kscaled was not there at times."""
    away = re.compile(r"503|502|connection refused|EOF|reset by peer|context (?:canceled|deadline exceeded)|certificate|not reachable|no such host|timeout|ServiceUnavailable|could not get list of group versions", re.I)
    log = cluster.component_log("kube-apiserver").read_text(errors="replace")
    against = [line for line in log.splitlines() if ("external.metrics.k8s.io" in line or "insight.kscaled.io" in line) and "openapi" in line.lower() and re.match(r"[EW]\d{4}", line) and not away.search(line)]
    assert not against, "\n".join(against[:20])


class Shared:
    """The kscaled that most tests share: started when first needed, and again when a test has ended it."""

    def __init__(self, installation, directory):
        self.installation = installation
        self.dir = directory
        self.daemon = None
        self.options = {}   # of who is started next

    def running(self):
        if self.daemon is None or not self.daemon.alive():
            self.daemon = Daemon(self.installation, self.dir, options=self.options)
            self.daemon.wait_serving()
        return self.daemon

    def stop(self):
        if self.daemon is not None and self.daemon.alive():
            self.daemon.term()


@pytest.fixture(scope="session")
def shared_kscaled(installation, session_dir):
    shared = Shared(installation, session_dir)
    yield shared
    shared.stop()


# --- for one test ---

@pytest.fixture
def kscaled(shared_kscaled):
    """A kscaled that leads and serves, with the options of the man page but for ports and folders. A test may end it."""
    daemon = shared_kscaled.running()
    yield daemon
    daemon.check_alive()


@pytest.fixture
def launch(shared_kscaled, installation, tmp_path):
    """Starts kscaled with options of the test's own, in place of the shared one."""
    shared_kscaled.stop()
    daemons = []

    def start(name="kscaled", **more):
        daemons.append(Daemon(installation, tmp_path, name, **more))
        return daemons[-1]

    yield start
    try:
        for daemon in daemons:
            daemon.check_alive()
    finally:
        for daemon in daemons:
            if daemon.alive():
                daemon.term()


@pytest.fixture
def limit():
    """What kscaled beside hostile tenants is started under: its memory."""
    limit = MemoryLimit(BUDGET_MIB)
    yield limit
    limit.end()


@pytest.fixture
def ask():
    """Begins to ask for something of the API server's."""
    askers = []

    def ask(*arguments):
        askers.append(Asker(*arguments))
        return askers[-1]

    yield ask
    for asker in askers:
        asker.end()


@pytest.fixture
def between(cluster, installation, tmp_path):
    """A proxy on the way to the API server, and the kubeconfig that leads through it."""
    host, _, port = cluster.server.removeprefix("https://").rpartition(":")
    proxy = TcpProxy(host, int(port))
    document = yaml.safe_load(installation.kubeconfig.read_text())
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{proxy.port}"
    path = tmp_path / "through-the-proxy"
    path.write_text(yaml.safe_dump(document))
    path.chmod(0o600)
    yield proxy, path
    proxy.end()


_numbers = itertools.count(1)


def new_stage(cluster, shared_redis, name, make=Stage):
    short = re.sub(r"[^a-z0-9]+", "-", name.lower().removeprefix("test_"))[:30].strip("-")
    stage = make(cluster, f"{short}-{next(_numbers)}", shared_redis)
    cluster.create_namespace(stage.namespace)
    return stage


@pytest.fixture
def stage(cluster, shared_redis, installation, request):
    """A namespace of the test's own."""
    stage = new_stage(cluster, shared_redis, request.node.name)
    yield stage
    cluster.delete_namespace(stage.namespace)
    stage.drain()


@pytest.fixture
def credentials(stage):
    """Secrets, ConfigMaps and TriggerAuthentications of the test's own."""
    credentials = Credentials(stage)
    yield credentials
    credentials.clear()


@pytest.fixture(scope="module")
def module_stage(cluster, shared_redis, installation, request):
    """A namespace for all tests of a file."""
    stage = new_stage(cluster, shared_redis, request.node.name.rpartition("/")[2].removesuffix(".py"))
    yield stage
    cluster.delete_namespace(stage.namespace)
    stage.drain()


@pytest.fixture
def job_stage(cluster, shared_redis, installation, request):
    """A namespace of the test's own, for ScaledJobs."""
    stage = new_stage(cluster, shared_redis, request.node.name, JobStage)
    yield stage
    cluster.delete_namespace(stage.namespace)


@pytest.fixture
def record(job_stage):
    """Every Job of the namespace's ScaledJobs that there ever was."""
    record = JobRecord(job_stage)
    yield record
    record.end()


@pytest.fixture
def start_worker(job_stage):
    """Plays the containers of a ScaledJob's Pods, which take items from a queue."""
    workers = []

    def start(work, **more):
        workers.append(Worker(job_stage, work, **more))
        return workers[-1]

    yield start
    for worker in workers:
        worker.end()
    for worker in workers:
        assert not worker.troubles, worker.troubles


@pytest.fixture
def start_redis(tmp_path):
    """Starts a redis-server that the test may treat as it likes."""
    servers = []

    def start(**more):
        servers.append(RedisServer(tmp_path, f"redis-{len(servers)}", **more))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


@pytest.fixture
def disturb(cluster):
    """The cluster, for tests that stop its parts. Its own controllers would take up to a minute to find back, which is not what is tested here: they are started anew."""
    yield cluster
    if cluster.started != "kube-controller-manager":  # a test may have done so itself
        cluster.restart("kube-controller-manager", "--signal", "KILL")


@pytest.fixture
def restored(installation):
    """For tests that change what is installed: puts it back afterwards."""
    yield installation
    installation.apply()


@pytest.fixture
def token_rights(restored, stage):
    """The manifests give the right to make tokens of service accounts only when asked to."""
    cluster = restored.cluster
    restored.apply("--service-account-tokens")
    may = lambda: cluster.kubectl("auth", "can-i", "create", "serviceaccounts", "--subresource=token", "-n", stage.namespace, "--as=system:serviceaccount:kscaled:kscaled", check=False)
    eventually(lambda: may().strip() == "yes")
    yield
    stage.delete_all()  # or somebody would ask for tokens without the right
