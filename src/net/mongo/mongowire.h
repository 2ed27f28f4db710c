/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOWIRE_H
#define NET_MONGO_MONGOWIRE_H

/*
 * Messages of MongoDB's protocol: OP_MSG (since 3.6) with one document in it, and nothing else. A
 * header of four little-endian numbers of 32 bits (length, number, number answered, kind), flags,
 * the kind of the section, the document. Pure; what is in the documents is net/mongo/mongoreply's.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Bytes of a reply. MongoDB allows 48 MiB; a count and the members of a replica set need some
 * thousand, a message about a bad query as many as the query.
 */
#define MONGOWIRE_REPLY_MAX   ((size_t)256 << 10)
#define MONGOWIRE_HEADER_SIZE 16

struct mongowire_document { /* borrowed */
	const uint8_t *bytes;
	size_t len;
};

/* Appends a message with this document. */
void mongowire_put(struct buf *out, int32_t number, const uint8_t *document, size_t len);

/*
 * The length of the message that begins with these bytes, header included; 0: not known yet; -1
 * with err: it is none, or too long.
 */
int64_t mongowire_length(const uint8_t *bytes, size_t len, struct err *err);

/* The document of a whole message that answers ours of this number. -1 with ERR_INVALID. */
int mongowire_read(const uint8_t *bytes, size_t len, int32_t number, struct mongowire_document *out, struct err *err);

#endif
