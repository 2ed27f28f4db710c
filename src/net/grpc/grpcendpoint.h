/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCENDPOINT_H
#define NET_GRPC_GRPCENDPOINT_H

/*
 * An endpoint of net/grpc: address and certificates. Immutable, reference-counted. Other modules
 * read only key and name ("10.0.0.7:50051") of base.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/endpoint.h"
#include "net/http/httpc.h"

struct grpcendpoint {
	struct endpoint base;
	char *url;                  /* "https://host:port" */
	struct httpc_server server; /* made from the TLS settings */
};

struct grpcendpoint_config {    /* texts are copied */
	const char *namespace_; /* of its trigger (net/endpoint.h); NULL: none */
	/*
	 * host:port, dns:host:port, dns:///host:port or [v6]:port; the default port is 443. Other
	 * gRPC schemes are rejected, unix: among them, as the author of an object must not reach
	 * sockets of this host
	 */
	const char *target;
	bool tls; /* else HTTP/2 without TLS, with prior knowledge */
	/* Used with tls only. The CA is trusted in addition to the system's roots. */
	struct tls_client_config tls_config;
};
/* Returns one reference; NULL with ERR_INVALID. */
struct grpcendpoint *grpcendpoint_new(const struct grpcendpoint_config *config, struct err *err);

#endif
