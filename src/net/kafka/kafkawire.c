/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkawire.h"

#include <string.h>

#include "base/mem.h"

/* ---- Reading ---- */

int8_t kafkawire_i8(struct wire *r)
{
	return (int8_t)wire_number(r, 1);
}

int16_t kafkawire_i16(struct wire *r)
{
	return (int16_t)wire_number(r, 2);
}

int32_t kafkawire_i32(struct wire *r)
{
	return (int32_t)wire_number(r, 4);
}

int64_t kafkawire_i64(struct wire *r)
{
	return (int64_t)wire_number(r, 8);
}

/* A length of -1 means null; other negative ones are invalid. */
static struct kafkawire_text counted_text(struct wire *r, int64_t len)
{
	struct kafkawire_text text = { NULL, 0 };

	if (len < -1)
		r->failed = true;
	if (r->failed || len < 0)
		return text;
	text.data = (const char *)wire_take(r, (size_t)len);
	text.len = text.data ? (size_t)len : 0;
	return text;
}

struct kafkawire_text kafkawire_text(struct wire *r)
{
	return counted_text(r, kafkawire_i16(r));
}

struct kafkawire_text kafkawire_bytes(struct wire *r)
{
	return counted_text(r, kafkawire_i32(r));
}

size_t kafkawire_count(struct wire *r, size_t least)
{
	int32_t count = kafkawire_i32(r);

	if (count < -1 || (count > 0 && (size_t)count > r->left / least))
		r->failed = true;
	return r->failed || count < 0 ? 0 : (size_t)count;
}

void kafkawire_skip(struct wire *r, size_t len)
{
	wire_take(r, len);
}

char *kafkawire_dup(struct kafkawire_text text)
{
	return text.data && !memchr(text.data, '\0', text.len) ? mem_dupn(text.data, text.len) : NULL;
}

/* ---- Writing ---- */

void kafkawire_put_i8(struct buf *b, int8_t value)
{
	wire_put(b, (uint64_t)value, 1);
}

void kafkawire_put_i16(struct buf *b, int16_t value)
{
	wire_put(b, (uint64_t)value, 2);
}

void kafkawire_put_i32(struct buf *b, int32_t value)
{
	wire_put(b, (uint64_t)value, 4);
}

void kafkawire_put_i64(struct buf *b, int64_t value)
{
	wire_put(b, (uint64_t)value, 8);
}

void kafkawire_put_text(struct buf *b, const char *text)
{
	size_t len = strlen(text);

	if (len > INT16_MAX)
		b->failed = true;
	kafkawire_put_i16(b, (int16_t)len);
	buf_append(b, text, len);
}

void kafkawire_put_bytes(struct buf *b, const void *bytes, size_t len)
{
	kafkawire_put_i32(b, (int32_t)len);
	buf_append(b, bytes, len);
}
