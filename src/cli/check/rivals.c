/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/rivals.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/validate/validate.h"

#define LOOK_BACK_MAX 1000 /* comparisons of one object */

struct rivals {
	struct rival *table;
	size_t count;
};

struct rivals *rivals_new(void)
{
	return mem_zalloc(sizeof(struct rivals));
}

void rivals_free(struct rivals *r)
{
	struct rival *one, *next;

	if (!r)
		return;
	HASH_ITER (hh, r->table, one, next) {
		HASH_DELETE(hh, r->table, one);
		scaledobject_free(one->so);
		free(one->hpa);
		free(one->conflict);
		free(one);
	}
	free(r);
}

void rivals_add(struct rivals *r, const struct document *doc, const json_t *object)
{
	struct rival *one = mem_zalloc(sizeof(*one));
	char hpa[512] = "";

	one->doc = doc;
	one->order = r->count++;
	one->so = scaledobject_decode(object, NULL);
	if (one->so)
		scaledobject_hpa_name(one->so, hpa, sizeof(hpa));
	one->hpa = mem_dup(hpa);
	HASH_ADD_PTR(r->table, doc, one);
}

static int compare_names(const struct rival *a, const struct rival *b)
{
	int by = strcmp(a->so->meta.namespace_, b->so->meta.namespace_);

	return by != 0 ? by : strcmp(a->name, b->name);
}

/* By namespace and name, then in the order of the input. */
static int compare(const void *a, const void *b)
{
	const struct rival *x = *(struct rival *const *)a, *y = *(struct rival *const *)b;
	int by = compare_names(x, y);

	return by != 0 ? by : x->order < y->order ? -1 : 1;
}

/* Applies the rule to an object and the earlier ones with the same name. */
static void look_back(struct rival **sorted, size_t at)
{
	struct err err;

	for (size_t i = at; i > 0 && at - i < LOOK_BACK_MAX && !sorted[at]->conflict &&
		compare_names(sorted[i - 1], sorted[at]) == 0;
		i--)
		if (validate_beside(sorted[at]->so, sorted[i - 1]->so, NULL, &err) < 0)
			sorted[at]->conflict = mem_dup(err.msg);
}

void rivals_find(struct rivals *r)
{
	struct rival **list = mem_array(r->count + 1, sizeof(*list)), *one, *next;

	for (int by_hpa = 0; by_hpa < 2; by_hpa++) {
		size_t count = 0;

		HASH_ITER (hh, r->table, one, next) {
			if (!one->so)
				continue;
			one->name = by_hpa ? one->hpa : one->so->spec.target_name;
			one->name = one->name ? one->name : "";
			list[count++] = one;
		}
		qsort(list, count, sizeof(struct rival *), compare);
		for (size_t i = 0; i < count; i++)
			look_back(list, i);
	}
	free(list);
}

const struct rival *rivals_get(const struct rivals *r, const struct document *doc)
{
	const struct rival *one;

	HASH_FIND_PTR(r->table, &doc, one);
	return one;
}
