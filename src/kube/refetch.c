/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/refetch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/denial.h"

#define RETRY_FIRST_MS 200
#define RETRY_MAX_MS   30000

struct refetch {
	struct kube *kube;
	char *path;
	refetch_fn fn;
	void *arg;
	int64_t period_ms;
	unsigned failures, before; /* consecutive; and before the last answer */
	struct denial denial;
	bool again; /* requested while one was under way */
	struct kube_call *call;
	struct loop_timer timer;
};

static void on_answer(void *arg, const json_t *object, const struct err *err);

static void start(void *arg)
{
	struct refetch *r = arg;
	struct kube_request request = { .verb = KUBE_GET, .path = r->path, .priority = KUBE_NORMAL };

	loop_timer_cancel(&r->timer);
	r->again = false;
	r->call = kube_call(r->kube, &request, on_answer, r);
}

static void arm(struct refetch *r, bool failed)
{
	if (failed)
		loop_timer_set(&r->timer, loop_backoff_ms(r->failures - 1, RETRY_FIRST_MS, RETRY_MAX_MS));
	else if (r->again)
		start(r);
	else if (r->period_ms > 0)
		loop_timer_set(&r->timer,
			loop_backoff_ms(0, r->period_ms, r->period_ms)); /* with jitter, to spread many */
}

/* The callback may free it, so it is called last. */
static void on_answer(void *arg, const json_t *object, const struct err *err)
{
	struct refetch *r = arg;
	struct err empty = { 0 };
	bool failed;

	r->call = NULL;
	if (!err && !object) {
		err_set(&empty, ERR_TEMPORARY, "the answer is empty");
		err = &empty;
	}
	failed = err && err->kind != ERR_MISSING;
	r->before = r->failures;
	r->failures = failed ? r->failures + 1 : 0;
	arm(r, failed);
	if (denial_may_pass(&r->denial, err, loop_now_ms(kube_loop(r->kube))))
		return;
	r->fn(r->arg, object, err, r->failures);
}

void refetch_refuse(struct refetch *r)
{
	r->failures = r->before + 1;
	if (!r->call)
		arm(r, true);
}

void refetch_now(struct refetch *r)
{
	if (r->call)
		r->again = true;
	else
		start(r);
}

void refetch_every(struct refetch *r, int64_t period_ms)
{
	r->period_ms = period_ms;
	if (period_ms > 0 && !r->call)
		start(r);
}

bool refetch_under_way(const struct refetch *r)
{
	return r->call != NULL;
}

struct refetch *refetch_new(struct kube *kube, const char *path, refetch_fn fn, void *arg)
{
	struct refetch *r = mem_zalloc(sizeof(*r));

	r->kube = kube;
	r->path = mem_dup(path);
	r->fn = fn;
	r->arg = arg;
	loop_timer_init(&r->timer, kube_loop(kube), start, r);
	return r;
}

void refetch_free(struct refetch *r)
{
	if (!r)
		return;
	kube_cancel(r->call);
	loop_timer_done(&r->timer);
	free(r->path);
	free(r);
}
