/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_TABLE_H
#define CLI_ASK_TABLE_H

/*
 * Prints a table with aligned columns, as kubectl does: headings, then rows. Only the last column
 * is cut, at the width of the terminal.
 */

#include <stddef.h>

#include "base/buf.h"

#define TABLE_COLUMNS_MAX 16

struct table {
	const char *const *headings; /* borrowed; NULL-terminated */
	size_t columns;
	char **cells; /* owned, row by row */
	size_t rows, alloc;
};

void table_init(struct table *t, const char *const *headings);
/* cells: as many as headings; copied; NULL and "" are printed as "-", except in the last column */
void table_add(struct table *t, const char *const *cells);
void table_print(const struct table *t, size_t width /* 0: not cut */, struct buf *out);
void table_done(struct table *t);

#endif
