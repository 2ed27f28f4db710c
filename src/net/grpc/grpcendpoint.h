/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCENDPOINT_H
#define NET_GRPC_GRPCENDPOINT_H

/*
 * An endpoint of net/grpc: where, and by which certificates. Shared and counted. Others than
 * net/grpc read of it base's key and name ("10.0.0.7:50051").
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/endpoint.h"
#include "net/http/httpc.h"

struct grpcendpoint {
	struct endpoint base;
	char *url;                  /* "https://host:port" */
	struct httpc_server server; /* of the TLS material */
};

struct grpcendpoint_config {    /* borrowed texts, copied */
	const char *namespace_; /* whose it is (net/endpoint.h); NULL: nobody's in particular */
	/*
	 * host:port, dns:host:port, dns:///host:port, [v6]:port; without a port 443. Other schemes
	 * of gRPC are refused by name: among them unix:, as whoever writes an object has no
	 * business with this host's sockets
	 */
	const char *target;
	bool tls;                       /* else HTTP/2 in the clear, from the first byte */
	bool insecure;                  /* the server's certificate is not looked at */
	const char *ca_pem;             /* trusted besides the system's roots; NULL for none */
	const char *cert_pem, *key_pem; /* NULL for none */
};
/* counted; NULL: ERR_INVALID */
struct grpcendpoint *grpcendpoint_new(const struct grpcendpoint_config *config, struct err *err);
struct grpcendpoint *grpcendpoint_ref(struct grpcendpoint *e);
void grpcendpoint_unref(struct grpcendpoint *e); /* NULL is fine */

#endif
