/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/nearnames.h"

#include <string.h>

#include "base/editdist.h"

#define NEAR_MAX 5

bool nearnames_near(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if ((a_len > 2 && strstr(b, a)) || (b_len > 2 && strstr(a, b)))
		return true;
	return editdist_near(a, b) != EDITDIST_FAR;
}

struct near_search {
	enum scaled_kind kind;
	const char *namespace_, *name;
	const char *near[NEAR_MAX];
	size_t near_count, count;
};

static void on_object(void *arg, struct object *o)
{
	struct near_search *s = arg;
	const struct meta *meta = o->of.meta;

	if (o->kind != s->kind || strcmp(meta->namespace_, s->namespace_) != 0)
		return;
	s->count++;
	if (s->near_count < NEAR_MAX && nearnames_near(meta->name, s->name))
		s->near[s->near_count++] = meta->name;
}

void nearnames_explain(const struct store *store, enum scaled_kind kind, const char *namespace_, const char *name,
	struct buf *out)
{
	struct near_search s = { .kind = kind, .namespace_ = namespace_, .name = name };

	store_each_object(store, on_object, &s);
	buf_printf(out, "no %s \"%s/%s\" is known", scaled_kind_name(kind), namespace_, name);
	for (size_t i = 0; i < s.near_count; i++)
		buf_printf(out, "%s%s", i ? ", " : "; near it: ", s.near[i]);
	if (!s.near_count)
		buf_puts(out, s.count ? "; others are, in this namespace" : ", nor any other in this namespace");
}
