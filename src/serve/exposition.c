/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/exposition.h"

#include <math.h>
#include <stdint.h>

void exposition_family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_label_value(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n') {
			buf_puts(out, "\\n");
			continue;
		}
		if (*text == '"' || *text == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void put_value(struct buf *out, double value)
{
	if (isnan(value))
		buf_puts(out, "NaN");
	else if (isinf(value))
		buf_puts(out, value > 0 ? "+Inf" : "-Inf");
	else
		buf_printf(out, "%.15g", value);
}

void exposition_sample(struct buf *out, const char *name, const char *const *label_names, const char *const *label_values, double value)
{
	buf_puts(out, name);
	for (size_t i = 0; label_names && label_names[i]; i++) {
		buf_puts(out, i ? "," : "{");
		buf_puts(out, label_names[i]);
		buf_puts(out, "=\"");
		put_label_value(out, label_values[i]);
		buf_puts(out, label_names[i + 1] ? "\"" : "\"}");
	}
	buf_putc(out, ' ');
	put_value(out, value);
	buf_putc(out, '\n');
}
