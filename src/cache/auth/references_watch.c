/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/references_parts.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

/*
 * A scope has one watch per name, or one for all of it. When its ninth object is referenced, the
 * scope's watch starts, and those by name stop once it is synced, so that nothing is missed in
 * between. It stays until no object of the scope is referenced: a namespace that had so many
 * objects is likely to have them again, one watch is cheaper than several, and switching back would
 * cost another list.
 *
 * If the scope's watch is denied (permissions on single names), watches by name are used for any
 * number of objects, and the scope's watch is tried again periodically.
 */
#define WHOLE_AGAIN_MS   600000
#define WHOLE_GIVE_UP_MS 30000 /* an API server that has just started may not know our permissions */
#define WHOLE_PAGE       20    /* objects per page, of up to 1 MiB each */

static void on_object(void *arg, const json_t *json);
static void on_deleted(void *arg, const json_t *json);
static void on_synced(void *arg);
static void on_trouble(void *arg, const struct err *err);

static const struct informer_events events = {
	.on_object = on_object,
	.on_deleted = on_deleted,
	.on_synced = on_synced,
	.on_trouble = on_trouble,
};

/* ---- Watches ---- */

static struct reference_watch *view_new(struct reference_scope *scope, struct referenced *only)
{
	struct reference_watch *view = mem_zalloc(sizeof(*view));
	MEM_AUTO char *path = references_object_collection(scope);
	struct informer_config config = {
		.path = path,
		.name = only ? only->name : NULL,
		.page = WHOLE_PAGE,
		.failing = only ? "" : NULL, /* the error already names the object */
		.quiet = true,
	};

	view->scope = scope;
	view->only = only;
	view->subject = only ? mem_printf(REFERENCES_OBJECT_FMT, REFERENCES_OBJECT_ARGS(only))
			     : mem_printf("%ss of namespace %s", keydata_kind_name(scope->kind), scope->namespace_);
	config.subject = view->subject;
	informer_start(&view->informer, scope->r->kube, &config, &events, view);
	scope->r->watches++;
	return view;
}

/* Keeps its objects, without a source until another watch delivers them. */
static void view_end(struct reference_watch **slot)
{
	struct reference_watch *view = *slot;
	struct referenced *o;

	if (!view)
		return;
	*slot = NULL;
	if (view->only && view->only->source == view)
		view->only->source = NULL;
	if (!view->only)
		DL_FOREACH (view->scope->objects, o)
			if (o->source == view)
				o->source = NULL;
	view->scope->r->watches--;
	view->scope->r->down -= view->down;
	informer_stop(&view->informer);
	free(view->subject);
	free(view);
}

/* ---- Events ---- */

/* The referenced object of this JSON, or NULL: all others are dropped here. */
static struct referenced *object_of(const struct reference_watch *view, const json_t *json)
{
	const struct reference_scope *scope = view->scope;

	if (view->only)
		return view->only;
	return references_object_find(scope->r, scope->kind, scope->namespace_,
		json_str_or_empty(json_object_get(json, "metadata"), "name"));
}

static void on_object(void *arg, const json_t *json)
{
	struct reference_watch *view = arg;
	struct referenced *o = object_of(view, json);

	if (!o)
		return;
	if (!view->only)
		o->seen = view->informer.list;
	references_object_take(o, view, json);
}

/* A complete list lacks the object: it is gone, unless its source is newer than the list. */
static void not_listed(const struct reference_watch *view, struct referenced *o)
{
	if (o->read)
		return;
	if (o->state == REFERENCE_FOUND && o->source != view)
		references_object_read(o);
	else
		references_object_gone(o, view);
}

static void on_deleted(void *arg, const json_t *json)
{
	struct reference_watch *view = arg;
	struct referenced *o = object_of(view, json);

	/* A GET or the other watch may have delivered the recreated object already. */
	if (!o || (json && informer_is_old(&view->informer, json, o->version)))
		return;
	if (json)
		references_object_gone(o, view);
	else
		not_listed(view, o);
}

static void on_synced(void *arg)
{
	const struct reference_watch *view = arg;
	struct reference_scope *scope = view->scope;
	struct referenced *o;

	DL_FOREACH (scope->objects, o)
		if (o->seen != view->informer.list)
			not_listed(view, o);
	DL_FOREACH (scope->objects, o)
		view_end(&o->own);
}

/* ---- By name, or the whole scope ---- */

static void see_by_name(struct referenced *o)
{
	if (!o->own)
		o->own = view_new(o->scope, o);
}

/* May be called from inside the watch's callback. */
static void whole_give_up(struct reference_scope *scope)
{
	struct referenced *o;

	view_end(&scope->whole);
	loop_timer_set(&scope->timer, WHOLE_AGAIN_MS);
	DL_FOREACH (scope->objects, o)
		see_by_name(o);
}

static void on_scope_timer(void *arg)
{
	struct reference_scope *scope = arg;

	if (scope->whole)
		whole_give_up(scope);
	else if (scope->count > REFERENCES_BY_NAME_MAX)
		scope->whole = view_new(scope, NULL);
}

/*
 * Logs one line for an unreachable server, however many watches there are, and one for each missing
 * permission.
 */
static void log_trouble(struct reference_watch *view, const struct err *err)
{
	struct references *r = view->scope->r;
	bool down = err && !informer_is_denied(err);
	size_t before = r->down;

	r->down += (size_t)down - (size_t)view->down;
	view->down = down;
	if (err && (!down || before == 0))
		informer_log(&view->informer, err);
	else if (err)
		log_debug(view->subject, "cannot be watched at the moment: %s", err->msg);
	else if (before > 0 && r->down == 0)
		log_info("references", "all watches of Secrets and ConfigMaps work");
}

/* Waiting owners get the reason. Known values stay in use. */
static void on_trouble(void *arg, const struct err *err)
{
	struct reference_watch *view = arg;
	struct reference_scope *scope = view->scope;
	bool may_pass = !err || err->kind == ERR_TEMPORARY || (err->kind == ERR_DENIED && !informer_is_denied(err));
	struct referenced *o;

	log_trouble(view, err);
	if (view->only) {
		references_object_notify_waiting(view->only);
		return;
	}
	DL_FOREACH (scope->objects, o)
		references_object_notify_waiting(o);
	if (may_pass)
		loop_timer_cancel(&scope->timer);
	else if (!view->informer.synced)
		whole_give_up(scope);
	else if (!loop_timer_pending(&scope->timer))
		loop_timer_set(&scope->timer, WHOLE_GIVE_UP_MS);
}

/* ---- Scopes ---- */

struct reference_scope *references_watch_scope(struct references *r, enum keydata_kind kind, const char *namespace_)
{
	MEM_AUTO char *key = mem_printf("%s/%s", keydata_kind_name(kind), namespace_);
	struct reference_scope *scope;

	HASH_FIND_STR(r->scopes, key, scope);
	if (scope)
		return scope;
	scope = mem_zalloc(sizeof(*scope));
	scope->r = r;
	scope->key = mem_dup(key);
	scope->kind = kind;
	scope->namespace_ = strchr(scope->key, '/') + 1;
	loop_timer_init(&scope->timer, kube_loop(r->kube), on_scope_timer, scope);
	HASH_ADD_KEYPTR(hh, r->scopes, scope->key, strlen(scope->key), scope);
	return scope;
}

void references_watch_add(struct referenced *o)
{
	struct reference_scope *scope = o->scope;

	DL_APPEND(scope->objects, o);
	scope->count++;
	if (!scope->whole && scope->count > REFERENCES_BY_NAME_MAX && !loop_timer_pending(&scope->timer))
		scope->whole = view_new(scope, NULL);
	if (!scope->whole)
		see_by_name(o);
	else if (scope->whole->informer.listing || scope->whole->informer.synced)
		references_object_read(o); /* a list in progress may have passed it already */
}

void references_watch_remove(struct referenced *o)
{
	struct reference_scope *scope = o->scope;

	view_end(&o->own);
	DL_DELETE(scope->objects, o);
	if (--scope->count > 0)
		return;
	HASH_DELETE(hh, scope->r->scopes, scope);
	view_end(&scope->whole);
	loop_timer_done(&scope->timer);
	free(scope->key);
	free(scope);
}
