/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one write that reconcile has under way for an object: its answer leads to the next look, its
 * failure to a back-off.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "control/objects/object.h"

/*
 * Conflicts in a row that are no news: others write the object and its HPA, too, between our
 * reading and our writing.
 */
#define CONFLICTS_USUAL 3

struct write {
	struct object *object;
	write_answer_fn on_success;
	write_failure_fn on_failure;
	char doing[];
};

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct write *w = arg;
	struct object *o = w->object;
	struct reconcile_part *r = &o->reconcile;

	/* The callbacks may start the next write. */
	r->call = NULL;
	r->write = NULL;
	if (!err) {
		err_keep(&r->write_err, NULL);
		if (w->on_success)
			w->on_success(o, object);
		queue_mark(o);
	} else if (!w->on_failure || !w->on_failure(o, err)) {
		err_keep(&r->write_err, err);
		err_wrap(r->write_err, "%s", w->doing);
		r->retry_at_ms = loop_now_ms(o->control->cache->loop) +
			loop_backoff_ms(r->failures++, err->kind == ERR_CONFLICT ? 50 : 500, 30000);
		queue_mark(o); /* says it in Ready; the back-off holds the next try */
	}
	free(w);
}

void write_start(struct object *o, const struct kube_request *request, const char *doing, write_answer_fn on_success,
	write_failure_fn on_failure)
{
	size_t size = strlen(doing) + 1;
	struct write *w = mem_zalloc(sizeof(*w) + size);

	w->object = o;
	w->on_success = on_success;
	w->on_failure = on_failure;
	memcpy(w->doing, doing, size);
	o->reconcile.write = w;
	o->reconcile.call = kube_call(o->control->kube, request, on_written, w);
}

/*
 * After a failed write nothing is tried until the back-off is over; a conflict passes as soon as
 * the newer version is seen.
 */
bool write_must_wait(struct object *o)
{
	struct reconcile_part *r = &o->reconcile;
	int64_t now_ms = loop_now_ms(o->control->cache->loop);

	if (!r->write_err || now_ms >= r->retry_at_ms)
		return false;
	loop_timer_set(&r->again, r->retry_at_ms - now_ms);
	return true;
}

bool write_is_news(const struct object *o)
{
	return o->reconcile.write_err->kind != ERR_CONFLICT || o->reconcile.failures > CONFLICTS_USUAL;
}

void write_forgive(struct object *o)
{
	err_keep(&o->reconcile.write_err, NULL);
	o->reconcile.failures = 0;
}

void write_stop(struct object *o)
{
	loop_timer_cancel(&o->reconcile.again);
	kube_cancel(o->reconcile.call);
	o->reconcile.call = NULL;
	free(o->reconcile.write);
	o->reconcile.write = NULL;
}
