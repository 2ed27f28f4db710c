/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write that reconcile has under way for an object: its answer leads to the next reconcile, its
 * failure to a back-off.
 */
#include "control/objects/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "control/objects/queue.h"
#include "control/objects/work.h"

/* Conflicts in a row that are not reported: others write the object and its HPA, too. */
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
	struct write_part *r = &work->write;

	/* The callbacks may start the next write. */
	r->call = NULL;
	r->context = NULL;
	if (!err) {
		err_keep(&r->err, NULL);
		w->on_success(work, object);
		queue_mark(work);
	} else if (!w->on_failure || !w->on_failure(work, err)) {
		err_keep(&r->err, err);
		err_wrap(r->err, "%s", w->doing);
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

static void on_again(void *arg)
{
	queue_mark(arg);
}

void write_init(struct work *work)
{
	loop_timer_init(&work->write.again, work->control->cache->loop, on_again, work);
}

void write_done(struct work *work)
{
	loop_timer_done(&work->write.again);
	err_keep(&work->write.err, NULL);
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
	work->write.context = w;
	work->write.call = kube_call(work->control->kube, &asked, on_written, w);
}

/* Nothing is tried until the back-off of a failed write is over. */
bool write_must_wait(struct work *work)
{
	struct write_part *r = &work->write;
	int64_t now_ms = loop_now_ms(work->control->cache->loop);

	if (!r->err || now_ms >= r->retry_at_ms)
		return false;
	loop_timer_set(&r->again, r->retry_at_ms - now_ms);
	return true;
}

bool write_is_news(const struct work *work)
{
	return work->write.err->kind != ERR_CONFLICT || work->write.failures > CONFLICTS_USUAL;
}

void write_keep_error(struct work *work, const struct err *err)
{
	struct write_part *r = &work->write;

	err_keep(&r->err, err);
	if (err)
		r->retry_at_ms = loop_now_ms(work->control->cache->loop) + loop_backoff_ms(r->failures++, 1000, 30000);
}

bool write_try_at_once(struct work *work, unsigned most)
{
	return work->write.failures < most && ++work->write.failures;
}

void write_again(struct work *work, int64_t delay_ms)
{
	loop_timer_set(&work->write.again, delay_ms);
}

void write_forgive(struct work *work)
{
	err_keep(&work->write.err, NULL);
	work->write.failures = 0;
}

void write_stop(struct work *work)
{
	loop_timer_cancel(&work->write.again);
	kube_cancel(work->write.call);
	work->write.call = NULL;
	mem_free_ptr(&work->write.context);
}
