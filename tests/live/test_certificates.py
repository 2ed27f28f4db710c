# SPDX-License-Identifier: Apache-2.0
"""The certificate of the endpoint: its own, renewed while it serves; or the user's files, reloaded when they change."""
import base64
import datetime
import shutil
import ssl
import subprocess
import threading
import time

import pytest

from rig import pki
from rig.cluster import gone
from rig.waiting import after, eventually, throughout

NAMES = ("kscaled", "kscaled.kscaled", "kscaled.kscaled.svc", "kscaled.kscaled.svc.cluster.local")


def secret(installation):
    return {key: base64.b64decode(value) for key, value in installation.cluster.core.read_namespaced_secret("kscaled-certs", installation.namespace).data.items()}


def pem_to_der(pem):
    return ssl.PEM_cert_to_DER_cert(pem.decode() if isinstance(pem, bytes) else pem)


class Hammer:
    """Asks without a pause, through the aggregator on kept connections and straight on a new connection each time; remembers every answer that was not right. reviews: has the API server ask the
    webhook, too."""

    def __init__(self, daemon, stage, reviews=False):
        self.daemon, self.stage = daemon, stage
        self.wrong, self.right, self.new_connections = [], 0, 0
        self.over = threading.Event()
        works = [self._aggregated, self._aggregated, self._direct] + [self._reviewed] * reviews
        self.threads = [threading.Thread(target=self._run, args=(work,), daemon=True) for work in works]

    def _aggregated(self):
        answer = self.stage.metric()
        assert answer.status == 200, answer
        self.right += 1

    def _reviewed(self):
        answer = self.daemon.installation.judged()
        assert "denied the request" in answer.text, f"let in unjudged: {answer}"
        self.right += 1

    def _direct(self):
        with self.daemon.connect():                    # verified against the caBundle of this moment
            self.new_connections += 1
        time.sleep(0.02)

    def _run(self, work):
        while not self.over.is_set():
            try:
                work()
            except Exception as error:                 # whatever it is, it is one too many
                self.wrong.append(f"{time.strftime('%H:%M:%S')} {work.__name__}: {type(error).__name__}: {error}")
                time.sleep(0.05)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        eventually(lambda: self.right > 20 and self.new_connections > 2)
        return self

    def __exit__(self, *failure):
        right = self.right
        if not failure[0]:
            eventually(lambda: self.right > right + 20)
        self.over.set()
        for thread in self.threads:
            thread.join()
        if not failure[0]:
            assert not self.wrong, f"{len(self.wrong)} of {self.right + self.new_connections} went wrong: {self.wrong[:6]}"


@pytest.fixture
def asked(kscaled, stage):
    stage.deployment(replicas=0)
    stage.push(3)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.metric().status == 200)
    return stage


def test_own_certificate(kscaled, installation):
    data = secret(installation)
    now = datetime.datetime.now(datetime.timezone.utc)
    authority, serving = pki.describe(data["ca.crt"]), pki.describe(data["tls.crt"])
    assert authority["end"] - now > datetime.timedelta(days=3640)
    assert datetime.timedelta(days=360) < serving["end"] - now < datetime.timedelta(days=370)
    assert serving["begin"] < now
    for name in NAMES:
        assert f"DNS:{name}" in serving["text"]
    assert "CA:TRUE, pathlen:0" in authority["text"] and "CA:TRUE" not in serving["text"]
    # What somebody could do with the authority's key, who has read it in the Secret.
    permitted, _, excluded = authority["text"].partition("Name Constraints: critical")[2].partition("Permitted:")[2].partition("Excluded:")
    assert sorted(permitted.split()) == sorted(f"DNS:{name}" for name in NAMES)
    assert excluded.split()[:2] == ["IP:0.0.0.0/0.0.0.0", "IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0"]
    for text in authority["text"], serving["text"]:
        assert "TLS Web Server Authentication" in text and "TLS Web Client Authentication" not in text
    assert kscaled.serving_certificate() == pem_to_der(data["tls.crt"])
    assert b"PRIVATE KEY" not in kscaled.log().encode()


def test_kept_over_a_restart(kscaled, shared_kscaled, installation):
    before, data = kscaled.serving_certificate(), secret(installation)
    kscaled.term()
    assert shared_kscaled.running().serving_certificate() == before
    assert secret(installation) == data


def test_tls_versions(kscaled):
    def handshake(least, most):
        context = ssl._create_unverified_context()     # pylint: disable=protected-access
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = least, most
        with kscaled.connect(context) as connection:
            return connection.version()

    assert handshake(ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
    assert handshake(ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    with pytest.raises((ssl.SSLError, OSError)):
        handshake(ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)


def aged(data, directory, left):
    """A serving certificate like ours, by our authority, of a year's life with so much left."""
    for name, key in (("ca.crt", "ca.crt"), ("ca.key", "ca.key")):
        (directory / name).write_bytes(data[key])
    now = datetime.datetime.now(datetime.timezone.utc)
    return pki.certificate(directory, "aged", pki.Pair(str(directory / "ca.crt"), str(directory / "ca.key")), "kscaled.kscaled.svc", names=NAMES,
                           begin=now - datetime.timedelta(days=365) + left, end=now + left)


def put(installation, pair):
    body = {"data": {"tls.crt": base64.b64encode(open(pair.cert, "rb").read()).decode(), "tls.key": base64.b64encode(open(pair.key, "rb").read()).decode()}}
    installation.cluster.core.patch_namespaced_secret("kscaled-certs", installation.namespace, body)


@pytest.mark.parametrize("left", [datetime.timedelta(hours=1), datetime.timedelta(days=100)], ids=["an-hour-left", "less-than-a-third-left"])
def test_renewed_under_load(kscaled, installation, asked, tmp_path, left):
    """The serving certificate is due: a new one by the same authority is swapped in place, and not one request notices."""
    before = secret(installation)
    bundle = installation.ca_pem()
    pair = aged(before, tmp_path, left)
    with Hammer(kscaled, asked):
        put(installation, pair)
        renewed = eventually(lambda: (d := secret(installation))["tls.crt"] not in (before["tls.crt"], open(pair.cert, "rb").read()) and d)
        eventually(lambda: kscaled.serving_certificate() == pem_to_der(renewed["tls.crt"]))
        throughout(lambda: None, until=after(1))
    end = pki.describe(renewed["tls.crt"])["end"]
    assert end - datetime.datetime.now(datetime.timezone.utc) > datetime.timedelta(days=360)
    assert renewed["ca.crt"] == before["ca.crt"]
    assert installation.ca_pem() == bundle


def test_not_renewed_too_early(kscaled, installation, tmp_path):
    pair = aged(secret(installation), tmp_path, datetime.timedelta(days=130))
    put(installation, pair)
    wanted = pem_to_der(open(pair.cert, encoding="utf-8").read())
    eventually(lambda: kscaled.serving_certificate() == wanted)
    throughout(lambda: secret(installation)["tls.crt"] == open(pair.cert, "rb").read(), until=after(1.5))


def test_secret_deleted_under_load(kscaled, installation, asked):
    """With it the authority is gone: a new one must be trusted by the API server before it is served."""
    before = secret(installation)
    with Hammer(kscaled, asked):
        installation.cluster.core.delete_namespaced_secret("kscaled-certs", installation.namespace)
        made = eventually(lambda: secret(installation))
        assert made["ca.crt"] != before["ca.crt"]
        eventually(lambda: kscaled.serving_certificate() == pem_to_der(made["tls.crt"]))
        throughout(lambda: None, until=after(1.5))
    assert made["ca.crt"].decode().strip() in installation.ca_pem()
    eventually(installation.available)


def signed_by(key, names, directory, usage="serverAuth"):
    """What openssl says of a certificate made with the authority's key out of the Secret."""
    for name in ("ca.crt", "ca.key"):
        (directory / name).write_bytes(key[name])
    pair = pki.certificate(directory, f"made-{time.time_ns()}", pki.Pair(str(directory / "ca.crt"), str(directory / "ca.key")), names[0], names=names, usage=usage)
    purpose = "sslclient" if usage == "clientAuth" else "sslserver"
    done = subprocess.run(["openssl", "verify", "-purpose", purpose, "-CAfile", str(directory / "ca.crt"), pair.cert], capture_output=True, text=True, timeout=60, check=False)
    return "good" if done.returncode == 0 else done.stderr + done.stdout


def test_authority_is_good_for_nothing_else(kscaled, installation, tmp_path):
    data = secret(installation)
    assert signed_by(data, ["kscaled.kscaled.svc"], tmp_path) == "good"
    assert "permitted subtree violation" in signed_by(data, ["kubernetes.default.svc"], tmp_path)
    assert "permitted subtree violation" in signed_by(data, ["kscaled.kscaled.svc", "other.kscaled.svc"], tmp_path)
    assert "purpose" in signed_by(data, ["kscaled.kscaled.svc"], tmp_path, usage="clientAuth")


@pytest.fixture
def judged(installation):
    """With the webhook."""
    installation.apply(webhook=True)
    yield installation
    installation.apply()


def hold_lease(installation, holder):
    installation.cluster.coordination.patch_namespaced_lease("operator.keda.sh", installation.namespace, {"spec": {
        "holderIdentity": holder, "leaseDurationSeconds": 3600, "renewTime": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}})


def as_left_behind(installation, directory):
    """The Secret of a version whose authority could sign for anybody, trusted by all who ask."""
    authority = pki.authority(directory, "loose", "kscaled CA")
    serving = pki.certificate(directory, "loose-serving", authority, "kscaled", names=NAMES, usage="serverAuth,clientAuth")
    files = {"ca.crt": authority.cert, "ca.key": authority.key, "tls.crt": serving.cert, "tls.key": serving.key}
    data = {key: base64.b64encode(open(path, "rb").read()).decode() for key, path in files.items()}
    cluster = installation.cluster
    cluster.core.patch_namespaced_secret("kscaled-certs", installation.namespace, {"data": {**data, "ca-old.crt": None}})
    cluster.registration.patch_api_service("v1beta1.external.metrics.k8s.io", {"spec": {"caBundle": data["ca.crt"]}})
    configuration = installation.webhooks()
    for webhook in configuration["webhooks"]:
        webhook["clientConfig"]["caBundle"] = data["ca.crt"]
    installation.put_webhooks(configuration)
    return {key: base64.b64decode(value) for key, value in data.items()}


def test_upgrade_from_an_authority_without_constraints(launch, judged, stage, tmp_path):
    """Its key has been in the Secret: it is replaced at once, while no metric and no review notices; and later nobody trusts what it signs."""
    first = launch("first").wait_serving()
    stage.deployment(replicas=0)
    stage.push(3)
    stage.ready_scaledobject(maxReplicaCount=1)
    first.term()
    old = as_left_behind(judged, tmp_path)
    hold_lease(judged, "the-one-before")               # so that there is a moment in which all is as it was
    daemon = launch("upgraded")
    eventually(lambda: daemon.status("/healthz").status == 200 and daemon.serving_certificate() == pem_to_der(old["tls.crt"]))
    eventually(judged.available)
    eventually(lambda: stage.metric().status == 200)
    eventually(lambda: "denied the request" in judged.judged().text)
    with Hammer(daemon, stage, reviews=True):
        assert secret(judged) == old
        hold_lease(judged, "")
        made = eventually(lambda: (data := secret(judged))["ca.crt"] != old["ca.crt"] and data)
        eventually(lambda: daemon.serving_certificate() == pem_to_der(made["tls.crt"]))
        throughout(lambda: None, until=after(2))
    assert judged.available()
    assert "Name Constraints: critical" in pki.describe(made["ca.crt"])["text"]
    assert made["ca-old.crt"] == old["ca.crt"]
    assert made["ca.crt"].decode().strip() in judged.ca_pem() and old["ca.crt"].decode().strip() in judged.ca_pem()
    # Two days on, by the certificate's own word: the old one is trusted no more.
    for name in ("ca.crt", "ca.key"):
        (tmp_path / name).write_bytes(made[name])
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)
    pair = pki.certificate(tmp_path, "later", pki.Pair(str(tmp_path / "ca.crt"), str(tmp_path / "ca.key")), "kscaled.kscaled.svc", names=NAMES, begin=begin)
    with Hammer(daemon, stage, reviews=True):
        put(judged, pair)
        eventually(lambda: old["ca.crt"].decode().strip() not in judged.ca_pem())
        eventually(lambda: daemon.serving_certificate() == der(pair))
        throughout(lambda: None, until=after(1))
    assert judged.available()


@pytest.mark.parametrize("data", [
    {"tls.crt": b"garbage", "tls.key": b"garbage"},
    {"tls.key": b""},
    {"ca.crt": None, "ca.key": None, "tls.crt": b"", "tls.key": b""},
    {"ca.key": b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "tls.crt": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
], ids=["garbage", "no-key", "empty", "bad-pem"])
def test_broken_secret_is_mended(kscaled, installation, asked, data):
    body = {"data": {key: value if value is None else base64.b64encode(value).decode() for key, value in data.items()}}
    with Hammer(kscaled, asked):
        installation.cluster.core.patch_namespaced_secret("kscaled-certs", installation.namespace, body)

        def mended():
            now = secret(installation)
            pki.describe(now["tls.crt"])
            return kscaled.serving_certificate() == pem_to_der(now["tls.crt"]) and now["ca.crt"].decode().strip() in installation.ca_pem()

        eventually(mended)
    assert kscaled.ask("/healthz").status == 200


def test_wrong_names_in_secret(kscaled, installation, asked, tmp_path):
    """A Secret copied from an installation of another name."""
    data = secret(installation)
    for name in ("ca.crt", "ca.key"):
        (tmp_path / name).write_bytes(data[name])
    pair = pki.certificate(tmp_path, "foreign", pki.Pair(str(tmp_path / "ca.crt"), str(tmp_path / "ca.key")), "other", names=("other", "other.other.svc"))
    put(installation, pair)
    eventually(lambda: secret(installation)["tls.crt"] not in (data["tls.crt"], open(pair.cert, "rb").read()))
    eventually(lambda: kscaled.ask("/healthz").status == 200)
    eventually(lambda: asked.metric().status == 200)


# --- the user's files ---

@pytest.fixture
def files(tmp_path, restored):
    """A certificate of the user's, and the APIService told to trust its authority (kscaled leaves that to him)."""
    authority = pki.authority(tmp_path, "users-ca")
    first = pki.certificate(tmp_path, "first", authority, "kscaled.kscaled.svc", names=NAMES)
    second = pki.certificate(tmp_path, "second", authority, "kscaled.kscaled.svc", names=NAMES)
    served = pki.Pair(str(tmp_path / "served.crt"), str(tmp_path / "served.key"))
    for source, target in zip(first, served):
        shutil.copy(source, target)
    bundle = base64.b64encode(open(authority.cert, "rb").read()).decode()
    restored.cluster.registration.patch_api_service("v1beta1.external.metrics.k8s.io", {"spec": {"caBundle": bundle}})
    yield first, second, served
    restored.cluster.registration.patch_api_service("v1beta1.external.metrics.k8s.io", {"spec": {"caBundle": None}})


def der(pair):
    return pem_to_der(open(pair.cert, encoding="utf-8").read())


def test_users_files(launch, installation, stage, files):
    first, second, served = files
    bundle = installation.ca_pem()
    daemon = launch(options={"tls_cert_file": served.cert, "tls_private_key_file": served.key}).wait_serving()
    assert daemon.serving_certificate() == der(first)
    stage.deployment(replicas=0)
    stage.push(3)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.metric().value() == "3")
    # Exchanged as a mounted Secret is: kscaled sees it by itself.
    for source, target in zip(second, served):
        shutil.copy(source, target)
    eventually(lambda: daemon.serving_certificate() == der(second), timeout=40)
    assert stage.metric().status == 200
    # At once on SIGHUP.
    for source, target in zip(first, served):
        shutil.copy(source, target)
    daemon.hup()
    eventually(lambda: daemon.serving_certificate() == der(first), timeout=5, every=0.05)
    # Broken files leave the good pair in use, and it is said.
    with open(served.cert, "w", encoding="utf-8") as file:
        file.write("nothing of use")
    daemon.hup()
    eventually(lambda: served.cert in daemon.log())
    assert daemon.serving_certificate() == der(first)
    assert stage.metric().status == 200
    shutil.copy(second.cert, served.cert)              # a certificate without its key
    daemon.hup()
    throughout(lambda: daemon.serving_certificate() == der(first), until=after(1))
    shutil.copy(second.key, served.key)
    daemon.hup()
    eventually(lambda: daemon.serving_certificate() == der(second))
    assert installation.ca_pem() == bundle, "the user's authority in the APIService is the user's affair"


def test_users_files_need_no_secret(launch, installation, files):
    installation.cluster.core.delete_namespaced_secret("kscaled-certs", installation.namespace)
    served = files[2]
    launch(options={"tls_cert_file": served.cert, "tls_private_key_file": served.key}).wait_serving()
    throughout(lambda: gone(lambda: secret(installation)), until=after(1))
