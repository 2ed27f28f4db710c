# SPDX-License-Identifier: Apache-2.0
"""
A fake: there is no Azure DevOps to run here. It serves the two requests of the agent pools' API that the trigger makes, byte by byte as Microsoft documents them, refuses what differs with 400, and answers as the service does
to who has no token, to a pool that does not exist, when it throttles, and when it delays.
"""
import base64
import json

from .http_source import HttpSource

NOT_FOUND = {"$id": "1", "message": "TF400898: An Internal Error Occurred.", "typeName": "Microsoft.TeamFoundation.DistributedTask.WebApi.TaskAgentPoolNotFoundException", "errorCode": 0}


def job(number, **more):
    return {"requestId": number, "queueTime": "2026-11-25T07:00:00.123Z", "serviceOwner": "00025394-6065-48ca-87d9-7f5672854ef7", "poolId": 7, "planType": "Build", "demands": ["Agent.Version -gtVersion 2.182.1"], **more}


class AzureDevops(HttpSource):
    def __init__(self, token="change-me", tls=None):
        self.token, self.pools, self.jobs = token, {"linux": 7}, {7: []}
        self.throttled = 0   # seconds; 0: not
        self.delayed = 0     # the same, where it answers all the same
        self.wrong = []      # requests that differ from what is documented
        super().__init__(tls=tls)

    def answer(self, asked):
        if asked.headers.get("Authorization") != "Basic " + base64.b64encode(f":{self.token}".encode()).decode():
            return (203, {"Content-Type": "text/html; charset=utf-8"}, "<html><title>Azure DevOps Services | Sign In</title></html>")
        if self.throttled:
            return (429, {"Retry-After": str(self.throttled)}, json.dumps({"message": "TF400733: The request has been canceled: Request was blocked due to exceeding usage of resource 'Concurrency' in namespace 'User'."}))
        root = "/shop/_apis/distributedtask/pools"
        if asked.method == "GET" and asked.path == root and list(asked.query) == ["poolName"]:
            found = [{"id": number, "name": name} for name, number in self.pools.items() if name == asked.query["poolName"]]
            return (200, {}, json.dumps({"count": len(found), "value": found}))
        for number, jobs in self.jobs.items():
            if asked.method == "GET" and asked.path == f"{root}/{number}/jobrequests" and self.is_list(asked.raw_query):
                wish = {"Retry-After": str(self.delayed), "X-RateLimit-Delay": "0.5", "X-RateLimit-Remaining": "0"} if self.delayed else {}
                return (200, wish, json.dumps({"count": len(jobs), "value": self.listed(jobs, asked.raw_query)}))
        if asked.path.startswith(root + "/") and asked.path.endswith("/jobrequests"):
            return (404, {}, json.dumps(NOT_FOUND))
        self.wrong.append(f"{asked.method} {asked.target}")
        return (400, {}, "{}")

    @staticmethod
    def is_list(query):
        return query in ("", "completedRequestCount=0") or (query.startswith("$top=") and query[5:].isdigit())

    @staticmethod
    def listed(jobs, query):
        if query == "completedRequestCount=0":
            return [one for one in jobs if "result" not in one]
        return jobs[:int(query[5:])] if query else jobs
