/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/conflicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/validate/validate.h"

#define LOOK_BACK_MAX 1000 /* comparisons of one object */

void conflicts_done(struct conflict_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		scaledobject_free(entries[i].so);
		free(entries[i].hpa);
		free(entries[i].conflict);
	}
	free(entries);
}

void conflicts_decode(struct conflict_entry *out, const json_t *object)
{
	char hpa[512] = "";

	out->so = scaledobject_decode(object, NULL);
	if (out->so)
		scaledobject_hpa_name(out->so, hpa, sizeof(hpa));
	out->hpa = mem_dup(hpa);
}

static int compare_names(const struct conflict_entry *a, const struct conflict_entry *b)
{
	int by = strcmp(a->so->meta.namespace_, b->so->meta.namespace_);

	return by != 0 ? by : strcmp(a->name, b->name);
}

/* By namespace and name, then in the order of the input. */
static int compare(const void *a, const void *b)
{
	const struct conflict_entry *x = *(struct conflict_entry *const *)a, *y = *(struct conflict_entry *const *)b;
	int by = compare_names(x, y);

	return by != 0 ? by : x < y ? -1 : 1;
}

/* Applies the rule to an object and the earlier ones with the same name. */
static void look_back(struct conflict_entry **sorted, size_t at)
{
	struct err err;

	for (size_t i = at; i > 0 && at - i < LOOK_BACK_MAX && !sorted[at]->conflict &&
		compare_names(sorted[i - 1], sorted[at]) == 0;
		i--)
		if (validate_beside(sorted[at]->so, sorted[i - 1]->so, NULL, &err) < 0)
			sorted[at]->conflict = mem_dup(err.msg);
}

void conflicts_find(struct conflict_entry *entries, size_t count)
{
	struct conflict_entry **list = mem_array(count + 1, sizeof(*list));

	for (int by_hpa = 0; by_hpa < 2; by_hpa++) {
		size_t named = 0;

		for (struct conflict_entry *one = entries; one < entries + count; one++) {
			if (!one->so)
				continue;
			one->name = by_hpa ? one->hpa : one->so->spec.target_name;
			one->name = one->name ? one->name : "";
			list[named++] = one;
		}
		qsort(list, named, sizeof(struct conflict_entry *), compare);
		for (size_t i = 0; i < named; i++)
			look_back(list, i);
	}
	free(list);
}
