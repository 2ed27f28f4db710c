# SPDX-License-Identifier: Apache-2.0
"""The process that grpc_scaler.py starts: grpc_service.py DIRECTORY PORT [CERT KEY [CLIENT_CA]]."""
import concurrent.futures
import json
import pathlib
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "externalscaler.ExternalScaler"


class Service:
    def __init__(self, directory):
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
        reference, unary = self.types["ScaledObjectRef"], grpc.unary_unary_rpc_method_handler
        text = lambda message: message.SerializeToString()
        return grpc.method_handlers_generic_handler(SERVICE, {
            "IsActive": unary(self.is_active, reference.FromString, text),
            "GetMetricSpec": unary(self.get_metric_spec, reference.FromString, text),
            "GetMetrics": unary(self.get_metrics, self.types["GetMetricsRequest"].FromString, text),
            "StreamIsActive": grpc.unary_stream_rpc_method_handler(self.stream_is_active, reference.FromString, text),
        })


def main(directory, port, cert=None, key=None, client_ca=None):
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
