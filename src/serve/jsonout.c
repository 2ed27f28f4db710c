/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/jsonout.h"

#include <math.h>
#include <stdio.h>

#include "base/timestamp.h"

static void new_line(struct jsonout *j)
{
	buf_putc(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		buf_putc(j->out, ' ');
}

/* Writes what comes before a value. */
static void begin_member(struct jsonout *j, const char *key)
{
	if (!j->empty)
		buf_putc(j->out, ',');
	if (j->depth > 0)
		new_line(j);
	j->empty = false;
	if (!key)
		return;
	buf_put_json(j->out, key);
	buf_puts(j->out, ": ");
}

void jsonout_object(struct jsonout *j, const char *key)
{
	begin_member(j, key);
	buf_putc(j->out, '{');
	j->arrays &= ~(UINT32_C(1) << j->depth++);
	j->empty = true;
}

void jsonout_array(struct jsonout *j, const char *key)
{
	begin_member(j, key);
	buf_putc(j->out, '[');
	j->arrays |= UINT32_C(1) << j->depth++;
	j->empty = true;
}

void jsonout_end(struct jsonout *j)
{
	j->depth--;
	if (!j->empty)
		new_line(j);
	buf_putc(j->out, j->arrays >> j->depth & 1 ? ']' : '}');
	j->empty = false;
	if (j->depth == 0)
		buf_putc(j->out, '\n');
}

void jsonout_null(struct jsonout *j, const char *key)
{
	begin_member(j, key);
	buf_puts(j->out, "null");
}

void jsonout_text(struct jsonout *j, const char *key, const char *value)
{
	if (!value) {
		jsonout_null(j, key);
		return;
	}
	begin_member(j, key);
	buf_put_json(j->out, value);
}

void jsonout_bool(struct jsonout *j, const char *key, bool value)
{
	begin_member(j, key);
	buf_puts(j->out, value ? "true" : "false");
}

void jsonout_int(struct jsonout *j, const char *key, int64_t value)
{
	begin_member(j, key);
	buf_printf(j->out, "%lld", (long long)value);
}

void jsonout_int_known(struct jsonout *j, const char *key, bool known, int64_t value)
{
	if (known)
		jsonout_int(j, key, value);
	else
		jsonout_null(j, key);
}

void jsonout_double(struct jsonout *j, const char *key, double value)
{
	if (!isfinite(value)) {
		jsonout_null(j, key);
		return;
	}
	begin_member(j, key);
	buf_printf(j->out, "%.15g", value);
}

void jsonout_time(struct jsonout *j, const char *key, int64_t unix_ms)
{
	char text[TIMESTAMP_TEXT_MAX];

	jsonout_text(j, key, unix_ms ? timestamp_format_milli(unix_ms, text) : NULL);
}
