# SPDX-License-Identifier: Apache-2.0
"""What people are told of ScaledJobs: kscaled get and explain, kubectl get, /metrics, kscaled check."""
import json

from rig.daemon import run
from rig.job_stage import STAYS
from rig.process import free_port
from rig.stage import Stage
from rig.waiting import eventually


def explained(kscaled, stage, name="worker", kind="sj"):
    done = kscaled.tell("explain", kind, f"{stage.namespace}/{name}", "-o", "json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def told(kscaled, stage, rule, name="worker"):
    """Once this is the decision."""
    return eventually(lambda: (explained(kscaled, stage, name)["decision"] or {}).get("rule") == rule and explained(kscaled, stage, name))


def test_the_story_of_an_object(kscaled, job_stage, record):
    stage = job_stage
    stage.ready_scaledjob(template=stage.job_template(STAYS), maxReplicaCount=3, scalingStrategy={"strategy": "default"})
    story = told(kscaled, stage, "inactive")
    assert (story["kind"], story["min"], story["max"], story["strategy"], story["paused"]) == ("ScaledJob", 0, 3, "default", False)
    assert {key: story["jobs"][key] for key in ("running", "complete", "failed")} == {"running": 0, "complete": 0, "failed": 0}
    (trigger,) = story["triggers"]
    assert (trigger["type"], trigger["metric"], trigger["value"], trigger["active"], trigger["error"]) == ("redis", f"s0-redis-{stage.another_list('worker')}", 0, False, None)
    stage.give(2)
    eventually(lambda: record.count() == 2)
    story = told(kscaled, stage, "enough")
    assert story["jobs"]["running"] == 2 and story["decision"]["create"] == 0
    change = eventually(lambda: explained(kscaled, stage)["changes"])[0]
    assert (change["from"], change["to"], change["who"]) == (0, 2, "kscaled") and stage.another_list("worker") in change["why"]
    stage.give(5)
    eventually(lambda: record.count() == 3)
    story = told(kscaled, stage, "at-max")
    assert "3" in story["reason"]
    stage.end_pods(count=1)
    stage.take_all()
    eventually(lambda: explained(kscaled, stage)["jobs"]["complete"] == 1)
    text = kscaled.tell("explain", f"{stage.namespace}/worker")
    assert text.returncode == 0 and text.stderr == ""
    for part in ("ScaledJob", f"{stage.namespace}/worker", f"s0-redis-{stage.another_list('worker')}", "DECIDED"):
        assert part in text.stdout, text.stdout


def test_two_kinds_of_one_name(kscaled, job_stage):
    """The ScaledObject is told, and that there is another; each by its kind."""
    stage = job_stage
    objects = Stage(stage.cluster, stage.namespace, stage.redis)
    objects.deployment(replicas=0)
    objects.ready_scaledobject()
    stage.ready_scaledjob(template=stage.job_template(STAYS))
    name = f"{stage.namespace}/worker"
    for words, kind in ((["so"], "ScaledObject"), (["scaledobject"], "ScaledObject"), (["sj"], "ScaledJob"), (["scaledjob"], "ScaledJob"), ([], "ScaledObject")):
        done = kscaled.tell("explain", *words, name, "-o", "json")
        assert done.returncode == 0 and json.loads(done.stdout)["kind"] == kind, (words, done)
    text = kscaled.tell("explain", name)
    assert "ScaledJob" in text.stdout + text.stderr
    listed = json.loads(kscaled.tell("get", "-n", stage.namespace, "-o", "json").stdout)["items"]
    assert sorted(item["summary"]["kind"] for item in listed) == ["ScaledJob", "ScaledObject"]
    for word, kind in (("so", "ScaledObject"), ("sj", "ScaledJob")):
        (item,) = json.loads(kscaled.tell("get", word, "-n", stage.namespace, "-o", "json").stdout)["items"]
        assert item["kind"] == f"{kind}Insight"
    table = kscaled.tell("get", "sj", "-n", stage.namespace).stdout
    assert stage.namespace in table and "worker" in table
    # The metric of the ScaledObject is its own, whatever the ScaledJob has in its queue.
    stage.give(7)
    objects.push(3)
    eventually(lambda: objects.metric().value() == "3")
    stage.delete()
    eventually(stage.gone)
    objects.wait_ready()


def test_unknown_names(kscaled, job_stage):
    job_stage.ready_scaledjob()
    done = kscaled.tell("explain", "sj", f"{job_stage.namespace}/wroker")
    assert done.returncode == 1 and "near it: worker" in done.stderr and done.stdout == ""
    done = kscaled.tell("explain", "so", f"{job_stage.namespace}/worker")
    assert done.returncode == 1 and done.stdout == ""


def test_a_standby(launch, job_stage):
    """It watches no Jobs, and says so rather than that there are none."""
    leader = launch("leader").wait_serving()
    standby = launch("standby", port=free_port()).wait_ready()
    job_stage.give(2)
    job_stage.ready_scaledjob(template=job_stage.job_template(STAYS))
    eventually(lambda: explained(leader, job_stage)["jobs"]["running"] == 2)
    story = explained(standby, job_stage)
    assert story["jobs"] is None and story["decision"] is None


def test_kubectl_get(kscaled, job_stage):
    job_stage.give(1)
    job_stage.ready_scaledjob(minReplicaCount=1, maxReplicaCount=9, template=job_stage.job_template(STAYS))
    eventually(lambda: job_stage.says("Active", "True"))
    heading, row = job_stage.cluster.kubectl("-n", job_stage.namespace, "get", "sj").splitlines()
    assert heading.split()[:5] == ["NAME", "MIN", "MAX", "READY", "ACTIVE"] and row.split()[:5] == ["worker", "1", "9", "True", "True"]


def test_metrics(kscaled, job_stage, record, start_redis):
    stage, server = job_stage, start_redis()
    stage.give(4)
    stage.scaledjob(template=stage.job_template(STAYS))
    stage.scaledjob("broken", triggers=[stage.list_trigger("broken", address=server.address)], template=stage.job_template(STAYS))
    stage.wait_ready("broken")
    eventually(lambda: record.count() == 4)
    server.kill()
    eventually(lambda: stage.says("Ready", "False", "TriggerError", "broken"))

    def polled():
        """The metrics, once the first look, which is no poll, was followed by one."""
        read = kscaled.metrics()
        return read if any(key.startswith("keda_internal_scale_loop_latency_seconds{") and f'namespace="{stage.namespace}"' in key and 'resource="worker"' in key for key in read) else None

    metrics = eventually(polled)

    def of(name, *parts):
        """The one series of this name whose labels have all these parts."""
        found = {key: value for key, value in metrics.items() if key.startswith(name + "{") and all(part in key for part in (f'namespace="{stage.namespace}"', *parts))}
        assert len(found) == 1, (name, parts, found)
        return next(iter(found.values()))

    job = ('type="scaledjob"', 'scaledObject="worker"')
    assert of("keda_scaler_metrics_value", *job) == 4
    assert of("keda_scaler_active", *job) == 1
    assert 0 <= of("keda_scaler_metrics_latency_seconds", *job) < 5
    assert of("keda_resource_registered_total", 'type="scaled_job"') == 2
    assert of("keda_scaled_job_errors_total", 'scaledJob="broken"') >= 1
    assert of("keda_internal_scale_loop_latency_seconds", 'type="scaledjob"', 'resource="worker"') >= 0
    assert metrics["kscaled_loop_longest_turn_seconds"] < 1
    stage.delete_all()
    eventually(lambda: not any(f'namespace="{stage.namespace}"' in key and key.startswith(("keda_scaler_", "keda_resource_")) for key in kscaled.metrics()))


# --- without a daemon ---

SCALEDJOB = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata:
  name: encode
  namespace: media
spec:
  jobTargetRef:
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: encode
          image: encode
  maxReplicaCount: 10
  triggers:
  - type: redis
    metadata:
      address: redis:6379
      listName: films
"""


def check(tmp_path, text, *arguments):
    path = tmp_path / "f.yaml"
    path.write_text(text)
    done = run("check", *arguments, str(path))
    return done.returncode, done.stdout + done.stderr


def test_check(tmp_path):
    assert check(tmp_path, SCALEDJOB, "--strict") == (0, "")
    for old, new, said in (
        ("  jobTargetRef:\n    template:", "  jobTargetRef:\n    templat:", "jobTargetRef"),
        ("maxReplicaCount: 10", "maxReplicaCount: 0", "spec.maxReplicaCount"),
        ("maxReplicaCount: 10", "maxReplicCount: 10", "did you mean maxReplicaCount?"),
        ("maxReplicaCount: 10", "scalingStrategy: {strategy: acurate}", "acurate"),
        ("listName: films", "listNam: films", "listName"),
        ("- type: redis", "- type: redis\n    metricType: AverageValue", "metricType"),
        ("- type: redis", "- type: radish", "radish"),
        ("name: encode\n  namespace", "name: " + "n" * 64 + "\n  namespace", "metadata.name"),
    ):
        assert old in SCALEDJOB
        status, words = check(tmp_path, SCALEDJOB.replace(old, new, 1))
        assert status == 1 and said in words, (new, words)
    for new, said in (("pendingPodConditions: [Ready]", "pendingPodConditions has no effect"), ("customScalingRunningJobPercentage: '0.5'", "no effect without strategy custom")):
        text = SCALEDJOB.replace("maxReplicaCount: 10", "scalingStrategy: {" + new + "}")
        status, words = check(tmp_path, text)
        assert status == 0 and said in words, words
        assert check(tmp_path, text, "--strict")[0] == 1
