/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongowire.h"

#include <stdbool.h>
#include <string.h>

#define OP_MSG           2013
#define CHECKSUM_PRESENT 1u
#define KNOWN_FLAGS      (CHECKSUM_PRESENT | 1u << 16) /* the latter is for requests, and has no meaning here */
#define CHECKSUM_SIZE    4
#define FLAGS_SIZE       4
#define SECTION_BODY     0
#define DOCUMENT_LEAST   5 /* length and terminator */
#define MESSAGE_LEAST    (MONGOWIRE_HEADER_SIZE + FLAGS_SIZE + 1 + DOCUMENT_LEAST)

static uint32_t number_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void put_number(struct buf *out, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
		(uint8_t)(value >> 24) };

	buf_append(out, bytes, sizeof(bytes));
}

void mongowire_put(struct buf *out, int32_t number, const uint8_t *document, size_t len)
{
	put_number(out, (uint32_t)(MONGOWIRE_HEADER_SIZE + FLAGS_SIZE + 1 + len));
	put_number(out, (uint32_t)number);
	put_number(out, 0);
	put_number(out, OP_MSG);
	put_number(out, 0);
	buf_putc(out, SECTION_BODY);
	buf_append(out, document, len);
}

int64_t mongowire_length(const uint8_t *bytes, size_t len, struct err *err)
{
	uint32_t whole;

	if (len < MONGOWIRE_HEADER_SIZE)
		return 0;
	whole = number_at(bytes);
	if (number_at(bytes + 12) != OP_MSG || whole < MESSAGE_LEAST)
		return err_set(err, ERR_INVALID, "the answer makes no sense (is it a MongoDB server, 3.6 or later?)");
	if (whole > MONGOWIRE_REPLY_MAX)
		return err_set(err, ERR_INVALID, "the answer is larger than %zu KiB", MONGOWIRE_REPLY_MAX >> 10);
	return whole;
}

/*
 * A server sends the document alone, perhaps with a checksum, which is not needed over TCP and TLS.
 * Several answers come only if requested.
 */
int mongowire_read(const uint8_t *bytes, size_t len, int32_t number, struct mongowire_document *out, struct err *err)
{
	const uint8_t *body;
	uint32_t flags;
	size_t rest;

	if (len < MESSAGE_LEAST || mongowire_length(bytes, len, err) != (int64_t)len ||
		number_at(bytes + 8) != (uint32_t)number)
		return err_set(err, ERR_INVALID, "the server sent an unexpected answer");
	body = bytes + MONGOWIRE_HEADER_SIZE + FLAGS_SIZE + 1;
	rest = len - MONGOWIRE_HEADER_SIZE - FLAGS_SIZE - 1;
	flags = number_at(bytes + MONGOWIRE_HEADER_SIZE);
	if (flags & CHECKSUM_PRESENT)
		rest = rest >= CHECKSUM_SIZE ? rest - CHECKSUM_SIZE : 0;
	if (flags & ~KNOWN_FLAGS || body[-1] != SECTION_BODY || rest < DOCUMENT_LEAST || number_at(body) != rest)
		return err_set(err, ERR_INVALID, "the answer makes no sense: it is not one document");
	*out = (struct mongowire_document){ body, rest };
	return 0;
}
