/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns/dnsrecord.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define HEADER_BYTES 12
#define HOST_MAX     253
#define CLASS_IN     1

static const char nonsense[] = "the name server's answer makes no sense";

/* The answer, and how far it was read. */
struct answer_bytes {
	const uint8_t *bytes;
	size_t len, at;
	bool broken; /* it ended too early, or something is not as it must be */
};

static unsigned read_byte(struct answer_bytes *r)
{
	if (r->at >= r->len) {
		r->broken = true;
		return 0;
	}
	return r->bytes[r->at++];
}

static unsigned read_u16(struct answer_bytes *r)
{
	unsigned high = read_byte(r);

	return high << 8 | read_byte(r);
}

static uint32_t read_u32(struct answer_bytes *r)
{
	uint32_t high = read_u16(r);

	return high << 16 | read_u16(r);
}

static void skip(struct answer_bytes *r, size_t count)
{
	if (count > r->len - r->at)
		r->broken = true;
	else
		r->at += count;
}

static void skip_name(struct answer_bytes *r)
{
	unsigned label;

	while ((label = read_byte(r)) != 0 && label < 0xc0 && !r->broken) {
		if (label > 63)
			r->broken = true;
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
		r->broken = true;
		return;
	}
	for (; len > 0; len--) {
		char c = (char)read_byte(r);

		if (!is_of_host(c))
			r->broken = true;
		host[(*used)++] = c;
	}
	host[(*used)++] = '.';
}

/* A name that may go on elsewhere: always before the piece that it is in, so that it has an end. */
static void read_host(struct answer_bytes *r, char host[HOST_MAX + 2])
{
	struct answer_bytes piece = *r;
	size_t begin = piece.at, used = 0;
	unsigned label;

	while ((label = read_byte(&piece)) != 0 && !piece.broken) {
		if (label < 0xc0) {
			put_label(&piece, label, host, &used);
			continue;
		}
		piece.at = (size_t)(label & 0x3f) << 8 | read_byte(&piece);
		piece.broken = piece.broken || piece.at >= begin;
		begin = piece.at;
	}
	host[used > 0 ? used - 1 : 0] = '\0';
	r->broken = r->broken || piece.broken || used == 0;
}

/* Its data alone is in r; returns its text, NULL: it is none. */
static char *read_service(struct answer_bytes *r, uint16_t *port)
{
	char host[HOST_MAX + 2];

	skip(r, 4); /* priority and weight */
	*port = (uint16_t)read_u16(r);
	read_host(r, host);
	return r->broken || *port == 0 ? NULL : mem_dup(host);
}

static char *read_text(struct answer_bytes *r)
{
	struct buf text = BUF_INIT(DNSRECORD_BYTES_MAX);

	while (r->at < r->len && !r->broken) {
		unsigned left = read_byte(r);

		for (; left > 0 && !r->broken; left--) {
			char c = (char)read_byte(r);

			r->broken = r->broken || (unsigned char)c < ' ' || c == 0x7f;
			buf_putc(&text, c);
		}
	}
	if (r->broken || buf_failed(&text)) {
		buf_done(&text);
		return NULL;
	}
	return buf_take(&text);
}

/* A name in an SRV record may go on before the record, so that the reader has all up to its end. */
static char *read_data(const struct answer_bytes *whole, size_t len, enum dnsrecord_kind kind, uint16_t *port)
{
	struct answer_bytes data = { .bytes = whole->bytes, .len = whole->at + len, .at = whole->at };

	*port = 0;
	return kind == DNSRECORD_SRV ? read_service(&data, port) : read_text(&data);
}

/* Takes the text. Returns false when there is no room. */
static bool add(struct dnsrecord_list *out, char *text, uint16_t port, size_t *bytes)
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

/* The next record, of whatever kind. False: nothing more is of interest, or it is broken. */
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
	ttl = read_u32(r);
	len = read_u16(r);
	if (r->broken || len > r->len - r->at) {
		r->broken = true;
		return false;
	}
	if (type == (unsigned)kind && class == CLASS_IN) {
		text = read_data(r, len, kind, &port);
		r->broken = !text;
		if (!text)
			return false;
		if (!add(out, text, port, bytes)) {
			r->broken = kind ==
				DNSRECORD_TXT; /* a text that is left out would change what the others say */
			return false;
		}
		if (ttl > INT32_MAX)
			ttl = 0; /* as RFC 2181 has it */
		*ttl_s = out->count == 1 || ttl < *ttl_s ? (int64_t)ttl : *ttl_s;
	}
	skip(r, len);
	return true;
}

/* ---- For everybody ---- */

const char *dnsrecord_read(const uint8_t *answer, size_t len, enum dnsrecord_kind kind, struct dnsrecord_list *out,
	int64_t *ttl_s)
{
	struct answer_bytes r = { .bytes = answer, .len = len };
	size_t bytes = 0;
	unsigned questions, answers;

	*out = (struct dnsrecord_list){ 0 };
	*ttl_s = 0;
	skip(&r, 4);
	questions = read_u16(&r);
	answers = read_u16(&r);
	r.at = HEADER_BYTES;
	r.broken = r.broken || len < HEADER_BYTES;
	for (; questions > 0 && !r.broken; questions--) {
		skip_name(&r);
		skip(&r, 4);
	}
	while (answers > 0 && !r.broken && take_record(&r, kind, out, ttl_s, &bytes))
		answers--;
	if (!r.broken)
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
