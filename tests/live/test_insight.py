# SPDX-License-Identifier: Apache-2.0
"""The insight API: who may read what through the cluster, what kubectl makes of it, and the Unix socket."""
import json
import os
import pathlib
import shutil
import socket
import stat
import subprocess

import pytest
import yaml

from rig.daemon import INSIGHT, program, run
from rig.process import free_port, free_socket
from rig.waiting import eventually

GROUP = "/apis/insight.kscaled.io/v1"


def path_of(namespace=None, name=None, resource="scaledobjectinsights"):
    return f"{GROUP}{f'/namespaces/{namespace}' if namespace else ''}/{resource}{f'/{name}' if name else ''}"


class Tenant:
    """A service account that may view one namespace and nothing else."""

    def __init__(self, cluster, namespace):
        self.cluster = cluster
        self.namespace = namespace
        cluster.core.create_namespaced_service_account(namespace, {"metadata": {"name": "tenant"}})
        cluster.rbac.create_namespaced_role_binding(namespace, {
            "metadata": {"name": "tenant"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": namespace}]})
        self.token = cluster.token(namespace, "tenant")

    def get(self, path):
        """Through the API server."""
        return self.cluster.request(path, token=self.token)

    def kubeconfig(self, directory):
        return self.cluster.write_kubeconfig(pathlib.Path(directory) / "tenant.kubeconfig", self.namespace, self.token)


@pytest.fixture
def tenant(cluster, stage, installation):
    tenant = Tenant(cluster, stage.namespace)
    eventually(lambda: installation.available(INSIGHT))
    eventually(lambda: tenant.get(path_of(stage.namespace)).status == 200)  # the role is put together, the binding seen
    return tenant


@pytest.fixture
def neighbour(cluster, stage):
    """A namespace of somebody else, with an object of the same name."""
    other = type(stage)(cluster, f"{stage.namespace}-next", stage.redis)
    cluster.create_namespace(other.namespace)
    other.deployment(replicas=0)
    other.ready_scaledobject()
    yield other
    cluster.delete_namespace(other.namespace)
    other.drain()


# --- through the cluster ---

def test_a_tenant_reads_its_own_namespace(kscaled, stage, neighbour, tenant):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=3, metadata={"labels": {"team": "a"}})
    (item,) = tenant.get(path_of(stage.namespace)).json["items"]
    assert (item["kind"], item["apiVersion"], "explanation" in item) == ("ScaledObjectInsight", "insight.kscaled.io/v1", False)
    made = stage.get()["metadata"]
    assert item["metadata"] == {"name": "worker", "namespace": stage.namespace, "uid": made["uid"], "creationTimestamp": made["creationTimestamp"], "labels": {"team": "a"}}
    assert (item["summary"]["max"], item["summary"]["target"]["name"]) == (3, "worker")
    one = tenant.get(path_of(stage.namespace, "worker")).json
    assert one["explanation"]["triggers"][0]["metric"] == f"s0-redis-{stage.jobs}" and one["summary"]["kind"] == "ScaledObject"
    assert tenant.get(path_of(stage.namespace, resource="scaledjobinsights")).json["items"] == []
    # The neighbour's, all together, and what there is not: by the API server, and by kscaled itself, where nobody stands between.
    for ask in (tenant.get, lambda path: kscaled.ask(path, token=tenant.token)):
        assert ask(path_of(stage.namespace)).status == 200 and ask(path_of(stage.namespace, "worker")).status == 200
        for path, verb in ((path_of(neighbour.namespace), "list"), (path_of(neighbour.namespace, "worker"), "get"), (path_of(neighbour.namespace, "nothing"), "get"), (path_of(), "list"),
                           (path_of(neighbour.namespace, resource="scaledjobinsights"), "list")):
            assert f'cannot {verb} resource "scaled' in ask(path).failure(403, "Forbidden")
    assert kscaled.ask(path_of(stage.namespace)).status == 401
    message = tenant.get(path_of(stage.namespace, "wroker")).failure(404, "NotFound")
    assert "near it: worker" in message and neighbour.namespace not in message
    # Who may read all of it.
    everything = stage.cluster.request(path_of()).json["items"]
    assert {stage.namespace, neighbour.namespace} <= {one["metadata"]["namespace"] for one in everything}
    assert [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in everything] == sorted((one["metadata"]["namespace"], one["metadata"]["name"]) for one in everything)


def test_it_is_only_read(kscaled, stage, tenant, cluster):
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    one = path_of(stage.namespace, "worker")
    for method, path in (("DELETE", one), ("PUT", one), ("PATCH", one), ("POST", path_of(stage.namespace))):
        assert kscaled.ask(path, method, token=tenant.token, body="{}").status == 405
        assert cluster.request(path, method, body={}).status == 405
    assert "watch is not supported" in cluster.request(path_of(stage.namespace) + "?watch=true").failure(405, "MethodNotAllowed")


def test_kubectl(kscaled, job_stage, redis_stage, cluster, installation):
    """Tables, wide ones, selectors, short names, the category; and what kscaled get makes of the same answers."""
    stage = redis_stage
    stage.deployment(replicas=0)
    stage.ready_scaledobject(metadata={"labels": {"team": "a"}}, maxReplicaCount=3)
    stage.another("b")
    stage.ready_scaledobject("b", metadata={"labels": {"team": "b"}})
    job_stage.ready_scaledjob(maxReplicaCount=4)
    eventually(lambda: installation.available(INSIGHT))

    def get(*arguments):
        return cluster.kubectl("-n", stage.namespace, "get", *arguments).splitlines()

    heading, *rows = get("soi")
    assert heading.split() == "NAME TARGET MIN MAX CURRENT DESIRED READY ACTIVE PAUSED REASON".split()
    assert [row.split()[0] for row in rows] == ["b", "worker"]
    assert "TRIGGERS" in get("scaledobjectinsight", "worker", "-o", "wide")[0]
    for selector in (["-l", "team=a"], ["-l", "team in (a,c)"], ["--field-selector", "metadata.name=worker"], ["--field-selector", "metadata.name!=b"]):
        (row,) = get("soi", "--no-headers", *selector)
        assert row.split()[:2] == ["worker", "Deployment/worker"], selector
    (row,) = get("sji", "--no-headers")
    assert row.split()[:3] == ["worker", "0", "4"]
    both = "\n".join(get("kscaled"))
    assert "scaledobjectinsight.insight.kscaled.io/worker" in both and "scaledjobinsight.insight.kscaled.io/worker" in both
    assert json.loads("\n".join(get("soi", "worker", "-o", "json")))["explanation"]["name"] == "worker"
    for arguments, said in ((["--field-selector", "status.phase=x"], "field label not supported"), (["-w"], "watch is not supported"), (["nothing"], "is known")):
        done = cluster.run_kubectl("-n", stage.namespace, "get", "soi", *arguments)
        assert done.returncode != 0 and said in done.stderr, done
    told = kscaled.tell("get", "-n", stage.namespace, "so").stdout.splitlines()
    assert [line.split()[1:8] for line in told[1:]] == [line.split()[:7] for line in get("soi", "--no-headers")]


@pytest.fixture
def redis_stage(job_stage, shared_redis):
    """ScaledObjects in the namespace of job_stage."""
    from rig.stage import Stage
    stage = Stage(job_stage.cluster, job_stage.namespace, shared_redis)
    yield stage
    stage.drain()


def test_documents(kscaled, cluster, installation):
    """The API server's own clients find it: discovery in both forms, OpenAPI, explain."""
    eventually(lambda: installation.available(INSIGHT))
    resources = {one["name"]: one for one in cluster.request(GROUP).json["resources"]}
    assert {name: (one["kind"], one["shortNames"], one["categories"], sorted(one["verbs"])) for name, one in resources.items()} == {
        "scaledobjectinsights": ("ScaledObjectInsight", ["soi"], ["kscaled"], ["get", "list"]), "scaledjobinsights": ("ScaledJobInsight", ["sji"], ["kscaled"], ["get", "list"])}
    assert cluster.request("/apis/insight.kscaled.io").json["preferredVersion"]["groupVersion"] == "insight.kscaled.io/v1"
    aggregated = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}

    def group():
        (one,) = [one for one in cluster.request("/apis", headers=aggregated).json["items"] if one["metadata"]["name"] == "insight.kscaled.io"]
        return [resource["resource"] for resource in one["versions"][0]["resources"]]

    eventually(lambda: sorted(group()) == ["scaledjobinsights", "scaledobjectinsights"])
    document = eventually(lambda: (answer := cluster.request(f"/openapi/v3{GROUP}")).status == 200 and answer.json, timeout=60)
    assert f"{GROUP}/namespaces/{{namespace}}/scaledobjectinsights/{{name}}" in document["paths"]
    assert "What kscaled knows of a ScaledObject" in eventually(lambda: cluster.kubectl("explain", "soi", check=False), timeout=60)


def test_authority(kscaled, installation):
    eventually(lambda: installation.available(INSIGHT))
    assert installation.apiservice(INSIGHT).spec.ca_bundle == installation.apiservice().spec.ca_bundle
    installation.cluster.registration.patch_api_service(INSIGHT, {"spec": {"caBundle": None}})
    eventually(lambda: installation.apiservice(INSIGHT).spec.ca_bundle == installation.apiservice().spec.ca_bundle)


def test_without_its_apiservice(launch, restored, stage):
    """Nothing else is lost: a line in the log."""
    restored.cluster.registration.delete_api_service(INSIGHT)
    daemon = launch().wait_serving()
    stage.deployment(replicas=0)
    stage.push(1)
    stage.ready_scaledobject(maxReplicaCount=1)
    eventually(lambda: stage.replicas() == 1)
    assert " info " in [line for line in daemon.log().splitlines() if f"{INSIGHT} does not exist" in line][0]
    assert daemon.tell("get", "-n", stage.namespace).returncode == 0
    restored.apply()
    eventually(lambda: restored.available(INSIGHT))


# --- kscaled get and explain, as a user of the cluster ---

def test_commands_of_a_tenant(kscaled, stage, neighbour, tenant, tmp_path):
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    kubeconfig = tenant.kubeconfig(tmp_path)
    done = run("get", "--kubeconfig", str(kubeconfig), "-n", stage.namespace)
    assert done.returncode == 0 and done.stderr == "" and done.stdout == kscaled.tell("get", "-n", stage.namespace).stdout
    done = run("explain", f"{stage.namespace}/worker", env={"KUBECONFIG": str(kubeconfig), "KSCALED_INSIGHT_SOCKET": free_socket()})
    assert done.returncode == 0 and f" {stage.namespace}/worker " in done.stdout.splitlines()[0], done
    for arguments in (("get", "-n", neighbour.namespace), ("get",), ("explain", f"{neighbour.namespace}/worker")):
        done = run(*arguments, "--kubeconfig", str(kubeconfig))
        assert done.returncode == 2 and "forbidden" in done.stderr and done.stdout == "", done


def test_plugin_of_kubectl(cluster, kscaled, stage, tenant, tmp_path):
    """kubectl finds it by its name and runs it; it asks as the user of kubectl's file, and not the daemon of this host."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kubectl-kscaled").symlink_to(program())
    (tmp_path / "home/.kube").mkdir(parents=True)
    shutil.copy(tenant.kubeconfig(tmp_path), tmp_path / "home/.kube/config")
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path / "home"), "KSCALED_INSIGHT_SOCKET": kscaled.socket}
    kubectl = lambda *arguments, **more: subprocess.run([cluster.kubectl_program, "kscaled", *arguments], capture_output=True, text=True, timeout=60, env={**environment, **more})
    expected = kscaled.tell("get", "-n", stage.namespace).stdout
    done = kubectl("get", "-n", stage.namespace)
    assert done.returncode == 0 and done.stderr == "" and done.stdout == expected, done
    done = kubectl("explain", f"{stage.namespace}/worker")
    assert done.returncode == 0 and f" {stage.namespace}/worker " in done.stdout.splitlines()[0], done
    done = kubectl("explain", "worker")  # in the namespace of the context, as for kubectl
    assert done.returncode == 0 and f" {stage.namespace}/worker " in done.stdout.splitlines()[0], done
    done = kubectl("get")  # everybody's: the daemon's socket would tell
    assert done.returncode == 2 and "forbidden" in done.stderr and done.stdout == "", done
    done = kubectl("get", "-n", stage.namespace, HOME=str(tmp_path), KUBECONFIG=str(tmp_path / "tenant.kubeconfig"))
    assert done.returncode == 0 and done.stdout == expected, done
    done = kubectl("get", HOME=str(tmp_path))
    assert done.returncode == 2 and f"{tmp_path}/.kube/config" in done.stderr, done
    assert "commands:" in kubectl().stdout


def test_logins_that_are_refused(tmp_path, installation):
    document = yaml.safe_load(installation.kubeconfig.read_text())
    document["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "true", "interactiveMode": "Never"}}
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    for arguments in (("get",), ("explain", "a/b")):
        done = run(*arguments, "--kubeconfig", str(path))
        assert done.returncode == 2 and "credential plugins are not run" in done.stderr and "kubectl get scaledobjectinsights" in done.stderr
    done = run("get", env={"KSCALED_INSIGHT_SOCKET": free_socket()})
    assert done.returncode == 2 and "No such file or directory" in done.stderr and "kubectl get scaledobjectinsights" in done.stderr


# --- the socket ---

def over_socket(path, request):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        connection.sendall(f"{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer.decode()


def test_the_socket(launch, stage):
    path = free_socket()
    daemon = launch(options={"insight_socket": path}).wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 and stat.S_ISSOCK(os.stat(path).st_mode)
    assert over_socket(path, f"GET {path_of(stage.namespace)}").startswith("HTTP/1.1 200")
    for request in (f"GET {stage.path()}", "GET /metrics", "GET /readyz", "GET /apis", "POST /validate-keda-sh-v1alpha1-scaledobject"):
        assert over_socket(path, request).startswith("HTTP/1.1 404"), request
    assert daemon.metric('kscaled_http_requests_total{port="socket",path="insight",verb="GET",code="200"}') == 1
    # Where it answers no other begins, and it goes on.
    second = launch("second", port=free_port(), options={"insight_socket": path})
    second.expected_end = True
    assert second.popen.wait(20) == 1 and f"{path}: another process answers there" in second.log()
    assert over_socket(path, f"GET {path_of(stage.namespace, 'worker')}").startswith("HTTP/1.1 200")
    # What one that was killed leaves there is replaced.
    daemon.kill()
    assert os.path.exists(path)
    with pytest.raises(ConnectionRefusedError):
        over_socket(path, "GET /")
    done = run("get", f"--socket={path}")
    assert done.returncode == 2 and "cannot reach kscaled by the socket" in done.stderr
    again = launch("again", options={"insight_socket": path}).wait_serving()
    assert over_socket(path, f"GET {path_of(stage.namespace)}").startswith("HTTP/1.1 200")
    again.term()


def test_what_is_no_socket_stays(launch, tmp_path):
    for name, path in (("file", tmp_path / "file"), ("folder", tmp_path), ("nowhere", tmp_path / "none" / "insight.sock")):
        if name == "file":
            path.write_text("precious")
        daemon = launch(name, options={"insight_socket": path})
        daemon.expected_end = True
        assert daemon.popen.wait(20) == 1 and "insight socket: " in daemon.log() and str(path) in daemon.log(), daemon.log()
    assert (tmp_path / "file").read_text() == "precious"


def test_a_group_may_open_it(launch):
    path = free_socket()
    daemon = launch(options={"insight_socket": path, "insight_socket_group": os.getgid()}).wait_serving()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o660 and os.stat(path).st_gid == os.getgid()
    assert run("get", env={"KSCALED_INSIGHT_SOCKET": path}).returncode == 0
    daemon.term()
    nobody = launch("nobody", options={"insight_socket": path, "insight_socket_group": "no-such-group"})
    nobody.expected_end = True
    assert nobody.popen.wait(20) == 1 and 'no group "no-such-group"' in nobody.log()


def test_not_yet_is_not_nothing(launch, disturb):
    disturb.stop("kube-apiserver")
    try:
        daemon = launch()
        eventually(lambda: daemon.status("/healthz").status == 200)
        answer = over_socket(daemon.socket, f"GET {path_of()}")
        assert answer.startswith("HTTP/1.1 503") and "\r\nRetry-After: 1\r\n" in answer and "were not read yet" in answer
        done = daemon.tell("get")
        assert done.returncode == 2 and "were not read yet" in done.stderr and done.stdout == ""
    finally:
        disturb.start("kube-apiserver")
    daemon.wait_serving(timeout=60)
    eventually(lambda: daemon.tell("get").returncode == 0)
