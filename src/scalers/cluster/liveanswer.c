/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/liveanswer.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/mem.h"

#define IDLE_MS  300000 /* an unused answer is kept for this long */
#define STALE_MS 30000  /* an answer is valid for this long while the watch fails */

struct liveanswer_wait {
	struct liveanswer_wait *prev, *next;
	struct liveanswer *of;
	bool due;
	liveanswer_fn fn;
	void *arg;
	struct loop_timer deadline;
};

struct liveanswer_watch {
	struct liveanswer_watch *prev, *next;
	struct liveanswer *of;
	question_look_fn look;
	void *arg;
	bool due;
};

/* ---- State ---- */

enum standing { STANDING_WAIT, STANDING_KNOWN, STANDING_FAILED };

static enum standing standing_of(const struct liveanswer *k)
{
	const struct err *trouble = k->informer->trouble;

	/* A refusal lasts until somebody changes the configuration. */
	if (trouble && trouble->kind != ERR_TEMPORARY && trouble->kind != ERR_GONE)
		return STANDING_FAILED;
	if (!k->known)
		return STANDING_WAIT;
	return k->troubled_ms && loop_now_ms(k->loop) - k->troubled_ms > STALE_MS ? STANDING_FAILED : STANDING_KNOWN;
}

/* The watch's error, or, while it is being retried, that the answer is late. */
static struct err failure_of(const struct liveanswer *k)
{
	struct err err = { 0 };

	if (k->informer->trouble)
		return *k->informer->trouble;
	err_set(&err, ERR_TEMPORARY, "%s", k->late);
	return err;
}

static void idle_if_unused(struct liveanswer *k)
{
	if (!k->waits && !k->watchers)
		loop_timer_set(&k->idle, IDLE_MS);
}

static void wait_free(struct liveanswer_wait *w)
{
	DL_DELETE(w->of->waits, w);
	loop_timer_done(&w->deadline);
	idle_if_unused(w->of);
	free(w);
}

/* Frees the wait before the callback, so that it is called once. */
static void wait_finish(struct liveanswer_wait *w, const struct err *err)
{
	double value = w->of->value;
	liveanswer_fn fn = w->fn;
	void *arg = w->arg;

	wait_free(w);
	fn(arg, err ? 0 : value, err);
}

/*
 * Callbacks may cancel other waits and add new ones, which belong to a later answer, so the search
 * restarts at the front each time.
 */
static void answer(struct liveanswer *k)
{
	enum standing standing = standing_of(k);
	struct err err = { 0 };
	struct liveanswer_wait *w;

	if (standing == STANDING_WAIT)
		return;
	if (standing == STANDING_FAILED)
		err = failure_of(k);
	else if (k->wrong)
		err = *k->wrong;
	DL_FOREACH (k->waits, w)
		w->due = true;
	do {
		DL_FOREACH (k->waits, w)
			if (w->due)
				break;
		if (w)
			wait_finish(w, err.kind != ERR_NONE ? &err : NULL);
	} while (w);
}

static void tell_watchers(struct liveanswer *k)
{
	struct liveanswer_watch *w;

	DL_FOREACH (k->watchers, w)
		w->due = k->tell;
	k->tell = false;
	/* look may end any watch, so the search restarts at the front each time. */
	do {
		DL_FOREACH (k->watchers, w)
			if (w->due)
				break;
		if (w) {
			w->due = false;
			w->look(w->arg);
		}
	} while (w);
}

static void on_settle(void *arg)
{
	struct liveanswer *k = arg;

	if (k->known)
		tell_watchers(k);
	answer(k);
}

static void settle(struct liveanswer *k)
{
	loop_task_queue(k->loop, &k->settle);
}

/* ---- Updates from the watch ---- */

static bool is_same(const struct liveanswer *k, double value, const struct err *wrong)
{
	if (!k->known || !k->wrong != !wrong)
		return false;
	return wrong ? strcmp(k->wrong->msg, wrong->msg) == 0 : k->value == value;
}

void liveanswer_set(struct liveanswer *k, double value, const struct err *wrong)
{
	k->tell = k->tell || !is_same(k, value, wrong);
	k->known = true;
	k->value = wrong ? 0 : value;
	err_keep(&k->wrong, wrong);
	if (!k->informer->trouble)
		k->troubled_ms = 0;
	settle(k);
}

void liveanswer_trouble(struct liveanswer *k, const struct err *err)
{
	if (!err)
		k->troubled_ms = 0;
	else if (!k->troubled_ms)
		k->troubled_ms = loop_now_ms(k->loop);
	k->tell = k->tell || !err;
	settle(k);
}

/* ---- Asking ---- */

static void on_deadline(void *arg)
{
	struct liveanswer_wait *w = arg;
	struct err err = failure_of(w->of);

	wait_finish(w, &err);
}

struct liveanswer_wait *liveanswer_ask(struct liveanswer *k, int64_t deadline_ms, liveanswer_fn fn, void *arg)
{
	struct liveanswer_wait *w = mem_zalloc(sizeof(*w));
	int64_t left_ms = deadline_ms - loop_now_ms(k->loop);

	w->of = k;
	w->fn = fn;
	w->arg = arg;
	loop_timer_init(&w->deadline, k->loop, on_deadline, w);
	DL_APPEND(k->waits, w);
	loop_timer_cancel(&k->idle);
	if (standing_of(k) == STANDING_WAIT)
		loop_timer_set(&w->deadline, left_ms > 0 ? left_ms : 0);
	else
		settle(k);
	return w;
}

void liveanswer_cancel(void *ask)
{
	wait_free(((struct scaler_ask *)ask)->call);
}

/* ---- Watching ---- */

struct liveanswer_watch *liveanswer_watch(struct liveanswer *k, question_look_fn look, void *arg)
{
	struct liveanswer_watch *w = mem_zalloc(sizeof(*w));

	w->of = k;
	w->look = look;
	w->arg = arg;
	DL_APPEND(k->watchers, w);
	loop_timer_cancel(&k->idle);
	return w;
}

void liveanswer_unwatch(void *watch)
{
	struct liveanswer_watch *w = watch;

	DL_DELETE(w->of->watchers, w);
	idle_if_unused(w->of);
	free(w);
}

struct watch_report liveanswer_watch_report(const void *watch)
{
	const struct liveanswer *k = ((const struct liveanswer_watch *)watch)->of;
	const char *why = informer_trouble(k->informer);

	if (why)
		return (struct watch_report){ .state = WATCH_FAILING, .why = why };
	return (struct watch_report){ .state = k->known ? WATCH_ON : WATCH_STARTING, .why = "" };
}

/* ---- Creation ---- */

static void on_idle(void *arg)
{
	struct liveanswer *k = arg;

	k->on_idle(k->arg);
}

bool liveanswer_is_used(const struct liveanswer *k)
{
	return k->waits || k->watchers || loop_timer_pending(&k->idle);
}

void liveanswer_init(struct liveanswer *k, struct loop *loop, const struct informer *informer, const char *late,
	loop_fn idle_fn, void *arg)
{
	*k = (struct liveanswer){
		.loop = loop,
		.informer = informer,
		.late = late,
		.on_idle = idle_fn,
		.arg = arg,
	};
	loop_task_init(&k->settle, on_settle, k);
	loop_timer_init(&k->idle, loop, on_idle, k);
	idle_if_unused(k);
}

void liveanswer_done(struct liveanswer *k)
{
	loop_task_cancel(k->loop, &k->settle);
	loop_timer_done(&k->idle);
	err_keep(&k->wrong, NULL);
}
