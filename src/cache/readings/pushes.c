/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/pushes.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/mem.h"
#include "base/shares.h"
#include "scalers/sources.h"

#define WATCHES_FEW 16

/* A question that is watched. */
struct watched {
	struct pushes *owner;
	struct question *question; /* counted */
	void *handle;              /* the type's handle; NULL: cannot be watched, or too many are */
	bool too_many;
	struct shares_hold share;
	struct push_link *links;
	bool called; /* since the last delivery */
	int64_t told_at_ms;
	struct loop_timer pace; /* earliest next delivery */
	struct watched *next_called;
	struct watched *prev, *next;
};

/* Links an object to a watched question. */
struct push_link {
	struct watched *watch;
	struct pushed *pushed;
	bool stays;                    /* marked while the object's questions are scanned */
	struct push_link *prev, *next; /* of the watch */
	struct push_link *next_of_pushed;
};

/* A held object. */
struct pushed {
	struct pushes *owner;
	struct object *object; /* counted */
	struct push_link *links;
	bool changed; /* waits in pushes.changed */
	struct pushed *next_changed;
	struct pushed *prev, *next; /* in pushes.held */
};

struct pushes {
	struct scaler_sources *sources;
	struct scalers *scalers;
	struct pushed *held;
	struct watched *watches;
	struct shares shares;   /* of the watches */
	bool following;         /* the scalers are being built for this module */
	struct pushed *changed; /* objects whose questions may have changed; newest first */
	struct watched *called; /* to be delivered at the end of this turn; newest first */
	struct loop_task follow;
	struct loop_task tell;
	pushes_fn fn;
	void *arg;
	uint64_t wakes;
	struct counters_family *wakes_by_type;
};

/* ---- Notifying the listener ---- */

/* The callback may hold and release. */
static void tell_holders(struct pushes *p, struct watched *w)
{
	const char *type = w->question->type->name; /* static */
	struct push_link *link;
	size_t count = 0, told = 0;
	struct object **objects;

	DL_COUNT(w->links, link, count);
	objects = mem_array(count + 1, sizeof(struct object *));
	DL_FOREACH (w->links, link)
		objects[told++] = object_ref(link->pushed->object);
	for (size_t i = 0; i < told; i++) {
		if (p->fn && objects[i]->pushed) {
			p->wakes++;
			counters_add(p->wakes_by_type, (const char *const[]){ type }, 1);
			p->fn(p->arg, objects[i]);
		}
		object_unref(objects[i]);
	}
	free(objects);
}

static void put_called(struct watched *w)
{
	LL_PREPEND2(w->owner->called, w, next_called);
	loop_task_queue(w->owner->sources->loop, &w->owner->tell);
}

static void on_tell(void *arg)
{
	struct pushes *p = arg;

	while (p->called) {
		struct watched *w = p->called;

		p->called = w->next_called;
		w->called = false;
		w->told_at_ms = loop_now_ms(p->sources->loop);
		tell_holders(p, w);
	}
}

static void on_pace(void *arg)
{
	put_called(arg);
}

/*
 * Called by sources; only queues the delivery: the first at the end of this turn, later ones as
 * soon as the pace allows.
 */
static void on_look(void *arg)
{
	struct watched *w = arg;
	int64_t wait_ms = w->told_at_ms + PUSHES_PACE_MS - loop_now_ms(w->owner->sources->loop);

	if (w->called)
		return;
	w->called = true;
	if (w->told_at_ms && wait_ms > 0)
		loop_timer_set(&w->pace, wait_ms);
	else
		put_called(w);
}

/* ---- Watches ---- */

static struct watched *watch_new(struct pushes *p, struct question *q)
{
	struct watched *w = q->watched = mem_zalloc(sizeof(*w));

	w->owner = p;
	w->question = question_ref(q);
	w->too_many = !shares_take(&p->shares, &w->share, q->namespace_ ? q->namespace_ : "", 1);
	loop_timer_init(&w->pace, p->sources->loop, on_pace, w);
	DL_APPEND(p->watches, w);
	if (!w->too_many)
		w->handle = q->type->watch(p->sources, w->question, on_look, w);
	return w;
}

static void watch_free(struct watched *w)
{
	DL_DELETE(w->owner->watches, w);
	shares_give(&w->share, 1);
	w->question->watched = NULL;
	if (w->handle)
		w->question->type->unwatch(w->handle);
	if (w->owner->called)
		LL_DELETE2(w->owner->called, w, next_called);
	loop_timer_done(&w->pace);
	question_unref(w->question);
	free(w);
}

static void link_new(struct pushed *h, struct watched *w)
{
	struct push_link *link = mem_zalloc(sizeof(*link));

	link->watch = w;
	link->pushed = h;
	link->stays = true;
	DL_APPEND(w->links, link);
	link->next_of_pushed = h->links;
	h->links = link;
}

static void unmark_links(struct pushed *h)
{
	for (struct push_link *link = h->links; link; link = link->next_of_pushed)
		link->stays = false;
}

/* Drops unmarked links. */
static void drop_links(struct pushed *h)
{
	struct push_link **at = &h->links;

	while (*at) {
		struct push_link *link = *at;

		if (link->stays) {
			at = &link->next_of_pushed;
			continue;
		}
		*at = link->next_of_pushed;
		DL_DELETE(link->watch->links, link);
		if (!link->watch->links)
			watch_free(link->watch);
		free(link);
	}
}

/* ---- An object's questions ---- */

static void follow_question(struct pushed *h, struct question *q)
{
	struct pushes *p = h->owner;
	struct watched *w = q->watched;

	for (struct push_link *link = h->links; w && link; link = link->next_of_pushed) {
		if (link->watch == w) {
			link->stays = true;
			return;
		}
	}
	link_new(h, w ? w : watch_new(p, q));
}

/*
 * Adds new links before dropping old ones, so that a shared watch continues. If the scalers cannot
 * be built at the moment, nothing changes; the object is released when it is gone.
 */
static void follow(struct pushed *h)
{
	struct built built;
	int failed;

	h->owner->following = true;
	failed = scalers_get(h->owner->scalers, h->object, &built, NULL);
	h->owner->following = false;
	if (failed)
		return;
	unmark_links(h);
	for (size_t i = 0; i < built.count; i++) {
		struct question *q = built.list[i].question;

		if (q && q->type->watch)
			follow_question(h, q);
	}
	drop_links(h);
}

static void on_follow(void *arg)
{
	struct pushes *p = arg;

	while (p->changed) {
		struct pushed *h = p->changed;

		p->changed = h->next_changed;
		h->changed = false;
		follow(h);
	}
}

static void mark_changed(struct pushed *h)
{
	if (h->changed)
		return;
	h->changed = true;
	LL_PREPEND2(h->owner->changed, h, next_changed);
	loop_task_queue(h->owner->sources->loop, &h->owner->follow);
}

static void on_built(void *arg, struct object *o)
{
	const struct pushes *p = arg;

	if (o->pushed && !p->following)
		mark_changed(o->pushed);
}

/* ---- Interface ---- */

void pushes_hold(struct pushes *p, struct object *o)
{
	if (o->pushed)
		return;
	o->pushed = mem_zalloc(sizeof(*o->pushed));
	o->pushed->owner = p;
	o->pushed->object = object_ref(o);
	DL_APPEND(p->held, o->pushed);
	mark_changed(o->pushed);
}

void pushes_release(struct object *o)
{
	struct pushed *h = o->pushed;

	if (!h)
		return;
	if (h->changed)
		LL_DELETE2(h->owner->changed, h, next_changed);
	unmark_links(h);
	drop_links(h);
	DL_DELETE(h->owner->held, h);
	o->pushed = NULL;
	free(h);
	object_unref(o);
}

static struct watch_report report_of(const struct watched *w)
{
	if (w->too_many)
		return (struct watch_report){ .state = WATCH_OFF,
			.why = "too many triggers of this namespace are watched already",
			.tell = true };
	return w->question->type->watch_report(w->handle);
}

enum pushes_state pushes_report(const struct question *q, struct watch_report *report)
{
	struct watched *w = q && q->type->watch ? q->watched : NULL;

	if (!q || !q->type->watch || (w && !w->handle && !w->too_many))
		return PUSHES_NONE;
	if (!w)
		return PUSHES_UNHELD;
	*report = report_of(w);
	return PUSHES_REPORTED;
}

struct pushes_stats pushes_stats(const struct pushes *p)
{
	struct pushes_stats stats = { .wakes = p->wakes };
	const struct pushed *h;

	DL_COUNT(p->held, h, stats.held);
	for (const struct watched *w = p->watches; w; w = w->next)
		if (w->handle || w->too_many)
			stats.watches[report_of(w).state]++;
	return stats;
}

void pushes_listen(struct pushes *p, pushes_fn fn, void *arg)
{
	p->fn = fn;
	p->arg = arg;
}

struct pushes *pushes_new(struct scaler_sources *sources, struct scalers *scalers, struct counters *counters,
	size_t watches_max)
{
	static const char *const labels[] = { "type", NULL };
	struct pushes *p = mem_zalloc(sizeof(*p));

	p->sources = sources;
	p->scalers = scalers;
	p->shares = (struct shares){ .total = watches_max, .few = WATCHES_FEW };
	p->wakes_by_type = counters_declare(counters, COUNTERS_COUNTER, "kscaled_push_wakes_total",
		"Looks at objects requested by their sources, by type of trigger.", labels);
	loop_task_init(&p->follow, on_follow, p);
	loop_task_init(&p->tell, on_tell, p);
	scalers_on_built(scalers, on_built, p);
	return p;
}

void pushes_free(struct pushes *p)
{
	if (!p)
		return;
	scalers_on_built(p->scalers, NULL, NULL);
	while (p->held)
		pushes_release(p->held->object);
	loop_task_cancel(p->sources->loop, &p->follow);
	loop_task_cancel(p->sources->loop, &p->tell);
	free(p);
}
