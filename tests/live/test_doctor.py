# SPDX-License-Identifier: Apache-2.0
"""`kscaled doctor`: every hop of the chain is broken on purpose, named, and mended by the command that it says."""
import base64
import contextlib
import datetime
import email.utils
import json
import pathlib
import re

import pytest
import yaml

from rig import pki
from rig.api_proxy import ApiProxy
from rig.cluster import Cluster
from rig.daemon import APISERVICE, WEBHOOKS, run
from rig.keda_lease import Keda
from rig.practice import HOPS, Desk, Practice, Visit
from rig.process import free_port
from rig.waiting import eventually

# What kscaled's own account may not look at.
NOT_ITS = pytest.mark.refused("get services", "get endpoints", "get customresourcedefinitions.apiextensions.k8s.io", "create scaledobjects.keda.sh", "list *.external.metrics.k8s.io", "list clusterrolebindings.rbac.authorization.k8s.io", "list roles.rbac.authorization.k8s.io")
FREE = "kubectl delete apiservice v1beta1.external.metrics.k8s.io v1.insight.kscaled.io"


@pytest.fixture(scope="module")
def practice(installation, tmp_path_factory):
    installation.apply(webhook=True)
    yield Practice(installation, tmp_path_factory.mktemp("doctor"))
    installation.apply()


@pytest.fixture
def whole(kscaled, practice):
    """All is fine before."""
    eventually(lambda: practice.visit().fine())
    return practice


@pytest.fixture
def resting(practice, shared_kscaled):
    """kscaled is not there: nobody corrects what the test breaks. Afterwards it puts right what is left."""
    daemon = shared_kscaled.running()
    eventually(lambda: practice.visit().fine())
    daemon.term()
    yield practice
    shared_kscaled.running()
    eventually(lambda: practice.visit().fine())


# --- kubeconfig, credentials, API server, clock ---

def document(practice):
    return yaml.safe_load(practice.installation.kubeconfig.read_text())


def written(path, content):
    path.write_text(yaml.safe_dump(content))
    return path


@NOT_ITS
def test_kubeconfig(whole, tmp_path):
    visit = whole.visit(kubeconfig=tmp_path / "none")
    assert visit.code == 2 and "No such file" in visit.first()["message"], visit.first()
    assert "kscaled join --kubeconfig" in visit.first()["mend"] and visit.status("api-server") == "skipped" and visit.status("metric") == "skipped"
    content = document(whole)
    del content["current-context"]
    path = written(tmp_path / "contextless", content)
    finding = whole.visit(kubeconfig=path).first()
    assert finding["hop"] == "kubeconfig" and finding["mend"] == f"kubectl --kubeconfig {path} config use-context NAME", finding
    whole.do(finding["mend"].replace("NAME", "it"))
    assert whole.visit(kubeconfig=path).status("kubeconfig") == "ok"
    content = document(whole)
    content["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}}
    finding = whole.visit(kubeconfig=written(tmp_path / "plugin", content)).first()
    assert "credential plugins are not run" in finding["message"] and "create token" in finding["mend"], finding


@NOT_ITS
def test_credentials(whole, tmp_path):
    """A token and a certificate that have ended."""
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    token = tmp_path / "token"
    token.write_text(f"{part({'alg': 'RS256'})}.{part({'sub': 'system:serviceaccount:kscaled:kscaled', 'iat': 1000, 'exp': 2000})}.c2lnbmF0dXJl")
    content = document(whole)
    content["users"][0]["user"] = {"tokenFile": str(token)}
    path = written(tmp_path / "ended", content)
    visit = whole.visit(kubeconfig=path)
    finding = visit.first()
    assert visit.code == 2 and finding["hop"] == "credentials" and "ended at 1970-01-01T00:33:20Z" in finding["message"], finding
    assert finding["mend"] == f"kubectl -n kscaled create token kscaled --duration 24h >{token}", finding
    whole.do(finding["mend"])
    assert whole.visit(kubeconfig=path).status("credentials") == "ok"
    now = datetime.datetime.now(datetime.timezone.utc)
    ca = pki.Pair(whole.cluster.pki("ca.crt"), whole.cluster.pki("ca.key"))
    for begin, end, says, mend in ((-20, -10, "ended at", "kubeadm certs renew"), (10, 20, "not valid before", "timedatectl set-ntp true"), (-300, 10, "ends soon", "kscaled join")):
        pair = pki.certificate(tmp_path, f"user{end}", ca, "somebody", usage="clientAuth", begin=now + datetime.timedelta(days=begin), end=now + datetime.timedelta(days=end))
        content["users"][0]["user"] = {"client-certificate": pair.cert, "client-key": pair.key}
        finding = whole.visit(kubeconfig=written(path, content)).first()
        assert finding["hop"] == "credentials" and says in finding["message"] and mend in finding["mend"], finding


@NOT_ITS
def test_api_server(whole, tmp_path):
    content = document(whole)
    content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_port()}"
    path = written(tmp_path / "elsewhere", content)
    visit = whole.visit(kubeconfig=path)
    assert visit.code == 2 and visit.first()["hop"] == "api-server" and "systemctl status k3s" in visit.first()["mend"], visit.first()
    content = document(whole)
    content["clusters"][0]["cluster"]["certificate-authority-data"] = base64.b64encode(pathlib.Path(pki.authority(tmp_path, "other").cert).read_bytes()).decode()
    visit = whole.visit(kubeconfig=written(path, content))
    mend = visit.first()["mend"]
    assert visit.code == 2 and mend == f"kubectl config set-cluster NAME --kubeconfig {path} --embed-certs --certificate-authority CERTIFICATE", visit.first()
    whole.do(mend.replace("NAME", content["clusters"][0]["name"]).replace("CERTIFICATE", whole.cluster.pki("ca.crt")))
    assert whole.visit(kubeconfig=path).status("api-server") == "ok"
    content = document(whole)
    content["users"][0]["user"] = {"token": "nobody"}
    visit = whole.visit(kubeconfig=written(path, content))
    assert visit.code == 2 and visit.first()["hop"] == "api-server" and "HTTP 401" in visit.first()["message"], visit.first()


@pytest.fixture
def altered(whole, tmp_path):
    """Visits by a way on which answers are changed."""
    proxies = []

    def visit(change):
        proxies.append(ApiProxy(whole.cluster, change))
        # Without credentials of its own, which the way has.
        visited = whole.visit(kubeconfig=proxies[-1].kubeconfig(tmp_path / f"altered-{len(proxies)}"))
        assert visited.status("credentials") == "warning"
        visited.all = [one for one in visited.all if one["hop"] != "credentials"]
        return visited

    yield visit
    for proxy in proxies:
        proxy.end()


def in_json(at, edit):
    def change(path, text, _):
        if not path.startswith(at):
            return text
        value = json.loads(text)
        edit(value)
        return json.dumps(value)
    return change


def test_version(altered):
    for minor, says in (("24", "older"), ("37+", "newer")):
        visit = altered(in_json("/version", lambda value, minor=minor: value.update(minor=minor, gitVersion=f"v1.{minor}.0")))
        assert says in visit.only("api-server", "warning")["message"]


@pytest.mark.parametrize("seconds,status", [(-600, "error"), (30, "warning"), (1, "ok")])
def test_clock(altered, seconds, status):
    def later(path, text, headers):
        headers["Date"] = email.utils.format_datetime(email.utils.parsedate_to_datetime(headers["Date"]) + datetime.timedelta(seconds=seconds), usegmt=True)
        return text
    visit = altered(later)
    if status == "ok":
        assert visit.fine()
    else:
        finding = visit.only("clock", status)
        assert ("ahead of" if seconds < 0 else "behind") in finding["message"] and finding["mend"] == "timedatectl set-ntp true", finding


# --- rights, definitions ---

@pytest.mark.refused("list jobs.batch", "watch jobs.batch")
@pytest.mark.parametrize("role,says,option", [("kscaled-jobs", "may not get jobs.batch, list jobs.batch", "--no-scaledjobs"), ("kscaled-secrets", "may not get secrets, list secrets", "--restrict-secret-access")])
def test_rights(whole, role, says, option):
    whole.cluster.kubectl("delete", "clusterrolebinding", role)
    finding = eventually(lambda: whole.visit().only("rights"))  # the API server learns of it by a watch
    assert f"system:serviceaccount:kscaled:kscaled {says}" in finding["message"], finding
    assert finding["mend"] == f"kscaled manifests --host {whole.host} | kubectl apply -f -", finding
    # What is left out on purpose is needed by nobody.
    assert f"kscaled doctor {option}" in finding["message"] and whole.visit(option).fine()
    whole.mended(finding)


def test_definitions(resting):
    cluster = resting.cluster
    cluster.kubectl("label", "crd", "scaledobjects.keda.sh", "app.kubernetes.io/version=0.0.1", "--overwrite")
    finding = resting.visit().bad()["crds"]
    assert "another version" in finding["message"] and finding["status"] == "warning", finding
    resting.do(finding["mend"])
    cluster.kubectl("delete", "crd", "clustertriggerauthentications.keda.sh")
    visit = resting.visit()
    finding = visit.bad()["crds"]
    assert "clustertriggerauthentications.keda.sh is missing" in finding["message"] and visit.status("objects") == "skipped", finding
    resting.do(finding["mend"])
    eventually(lambda: resting.visit().status("crds") == "ok")


# --- the way of a metric ---

def test_service(whole):
    whole.cluster.kubectl("-n", "kscaled", "delete", "service", "kscaled")
    visit = whole.visit()
    assert visit.first()["hop"] == "service" and visit.status("available") == "skipped", visit.bad()
    whole.mended(visit.first())


def test_endpoints(resting):
    """A Service with an address: its slice, and the rule of port names."""
    kubectl = resting.cluster.kubectl
    away = lambda: kubectl("-n", "kscaled", "delete", "service,endpoints,endpointslice", "-l", "app.kubernetes.io/name=kscaled")
    away()
    try:
        kubectl("apply", "-f", "-", stdin=resting.installation.manifests("--host", "192.0.2.7:9443"))
        assert resting.visit(host="192.0.2.7:9443").status("endpoints") == "ok"
        for broken, says in (("patch endpointslice kscaled-host --type=json -p [{\"op\":\"replace\",\"path\":\"/ports/0/name\",\"value\":\"\"}]", 'no port named "https"'), ("delete endpointslice kscaled-host", "no endpoint that is ready")):
            kubectl("-n", "kscaled", *broken.split())
            finding = resting.visit(host="192.0.2.7:9443").bad()["endpoints"]
            assert says in finding["message"], finding
            assert "--host 192.0.2.7:9443" in finding["mend"], finding
        resting.do(finding["mend"])
        assert resting.visit(host="192.0.2.7:9443").status("endpoints") == "ok"
    finally:
        away()
        resting.installation.apply(webhook=True)


def test_apiservice(whole):
    whole.cluster.kubectl("delete", "apiservice", APISERVICE)
    whole.mended(whole.visit().only("apiservice"))
    whole.cluster.registration.patch_api_service(APISERVICE, {"spec": {"service": {"namespace": "keda", "name": "keda-metrics-apiserver", "port": 443}}})
    finding = whole.visit().first()
    assert finding["hop"] == "apiservice" and "Service keda/keda-metrics-apiserver" in finding["message"], finding
    assert "kubectl patch apiservice" in finding["mend"]
    whole.mended(finding)


def test_routing(whole, tmp_path):
    """An API server that goes to endpoints itself has no way to a name."""
    routed = Cluster(tmp_path / "routed")
    routed.up("--aggregator-routing")
    try:
        routed.kubectl("apply", "-f", "-", stdin=whole.installation.manifests("--host", whole.host))
        finding = eventually(lambda: Visit("--kubeconfig", routed.kubeconfig, "--host", whole.host).bad().get("routing"))
        assert "--enable-aggregator-routing=true" in finding["message"], finding
        assert finding["mend"] == "kubectl -n kscaled delete service kscaled; kscaled manifests --host ADDRESS:PORT | kubectl apply -f -", finding
        desk = tmp_path / "desk"
        desk.mkdir()
        Desk(routed, desk).do(finding["mend"].replace("ADDRESS:PORT", "192.0.2.7:9443"))
        assert Visit("--kubeconfig", routed.kubeconfig, "--host", "192.0.2.7:9443").status("routing") != "error"
    finally:
        routed.down()


def test_cluster_ip_that_is_no_address(altered):
    def unreachable(value):
        value["items"][0]["status"]["conditions"] = [{"type": "Available", "status": "False", "reason": "FailedDiscoveryCheck",
            "message": "failing or missing response from https://10.0.0.9:443/apis/external.metrics.k8s.io/v1beta1: dial tcp 10.0.0.9:443: i/o timeout"}]
    by_ip = in_json("/api/v1/namespaces/kscaled/services/kscaled", lambda value: value.update(spec={"type": "ClusterIP", "clusterIP": "10.0.0.9", "ports": [{"name": "https", "port": 443}]}))
    slices = in_json("/apis/discovery.k8s.io/v1/namespaces/kscaled/endpointslices", lambda value: value.update(items=[{"endpoints": [{"addresses": ["192.0.2.7"]}], "ports": [{"name": "https", "port": 9443}]}]))
    apiservice = in_json("/apis/apiregistration.k8s.io/v1/apiservices", lambda value: (unreachable(value), value["items"][0]["spec"]["service"].update(port=443)))
    finding = altered(lambda path, text, headers: by_ip(path, slices(path, apiservice(path, text, headers), headers), headers)).bad()["routing"]
    assert "cluster IP 10.0.0.9" in finding["message"] and "--enable-aggregator-routing=true" in finding["mend"], finding


def test_ca_bundle_and_available(resting, tmp_path):
    """Somebody else's authority: the API server does not trust us."""
    wrong = base64.b64encode(pathlib.Path(pki.authority(tmp_path, "wrong").cert).read_bytes()).decode()
    resting.cluster.registration.patch_api_service(APISERVICE, {"spec": {"caBundle": wrong}})
    finding = resting.visit().bad()["ca-bundle"]
    assert "is not kscaled's authority" in finding["message"], finding
    resting.do(finding["mend"])
    assert resting.visit().status("ca-bundle") == "ok"
    # And kscaled is away, which the API server sees when it looks again, as after this change.
    finding = eventually(lambda: resting.visit().bad().get("available"))
    assert "FailedDiscoveryCheck" in finding["message"], finding
    assert finding["mend"] == f"systemctl restart kscaled; if kscaled is not to come back: {FREE}, without which namespaces can be deleted again", finding
    resting.do(FREE)
    assert resting.visit().first()["hop"] == "apiservice"
    resting.do(resting.visit().first()["mend"])


def test_request_header(altered):
    finding = altered(in_json("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", lambda value: value["data"].pop("requestheader-client-ca-file"))).only("request-header")
    assert finding["mend"].startswith("kube-apiserver --requestheader-client-ca-file=FILE"), finding


def test_sources_and_objects(whole, stage, start_redis, kscaled):
    """A source that dies is none of the installation's faults; an object that cannot be taken up is."""
    redis = start_redis()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(triggers=[{"type": "redis", "metadata": {"address": redis.address, "listName": "jobs", "listLength": "5"}}], maxReplicaCount=1)
    eventually(lambda: whole.visit().fine())
    redis.kill()
    finding = eventually(lambda: (lambda visit: visit.bad() and visit.only("sources", "warning"))(whole.visit()))
    assert f"a source of ScaledObject {stage.namespace}/worker fails, while kscaled is well: TriggerError: " in finding["message"], finding
    visit = whole.visit()
    assert visit.code == 0 and whole.visit("--strict").code == 1
    assert [one["message"] for one in visit.of("metric")] == [f"kscaled answers; it has no value for {stage.namespace}/worker, as its source fails"]
    assert "all 1 are taken up; of 1 a source fails" in visit.of("objects")[0]["message"]
    told = kscaled.tell(*finding["mend"].split()[1:])
    assert finding["mend"] == f"kscaled explain so {stage.namespace}/worker" and told.returncode == 0 and redis.address in told.stdout, told
    redis.start()
    eventually(lambda: whole.visit().fine())
    stage.scaledobject("lost", scaleTargetRef={"name": "nobody"})
    visit = eventually(lambda: (lambda visit: "objects" in visit.bad() and visit)(whole.visit()))
    finding = visit.only("objects")
    assert f"ScaledObject {stage.namespace}/lost is not Ready: ScaledObjectCheckFailed: " in finding["message"], finding
    assert kscaled.tell(*finding["mend"].split()[1:]).returncode == 0


# --- the webhook ---

def test_webhook(whole):
    whole.cluster.kubectl("delete", "validatingwebhookconfiguration", WEBHOOKS)
    visit = whole.visit()
    finding = visit.only("webhook", "warning")
    assert visit.status("webhook-reached") == "skipped" and whole.visit("--strict").code == 1
    assert "webhook" not in whole.visit("--no-webhook").bad()
    whole.mended(finding)
    configuration = whole.installation.webhooks()
    configuration["webhooks"][0]["failurePolicy"] = "Fail"
    whole.installation.put_webhooks(configuration)
    finding = whole.visit().only("webhook", "warning")
    assert "failurePolicy Fail" in finding["message"]
    whole.mended(finding)


def test_webhook_that_is_not_reached(resting, shared_kscaled):
    visit = resting.visit()
    finding = visit.bad()["webhook-reached"]
    assert "took a ScaledObject" in finding["message"] and finding["mend"] == "systemctl restart kscaled", finding
    lease = visit.bad()["lease"]
    assert "nobody holds the Lease" in lease["message"] and lease["mend"] == "systemctl restart kscaled", lease
    configuration = resting.installation.webhooks()
    configuration["webhooks"][1]["clientConfig"].pop("caBundle")
    resting.installation.put_webhooks(configuration)
    finding = resting.visit().bad()["webhook"]
    assert "vscaledjob.kscaled.io has no caBundle" in finding["message"] and finding["mend"] == "systemctl restart kscaled", finding
    # What a start mends is seen to by the fixture.


def test_rights_that_are_too_many(whole):
    """Of a wider installation before; a role that others made is theirs to judge."""
    old = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "kscaled-tokens", "labels": {"app.kubernetes.io/name": "kscaled"}},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kscaled-tokens"}, "subjects": []}
    theirs = {**old, "metadata": {"name": "theirs", "labels": {"app.kubernetes.io/name": "kscaled", "app.kubernetes.io/managed-by": "flux"}}}
    whole.cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all([old, theirs]))
    try:
        finding = whole.visit().only("rights", "warning")
        assert "clusterrolebindings kscaled-tokens is more than the options ask for: see --service-account-tokens" in finding["message"], finding
        whole.mended(finding)
        assert whole.cluster.kubectl("get", "clusterrolebinding", "kscaled-tokens", "theirs", "--ignore-not-found", "-o", "name").split() == ["clusterrolebinding.rbac.authorization.k8s.io/theirs"]
    finally:
        whole.cluster.kubectl("delete", "clusterrolebinding", "kscaled-tokens", "theirs", "--ignore-not-found")


# --- who acts ---

def test_lease(resting):
    body = {"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 15, "renewTime": "2020-01-01T00:00:00.000000Z"}}
    resting.cluster.coordination.patch_namespaced_lease("operator.keda.sh", "kscaled", body)
    finding = resting.visit().bad()["lease"]
    assert "somebody holds the Lease kscaled/operator.keda.sh, but has not renewed it" in finding["message"], finding
    resting.installation.delete_lease()
    assert "there is no Lease" in resting.visit().bad()["lease"]["message"]


def test_keda(whole):
    cluster = whole.cluster
    cluster.create_namespace("keda")
    keda = Keda(cluster)
    try:
        cluster.apps.create_namespaced_deployment("keda", {"metadata": {"name": "keda-operator"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "keda-operator"}}, "template": {"metadata": {"labels": {"app": "keda-operator"}}, "spec": {"containers": [{"name": "main", "image": "none"}]}}}})
        assert whole.visit().only("keda", "warning")["mend"] == "kubectl -n keda scale deployment keda-operator --replicas 0"
        keda.take()
        keda.renew()
        finding = whole.visit().bad()["keda"]
        assert finding["status"] == "error" and "keda-operator-5c8_1234 holds the Lease keda/operator.keda.sh" in finding["message"], finding
        whole.do(finding["mend"])
        keda.stop()
        cluster.coordination.delete_namespaced_lease("operator.keda.sh", "keda")  # as KEDA does when it goes
        eventually(lambda: whole.visit().fine())
    finally:
        keda.stop()
        with contextlib.suppress(Exception):
            cluster.coordination.delete_namespaced_lease("operator.keda.sh", "keda")
        cluster.delete_namespace("keda")


def test_hpas_of_others(whole, stage):
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    whole.cluster.kubectl("-n", stage.namespace, "autoscale", "deployment", "worker", "--max=3")
    finding = whole.visit().bad()["hpas"]
    assert f"ScaledObject {stage.namespace}/worker" in finding["message"] and finding["mend"] == f"kubectl -n {stage.namespace} delete hpa worker", finding
    whole.mended(finding)


# --- ends of certificates; who may look ---

def test_certificates(resting, tmp_path):
    now = datetime.datetime.now(datetime.timezone.utc)
    signer = pki.authority(tmp_path, "signer")
    for days, says, status in ((-1, "the serving certificate ended at", "error"), (10, "should have been renewed", "warning")):
        pair = pki.certificate(tmp_path, f"serving{days}", signer, "kscaled.kscaled.svc", begin=now - datetime.timedelta(days=300), end=now + datetime.timedelta(days=days))
        resting.cluster.core.patch_namespaced_secret("kscaled-certs", "kscaled", {"data": {"tls.crt": base64.b64encode(pathlib.Path(pair.cert).read_bytes()).decode()}})
        finding = resting.visit().bad()["certificates"]
        assert says in finding["message"] and finding["status"] == status and finding["mend"] == "systemctl restart kscaled", finding
    # The start that the fixture makes renews it.


@NOT_ITS
def test_as_its_own_account(whole, stage):
    """With the rights of kscaled itself: what it may not look at is no failure."""
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    visit = whole.visit(kubeconfig=whole.installation.kubeconfig)
    assert visit.fine()
    skipped = {one["hop"]: one["message"] for one in visit.all if one["status"] == "skipped"}
    assert set(skipped) == {"rights", "crds", "metric", "webhook-reached"}, skipped
    assert skipped["crds"] == "not looked at: needs get on customresourcedefinitions scaledobjects.keda.sh"
    assert skipped["webhook-reached"] == "not looked at: needs create on scaledobjects.keda.sh in kscaled"


def test_text(whole):
    """For people; and usage."""
    done = run("doctor", "--kubeconfig", str(whole.cluster.kubeconfig))
    assert done.returncode == 0 and re.findall(r"^ok +(\S+)", done.stdout, re.M) == HOPS, done.stdout
    for wrong in (["x"], ["-o", "yaml"], ["--namespace", "A"], ["--host", "a"], ["--scale-kinds", "x"], ["--config", "/nonexistent"]):
        done = run("doctor", *wrong)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("kscaled doctor: "), (wrong, done)
