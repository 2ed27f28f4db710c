/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc/grpcmessage.h"

#include <stdlib.h>

#include "base/mem.h"

/* An empty element takes two bytes in a message and about sixty in memory. */
#define READ_BYTES_MAX ((size_t)16 << 20)

void grpcmessage_put(struct buf *out, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	unsigned char *bytes = mem_alloc(size + 1);

	protobuf_c_message_pack(message, bytes);
	buf_reserve(out, size);
	buf_append(out, bytes, size);
	mem_wipe(bytes, size);
	free(bytes);
}

static void *take(void *arg, size_t size)
{
	size_t *left = arg;

	if (size > *left)
		return NULL; /* unpacking then fails */
	*left -= size;
	return malloc(size);
}

static void give(void *arg, void *bytes)
{
	(void)arg;
	free(bytes);
}

int grpcmessage_read(struct grpcmessage *out, const ProtobufCMessageDescriptor *type, const void *bytes, size_t len,
	struct err *err)
{
	out->left = READ_BYTES_MAX;
	out->allocator = (ProtobufCAllocator){ .alloc = take, .free = give, .allocator_data = &out->left };
	out->message = protobuf_c_message_unpack(type, &out->allocator, len, bytes);
	return out->message
		? 0
		: err_set(err, ERR_INVALID, "the answer is not a valid %s, or is too large", type->short_name);
}

void grpcmessage_done(struct grpcmessage *m)
{
	protobuf_c_message_free_unpacked(m->message, &m->allocator);
}
