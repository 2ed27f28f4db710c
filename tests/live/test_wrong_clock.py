# SPDX-License-Identifier: Apache-2.0
"""kscaled on a host whose clock is wrong, or is set while it runs (libfaketime): the wall clock alone, time goes by as ever. The API server's is right."""
import datetime
import glob
import pathlib
import re

import pytest

from rig.daemon import run
from rig.keda_lease import Keda
from rig.process import free_port
from rig.waiting import eventually, throughout

HOUR = 3600
OFFSETS = [22 * HOUR, -22 * HOUR, 20]  # certificates bear a day
SHORT = {"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}


class Clock:
    """What a program takes for the time."""

    def __init__(self, directory, offset):
        self.file = directory / f"clock{offset}"
        self.offset = offset
        self.set(offset)
        library, = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        self.env = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}

    def set(self, offset):
        self.offset = offset
        self.file.write_text(f"{offset:+d}\n")

    def now(self):
        return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self.offset)

    def is_of(self, daemon):
        """By the time that its newest line has."""
        times = re.findall(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", daemon.log(), re.M)
        said = datetime.datetime.fromisoformat(times[-1]).replace(tzinfo=datetime.timezone.utc)
        return abs((said - self.now()).total_seconds()) < 15


@pytest.fixture(scope="module", autouse=True)
def no_semaphores_left():
    """libfaketime may not remove them in kscaled's sandbox, and its next process of the same ID would fail."""
    yield
    for path in pathlib.Path("/dev/shm").glob("*faketime_s*_*"):
        if not pathlib.Path("/proc", path.name.rpartition("_")[2]).exists():
            path.unlink(missing_ok=True)


@pytest.fixture
def clock(tmp_path):
    (tmp_path / "clocks").mkdir()
    return lambda offset: Clock(tmp_path / "clocks", offset)


@pytest.fixture
def kept_token(cluster, installation, tmp_path):
    """A token that is kscaled's to renew, with ten minutes, which is the least that the API server gives: and it gives no other."""
    state = tmp_path / "state"
    state.mkdir()
    (state / "token").write_text(cluster.token(installation.namespace, "kscaled", seconds=600))
    before = installation.kubeconfig
    installation.kubeconfig = cluster.write_kubeconfig(tmp_path / "by-token-file", installation.namespace, token_file=state / "token")
    yield {"state_dir": state}
    installation.kubeconfig = before


def scales(stage):
    """Out and in again, the cooldown between."""
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)
    stage.drain()
    eventually(lambda: stage.replicas() == 0)


def without_certificates(cluster, installation):
    cluster.request(f"/api/v1/namespaces/{installation.namespace}/secrets/kscaled-certs", "DELETE")


@pytest.mark.parametrize("offset", OFFSETS)
def test_by_a_wrong_clock(cluster, installation, launch, stage, clock, kept_token, offset):
    """Its certificates are made by that clock, and the API server takes them at once."""
    without_certificates(cluster, installation)
    wrong = clock(offset)
    daemon = launch(env=wrong.env, options={**kept_token, **SHORT}).wait_serving()
    assert wrong.is_of(daemon)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    scales(stage)
    stage.push(3)
    eventually(lambda: stage.metric().status == 200)
    # The token was nearly over, or not to be judged; another has thirty days, and is not asked for again.
    eventually(lambda: "renewed, good until" in daemon.log())
    scales(stage)
    assert daemon.log().count("renewed, good until") == 1 and daemon.leading()
    minute = lambda more: "{0.minute} {0.hour} * * *".format(wrong.now() + datetime.timedelta(minutes=more))
    if abs(offset) >= HOUR:  # a window that is open by that clock alone
        stage.deployment("by-time", replicas=0)
        stage.ready_scaledobject("by-time", triggers=[{"type": "cron", "metadata": {"timezone": "UTC", "start": minute(-20), "end": minute(20), "desiredReplicas": "2"}}])
        eventually(lambda: stage.replicas("by-time") == 2)


def test_a_clock_that_is_set_while_it_runs(cluster, installation, launch, stage, clock):
    without_certificates(cluster, installation)
    wrong = clock(0)
    # An option that lets the file be read again in the sandbox.
    daemon = launch(env=wrong.env, options={"filepath_auth_root_path": wrong.file.parent, **SHORT}).wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    for offset in (HOUR, 0, -HOUR, 22 * HOUR, 0):
        wrong.set(offset)
        eventually(lambda: wrong.is_of(daemon))
        before = daemon.renewals()
        eventually(lambda: daemon.renewals() > before + 3)  # pylint: disable=cell-var-from-loop
        scales(stage)
        assert daemon.leading() and installation.available()
    assert "stopped leading" not in daemon.log()


def test_one_leads_whatever_their_clocks_say(launch, stage, clock):
    first = launch("first", options=SHORT, env=clock(HOUR).env).wait_serving()
    second = launch("second", port=free_port(), options=SHORT, env=clock(-HOUR).env).wait_ready()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    looks = "GET /apis/coordination.k8s.io/v1/namespaces/kscaled/leases/operator.keda.sh: 200"
    before = second.log().count(looks)
    throughout(lambda: first.leading() and not second.leading(), until=lambda: second.log().count(looks) > before + 8)
    first.kill()
    eventually(second.leading)
    scales(stage)
    third = launch("first", options=SHORT, env=clock(22 * HOUR).env).wait_ready()
    before = third.log().count(looks)
    throughout(lambda: second.leading() and not third.leading(), until=lambda: third.log().count(looks) > before + 8)
    second.term()
    eventually(third.leading)


@pytest.mark.parametrize("offset", [HOUR, -HOUR])
def test_keda_is_seen_at_work(cluster, launch, stage, clock, offset):
    """Whose Lease looks an hour old, or is of the future."""
    keda = Keda(cluster, stage.namespace)
    try:
        keda.take(duration=5)
        keda.renew()
        daemon = launch(options={"keda_namespace": stage.namespace, **SHORT}, env=clock(offset).env).wait_ready()
        looks = f"namespaces/{stage.namespace}/leases/operator.keda.sh: 200"
        throughout(lambda: not daemon.leading(), until=lambda: daemon.log().count(looks) > 8)
        assert "KEDA" in daemon.log()
        keda.stop()
        eventually(daemon.leading, timeout=60)
    finally:
        keda.stop()


@pytest.mark.parametrize("offset", [20, -HOUR])
def test_nothing_is_undone_under_a_leader(cluster, installation, launch, clock, tmp_path, offset):
    """By the clock of an administrator's machine its Lease ran out long ago."""
    daemon = launch(options={"retry_period": "500ms"}).wait_serving()  # so that it is soon seen to renew
    before = cluster.everything()
    done = run("leave", f"--kubeconfig={cluster.kubeconfig}", f"--config-dir={tmp_path}/none", f"--state-dir={tmp_path}/none", "--wait=3s", env=clock(offset).env)
    assert done.returncode == 1 and "holds Lease kscaled/operator.keda.sh and is still running: stop it first (nothing was undone)" in done.stderr, done.stdout + done.stderr
    assert done.stdout == "" and cluster.everything() == before and daemon.leading() and installation.available()
