/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const char *escape_help(const char *text, size_t step, char room[BUF_ESCAPE_MAX])
{
	(void)room;
	if (step == 0)
		return UTF8_REPLACEMENT;
	return *text == '\n' ? "\\n" : *text == '\\' ? "\\\\" : NULL;
}

static const char *escape_label(const char *text, size_t step, char room[BUF_ESCAPE_MAX])
{
	return step > 0 && *text == '"' ? "\\\"" : escape_help(text, step, room);
}

static void put_value(struct buf *out, double value)
{
	if (isnan(value))
		buf_puts(out, "NaN");
	else if (isinf(value))
		buf_puts(out, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < 1e15)
		buf_printf(out, "%lld", (long long)value);
	else
		buf_put_real(out, value);
}

void exposition_family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s ", name);
	buf_put_escaped(out, help, escape_help);
	buf_printf(out, "\n# TYPE %s %s\n", name, type);
}

void exposition_sample(struct buf *out, const char *name, const char *const *label_names,
	const char *const *label_values, double value)
{
	buf_puts(out, name);
	for (size_t i = 0; label_names && label_names[i]; i++) {
		buf_putc(out, i == 0 ? '{' : ',');
		buf_puts(out, label_names[i]);
		buf_puts(out, "=\"");
		buf_put_escaped(out, label_values[i], escape_label);
		buf_putc(out, '"');
	}
	buf_puts(out, label_names && label_names[0] ? "} " : " ");
	put_value(out, value);
	buf_putc(out, '\n');
}
