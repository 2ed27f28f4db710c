# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes API as the benchmark needs it: plain calls over kept connections, many at a time, and one watch. Standard library only."""
import base64
import http.client
import json
import os
import queue
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse


class Api:
    def __init__(self, kubectl, kubeconfig):
        view = subprocess.run([kubectl, "--kubeconfig", kubeconfig, "config", "view", "--raw", "--flatten", "-o", "json"], check=True, capture_output=True)
        config = json.loads(view.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        url = urllib.parse.urlsplit(cluster["server"])
        self.host, self.port = url.hostname, url.port
        self.ca_pem = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self.context = ssl.create_default_context(cadata=self.ca_pem)
        with tempfile.TemporaryDirectory() as folder:
            pair = os.path.join(folder, "pair.pem")
            with open(pair, "wb") as file:
                file.write(base64.b64decode(user["client-certificate-data"]) + b"\n" + base64.b64decode(user["client-key-data"]))
            self.context.load_cert_chain(pair)
        self.local = threading.local()

    def connect(self, timeout=120):
        return http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=timeout)

    def call(self, method, path, body=None, content_type="application/json", ok=(200, 201, 202)):
        try:
            return self.call_once(method, path, body, content_type, ok)
        except http.client.RemoteDisconnected:  # a kept connection that the server has closed meanwhile
            return self.call_once(method, path, body, content_type, ok)

    def call_once(self, method, path, body, content_type, ok):
        connection = getattr(self.local, "connection", None) or self.connect()
        self.local.connection = connection
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": content_type, "Accept": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.local.connection = None
            raise
        if ok and answer.status not in ok:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300].decode(errors='replace')}")
        return answer.status, text

    def get(self, path):
        return json.loads(self.call("GET", path)[1])

    def many(self, calls, threads=8):
        """Each of calls is (method, path, body[, content type])."""
        todo, failures = queue.SimpleQueue(), []
        for one in calls:
            todo.put(one)

        def work():
            try:
                while not todo.empty():
                    self.call(*todo.get_nowait())
            except queue.Empty:
                pass
            except Exception as failure:  # told to the caller below
                failures.append(failure)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]

    def metrics(self):
        """Sums of apiserver_request_total by (verb, group, resource, subresource)."""
        sums = {}
        for line in self.call("GET", "/metrics")[1].decode().splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels, value = line[len("apiserver_request_total{"):].rsplit("} ", 1)
            pairs = dict(pair.split("=", 1) for pair in labels.split('",') if "=" in pair)
            key = tuple(pairs.get(name, "").strip('"') for name in ("verb", "group", "resource", "subresource"))
            sums[key] = sums.get(key, 0) + float(value)
        return sums


class ReplicaWatch(threading.Thread):
    """Follows spec.replicas of all Deployments of a namespace; remembers when each was last seen to leave zero. A watch that the server ends is begun anew, and told: what happened meanwhile is seen late."""

    def __init__(self, api, namespace):
        super().__init__(daemon=True)
        self.api, self.path = api, f"/apis/apps/v1/namespaces/{namespace}/deployments"
        self.replicas, self.left_zero = {}, {}
        self.changed = threading.Condition()
        self.stopped = False
        self.begin()
        self.start()

    def begin(self):
        listed = self.api.get(self.path)
        for item in listed["items"]:
            self.note(item)
        self.connection = self.api.connect(timeout=3600)
        self.connection.request("GET", f"{self.path}?watch=1&resourceVersion={listed['metadata']['resourceVersion']}")
        self.stream = self.connection.getresponse()

    def note(self, deployment):
        now, name, replicas = time.monotonic(), deployment["metadata"]["name"], deployment["spec"].get("replicas", 1)
        with self.changed:
            if replicas > 0 and self.replicas.get(name) == 0:
                self.left_zero[name] = now
            self.replicas[name] = replicas
            self.changed.notify_all()

    def follow(self):
        try:
            for line in self.stream:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    self.note(event["object"])
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # stopped, or cut

    def run(self):
        self.follow()
        while not self.stopped:
            print("bench: the watch on Deployments ended, and is begun anew", file=sys.stderr)
            try:
                self.begin()
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
                continue
            self.follow()

    def wait(self, condition, timeout):
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self), timeout):
                raise RuntimeError("the Deployments did not get there in time")

    def stop(self):
        self.stopped = True
        try:
            self.connection.sock.shutdown(2)
        except (OSError, AttributeError):
            pass
        self.connection.close()
