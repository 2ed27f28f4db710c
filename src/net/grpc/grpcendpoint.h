/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCENDPOINT_H
#define NET_GRPC_GRPCENDPOINT_H

/* What net/grpc knows of an endpoint: where, and by which certificates. The public functions are in net/grpc/grpc.h. */

#include <stdbool.h>

#include "net/grpc/grpc.h"
#include "net/http/httpc.h"

struct grpc_endpoint {
	unsigned count; /* of owners */
	char *key;      /* without secrets */
	char *address;  /* "host:port", for messages */
	char *url;      /* "https://host:port" */
	char *ca_pem, *cert_pem, *key_pem; /* NULL for none; the last is a secret */
	struct httpc_server server;        /* of these */
};

#endif
