/* SPDX-License-Identifier: Apache-2.0 */
#include "base/editdist.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool alike(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

#define CELL_FAR ((size_t)(2 * EDITDIST_LENGTH_MAX))

/*
 * Keeps the last three rows of the table, and in each row only the cells that can be at most
 * `most`: the exact value of a larger distance does not matter. Stops when no cell of a row can be.
 */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t most)
{
	size_t rows[3][EDITDIST_LENGTH_MAX + 2];
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *turn;
	size_t last_least = 0;

	for (size_t j = 0; j <= b_len; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t from = i > most ? i - most : 1, to = least(b_len, i + most), row_least = i;

		row[from - 1] = from == 1 ? i : CELL_FAR;
		for (size_t j = from; j <= to; j++) {
			row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + !alike(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
			row_least = least(row_least, row[j]);
		}
		row[to + 1] = CELL_FAR;
		if (row_least > most && last_least >= most)
			return CELL_FAR;
		last_least = row_least;
		turn = before;
		before = last;
		last = row;
		row = turn;
	}
	return last[b_len];
}

size_t editdist_between(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > EDITDIST_LENGTH_MAX || b_len > EDITDIST_LENGTH_MAX)
		return EDITDIST_FAR;
	return distance(a, a_len, b, b_len, CELL_FAR);
}

/* Most names differ in length by more than that, and need no table. */
size_t editdist_near(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b), shorter = least(a_len, b_len), most = shorter < 5 ? 1 : 2, apart;

	if (a_len + b_len - 2 * shorter > most || a_len > EDITDIST_LENGTH_MAX || b_len > EDITDIST_LENGTH_MAX)
		return EDITDIST_FAR;
	apart = distance(a, a_len, b, b_len, most);
	return apart <= most ? apart : EDITDIST_FAR;
}

#define AFFIX_LENGTH_MIN 4

/*
 * The number of extra letters if one name begins or ends with the other, which has at least four;
 * otherwise EDITDIST_FAR.
 */
static size_t extra_letters(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b), shorter = least(a_len, b_len), more = a_len + b_len - 2 * shorter;
	const char *longer = a_len > b_len ? a : b, *other = a_len > b_len ? b : a;

	if (shorter < AFFIX_LENGTH_MIN || shorter + more > EDITDIST_LENGTH_MAX)
		return EDITDIST_FAR;
	return strncasecmp(longer, other, shorter) == 0 || strcasecmp(longer + more, other) == 0 ? more : EDITDIST_FAR;
}

struct editdist_best editdist_best_of(const char *wanted)
{
	return (struct editdist_best){ wanted, NULL, EDITDIST_FAR, EDITDIST_FAR };
}

bool editdist_offer(struct editdist_best *best, const char *name)
{
	size_t distance = editdist_near(best->wanted, name),
	       affix = best->distance == EDITDIST_FAR ? extra_letters(best->wanted, name) : EDITDIST_FAR;

	if (distance >= best->distance && affix >= best->affix)
		return false;
	best->name = name;
	best->distance = distance;
	best->affix = affix;
	return true;
}
