/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCMESSAGE_H
#define NET_GRPC_GRPCMESSAGE_H

/*
 * Packs and unpacks gRPC messages by the code that protoc-c generates. Unpacking has a memory cap,
 * as a small message may expand to many objects. Unknown fields are ignored. Pure; for the types
 * that use gRPC.
 */

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the message without leaving other copies, as it may hold secrets. */
void grpcmessage_put(struct buf *out, const ProtobufCMessage *message);

struct grpcmessage {
	size_t left; /* of the memory it may take */
	ProtobufCAllocator allocator;
	ProtobufCMessage *message; /* owned; of the requested type */
};
/* 0: call grpcmessage_done later, and do not move *out; -1 with ERR_INVALID. */
int grpcmessage_read(struct grpcmessage *out, const ProtobufCMessageDescriptor *type, const void *bytes, size_t len,
	struct err *err);
void grpcmessage_done(struct grpcmessage *m);

#endif
