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
from rig.daemon import APISERVICE, WEBHOOKS, run
from rig.keda_lease import Keda
from rig.practice import HOPS, Practice, Visit, spoken
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
    assert visit.status("api-server") == "skipped" and visit.status("metric") == "skipped"
    join, another = spoken(visit.first()["mend"])
    assert join == "sudo kscaled join --kubeconfig ADMIN"  # which tests/artefacts/test_host.py does
    whole.do(another.replace("KUBECONFIG", str(whole.cluster.kubeconfig)))
    visit = Visit()  # no options, no environment
    assert visit.code == 2 and "not in a pod" in visit.first()["message"], visit.first()
    whole.do(visit.first()["mend"].replace("KUBECONFIG", str(whole.cluster.kubeconfig)))
    content = document(whole)
    del content["current-context"]
    path = written(tmp_path / "context less", content)
    finding = whole.visit(kubeconfig=path).first()
    assert finding["hop"] == "kubeconfig" and finding["mend"] == f"kubectl --kubeconfig '{path}' config use-context NAME", finding
    whole.do(finding["mend"].replace("NAME", "it"))
    assert whole.visit(kubeconfig=path).status("kubeconfig") == "ok"
    content = document(whole)
    content["contexts"][0]["context"]["user"] = "somebody-else"
    finding = whole.visit(kubeconfig=written(path, content)).first()
    assert 'there is no user "somebody-else"' in finding["message"] and "user: somebody-else" in whole.do(finding["mend"]), finding


def by_plugin(whole, folder):
    """It gives what an administrator has."""
    plugin = folder / "plugin"
    status = {"clientCertificateData": pathlib.Path(whole.cluster.pki("admin.crt")).read_text(), "clientKeyData": pathlib.Path(whole.cluster.pki("admin.key")).read_text()}
    plugin.write_text(f"#!/bin/sh\ncat <<'EOF'\n{json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential', 'status': status})}\nEOF\n")
    plugin.chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}}


def by_provider(whole, folder):
    """The only one that kubectl still knows. It has been to its server."""
    token = whole.cluster.token("kube-system", "token-giver")
    return {"auth-provider": {"name": "oidc", "config": {"idp-issuer-url": "https://localhost", "client-id": "it", "id-token": token}}}


def as_somebody(whole, folder):
    return {"client-certificate": whole.cluster.pki("admin.crt"), "client-key": whole.cluster.pki("admin.key"), "as": "somebody", "as-groups": ["system:masters"]}


@pytest.fixture
def token_giver(whole):
    kubectl = whole.cluster.kubectl
    kubectl("-n", "kube-system", "create", "serviceaccount", "token-giver")
    kubectl("create", "clusterrolebinding", "token-giver", "--clusterrole=cluster-admin", "--serviceaccount=kube-system:token-giver")
    yield
    kubectl("delete", "clusterrolebinding", "token-giver")
    kubectl("-n", "kube-system", "delete", "serviceaccount", "token-giver")


@NOT_ITS
@pytest.mark.usefixtures("token_giver")
@pytest.mark.parametrize("user, says", [(by_plugin, "credential plugins are not run"), (by_provider, "auth-provider: not supported"), (as_somebody, "impersonation is not supported")])
def test_users_that_kubectl_can_be(whole, tmp_path, user, says):
    """A kubeconfig beside, of kscaled's own account; who has none to ask by makes nothing."""
    content = document(whole)
    content["users"][0]["user"] = user(whole, tmp_path)
    path, beside = written(tmp_path / "his", content), tmp_path / "beside"
    text = path.read_text()
    finding = whole.visit(kubeconfig=path).first()
    assert finding["hop"] == "kubeconfig" and says in finding["message"], finding
    whole.do(finding["mend"].replace("KUBECONFIG", str(beside)))
    assert path.read_text() == text and beside.stat().st_mode & 0o777 == 0o600
    visit = whole.visit(kubeconfig=beside)
    assert visit.fine() and "system:serviceaccount:kscaled:kscaled" in visit.of("credentials")[0]["message"]
    beside.unlink()
    content["users"][0]["user"].update({"exec": {**content["users"][0]["user"].get("exec", {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}), "command": str(tmp_path / "gone")}})
    content["users"][0]["user"].pop("client-certificate", None)
    written(path, content)
    whole.do(finding["mend"].replace("KUBECONFIG", str(beside)), code=1)
    assert not beside.exists()


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
    content["users"][0]["user"] = {"token": f"{part({'alg': 'RS256'})}.{part({'sub': 'system:serviceaccount:kscaled:kscaled', 'iat': 1000, 'exp': 2000})}.c2lnbmF0dXJl"}
    finding = whole.visit(kubeconfig=written(path, content)).first()
    assert "ended at 1970-01-01T00:33:20Z" in finding["message"], finding
    whole.do(finding["mend"])
    assert whole.visit(kubeconfig=path).status("credentials") == whole.visit(kubeconfig=path).status("api-server") == "ok"
    now = datetime.datetime.now(datetime.timezone.utc)
    ca = pki.Pair(whole.cluster.pki("ca.crt"), whole.cluster.pki("ca.key"))
    for begin, end, says, mend in ((-20, -10, "ended at", "kubeadm certs renew"), (10, 20, "not valid before", "sudo timedatectl set-ntp true"), (-300, 10, "ends soon", "kscaled join")):
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
    assert visit.code == 2 and visit.first()["hop"] == "api-server" and "nobody listens there" in visit.first()["mend"], visit.first()
    whole.do(spoken(visit.first()["mend"])[-1].replace("URL", whole.cluster.server))
    assert whole.visit(kubeconfig=path).status("api-server") == "ok"
    content["clusters"][0]["cluster"]["server"] = f"https://{'x' * 64}.test:6443"  # for which nobody is asked: no name is that long
    visit = whole.visit(kubeconfig=written(path, content))
    assert visit.first()["mend"] == f"kubectl config set-cluster it --kubeconfig {path} --server URL", visit.first()
    whole.do(visit.first()["mend"].replace("URL", whole.cluster.server))
    assert whole.visit(kubeconfig=path).status("api-server") == "ok"
    content = document(whole)
    content["clusters"][0]["cluster"]["certificate-authority-data"] = base64.b64encode(pathlib.Path(pki.authority(tmp_path, "other").cert).read_bytes()).decode()
    visit = whole.visit(kubeconfig=written(path, content))
    mend = visit.first()["mend"]
    assert visit.code == 2 and mend == f"kubectl config set-cluster it --kubeconfig {path} --embed-certs --certificate-authority CERTIFICATE", visit.first()
    whole.do(mend.replace("CERTIFICATE", whole.cluster.pki("ca.crt")))
    assert whole.visit(kubeconfig=path).status("api-server") == "ok"
    content = document(whole)
    content["users"][0]["user"] = {"token": "nobody"}
    visit = whole.visit(kubeconfig=written(path, content))
    assert visit.code == 2 and visit.first()["hop"] == "api-server" and "HTTP 401" in visit.first()["message"], visit.first()


def test_another_server(whole, tmp_path):
    """kubectl says what it thinks of it."""
    proxy = ApiProxy(whole.cluster, lambda path, text, headers: "[]" if path.startswith("/version") else text)
    try:
        path = proxy.kubeconfig(tmp_path / "another")
        finding = Visit("--kubeconfig", path).bad()["api-server"]
        assert "this is no API server" in finding["message"] and finding["mend"] == f"kubectl --kubeconfig {path} version", finding
        assert "unable to parse the server version" in whole.do(finding["mend"], code=1)
    finally:
        proxy.end()


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
        assert ("ahead of" if seconds < 0 else "behind") in finding["message"] and finding["mend"] == "sudo timedatectl set-ntp true", finding


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
    assert finding["mend"] == f"`sudo systemctl restart kscaled`; if kscaled is not to come back, `{FREE}`, without which namespaces can be deleted again", finding
    resting.do(spoken(finding["mend"])[1])
    assert resting.visit().first()["hop"] == "apiservice"
    resting.do(resting.visit().first()["mend"])


def test_sources_and_objects(whole, stage, start_redis):
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
    assert finding["mend"] == f"kscaled explain so {stage.namespace}/worker" and redis.address in whole.do(finding["mend"]), finding
    redis.start()
    eventually(lambda: whole.visit().fine())
    stage.scaledobject("lost", scaleTargetRef={"name": "nobody"})
    visit = eventually(lambda: (lambda visit: "objects" in visit.bad() and visit)(whole.visit()))
    finding = visit.only("objects")
    assert f"ScaledObject {stage.namespace}/lost is not Ready: ScaledObjectCheckFailed: " in finding["message"], finding
    assert "Ready=False" in whole.do(finding["mend"])


def test_more_objects_than_are_told(whole, stage):
    for number in range(22):
        stage.scaledobject(f"lost-{number}", scaleTargetRef={"name": f"nobody-{number}"})
    finding = eventually(lambda: [one for one in whole.visit().of("objects") if one["message"] == "and 2 more"])[0]
    assert len(re.findall(r"lost-\d+", whole.do(finding["mend"]))) >= 22, finding


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
    assert "took a ScaledObject" in finding["message"] and finding["mend"] == "sudo systemctl restart kscaled", finding
    lease = visit.bad()["lease"]
    assert "nobody holds the Lease" in lease["message"] and lease["mend"] == "sudo systemctl restart kscaled", lease
    configuration = resting.installation.webhooks()
    configuration["webhooks"][1]["clientConfig"].pop("caBundle")
    resting.installation.put_webhooks(configuration)
    finding = resting.visit().bad()["webhook"]
    assert "vscaledjob.kscaled.io has no caBundle" in finding["message"] and finding["mend"] == "sudo systemctl restart kscaled", finding
    # What a start mends is seen to by the fixture.


def test_rights_that_are_too_many(whole):
    """Of a wider installation before; a role that others made is theirs to judge."""
    old = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "kscaled-tokens", "labels": {"app.kubernetes.io/name": "kscaled"}},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kscaled-tokens"}, "subjects": []}
    narrow = {**old, "kind": "RoleBinding", "metadata": {**old["metadata"], "name": "kscaled-secrets", "namespace": "default"}}
    theirs = {**old, "metadata": {"name": "theirs", "labels": {"app.kubernetes.io/name": "kscaled", "app.kubernetes.io/managed-by": "flux"}}}
    whole.cluster.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all([old, narrow, theirs]))
    try:
        assert "rights" == whole.visit().only("rights", "warning")["hop"]
        findings = [one for one in whole.visit().of("rights") if one["status"] == "warning"]
        assert {one["message"].partition(" is more than the options ask for: see ")[::2] for one in findings} == {
            ("clusterrolebindings kscaled-tokens", "--service-account-tokens, also of kscaled doctor"), ("rolebindings default/kscaled-secrets", "--restrict-secret-access, also of kscaled doctor")}
        for finding in findings:
            whole.do(finding["mend"])
        eventually(lambda: whole.visit().fine())
        assert whole.cluster.kubectl("-n", "default", "get", "rolebinding", "--ignore-not-found", "-o", "name") == ""
        assert whole.cluster.kubectl("get", "clusterrolebinding", "kscaled-tokens", "theirs", "--ignore-not-found", "-o", "name").split() == ["clusterrolebinding.rbac.authorization.k8s.io/theirs"]
    finally:
        whole.cluster.kubectl("delete", "clusterrolebinding", "kscaled-tokens", "theirs", "--ignore-not-found")
        whole.cluster.kubectl("-n", "default", "delete", "rolebinding", "kscaled-secrets", "--ignore-not-found")


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
        assert says in finding["message"] and finding["status"] == status and finding["mend"] == "sudo systemctl restart kscaled", finding
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
