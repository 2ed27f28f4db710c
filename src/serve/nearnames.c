/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/nearnames.h"

#include <string.h>

#include "base/slips.h"

#define SLIPS 2
#define NEAR_MAX 5
#define NAMESPACES_MAX 10

bool nearnames_near(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if ((a_len > 2 && strstr(b, a)) || (b_len > 2 && strstr(a, b)))
		return true;
	/* Two slips in a name of three letters make any other. */
	return slips_between(a, b) <= (a_len < 5 ? 1 : SLIPS);
}

struct search {
	const char *namespace_, *name;
	const struct scaledobject *near[NEAR_MAX];
	size_t near_count;
	const char *namespaces[NAMESPACES_MAX];
	size_t namespace_count;
	bool more;
};

static void note_namespace(struct search *s, const char *namespace_)
{
	for (size_t i = 0; i < s->namespace_count; i++)
		if (strcmp(s->namespaces[i], namespace_) == 0)
			return;
	if (s->namespace_count < NAMESPACES_MAX)
		s->namespaces[s->namespace_count++] = namespace_;
	else
		s->more = true;
}

static void on_object(void *arg, const char *key, const struct scaledobject *so)
{
	struct search *s = arg;
	bool here = strcmp(so->meta.namespace_, s->namespace_) == 0;

	(void)key;
	note_namespace(s, so->meta.namespace_);
	if (s->near_count < NEAR_MAX && (strcmp(so->meta.name, s->name) == 0 || (here && nearnames_near(so->meta.name, s->name))))
		s->near[s->near_count++] = so;
}

static void say_namespaces(const struct search *s, struct buf *out)
{
	buf_puts(out, "; there are some in ");
	for (size_t i = 0; i < s->namespace_count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", s->namespaces[i]);
	if (s->more)
		buf_puts(out, ", ...");
}

void nearnames_explain(const struct store *store, const char *namespace_, const char *name, struct buf *out)
{
	struct search s = { .namespace_ = namespace_, .name = name };
	const char *trouble = store_trouble(store);

	store_each_scaledobject(store, on_object, &s);
	buf_printf(out, "no ScaledObject \"%s/%s\" is known", namespace_, name);
	for (size_t i = 0; i < s.near_count; i++)
		buf_printf(out, "%s%s/%s", i ? ", " : "; near it: ", s.near[i]->meta.namespace_, s.near[i]->meta.name);
	if (!store_synced(store))
		buf_printf(out, "; the ScaledObjects were not read yet%s%s", trouble ? ": " : "", trouble ? trouble : "");
	else if (!s.near_count && s.namespace_count)
		say_namespaces(&s, out);
	else if (!s.near_count)
		buf_puts(out, ", nor any other");
}
