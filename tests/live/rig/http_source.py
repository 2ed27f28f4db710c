# SPDX-License-Identifier: Apache-2.0
"""
An HTTP server that is whatever a test needs: answers by path, remembers what was asked and over how many connections, and checks credentials: a token server (OAuth 2 client credentials) and AWS signatures are here, too.
"""
import base64
import contextlib
import datetime
import hashlib
import hmac
import http.server
import json
import socket
import socketserver
import ssl
import threading
import time
import urllib.parse


class Asked:
    """One request as it came."""

    def __init__(self, handler, body):
        self.method = handler.command
        self.target = handler.path
        self.path, _, self.raw_query = handler.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(self.raw_query, keep_blank_values=True))
        self.headers = handler.headers
        self.body = body
        self.form = dict(urllib.parse.parse_qsl(body.decode(errors="replace")))
        self.connection = handler.number
        self.time = time.monotonic()
        self.wfile = handler.wfile       # for an answer that http.server would not send
        self.client = handler.client_name

    @property
    def basic(self):
        """(user, password), or None."""
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        return tuple(base64.b64decode(value).decode().split(":", 1)) if kind == "Basic" else None

    @property
    def bearer(self):
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        return value if kind == "Bearer" else None


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    number = 0
    client_name = None

    def setup(self):
        self.number = self.server.source.count()
        super().setup()
        if isinstance(self.connection, ssl.SSLSocket):
            certificate = self.connection.getpeercert()
            self.client_name = dict(pair[0] for pair in certificate["subject"])["commonName"] if certificate else None

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()
        self.server.source.open -= 1

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()

    def _answer(self):
        asked = Asked(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.source.asked.append(asked)
        answer = self.server.source.answer(asked)
        if answer is None:               # it has been written already, or never will be
            self.close_connection = True
            return
        status, headers, body = answer
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = _answer

    def log_message(self, *arguments):
        pass


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass

    def finish_request(self, request, client_address):
        """The handshake in the connection's own thread."""
        if self.source.context:
            try:
                request.settimeout(10)
                request = self.source.context.wrap_socket(request, server_side=True)
            except OSError as error:
                self.source.handshakes_failed.append(str(error))
                return
        self.RequestHandlerClass(request, client_address, self)
        if self.source.context:          # socketserver closes the one that was wrapped
            with contextlib.suppress(OSError):
                request.close()


class HttpSource:
    """
    routes: path -> what is answered: a text (200, JSON), (status, headers, body), or a function of Asked that gives one of these, or None when it has written to asked.wfile itself or wants the connection closed.
    tls: a pki.Pair; client_ca: a path, then a certificate is required.
    """

    def __init__(self, routes=None, tls=None, client_ca=None, port=0, host="127.0.0.1"):
        self.routes = dict(routes or {})
        self.asked, self.handshakes_failed = [], []
        self.accepted = self.open = 0
        self.lock = threading.Lock()
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(tls.cert, tls.key)
            if client_ca:
                self.context.load_verify_locations(client_ca)
                self.context.verify_mode = ssl.CERT_REQUIRED
        self.server = None
        self.port = port
        self.host = host
        self.start()

    def start(self):
        """Also again, on the same port, after end."""
        self.server = _Server((self.host, self.port), _Handler)
        self.server.source = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def count(self):
        with self.lock:
            self.accepted += 1
            self.open += 1
            return self.accepted

    def answer(self, asked):
        route = self.routes.get(asked.path, (404, {}, "{}"))
        answer = route(asked) if callable(route) else route
        return (200, {}, answer) if isinstance(answer, (str, bytes)) else answer

    @property
    def url(self):
        return f"{'https' if self.context else 'http'}://{'localhost' if self.context else self.host}:{self.port}"

    def to(self, path):
        """What came for a path."""
        return [asked for asked in list(self.asked) if asked.path == path]


def own_address(family=socket.AF_INET, towards="198.51.100.1"):
    """Of this machine, not loopback: the API server refuses that in EndpointSlices. No packet is sent. None: it has none."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((towards, 9))
            return probe.getsockname()[0]
        except OSError:
            return None


def vector(*values):
    """An instant vector as Prometheus writes it."""
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"n": str(i)}, "value": [1700000000, str(v)]} for i, v in enumerate(values)]}})


def drip(asked, text="HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", every=0.1):
    """A byte now and then, without end."""
    with contextlib.suppress(OSError):
        for byte in text.encode() + b"x" * 100000:
            asked.wfile.write(bytes([byte]))
            time.sleep(every)


def half(asked):
    """Less than it said, and closes."""
    asked.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n" + vector(7).encode()[:40])


def giant(asked):
    """64 MB of JSON."""
    with contextlib.suppress(OSError):
        asked.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 67108864\r\n\r\n")
        for _ in range(1024):
            asked.wfile.write(b"[" * 65536)


class TokenServer:
    """OAuth 2 client credentials: give its answer as a route. life: seconds, as it says; accepts: "header", "form" or both."""

    def __init__(self, client="client", secret="client-secret", life=3600, accepts="header form"):
        self.client, self.secret, self.life, self.accepts = client, secret, life, accepts
        self.given, self.good, self.asked = 0, set(), []

    def __call__(self, asked):
        self.asked.append(asked)
        form = asked.form
        who = asked.basic if "header" in self.accepts and asked.basic else (form.get("client_id"), form.get("client_secret")) if "form" in self.accepts else None
        if asked.method != "POST" or form.get("grant_type") != "client_credentials":
            return (400, {}, '{"error":"invalid_request"}')
        if who != (self.client, self.secret):
            return (401, {}, json.dumps({"error": "invalid_client", "error_description": f"not {who}"}))
        self.given += 1
        token = f"token-{self.given}"
        self.good.add(token)
        return json.dumps({"access_token": token, "token_type": "Bearer", **({"expires_in": self.life} if self.life else {})})

    def revoke(self):
        self.good.clear()

    def guard(self, answer):
        """A route that wants one of its tokens."""
        return lambda asked: answer if asked.bearer in self.good else (401, {}, "{}")


def sigv4(method, path, raw_query, headers, body, stamp, region, service, secret_key):
    """The signature over these headers, and what was signed."""
    quote = lambda text: urllib.parse.quote(text, safe="-_.~")
    signed = sorted(headers)
    pairs = sorted((quote(k), quote(v)) for k, v in urllib.parse.parse_qsl(raw_query, keep_blank_values=True))
    canonical = "\n".join([method, urllib.parse.quote(path, safe="/-_.~"), "&".join(f"{k}={v}" for k, v in pairs),
                           *(f"{name}:{' '.join(headers[name].split())}" for name in signed), "", ";".join(signed), hashlib.sha256(body).hexdigest()])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, f"{stamp[:8]}/{region}/{service}/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret_key}".encode()
    for piece in (stamp[:8], region, service, "aws4_request"):
        key = hmac.new(key, piece.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest(), canonical


def sigv4_wrong(asked, region, service, key_id, secret_key):
    """What is wrong with a request's AWS signature (version 4), by Amazon's description of it; None when nothing is."""
    scheme, _, rest = asked.headers.get("Authorization", "").partition(" ")
    if scheme != "AWS4-HMAC-SHA256":
        return f"scheme {scheme!r}"
    parts = dict(piece.strip().split("=", 1) for piece in rest.split(","))
    stamp = asked.headers.get("X-Amz-Date", "")
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    if parts["Credential"] != f"{key_id}/{scope}":
        return f"credential {parts['Credential']}"
    age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    if abs(age.total_seconds()) > 300:
        return f"date {stamp}"
    signed = parts["SignedHeaders"].split(";")
    if signed != sorted(signed) or "host" not in signed or "x-amz-date" not in signed or any(name.startswith("x-amz-") and name not in signed for name in map(str.lower, asked.headers)):
        return f"signed headers {signed}"
    expected, canonical = sigv4(asked.method, asked.path, asked.raw_query, {name: asked.headers.get(name, "") for name in signed}, asked.body, stamp, region, service, secret_key)
    return None if hmac.compare_digest(expected, parts["Signature"]) else f"signature of {canonical!r}"
