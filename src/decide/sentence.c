/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/sentence.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static void cut_at_character(struct sentence *s)
{
	size_t start = s->len;

	while (start > 0 && ((unsigned char)s->out[start - 1] & 0xC0) == 0x80)
		start--;
	if (start > 0 && utf8_step(s->out + start - 1, s->len - (start - 1)) == 0)
		s->len = start - 1;
	s->out[s->len] = '\0';
}

void sentence_add(struct sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (s->full || s->size == 0)
		return;
	va_start(ap, fmt);
	n = vsnprintf(s->out + s->len, s->size - s->len, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	s->full = (size_t)n >= s->size - s->len;
	s->len = s->full ? s->size - 1 : s->len + (size_t)n;
	if (s->full)
		cut_at_character(s);
}

struct sentence sentence_in(char *out, size_t size)
{
	if (size > 0)
		out[0] = '\0';
	return (struct sentence){ .out = out, .size = size };
}
