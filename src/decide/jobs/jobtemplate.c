/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobtemplate.h"

#include <stdio.h>
#include <string.h>

static size_t print_index(const struct jobtemplate_era *e, const char *print)
{
	size_t i = 0;

	while (i < e->count && strcmp(e->prints[i], print) != 0)
		i++;
	return i;
}

bool jobtemplate_knows(const struct jobtemplate *t, const char *print)
{
	return print_index(&t->now, print) < t->now.count;
}

bool jobtemplate_covers(const struct jobtemplate *t, int64_t generation)
{
	return t->now.count > 0 && generation >= t->now.since && generation <= t->now.generation;
}

/* Moves it to the front: it is the last to be forgotten. */
static void put_print(struct jobtemplate_era *e, const char *print)
{
	size_t at = print_index(e, print);

	if (at == JOBTEMPLATE_PRINTS)
		at--;
	if (at == e->count)
		e->count++;
	memmove(e->prints + 1, e->prints, at * sizeof(e->prints[0]));
	snprintf(e->prints[0], sizeof(e->prints[0]), "%s", print);
}

void jobtemplate_see(struct jobtemplate *t, int64_t generation, const char *print)
{
	if (!*print)
		return;
	if (t->now.count == 0 || (generation != t->now.generation && !jobtemplate_knows(t, print))) {
		t->before = t->now;
		t->now = (struct jobtemplate_era){ .since = generation };
	}
	put_print(&t->now, print);
	t->now.generation = generation;
}

void jobtemplate_reaches(struct jobtemplate *t, int64_t generation)
{
	struct jobtemplate_era before = t->before;

	if (generation < t->now.since)
		t->now.since = generation;
	if (before.count == 0 || generation > before.generation || generation < before.since)
		return;
	t->before.count = 0;
	t->now.since = before.since;
	for (size_t i = before.count; i-- > 0;)
		if (t->now.count < JOBTEMPLATE_PRINTS)
			put_print(&t->now, before.prints[i]);
}
