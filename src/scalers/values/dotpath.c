/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/dotpath.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

bool dotpath_index(const char *text, size_t *out)
{
	size_t index = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || index > SIZE_MAX / 100)
			return false;
		index = 10 * index + (size_t)(*text - '0');
	}
	*out = index;
	return true;
}

/* Reads up to the next dot; NULL: the text ends after a backslash. */
static const char *read_part(const char *at, struct dotpath_part *out)
{
	struct buf name = BUF_INIT(DOTPATH_LENGTH_MAX);
	bool cut = false;

	for (; *at && *at != '.'; at++) {
		if (*at == '\\') {
			out->escaped = true;
			cut = !at[1];
			at += !cut;
		}
		if (!cut)
			buf_putc(&name, *at);
	}
	out->name = buf_take(&name);
	out->indexed = !out->escaped && dotpath_index(out->name, &out->index);
	return cut ? NULL : at;
}

int dotpath_read(const char *text, struct dotpath *out, struct err *err)
{
	const char *at = text, *behind = text;

	*out = (struct dotpath){ 0 };
	if (strlen(text) > DOTPATH_LENGTH_MAX)
		return err_set(err, ERR_INVALID, "longer than %d characters", DOTPATH_LENGTH_MAX);
	for (bool more = true; more; at = behind + 1) {
		struct dotpath_part part = { 0 };
		const char *what = NULL;

		behind = read_part(at, &part);
		out->parts = mem_resize(out->parts, out->count + 1, sizeof(*out->parts));
		out->parts[out->count++] = part;
		if (!behind)
			what = "the last backslash must be followed by a character";
		else if (!*part.name)
			what = "a name is missing";
		else if (out->count > DOTPATH_PARTS_MAX)
			what = "too many parts: at most 64";
		if (what) {
			dotpath_done(out);
			return err_set(err, ERR_INVALID, "position %zu: %s", (size_t)(at - text) + 1, what);
		}
		more = *behind == '.';
	}
	return 0;
}

void dotpath_done(struct dotpath *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->parts[i].name);
	free(p->parts);
	*p = (struct dotpath){ 0 };
}

char *dotpath_text(const struct dotpath *p, size_t count)
{
	struct buf out = BUF_INIT(4 * DOTPATH_LENGTH_MAX);

	for (size_t i = 0; i < count && i < p->count; i++) {
		if (i > 0)
			buf_putc(&out, '.');
		for (const char *c = p->parts[i].name; *c; c++) {
			if (*c == '.' || *c == '\\')
				buf_putc(&out, '\\');
			buf_putc(&out, *c);
		}
	}
	return buf_take(&out);
}
