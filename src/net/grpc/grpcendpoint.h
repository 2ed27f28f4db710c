/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCENDPOINT_H
#define NET_GRPC_GRPCENDPOINT_H

/*
 * What net/grpc knows of an endpoint: where, and by which certificates. The public functions are in
 * net/grpc/grpc.h.
 */

#include <stdbool.h>

#include "net/endpoint.h"
#include "net/grpc/grpc.h"
#include "net/http/httpc.h"

struct grpc_endpoint {
	struct endpoint base;
	char *url;                  /* "https://host:port" */
	struct httpc_server server; /* of the TLS material */
};

#endif
