/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/insight/insight.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "serve/accept.h"
#include "serve/explain/explain.h"
#include "serve/insight/insightquery.h"
#include "serve/insight/insighttable.h"
#include "serve/nearnames.h"
#include "serve/request.h"

#define ANSWER_MAX ((size_t)32 << 20)
#define TABLE_FORM "application/json;as=Table;v=v1;g=meta.k8s.io"

static enum scaled_kind kind_of(const struct request *r)
{
	return (enum scaled_kind)r->route->of;
}

/* ---- Objects ---- */

static void write_kind(struct jsonout *j, enum scaled_kind kind, const char *suffix)
{
	MEM_AUTO char *name = mem_printf("%sInsight%s", scaled_kind_name(kind), suffix);

	jsonout_text(j, "kind", name);
	jsonout_text(j, "apiVersion", INSIGHT_GROUP "/" INSIGHT_VERSION);
}

static void write_metadata(struct jsonout *j, const struct meta *m)
{
	char created[TIMESTAMP_TEXT_MAX];

	jsonout_object(j, "metadata");
	jsonout_text(j, "name", m->name);
	jsonout_text(j, "namespace", m->namespace_);
	if (m->uid && *m->uid)
		jsonout_text(j, "uid", m->uid);
	jsonout_text(j, "creationTimestamp", m->created_unix_ms ? timestamp_format(m->created_unix_ms, created) : NULL);
	if (m->labels.count) {
		jsonout_object(j, "labels");
		for (size_t i = 0; i < m->labels.count; i++)
			jsonout_text(j, m->labels.pairs[i].key, m->labels.pairs[i].value);
		jsonout_end(j);
	}
	jsonout_end(j);
}

static void write_members(struct jsonout *j, struct cache *cache, struct object *o, bool whole)
{
	write_kind(j, o->kind, "");
	write_metadata(j, o->of.meta);
	jsonout_object(j, "summary");
	explain_write_summary(j, cache, o);
	jsonout_end(j);
	if (!whole)
		return;
	jsonout_object(j, "explanation");
	explain_write(j, cache, o);
	jsonout_end(j);
}

/* ---- Forms ---- */

static void write_row_object(struct jsonout *j, struct cache *cache, struct object *o,
	enum insightquery_include include)
{
	if (include == INSIGHTQUERY_NOTHING)
		return;
	jsonout_object(j, "object");
	if (include == INSIGHTQUERY_OBJECT) {
		write_members(j, cache, o, false);
	} else {
		jsonout_text(j, "kind", "PartialObjectMetadata");
		jsonout_text(j, "apiVersion", "meta.k8s.io/v1");
		write_metadata(j, o->of.meta);
	}
	jsonout_end(j);
}

static void write_table(struct jsonout *j, struct cache *cache, enum scaled_kind kind, struct object *const *items,
	size_t count, enum insightquery_include include)
{
	jsonout_text(j, "kind", "Table");
	jsonout_text(j, "apiVersion", "meta.k8s.io/v1");
	jsonout_object(j, "metadata");
	jsonout_end(j);
	insighttable_columns(j, kind);
	jsonout_array(j, "rows");
	for (size_t i = 0; i < count; i++) {
		jsonout_object(j, NULL);
		insighttable_cells(j, cache, items[i]);
		write_row_object(j, cache, items[i], include);
		jsonout_end(j);
	}
	jsonout_end(j);
}

static void write_list(struct jsonout *j, struct cache *cache, enum scaled_kind kind, struct object *const *items,
	size_t count)
{
	write_kind(j, kind, "List");
	jsonout_object(j, "metadata");
	jsonout_end(j);
	jsonout_array(j, "items");
	for (size_t i = 0; i < count; i++) {
		jsonout_object(j, NULL);
		write_members(j, cache, items[i], false);
		jsonout_end(j);
	}
	jsonout_end(j);
}

enum form { FORM_OBJECT, FORM_LIST, FORM_TABLE };

static void reply_objects(struct request *r, enum form form, struct object *const *items, size_t count,
	enum insightquery_include include)
{
	struct cache *cache = r->serve->cache;
	struct buf out = BUF_INIT(ANSWER_MAX);
	struct jsonout j = JSONOUT_INIT(&out);

	jsonout_object(&j, NULL);
	if (form == FORM_TABLE)
		write_table(&j, cache, kind_of(r), items, count, include);
	else if (form == FORM_LIST)
		write_list(&j, cache, kind_of(r), items, count);
	else
		write_members(&j, cache, items[0], true);
	jsonout_end(&j);
	httpd_add_header(r->http, "Vary", "Accept");
	if (buf_failed(&out))
		request_refuse(r, APISTATUS_INTERNAL_ERROR,
			"the answer would be longer than %zu bytes: ask for one namespace, or with a labelSelector",
			ANSWER_MAX);
	else
		request_reply(r, 200, "application/json", out.data, out.len);
	buf_done(&out);
}

/* ---- Checks before each answer ---- */

/* Before the objects of the kind were read, it is not known whether one exists. */
static bool check_read(struct request *r)
{
	const struct store *store = r->serve->cache->store;
	const char *trouble = store_trouble(store);
	bool synced = kind_of(r) == SCALED_JOB ? store_synced_scaledjobs(store, &trouble) : store_synced(store);

	if (!synced)
		request_refuse(r, APISTATUS_NOT_YET, "the %ss were not read yet%s%s", scaled_kind_name(kind_of(r)),
			trouble ? ": " : "", trouble ? trouble : "");
	return synced;
}

/* *table: the answer should be a Table. */
static bool check_query(struct request *r, struct insightquery *q, bool *table)
{
	static const char *const offers[] = { "application/json", TABLE_FORM, NULL };
	int form = accept_choose(httpd_header(r->http, "Accept"), offers);
	struct err err = { 0 };

	*table = form == 1;
	if (form < 0)
		request_refuse(r, APISTATUS_NOT_ACCEPTABLE, "only application/json and %s are available here",
			TABLE_FORM);
	else if (insightquery_read(r->http, q, &err))
		request_refuse(r, APISTATUS_BAD_REQUEST, "%s", err.msg);
	else if (q->watch)
		request_refuse(r, APISTATUS_METHOD_NOT_ALLOWED, "watch is not supported on %s: ask again",
			r->route->resource->resource);
	else
		return check_read(r);
	return false;
}

/* ---- One object ---- */

static void reply_unknown(struct request *r)
{
	struct buf text = BUF_INIT(4096);

	nearnames_explain(r->serve->cache->store, kind_of(r), r->namespace_, r->name, &text);
	request_refuse(r, APISTATUS_NOT_FOUND, "%s", buf_text(&text));
	buf_done(&text);
}

void insight_handle(struct request *r)
{
	struct insightquery query = { 0 };
	struct object *o;
	bool table;

	if (check_query(r, &query, &table)) {
		o = store_find(r->serve->cache->store, kind_of(r), r->namespace_, r->name);
		if (o)
			reply_objects(r, table ? FORM_TABLE : FORM_OBJECT, &o, 1, query.include);
		else
			reply_unknown(r);
	}
	insightquery_done(&query);
}

/* ---- Lists ---- */

struct insight_list {
	enum scaled_kind kind;
	const char *namespace_; /* "": all */
	const struct insightquery *query;
	struct object **items; /* owned; they are borrowed */
	size_t count, alloc;
};

static void on_listed(void *arg, struct object *o)
{
	struct insight_list *l = arg;

	if (o->kind != l->kind || (*l->namespace_ && strcmp(l->namespace_, o->of.meta->namespace_) != 0) ||
		!insightquery_matches(l->query, o->of.meta))
		return;
	if (l->count == l->alloc) {
		l->alloc = l->alloc ? 2 * l->alloc : 64;
		l->items = mem_resize(l->items, l->alloc, sizeof(struct object *));
	}
	l->items[l->count++] = o;
}

static int compare(const void *a, const void *b)
{
	const struct meta *x = (*(struct object *const *)a)->of.meta, *y = (*(struct object *const *)b)->of.meta;
	int by_namespace = strcmp(x->namespace_, y->namespace_);

	return by_namespace ? by_namespace : strcmp(x->name, y->name);
}

void insight_handle_list(struct request *r)
{
	struct insightquery query = { 0 };
	struct insight_list list = { .kind = kind_of(r), .namespace_ = r->namespace_, .query = &query };
	bool table;

	if (check_query(r, &query, &table)) {
		store_each_object(r->serve->cache->store, on_listed, &list);
		if (list.count)
			qsort(list.items, list.count, sizeof(struct object *), compare);
		reply_objects(r, table ? FORM_TABLE : FORM_LIST, list.items, list.count, query.include);
	}
	free(list.items);
	insightquery_done(&query);
}
