/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a question's key that comes from the trigger's parameters. */
#include <math.h>
#include <string.h>

#include "scalers/params.h"

static void put_text(const char *text, struct buf *out)
{
	size_t len = text ? strlen(text) : SIZE_MAX;

	buf_append(out, &len, sizeof(len));
	if (text)
		buf_append(out, text, len);
}

static void put_list(const struct param_list *list, struct buf *out)
{
	buf_append(out, &list->count, sizeof(list->count));
	for (size_t i = 0; i < list->count; i++)
		put_text(list->items[i], out);
}

static void put_map(const struct strmap *map, struct buf *out)
{
	buf_append(out, &map->count, sizeof(map->count));
	for (size_t i = 0; i < map->count; i++) {
		put_text(map->pairs[i].key, out);
		put_text(map->pairs[i].value, out);
	}
}

/* Equal numbers get equal bytes: -0 becomes 0, and each NaN (absent) the same value. */
static void put_double(double value, struct buf *out)
{
	value = isnan(value) ? HUGE_VAL : value + 0.0;
	buf_append(out, &value, sizeof(value));
}

void params_put_key(const struct param_table *t, const void *fields, struct buf *out)
{
	for (const struct param_row *row = t->rows; row < t->rows + t->count; row++) {
		const void *field = (const char *)fields + row->at;

		if (row->unkeyed)
			continue;
		switch (row->kind) {
		case PARAM_TEXT: put_text(*(const char *const *)field, out); break;
		case PARAM_INT64:
		case PARAM_DURATION: buf_append(out, field, sizeof(int64_t)); break;
		case PARAM_DOUBLE: put_double(*(const double *)field, out); break;
		case PARAM_BOOL: buf_append(out, field, sizeof(bool)); break;
		case PARAM_SWITCH:
		case PARAM_CHOICE: buf_append(out, field, sizeof(unsigned)); break;
		case PARAM_LIST: put_list(field, out); break;
		case PARAM_MAP: put_map(field, out); break;
		default: break;
		}
	}
}

void params_add_key(struct scaler_build *b, const char *text)
{
	put_text(text, &b->key);
}
