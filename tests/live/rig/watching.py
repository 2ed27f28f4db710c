# SPDX-License-Identifier: Apache-2.0
"""Watches of the API server, kept up over its restarts."""
import contextlib
import json
import threading
import time

import urllib3


class Watch(threading.Thread):
    """Calls on_event(type, object) in a thread of its own: SEEN for what a list has, then ADDED, MODIFIED, DELETED. A watch that breaks goes on where it was; only when the API server no longer knows that version is there another list."""

    def __init__(self, cluster, path, selector, on_event):
        super().__init__(daemon=True)
        self.url, self.selector, self.on_event = cluster.server + path, selector, on_event
        self.pool = urllib3.PoolManager(ca_certs=cluster.pki("ca.crt"), cert_file=cluster.pki("admin.crt"), key_file=cluster.pki("admin.key"), retries=False)
        self.version = None
        self.lists = 0       # more than one: something may have come and gone unseen
        self.broken = None   # what on_event failed with; a test must not go on then
        self.stream = None
        self.over = False
        self._list()
        self.start()

    def _list(self):
        answer = self.pool.request("GET", self.url, fields={"labelSelector": self.selector}, timeout=10)
        if answer.status != 200:
            raise OSError(answer.data)
        found = json.loads(answer.data)
        for one in found["items"]:
            self.on_event("SEEN", one)
        self.version = found["metadata"]["resourceVersion"]
        self.lists += 1

    def run(self):
        while not self.over:
            try:
                if self.version is None:
                    self._list()
                self._follow()
            except (OSError, ValueError, AttributeError, urllib3.exceptions.HTTPError):
                time.sleep(0.1)  # the API server is away, or we are at the end
            except Exception as error:  # pylint: disable=broad-except
                self.broken = error
                raise

    def _follow(self):
        fields = {"watch": "1", "labelSelector": self.selector, "resourceVersion": self.version, "timeoutSeconds": "600", "allowWatchBookmarks": "1"}
        self.stream = self.pool.request("GET", self.url, fields=fields, preload_content=False, timeout=urllib3.Timeout(connect=5, read=None))
        if self.stream.status != 200:
            if self.stream.status == 410:
                self.version = None
            raise OSError(self.stream.status)
        for line in self.stream:
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.version = None
                return
            self.version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self.on_event(event["type"], event["object"])

    def end(self):
        self.over = True
        with contextlib.suppress(AttributeError, OSError):
            self.stream.shutdown()
        self.join(5)
