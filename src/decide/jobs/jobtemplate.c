/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobtemplate.h"

#include <stdio.h>
#include <string.h>

static size_t find(const struct jobtemplate *t, const char *print)
{
	size_t i = 0;

	while (i < t->count && strcmp(t->prints[i], print) != 0)
		i++;
	return i;
}

bool jobtemplate_knows(const struct jobtemplate *t, const char *print)
{
	return find(t, print) < t->count;
}

/* To the front: it is the last to be forgotten. */
static void put(struct jobtemplate *t, size_t at, const char *print)
{
	memmove(t->prints + 1, t->prints, at * sizeof(t->prints[0]));
	snprintf(t->prints[0], sizeof(t->prints[0]), "%s", print);
}

void jobtemplate_see(struct jobtemplate *t, int64_t generation, const char *print)
{
	size_t at = find(t, print);

	if (!*print)
		return;
	if (at == t->count && generation != t->generation)
		at = t->count = 0; /* another jobTargetRef */
	if (at == JOBTEMPLATE_PRINTS)
		at--;
	if (at == t->count)
		t->count++;
	put(t, at, print);
	t->generation = generation;
}
