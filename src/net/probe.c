/* SPDX-License-Identifier: Apache-2.0 */
#include "net/probe.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/dial.h"

/* A lost SYN is sent again after a second: long enough for one retry. */
#define ATTEMPT_MS 2000

struct probe {
	struct loop *loop;
	char *host;
	char *namespace_; /* owned; of the next attempt */
	char *trying_for; /* owned; of the last one, borrowed by hold */
	uint16_t port;
	probe_fn fn;
	void *arg;
	struct dial *dial; /* NULL between two attempts */
	struct descriptors_hold hold;
	struct loop_timer again;
	int64_t began_ms; /* start of the last attempt; loop clock */
	unsigned attempts;
	unsigned failures; /* in a row */
	struct err *lost;  /* owned; error of the last attempt, NULL if it succeeded */
};

static void on_dialled(void *arg, int fd, const struct err *err)
{
	struct probe *r = arg;

	r->dial = NULL;
	if (fd >= 0)
		close(fd);
	descriptors_give(&r->hold, 0);
	if (r->hold.refused)
		err = NULL;
	r->failures = err ? r->failures + 1 : 0;
	err_keep(&r->lost, err);
	r->fn(r->arg);
}

static void on_again(void *arg)
{
	struct probe *r = arg;

	free(r->trying_for);
	r->hold.namespace_ = r->trying_for = mem_dup(r->namespace_);
	r->began_ms = loop_now_ms(r->loop);
	r->attempts++;
	r->dial = dial_start(r->loop, r->host, r->port, ATTEMPT_MS, &r->hold, on_dialled, r);
}

void probe_want(struct probe *r)
{
	int64_t due_ms;

	if (r->dial || loop_timer_pending(&r->again))
		return;
	/*
	 * Counted from the start of the last attempt: after a slow failure no further wait is
	 * needed.
	 */
	due_ms = r->failures ? r->began_ms + loop_backoff_ms(r->failures - 1, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS) -
			loop_now_ms(r->loop)
			     : 0;
	loop_timer_set(&r->again, due_ms > 0 ? due_ms : 0);
}

void probe_doubt(struct probe *r)
{
	if (!r->failures)
		probe_want(r);
}

const struct err *probe_lost(const struct probe *r)
{
	return r ? r->lost : NULL;
}

bool probe_is_trying(const struct probe *r)
{
	return r->dial;
}

unsigned probe_attempts(const struct probe *r)
{
	return r->attempts;
}

struct probe *probe_new(struct loop *loop, const char *host, uint16_t port, const char *namespace_, probe_fn fn,
	void *arg)
{
	struct probe *r = mem_zalloc(sizeof(*r));

	r->loop = loop;
	r->host = mem_dup(host);
	r->port = port;
	r->namespace_ = mem_dup(namespace_);
	r->fn = fn;
	r->arg = arg;
	loop_timer_init(&r->again, loop, on_again, r);
	return r;
}

void probe_count_for(struct probe *r, const char *namespace_)
{
	free(r->namespace_);
	r->namespace_ = mem_dup(namespace_);
}

void probe_free(struct probe *r)
{
	if (!r)
		return;
	dial_cancel(r->dial);
	loop_timer_done(&r->again);
	err_keep(&r->lost, NULL);
	free(r->namespace_);
	free(r->trying_for);
	free(r->host);
	free(r);
}
