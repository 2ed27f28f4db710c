# SPDX-License-Identifier: Apache-2.0
"""
Somebody who reaches the port of the webhook, without a certificate or a token, and asks for reviews of objects that are as large as they may be, over several connections at
once: a process of its own, as what else runs in the test's interpreter would have to wait for it.
"""
import http.client
import json
import ssl
import subprocess
import sys
import threading

SIZE = 3 << 20


def body(path):
    head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "kind": {"group": "keda.sh", "version": "v1alpha1", "kind": "ScaledObject"},
            "namespace": "default", "operation": "CREATE", "object": {"spec": {"triggers": ["@"]}}}}
    before, after = json.dumps(head).split('"@"')
    return (before + "{}," * ((SIZE - len(before) - len(after) - 64) // 3) + "{}" + after).encode()


def run(port, path, count, answered):
    context = ssl._create_unverified_context()  # whoever that is
    while True:
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
            while True:
                connection.request("POST", path, body=count, headers={"Content-Type": "application/json"})
                connection.getresponse().read()
                answered()
        except OSError:
            connection.close()
        except http.client.HTTPException:
            connection.close()


def main(port, path, connections):
    lock, number = threading.Lock(), [0]

    def answered():
        with lock:
            number[0] += 1
            print(number[0], flush=True)

    text = body(path)
    threads = [threading.Thread(target=run, args=(int(port), path, text, answered), daemon=True) for _ in range(int(connections))]
    for thread in threads:
        thread.start()
    sys.stdin.read()


class Reviewer:
    def __init__(self, daemon, path, connections=8):
        self.popen = subprocess.Popen([sys.executable, __file__, str(daemon.port), path, str(connections)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.popen.stdout:
            self.answers = int(line)

    def end(self):
        self.popen.kill()
        self.popen.wait()
        self.reader.join(10)


if __name__ == "__main__":
    main(*sys.argv[1:])
