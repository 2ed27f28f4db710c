/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCSTATUS_H
#define NET_GRPC_GRPCSTATUS_H

/*
 * How a gRPC call ended: what its headers and trailers say, and what that means for whoever asked.
 * Pure. For net/grpc.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define GRPCSTATUS_MESSAGE_MAX 240 /* bytes of a server's own words that are told */

struct grpcstatus {   /* a value; zero is "nothing came" */
	bool told;    /* grpc-status came */
	int code;     /* -1: it was no number */
	bool foreign; /* the content-type is none of gRPC */
	char content_type[64];
	/* grpc-message, decoded, valid UTF-8 without control characters, cut */
	char message[GRPCSTATUS_MESSAGE_MAX + 1];
};

/* One header or trailer, "name: value"; what is none of gRPC's is passed over. */
void grpcstatus_note(struct grpcstatus *s, const char *line, size_t len);

/*
 * 0: the call ended well (OK). -1 and *err: `UNAVAILABLE: no workers`; without a grpc-status what
 * the HTTP status stands for (gRPC's http-grpc-status-mapping), or that it is missing. The kind:
 * temporary for what may pass by itself, denied, or invalid.
 */
int grpcstatus_judge(const struct grpcstatus *s, int http_status, struct err *err);

#endif
