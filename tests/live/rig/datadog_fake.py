# SPDX-License-Identifier: Apache-2.0
"""
A fake: there is no Datadog to run here. It serves the one request of the query API that the trigger makes, and the one of the Cluster Agent's external metrics server, byte by byte as Datadog and Kubernetes document them; what
differs is refused with 400 and kept in `wrong`. It answers as they do to a wrong key, to a query that cannot be read, to one too many, and to a DatadogMetric that is not valid. TLS, as both have it: "localhost:port" is its site.
"""
import json
import re
import time
import urllib.parse

from . import pki
from .http_source import HttpSource

QUERY = re.compile(r"/api/v1/query\?from=([0-9]+)&to=([0-9]+)&query=([A-Za-z0-9._~%-]+)")
METRIC = re.compile(r"/apis/external\.metrics\.k8s\.io/v1beta1/namespaces/([a-z0-9.-]+)/datadogmetric@([a-z0-9.-]+):([a-z0-9.-]+)")
HEADERS = {"host", "accept", "user-agent"}


def of_series(*series):
    """What the query API says of them, each a list of values, the newest last."""
    now = int(time.time() * 1000)
    return json.dumps({"status": "ok", "res_type": "time_series", "resp_version": 1, "from_date": now - 90000, "to_date": now, "error": "", "message": "", "group_by": [],
                       "series": [{"metric": "trace.redis.hits", "display_name": "trace.redis.hits", "unit": None, "interval": 10, "scope": "env:production", "tag_set": [], "length": len(points), "aggr": "sum", "attributes": {},
                                   "pointlist": [[float(now - 10000 * (len(points) - i)), value] for i, value in enumerate(points)]} for points in series]})


class Datadog(HttpSource):
    """series: query -> series; metrics: (namespace, name) -> a value, or a text that says what is wrong with it."""

    def __init__(self, directory, keys=("api-key-1", "app-key-1"), token=None):
        self.keys, self.token = keys, token
        self.series, self.metrics = {}, {}
        self.windows = []     # of each query: (query, seconds, how long ago it ended)
        self.limited = 0      # seconds until there may be another query; 0: none was too many
        self.wrong = []       # requests that differ from what is documented
        self.authority = pki.authority(directory, "datadog-ca")
        super().__init__(tls=pki.certificate(directory, "datadog", self.authority, "datadog", names=("api.localhost", "agent.localhost")))

    @property
    def site(self):
        return f"localhost:{self.port}"

    def differs(self, asked, host, more):
        names = [name.lower() for name in asked.headers]
        if asked.method == "GET" and asked.body == b"" and sorted(names) == sorted(HEADERS | more) and asked.headers["Host"] == f"{host}.{self.site}" and asked.headers["Accept"] == "application/json":
            return False
        self.wrong.append(f"{asked.method} {asked.target} {asked.headers.items()}")
        return True

    def answer(self, asked):
        found = QUERY.fullmatch(asked.target)
        if found:
            return self.query(asked, int(found[1]), int(found[2]), urllib.parse.unquote(found[3]))
        found = METRIC.fullmatch(asked.target)
        if found:
            return self.metric(asked, found)
        self.wrong.append(f"{asked.method} {asked.target}")
        return (400, {}, "{}")

    def query(self, asked, begin, end, query):
        if self.differs(asked, "api", {"dd-api-key", "dd-application-key"}):
            return (400, {}, '{"errors":["Bad Request"]}')
        if (asked.headers["DD-API-KEY"], asked.headers["DD-APPLICATION-KEY"]) != self.keys:
            return (403, {}, '{"errors":["Forbidden"]}')
        limits = {"X-RateLimit-Limit": "300", "X-RateLimit-Period": "3600", "X-RateLimit-Name": "batch_query", "X-RateLimit-Remaining": "0" if self.limited else "299", "X-RateLimit-Reset": str(self.limited or 3000)}
        if self.limited:
            return (429, limits, '{"errors":["Rate limit of 300 requests in 3600 seconds reached. Please try again later."]}')
        self.windows.append((query, end - begin, round(time.time()) - end))
        if query not in self.series:
            return (400, limits, json.dumps({"errors": [f"Error parsing query: unable to parse {query}: Rule 'scope_expr' didn't match"]}))
        return (200, limits, of_series(*self.series[query]))

    def metric(self, asked, found):
        if self.differs(asked, "agent", {"authorization"} if self.token else set()) or found[1] != found[2]:
            return (400, {}, "{}")
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        if self.token and asked.bearer != self.token:
            return (401, {}, json.dumps({**status, "message": "Unauthorized", "reason": "Unauthorized", "code": 401}))
        value = self.metrics.get((found[2], found[3]), "DatadogMetric not found")
        if isinstance(value, str) and not value.removesuffix("m").isdigit():
            return (422, {}, json.dumps({**status, "message": value, "code": 422}))
        return (200, {}, json.dumps({"kind": "ExternalMetricValueList", "apiVersion": "external.metrics.k8s.io/v1beta1", "metadata": {}, "items": [
            {"metricName": f"datadogmetric@{found[2]}:{found[3]}", "metricLabels": None, "timestamp": "2026-11-26T18:00:00Z", "value": value}]}))
