# SPDX-License-Identifier: Apache-2.0
"""kscaled explain and get: what people are told by a running kscaled, about readings, decisions, the HPA, and who changed the replicas."""
import json
import os
import pathlib
import pty
import subprocess

import pytest

from rig.daemon import program, run
from rig.process import free_port, free_socket
from rig.waiting import eventually

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def explained(kscaled, stage, name="worker"):
    done = kscaled.tell("explain", f"{stage.namespace}/{name}", "-o", "json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)


@pytest.mark.journey
def test_the_story_of_an_object(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=3)
    told = eventually(lambda: (explained(kscaled, stage)["decision"] or {}).get("rule") == "inactive" and explained(kscaled, stage))
    assert told["leader"]["leading"] and told["leader"]["holder"]
    assert told["target"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker", "state": "present", "replicas": 0, "ready": 0, "trouble": None}
    assert (told["min"], told["max"], told["idle"], told["paused"]) == (0, 3, None, False)
    (trigger,) = told["triggers"]
    assert (trigger["type"], trigger["metric"], trigger["target"], trigger["metricType"]) == ("redis", f"s0-redis-{stage.jobs}", "5", "AverageValue")
    assert trigger["value"] == 0 and trigger["active"] is False and trigger["error"] is None and 0 <= trigger["ageSeconds"] < 30
    stage.push(40)
    eventually(lambda: stage.replicas() == 3)
    told = eventually(lambda: len(explained(kscaled, stage)["changes"]) >= 2 and explained(kscaled, stage))
    assert [(change["from"], change["to"]) for change in told["changes"]] == [(1, 3), (0, 1)]
    assert told["changes"][1]["who"] == "kscaled" and stage.jobs in told["changes"][1]["why"]
    assert told["changes"][0]["who"] == "HorizontalPodAutoscaler keda-hpa-worker"
    told = eventually(lambda: "at maxReplicaCount 3" in explained(kscaled, stage)["reason"] and explained(kscaled, stage))
    assert told["decision"]["rule"] == "active"
    assert {c["type"]: c["status"] for c in told["hpa"]["conditions"]}["ScalingLimited"] == "True"
    assert told["decisions"][-1]["rule"] in ("inactive", "cooldown", "initial-cooldown", "deactivate")
    # Somebody else.
    stage.cluster.kubectl("-n", stage.namespace, "scale", "deployment/worker", "--replicas=2")
    eventually(lambda: any("kubectl" in change["who"] for change in explained(kscaled, stage)["changes"]))
    text = kscaled.tell("explain", f"{stage.namespace}/worker")
    assert text.returncode == 0 and text.stderr == ""
    for part in ("Deployment worker", "keda-hpa-worker: 1 to 3", "TooManyReplicas", "(this process)", f"s0-redis-{stage.jobs}", "kubectl", "CHANGED", "DECIDED"):
        assert part in text.stdout, text.stdout
    assert shape(text.stdout) == shape(README.read_text(encoding="utf-8").split("```\n")[1])  # what people are shown first


def shape(text):
    """Names of lines, and the heads of tables."""
    rows = [line.split() for line in text.splitlines() if line[:1].isalpha()]
    return [row if row[0] in ("TRIGGER", "CHANGED", "DECIDED") else row[0] for row in rows]


def on_terminal(*command, columns=80, rows=24):
    """What a command writes on a terminal of this size."""
    import fcntl
    import os
    import struct
    import termios
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 65536):
                written += piece
        except OSError:
            pass  # the other end is closed
        process.wait(10)
    os.close(ours)
    return written.decode().replace("\r\n", "\n").splitlines()


def test_fits_a_terminal(kscaled, stage):
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=3)
    stage.push(40)
    eventually(lambda: stage.replicas() == 3)
    for columns, rows in ((80, 24), (60, 30)):
        for command in (("explain", f"{stage.namespace}/worker"), ("get",)):
            lines = on_terminal(program(), *command, f"--socket={kscaled.socket}", columns=columns, rows=rows)
            assert lines and (command[0] == "get" or len(lines) < rows), lines
            if command[0] == "explain":
                assert max(map(len, lines)) <= max(columns, 80), lines


def test_what_is_wrong_is_told(kscaled, stage, start_redis):
    server = start_redis()
    stage.deployment(replicas=1)
    stage.ready_scaledobject(minReplicaCount=1, triggers=[stage.trigger(address=server.address)])
    server.kill()
    told = eventually(lambda: explained(kscaled, stage)["triggers"][0]["error"] and explained(kscaled, stage))
    (trigger,) = told["triggers"]
    assert server.address in trigger["error"] and trigger["failures"] >= 1
    eventually(lambda: explained(kscaled, stage)["decision"]["rule"] == "error-hold")
    assert stage.replicas() == 1
    stage.scaledobject("broken", triggers=[stage.trigger(listName=None)])
    message = stage.wait_refused("broken")
    told = explained(kscaled, stage, "broken")
    assert told["reason"] == message and "listName" in told["trouble"] and told["triggers"] == []


def test_the_list(kscaled, stage):
    stage.deployment("a", replicas=0)
    stage.ready_scaledobject("a", metadata={"annotations": {"autoscaling.keda.sh/paused": "true"}})
    done = kscaled.tell("get", "-n", stage.namespace)
    assert done.returncode == 0
    heading, row = done.stdout.splitlines()
    assert heading.split() == "NAMESPACE NAME TARGET MIN MAX CURRENT DESIRED READY ACTIVE PAUSED REASON".split()
    assert row.split()[:3] == [stage.namespace, "a", "Deployment/a"] and "True" in row
    (item,) = json.loads(kscaled.tell("get", "-n", stage.namespace, "-o", "json").stdout)["items"]
    assert item["kind"] == "ScaledObjectInsight" and item["metadata"]["namespace"] == stage.namespace
    assert item["summary"]["paused"] is True and "paused" in item["summary"]["reason"]
    everything = kscaled.tell("get", "-A", "-o", "wide").stdout
    assert stage.namespace in everything and "TRIGGERS" in everything
    assert kscaled.tell("get", "-n", "no-such-namespace").stdout == "No ScaledObjects or ScaledJobs found.\n"


def test_a_scaledjob(kscaled, job_stage):
    """Its Jobs, what was decided, what was created; by kind where a ScaledObject has the name, too."""
    stage, path = job_stage, f"{job_stage.namespace}/worker"
    stage.ready_scaledjob(template=stage.job_template(manner="stays"), maxReplicaCount=3)
    stage.give(7)
    eventually(lambda: len(stage.running()) == 3)
    heading, row = eventually(lambda: " 3 " in (told := kscaled.tell("get", "-n", stage.namespace, "sj")).stdout and told.stdout.splitlines())
    assert heading.split() == "NAMESPACE NAME MIN MAX RUNNING READY ACTIVE PAUSED REASON".split()
    assert row.split()[:5] == [stage.namespace, "worker", "0", "3", "3"]
    assert kscaled.tell("get", "-n", stage.namespace, "so").stdout == "No ScaledObjects found.\n"
    told = eventually(lambda: "\nDecision  at-max: " in (text := kscaled.tell("explain", path).stdout) and text)
    assert told.startswith(f"Object    ScaledJob {path}   Ready=True Active=True Paused=False\nJobs      3 running, 0 complete, 0 failed; 0 to 3; strategy default\n"), told
    created = told.split("\nCREATED")[1].splitlines()[1].split()
    assert created[1:3] == ["3", "3"] and stage.another_list("worker") in told, told
    stage.deployment(replicas=0)
    stage.cluster.custom.create_namespaced_custom_object("keda.sh", "v1alpha1", stage.namespace, "scaledobjects", {
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "worker"}, "spec": {"scaleTargetRef": {"name": "worker"}, "triggers": [stage.list_trigger("other")]}})
    told = eventually(lambda: "Deployment worker" in (text := kscaled.tell("explain", path).stdout) and text)
    assert f"\nAlso      a ScaledJob of this name exists, too: `kscaled explain sj {path}`\n" in told
    assert kscaled.tell("explain", "sj", path).stdout.startswith(f"Object    ScaledJob {path} ")
    assert "CURRENT" in (both := kscaled.tell("get", "-n", stage.namespace).stdout) and "RUNNING" in both and "\n\n" in both


def test_unknown_and_unreachable(kscaled, stage):
    stage.deployment()
    stage.ready_scaledobject()
    done = kscaled.tell("explain", f"{stage.namespace}/wroker")
    assert done.returncode == 1 and "near it: worker" in done.stderr and done.stdout == ""
    done = kscaled.tell("explain", "no-such-namespace/nothing-like-it")
    assert done.returncode == 1 and "nor any other in this namespace" in done.stderr
    for command in (("get",), ("explain", "a/b")):
        done = run(*command, f"--socket={free_socket()}")
        assert done.returncode == 2 and "cannot reach kscaled by" in done.stderr and done.stdout == ""
        done = run(*command, f"--status-address=127.0.0.1:{kscaled.status_port}")
        assert done.returncode == 2 and "--status-address was removed" in done.stderr and "--socket" in done.stderr and done.stdout == ""


def test_a_name_alone(kscaled, stage, cluster, tmp_path):
    """Where it is the only one of its name; else those that have it are listed. Over the socket, and as kubectl would ask."""
    name = stage.namespace  # which nobody else has
    stage.deployment(name)
    stage.ready_scaledobject(name)
    told = kscaled.tell("explain", name)
    assert told.returncode == 0 and told.stdout.startswith(f"Object    {stage.namespace}/{name} "), told
    assert kscaled.tell("explain", "so", name).stdout.startswith(f"Object    {stage.namespace}/{name} ")
    done = kscaled.tell("explain", "sj", name)
    assert done.returncode == 1 and f'no ScaledJob is named "{name}" in any namespace' in done.stderr, done
    admin = f"--kubeconfig={cluster.kubeconfig}"  # its namespace is default, where there is none of that name
    told = eventually(lambda: (lambda done: done.returncode == 0 and done)(run("explain", admin, name)))
    assert told.stdout.startswith(f"Object    {stage.namespace}/{name} "), told
    assert run("explain", admin, "wroker").returncode == 1

    other = f"{stage.namespace}-other"
    cluster.create_namespace(other)
    try:
        body = {**stage.get(name), "metadata": {"name": name, "namespace": other}}
        body.pop("status", None)
        assert cluster.request(f"/apis/keda.sh/v1alpha1/namespaces/{other}/scaledobjects", "POST", body=body).status == 201
        for ask in (kscaled.tell, lambda *words: run(*words, admin)):
            done = eventually(lambda ask=ask: (lambda done: done.returncode == 1 and done)(ask("explain", name)))
            assert done.stdout == "" and f'2 objects are named "{name}"; choose one:' in done.stderr, done
            for line in (f"kscaled explain so {stage.namespace}/{name}", f"kscaled explain so {other}/{name}"):
                assert f"  {line}\n" in done.stderr and ask(*line.split()[1:]).returncode == 0
            assert ask("explain", "-n", other, name).returncode == 0
        (tmp_path / "kubectl-kscaled").symlink_to(program())
        env = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
        done = subprocess.run([tmp_path / "kubectl-kscaled", "explain", name], capture_output=True, text=True, timeout=60, check=False, env=env)
        assert done.returncode == 1 and f"  kubectl kscaled explain so {other}/{name}\n" in done.stderr, done
    finally:
        cluster.delete_namespace(other)


def test_a_standby_says_so(launch, stage):
    leader = launch("leader").wait_serving()
    standby = launch("standby", port=free_port()).wait_ready()
    stage.deployment(replicas=0)
    stage.ready_scaledobject()
    told = eventually(lambda: explained(standby, stage)["leader"]["holder"] and explained(standby, stage))
    assert told["leader"]["leading"] is False and told["decision"] is None and told["leader"]["whyNot"]
    assert told["leader"]["holder"] == explained(leader, stage)["leader"]["holder"]
    text = standby.tell("explain", f"{stage.namespace}/worker").stdout
    assert "this process is on standby" in text
