/* SPDX-License-Identifier: Apache-2.0 */
#include "base/places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FAULTS_MAX 100 /* per document; further ones are not reported */

size_t places_add(struct places *p, struct place place)
{
	if (p->count == p->alloc) {
		p->alloc = p->alloc ? 2 * p->alloc : 64;
		p->list = mem_resize(p->list, p->alloc, sizeof(*p->list));
	}
	p->list[p->count] = place;
	return p->count++;
}

void places_add_fault(struct places *p, size_t place, const char *key)
{
	if (p->fault_count == FAULTS_MAX)
		return;
	p->faults = mem_resize(p->faults, p->fault_count + 1, sizeof(*p->faults));
	p->faults[p->fault_count++] = (struct place_fault){ place, key };
}

void places_done(struct places *p)
{
	free(p->list);
	free(p->faults);
	json_decref(p->kept);
	memset(p, 0, sizeof(*p));
}

/* One step of a path: a key or an index. */
struct step {
	const char *key;
	size_t len;
	size_t index;
	bool indexed;
};

/*
 * Removes the first step from the path: "triggers[2].type" has the steps "triggers", "[2]", "type";
 * "[a.b/c]" is a key in brackets. False at the end.
 */
static bool next_step(const char **path, struct step *out)
{
	const char *text = *path;
	char *behind;

	if (*text == '.')
		text++;
	if (*text == '\0')
		return false;
	if (*text != '[') {
		*out = (struct step){ text, strcspn(text, ".["), 0, false };
		*path = text + out->len;
		return true;
	}
	text++;
	*out = (struct step){ text, strcspn(text, "]"), 0, false };
	*path = text + out->len + (text[out->len] == ']');
	out->index = strtoul(text, &behind, 10);
	out->indexed = behind == text + out->len && out->len > 0;
	return true;
}

static bool is_meant(const struct place *place, const struct step *step)
{
	if (!place->key)
		return step->indexed && place->index == step->index;
	return strlen(place->key) == step->len && memcmp(place->key, step->key, step->len) == 0;
}

/* The last match, as the last of two equal keys counts. */
static size_t find_below(const struct places *p, size_t parent, size_t end, const struct step *step)
{
	size_t found = parent;

	for (size_t i = parent + 1; i < end; i++)
		if (p->list[i].parent == parent && is_meant(&p->list[i], step))
			found = i;
	return found;
}

size_t places_find(const struct places *p, size_t root, size_t end, const char *path)
{
	size_t at = root;
	struct step step;

	while (next_step(&path, &step)) {
		size_t below = find_below(p, at, end, &step);

		if (below == at)
			break;
		at = below;
	}
	return at;
}

size_t places_end(const struct places *p, size_t root)
{
	size_t end = root + 1;

	/* Descendants follow the root; their parents do not precede it. */
	while (end < p->count && p->list[end].parent != PLACES_NONE && p->list[end].parent >= root)
		end++;
	return end;
}
