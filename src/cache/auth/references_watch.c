/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/references_parts.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

/*
 * A place is watched by one watch per name, or by one whole watch. When its ninth object is
 * referenced, the whole watch starts, and those by name stop once it is synced, so that nothing is
 * missed in between. It stays until nothing in the place is referenced: a namespace that had so
 * many objects is likely to have them again, one watch is cheaper than several, and switching back
 * would cost another list.
 *
 * Where the whole watch is denied (permissions on single names), watches by name are used for any
 * number of objects, and the whole watch is tried again periodically.
 */
#define WHOLE_AGAIN_MS   600000
#define WHOLE_GIVE_UP_MS 30000 /* an API server that has just started may not know our permissions yet */
#define WHOLE_PAGE       20    /* of objects that may have 1 MiB each */

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

/* ---- Views ---- */

static struct reference_watch *view_new(struct reference_place *place, struct referenced *only)
{
	struct reference_watch *view = mem_zalloc(sizeof(*view));
	MEM_AUTO char *path = references_object_collection(place);
	struct informer_config config = {
		.path = path,
		.name = only ? only->name : NULL,
		.page = WHOLE_PAGE,
		.failing = only ? "" : NULL, /* the error already names the object */
		.quiet = true,
	};

	view->place = place;
	view->only = only;
	view->subject = only ? mem_printf(REFERENCES_OBJECT_FMT, REFERENCES_OBJECT_ARGS(only))
			     : mem_printf("%ss of namespace %s", keydata_kind_name(place->kind), place->namespace_);
	config.subject = view->subject;
	informer_start(&view->informer, place->r->kube, &config, &events, view);
	place->r->watches++;
	return view;
}

/* Its objects are kept, without a source until another watch delivers them. */
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
		DL_FOREACH (view->place->objects, o)
			if (o->source == view)
				o->source = NULL;
	view->place->r->watches--;
	view->place->r->down -= view->down;
	informer_stop(&view->informer);
	free(view->subject);
	free(view);
}

/* ---- What a view brings ---- */

/* The referenced object of this JSON, or NULL: all others are dropped here. */
static struct referenced *object_of(const struct reference_watch *view, const json_t *json)
{
	const struct reference_place *place = view->place;

	if (view->only)
		return view->only;
	return references_object_find(place->r, place->kind, place->namespace_,
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

/* A complete list lacks it: it is gone, unless its source knows more than this list. */
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
	struct reference_place *place = view->place;
	struct referenced *o;

	DL_FOREACH (place->objects, o)
		if (o->seen != view->informer.list)
			not_listed(view, o);
	DL_FOREACH (place->objects, o)
		view_end(&o->own);
}

/* ---- By name, or the whole ---- */

static void see_by_name(struct referenced *o)
{
	if (!o->own)
		o->own = view_new(o->place, o);
}

/* The watch's callback may be running. */
static void whole_give_up(struct reference_place *place)
{
	struct referenced *o;

	view_end(&place->whole);
	loop_timer_set(&place->timer, WHOLE_AGAIN_MS);
	DL_FOREACH (place->objects, o)
		see_by_name(o);
}

static void on_place_timer(void *arg)
{
	struct reference_place *place = arg;

	if (place->whole)
		whole_give_up(place);
	else if (place->count > REFERENCES_BY_NAME_MAX)
		place->whole = view_new(place, NULL);
}

/*
 * Logs one line for an unreachable server, however many watches it has; one for each missing
 * permission.
 */
static void log_trouble(struct reference_watch *view, const struct err *err)
{
	struct references *r = view->place->r;
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
	struct reference_place *place = view->place;
	bool may_pass = !err || err->kind == ERR_TEMPORARY || (err->kind == ERR_DENIED && !informer_is_denied(err));
	struct referenced *o;

	log_trouble(view, err);
	if (view->only) {
		references_object_tell_waiting(view->only);
		return;
	}
	DL_FOREACH (place->objects, o)
		references_object_tell_waiting(o);
	if (may_pass)
		loop_timer_cancel(&place->timer);
	else if (!view->informer.synced)
		whole_give_up(place);
	else if (!loop_timer_pending(&place->timer))
		loop_timer_set(&place->timer, WHOLE_GIVE_UP_MS);
}

/* ---- Places ---- */

struct reference_place *references_watch_place(struct references *r, enum keydata_kind kind, const char *namespace_)
{
	MEM_AUTO char *key = mem_printf("%s/%s", keydata_kind_name(kind), namespace_);
	struct reference_place *place;

	HASH_FIND_STR(r->places, key, place);
	if (place)
		return place;
	place = mem_zalloc(sizeof(*place));
	place->r = r;
	place->key = mem_dup(key);
	place->kind = kind;
	place->namespace_ = strchr(place->key, '/') + 1;
	loop_timer_init(&place->timer, kube_loop(r->kube), on_place_timer, place);
	HASH_ADD_KEYPTR(hh, r->places, place->key, strlen(place->key), place);
	return place;
}

void references_watch_add(struct referenced *o)
{
	struct reference_place *place = o->place;

	DL_APPEND(place->objects, o);
	place->count++;
	if (!place->whole && place->count > REFERENCES_BY_NAME_MAX && !loop_timer_pending(&place->timer))
		place->whole = view_new(place, NULL);
	if (!place->whole)
		see_by_name(o);
	else if (place->whole->informer.listing || place->whole->informer.synced)
		references_object_read(o); /* a running list may have passed it already */
}

void references_watch_remove(struct referenced *o)
{
	struct reference_place *place = o->place;

	view_end(&o->own);
	DL_DELETE(place->objects, o);
	if (--place->count > 0)
		return;
	HASH_DELETE(hh, place->r->places, place);
	view_end(&place->whole);
	loop_timer_done(&place->timer);
	free(place->key);
	free(place);
}
