# SPDX-License-Identifier: Apache-2.0
"""Two hundred ScaledJobs woken at once: how soon all their Jobs are there, and who spent what on it."""
import calendar
import json
import os
import time

from measure import eventually

OBJECTS, ITEMS, POLL_S = 200, 10, 5
COMPONENTS = ("kube-apiserver", "etcd", "kube-controller-manager", "kwok")
SJ = "/apis/keda.sh/v1alpha1/namespaces/{}/scaledjobs"
JOBS = "/apis/batch/v1/namespaces/{}/jobs"
PODS = "/api/v1/namespaces/{}/pods"

# What the API server's audit log shall have beside the writes of /scale.
AUDIT_RULE = {"level": "Metadata", "verbs": ["create"], "resources": [{"group": "batch", "resources": ["jobs"]}]}


def scaled_job(name, port):
    """Its Pods run until somebody ends them: nothing but the creation of Jobs, and what the cluster makes of it, happens meanwhile."""
    pod = {"metadata": {"annotations": {"test.kscaled.io/outcome": "none"}}, "spec": {"nodeName": "node-0", "restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]}}
    trigger = {"type": "redis", "metadata": {"address": f"127.0.0.1:{port}", "listName": name, "listLength": "1", "notify": "off"}}
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledJob", "metadata": {"name": name}, "spec": {"jobTargetRef": {"backoffLimit": 0, "template": pod}, "pollingInterval": POLL_S, "maxReplicaCount": 2 * ITEMS,
            "triggers": [trigger]}}


def unix(stamp):
    """Of a time as the audit log has it."""
    return calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) + float("0" + stamp[19:-1])


class ScaledJobs:
    """A section of the benchmark (class Bench in run)."""

    def cpu_of_components(self):
        """Seconds, by the pids that tests/cluster keeps."""
        spent = {}
        for name in COMPONENTS:
            with open(os.path.join(self.cluster, "run", f"{name}.pid")) as file:
                pid = file.read().split()[0]
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            spent[name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return spent

    def job_creates(self, since):
        """(received, answered) of each that the API server carried out; wall clock."""
        found = []
        with open(self.audit_log) as log:
            log.seek(since)
            for line in log:
                if not line.endswith("\n"):
                    break
                entry = json.loads(line)
                if entry["objectRef"]["resource"] == "jobs" and entry["responseStatus"]["code"] == 201:
                    found.append((unix(entry["requestReceivedTimestamp"]), unix(entry["stageTimestamp"])))
        return found

    def scaledjobs(self):
        objects, jobs, pods = (path.format(self.namespace) for path in (SJ, JOBS, PODS))
        self.run_kscaled()  # so that memory is this section's alone
        names, wanted = [f"j{i}" for i in range(OBJECTS)], OBJECTS * ITEMS
        self.say(f"{OBJECTS} ScaledJobs: creating")
        self.api.many([("POST", objects, scaled_job(name, self.redis.port)) for name in names])
        eventually("ready ScaledJobs", lambda: all(self.says_ready(item) for item in self.api.get(objects)["items"]), 120, 1)
        time.sleep(2 * POLL_S + 1)  # Jobs are watched, polls are spread over their interval
        since, others, cpu, begin = self.audited(), self.cpu_of_components(), self.kscaled.cpu_s(), time.time()
        self.redis.send(*[("RPUSH", name, *range(ITEMS)) for name in names])
        created = eventually("Jobs for all items", lambda: len(found := self.job_creates(since)) >= wanted and found, 300, 0.5)
        spent, others = self.kscaled.cpu_s() - cpu, {name: now - others[name] for name, now in self.cpu_of_components().items()}
        first, last = min(received for received, _ in created), max(answered for _, answered in created)
        self.note("scaledjobs_s", last - begin)
        self.note("scaledjobs_creates_per_s", wanted / (last - first))
        self.note("scaledjobs_cpu_s", spent)
        self.note("scaledjobs_apiserver_cpu_s", others["kube-apiserver"])
        self.say("CPU of the others meanwhile: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in others.items()) + f"; load {os.getloadavg()[0]:.1f}")
        self.say("created after, s: " + ", ".join(f"p{share}: {sorted(answered for _, answered in created)[share * wanted // 100] - begin:.2f}" for share in (1, 25, 50, 75, 99)))
        time.sleep(3 * POLL_S)
        self.note("scaledjobs_rss_mib", self.kscaled.rss_kib()[0] / 1024)
        there = len(self.api.get(jobs)["items"])
        if there != wanted or len(self.job_creates(since)) != wanted:
            raise RuntimeError(f"{wanted} items, {len(self.job_creates(since))} Jobs created, {there} are there")
        begin, cpu = time.monotonic(), self.kscaled.cpu_s()
        time.sleep(30)
        self.note("scaledjobs_steady_percent", 100 * (self.kscaled.cpu_s() - cpu) / (time.monotonic() - begin))
        self.api.many([("DELETE", f"{objects}/{name}") for name in names])
        # A server that is busy deletes what it can in a minute, and says 504.
        eventually("answer that all Jobs were deleted", lambda: self.api.call("DELETE", jobs + "?propagationPolicy=Background", ok=None)[0] == 200, 300, 1)
        for what, path in (("ScaledJobs", objects), ("Jobs", jobs), ("Pods", pods)):
            eventually(f"end of the {what}", lambda path=path: not self.api.get(path + "?limit=1")["items"], 300, 1)
        self.redis.send(("FLUSHALL",))

    @staticmethod
    def says_ready(item):
        return any(c["type"] == "Ready" and c["status"] == "True" for c in item.get("status", {}).get("conditions", []))


def figures():
    """As in run: key, what it is, unit, KEDA's, aim."""
    yield "scaledjobs_s", f"{OBJECTS} ScaledJobs with {ITEMS} items each woken at once (poll {POLL_S} s) -> all {OBJECTS * ITEMS:,} Jobs created (KEDA: 50 with 10 each)", "s", 24, "<= 15"
    yield "scaledjobs_creates_per_s", "  creates per second, from the first to the last", "1/s", None, None
    yield "scaledjobs_cpu_s", "  kscaled's CPU meanwhile", "s", None, None
    yield "scaledjobs_apiserver_cpu_s", "  the API server's", "s", None, None
    yield "scaledjobs_rss_mib", "  RSS with all of them running", "MiB", None, "<= 30"
    yield "scaledjobs_steady_percent", "  CPU then", "% of a core", None, None
