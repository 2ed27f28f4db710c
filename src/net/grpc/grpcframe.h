/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCFRAME_H
#define NET_GRPC_GRPCFRAME_H

/*
 * gRPC message framing: a compression flag, four bytes of length, the message. Takes pieces of any
 * size. Rejects compressed messages, which we do not offer to accept, and messages above the limit,
 * before storing any of their bytes. Pure. For net/grpc.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define GRPCFRAME_HEAD        5
#define GRPCFRAME_MESSAGE_MAX ((size_t)4 << 20) /* the default of grpc-go, which KEDA does not change */

struct grpcframe { /* a value */
	unsigned char head[GRPCFRAME_HEAD];
	size_t head_len;
	size_t left;        /* missing bytes of the message, once the head is complete */
	struct buf message; /* its bytes so far; complete when grpcframe_take has returned 1 */
	bool whole;         /* the message was returned: the next byte starts another */
};

void grpcframe_init(struct grpcframe *f);
void grpcframe_done(struct grpcframe *f);

/*
 * Takes bytes and advances *bytes and *len. 1: f->message is complete, and more may follow in
 * *bytes; 0: all bytes were taken, and the message is incomplete; -1: *err (ERR_INVALID), and the
 * stream cannot be read any further.
 */
int grpcframe_take(struct grpcframe *f, const char **bytes, size_t *len, struct err *err);
/* Whether the body ended within a message. */
bool grpcframe_is_cut(const struct grpcframe *f);

/* Writes a message with its frame. */
void grpcframe_put(struct buf *out, const void *message, size_t len);

#endif
