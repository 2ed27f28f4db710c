/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slips.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool alike(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Three rows of the table are kept. */
size_t slips_between(const char *a, const char *b)
{
	size_t rows[3][SLIPS_LENGTH_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *turn;
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > SLIPS_LENGTH_MAX || b_len > SLIPS_LENGTH_MAX)
		return SLIPS_FAR;
	for (size_t j = 0; j <= b_len; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + !alike(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		turn = before;
		before = last;
		last = row;
		row = turn;
	}
	return last[b_len];
}
