/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write that reconcile has under way for an object: its answer leads to the next reconcile, its
 * failure to a back-off.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "control/objects/work.h"

/* Conflicts in a row that are not told: others write the object and its HPA, too. */
#define CONFLICTS_USUAL 3

struct write {
	struct work *work;
	write_answer_fn on_success;
	write_failure_fn on_failure;
	char doing[];
};

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct write *w = arg;
	struct work *work = w->work;
	struct reconcile_part *r = &work->reconcile;

	/* The callbacks may start the next write. */
	r->call = NULL;
	r->write = NULL;
	if (!err) {
		err_keep(&r->write_err, NULL);
		w->on_success(work, object);
		queue_mark(work);
	} else if (!w->on_failure || !w->on_failure(work, err)) {
		err_keep(&r->write_err, err);
		err_wrap(r->write_err, "%s", w->doing);
		r->retry_at_ms = loop_now_ms(work->control->cache->loop) +
			loop_backoff_ms(r->failures++, err->kind == ERR_CONFLICT ? 50 : 500, 30000);
		queue_mark(work); /* to report it in Ready; the back-off delays the next write */
	}
	free(w);
}

static bool is_known(void *arg, const struct objecttext *text)
{
	const struct write *w = arg;

	return store_has(w->work->control->cache->store, text);
}

void write_start(struct work *work, const struct kube_request *request, const char *doing, write_answer_fn on_success,
	write_failure_fn on_failure)
{
	size_t size = strlen(doing) + 1;
	struct write *w = mem_zalloc(sizeof(*w) + size);
	struct kube_request asked = *request;

	if (request->verb != KUBE_GET)
		asked.is_known = is_known;
	w->work = work;
	w->on_success = on_success;
	w->on_failure = on_failure;
	memcpy(w->doing, doing, size);
	work->reconcile.write = w;
	work->reconcile.call = kube_call(work->control->kube, &asked, on_written, w);
}

/* Until the back-off of a failed write is over nothing is tried. */
bool write_must_wait(struct work *work)
{
	struct reconcile_part *r = &work->reconcile;
	int64_t now_ms = loop_now_ms(work->control->cache->loop);

	if (!r->write_err || now_ms >= r->retry_at_ms)
		return false;
	loop_timer_set(&r->again, r->retry_at_ms - now_ms);
	return true;
}

bool write_is_news(const struct work *work)
{
	return work->reconcile.write_err->kind != ERR_CONFLICT || work->reconcile.failures > CONFLICTS_USUAL;
}

void write_forgive(struct work *work)
{
	err_keep(&work->reconcile.write_err, NULL);
	work->reconcile.failures = 0;
}

void write_stop(struct work *work)
{
	loop_timer_cancel(&work->reconcile.again);
	kube_cancel(work->reconcile.call);
	work->reconcile.call = NULL;
	mem_free_ptr(&work->reconcile.write);
}
