/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/conflicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/validate/validate.h"

#define LOOK_BACK_MAX 1000 /* comparisons of one object */

struct conflicts {
	struct conflict_entry *table;
	size_t count;
};

struct conflicts *conflicts_new(void)
{
	return mem_zalloc(sizeof(struct conflicts));
}

void conflicts_free(struct conflicts *r)
{
	struct conflict_entry *one, *next;

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

void conflicts_add(struct conflicts *r, const struct document *doc, const json_t *object)
{
	struct conflict_entry *one = mem_zalloc(sizeof(*one));
	char hpa[512] = "";

	one->doc = doc;
	one->order = r->count++;
	one->so = scaledobject_decode(object, NULL);
	if (one->so)
		scaledobject_hpa_name(one->so, hpa, sizeof(hpa));
	one->hpa = mem_dup(hpa);
	HASH_ADD_PTR(r->table, doc, one);
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

	return by != 0 ? by : x->order < y->order ? -1 : 1;
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

void conflicts_find(struct conflicts *r)
{
	struct conflict_entry **list = mem_array(r->count + 1, sizeof(*list)), *one, *next;

	for (int by_hpa = 0; by_hpa < 2; by_hpa++) {
		size_t count = 0;

		HASH_ITER (hh, r->table, one, next) {
			if (!one->so)
				continue;
			one->name = by_hpa ? one->hpa : one->so->spec.target_name;
			one->name = one->name ? one->name : "";
			list[count++] = one;
		}
		qsort(list, count, sizeof(struct conflict_entry *), compare);
		for (size_t i = 0; i < count; i++)
			look_back(list, i);
	}
	free(list);
}

const struct conflict_entry *conflicts_get(const struct conflicts *r, const struct document *doc)
{
	const struct conflict_entry *one;

	HASH_FIND_PTR(r->table, &doc, one);
	return one;
}
