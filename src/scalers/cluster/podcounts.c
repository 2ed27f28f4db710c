/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/podcounts.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/informer.h"
#include "scalers/cluster/podtable.h"

#define PAGE         200
#define IDLE_MS      300000 /* an unused watch stops after this time */
#define STALE_MS     30000  /* how long a count holds while its watch fails */
#define ESCAPED_SIZE (3 * 253 + 1)

/* What is reported; changes only when a list is complete. */
struct pod_counts {
	size_t pods, nodes;
};

/* One namespace and selector. */
struct counted_place {
	struct podcounts *owner;
	char *key;
	struct informer informer;
	struct podtable table;
	struct pod_counts counts;
	bool known;          /* a list was complete once */
	int64_t troubled_ms; /* since when the watch fails (loop clock); 0: it works */
	struct podcounts_wait *waits;
	struct podcounts_watch *watchers;
	struct loop_task settle; /* at the end of the turn: updates counts, answers waits, notifies watchers */
	bool tell;               /* notify watchers even if the counts are unchanged */
	struct loop_timer idle;  /* runs while there are no waits and watchers */
	UT_hash_handle hh;
};

struct podcounts_wait {
	struct podcounts_wait *prev, *next;
	struct counted_place *place;
	bool nodes, due;
	podcounts_fn fn;
	void *arg;
	struct loop_timer deadline;
};

struct podcounts_watch {
	struct podcounts_watch *prev, *next;
	struct counted_place *place;
	bool nodes;
	size_t told; /* the count last reported to look */
	question_look_fn look;
	void *arg;
	bool due;
};

struct podcounts {
	struct kube *kube;
	struct counted_place *places;
};

static struct loop *loop_of(const struct counted_place *p)
{
	return kube_loop(p->owner->kube);
}

/* ---- What can be answered ---- */

enum standing { STANDING_WAIT, STANDING_COUNT, STANDING_FAILED };

static enum standing standing_of(const struct counted_place *p)
{
	const struct err *trouble = p->informer.trouble;

	/* A refusal lasts until somebody changes the configuration. */
	if (trouble && trouble->kind != ERR_TEMPORARY && trouble->kind != ERR_GONE)
		return STANDING_FAILED;
	if (!p->known)
		return STANDING_WAIT;
	return trouble && loop_now_ms(loop_of(p)) - p->troubled_ms > STALE_MS ? STANDING_FAILED : STANDING_COUNT;
}

static size_t count_of(const struct counted_place *p, bool nodes)
{
	return nodes ? p->counts.nodes : p->counts.pods;
}

static void idle_if_unused(struct counted_place *p)
{
	if (!p->waits && !p->watchers)
		loop_timer_set(&p->idle, IDLE_MS);
}

static void wait_free(struct podcounts_wait *w)
{
	DL_DELETE(w->place->waits, w);
	loop_timer_done(&w->deadline);
	idle_if_unused(w->place);
	free(w);
}

/* Frees the wait before the callback, so that it is called once. */
static void wait_finish(struct podcounts_wait *w, const struct err *err)
{
	size_t count = count_of(w->place, w->nodes);
	podcounts_fn fn = w->fn;
	void *arg = w->arg;

	wait_free(w);
	fn(arg, err ? 0 : count, err);
}

/*
 * Callbacks may cancel other waits and add new ones, which belong to a later answer, so the search
 * restarts at the front each time.
 */
static void answer(struct counted_place *p)
{
	enum standing standing = standing_of(p);
	struct podcounts_wait *w;
	struct err err;

	if (standing == STANDING_WAIT)
		return;
	if (standing == STANDING_FAILED)
		err = *p->informer.trouble;
	DL_FOREACH (p->waits, w)
		w->due = true;
	do {
		DL_FOREACH (p->waits, w)
			if (w->due)
				break;
		if (w)
			wait_finish(w, standing == STANDING_FAILED ? &err : NULL);
	} while (w);
}

static void tell_watchers(struct counted_place *p)
{
	struct podcounts_watch *w;

	DL_FOREACH (p->watchers, w)
		w->due = p->tell || w->told != count_of(p, w->nodes);
	p->tell = false;
	/* look may end any watch, so the search restarts at the front each time. */
	do {
		DL_FOREACH (p->watchers, w)
			if (w->due)
				break;
		if (w) {
			w->due = false;
			w->told = count_of(p, w->nodes);
			w->look(w->arg);
		}
	} while (w);
}

static void on_settle(void *arg)
{
	struct counted_place *p = arg;

	if (p->known && !p->informer.listing)
		p->counts = (struct pod_counts){ podtable_pods(&p->table), podtable_nodes(&p->table) };
	if (p->known)
		tell_watchers(p);
	answer(p);
}

static void settle(struct counted_place *p)
{
	loop_task_queue(loop_of(p), &p->settle);
}

/* ---- What the watch brings ---- */

static void on_object(void *arg, const json_t *object)
{
	struct counted_place *p = arg;

	podtable_take(&p->table, object, p->informer.list);
	if (!p->informer.listing)
		settle(p);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct counted_place *p = arg;

	podtable_drop(&p->table, object);
	settle(p);
}

static void on_synced(void *arg)
{
	struct counted_place *p = arg;

	podtable_listed(&p->table, p->informer.list);
	p->tell = p->tell || !p->known;
	p->known = true;
	if (!p->informer.trouble)
		p->troubled_ms = 0;
	settle(p);
}

static void on_trouble(void *arg, const struct err *err)
{
	struct counted_place *p = arg;

	if (!err)
		p->troubled_ms = 0;
	else if (!p->troubled_ms)
		p->troubled_ms = loop_now_ms(loop_of(p));
	p->tell = p->tell || !err;
	settle(p);
}

/* ---- Places ---- */

static void place_free(struct counted_place *p)
{
	HASH_DELETE(hh, p->owner->places, p);
	informer_stop(&p->informer);
	loop_task_cancel(loop_of(p), &p->settle);
	loop_timer_done(&p->idle);
	podtable_done(&p->table);
	free(p->key);
	free(p);
}

static void on_idle(void *arg)
{
	place_free(arg);
}

static void place_start(struct counted_place *p, const struct podcounts_of *of)
{
	static const struct informer_events events = { NULL, on_object, on_deleted, on_synced, on_trouble, NULL };
	char namespace_[ESCAPED_SIZE];
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s/pods",
		kube_escape(of->namespace_, namespace_, sizeof(namespace_)) ? namespace_ : "");
	struct informer_config config = {
		.path = path,
		.label_selector = of->selector,
		.field_selector = "status.phase!=Succeeded,status.phase!=Failed",
		.page = PAGE,
		.subject = p->key,
		.failing = "pods cannot be counted",
		.grant = "a role with the verbs list and watch on pods is missing, or not bound in this namespace",
	};

	informer_start(&p->informer, p->owner->kube, &config, &events, p);
}

static struct counted_place *place_get(struct podcounts *c, const struct podcounts_of *of)
{
	MEM_AUTO char *key = mem_printf("pods in %s (%s)", of->namespace_, of->selector);
	struct counted_place *p;

	HASH_FIND_STR(c->places, key, p);
	if (p)
		return p;
	p = mem_zalloc(sizeof(*p));
	p->owner = c;
	p->key = mem_dup(key);
	loop_task_init(&p->settle, on_settle, p);
	loop_timer_init(&p->idle, loop_of(p), on_idle, p);
	HASH_ADD_KEYPTR(hh, c->places, p->key, strlen(p->key), p);
	place_start(p, of);
	return p;
}

/* ---- Asking ---- */

static void on_deadline(void *arg)
{
	struct podcounts_wait *w = arg;
	struct err err = { 0 };

	if (w->place->informer.trouble)
		err = *w->place->informer.trouble;
	else
		err_set(&err, ERR_TEMPORARY, "the list of pods did not come in time");
	wait_finish(w, &err);
}

struct podcounts_wait *podcounts_ask(struct podcounts *c, const struct podcounts_of *of, int64_t deadline_ms,
	podcounts_fn fn, void *arg)
{
	struct podcounts_wait *w = mem_zalloc(sizeof(*w));
	struct counted_place *p = place_get(c, of);
	int64_t left_ms = deadline_ms - loop_now_ms(kube_loop(c->kube));

	w->place = p;
	w->nodes = of->nodes;
	w->fn = fn;
	w->arg = arg;
	loop_timer_init(&w->deadline, kube_loop(c->kube), on_deadline, w);
	DL_APPEND(p->waits, w);
	loop_timer_cancel(&p->idle);
	if (standing_of(p) == STANDING_WAIT)
		loop_timer_set(&w->deadline, left_ms > 0 ? left_ms : 0);
	else
		settle(p);
	return w;
}

void podcounts_cancel(struct podcounts_wait *w)
{
	wait_free(w);
}

/* ---- Watching ---- */

struct podcounts_watch *podcounts_watch(struct podcounts *c, const struct podcounts_of *of, question_look_fn look,
	void *arg)
{
	struct podcounts_watch *w = mem_zalloc(sizeof(*w));

	w->place = place_get(c, of);
	w->nodes = of->nodes;
	w->told = count_of(w->place, of->nodes);
	w->look = look;
	w->arg = arg;
	DL_APPEND(w->place->watchers, w);
	loop_timer_cancel(&w->place->idle);
	return w;
}

void podcounts_unwatch(void *watch)
{
	struct podcounts_watch *w = watch;

	DL_DELETE(w->place->watchers, w);
	idle_if_unused(w->place);
	free(w);
}

struct watch_report podcounts_watch_report(const void *watch)
{
	const struct counted_place *p = ((const struct podcounts_watch *)watch)->place;
	const char *why = informer_trouble(&p->informer);

	if (why)
		return (struct watch_report){ .state = WATCH_FAILING, .why = why };
	return (struct watch_report){ .state = p->known ? WATCH_ON : WATCH_STARTING, .why = "" };
}

/* ---- In and out ---- */

size_t podcounts_watched(const struct podcounts *c)
{
	return HASH_COUNT(c->places);
}

struct podcounts *podcounts_new(struct kube *kube)
{
	struct podcounts *c = mem_zalloc(sizeof(*c));

	c->kube = kube;
	return c;
}

void podcounts_free(struct podcounts *c)
{
	struct counted_place *p, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->places, p, next)
		place_free(p);
	free(c);
}
