# SPDX-License-Identifier: Apache-2.0
"""A way to the API server, as its administrator, on which the test changes answers that the API server itself cannot be made to give."""
import http.server
import socketserver
import threading

import yaml


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def _pass(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        answer = self.server.cluster.request(self.path, self.command, text=body or None)
        headers = {"Content-Type": answer.headers["Content-Type"], "Date": answer.headers["Date"]}
        text = self.server.change(self.path, answer.text, headers).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Content-Length": len(text)}.items())
        self.wfile.write(f"HTTP/1.1 {answer.status} It\r\n{lines}\r\n".encode() + text)  # in one piece: two wait for each other

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _pass

    def log_message(self, *arguments):
        pass


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class ApiProxy:
    """change(path, text, headers) returns the text to answer, and may change the headers."""

    def __init__(self, cluster, change):
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.cluster, self.server.change = cluster, change
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def kubeconfig(self, path):
        path.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "it", "users": [{"name": "it", "user": {}}],
            "clusters": [{"name": "it", "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        return path

    def end(self):
        self.server.shutdown()
        self.server.server_close()
