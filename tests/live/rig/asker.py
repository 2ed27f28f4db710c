# SPDX-License-Identifier: Apache-2.0
"""
Asks for a metric, or something of the API server's own, again and again, as the HPA controller does, and says how long each answer took: a process of its own, as what else runs in the
test's interpreter would be in the times.
"""
import http.client
import json
import ssl
import subprocess
import sys
import time
import urllib.parse


def main(server, ca, cert, key, path, headers, seconds):
    where = urllib.parse.urlsplit(server)
    context = ssl.create_default_context(cafile=ca)
    context.load_cert_chain(cert, key)
    connection = http.client.HTTPSConnection(where.hostname, where.port, context=context, timeout=30)
    took, values = [], set()
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        begun = time.monotonic()
        connection.putrequest("GET", path)
        for name, value in json.loads(headers):
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        took.append(time.monotonic() - begun)
        items = json.loads(body).get("items") if answer.status == 200 else None
        values.add(items[0]["value"] if items else f"{answer.status}: {body[:200]!r}")
    json.dump({"took": sorted(took), "values": sorted(values)}, sys.stdout)


class Asker:
    def __init__(self, cluster, path, seconds):
        headers = [("Accept", "application/json"), *cluster.hpa_controller_headers()]
        self.popen = subprocess.Popen([sys.executable, __file__, cluster.server, cluster.pki("ca.crt"), cluster.pki("admin.crt"), cluster.pki("admin.key"), path, json.dumps(headers), str(seconds)],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def result(self):
        """Seconds, the shortest first, and the values that were answered."""
        said, _ = self.popen.communicate(timeout=120)
        assert self.popen.returncode == 0, said
        answer = json.loads(said)
        return answer["took"], answer["values"]

    def end(self):
        self.popen.kill()
        self.popen.wait()


def percentile(took, percent):
    return took[min(len(took) - 1, len(took) * percent // 100)]


if __name__ == "__main__":
    main(*sys.argv[1:])
