/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns/dnsrecord.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/wire.h"

#define HOST_MAX 253
#define CLASS_IN 1

static const char nonsense[] = "the name server's answer is malformed";

/* The answer and the reading position. */
struct answer_bytes {
	const uint8_t *bytes;
	struct wire wire; /* failed: the answer is cut off or malformed */
};

static size_t place(const struct answer_bytes *r)
{
	return (size_t)(r->wire.at - r->bytes);
}

/* Continues at another place before the end. */
static void jump(struct answer_bytes *r, size_t to)
{
	size_t end = place(r) + r->wire.left;

	r->wire.failed = r->wire.failed || to > end;
	r->wire.at = r->bytes + (r->wire.failed ? 0 : to);
	r->wire.left = r->wire.failed ? 0 : end - to;
}

static unsigned read_byte(struct answer_bytes *r)
{
	return (unsigned)wire_number(&r->wire, 1);
}

static unsigned read_u16(struct answer_bytes *r)
{
	return (unsigned)wire_number(&r->wire, 2);
}

static void skip(struct answer_bytes *r, size_t count)
{
	wire_take(&r->wire, count);
}

static void skip_name(struct answer_bytes *r)
{
	unsigned label;

	while ((label = read_byte(r)) != 0 && label < 0xc0 && !r->wire.failed) {
		if (label > 63)
			r->wire.failed = true;
		skip(r, label);
	}
	if (label >= 0xc0)
		read_byte(r);
}

/* ---- Records ---- */

static bool is_of_host(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Appends a label and a dot. */
static void put_label(struct answer_bytes *r, unsigned len, char host[HOST_MAX + 2], size_t *used)
{
	if (len > 63 || *used + len > HOST_MAX) {
		r->wire.failed = true;
		return;
	}
	for (; len > 0; len--) {
		char c = (char)read_byte(r);

		if (!is_of_host(c))
			r->wire.failed = true;
		host[(*used)++] = c;
	}
	host[(*used)++] = '.';
}

/*
 * Reads a name, which may continue elsewhere (compression). A pointer must lead backwards, so that
 * the name ends.
 */
static void read_host(struct answer_bytes *r, char host[HOST_MAX + 2])
{
	struct answer_bytes piece = *r;
	size_t begin = place(&piece), used = 0;
	unsigned label;
	size_t to;

	while ((label = read_byte(&piece)) != 0 && !piece.wire.failed) {
		if (label < 0xc0) {
			put_label(&piece, label, host, &used);
			continue;
		}
		to = (size_t)(label & 0x3f) << 8 | read_byte(&piece);
		piece.wire.failed = piece.wire.failed || to >= begin;
		jump(&piece, to);
		begin = to;
	}
	host[used > 0 ? used - 1 : 0] = '\0';
	r->wire.failed = r->wire.failed || piece.wire.failed || used == 0;
}

/* r holds the record's data only. Returns its text, or NULL if there is none. */
static char *read_service(struct answer_bytes *r, uint16_t *port)
{
	char host[HOST_MAX + 2];

	skip(r, 4); /* priority and weight */
	*port = (uint16_t)read_u16(r);
	read_host(r, host);
	return r->wire.failed || *port == 0 ? NULL : mem_dup(host);
}

static char *read_text(struct answer_bytes *r)
{
	struct buf text = BUF_INIT(DNSRECORD_BYTES_MAX);

	while (r->wire.left > 0) {
		unsigned left = read_byte(r);

		for (; left > 0 && !r->wire.failed; left--) {
			char c = (char)read_byte(r);

			r->wire.failed = r->wire.failed || (unsigned char)c < ' ' || c == 0x7f;
			buf_putc(&text, c);
		}
	}
	if (r->wire.failed || buf_failed(&text)) {
		buf_done(&text);
		return NULL;
	}
	return buf_take(&text);
}

/*
 * A name in an SRV record may continue before the record, so the reader gets everything up to the
 * record's end.
 */
static char *read_data(const struct answer_bytes *whole, size_t len, enum dnsrecord_kind kind, uint16_t *port)
{
	struct answer_bytes data = { whole->bytes, { whole->wire.at, len, false } };

	*port = 0;
	return kind == DNSRECORD_SRV ? read_service(&data, port) : read_text(&data);
}

/* Takes the text. False: no room. */
static bool add_record(struct dnsrecord_list *out, char *text, uint16_t port, size_t *bytes)
{
	*bytes += strlen(text);
	if (out->count >= DNSRECORD_MAX || *bytes > DNSRECORD_BYTES_MAX) {
		free(text);
		return false;
	}
	if (!out->at)
		out->at = mem_array(DNSRECORD_MAX, sizeof(*out->at));
	out->at[out->count++] = (struct dnsrecord){ text, port };
	return true;
}

/*
 * Reads the next record, of any kind. False: nothing more is of interest, or the answer is
 * malformed.
 */
static bool take_record(struct answer_bytes *r, enum dnsrecord_kind kind, struct dnsrecord_list *out, int64_t *ttl_s,
	size_t *bytes)
{
	unsigned type, class;
	uint32_t ttl;
	size_t len;
	uint16_t port;
	char *text;

	skip_name(r);
	type = read_u16(r);
	class = read_u16(r);
	ttl = (uint32_t)wire_number(&r->wire, 4);
	len = read_u16(r);
	if (r->wire.failed || len > r->wire.left) {
		r->wire.failed = true;
		return false;
	}
	if (type == (unsigned)kind && class == CLASS_IN) {
		text = read_data(r, len, kind, &port);
		r->wire.failed = !text;
		if (!text)
			return false;
		if (!add_record(out, text, port, bytes)) {
			r->wire.failed = kind ==
				DNSRECORD_TXT; /* a text left out would change the meaning of the others */
			return false;
		}
		if (ttl > INT32_MAX)
			ttl = 0; /* RFC 2181 */
		*ttl_s = out->count == 1 || ttl < *ttl_s ? (int64_t)ttl : *ttl_s;
	}
	skip(r, len);
	return true;
}

/* ---- For callers ---- */

const char *dnsrecord_read(const uint8_t *answer, size_t len, enum dnsrecord_kind kind, struct dnsrecord_list *out,
	int64_t *ttl_s)
{
	struct answer_bytes r = { answer, { answer, len, false } };
	size_t bytes = 0;
	unsigned questions, answers;

	*out = (struct dnsrecord_list){ 0 };
	*ttl_s = 0;
	skip(&r, 4);
	questions = read_u16(&r);
	answers = read_u16(&r);
	skip(&r, 4);
	for (; questions > 0 && !r.wire.failed; questions--) {
		skip_name(&r);
		skip(&r, 4);
	}
	while (answers > 0 && !r.wire.failed && take_record(&r, kind, out, ttl_s, &bytes))
		answers--;
	if (!r.wire.failed)
		return NULL;
	dnsrecord_done(out);
	return nonsense;
}

void dnsrecord_copy(const struct dnsrecord_list *list, struct dnsrecord_list *out)
{
	*out = (struct dnsrecord_list){ .count = list->count };
	if (list->count > 0)
		out->at = mem_array(list->count, sizeof(*out->at));
	for (size_t i = 0; i < list->count; i++)
		out->at[i] = (struct dnsrecord){ mem_dup(list->at[i].text), list->at[i].port };
}

void dnsrecord_done(struct dnsrecord_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->at[i].text);
	free(list->at);
	*list = (struct dnsrecord_list){ 0 };
}
