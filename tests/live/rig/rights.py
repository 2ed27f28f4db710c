# SPDX-License-Identifier: Apache-2.0
"""What kscaled asks of the API server, by the server's own audit log, beside what `kscaled manifests` lets it ask.

Of each test: what was refused. Of the whole suite, which is several sessions of several workers: which rights nobody used.

    python tests/live/rig/rights.py MANIFESTS DIRECTORY

tells those: DIRECTORY holds what the sessions wrote that had it in the environment variable KSCALED_RIGHTS_DIR, MANIFESTS what
`kscaled manifests` printed."""
import datetime
import fnmatch
import json
import os
import pathlib
import sys

import yaml

ACCOUNT = "system:serviceaccount:kscaled:kscaled"

# Requests of kscaled's own alone, and of each that it was asked, not with what.
POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
          "rules": [{"level": "Metadata", "users": [ACCOUNT]}, {"level": "None"}]}

# Asked for by the admission plugin OwnerReferencesPermissionEnforcement, by no request.
NEVER_SENT = {("update", "scaledobjects", "finalizers", "keda.sh"), ("update", "scaledjobs", "finalizers", "keda.sh")}
# Asked for where the answer to a creation was lost and the watch has not told of the Job before: whether that comes in a run is
# chance. tests/unit/control/jobs/test_jobmaker.c has it come.
BY_CHANCE = {("get", "jobs", "", "batch")}


def told(right):
    """As kubectl writes it: "patch deployments.apps/scale"."""
    verb, resource, subresource, group = right
    return f"{verb} {resource}{'.' * bool(group)}{group}{'/' * bool(subresource)}{subresource}"


class Audit:
    """The audit log of one control plane, read on as it grows."""

    def __init__(self, directory):
        self.policy = pathlib.Path(directory) / "audit-policy.json"
        self.log = None
        self.used = set()     # rights
        self.position = 0
        self.begun = 0.0      # when the test began that runs
        self.expected = ()    # what it may be refused
        self.before = ()      # and the one before it, whose last requests may be read only now

    def options(self, directory):
        """For the API server; directory: the control plane's."""
        self.policy.write_text(json.dumps(POLICY))
        self.log = pathlib.Path(directory) / "audit.log"
        return [f"--apiserver-arg={arg}" for arg in (f"--audit-policy-file={self.policy}", f"--audit-log-path={self.log}", "--audit-log-maxsize=10000")]

    def begin(self, now, expected):
        """expected: "list pods", "* *.example.com": shell patterns of what the test that begins may be refused."""
        self.begun, self.before, self.expected = now, self.expected, tuple(expected)

    def look(self, unsettled):
        """Reads on. What was refused and not expected, as texts. unsettled: times, from and to, in which an API server that starts refuses everybody."""
        refused = {}
        for event in self._events():
            reference = event.get("objectRef", {})
            right = (event["verb"], reference.get("resource", ""), reference.get("subresource", ""), reference.get("apiGroup", ""))
            decision = event.get("annotations", {}).get("authorization.k8s.io/decision")
            if decision == "allow" and reference:
                self.used.add(right)
                if right[0] == "patch" and event.get("responseStatus", {}).get("code") == 201:
                    self.used.add(("create", *right[1:]))  # server-side apply, which the API server asks for that right, too
            if decision != "forbid":
                continue  # allowed; or never decided, as what a server that has too much to do puts off (429)
            when = datetime.datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
            if any(begin <= when <= end for begin, end in unsettled):
                continue
            text = told(right) if reference else f"{event['verb']} {event['requestURI']}"
            if not any(fnmatch.fnmatchcase(text, pattern) for pattern in (self.expected if when >= self.begun else self.before)):
                refused[text] = event["requestURI"]
        return [f"{text}: {uri}" for text, uri in refused.items()]

    def _events(self):
        if self.log is None or not self.log.exists():
            return
        with open(self.log, "rb") as file:
            file.seek(self.position)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # it is being written
                self.position += len(line)
                try:
                    event = json.loads(line)
                except ValueError:
                    continue  # of an API server that was killed
                # Tests use its tokens, too.
                if event.get("userAgent", "").startswith("kscaled/") and event.get("responseStatus", {}).get("code") != 401:
                    yield event

    def store(self, directory, name):
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(directory) / f"{name}-{os.getpid()}.json").write_text(json.dumps(sorted(self.used)))


def granted(manifests):
    """The rights that these documents give to kscaled's account."""
    documents = [document for document in yaml.safe_load_all(manifests) if document]
    roles = {(role["kind"], role["metadata"].get("namespace"), role["metadata"]["name"]): role for role in documents if role["kind"] in ("Role", "ClusterRole")}
    rights = set()
    for binding in documents:
        if not binding["kind"].endswith("Binding") or not any(subject["name"] == "kscaled" for subject in binding["subjects"]):
            continue
        kind = binding["roleRef"]["kind"]
        role = roles.get((kind, binding["metadata"].get("namespace") if kind == "Role" else None, binding["roleRef"]["name"]))
        if role is None:
            continue  # Kubernetes' own
        for selector in role.get("aggregationRule", {}).get("clusterRoleSelectors", []):
            for other in roles.values():
                if selector["matchLabels"].items() <= other["metadata"]["labels"].items():
                    rights |= rights_of(other)
        rights |= rights_of(role)
    return rights


def rights_of(role):
    return {(verb, *(resource.split("/") + [""])[:2], group)
            for rule in role.get("rules") or [] for verb in rule["verbs"] for resource in rule["resources"] for group in rule["apiGroups"]}


def unused(rights, used):
    def matches(right, one):
        return all(wanted in ("*", is_) for wanted, is_ in zip(right, one))
    return sorted(told(right) for right in rights - NEVER_SENT - BY_CHANCE if not any(matches(right, one) for one in used))


def main(manifests, directory):
    files = sorted(pathlib.Path(directory).glob("*.json"))
    used = {tuple(right) for file in files for right in json.loads(file.read_text())}
    rights = granted(pathlib.Path(manifests).read_text())
    never = unused(rights, used)
    print(f"{len(rights)} rights are given, {len(rights - NEVER_SENT - BY_CHANCE) - len(never)} of them were used in {len(files)} sessions")
    for right in never:
        print(f"never used: {right}")
    return 1 if never or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
