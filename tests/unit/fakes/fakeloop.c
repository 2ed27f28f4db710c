/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <utlist.h>

#include "fakeloop.h"

#include "base/mem.h"
#include "base/timestamp.h"
#include "net/network.h"

#define START_MS        1000000
#define START_WALL_MS   1767225600000 /* 2026-01-01 */
#define TASK_ROUNDS_MAX 8             /* as in net/loop.c */
#define TURNS_MAX       1000000

/*
 * What a timer keeps in `place`: there from the first time it is set until it is done, so that one
 * that is not done is a leak here, though only one that is pending harms the real loop.
 */
struct pending {
	struct pending *prev, *next;
	struct loop_timer *timer;
	bool set;
	uint64_t order;
};

struct loop {
	int64_t now_ms;
	uint64_t order;
	unsigned turns;
	struct pending *timers;
	struct loop_task *first, *last;
	struct network network;
};

static struct loop fake;

int64_t __wrap_timestamp_now_ms(void);
int64_t __wrap_timestamp_now_ms(void)
{
	return fakeloop_wall_ms();
}

struct loop *fakeloop_start(void)
{
	fake = (struct loop){ .now_ms = START_MS };
	return &fake;
}

void fakeloop_end(void)
{
	fakeloop_advance(0);
	assert_null(fake.timers);
	assert_null(fake.first);
}

int64_t fakeloop_wall_ms(void)
{
	return START_WALL_MS + fake.now_ms - START_MS;
}

unsigned fakeloop_turns(void)
{
	return fake.turns;
}

uint64_t loop_turns(const struct loop *loop)
{
	return loop->turns;
}

int64_t loop_now_ms(const struct loop *loop)
{
	return loop->now_ms;
}

void loop_enter(struct loop *loop)
{
	(void)loop;
}

struct network *network_of(struct loop *loop)
{
	return &loop->network;
}

int64_t loop_backoff_ms(unsigned failures, int64_t first_ms, int64_t max_ms)
{
	int64_t ms = first_ms;

	while (failures-- > 0 && ms < max_ms)
		ms *= 2;
	return ms < max_ms ? ms : max_ms;
}

/* ---- Timers ---- */

static struct pending *pending_of(const struct loop_timer *t)
{
	return (struct pending *)(uintptr_t)t->place;
}

void loop_timer_init(struct loop_timer *t, struct loop *loop, loop_fn fn, void *arg)
{
	*t = (struct loop_timer){ .loop = loop, .fn = fn, .arg = arg };
}

void loop_timer_set(struct loop_timer *t, int64_t delay_ms)
{
	struct pending *p = pending_of(t);

	if (!p) {
		p = mem_zalloc(sizeof(*p));
		p->timer = t;
		t->place = (size_t)(uintptr_t)p;
		DL_APPEND(fake.timers, p);
	}
	t->due_ms = fake.now_ms + (delay_ms > 0 ? delay_ms : 0);
	p->set = true;
	p->order = ++fake.order;
}

void loop_timer_cancel(struct loop_timer *t)
{
	if (t->place)
		pending_of(t)->set = false;
}

bool loop_timer_pending(const struct loop_timer *t)
{
	return t->place && pending_of(t)->set;
}

void loop_timer_done(struct loop_timer *t)
{
	struct pending *p = pending_of(t);

	if (!p)
		return;
	DL_DELETE(fake.timers, p);
	free(p);
	t->place = 0;
}

/* The next to fire of those that were set before `order`; NULL when none is due until then. */
static struct pending *next_due(int64_t until_ms, uint64_t order)
{
	struct pending *p, *found = NULL;

	DL_FOREACH (fake.timers, p) {
		if (!p->set || p->order > order || p->timer->due_ms > until_ms)
			continue;
		if (!found || p->timer->due_ms < found->timer->due_ms ||
			(p->timer->due_ms == found->timer->due_ms && p->order < found->order))
			found = p;
	}
	return found;
}

/* ---- Work put off ---- */

void loop_task_init(struct loop_task *t, loop_fn fn, void *arg)
{
	*t = (struct loop_task){ .fn = fn, .arg = arg };
}

void loop_task_queue(struct loop *loop, struct loop_task *t)
{
	if (t->queued)
		return;
	t->queued = true;
	t->next = NULL;
	t->prev = loop->last;
	if (loop->last)
		loop->last->next = t;
	else
		loop->first = t;
	loop->last = t;
}

void loop_task_cancel(struct loop *loop, struct loop_task *t)
{
	if (!t->queued)
		return;
	if (t->prev)
		t->prev->next = t->next;
	else
		loop->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
	else
		loop->last = t->prev;
	t->prev = t->next = NULL;
	t->queued = false;
}

static void run_tasks(void)
{
	for (unsigned round = 0; fake.first && round < TASK_ROUNDS_MAX; round++) {
		struct loop_task end = { .queued = false };

		loop_task_queue(&fake, &end);
		while (fake.first != &end) {
			struct loop_task *t = fake.first;

			loop_task_cancel(&fake, t);
			t->fn(t->arg);
		}
		loop_task_cancel(&fake, &end);
	}
}

struct doomed {
	struct loop_task task;
	void *ptr;
	void (*free_fn)(void *);
};

static void on_doomed(void *arg)
{
	struct doomed *d = arg;

	d->free_fn(d->ptr);
	free(d);
}

void loop_free_later(struct loop *loop, void *ptr, void (*free_fn)(void *))
{
	struct doomed *d = mem_zalloc(sizeof(*d));

	d->ptr = ptr;
	d->free_fn = free_fn;
	loop_task_init(&d->task, on_doomed, d);
	loop_task_queue(loop, &d->task);
}

/* ---- Turns ---- */

static void turn(void)
{
	uint64_t set_before = fake.order;
	struct pending *p;

	fake.turns++;
	while ((p = next_due(fake.now_ms, set_before)) != NULL) {
		p->set = false;
		p->timer->fn(p->timer->arg);
	}
	run_tasks();
}

void fakeloop_advance(int64_t ms)
{
	int64_t until_ms = fake.now_ms + ms;
	unsigned turns_before = fake.turns;
	struct pending *p = NULL;

	while (fake.first || (p = next_due(until_ms, fake.order)) != NULL) {
		if (fake.turns - turns_before > TURNS_MAX)
			fail_msg("the loop turns for ever");
		if (!fake.first && p->timer->due_ms > fake.now_ms)
			fake.now_ms = p->timer->due_ms;
		turn();
	}
	fake.now_ms = until_ms;
}
