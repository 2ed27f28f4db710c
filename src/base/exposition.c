/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* What stands for the character of `step` bytes at text, or NULL when it stands for itself. */
static const char *escape_for(const char *text, size_t step, bool quotes)
{
	if (step == 0)
		return UTF8_REPLACEMENT;
	if (text[0] == '\n')
		return "\\n";
	if (text[0] == '\\')
		return "\\\\";
	return text[0] == '"' && quotes ? "\\\"" : NULL;
}

static void put_escaped(struct buf *out, const char *text, bool quotes)
{
	size_t len = strlen(text);
	size_t run = 0; /* start of what is copied as it is */

	for (size_t i = 0; i < len;) {
		size_t step = utf8_step(text + i, len - i);
		const char *escape = escape_for(text + i, step, quotes);
		if (escape != NULL) {
			buf_append(out, text + run, i - run);
			buf_puts(out, escape);
		}
		i += step > 0 ? step : 1;
		if (escape != NULL)
			run = i;
	}
	buf_append(out, text + run, len - run);
}

/* With no more digits than it takes to read them back. */
static void put_fraction(struct buf *out, double value)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(out, text);
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
		put_fraction(out, value);
}

void exposition_family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s ", name);
	put_escaped(out, help, false);
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
		put_escaped(out, label_values[i], true);
		buf_putc(out, '"');
	}
	buf_puts(out, label_names && label_names[0] ? "} " : " ");
	put_value(out, value);
	buf_putc(out, '\n');
}
