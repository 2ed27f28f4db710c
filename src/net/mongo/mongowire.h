/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOWIRE_H
#define NET_MONGO_MONGOWIRE_H

/*
 * Messages of MongoDB's protocol: OP_MSG (since 3.6) with one document, and nothing else. Layout: a
 * header of four little-endian 32-bit numbers (length, number, number answered, opcode), flags, the
 * kind of the section, the document. Pure; net/mongo/mongoreply interprets documents.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Bytes of a reply. MongoDB allows 48 MiB; a count, or the members of a replica set, need a few
 * thousand, an error about a bad query as many as the query.
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
 * The length of the message that starts with these bytes, header included; 0: too few bytes; -1
 * with err: not a message, or too long.
 */
int64_t mongowire_length(const uint8_t *bytes, size_t len, struct err *err);

/* Reads the document of a whole message that answers our message `number`. -1 with ERR_INVALID. */
int mongowire_read(const uint8_t *bytes, size_t len, int32_t number, struct mongowire_document *out, struct err *err);

#endif
