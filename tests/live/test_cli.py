# SPDX-License-Identifier: Apache-2.0
"""The command line, the configuration file and the manifests' text; no cluster is needed here but where one is named."""
import socket

import pytest
import yaml

from rig.daemon import run
from rig.process import free_port
from rig.waiting import eventually

OPTIONS = ("kubeconfig namespace watch-namespace bind-address secure-port status-address insight-socket insight-socket-group service-name tls-cert-file tls-private-key-file leader-elect lease-name lease-duration "
           "renew-deadline retry-period identity state-dir keda-namespace take-over allow-local-sources sandbox metrics-max-age metrics-deadline log-level log-format config").split()


def test_help_and_version():
    for arguments in (["--help"], ["help"], ["run", "--help"]):
        done = run(*arguments)
        assert done.returncode == 0 and done.stderr == ""
        for option in OPTIONS:
            assert f"--{option}" in done.stdout, option
        assert "8443" in done.stdout and "operator.keda.sh" in done.stdout
    for arguments in (["version"], ["--version"]):
        done = run(*arguments)
        assert done.returncode == 0 and done.stdout.startswith("kscaled 0.")
    assert "--host" in run("manifests", "--help").stdout


@pytest.mark.parametrize("arguments, named", [
    (["--nonsense"], "nonsense"), (["nonsense"], "nonsense"), (["run", "more"], "more"), (["--secure-port=x"], "secure-port"), (["--secure-port=70000"], "70000"), (["--secure-port"], "secure-port"),
    (["--lease-duration=5"], "lease-duration"), (["--lease-duration=-5s"], "lease-duration"), (["--lease-duration=5s"], "renew-deadline"), (["--retry-period=20s"], "retry-period"),
    (["--log-level=loud"], "loud"), (["--log-format=xml"], "xml"), (["--leader-elect=maybe"], "leader-elect"), (["--status-address=nonsense"], "status-address"),
    (["--status-address=127.0.0.1:99999"], "status-address"), (["--bind-address=not-an-address"], "bind-address"), (["--tls-cert-file=/x"], "tls-private-key-file"),
    (["--tls-private-key-file=/x"], "tls-cert-file"), (["--config=/does/not/exist"], "/does/not/exist"), (["--metrics-deadline=forever"], "metrics-deadline"),
    (["--namespace=Not_A_Name"], "namespace"), (["--watch-namespace=a,B_c"], "watch-namespace"),
    (["manifests", "--host=nonsense"], "--host"), (["manifests", "--host=127.0.0.1:8443"], "--host"), (["manifests", "--host=x:0"], "--host"), (["manifests", "--namespace=A"], "--namespace"),
    (["manifests", "more"], "more"), (["manifests", "--image="], "--image"), (["manifests", "--watch-namespace=a,"], "--watch-namespace"), (["manifests", "--service-name=1a"], "--service-name"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_wrong_usage(arguments, named):
    done = run(*arguments)
    assert done.returncode == 2, done
    assert named in done.stderr and done.stdout == ""
    assert len(done.stderr.splitlines()) <= 3


def test_init(tmp_path):
    """A manifest for each type that is there, which check takes as it stands."""
    types = run("init", "--help").stdout.rpartition("types: ")[2].strip().split(", ")
    assert len(types) >= 16 and "redis" in types
    for kind in types:
        path = tmp_path / f"{kind}.yaml"
        done = run("init", kind, "-o", str(path))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        assert path.read_text() == run("init", kind).stdout
        (trigger,) = yaml.safe_load(path.read_text())["spec"]["triggers"]
        assert trigger["type"] == kind and trigger["metadata"]
        checked = run("check", "--strict", str(path))
        assert (checked.returncode, checked.stdout.count("\n")) == ((1, 1) if "warning: spec.triggers[0].type: gcp-pubsub: This scaler is deprecated." in checked.stdout else (0, 0)), checked
    again = run("init", "redis", "-o", str(tmp_path / "cron.yaml"))
    assert again.returncode == 1 and "exists" in again.stderr and "cron" in (tmp_path / "cron.yaml").read_text()
    for wrong, says in ((["redi"], 'perhaps redis;'), (["influxdb"], "results.0.series.0.values.0.1\n"), ([], "name one type"), (["redis", "cron"], "name one type"), (["--nonsense"], "nonsense")):
        done = run("init", *wrong)
        assert done.returncode == 2 and done.stdout == "" and says in done.stderr, done


@pytest.mark.parametrize("text, named", [
    ("nonsense = 1\n", ":1"), ("\n# fine\nsecure-port = x\n", ":3"), ("secure-port = 1\nsecure-port = 2\n", ":2"), ("secure-port\n", ":1"), ("= 5\n", ":1"), ("log-level = \x00\n", ":"),
    ("a" * 100000, ":1"), ("config = /etc/x\n", ":1"),
], ids=range(8))
def test_wrong_file(tmp_path, text, named):
    path = tmp_path / "kscaled.conf"
    path.write_text(text)
    done = run("run", "--config", str(path))
    assert done.returncode == 2
    assert str(path) + named in done.stderr, done.stderr


def test_no_cluster_to_talk_to(tmp_path):
    done = run("run")                                  # no kubeconfig, no service account
    assert done.returncode == 1 and "kubeconfig" in done.stderr.lower()
    done = run("run", "--kubeconfig=/does/not/exist")
    assert done.returncode == 1 and "/does/not/exist" in done.stderr
    path = tmp_path / "config"
    for text, word in (("nonsense: [", "config"), ("apiVersion: v1\nkind: Config\n", "context")):
        path.write_text(text)
        done = run("run", f"--kubeconfig={path}")
        assert done.returncode == 1 and word in done.stderr, done.stderr
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}}
    document = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}], "users": [{"name": "u", "user": user}]}
    path.write_text(yaml.safe_dump(document))
    done = run("run", f"--kubeconfig={path}")
    assert done.returncode == 1 and "exec" in done.stderr, "refused by name"


def test_port_in_use(installation, tmp_path):
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = taken.getsockname()[1]
        arguments = ["run", f"--kubeconfig={installation.kubeconfig}", f"--state-dir={tmp_path}", "--bind-address=127.0.0.1"]
        done = run(*arguments, f"--secure-port={port}", f"--status-address=127.0.0.1:{free_port()}")
        assert done.returncode == 1 and str(port) in done.stderr
        done = run(*arguments, f"--secure-port={free_port()}", f"--status-address=127.0.0.1:{port}")
        assert done.returncode == 1 and str(port) in done.stderr


def test_flag_before_environment_before_file(launch, tmp_path):
    """Each of three tells where the status is served and how it logs: the log's format comes from the file, its level from the environment, the port from the flag."""
    path = tmp_path / "kscaled.conf"
    path.write_text(f"# comment\n\nlog-format =  json \nlog-level = error\nstatus-address = 127.0.0.1:{free_port()}\nlease-duration = 3s\nrenew-deadline = 2s\nretry-period = 500ms\n")
    daemon = launch(config=path, options={"log_level": None}, env={"KSCALED_LOG_LEVEL": "info", "WATCH_NAMESPACE": ""})
    eventually(daemon.ready)
    assert daemon.log().startswith("{")


def test_environment(launch, installation, stage):
    """KUBECONFIG, POD_NAMESPACE and WATCH_NAMESPACE, as a Deployment or a shell sets them."""
    environment = {"KUBECONFIG": str(installation.kubeconfig), "POD_NAMESPACE": "kscaled", "WATCH_NAMESPACE": stage.namespace}
    launch(options={"kubeconfig": None, "namespace": None}, env=environment).wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)


# --- manifests, as text ---

def documents(*arguments):
    done = run("manifests", *arguments)
    assert done.returncode == 0 and done.stderr == ""
    return list(yaml.safe_load_all(done.stdout))


def kinds(documents_):
    return [d["kind"] for d in documents_]


def test_manifests_in_a_pod():
    all_of_them = documents("--image", "registry.example/kscaled:1")
    assert kinds(all_of_them)[:5] == ["Namespace"] + ["CustomResourceDefinition"] * 4
    assert {d["metadata"]["name"] for d in all_of_them if d["kind"] == "CustomResourceDefinition"} == {f"{n}.keda.sh" for n in
                                                                                                     ("scaledobjects", "scaledjobs", "triggerauthentications", "clustertriggerauthentications")}
    assert {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "APIService", "Deployment"} <= set(kinds(all_of_them))
    (deployment,) = [d for d in all_of_them if d["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/kscaled:1"
    for crd in (d for d in all_of_them if d["kind"] == "CustomResourceDefinition"):
        assert len(yaml.safe_dump(crd)) < 262144, "small enough for a client-side apply"


def test_manifests_outside():
    named = documents("--host", "localhost:9443", "--namespace", "ops", "--service-name", "scaler")
    (service,) = [d for d in named if d["kind"] == "Service"]
    assert service["spec"]["type"] == "ExternalName" and service["spec"]["externalName"] == "localhost"
    assert [(p["name"], p["port"]) for p in service["spec"]["ports"]] == [("https", 9443)]
    apiservices = {d["metadata"]["name"]: d["spec"]["service"] for d in named if d["kind"] == "APIService"}
    assert set(apiservices) == {"v1beta1.external.metrics.k8s.io", "v1.insight.kscaled.io"}
    assert all(service == {"name": "scaler", "namespace": "ops", "port": 9443} for service in apiservices.values())
    assert "Deployment" not in kinds(named)
    for address, family in (("10.1.2.3:9443", "IPv4"), ("[2001:db8::7]:9443", "IPv6")):
        addressed = documents("--host", address)
        (service,) = [d for d in addressed if d["kind"] == "Service"]
        assert service["spec"]["type"] == "ClusterIP" and "selector" not in service["spec"]
        (slice_,) = [d for d in addressed if d["kind"] == "EndpointSlice"]
        assert slice_["addressType"] == family and slice_["ports"][0]["name"] == "https" and slice_["ports"][0]["port"] == 9443
        assert kinds(addressed).count("Endpoints") == 1


def test_webhook_can_be_left_out():
    assert "ValidatingWebhookConfiguration" in kinds(documents())
    assert "ValidatingWebhookConfiguration" not in kinds(documents("--no-webhook"))


def test_least_rights():
    """No wildcard verbs, no Secret to write but our own by name, nothing cluster-wide to write but what the man page says; Secrets read where the user lets it."""
    reads = {"get", "list", "watch"}
    for restricted in (False, True):
        everywhere = []
        for document in documents(*(["--restrict-secret-access"] if restricted else [])):
            for rule in document.get("rules") or []:
                assert "*" not in rule["verbs"]
                if "secrets" not in rule["resources"]:
                    continue
                if document["kind"] != "Role":
                    everywhere.append(rule)
                    assert set(rule["verbs"]) == reads
                else:
                    assert set(rule["verbs"]) == reads or rule.get("resourceNames") == ["kscaled-certs"] or rule["verbs"] == ["create"]
        assert len(everywhere) == (0 if restricted else 1)
    assert not any("serviceaccounts/token" in rule["resources"] for document in documents() for rule in document.get("rules") or [])
    assert any("serviceaccounts/token" in rule["resources"] for document in documents("--service-account-tokens") for rule in document.get("rules") or [])
    for document in documents():
        for rule in document.get("rules") or []:
            if "*" in rule["resources"]:
                assert rule["apiGroups"] == ["external.metrics.k8s.io"]
