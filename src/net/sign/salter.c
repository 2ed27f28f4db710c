/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/salter.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

#define SLICE_US     2000 /* a turn of the loop */
#define SLICE_PIECES 400  /* limit per slice, even if the clock stands still */
#define PIECE        50   /* iterations, some tens of microseconds */
#define PAUSE_MS     2

struct salter {
	struct loop *loop;
	struct fairqueue waiting;
	struct loop_timer slice;
	int64_t next_ms; /* earliest next slice; loop clock */
};

/* loop_now_ms is too coarse for a slice. */
static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void want_slice(struct salter *s)
{
	if (!loop_timer_pending(&s->slice))
		loop_timer_set(&s->slice, s->next_ms - loop_now_ms(s->loop));
}

/* A callback may free and add waiting turns. */
static void on_slice(void *arg)
{
	struct salter *s = arg;
	struct salter_turn *t = (struct salter_turn *)fairqueue_turn(&s->waiting);
	int64_t until_us = now_us() + SLICE_US;

	for (int left = SLICE_PIECES; t && left > 0; left = now_us() < until_us ? left - 1 : 0) {
		if (scram_salt(t->scram, t->memory, PIECE)) {
			salter_leave(t);
			t->fn(t->arg);
		}
		t = (struct salter_turn *)fairqueue_turn(&s->waiting);
	}
	s->next_ms = loop_now_ms(s->loop) + PAUSE_MS;
	if (t)
		want_slice(s);
}

struct salter *salter_new(struct loop *loop)
{
	struct salter *s = mem_zalloc(sizeof(*s));

	s->loop = loop;
	loop_timer_init(&s->slice, loop, on_slice, s);
	return s;
}

void salter_free(struct salter *s)
{
	if (!s)
		return;
	fairqueue_clear(&s->waiting);
	loop_timer_done(&s->slice);
	free(s);
}

void salter_ask(struct salter *s, struct salter_turn *t, const char *namespace_)
{
	fairqueue_put(&s->waiting, &t->entry, namespace_);
	want_slice(s);
}

void salter_leave(struct salter_turn *t)
{
	fairqueue_leave(&t->entry);
}
