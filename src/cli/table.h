/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

/*
 * A table of texts with aligned columns, as kubectl prints them: headings, then rows; the last
 * column is cut where the terminal ends, and only there.
 */

#include <stddef.h>

#include "base/buf.h"

#define TABLE_COLUMNS_MAX 16

struct table {
	const char *const *headings; /* borrowed; ended by NULL */
	size_t columns;
	char **cells; /* owned, row by row */
	size_t rows, alloc;
};

void table_init(struct table *t, const char *const *headings);
void table_add(struct table *t,
	const char *const *cells); /* as many as headings; copied; NULL and "" show as "-" but in the last column */
void table_print(const struct table *t, size_t width /* 0: not cut */, struct buf *out);
void table_done(struct table *t);

#endif
