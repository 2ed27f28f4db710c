/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCMESSAGE_H
#define NET_GRPC_GRPCMESSAGE_H

/*
 * Packs and unpacks messages of gRPC with what protoc-c made of their definitions. Unpacking has a
 * cap on memory, as a small message may expand to many objects. Unknown fields are ignored. Pure;
 * for the types that speak gRPC.
 */

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the message, which may hold secrets: no other copy stays. */
void grpcmessage_put(struct buf *out, const ProtobufCMessage *message);

struct grpcmessage {
	size_t left; /* of the memory it may take */
	ProtobufCAllocator allocator;
	ProtobufCMessage *message; /* owned; of the type that was asked for */
};
/* 0, and *out wants grpcmessage_done; -1 with ERR_INVALID. *out must stay where it is. */
int grpcmessage_read(struct grpcmessage *out, const ProtobufCMessageDescriptor *type, const void *bytes, size_t len,
	struct err *err);
void grpcmessage_done(struct grpcmessage *m);

#endif
