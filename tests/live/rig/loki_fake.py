# SPDX-License-Identifier: Apache-2.0
"""
Not Loki: no package of it is at hand, and building it takes many times what all other tests take. A server that holds each request against what Loki's documentation says of GET /loki/api/v1/query, to the letter, and answers as it
is documented there. A request that is otherwise is kept in `wrong`, and answered with 400.
"""
import json

from .http_source import HttpSource


class LokiFake:
    """
    answers: LogQL -> the values of its series, a whole answer to give back as it is, or a function of Asked that gives one. tenants: who must say who they are, as with auth_enabled; None: nobody.
    """

    PATH = "/loki/api/v1/query"
    MEDIA = "application/json; charset=UTF-8"

    def __init__(self, answers=None, tenants=None, prefix="", login=None, tls=None):
        """prefix: of the path, as behind a gateway; login: (user, password)."""
        self.answers = dict(answers or {})
        self.tenants, self.prefix, self.login = tenants, prefix, login
        self.wrong = []
        self.source = HttpSource({prefix + self.PATH: self._route}, tls=tls)
        self.source.answer = self._answer

    @property
    def url(self):
        return self.source.url + self.prefix

    @property
    def port(self):
        return self.source.port

    def start(self):
        self.source.start()

    def end(self):
        self.source.end()

    def _refuse(self, asked, why):
        self.wrong.append((why, asked.method, asked.target, dict(asked.headers)))
        return 400, {"Content-Type": "text/plain"}, f"not as documented: {why}\n"

    def _answer(self, asked):
        if asked.path != self.prefix + self.PATH:
            self.wrong.append(("another path", asked.method, asked.target, {}))
            return 404, {"Content-Type": "text/plain; charset=utf-8"}, "404 page not found\n"
        return self._route(asked)

    def _route(self, asked):
        if asked.method != "GET" or asked.body:
            return self._refuse(asked, "a GET without a body")
        if set(asked.query) != {"query"} or asked.raw_query.count("&") or "+" in asked.raw_query or "#" in asked.target:
            return self._refuse(asked, "the one parameter query, escaped")
        if self.login and asked.basic != self.login:
            return 401, {"Content-Type": "text/plain", "WWW-Authenticate": "Basic"}, "Unauthorized\n"
        if self.tenants is not None and asked.headers.get("X-Scope-OrgID") not in self.tenants:
            return 401, {"Content-Type": "text/plain; charset=utf-8"}, "no org id\n"
        if self.tenants is None and "X-Scope-OrgID" in asked.headers:
            return self._refuse(asked, "no tenant")
        found = self.answers.get(asked.query["query"])
        if callable(found):
            return found(asked)
        if found is None:
            return 400, {"Content-Type": "text/plain; charset=utf-8"}, "parse error at line 1, col 1: syntax error: unexpected IDENTIFIER\n"
        return found if isinstance(found, tuple) else (200, {"Content-Type": self.MEDIA}, vector(*found))


def vector(*values):
    """An instant vector with its statistics, as documented."""
    stats = {"summary": {"bytesProcessedPerSecond": 0, "linesProcessedPerSecond": 0, "totalBytesProcessed": 0, "totalLinesProcessed": 0, "execTime": 0.001}, "ingester": {"totalReached": 1}, "store": {}}
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"n": str(i)}, "value": [1588889221, str(value)]} for i, value in enumerate(values)], "stats": stats}})


def lines(*texts):
    """What a query for lines gives: no number."""
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": [{"stream": {"app": "shop"}, "values": [["1568234281726420425", text] for text in texts]}], "stats": {}}})
