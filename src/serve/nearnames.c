/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/nearnames.h"

#include <string.h>

#include "base/editdist.h"

#define NEAR_MAX       5
#define NAMESPACES_MAX 10

bool nearnames_near(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if ((a_len > 2 && strstr(b, a)) || (b_len > 2 && strstr(a, b)))
		return true;
	return editdist_near(a, b) != EDITDIST_FAR;
}

struct near_object {
	enum scaled_kind kind;
	const struct meta *meta;
};

struct near_search {
	enum nearnames_kind kind;
	const char *namespace_, *name;
	struct near_object near[NEAR_MAX];
	size_t near_count;
	const char *namespaces[NAMESPACES_MAX];
	size_t namespace_count;
	bool more;
};

static void note_namespace(struct near_search *s, const char *namespace_)
{
	for (size_t i = 0; i < s->namespace_count; i++)
		if (strcmp(s->namespaces[i], namespace_) == 0)
			return;
	if (s->namespace_count < NAMESPACES_MAX)
		s->namespaces[s->namespace_count++] = namespace_;
	else
		s->more = true;
}

static bool is_asked_for(enum nearnames_kind asked, enum scaled_kind kind)
{
	return asked == NEARNAMES_ANY || (asked == NEARNAMES_SCALEDJOB) == (kind == SCALED_JOB);
}

static void on_object(void *arg, struct object *o)
{
	struct near_search *s = arg;
	const struct meta *meta = o->of.meta;
	bool here = strcmp(meta->namespace_, s->namespace_) == 0;

	if (is_asked_for(s->kind, o->kind))
		note_namespace(s, meta->namespace_);
	if (s->near_count < NEAR_MAX &&
		(strcmp(meta->name, s->name) == 0 || (here && nearnames_near(meta->name, s->name))))
		s->near[s->near_count++] = (struct near_object){ o->kind, meta };
}

static void say_namespaces(const struct near_search *s, struct buf *out)
{
	buf_puts(out, "; there are some in ");
	for (size_t i = 0; i < s->namespace_count; i++)
		buf_printf(out, "%s%s", i ? ", " : "", s->namespaces[i]);
	if (s->more)
		buf_puts(out, ", ...");
}

static void say_near(const struct near_search *s, struct buf *out)
{
	enum scaled_kind usual = s->kind == NEARNAMES_SCALEDJOB ? SCALED_JOB : SCALED_OBJECT;

	for (size_t i = 0; i < s->near_count; i++) {
		const struct near_object *n = &s->near[i];

		buf_puts(out, i ? ", " : "; near it: ");
		if (n->kind != usual)
			buf_printf(out, "%s ", scaled_kind_name(n->kind));
		buf_printf(out, "%s/%s", n->meta->namespace_, n->meta->name);
	}
}

static const char *asked_for(enum nearnames_kind kind)
{
	static const char *const texts[] = { [NEARNAMES_ANY] = "ScaledObject or ScaledJob",
		[NEARNAMES_SCALEDOBJECT] = "ScaledObject",
		[NEARNAMES_SCALEDJOB] = "ScaledJob" };

	return texts[kind];
}

/* Which kind that was asked for was not read yet; NULL: what is not known is not there. */
static const char *unread(const struct store *store, enum nearnames_kind kind, const char **trouble)
{
	*trouble = store_trouble(store);
	if (is_asked_for(kind, SCALED_OBJECT) && !store_synced(store))
		return scaled_kind_name(SCALED_OBJECT);
	if (is_asked_for(kind, SCALED_JOB) && !store_synced_scaledjobs(store, trouble))
		return scaled_kind_name(SCALED_JOB);
	return NULL;
}

void nearnames_explain(const struct store *store, enum nearnames_kind kind, const char *namespace_, const char *name,
	struct buf *out)
{
	struct near_search s = { .kind = kind, .namespace_ = namespace_, .name = name };
	const char *trouble, *missing = unread(store, kind, &trouble);

	store_each_object(store, on_object, &s);
	buf_printf(out, "no %s \"%s/%s\" is known", asked_for(kind), namespace_, name);
	say_near(&s, out);
	if (missing)
		buf_printf(out, "; the %ss were not read yet%s%s", missing, trouble ? ": " : "",
			trouble ? trouble : "");
	else if (!s.near_count && s.namespace_count)
		say_namespaces(&s, out);
	else if (!s.near_count)
		buf_puts(out, ", nor any other");
}
