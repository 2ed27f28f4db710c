/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/turns.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

struct turns {
	struct loop *loop;
	struct fairqueue waiting;
	uint64_t loop_turn; /* in which this many have begun: */
	unsigned begun;
	struct loop_timer next_turn;
};

static bool may_begin(struct turns *t)
{
	uint64_t now = loop_turns(t->loop);

	if (t->loop_turn != now)
		t->begun = 0;
	t->loop_turn = now;
	return t->begun < TURNS_BEGIN_MAX;
}

static void on_next_turn(void *arg)
{
	struct turns *t = arg;
	struct fairqueue_entry *first;
	struct turns_wait *w;

	while (may_begin(t) && (first = fairqueue_take(&t->waiting)) != NULL) {
		t->begun++;
		w = (struct turns_wait *)((char *)first - offsetof(struct turns_wait, entry));
		w->fn(w->arg);
	}
	if (t->waiting.lanes)
		loop_timer_set(&t->next_turn, 0);
}

bool turns_begin(struct turns *t, struct turns_wait *w, const char *namespace_)
{
	if (!t->waiting.lanes && may_begin(t)) {
		t->begun++;
		return true;
	}
	fairqueue_put(&t->waiting, &w->entry, namespace_);
	if (!loop_timer_pending(&t->next_turn))
		loop_timer_set(&t->next_turn, 0);
	return false;
}

void turns_give_up(struct turns_wait *w)
{
	fairqueue_leave(&w->entry);
}

struct turns *turns_new(struct loop *loop)
{
	struct turns *t = mem_zalloc(sizeof(*t));

	t->loop = loop;
	loop_timer_init(&t->next_turn, loop, on_next_turn, t);
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	fairqueue_clear(&t->waiting);
	loop_timer_done(&t->next_turn);
	free(t);
}
