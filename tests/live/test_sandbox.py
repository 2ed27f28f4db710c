# SPDX-License-Identifier: Apache-2.0
"""What a running kscaled has given up, and that all it needs is left: what rotates by links and renames above all."""
import ctypes
import json
import os
import pathlib

import pytest

from rig.credentials import LockedRedis, from_secret, ref
from rig.waiting import eventually


def threads(daemon):
    """/proc's status of each, as {field: text}."""
    for task in pathlib.Path(f"/proc/{daemon.pid}/task").iterdir():
        yield dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)


def has_landlock():
    """Whether this kernel has it, and lets processes use it: landlock_create_ruleset(2) asked for its version."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


def said(daemon):
    return [line for line in daemon.log().splitlines() if " sandbox: " in line]


def turn(folder, name, **files):
    """As the kubelet changes a mounted Secret: links that the files lead through are turned, and the old folder goes."""
    old = os.readlink(folder / "..data") if (folder / "..data").is_symlink() else None
    (folder / name).mkdir(parents=True)
    for file, text in files.items():
        (folder / name / file).write_text(text)
        if not old:
            (folder / file).symlink_to(f"..data/{file}")
    (folder / "..data_tmp").symlink_to(name)
    os.replace(folder / "..data_tmp", folder / "..data")
    if old:
        for file in (folder / old).iterdir():
            file.unlink()
        (folder / old).rmdir()


def test_it_holds(launch, stage):
    daemon = launch().wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    stage.push(1)
    eventually(lambda: stage.replicas() == 1)
    lines = said(daemon)
    assert len(lines) == 1 and "system calls by seccomp" in lines[0], lines
    assert ("files by Landlock, version " if has_landlock() else "all files: Landlock is not supported here") in lines[0], lines
    assert all(status["Seccomp"] == "2" and status["NoNewPrivs"] == "1" for status in threads(daemon))
    assert daemon.metric("process_resident_memory_bytes") > 0  # of /proc/self


def test_without(launch):
    daemon = launch(options={"sandbox": "false"}).wait_serving()
    assert [line.partition(" sandbox: ")[2] for line in said(daemon)] == ["off: by option sandbox"]
    assert all(status["Seccomp"] == "0" and status["NoNewPrivs"] == "1" for status in threads(daemon))


@pytest.mark.parametrize("way", ["links", "rename"])
def test_the_way_in_changes(launch, cluster, stage, tmp_path, way):
    """The token's mounted Secret, or the kubeconfig with the token in it, is another; then the first token ends."""
    tokens = []
    for name in ("one", "two"):
        cluster.core.create_namespaced_secret("kscaled", {"metadata": {"name": f"{stage.namespace}-{name}"}})
        tokens.append(cluster.token("kscaled", "kscaled", bound_to_secret=f"{stage.namespace}-{name}"))
    kubeconfig = tmp_path / "kube" / "config"
    kubeconfig.parent.mkdir()
    mount = tmp_path / "mount"
    if way == "links":
        turn(mount, "..1", token=tokens[0])
        cluster.write_kubeconfig(kubeconfig, "kscaled", token_file=mount / "token")
    else:
        cluster.write_kubeconfig(kubeconfig, "kscaled", tokens[0])
    daemon = launch(options={"kubeconfig": kubeconfig}).wait_serving()
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=1)
    if way == "links":
        turn(mount, "..2", token=tokens[1])
    else:
        cluster.write_kubeconfig(tmp_path / "kube" / "new", "kscaled", tokens[1])
        os.replace(tmp_path / "kube" / "new", kubeconfig)
    cluster.core.delete_namespaced_secret(f"{stage.namespace}-one", "kscaled")
    eventually(lambda: cluster.request("/api", token=tokens[0]).status == 401, timeout=40)
    stage.push(1)
    eventually(lambda: stage.replicas() == 1, timeout=40)
    stage.deployment("late", replicas=0)
    stage.ready_scaledobject("late", maxReplicaCount=1)
    assert daemon.leading()
    cluster.core.delete_namespaced_secret(f"{stage.namespace}-two", "kscaled")


def test_a_mounted_file_of_an_authentication_changes(launch, stage, credentials, locked_redis, tmp_path):
    root = tmp_path / "files"
    turn(root, "..1", **{"redis.json": json.dumps({"password": "wrong"})})
    launch(options={"filepath_auth_root_path": root}).wait_serving()
    credentials.cluster_authentication(stage.namespace, filePath="redis.json", **from_secret("does-not-exist"))
    locked_redis.scaledobject(stage, "it", ref(stage.namespace, cluster=True))
    eventually(lambda: locked_redis.refused() > 0)
    turn(root, "..2", **{"redis.json": json.dumps({"password": LockedRedis.PASSWORD})})
    locked_redis.wait_read(stage, "it")
