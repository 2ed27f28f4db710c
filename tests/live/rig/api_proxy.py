# SPDX-License-Identifier: Apache-2.0
"""Ways to the API server: as its administrator, on which the test changes answers that the API server itself cannot be made to give; and as whoever asks, with faults."""
import contextlib
import http.client
import http.server
import json
import socket
import socketserver
import ssl
import threading
import time

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


# --- with faults ---

HOUR = "3600"  # what a proxy before an API server asks for
REFUSALS = {  # status, reason, Retry-After
    "unauthorized": (401, "Unauthorized", None), "forbidden": (403, "Forbidden", None), "gone": (410, "Expired", None),
    "too many": (429, "TooManyRequests", HOUR), "error": (500, "InternalError", None), "unavailable": (503, "ServiceUnavailable", HOUR),
}


class _FaultyHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600

    def _refuse(self, status, reason, retry_after):
        text = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status, "message": f"the proxy says {reason}"}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(text)

    def _end(self):
        """As a cut line: no clean end."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _freeze(self):
        """Everything is acknowledged, and nothing answered, also when the fault is over."""
        self.server.over.wait()
        self._end()

    def _chunk(self, piece):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def _hand_on(self, answer):
        """The answer as it comes, until a fault strikes it."""
        self.send_response(answer.status)
        for name in ("Content-Type", "Retry-After"):
            if answer.headers[name]:
                self.send_header(name, answer.headers[name])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while piece := answer.read1(65536):
            if self.server.strikes("cut", self):
                self._chunk(piece[:len(piece) // 2 + 1])
                self._end()
                return
            if self.server.strikes("frozen", self):
                self._freeze()
                return
            if self.server.strikes("drip", self):
                for i in range(0, len(piece), 512):
                    self._chunk(piece[i:i + 512])
                    time.sleep(0.005)
            else:
                self._chunk(piece)
        self.wfile.write(b"0\r\n\r\n")

    def _pass(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length) if length else None
        for name, refusal in REFUSALS.items():
            if self.server.strikes(name, self):
                self._refuse(*refusal)
                return
        if self.server.strikes("frozen", self):
            self._freeze()
            return
        upstream = self.server.connect()
        try:
            upstream.request(self.command, self.path, body, {name: self.headers[name] for name in ("Authorization", "Accept", "Content-Type", "User-Agent") if self.headers[name]})
            answer = upstream.getresponse()
            if self.server.strikes("lost", self):
                answer.read()
                self._end()
            else:
                self._hand_on(answer)
        except (OSError, http.client.HTTPException, ValueError):
            self._end()
        finally:
            self.server.disconnect(upstream)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _pass

    def log_message(self, *arguments):
        pass


class _FaultyServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # connections are cut here

    def connect(self):
        host, _, port = self.target.removeprefix("https://").rpartition(":")
        upstream = http.client.HTTPSConnection(host, int(port), context=self.context, timeout=600)
        with self.lock:
            self.upstreams.add(upstream)
        return upstream

    def disconnect(self, upstream):
        with self.lock:
            self.upstreams.discard(upstream)
        upstream.close()

    def strikes(self, fault, handler):
        """Whether this fault holds for this request, which is counted then."""
        is_write = handler.command != "GET"
        is_list = "watch=1" in handler.path or "limit=" in handler.path
        mine = {"gone": is_list, "lost": is_write, "cut": not is_write}.get(fault, True)
        with self.lock:
            if self.fault != fault or not mine:
                return False
            self.struck += 1
        return True


class FaultyApi:
    """A way to the API server that has one fault at a time, or none. It speaks HTTP/1.1 in the clear, with whatever credentials are sent. A fault holds for all that is asked, but:

    gone    for lists and watches alone
    lost    for writes: they are carried out, and their answers dropped
    cut     for what is read: a line of a watch, or a list, ends in its middle, and the connection with it
    frozen  what it has met stays silent for ever, also when the fault is over
    """

    FAULTS = (*REFUSALS, "lost", "cut", "drip", "frozen")

    def __init__(self, cluster):
        self.server = _FaultyServer(("127.0.0.1", 0), _FaultyHandler)
        self.server.target, self.server.context = cluster.server, ssl.create_default_context(cafile=cluster.pki("ca.crt"))
        self.server.lock, self.server.upstreams, self.server.over = threading.Lock(), set(), threading.Event()
        self.server.fault, self.server.struck = None, 0
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def begin(self, fault):
        """What is under way is broken off where the fault would not meet it otherwise."""
        assert fault in self.FAULTS
        with self.server.lock:
            self.server.fault, self.server.struck = fault, 0
            if fault in REFUSALS:
                self._break_off()

    def _break_off(self):
        for upstream in self.server.upstreams:
            with contextlib.suppress(OSError, AttributeError):
                upstream.sock.shutdown(socket.SHUT_RDWR)

    def struck(self):
        """How many requests the fault has met since it began."""
        return self.server.struck

    def heal(self):
        with self.server.lock:
            self.server.fault = None

    def end(self):
        self.heal()
        self.server.over.set()
        self.server.shutdown()
        self.server.server_close()
        with self.server.lock:
            self._break_off()
