# SPDX-License-Identifier: Apache-2.0
"""Reviews are for the API server: it knows the path, which nobody else can guess, and nothing that happens to the path leaves a review out."""
import contextlib
import json
import re
import threading

import pytest

from rig import pki
from rig.daemon import WEBHOOKS
from rig.process import free_port
from rig.waiting import after, eventually, throughout

PLAIN = "/validate-keda-sh-v1alpha1-"
SECRET = re.compile(r"/admission/[0-9a-f]{32}")
JSON = {"Content-Type": "application/json"}
LAG_S = 10  # so long what the configuration said before is answered
SHORT = {"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}


@pytest.fixture
def configured(installation):
    installation.apply(webhook=True)
    yield installation
    installation.apply()


def review(document):
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": "keda.sh", "version": "v1alpha1", "kind": document["kind"]}, "namespace": document["metadata"].get("namespace", ""), "operation": "CREATE",
        "object": document}}).encode()


def with_path(configuration, path):
    """path: of a webhook's resource; None: none."""
    for webhook in configuration["webhooks"]:
        service = webhook["clientConfig"]["service"]
        service.pop("path", None)
        if path:
            service["path"] = path(webhook["rules"][0]["resources"][0])
    return configuration


def plain(resource):
    return PLAIN + resource.removesuffix("s")


def secret(installation):
    """It has one; which."""
    path = installation.review_path()
    return path if path and SECRET.fullmatch(path) else None


@contextlib.contextmanager
def judging(installation):
    """Reviews without a pause, none of which may be left out."""
    over, left_out, right = threading.Event(), [], [0]

    def run():
        while not over.is_set():
            answer = installation.judged()
            if "denied the request" in answer.text:
                right[0] += 1
            else:
                left_out.append(answer.text)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
        seen = right[0]
        eventually(lambda: left_out or right[0] >= seen + 20)
    finally:
        over.set()
        for thread in threads:
            thread.join(20)
    assert not left_out, f"{len(left_out)} of {len(left_out) + right[0]} were let in unjudged: {left_out[0]}"


def test_strangers_learn_nothing(kscaled, configured, stage):
    """Who scales which workload of a namespace that they may not look into, say."""
    stage.deployment()
    stage.ready_scaledobject()
    configured.wait_judging()
    path = secret(configured)
    assert path
    rival = review(stage.document("rival", target={"name": "worker"}))
    assert "is already managed by" in kscaled.ask(path, "POST", headers=JSON, body=rival).text, "what there is to learn"
    assert path not in kscaled.log() and "/admission/{secret}" in kscaled.log()
    nothing = kscaled.ask("/nothing", "POST", headers=JSON, body=rival)
    assert nothing.status == 401
    guessed = path[:-1] + ("0" if path[-1] != "0" else "1")
    for other in (PLAIN + "scaledobject", PLAIN + "scaledjob", guessed, path + "0", path[:-1], path.upper(), "/admission/", f"{path}/x", f"//{path}", "/admission/%00"):
        answer = kscaled.ask(other, "POST", headers=JSON, body=rival)
        assert (answer.status, answer.text) == (nothing.status, nothing.text), other
    # Who is known, and may read every metric, either.
    reader = stage.account("reader", True)
    assert kscaled.ask(PLAIN + "scaledobject", "POST", token=reader, headers=JSON, body=rival).status == 404
    assert configured.judged().status == 403


def test_applied_again(kscaled, configured):
    """By whoever; the path is not named in what is applied, and stays."""
    configured.wait_judging()
    path = secret(configured)
    with judging(configured):
        for _ in range(2):
            configured.apply(webhook=True)
            assert configured.review_path() == path
        # As tools do that keep a cluster as it is in Git.
        configured.cluster.kubectl("apply", "--server-side", "-f", "-", stdin=configured.manifests("--host", f"localhost:{configured.port}"))
        assert configured.review_path() == path


def test_a_plain_path_gives_way(kscaled, configured):
    """As older versions printed it. The API server asks without a pause, at the plain path, and then at the other."""
    configured.wait_judging()
    with judging(configured):
        configured.put_webhooks(with_path(configured.webhooks(), plain))
        eventually(lambda: secret(configured))
    eventually(lambda: kscaled.ask(PLAIN + "scaledobject", "POST", headers=JSON, body=b"{}").status == 401, timeout=2 * LAG_S)
    assert configured.judged().status == 403


def test_a_path_that_is_known_is_replaced(kscaled, configured):
    """By taking it out; what was known is nothing any more."""
    configured.wait_judging()
    old = secret(configured)
    configured.put_webhooks(with_path(configured.webhooks(), None))
    eventually(lambda: secret(configured) and secret(configured) != old)
    configured.wait_judging()
    eventually(lambda: kscaled.ask(old, "POST", headers=JSON, body=b"{}").status == 401, timeout=2 * LAG_S)
    assert configured.judged().status == 403


def test_the_path_outlives_restarts_and_leaders(launch, configured):
    """The one that answers does not lead, then leads, then is another."""
    second = launch("second", port=free_port(), options=SHORT)
    eventually(lambda: second.ready() and second.leading())
    first = launch("first", options=SHORT).wait_ready()
    configured.wait_judging()
    assert not first.leading()
    path = secret(configured)
    with judging(configured):
        second.term()
        eventually(first.leading)
        throughout(lambda: None, until=after(1))
    assert configured.review_path() == path
    first.term()
    launch("third", options=SHORT).wait_serving()
    eventually(lambda: "denied the request" in configured.judged().text)
    assert configured.review_path() == path


def test_who_does_not_lead_hears_of_it(launch, configured):
    """The leader writes it; the API server asks the other."""
    second = launch("second", port=free_port(), options=SHORT)
    eventually(lambda: second.ready() and second.leading())
    first = launch("first", options=SHORT).wait_ready()
    configured.wait_judging()
    old = secret(configured)
    with judging(configured):
        configured.put_webhooks(with_path(configured.webhooks(), plain))
        eventually(lambda: secret(configured) and secret(configured) != old)
    assert not first.leading()


def test_with_files_of_the_users_own(launch, configured, tmp_path):
    """Whom the API server trusts is his business; the path is ours."""
    authority = pki.authority(tmp_path, "own-ca")
    served = pki.certificate(tmp_path, "own", authority, "kscaled", names=("kscaled.kscaled.svc",))
    launch(options={"tls_cert_file": served.cert, "tls_private_key_file": served.key}).wait_ready()
    eventually(lambda: secret(configured))
    assert not any("caBundle" in webhook["clientConfig"] for webhook in configured.webhooks()["webhooks"])


@pytest.mark.refused("patch validatingwebhookconfigurations.admissionregistration.k8s.io")
def test_without_a_right_to_write_the_plain_path_is_answered(launch, configured):
    """As before. Whoever wants it so says it in the configuration."""
    configured.put_webhooks(with_path(configured.webhooks(), plain))
    configured.cluster.kubectl("patch", "clusterrole", "kscaled", "--type=json", "-p", json.dumps([{"op": "replace", "path": f"/rules/{rule_of_webhooks(configured)}/verbs", "value": ["list", "watch"]}]))
    daemon = launch().wait_serving()
    eventually(lambda: "writing webhook configuration " + WEBHOOKS in daemon.log())
    assert daemon.ask(PLAIN + "scaledobject", "POST", headers=JSON, body=b"{}").status == 400
    assert daemon.ask(PLAIN + "nothing", "POST", headers=JSON, body=b"{}").status == 401


def rule_of_webhooks(installation):
    role = installation.cluster.request("/apis/rbac.authorization.k8s.io/v1/clusterroles/kscaled").json
    return next(n for n, rule in enumerate(role["rules"]) if "validatingwebhookconfigurations" in rule.get("resources", []))
