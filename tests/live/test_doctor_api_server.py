# SPDX-License-Identifier: Apache-2.0
"""
What `kscaled doctor` tells to do at the API server itself: its options, its certificates, and those of its aggregator. On a control plane of this file's own, whose API server is started again
with the options that are told, as kubeadm and k3s have them in their files; certificates are made by the real kubeadm. k3s itself is not here.
"""
import datetime
import os
import pathlib
import shlex
import shutil

import pytest
import yaml

from rig import pki
from rig.cluster import METRICS, Cluster
from rig.daemon import Daemon, Installation
from rig.practice import Practice, Visit, spoken
from rig.waiting import eventually

NOBODY_LISTENS = "192.0.2.7:9443"  # an address that an EndpointSlice allows
DAY = datetime.timedelta(days=1)


class Plane:
    """Its API server, with certificates at kubeadm's paths below a directory."""

    def __init__(self, cluster, directory):
        self.cluster, self.root = cluster, directory / "root"
        self.folder = self.root / "etc/kubernetes"
        self.restore()
        self.file = cluster.dir / "run/kube-apiserver.cmd"
        self.usual = self.file.read_text().replace(cluster.pki(""), str(self.folder / "pki/")).splitlines()

    def restore(self):
        shutil.copytree(self.cluster.pki("."), self.folder / "pki", dirs_exist_ok=True)

    def start(self, options):
        """Restarts it with this command line."""
        self.file.write_text("".join(f"{option}\n" for option in options))
        self.cluster.restart("kube-apiserver", "--signal", "KILL")

    def without(self, *beginnings):
        self.start([option for option in self.usual if not option.startswith(beginnings)])

    def by_kubeadm(self, more):
        """Adds options to the static Pod; returns the command line that the kubelet would run."""
        manifest = self.folder / "manifests/kube-apiserver.yaml"
        manifest.parent.mkdir(exist_ok=True)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "kube-apiserver"}, "spec": {"containers": [{"name": "kube-apiserver", "command": self.file.read_text().splitlines()}]}}
        manifest.write_text(yaml.safe_dump(pod, sort_keys=False, width=1000) + "".join(f"    - {option}\n" for option in shlex.split(more)))
        command = yaml.safe_load(manifest.read_text())["spec"]["containers"][0]["command"]
        self.start(command)
        return command

    def by_k3s(self, more):
        """The command line of k3s with this line in its configuration file, whose values become options of kube-apiserver."""
        config = self.root / "etc/rancher/k3s/config.yaml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"write-kubeconfig-mode: '0600'\n{more}\n")
        return [*self.file.read_text().splitlines(), *(f"--{one}" for one in yaml.safe_load(config.read_text())["kube-apiserver-arg"])]


@pytest.fixture(scope="module")
def practice(tmp_path_factory, session_dir):
    """kscaled running, and an administrator with kubeadm."""
    directory = tmp_path_factory.mktemp("api-server")
    cluster = Cluster(session_dir / "api-server-cluster")
    cluster.up()
    practice = Practice(Installation(cluster, directory), directory)
    practice.plane = Plane(cluster, directory)
    practice.plane.start(practice.plane.usual)
    practice.installation.apply(webhook=True)
    practice.daemon = Daemon(practice.installation, directory).wait_serving()
    kubeadm = pathlib.Path(cluster.kubectl_program).with_name("kubeadm")
    as_root = "" if os.geteuid() == 0 else "unshare --user --map-root-user "  # it changes its root
    (practice.bin / "kubeadm").write_text(f'#!/bin/sh\nexec {as_root}{kubeadm} --rootfs {practice.plane.root} "$@"\n')
    (practice.bin / "kubeadm").chmod(0o755)
    yield practice
    practice.daemon.term()
    cluster.down()


@pytest.fixture
def plane(practice):
    """Without faults before and after."""
    eventually(lambda: practice.visit().fine(), timeout=60)
    yield practice.plane
    if practice.plane.file.read_text().splitlines() != practice.plane.usual or practice.visit().bad():
        practice.plane.restore()
        practice.plane.start(practice.plane.usual)


def forget_aggregator(practice):
    """The ConfigMap of an API server stays when its options are removed."""
    practice.cluster.kubectl("-n", "kube-system", "delete", "configmap", "extension-apiserver-authentication")
    return eventually(lambda: practice.visit().bad()["request-header"])


def test_options_of_the_aggregator(practice, plane):
    """Including those with the header names, without which kscaled knows no users."""
    plane.without("--requestheader-", "--proxy-client-")
    finding = forget_aggregator(practice)
    assert "kube-apiserver runs without --requestheader-client-ca-file" in finding["message"], finding
    assert practice.cluster.as_hpa_controller(METRICS).status != 200
    options = spoken(finding["mend"])[0]
    assert "(kubeadm: in /etc/kubernetes/manifests/kube-apiserver.yaml)" in finding["mend"], finding
    for word, value in (("=CA ", "front-proxy-ca.crt"), ("=CERTIFICATE ", "front-proxy-client.crt"), ("=KEY", "front-proxy-client.key")):
        options = options.replace(word, word.replace(word.strip("= "), str(plane.folder / "pki" / value)))
    plane.by_kubeadm(options.replace("=NAME ", "=front-proxy-client "))
    eventually(lambda: practice.visit().fine(), timeout=60)
    eventually(lambda: practice.cluster.as_hpa_controller(METRICS).status == 200)


def test_expired_ca_of_the_aggregator(practice, plane, tmp_path):
    """The API server then publishes none. kubeadm does not renew a CA, but creates a missing one."""
    now = datetime.datetime.now(datetime.timezone.utc)
    ended = pki.certificate(tmp_path, "ended", pki.authority(tmp_path, "any"), "ended", begin=now - 9 * DAY, end=now - DAY, ca=True)
    shutil.copy(ended.cert, plane.folder / "pki/front-proxy-ca.crt")
    shutil.copy(ended.key, plane.folder / "pki/front-proxy-ca.key")
    plane.start(plane.usual)
    finding = forget_aggregator(practice)
    assert "or that CA has expired" in finding["message"], finding
    practice.do(spoken(finding["mend"])[1].replace("/etc/kubernetes", str(plane.folder)))
    assert "CN = ended" not in pki.describe((plane.folder / "pki/front-proxy-client.crt").read_text())["text"]
    plane.start(plane.usual)
    eventually(lambda: practice.visit().fine(), timeout=60)


def written(plane, name, pair):
    """The API server reloads the files of its certificate."""
    for source, end in ((pair.key, "key"), (pair.cert, "crt")):
        new = plane.folder / f"pki/{name}.new"
        shutil.copy(source, new)
        os.replace(new, plane.folder / f"pki/{name}.{end}")


def test_expired_certificate_of_the_api_server(practice, plane, tmp_path):
    now = datetime.datetime.now(datetime.timezone.utc)
    ca = pki.Pair(plane.folder / "pki/ca.crt", plane.folder / "pki/ca.key")
    for name, begin, says in (("early", now + DAY, "not yet valid"), ("ended", now - 9 * DAY, "certificate has expired")):
        written(plane, "apiserver", pki.certificate(tmp_path, name, ca, "kube-apiserver", names=("localhost,IP:127.0.0.1",), begin=begin, end=begin + 8 * DAY))
        finding = eventually(lambda says=says: (lambda one: says in one["message"] and one)(practice.visit().bad()["api-server"]), timeout=30)
        assert (finding["mend"] == "sudo timedatectl set-ntp true") == (name == "early"), finding
    practice.do(spoken(finding["mend"])[0])
    plane.start(plane.usual)
    eventually(lambda: practice.visit().fine(), timeout=60)


def test_expired_certificate_of_the_administrator(practice, plane, tmp_path):
    now = datetime.datetime.now(datetime.timezone.utc)
    ca = pki.Pair(plane.folder / "pki/ca.crt", plane.folder / "pki/ca.key")
    ended = pki.certificate(tmp_path, "ended", ca, "kubernetes-admin", usage="clientAuth", begin=now - 9 * DAY, end=now - DAY)
    path = plane.folder / "admin.conf"
    shutil.copy(practice.cluster.kubeconfig, path)
    practice.do(f"kubectl config set-credentials admin --kubeconfig {path} --embed-certs --client-certificate {ended.cert} --client-key {ended.key}")
    visit = Visit("--kubeconfig", path)
    finding = visit.bad()["credentials"]
    assert 'the client certificate of "kubernetes-admin" expired at' in finding["message"] and visit.code == 2, finding
    practice.do(spoken(finding["mend"])[0])
    assert Visit("--kubeconfig", path).status("credentials") == Visit("--kubeconfig", path).status("api-server") == "ok"


def test_routing(practice, plane):
    """With a cluster IP without kube-proxy; and with a DNS name."""
    there = lambda: Visit("--kubeconfig", practice.cluster.kubeconfig)
    objects = "service,endpoints,endpointslices"
    away = lambda: practice.cluster.kubectl("-n", "kscaled", "delete", objects, "-l", "app.kubernetes.io/name=kscaled", "--ignore-not-found")
    away()
    try:
        practice.cluster.kubectl("apply", "-f", "-", stdin=practice.installation.manifests("--host", NOBODY_LISTENS))
        finding = eventually(lambda: there().bad()["routing"], timeout=60)
        assert "the API server connects to the cluster IP 10.96." in finding["message"], finding
        option, line, name = spoken(finding["mend"])
        assert plane.by_k3s(line) == plane.by_kubeadm(option)
        eventually(lambda: there().status("routing") == "ok", timeout=60)
        # Nothing listens there, which is now reported for the right address.
        eventually(lambda: f"https://{NOBODY_LISTENS}/" in there().bad()["available"]["message"], timeout=60)
        # An API server that connects to endpoints cannot use a DNS name.
        practice.do(name.replace("NAME:PORT", practice.host))
        finding = eventually(lambda: there().bad()["routing"], timeout=60)
        assert finding["status"] == "error" and "--enable-aggregator-routing=true, which does not support ExternalName" in finding["message"], finding
        assert finding["mend"] == "kubectl -n kscaled delete service kscaled; kscaled manifests --host ADDRESS:PORT | kubectl apply -f -", finding
        practice.do(finding["mend"].replace("ADDRESS:PORT", NOBODY_LISTENS))
        eventually(lambda: there().status("routing") == "ok", timeout=60)
        # Otherwise a DNS name replaces the address.
        plane.start(plane.usual)
        practice.do(name.replace("NAME:PORT", practice.host))
        eventually(lambda: practice.visit().fine(), timeout=60)
        left = practice.cluster.kubectl("-n", "kscaled", "get", objects, "-o", "name").split()
        assert left == ["service/kscaled"], left
    finally:
        if practice.cluster.kubectl("-n", "kscaled", "get", "endpointslices", "-o", "name"):
            away()
            practice.installation.apply(webhook=True)
