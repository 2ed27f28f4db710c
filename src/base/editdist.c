/* SPDX-License-Identifier: Apache-2.0 */
#include "base/editdist.h"

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

/* Keeps the last three rows of the table. */
size_t editdist_between(const char *a, const char *b)
{
	size_t rows[3][EDITDIST_LENGTH_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *turn;
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > EDITDIST_LENGTH_MAX || b_len > EDITDIST_LENGTH_MAX)
		return EDITDIST_FAR;
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

/* Names whose lengths differ by more are far without a table: most that are compared do. */
size_t editdist_near(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b), shorter = least(a_len, b_len), most = shorter < 5 ? 1 : 2,
	       distance;

	if (a_len + b_len - 2 * shorter > most)
		return EDITDIST_FAR;
	distance = editdist_between(a, b);
	return distance <= most ? distance : EDITDIST_FAR;
}

struct editdist_best editdist_best_of(const char *wanted)
{
	return (struct editdist_best){ wanted, NULL, EDITDIST_FAR };
}

void editdist_offer(struct editdist_best *best, const char *name)
{
	size_t distance = editdist_near(best->wanted, name);

	if (distance >= best->distance)
		return;
	best->name = name;
	best->distance = distance;
}
