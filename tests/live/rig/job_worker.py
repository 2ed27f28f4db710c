# SPDX-License-Identifier: Apache-2.0
"""
What runs in the containers of Jobs: each Pod that starts takes one item of a queue, works, and succeeds. Here a few threads do that for all Pods of a namespace, whose template says that nobody else ends them (job_stage.STAYS).

A queue is one of three, as workers in the field are written:

    AtStart   the item leaves the list when the Pod starts (LPOP). The length is what nobody works on.
    AtEnd     the item stays in the list while it is worked on, and is removed just before the container exits; who works on what stands in a hash. The length is all that is not done.
    Stream    XREADGROUP at the start; XACK and XDEL before the container exits. The length of the stream is all that is not done.

The item is always gone before the Pod has succeeded, as with any worker that tells its queue and then exits.
"""
import collections
import itertools
import queue
import threading
import time

from .job_stage import OWNER_LABEL
from .watching import Watch


class AtStart:
    def __init__(self, client, key):
        self.client, self.key = client, key

    def fill(self, items):
        self.client.rpush(self.key, *items)

    def take(self, job):  # pylint: disable=unused-argument
        """None when there is nothing to do."""
        item = self.client.lpop(self.key)
        return item and item.decode()

    def done(self, job, item):
        pass

    def left(self):
        return self.client.llen(self.key)


class AtEnd(AtStart):
    CLAIM = """
        for _, item in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
            if redis.call('HSETNX', KEYS[2], item, ARGV[1]) == 1 then return item end
        end
        return false
    """

    def __init__(self, client, key):
        super().__init__(client, key)
        self.claim = client.register_script(self.CLAIM)

    def take(self, job):
        item = self.claim(keys=[self.key, self.key + "-claims"], args=[job])
        return item and item.decode()

    def done(self, job, item):
        assert self.client.lrem(self.key, 1, item) == 1, item


class Stream:
    GROUP = "workers"

    def __init__(self, client, key):
        self.client, self.key = client, key
        client.xgroup_create(key, self.GROUP, mkstream=True)

    def fill(self, items):
        with self.client.pipeline(transaction=False) as together:
            for item in items:
                together.xadd(self.key, {"item": item})
            together.execute()

    def take(self, job):
        answer = self.client.xreadgroup(self.GROUP, job, {self.key: ">"}, count=1)
        if not answer:
            return None
        ((_, entries),) = answer.items() if isinstance(answer, dict) else answer
        ((entry, fields),) = entries
        return entry, fields[b"item"].decode()

    def done(self, job, item):
        with self.client.pipeline() as together:
            together.xack(self.key, self.GROUP, item[0])
            together.xdel(self.key, item[0])
            together.execute()

    def left(self):
        return self.client.xlen(self.key)


class Worker:
    """Plays the containers of one ScaledJob's Pods. A Job does one item, however many Pods it gets."""

    THREADS = 4

    def __init__(self, stage, work, owner="worker", seconds=0.5):
        """seconds: how long an item takes."""
        self.stage, self.work, self.seconds = stage, work, seconds
        self.taken = {}              # job: the item it took
        self.empty_handed = set()    # jobs that found nothing to do
        self.finished = collections.Counter()  # item: how often it was done
        self.busy, self.most_busy = set(), 0   # jobs at work now; the most at a time
        self.known = set()           # Pods that have started
        self.left = set()            # and those that have ended
        self.started = set()         # jobs whose first Pod has
        self.orders = queue.PriorityQueue()  # (when, a number that makes each different, function, its arguments)
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.over = False
        self.troubles = []
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(self.THREADS)]
        for thread in self.threads:
            thread.start()
        self.watch = Watch(stage.cluster, f"/api/v1/namespaces/{stage.namespace}/pods", f"{OWNER_LABEL}={owner}", self._on_pod)

    def _on_pod(self, kind, pod):
        name = pod["metadata"]["name"]
        if kind == "DELETED" or pod["status"].get("phase") != "Running":
            return
        if name not in self.known:
            self.known.add(name)
            self._order(0, self._start, name, pod["metadata"]["labels"]["job-name"])
        elif name in self.left:  # kwok, which was late, has written over the end
            self._order(0, self._exit, name)

    def _order(self, seconds, what, *arguments):
        self.orders.put((time.monotonic() + seconds, next(self.numbers), what, arguments))

    def _run(self):
        while not self.over:
            try:
                order = self.orders.get(timeout=0.2)
            except queue.Empty:
                continue
            early = order[0] - time.monotonic()
            if early > 0:
                self.orders.put(order)
                time.sleep(min(early, 0.02))
                continue
            try:
                order[2](*order[3])
            except Exception as trouble:  # pylint: disable=broad-except
                self.troubles.append(trouble)

    def _start(self, pod, job):
        with self.lock:
            again = job in self.started
            self.started.add(job)
        if again:  # as when the Job controller did not hear that the first one was created
            self._order(self.seconds, self._leave, pod, job)
            return
        item = self.work.take(job)
        with self.lock:
            if item is None:
                self.empty_handed.add(job)
            else:
                self.taken[job] = item
            self.busy.add(job)
            self.most_busy = max(self.most_busy, len(self.busy))
        self._order(self.seconds, self._finish, pod, job, item)

    def _finish(self, pod, job, item):
        if item is not None:
            self.work.done(job, item)
            with self.lock:
                self.finished[item] += 1
        with self.lock:
            self.busy.discard(job)
        self._exit(pod)

    def _leave(self, pod, job):
        """Another Pod of a Job whose first one has the item: it ends after that, and does nothing."""
        with self.lock:
            busy = job in self.busy
        if busy:
            self._order(0.2, self._leave, pod, job)
        else:
            self._exit(pod)

    def _exit(self, pod):
        try:
            self.left.add(pod)
            self.stage.patch_pod_status(pod, {"phase": "Succeeded"})
        except Exception:  # pylint: disable=broad-except
            if not self.over:
                self._order(0.3, self._exit, pod)  # the API server is away; a kubelet does not give up either

    def report(self):
        with self.lock:
            return {"taken": len(self.taken), "done": len(self.finished), "empty_handed": len(self.empty_handed), "left": self.work.left(), "most_busy": self.most_busy, "troubles": self.troubles}

    def end(self):
        self.over = True
        self.watch.end()
        for thread in self.threads:
            thread.join(5)
