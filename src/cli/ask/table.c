/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/plaintext.h"

#define GAP        2
#define LAST_LEAST 6 /* minimal width of the last column */

void table_init(struct table *t, const char *const *headings)
{
	*t = (struct table){ .headings = headings };
	while (headings[t->columns])
		t->columns++;
}

void table_add(struct table *t, const char *const *cells)
{
	if (t->rows == t->alloc) {
		t->alloc = t->alloc ? 2 * t->alloc : 32;
		t->cells = mem_resize(t->cells, t->alloc * t->columns, sizeof(*t->cells));
	}
	for (size_t i = 0; i < t->columns; i++) {
		const char *text = cells[i] ? cells[i] : "";

		t->cells[t->rows * t->columns + i] = mem_dup(*text || i + 1 == t->columns ? text : "-");
	}
	t->rows++;
}

static void measure(const struct table *t, size_t widths[TABLE_COLUMNS_MAX])
{
	for (size_t i = 0; i < t->columns; i++)
		widths[i] = plaintext_columns(t->headings[i]);
	for (size_t i = 0; i < t->rows * t->columns; i++) {
		size_t columns = plaintext_columns(t->cells[i]);

		if (columns > widths[i % t->columns])
			widths[i % t->columns] = columns;
	}
}

static void print_row(const struct table *t, const char *const *cells, const size_t widths[TABLE_COLUMNS_MAX],
	size_t last, struct buf *out)
{
	for (size_t i = 0; i + 1 < t->columns; i++) {
		size_t used = plaintext_put(out, cells[i], 0);

		/* No trailing blanks if the last cell is empty. */
		for (; (i + 2 < t->columns || *cells[i + 1]) && used < widths[i] + GAP; used++)
			buf_putc(out, ' ');
	}
	plaintext_put(out, cells[t->columns - 1], last);
	buf_putc(out, '\n');
}

void table_print(const struct table *t, size_t width, struct buf *out)
{
	size_t widths[TABLE_COLUMNS_MAX], used = 0, last = 0;

	measure(t, widths);
	for (size_t i = 0; i + 1 < t->columns; i++)
		used += widths[i] + GAP;
	if (width)
		last = width > used + LAST_LEAST ? width - used : LAST_LEAST;
	print_row(t, t->headings, widths, last, out);
	for (size_t i = 0; i < t->rows; i++)
		print_row(t, (const char *const *)&t->cells[i * t->columns], widths, last, out);
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->rows * t->columns; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){ 0 };
}
