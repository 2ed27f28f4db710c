/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http/httppath.h"
#include "serve/explain/explainparts.h"
#include "serve/nearnames.h"
#include "serve/request.h"

#define ANSWER_MAX ((size_t)32 << 20)

static void reply(struct request *r, struct buf *out)
{
	if (buf_failed(out))
		request_refuse(r, APISTATUS_INTERNAL_ERROR,
			"the answer would be longer than %zu bytes: ask with ?namespace=", ANSWER_MAX);
	else
		request_reply(r, 200, "application/json", out->data, out->len);
	buf_done(out);
}

/* ---- One object ---- */

struct wanted_object {
	char namespace_[254], name[254];
};

static bool part(const struct request *r, size_t i, char *out, size_t size)
{
	return httppath_decode(r->parts.list[i].text, r->parts.list[i].len, false, out, size) == 0 && *out;
}

static bool read_path(struct request *r, struct wanted_object *w)
{
	if (part(r, 0, w->namespace_, sizeof(w->namespace_)) && part(r, 1, w->name, sizeof(w->name)))
		return true;
	request_refuse(r, APISTATUS_BAD_REQUEST,
		"the path must be /explain/NAMESPACE/NAME, /explain/scaledobjects/NAMESPACE/NAME or "
		"/explain/scaledjobs/NAMESPACE/NAME");
	return false;
}

static void reply_unknown(struct request *r, const struct wanted_object *w, enum nearnames_kind kind)
{
	struct buf text = BUF_INIT(4096);

	nearnames_explain(r->serve->cache->store, kind, w->namespace_, w->name, &text);
	request_refuse(r, APISTATUS_NOT_FOUND, "%s", buf_text(&text));
	buf_done(&text);
}

/* also: another object that whoever asked may have meant; NULL. */
static void reply_object(struct request *r, struct object *o, const char *also)
{
	struct cache *cache = r->serve->cache;
	struct buf out = BUF_INIT(ANSWER_MAX);
	struct jsonout j = JSONOUT_INIT(&out);

	jsonout_object(&j, NULL);
	explainparts_leader(&j, &cache->leadership);
	explainparts_write(&j, cache, o, true);
	jsonout_text(&j, "also", also);
	jsonout_end_object(&j);
	reply(r, &out);
}

void explain_handle(struct request *r)
{
	const struct store *store = r->serve->cache->store;
	enum nearnames_kind kind = (enum nearnames_kind)r->route->of;
	struct object *object = NULL, *job = NULL;
	struct wanted_object w;

	if (!read_path(r, &w))
		return;
	if (kind != NEARNAMES_SCALEDJOB)
		object = store_find(store, SCALED_OBJECT, w.namespace_, w.name);
	if (kind != NEARNAMES_SCALEDOBJECT)
		job = store_find(store, SCALED_JOB, w.namespace_, w.name);
	if (object || job)
		reply_object(r, object ? object : job, object && job ? scaled_kind_name(SCALED_JOB) : NULL);
	else
		reply_unknown(r, &w, kind);
}

/* ---- All of them ---- */

struct list {
	const char *namespace_; /* NULL: all */
	bool objects, jobs;     /* which kinds */
	struct object **items;  /* owned; they are borrowed */
	size_t count, alloc;
};

static void on_listed(void *arg, struct object *o)
{
	struct list *l = arg;

	if (l->namespace_ && strcmp(l->namespace_, o->of.meta->namespace_) != 0)
		return;
	if (o->kind == SCALED_JOB ? !l->jobs : !l->objects)
		return;
	if (l->count == l->alloc) {
		l->alloc = l->alloc ? 2 * l->alloc : 64;
		l->items = mem_resize(l->items, l->alloc, sizeof(struct object *));
	}
	l->items[l->count++] = o;
}

static int compare(const void *a, const void *b)
{
	const struct scaled *x = &(*(struct object *const *)a)->of, *y = &(*(struct object *const *)b)->of;
	int by_namespace = strcmp(x->meta->namespace_, y->meta->namespace_);
	int by_name = by_namespace ? by_namespace : strcmp(x->meta->name, y->meta->name);

	return by_name ? by_name : (int)x->kind - (int)y->kind;
}

static bool read_query(const struct request *r, struct list *list)
{
	const char *namespace_ = httpd_query(r->http, "namespace"), *kind = httpd_query(r->http, "kind");
	bool all = !kind || !*kind;

	list->namespace_ = namespace_ && *namespace_ ? namespace_ : NULL;
	list->objects = all || strcmp(kind, scaled_kind_word(SCALED_OBJECT)) == 0;
	list->jobs = all || strcmp(kind, scaled_kind_word(SCALED_JOB)) == 0;
	return list->objects || list->jobs;
}

static void write_known_jobs(struct jsonout *j, const struct store *store)
{
	const char *trouble;
	bool synced = store_synced_scaledjobs(store, &trouble);

	jsonout_object(j, "scaledJobs");
	jsonout_bool(j, "synced", synced);
	jsonout_text(j, "trouble", trouble);
	jsonout_end_object(j);
}

static void reply_list(struct request *r, struct list *list)
{
	struct cache *cache = r->serve->cache;
	struct buf out = BUF_INIT(ANSWER_MAX);
	struct jsonout j = JSONOUT_INIT(&out);

	jsonout_object(&j, NULL);
	explainparts_leader(&j, &cache->leadership);
	jsonout_bool(&j, "synced", store_synced(cache->store));
	write_known_jobs(&j, cache->store);
	jsonout_array(&j, "items");
	for (size_t i = 0; i < list->count; i++) {
		jsonout_object(&j, NULL);
		explainparts_write(&j, cache, list->items[i], false);
		jsonout_end_object(&j);
	}
	jsonout_end_array(&j);
	jsonout_end_object(&j);
	reply(r, &out);
}

void explain_handle_list(struct request *r)
{
	struct list list = { .items = NULL };

	if (!read_query(r, &list)) {
		request_refuse(r, APISTATUS_BAD_REQUEST, "kind: \"%.80s\" is neither %s nor %s",
			httpd_query(r->http, "kind"), scaled_kind_word(SCALED_OBJECT), scaled_kind_word(SCALED_JOB));
		return;
	}
	store_each_object(r->serve->cache->store, on_listed, &list);
	if (list.count)
		qsort(list.items, list.count, sizeof(struct object *), compare);
	reply_list(r, &list);
	free(list.items);
}
