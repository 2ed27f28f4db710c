# SPDX-License-Identifier: Apache-2.0
"""
An external scaler in official grpcio, as a process of its own that a test may kill and freeze. What it says stands in a file that the test rewrites; what it was asked it writes into another. Its messages come from
src/scalers/external/externalscaler.proto, by way of the descriptor that protoc-c makes of it.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

SERVICE = "externalscaler.ExternalScaler"
PROTO = pathlib.Path(__file__).resolve().parents[3] / "src" / "scalers" / "external" / "externalscaler.proto"


class GrpcScaler:
    """says(specs=..., values=..., ...) changes what it says from now on."""

    def __init__(self, directory, name="scaler", tls=None, client_ca=None, start=True):
        """tls: a pki.Pair; client_ca: whose client certificates are asked for."""
        from .process import free_port
        self.name = name
        self.dir = pathlib.Path(directory) / name
        self.dir.mkdir()
        self.port = free_port()
        self.tls, self.client_ca = tls, client_ca
        self.process = None
        self.state = {"specs": [["queue", 5, 0]], "values": {"queue": [0, 0]}, "active": False, "fail": {}, "sleep": {}, "pushes": [], "cuts": 0, "ends": 0}
        self.says()
        self.descriptor = self.dir / "descriptor"
        program = shutil.which("protoc-c")
        assert program, "protoc-c is missing: contrib/install-deps.sh installs it"
        subprocess.run([program, f"--proto_path={PROTO.parent}", f"--descriptor_set_out={self.descriptor}", PROTO.name], check=True)
        if start:
            self.start()

    @property
    def address(self):
        return f"localhost:{self.port}"

    def start(self):
        """Also again, on the same port."""
        from .process import Process
        from .waiting import eventually
        tls = [self.tls.cert, self.tls.key, *([self.client_ca] if self.client_ca else [])] if self.tls else []
        self.process = Process(self.name, [sys.executable, __file__, str(self.dir), str(self.port), *tls], str(self.dir / "log"))
        eventually(self.listens, every=0.02)

    def listens(self):
        with socket.create_connection(("127.0.0.1", self.port), 1):
            return True

    def says(self, **changes):
        self.state.update(changes)
        path = self.dir / "state"
        (self.dir / "state.new").write_text(json.dumps(self.state))
        os.replace(self.dir / "state.new", path)

    def push(self, *results):
        self.says(pushes=[*self.state["pushes"], *results])

    def asked(self, method=None, since=0.0):
        """The requests so far: method, name, namespace, metadata, metric, peer, time."""
        path = self.dir / "asked"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [one for one in lines if method in (None, one["method"]) and one["time"] >= since]

    def kill(self):
        self.process.kill()

    def freeze(self):
        self.process.freeze()

    def thaw(self):
        self.process.thaw()

    def end(self):
        if self.process:
            with contextlib.suppress(AssertionError):
                if self.process.alive():
                    self.process.thaw()
            self.process.kill()


# --- the process --------------------------------------------------------------------------------------------------------------


class Service:
    def __init__(self, directory):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        self.dir = pathlib.Path(directory)
        files = descriptor_pb2.FileDescriptorSet.FromString((self.dir / "descriptor").read_bytes())
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            pool.Add(file)
        names = ("ScaledObjectRef", "IsActiveResponse", "GetMetricSpecResponse", "MetricSpec", "GetMetricsRequest", "GetMetricsResponse", "MetricValue")
        self.types = {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"externalscaler.{name}")) for name in names}
        self.log = open(self.dir / "asked", "a", encoding="utf-8", buffering=1)

    def state(self):
        return json.loads((self.dir / "state").read_text())

    def _begin(self, method, reference, context, metric=None):
        import grpc
        state = self.state()
        self.log.write(json.dumps({"method": method, "name": reference.name, "namespace": reference.namespace, "metadata": dict(reference.scalerMetadata), "metric": metric,
                                   "peer": context.peer(), "time": time.time(), "left": context.time_remaining()}) + "\n")
        time.sleep(state["sleep"].get(method, 0))
        if method in state["fail"]:
            code, text = state["fail"][method]
            context.abort(getattr(grpc.StatusCode, code), text)
        return state

    def is_active(self, request, context):
        return self.types["IsActiveResponse"](result=self._begin("IsActive", request, context)["active"])

    def get_metric_spec(self, request, context):
        state = self._begin("GetMetricSpec", request, context)
        specs = [self.types["MetricSpec"](metricName=name, targetSize=size, targetSizeFloat=exact) for name, size, exact in state["specs"]]
        return self.types["GetMetricSpecResponse"](metricSpecs=specs)

    def get_metrics(self, request, context):
        values = self._begin("GetMetrics", request.scaledObjectRef, context, request.metricName)["values"].get(request.metricName)
        return self.types["GetMetricsResponse"](metricValues=[] if values is None else [self.types["MetricValue"](metricName=request.metricName, metricValue=values[0], metricValueFloat=values[1])])

    def stream_is_active(self, request, context):
        import grpc
        first = self._begin("StreamIsActive", request, context)
        done = len(first["pushes"])
        while context.is_active():
            state = self.state()
            for result in state["pushes"][done:]:
                yield self.types["IsActiveResponse"](result=result)
            done = len(state["pushes"])
            if state["cuts"] != first["cuts"]:
                context.abort(grpc.StatusCode.UNAVAILABLE, "cut")
            if state["ends"] != first["ends"]:
                return
            time.sleep(0.005)

    def handler(self):
        import grpc
        reference, unary = self.types["ScaledObjectRef"], grpc.unary_unary_rpc_method_handler
        text = lambda message: message.SerializeToString()
        return grpc.method_handlers_generic_handler(SERVICE, {
            "IsActive": unary(self.is_active, reference.FromString, text),
            "GetMetricSpec": unary(self.get_metric_spec, reference.FromString, text),
            "GetMetrics": unary(self.get_metrics, self.types["GetMetricsRequest"].FromString, text),
            "StreamIsActive": grpc.unary_stream_rpc_method_handler(self.stream_is_active, reference.FromString, text),
        })


def main(directory, port, cert=None, key=None, client_ca=None):
    import grpc
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(64), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers([Service(directory).handler()])
    if cert:
        pair = (pathlib.Path(key).read_bytes(), pathlib.Path(cert).read_bytes())
        credentials = grpc.ssl_server_credentials([pair], pathlib.Path(client_ca).read_bytes() if client_ca else None, bool(client_ca))
        server.add_secure_port(f"127.0.0.1:{port}", credentials)
    else:
        server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
