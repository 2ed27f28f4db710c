# SPDX-License-Identifier: Apache-2.0
"""
A life on a host: in a Debian that has booted by its own systemd the package is installed, `kscaled join` makes the service scale a
cluster of tests/cluster, systemd does with it what it does to services, and `kscaled leave` and apt take it all away. The tests
follow upon each other. Root only. BUILD: a configured build folder; KUBE_ASSETS: what tests/cluster/build prints.
"""
import contextlib
import json
import os
import re
import shutil
import time

import pytest

from debianhost import STOP_LIMIT, DebianHost
from debpackage import NAME, VERSION
from rig.cluster import Cluster
from rig.practice import spoken
from rig.process import free_port
from rig.redis_server import RedisServer
from rig.stage import Stage
from rig.waiting import DEFINITIONS_GONE, eventually

class Service:
    """kscaled on that machine, as systemd sees it and as the cluster does."""

    def __init__(self, machine, cluster):
        self.machine = machine
        self.cluster = cluster
        self.port, self.status_port = free_port(), free_port()

    def configure(self, **options):
        """kscaled.conf, and nothing else in it than what two machines on one network cannot share."""
        lines = {"secure-port": self.port, "status-address": f"127.0.0.1:{self.status_port}", "allow-local-sources": "true", **{name.replace("_", "-"): value for name, value in options.items()}}
        self.machine.file("/etc/kscaled/kscaled.conf").write_text("".join(f"{name} = {value}\n" for name, value in lines.items() if value is not None))

    def command(self, name, *arguments, program="kscaled", code=0):
        done = self.machine.run(program, name, f"--kubeconfig={self.administrator()}", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def join(self, **more):
        return self.command("join", f"--host=localhost:{self.port}", **more)

    def administrator(self):
        """A kubeconfig."""
        return "/root/" + shutil.copy(self.cluster.kubeconfig, self.machine.file("/root/admin")).name

    def findings(self, kubeconfig, *statuses, before=()):
        """Of kscaled doctor, which these words may stand before."""
        said = json.loads(self.machine.run(*before, "kscaled", "doctor", "-o", "json", "--kubeconfig", kubeconfig).stdout)
        return [one for one in said if one["status"] in statuses]

    def control(self, *arguments):
        self.machine.good("systemctl", *arguments, "kscaled")

    def property(self, name):
        return self.machine.good("systemctl", "show", "--property", name, "--value", "kscaled").strip()

    def pid(self):
        """Inside."""
        return int(self.property("MainPID"))

    def lines(self, *more):
        """What the journal has of it: the daemon's own lines, and systemd's of it."""
        return [json.loads(line) for line in self.machine.good("journalctl", "-u", "kscaled", "-o", "json", *more).splitlines()]

    def said(self, *more, least=7):
        """At this priority or a higher one, which is a lower number."""
        return [line["MESSAGE"] for line in self.lines(*more) if int(line["PRIORITY"]) <= least]

    def mark(self):
        """For said(): only what comes after this."""
        return f"--after-cursor={self.lines()[-1]['__CURSOR']}"

    def available(self):
        conditions = self.cluster.registration.read_api_service("v1beta1.external.metrics.k8s.io").status.conditions
        assert [(one.type, one.status) for one in conditions] == [("Available", "True")], conditions
        return True

    def scales(self, stage):
        """All the way, and back: the API server fetches a metric from it."""
        eventually(self.available, timeout=60)
        eventually(lambda: stage.metric().value() == "1")
        return True

    def running(self):
        assert self.property("ActiveState") == "active", self.machine.run("systemctl", "status", "kscaled").stdout
        return True

    @contextlib.contextmanager
    def drop_in(self, text):
        """As `systemctl edit kscaled` does it, and away again."""
        folder = self.machine.file("/etc/systemd/system/kscaled.service.d")
        folder.mkdir(parents=True)
        (folder / "override.conf").write_text("[Service]\n" + text)
        self.machine.good("systemctl", "daemon-reload")
        try:
            yield
        finally:
            shutil.rmtree(folder)
            self.machine.good("systemctl", "daemon-reload")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    assert os.environ.get("KUBE_ASSETS"), "the environment variable KUBE_ASSETS must hold what tests/cluster/build prints"
    cluster = Cluster(tmp_path_factory.mktemp("plane") / "cluster")
    cluster.up()
    yield cluster
    cluster.down()


@pytest.fixture(scope="module")
def machine(lived_in, tmp_path_factory):
    machine = DebianHost(lived_in, tmp_path_factory.mktemp("host"))
    try:
        machine.boot()
        yield machine
    finally:
        machine.shut_down()
        shutil.rmtree(machine.path)


@pytest.fixture(scope="module")
def installed(machine, cluster, older):
    """The version before, which waits for a kubeconfig."""
    machine.install(older)
    service = Service(machine, cluster)
    service.before = cluster.everything()
    service.configure()
    return service


@pytest.fixture(scope="module")
def service(installed):
    """Joined, as doctor says it of a host that has no kubeconfig yet."""
    (finding,) = installed.findings("/etc/kscaled/kubeconfig", "error")
    assert "No such file" in finding["message"], finding
    command = spoken(finding["mend"])[0].replace("ADMIN", installed.administrator())
    installed.told = installed.machine.shell(f"{command} --host=localhost:{installed.port}")
    return installed


@pytest.fixture(scope="module")
def stage(service, tmp_path_factory):
    """An object that it scales."""
    redis = RedisServer(tmp_path_factory.mktemp("redis"), "redis")
    service.cluster.create_namespace("host")
    stage = Stage(service.cluster, "host", redis)
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    yield stage
    redis.end()


def test_waits_for_a_kubeconfig(installed):
    assert (installed.property("UnitFileState"), installed.property("ActiveState"), installed.property("ConditionResult")) == ("enabled", "inactive", "no")
    # Nobody has to restart what has not been configured yet.
    assert installed.property("Result") == "success" and installed.property("NRestarts") == "0"


def test_join(service):
    assert "enabled and started kscaled.service" in service.told and f"the API server reaches kscaled at localhost:{service.port}" in service.told
    assert (service.property("UnitFileState"), service.property("ActiveState"), service.property("SubState")) == ("enabled", "active", "running")
    user = service.machine.good("ps", "-o", "user=,group=,args=", "-p", str(service.pid())).split()
    assert user == ["kscaled", "kscaled", "/usr/bin/kscaled", "run", "--config=/etc/kscaled/kscaled.conf"]
    uid = int(service.machine.good("id", "-u", "kscaled"))
    for path in ("/etc/kscaled/kubeconfig", "/etc/kscaled/join.env", "/var/lib/kscaled/token"):
        st = service.machine.file(path).stat()
        assert (st.st_uid, oct(st.st_mode & 0o7777)) == (uid, "0o600"), path
    assert service.available()


def test_scales(service, stage):
    assert service.scales(stage)
    assert "host" in service.machine.good("kscaled", "get", "-A")
    assert re.search("(?m)^ok +metric .* of host/worker is 1$", service.command("doctor"))


def test_its_rights_on_the_host(service):
    def status(pid):
        return dict(line.split(":\t", 1) for line in service.machine.good("cat", f"/proc/{pid}/status").splitlines())

    mine, first = status(service.pid()), status(1)
    assert {name: int(mine[name], 16) for name in mine if name.startswith("Cap")} == dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0)
    assert (mine["NoNewPrivs"], mine["Umask"]) == ("1", "0077")
    assert (first["Seccomp"], mine["Seccomp"]) == ("0", "2")
    # Those of the unit, and the one that the daemon puts on when it has started.
    assert int(mine["Seccomp_filters"]) > 1
    for name in ("user", "mnt"):
        assert len(set(service.machine.good("readlink", f"/proc/1/ns/{name}", f"/proc/{service.pid()}/ns/{name}").splitlines())) == 2, name
    assert "16384" in service.machine.good("sh", "-c", f"grep 'open files' /proc/{service.pid()}/limits").split()
    # systemd says what of a unit it does not know or cannot do.
    for line in service.lines():
        assert line.get("_COMM") != "systemd" or not re.search(r"(?i)unknown|ignor|unsupported|not supported|failed to set", line["MESSAGE"]), line["MESSAGE"]
    assert not [line for line in service.said() if re.search(r"(?i)not permitted|permission denied|read-only", line)]


# What user kscaled may do on this machine, and not in the unit, by the directive that forbids it.
CANNOT = {
    "ProtectSystem": "touch /opt/probe/file",
    "ReadOnlyPaths": "touch /run/probe/file || touch /run/lock/file",
    "ProtectHome": "cat /home/probe/file",
    "ProtectProc": "cat /proc/1/status",
    "ProcSubset": "cat /proc/meminfo",
    "PrivateTmp": "cat /tmp/probe/file || cat /var/tmp/probe/file",
    "PrivateDevices": "cat /dev/probe/file",
    "PrivateUsers": "test $(stat -c %U /opt/probe/another) = daemon",
    "ProtectControlGroups": "mkdir /sys/fs/cgroup/probe/made && rmdir /sys/fs/cgroup/probe/made",
    "RestrictNamespaces": "unshare --user true",
    "RestrictSUIDSGID": "touch /tmp/own && chmod u+s /tmp/own",
    "LockPersonality": "setarch --uname-2.6 true",
    "RestrictAddressFamilies": "perl -MErrno=EAFNOSUPPORT -e 'socket(S, 17, 3, 0) || $! != EAFNOSUPPORT or exit 1'",  # of packets: refused for another reason, or not
}
CAN = {
    "state": "touch /var/lib/kscaled/probe && rm /var/lib/kscaled/probe",
    "run": "touch /run/kscaled/probe && rm /run/kscaled/probe",
    "temporary-files": "touch /tmp/own && rm /tmp/own",
    "time-zones": "cat /usr/share/zoneinfo/Europe/Berlin",
    "authorities": "cat /etc/ssl/certs/ca-certificates.crt",
}


def test_what_the_unit_lets_it_do(service, stage):
    """A shell in its place, before it starts: each directive does what it is for."""
    machine, can = service.machine, service.machine.file("/var/lib/kscaled/can")

    def could():
        names = set(can.read_text().splitlines())
        can.unlink()
        return names

    places = "/opt/probe /home/probe /tmp/probe /var/tmp/probe /run/probe /dev/probe"
    machine.shell(f"mkdir {places} /sys/fs/cgroup/probe; for place in {places}; do touch $place/file; done; touch /opt/probe/another; chmod -R a+rwX {places}"
                  "; chown daemon /opt/probe/another; chown kscaled /sys/fs/cgroup/probe")
    probes = "\n".join(f"({script}) >/dev/null 2>&1 && echo {name} >>/var/lib/kscaled/can" for name, script in {**CAN, **CANNOT}.items())
    machine.file("/usr/local/bin/probe").write_text(f"#!/bin/sh\n{probes}\nexit 0\n")
    machine.file("/usr/local/bin/probe").chmod(0o755)
    machine.good("setpriv", "--reuid=kscaled", "--regid=kscaled", "--clear-groups", "/usr/local/bin/probe")
    assert could() == {*CAN, *CANNOT}
    with service.drop_in("ExecStartPre=/usr/local/bin/probe\n"):
        service.control("restart")
    assert could() == set(CAN)
    machine.shell(f"rm -rf {places} /tmp/own /run/lock/file /usr/local/bin/probe; rmdir /sys/fs/cgroup/probe")
    assert service.scales(stage)


def test_reload(service, stage):
    """The same process takes what has changed, and says what it cannot take."""
    pid, mark = service.pid(), service.mark()
    service.configure(log_level="debug", lease_name="another")
    service.control("reload")
    eventually(lambda: "kscaled: option log-level: the new value is in force" in service.said(mark))
    eventually(lambda: "kscaled: option lease-name: the new value needs a restart" in service.said(mark, least=4))
    eventually(lambda: any(int(line["PRIORITY"]) == 7 for line in service.lines(mark)))
    service.configure(log_level="loud")
    service.control("reload")
    eventually(lambda: [line for line in service.said(mark, least=3) if 'log-level: "loud"' in line and "the old ones stay in force" in line])
    service.configure()
    service.control("reload")
    eventually(lambda: service.said(mark).count("kscaled: option log-level: the new value is in force") == 2)
    assert service.pid() == pid and service.running() and service.scales(stage)


def test_journal(service):
    """Each line once with its time and its level, which are the journal's."""
    lines = [line for line in service.lines() if line["_COMM"] == "kscaled"]
    assert lines and {line["_UID"] for line in lines} == {service.machine.good("id", "-u", "kscaled").strip()}
    assert {line["PRIORITY"] for line in lines} == {"3", "4", "6", "7"}
    for line in lines:
        assert isinstance(line["MESSAGE"], str) and not re.match(r"<\d>|\d{4}-|(debug|info|warn|error)\b", line["MESSAGE"]), line
    shown = service.machine.good("journalctl", "-u", "kscaled", "-p", "warning")
    assert re.search(r"(?m)^\S+ \d\d \S+ \S+ kscaled\[\d+\]: kscaled: option lease-name: the new value needs a restart$", shown) and ": ready: " not in shown


def test_restart(service, stage):
    pid = service.pid()
    service.control("restart")
    assert service.running() and service.pid() != pid  # it was ready when systemctl came back
    assert service.scales(stage)


@pytest.mark.parametrize("signal", ["KILL", "SEGV"])
def test_killed(service, stage, signal):
    pid, restarts = service.pid(), int(service.property("NRestarts"))
    service.machine.good("kill", f"-{signal}", str(pid))
    eventually(lambda: int(service.property("NRestarts")) == restarts + 1 and service.running())
    assert service.pid() != pid
    assert service.scales(stage)


def test_frozen(service, stage):
    """The watchdog, in less time than the unit's."""
    assert service.property("WatchdogUSec") == "30s"
    with service.drop_in("WatchdogSec=5\n"):
        service.control("restart")
        pid, mark = service.pid(), service.mark()
        assert service.scales(stage)  # which takes its time, in which it is not killed
        service.machine.good("kill", "-STOP", str(pid))
        eventually(lambda: [line for line in service.said(mark) if "Watchdog timeout" in line])
        eventually(lambda: service.running() and service.pid() != pid)
    service.control("restart")
    assert service.scales(stage)


# --- what kscaled doctor says is to be done on a host: by who may be root by sudo, and is not ---

@pytest.fixture(name="somebody")
def fixture_somebody(service):
    """Runs a command as an ordinary user with a sudo that asks no password."""
    machine = service.machine
    machine.shell("useradd somebody && echo 'somebody ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/somebody")
    yield ["setpriv", "--reuid=somebody", "--regid=somebody", "--init-groups", "env", "HOME=/"]
    machine.shell("rm /etc/sudoers.d/somebody && userdel somebody")


def test_doctor_at_a_service_that_was_stopped(service, stage, somebody):
    service.control("stop")
    try:
        finding, = [one for one in service.findings(service.administrator(), "error") if one["hop"] == "lease"]
        assert "no one holds the Lease" in finding["message"], finding
        assert service.property("ActiveState") == "inactive"
        service.machine.good(*somebody, "sh", "-euc", finding["mend"])
        assert service.running() and service.scales(stage)
        eventually(lambda: not service.findings(service.administrator(), "error", "warning"))
    finally:
        service.control("start")


def test_doctor_at_a_kubeconfig_that_is_not_his(service, somebody):
    finding = service.findings("/etc/kscaled/kubeconfig", "error", before=somebody)[0]
    assert "Permission denied" in finding["message"], finding
    assert re.search("(?m)^ok +kubeconfig +kubeconfig /etc/kscaled/kubeconfig", service.machine.good(*somebody, "sh", "-euc", finding["mend"]))


def test_doctor_at_a_clock(service, somebody):
    """
    Only doctor sees a wrong clock (libfaketime), as a test must not set the machine's. The mend enables the service that sets it, which systemd does not start in a container.
    """
    machine, enabled = service.machine, lambda: service.machine.run("systemctl", "is-enabled", "systemd-timesyncd").stdout.strip()
    library = machine.shell("echo /usr/lib/*/faketime/libfaketime.so.1").strip()
    late = ["env", f"LD_PRELOAD={library}", "FAKETIME=-600", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
    machine.good("timedatectl", "set-ntp", "false")
    assert enabled() == "disabled"
    finding, = [one for one in service.findings(service.administrator(), "error", before=late) if one["hop"] == "clock"]
    assert re.search("the clock of this host is (599|600|601) seconds behind", finding["message"]), finding
    machine.good(*somebody, "sh", "-euc", finding["mend"])
    assert enabled() == "enabled"
    machine.good("timedatectl", "set-ntp", "false")
    assert not [one for one in service.findings(service.administrator(), "error", "warning") if one["hop"] == "clock"]


def test_a_group_may_ask(service):
    """The insight socket, as kscaled.conf says it."""
    ask = ["setpriv", "--reuid=12345", "--regid=adm", "--clear-groups", "kscaled", "get", "-A"]
    assert "Permission denied" in service.machine.run(*ask).stderr
    service.configure(insight_socket_group="adm")
    try:
        with service.drop_in("Group=adm\n"):
            service.control("restart")
            eventually(lambda: "host" in service.machine.good(*ask))  # when it has read the cluster
    finally:
        service.configure()
        service.control("restart")
    assert "Permission denied" in service.machine.run(*ask).stderr


def test_without_an_api_server(service, stage, older):
    """Nobody hangs: it is started and upgraded as ever, says what it waits for, and can be stopped."""
    service.cluster.stop("kube-apiserver")
    try:
        service.control("restart")
        assert service.running() and service.property("StatusText").startswith("Waiting for the API server")
        pid = service.pid()
        service.machine.install(older)  # again
        assert service.running() and service.pid() != pid
        began = time.monotonic()
        service.control("stop")
        assert time.monotonic() - began < STOP_LIMIT / 2 and service.property("Result") == "success"
        service.control("start")
    finally:
        service.cluster.start("kube-apiserver")
    eventually(lambda: service.property("StatusText") == "The cluster's objects have been read.", timeout=60)
    assert service.scales(stage)


def test_stop(service, stage):
    began = time.monotonic()
    service.control("stop")
    assert time.monotonic() - began < STOP_LIMIT / 2
    assert (service.property("ActiveState"), service.property("Result"), service.property("ExecMainStatus")) == ("inactive", "success", "0")
    assert not service.machine.run("test", "-e", "/run/kscaled").returncode == 0
    lease = service.cluster.coordination.read_namespaced_lease("operator.keda.sh", "kscaled")
    assert not lease.spec.holder_identity
    service.control("start")
    assert service.scales(stage)


def test_upgrade(service, stage, packages):
    pid = service.pid()
    service.machine.install(packages / NAME)
    assert service.machine.good("dpkg-query", "-W", "-f", "${Version}", "kscaled") == VERSION
    assert service.running() and service.pid() != pid
    assert service.scales(stage)


def test_join_again(service, stage):
    """With another port, which the unit reads from join.env, and by the way that is found: what answers then is the new daemon."""
    pid, port = service.pid(), free_port()
    service.configure(secure_port=None)
    said = service.command("join", f"--port={port}", "--wait=8s")
    assert f"the API server reaches kscaled at localhost:{port}" in said and "fetched a metric of ScaledObject host/" in said, said
    assert service.running() and service.pid() != pid
    service.configure()
    said = service.join()
    assert "fetched a metric of ScaledObject host/" in said and service.running()
    assert "KSCALED_SECURE_PORT" not in service.machine.file("/etc/kscaled/join.env").read_text()


def test_join_says_that_it_does_not_start(service, stage):
    """At once, and not when the API server has waited for it in vain."""
    service.configure(log_level="loud")
    began = time.monotonic()
    said = service.join(code=1)
    assert said.endswith("kscaled join: kscaled.service does not start: systemctl restart failed\n"), said
    assert 'last log lines of kscaled (journalctl -u kscaled):\n' in said and '"loud"' in said, said
    assert time.monotonic() - began < 50  # of the 60 s that it waits
    service.configure()
    service.join()
    assert service.scales(stage)


def test_reboot(service, stage):
    service.machine.shut_down()
    stage.drain()
    service.machine.boot()
    assert service.running()
    eventually(service.available, timeout=60)
    eventually(lambda: stage.replicas() == 0)


def test_leave(service, stage):
    """Nothing of it is left in the cluster, and of the host's files only what the package has."""
    said = service.command("leave", "--purge", "--delete-hpas")
    assert said.startswith("stopped and disabled kscaled.service\n"), said
    assert (service.property("UnitFileState"), service.property("ActiveState"), service.property("Result")) == ("disabled", "inactive", "success")
    assert {path.name for path in service.machine.file("/etc/kscaled").iterdir()} == {"kscaled.conf", "kscaled.conf.dpkg-dist"}
    assert list(service.machine.file("/var/lib/kscaled").iterdir()) == []
    service.cluster.core.delete_namespace("host")
    eventually(lambda: service.cluster.everything() == service.before, timeout=DEFINITIONS_GONE)


def test_leaves_after_it_was_purged(service):
    """Joined, and the package taken away: what was forgotten is done by a program from elsewhere, where systemd has no such unit."""
    machine = service.machine
    service.join()
    service.control("start")
    shutil.copy(machine.file("/usr/bin/kscaled"), machine.file("/root/program"))
    machine.good("apt-get", "-q", "-y", "purge", "kscaled")
    assert "LoadState=not-found" in machine.good("systemctl", "show", "kscaled") and machine.run("pgrep", "-x", "kscaled").stdout == ""
    left = machine.shell("find / -xdev -name '*kscaled*' -not -path '/proc/*' -not -path '/var/log/journal/*'").split()
    assert left == []
    assert "no kscaled.service to stop here" in service.command("leave", "--purge", program="/root/program")
    eventually(lambda: service.cluster.everything() == service.before, timeout=DEFINITIONS_GONE)
    # And there is no joining without the user, whom the package leaves.
    machine.good("userdel", "kscaled")
    said = service.join(program="/root/program", code=1)
    assert "user kscaled, which kscaled.service runs as, does not exist" in said and "nothing was changed" in said
    assert service.cluster.everything() == service.before and not machine.file("/etc/kscaled").exists()
