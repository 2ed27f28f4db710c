# SPDX-License-Identifier: Apache-2.0
"""`kscaled check`: good and bad manifests, and files that are none; no cluster is needed."""
import pathlib
import re
import subprocess

import pytest

from rig.daemon import program, run
from rig.waiting import children_cpu

HERE = pathlib.Path(__file__).parent
GOOD = sorted([*(HERE / "manifests").iterdir(), *HERE.parent.parent.glob("etc/examples/**/*.yaml")])

SCALEDOBJECT = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: worker
  namespace: shop
spec:
  scaleTargetRef:
    name: worker
  minReplicaCount: 0
  triggers:
  - type: redis
    metadata:
      address: redis:6379
      listName: jobs
      listLength: "5"
"""


def check(tmp_path, text, *arguments):
    path = tmp_path / "f.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("check", *arguments, str(path))
    return done.returncode, done.stdout.replace(str(path), "f.yaml"), done.stderr.replace(str(path), "f.yaml")


@pytest.mark.parametrize("path", GOOD, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_good(path):
    done = run("check", "--strict", str(path))
    if path.parent.name == "gcp-pubsub":
        assert (done.returncode, done.stdout.count("\n"), done.stderr) == (1, 1, "") and "This scaler is deprecated. More info ->" in done.stdout
        return
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_good_ones_together_and_complete():
    # Of the examples only one: each scales the same workload in its own way.
    together = [path for path in GOOD if path.parent.name in ("manifests", "redis-list")]
    assert len(together) >= 7
    done = run("check", "--verbose", *map(str, together))
    assert done.returncode == 0 and done.stdout.count(": ok\n") == 6 and done.stderr == "", done
    done = run("check", "--complete", str(HERE / "manifests" / "redis-list.yaml"))
    assert (done.returncode, done.stdout) == (0, "")
    done = run("check", "--complete", str(HERE / "manifests" / "cpu-and-redis.yaml"))
    assert done.returncode == 1 and "Deployment default/orders is not in the input" in done.stdout


@pytest.mark.parametrize("old, new, line, said", [
    ("minReplicaCount: 0", "minReplicaCount: 101", 9, "spec.minReplicaCount: 101 is more than maxReplicaCount 100 (the default): lower one or raise the other"),
    ("minReplicaCount: 0", "minReplicaCont: 0", 9, "spec.minReplicaCont: unknown field: did you mean minReplicaCount?"),
    ("minReplicaCount: 0", "minReplicaCount: zero", 9, "spec.minReplicaCount: must be a whole number, not a string: remove the quotes"),
    ("minReplicaCount: 0", "minReplicaCount: 0\n  minReplicaCount: 1", 10, 'duplicate key "minReplicaCount"'),
    ('listLength: "5"', "listLength: 5", 15, "spec.triggers[0].metadata.listLength: must be a string, not a number: put it in quotes"),
    ('listLength: "5"', 'listLength: "five"', 15, 'spec.triggers[0].metadata.listLength: unable to set param "listLength" value "five": must be a whole number'),
    ("address: redis:6379", "address: redis", 13, 'spec.triggers[0].metadata.address: address "redis": must be host:port'),
    ("- type: redis", "- type: radish", 11, "spec.triggers[0].type: no scaler found for type: radish (perhaps redis; kscaled-triggers(5) lists all types)"),
    ("    name: worker\n  min", "    nam: worker\n  min", 7, "spec.scaleTargetRef.name: missing"),
    ("v1alpha1", "v1beta1", 1, 'apiVersion: "keda.sh/v1beta1" is not the apiVersion of this kind: keda.sh/v1alpha1'),
    ("  name: worker\n  namespace", "  nam: worker\n  namespace", 3, "metadata.name: missing"),
])
def test_bad(tmp_path, old, new, line, said):
    assert SCALEDOBJECT.count(old) == 1
    for text in (SCALEDOBJECT.replace(old, new), SCALEDOBJECT.replace(old, new).replace("\n", "\r\n"), "\ufeff" + SCALEDOBJECT.replace(old, new)):
        status, out, err = check(tmp_path, text)
        assert status == 1 and err == ""
        name = "(without a name)" if said == "metadata.name: missing" else "worker"
        assert f"f.yaml:{line}: ScaledObject shop/{name}: {said}" + "\n" in out, out


def test_warnings(tmp_path):
    text = SCALEDOBJECT.replace("minReplicaCount: 0", "minReplicaCount: 1\n  cooldownPeriod: 5")
    status, out, _ = check(tmp_path, text)
    assert status == 0 and out.startswith("f.yaml:10: ScaledObject shop/worker: warning: spec.cooldownPeriod has no effect"), out
    assert check(tmp_path, text, "--strict")[0] == 1


def test_several_files(tmp_path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(SCALEDOBJECT)
    second.write_text(SCALEDOBJECT.replace("  name: worker\n  namespace", "  name: other\n  namespace"))
    done = run("check", str(first), str(second))
    assert done.returncode == 1
    assert done.stdout == f"{second}:7: ScaledObject shop/other: spec.scaleTargetRef: the workload 'worker' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'worker'\n"
    done = run("check", "/does/not/exist", str(second))
    assert done.returncode == 2 and "/does/not/exist: No such file or directory" in done.stderr
    done = run("check", str(tmp_path))
    assert done.returncode == 2 and "is a directory: name the files in it" in done.stderr


def test_standard_input():
    done = subprocess.run([program(), "check", "-n", "own", "-"], input=SCALEDOBJECT.replace("  namespace: shop\n", "").replace('"5"', "5"), capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1 and done.stdout.startswith("<stdin>:14: ScaledObject own/worker: "), done


def test_no_secret_is_shown(tmp_path):
    text = SCALEDOBJECT.replace("      address: redis:6379\n", "") + "    authenticationRef: {name: a}\n" + """---
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata: {name: a, namespace: shop}
spec:
  secretTargetRef: [{parameter: address, name: s, key: a}, {parameter: tls, name: s, key: t}]
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop}
data: {a: aHVudGVyMg==}
stringData: {t: "correct horse"}
"""
    for arguments in ((), ("--complete",), ("--verbose", "--strict")):
        status, out, err = check(tmp_path, text, *arguments)
        assert status == 1 and 'parameter "tls" must be' in out
        assert not any(word in out + err for word in ("hunter2", "aHVudGVyMg", "correct", "horse"))


def test_options_of_the_daemon(tmp_path):
    """What only they refuse: a warning where they are not known, and else as the daemon has it."""
    text = "apiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\nmetadata: {name: irsa}\nspec:\n  podIdentity: {provider: aws}\n"
    said = "f.yaml:5: TriggerAuthentication default/irsa: {}spec.podIdentity: asks for kscaled's own identity at the cloud"
    status, out, _ = check(tmp_path, text)
    assert status == 0 and out.startswith(said.format("warning: "))
    assert check(tmp_path, text, "--strict")[0] == 1
    status, out, _ = check(tmp_path, text, "--cloud-identity", "cluster")
    assert status == 1 and out.startswith(said.format(""))
    assert check(tmp_path, text, "--strict", "--cloud-identity=all") == (0, "", "")
    text = "apiVersion: keda.sh/v1alpha1\nkind: ClusterTriggerAuthentication\nmetadata: {name: files}\nspec:\n  filePath: a.json\n"
    assert "--filepath-auth-root-path is not set" in check(tmp_path, text)[1]
    assert check(tmp_path, text, "--filepath-auth-root-path", "/etc/kscaled") == (0, "", "")
    text = ("apiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\nmetadata: {name: v}\nspec:\n"
            "  hashiCorpVault: {address: 'https://v', authentication: token, secrets: [{parameter: password, path: a, key: b}]}\n")
    assert ": warning: " in (out := check(tmp_path, text)[1]) and "not one of --vault-trusted-addresses" in out
    assert check(tmp_path, text, "--vault-trusted-addresses", "https://v") == (0, "", "")
    text = "apiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\nmetadata: {name: s}\nspec:\n  secretTargetRef: [{parameter: password, name: s, key: k}]\n"
    assert check(tmp_path, text) == (0, "", "")
    status, out, _ = check(tmp_path, text, "--restrict-secret-access")
    assert status == 1 and "--restrict-secret-access allows Secrets of namespace kscaled only" in out
    assert check(tmp_path, text, "--restrict-secret-access", "--cluster-object-namespace", "default") == (0, "", "")


# Options of the daemon by which no object is judged: they are of the daemon itself, or hold when a source is asked.
JUDGE_NOTHING = """config kubeconfig renew-token namespace watch-namespace bind-address secure-port status-address insight-socket insight-socket-group service-name tls-cert-file
tls-private-key-file leader-elect lease-name lease-duration renew-deadline retry-period metrics-max-age metrics-deadline metered-interval wake-interval http-timeout http-min-tls-version
http-tls-cipher-list ca-dir max-source-connections log-level log-format identity state-dir keda-namespace take-over release-apiservice-on-stop webhook cloud-metadata vault-jwt-file
vault-jwt-audience bound-service-account-token-expiry sandbox""".split()


def test_each_option_of_the_daemon_is_known_here_or_judges_nothing():
    options = set(re.findall(r"^ +--([a-z][a-z-]*) ", run("help").stdout, re.M)) - {"help", "version"}
    here = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", run("check", "--help").stdout, re.M))
    assert len(options) > 40 and options == (options & here) | set(JUDGE_NOTHING)
    assert not (options & here - {"namespace"}) & set(JUDGE_NOTHING)


@pytest.mark.parametrize("content, status, said", [
    (b"", 0, ""), (b"---\n# nothing\n---\n", 0, ""), (b"{}", 1, "f.yaml:1: not a Kubernetes object: apiVersion and kind are missing\n"), (b"[1, 2]", 1, "f.yaml:1: a list is not a Kubernetes object"),
    (bytes(range(256)), 2, "f.yaml:1: not YAML: control characters are not allowed\n"), (b"a: caf\xe9\n", 2, "f.yaml:1: not YAML: "), (b"a: 1\n\tb: 1\n", 2, "f.yaml:2: not YAML: found a tab character"),
    (b"[" * 1000000, 2, "f.yaml:1: nested too deep"), (b'{"a":' * 1000000, 2, "f.yaml:1: nested too deep"), (b"a: *b\n", 2, "f.yaml:1: the alias refers to an anchor that does not exist\n"),
    (b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 10)) for i in range(1, 30)), 2, "f.yaml:6: the document has too many values"),
    (b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n" + b"".join(b"  k%d: %s\n" % (i, b"v" * 100) for i in range(95000)), 0, ""),
    (b"kind: ScaledObject\napiVersion: keda.sh/v1alpha1\nmetadata: {name: a}\nspec:\n" + b"".join(b"  k%d: %s\n" % (i, b"v" * 100) for i in range(95000)), 1, "f.yaml:5: ScaledObject default/a: spec.k0: unknown field\n"),
    (b"x" * (65 << 20), 2, "f.yaml: longer than 64 MiB"),
], ids=range(14))
def test_hostile(tmp_path, content, status, said):
    begin = children_cpu()
    got, out, err = check(tmp_path, content)
    assert got == status and said in out + err, (got, (out + err)[:500])
    assert children_cpu() - begin < 15


def test_a_thousand_objects_are_fast(tmp_path):
    text = "---\n".join(SCALEDOBJECT.replace("name: worker", f"name: worker-{i}") for i in range(1000))
    begin = children_cpu()
    status, out, _ = check(tmp_path, text, "--verbose")
    assert status == 0 and out.count(": ok\n") == 1000
    assert children_cpu() - begin < 5


def test_usage():
    done = run("check", "--help")
    assert done.returncode == 0 and "--complete" in done.stdout and done.stderr == ""
    for arguments, named in (((), "no file"), (("--nonsense", "-"), "nonsense"), (("-n", "A_b", "-"), "A_b"), (("--cloud-identity", "any", "-"), "none, cluster or all")):
        done = run("check", *arguments)
        assert done.returncode == 2 and named in done.stderr and done.stdout == ""
    assert "check" in run("help").stdout
