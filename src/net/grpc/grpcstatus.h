/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCSTATUS_H
#define NET_GRPC_GRPCSTATUS_H

/* The status of a gRPC call, from its headers and trailers, as an error. Pure. For net/grpc. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define GRPCSTATUS_MESSAGE_MAX 240 /* bytes of the server's message that are shown */

struct grpcstatus {   /* a value; zeroed: no headers yet */
	bool told;    /* grpc-status was received */
	int code;     /* -1: not a number */
	bool foreign; /* the content-type is not gRPC's */
	char content_type[64];
	/* grpc-message, decoded, valid UTF-8 without control characters, cut */
	char message[GRPCSTATUS_MESSAGE_MAX + 1];
};

/* Takes one header or trailer, "name: value"; ignores those that are not gRPC's. */
void grpcstatus_note(struct grpcstatus *s, const char *line, size_t len);

/*
 * 0: status OK. -1 and *err, such as `UNAVAILABLE: no workers`; without grpc-status by the HTTP
 * status (gRPC's http-grpc-status-mapping), or that it is missing. Its kind is ERR_TEMPORARY,
 * ERR_DENIED or ERR_INVALID.
 */
int grpcstatus_judge(const struct grpcstatus *s, int http_status, struct err *err);

#endif
