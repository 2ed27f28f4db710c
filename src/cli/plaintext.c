/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plaintext.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

#define ELLIPSIS "\xE2\x80\xA6"

/* C1 control characters are two bytes in UTF-8: C2 80 to C2 9F. */
static bool is_control(const char *text, size_t step)
{
	unsigned char first = (unsigned char)text[0];

	return step == 0 || (step == 1 && (first < 0x20 || first == 0x7f)) ||
		(step == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* Appends one character; returns its length in the text. */
static size_t put_one(struct buf *out, const char *text, size_t len)
{
	size_t step = utf8_step(text, len);

	if (is_control(text, step))
		buf_putc(out, ' ');
	else
		buf_append(out, text, step);
	return step ? step : 1;
}

size_t plaintext_columns(const char *text)
{
	size_t len = strlen(text), columns = 0, step;

	for (; len > 0; len -= step, text += step, columns++) {
		step = utf8_step(text, len);
		if (!step)
			step = 1;
	}
	return columns;
}

size_t plaintext_put(struct buf *out, const char *text, size_t columns)
{
	size_t len = strlen(text), all = plaintext_columns(text), shown = columns && all > columns ? columns - 1 : all;

	for (size_t i = 0, at = 0; i < shown; i++)
		at += put_one(out, text + at, len - at);
	if (shown == all)
		return all;
	buf_puts(out, ELLIPSIS);
	return columns;
}

static void put_blanks(struct buf *out, size_t count)
{
	while (count-- > 0)
		buf_putc(out, ' ');
}

/* How many bytes fit into `columns`; breaks only longer words. */
static size_t line_bytes(const char *text, size_t columns)
{
	size_t len = strlen(text), at = 0, last_blank = 0, step;

	for (size_t i = 0; i < columns && at < len; i++, at += step) {
		step = utf8_step(text + at, len - at);
		if (!step)
			step = 1;
		if (text[at] == ' ')
			last_blank = at;
	}
	return at == len || text[at] == ' ' || !last_blank ? at : last_blank;
}

void plaintext_put_word(struct buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";

	if (*text && text[strspn(text, plain)] == '\0') {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	buf_putc(out, '\'');
}

void plaintext_put_field(struct buf *out, const char *label, const char *text, size_t indent, size_t width)
{
	size_t label_columns = plaintext_put(out, label, 0), room = width > indent + 10 ? width - indent : 0;

	put_blanks(out, label_columns < indent ? indent - label_columns : 1);
	for (;;) {
		size_t bytes = room ? line_bytes(text, room) : strlen(text);

		for (size_t at = 0; at < bytes;)
			at += put_one(out, text + at, bytes - at);
		buf_putc(out, '\n');
		text += bytes;
		text += strspn(text, " ");
		if (!*text)
			return;
		put_blanks(out, indent);
	}
}
