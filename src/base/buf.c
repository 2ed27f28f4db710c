/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define FIRST_ALLOC 128

void buf_init(struct buf *b, size_t cap_bytes)
{
	*b = (struct buf)BUF_INIT(cap_bytes);
}

void buf_done(struct buf *b)
{
	free(b->data);
	buf_init(b, b->cap);
}

void buf_done_secret(struct buf *b)
{
	mem_wipe(b->data, b->alloc);
	buf_done(b);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data != NULL)
		b->data[0] = '\0';
}

/* Makes room for `more` bytes and the NUL; false above the cap, and from then on. */
static bool make_room(struct buf *b, size_t more)
{
	if (b->failed || more > b->cap - b->len) {
		b->failed = true;
		return false;
	}
	size_t need = b->len + more + 1;
	if (need <= b->alloc)
		return true;
	size_t alloc = b->alloc > 0 ? b->alloc : FIRST_ALLOC;
	while (alloc < need)
		alloc = alloc > SIZE_MAX / 2 ? need : alloc * 2;
	if (alloc - 1 > b->cap)
		alloc = b->cap + 1;
	b->data = mem_resize(b->data, alloc, 1);
	b->alloc = alloc;
	b->data[b->len] = '\0';
	return true;
}

void buf_reserve(struct buf *b, size_t len)
{
	if (b->len <= b->cap && len <= b->cap - b->len)
		make_room(b, len);
}

void buf_append(struct buf *b, const void *bytes, size_t len)
{
	if (len == 0 || !make_room(b, len))
		return;
	memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
	buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
	if (!make_room(b, 1))
		return;
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* Tries the present room first: most texts fit. */
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room = b->alloc - b->len;

	va_copy(again, ap);
	int len = vsnprintf(room > 0 ? b->data + b->len : NULL, room, fmt, ap);
	if (len < 0 || b->failed) {
		b->failed = true;
	} else if ((size_t)len < room) {
		b->len += (size_t)len;
	} else if (make_room(b, (size_t)len)) {
		vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
		b->len += (size_t)len;
	}
	if (b->data != NULL)
		b->data[b->len] = '\0';
	va_end(again);
}

bool buf_failed(const struct buf *b)
{
	return b->failed;
}

const char *buf_text(const struct buf *b)
{
	return b->data != NULL ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *text = b->data;

	if (text == NULL)
		text = mem_zalloc(1);
	else if (b->alloc > b->len + 1)
		text = mem_resize(text, b->len + 1, 1);
	buf_init(b, b->cap);
	return text;
}

void buf_put_percent(struct buf *b, const char *text, const char *keep)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
	static const char hex[] = "0123456789ABCDEF";

	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		const char escaped[] = { '%', hex[*c >> 4], hex[*c & 15] };

		if (strchr(plain, *c) != NULL || strchr(keep, *c) != NULL)
			buf_putc(b, (char)*c);
		else
			buf_append(b, escaped, sizeof(escaped));
	}
}

char *buf_percent(const char *text)
{
	struct buf b = BUF_INIT(3 * strlen(text));

	buf_put_percent(&b, text, "");
	return buf_take(&b);
}

void buf_put_real(struct buf *b, double value)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(b, text);
}

void buf_put_escaped(struct buf *b, const char *text, buf_escape_fn escape)
{
	size_t len = strlen(text), run = 0; /* start of what is copied unchanged */

	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)text[i];
		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			i++;
			continue;
		}
		char room[BUF_ESCAPE_MAX];
		size_t step = utf8_step(text + i, len - i);
		const char *instead = escape(text + i, step, room);
		if (instead != NULL) {
			buf_append(b, text + run, i - run);
			buf_puts(b, instead);
			run = i + (step > 0 ? step : 1);
		}
		i += step > 0 ? step : 1;
	}
	buf_append(b, text + run, len - run);
}

static const char *json_escape(const char *text, size_t step, char room[BUF_ESCAPE_MAX])
{
	static const char letters[0x20] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r' };
	unsigned char c = (unsigned char)*text;

	if (step == 0)
		return UTF8_REPLACEMENT;
	if (step > 1 || c == 0x7f)
		return NULL;
	if (c < 0x20 && letters[c] == '\0')
		snprintf(room, BUF_ESCAPE_MAX, "\\u%04x", c);
	else
		snprintf(room, BUF_ESCAPE_MAX, "\\%c", c < 0x20 ? letters[c] : c);
	return room;
}

void buf_put_json(struct buf *b, const char *text)
{
	buf_putc(b, '"');
	buf_put_escaped(b, text, json_escape);
	buf_putc(b, '"');
}

void buf_put_json_field(struct buf *b, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	buf_printf(b, "%s\"%s\":", b->data[b->len - 1] == '{' ? "" : ",", name);
	buf_put_json(b, value);
}
