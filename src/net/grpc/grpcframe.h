/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCFRAME_H
#define NET_GRPC_GRPCFRAME_H

/*
 * gRPC's framing of messages in a body: a byte that says whether it is compressed, four bytes of
 * length, the message. Cuts them out of pieces of any size. Compressed messages are refused, as
 * nobody offered to read them, and longer ones than the cap before any of them is kept. Pure. For
 * net/grpc.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define GRPCFRAME_HEAD        5
#define GRPCFRAME_MESSAGE_MAX ((size_t)4 << 20) /* grpc-go's, which KEDA leaves as it is */

struct grpcframe { /* a value */
	unsigned char head[GRPCFRAME_HEAD];
	size_t head_len;
	size_t left;        /* of the message, once the head is whole */
	struct buf message; /* what came of it so far; whole after grpcframe_take has said 1 */
	bool whole;         /* the message was handed out: the next piece begins another */
};

void grpcframe_init(struct grpcframe *f);
void grpcframe_done(struct grpcframe *f);

/*
 * Takes from *bytes and moves both. 1: f->message is whole, there may be more in *bytes; 0: all was
 * taken and it is not; -1: *err (invalid), nothing more can be read.
 */
int grpcframe_take(struct grpcframe *f, const char **bytes, size_t *len, struct err *err);
/* The body ended in the middle of a message. */
bool grpcframe_is_cut(const struct grpcframe *f);

/* A message as a body. */
void grpcframe_put(struct buf *out, const void *message, size_t len);

#endif
