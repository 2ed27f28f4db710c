# SPDX-License-Identifier: Apache-2.0
"""A whole life with secrets that can be told from everything else, right ones and wrong ones: nowhere but where they belong are they ever seen."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.parse

import pytest

from rig.cluster import GROUP, VERSION
from rig.credentials import LockedRedis, from_config_map, from_secret, ref
from rig.daemon import program
from rig.process import free_port
from rig.scripted import Scripted
from rig.waiting import eventually


def secret(name):
    """Has what is quoted and escaped in one place or another."""
    return f"Zq7%{name}&/+=\"x <ä>\\Zq7"


def forms(value):
    """How it might be written; and the middle of it alone, should somebody cut or escape the ends."""
    raw = value.encode()
    encoded = {value, base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("="), urllib.parse.quote(value), urllib.parse.quote_plus(value), raw.hex(),
               json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return encoded | {value.split("%")[1].split("&")[0]}


def test_forms_are_found():
    """What the test below relies on."""
    value = secret("needle-in-hay")
    for text in (value, json.dumps({"a": value}), urllib.parse.quote(f"x{value}"), base64.b64encode(value.encode()).decode(), "password 'Zq7%needle-in-hay' is wrong"):
        assert any(form in text for form in forms(value)), text


NAMES = ("right-one", "wrong-one", "rotated-one", "map-one", "env-one", "key-one", "user-one", "unused-one", "oauth-one", "vault-one", "file-one", "echoed-one", "unknown-one", "address-one")


def echoes(connection):
    """As some proxies do: the error repeats what was said."""
    while data := connection.recv(65536):
        connection.sendall(b"-ERR unknown command, with args beginning with: " + data.replace(b"\r\n", b" ") + b"\r\n")


def test_nowhere(launch, stage, credentials, tmp_path, start_redis, cluster):
    values = {name: secret(name) for name in NAMES}
    n = stage.namespace
    server = LockedRedis(tmp_path, "secretive")
    server.admin.config_set("requirepass", values["right-one"])
    without_auth = start_redis(extra=["--rename-command", "AUTH", ""])
    echo = Scripted(echoes)
    try:
        (tmp_path / "file.json").write_text(json.dumps({"password": values["file-one"]}))
        (tmp_path / "broken.json").write_text(json.dumps({"password": values["file-one"]})[:-2])
        daemon = launch(options={"filepath_auth_root_path": tmp_path}, env={"VAULT_TOKEN": values["vault-one"]}).wait_serving()

        # --- everything that takes a secret, in all states ---
        credentials.secret(right=values["right-one"], wrong=values["wrong-one"], unused=values["unused-one"], key=values["key-one"], user=values["user-one"], oauth=values["oauth-one"],
                           echoed=values["echoed-one"], unknown=values["unknown-one"], address=f"{values['address-one']}@nowhere.invalid:6379")
        credentials.config_map(password=values["map-one"])
        two = lambda one, other, parameter: {"secretTargetRef": from_secret(key=one)["secretTargetRef"] + from_secret(key=other, parameter=parameter)["secretTargetRef"]}
        vault = {"address": f"http://127.0.0.1:{free_port()}", "authentication": "token", "credential": {"token": values["vault-one"]}, "secrets": [{"parameter": "password", "path": "secret/data/x", "key": "x"}]}
        oauth = {"type": "clientCredentials", "clientId": "me", "tokenUrl": "https://id.example/", "clientSecret": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "oauth"}}}}
        specs = {
            "right": from_secret(key="right"), "wrong": from_secret(key="wrong"), "map": from_config_map(), "user": two("wrong", "user", "username"),
            "tls": two("wrong", "key", "key"), "address": from_secret(key="address", parameter="address"), "oauth": {**from_secret(key="right"), "oauth2": oauth},
            "missing": {"secretTargetRef": from_secret(key="right")["secretTargetRef"] + from_secret(key="nope", parameter="username")["secretTargetRef"]},
            "vault": {"hashiCorpVault": vault}, "tls-word": from_secret(key="key", parameter="tls"), "ca": {"secretTargetRef": [{"parameter": p, "name": "redis", "key": "key"} for p in ("ca", "cert", "key")]},
        }
        env = [{"name": "IT", "value": values["env-one"]}, {"name": "TWO", "value": "$(IT)$(NOPE)"}]
        objects = []

        def create(name, auth, **trigger):
            server.scaledobject(stage, name, auth, trigger, containers=[{"name": "main", "image": "none", "env": env}])
            objects.append(name)

        for name, spec in specs.items():
            credentials.authentication(name, **spec)
            create(name, ref(name), **({"address": None} if name == "address" else {}), **({"enableTLS": "true"} if name in ("tls", "ca") else {}))
        for name, key, address in (("echo", "echoed", echo.address), ("no-auth", "unknown", without_auth.address)):
            credentials.authentication(name, **from_secret(key=key))
            create(name, ref(name), address=address)
        for name in ("file", "broken"):
            credentials.cluster_authentication(f"{n}-{name}", filePath=f"{name}.json")
            create(name, ref(f"{n}-{name}", cluster=True))
        create("env", None, passwordFromEnv="TWO")
        create("env-number", None, databaseIndex=None, portFromEnv="IT", hostFromEnv="IT", address=None)
        create("metadata-number", None, databaseIndex="0", enableTLS="false", addressFromEnv="IT", address=None)
        server.wait_read(stage, "right")
        server.wait_read(stage, "oauth")
        for name in ("wrong", "map", "user", "file", "env", "echo", "no-auth"):
            stage.wait_failing(name)
        for name in ("missing", "tls-word", "tls", "ca", "broken"):
            eventually(lambda name=name: stage.says("Ready", "False", name=name))
        for name in objects:
            eventually(lambda name=name: stage.condition("Ready", name))

        # --- rotation, to a right and to a wrong one ---
        server.admin.config_set("requirepass", values["rotated-one"])
        credentials.change_secret(right=values["rotated-one"])
        credentials.change_secret(wrong=values["unused-one"])
        server.wait_read(stage, "right")
        eventually(lambda: "Vault" in stage.condition("Ready", "vault").get("message", ""))

        # --- everything that anybody can see ---
        answers = {name: stage.metric("s0-redis-jobs", name).text for name in objects}
        seen = {
            "/metrics": daemon.status("/metrics").text,
            "events": cluster.request(f"/apis/events.k8s.io/v1/namespaces/{n}/events").text,
            "cluster events": cluster.request("/apis/events.k8s.io/v1/namespaces/default/events").text,
            "scaledobjects": cluster.request(f"/apis/{GROUP}/{VERSION}/namespaces/{n}/scaledobjects").text,
            "statuses": json.dumps([item.get("status") for item in cluster.request(f"/apis/{GROUP}/{VERSION}/namespaces/{n}/triggerauthentications").json["items"]]),
            "hpas": cluster.request(f"/apis/autoscaling/v2/namespaces/{n}/horizontalpodautoscalers").text,
            "leases": cluster.request("/apis/coordination.k8s.io/v1/namespaces/kscaled/leases").text,
            "get": daemon.tell("get", "-n", n).stdout,
            "command line": pathlib.Path(f"/proc/{daemon.pid}/cmdline").read_bytes().decode(),
            **{f"metric of {name}": text for name, text in answers.items()},
            **{f"explain {name}": daemon.tell("explain", "-o", "json", f"{n}/{name}").stdout for name in objects},
            **{f"explain {name} as text": daemon.tell("explain", f"{n}/{name}").stdout for name in objects},
            **{f"state {path.name}": path.read_text(errors="replace") for path in daemon.state_dir.rglob("*") if path.is_file()},
        }
        daemon.term()
        seen["log"] = daemon.log()
        assert "wrong" in seen["log"] and all(f'"{name}"' in seen["scaledobjects"] for name in objects) and len(seen["explain right"]) > 100 and len(seen["get"]) > 100
        # An address is no secret to the trigger: it stands in its errors, from wherever it came; and so do host and port.
        told = {"address-one", "env-one"}
        found = sorted({(name, where) for where, text in seen.items() for name, value in values.items() if name not in told for form in forms(value) if form in text})
        assert not found, found
    finally:
        echo.end()
        server.end()


# --- no core dumps, no attaching ---

@pytest.fixture
def readable_dir():
    """pytest's own folders are closed to other users."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="kscaled-live-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.refused("get leases.coordination.k8s.io")  # of a name that the manifests do not give, so that it never leads
def test_not_dumpable(installation, readable_dir):
    """The kernel gives what is in /proc of a process that must not be dumped to root."""
    nobody = 65534 if os.geteuid() == 0 else os.geteuid()
    binary = readable_dir / "kscaled"
    shutil.copy(program(), binary)
    (readable_dir / "state").mkdir()
    kubeconfig = readable_dir / "kubeconfig"
    shutil.copy(installation.kubeconfig, kubeconfig)
    for path in (readable_dir / "state", kubeconfig):
        os.chown(path, nobody, -1)
    command = [str(binary), "run", f"--kubeconfig={kubeconfig}", "--namespace=kscaled", "--bind-address=127.0.0.1", "--secure-port=0", f"--status-address=127.0.0.1:{free_port()}",
               f"--state-dir={readable_dir}/state", "--identity=looked-at", "--lease-name=looked-at"]

    def start(name, command):
        with open(readable_dir / f"{name}.log", "wb") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=nobody if os.geteuid() == 0 else None, env={"PATH": os.environ["PATH"]})

    plain, daemon = start("sleep", ["sleep", "60"]), start("kscaled", command)
    try:
        owner = lambda process: os.stat(f"/proc/{process.pid}/environ").st_uid
        eventually(lambda: "version" in (readable_dir / "kscaled.log").read_text())
        assert daemon.poll() is None, (readable_dir / "kscaled.log").read_text()
        assert owner(plain) == nobody, "or this tells nothing"
        assert owner(daemon) == 0
    finally:
        for process in (plain, daemon):
            process.kill()
            process.wait()
