/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rivals.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "decide/validate/validate.h"

#define LOOK_BACK_MAX 1000 /* objects of one name that are not in each other's way */

struct rival {
	const struct document *doc;
	struct scaledobject *so; /* owned; NULL when its metadata cannot be read */
	char *hpa;               /* name of its HPA */
	size_t order;
	char *message;     /* NULL */
	UT_hash_handle hh; /* by doc */
};

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
		free(one->message);
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

static const char *target_of(const struct rival *one)
{
	return one->so->spec.target_name ? one->so->spec.target_name : "";
}

static const char *hpa_of(const struct rival *one)
{
	return one->hpa;
}

typedef const char *(*name_fn)(const struct rival *one);

static int compare(const struct rival *a, const struct rival *b, name_fn name)
{
	int by = strcmp(a->so->meta.namespace_, b->so->meta.namespace_);

	return by != 0 ? by : strcmp(name(a), name(b));
}

static int in_order(const struct rival *a, const struct rival *b, int by)
{
	if (by != 0)
		return by;
	return a->order < b->order ? -1 : 1;
}

static int by_target(const void *a, const void *b)
{
	const struct rival *const *x = a, *const *y = b;

	return in_order(*x, *y, compare(*x, *y, target_of));
}

static int by_hpa(const void *a, const void *b)
{
	const struct rival *const *x = a, *const *y = b;

	return in_order(*x, *y, compare(*x, *y, hpa_of));
}

/* Whether an earlier one of those that have the same name is in its way. */
static void look_back(struct rival **sorted, size_t at, name_fn name)
{
	struct err err;

	for (size_t i = at; i > 0 && at - i < LOOK_BACK_MAX && !sorted[at]->message &&
		compare(sorted[i - 1], sorted[at], name) == 0;
		i--)
		if (validate_beside(sorted[at]->so, sorted[i - 1]->so, NULL, &err) < 0)
			sorted[at]->message = mem_dup(err.msg);
}

static void sweep(struct rival **list, size_t count, int (*order)(const void *, const void *), name_fn name)
{
	if (count > 0)
		qsort(list, count, sizeof(*list), order);
	for (size_t i = 0; i < count; i++)
		look_back(list, i, name);
}

void rivals_find(struct rivals *r)
{
	struct rival **list = mem_array(r->count + 1, sizeof(*list)), *one, *next;
	size_t count = 0;

	HASH_ITER (hh, r->table, one, next)
		if (one->so)
			list[count++] = one;
	sweep(list, count, by_target, target_of);
	sweep(list, count, by_hpa, hpa_of);
	free(list);
}

static struct rival *find(const struct rivals *r, const struct document *doc)
{
	struct rival *one;

	HASH_FIND_PTR(r->table, &doc, one);
	return one;
}

const struct scaledobject *rivals_object(const struct rivals *r, const struct document *doc)
{
	const struct rival *one = find(r, doc);

	return one ? one->so : NULL;
}

const char *rivals_say(const struct rivals *r, const struct document *doc)
{
	const struct rival *one = find(r, doc);

	return one ? one->message : NULL;
}
