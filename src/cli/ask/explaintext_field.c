/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, ages and labelled lines of cli/ask/explaintext. */
#include <stdio.h>
#include <string.h>

#include "cli/ask/explaintext_parts.h"
#include "cli/fields.h"
#include "cli/plaintext.h"

#define INDENT 10

const char *explaintext_number(const json_t *object, const char *path, char text[32])
{
	const json_t *value = fields_at(object, path);

	if (json_is_integer(value))
		snprintf(text, 32, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, 32, "%.6g", json_real_value(value));
	else
		strcpy(text, "?");
	return text;
}

const char *explaintext_age(double seconds, char text[32])
{
	if (seconds < 0)
		seconds = 0;
	if (seconds < 10)
		snprintf(text, 32, "%.1f s", seconds);
	else if (seconds < 120)
		snprintf(text, 32, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else if (seconds < 2 * 86400)
		snprintf(text, 32, "%.0f h", seconds / 3600);
	else
		snprintf(text, 32, "%.0f d", seconds / 86400);
	return text;
}

void explaintext_fill(struct buf *out, const char *pattern, const json_t *object)
{
	for (;;) {
		size_t len = strcspn(pattern, "{");
		char path[64], number[32];

		buf_append(out, pattern, len);
		pattern += len;
		if (!*pattern)
			return;
		len = strcspn(++pattern, "}");
		snprintf(path, sizeof(path), "%.*s", (int)len, pattern);
		buf_puts(out, *path == '#' ? explaintext_number(object, path + 1, number) : fields_text(object, path));
		pattern += len + 1;
	}
}

void explaintext_field(const struct explaintext_page *p, const char *label, const char *text)
{
	plaintext_put_field(p->out, label, text, INDENT, p->screen->columns);
}

void explaintext_field_of(const struct explaintext_page *p, const char *label, struct buf *text)
{
	if (text->len > 0)
		explaintext_field(p, label, buf_text(text));
	buf_done(text);
}
