/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that wait to be reconciled, first come first served, each once. */
#include "control/objects/work.h"

void queue_mark(struct work *work)
{
	struct control *c = work->control;

	loop_timer_cancel(&work->reconcile.again);
	if (work->reconcile.dirty)
		return;
	work->reconcile.dirty = true;
	c->dirty_count++;
	work->reconcile.dirty_next = NULL;
	if (c->dirty_last)
		c->dirty_last->reconcile.dirty_next = work;
	else
		c->dirty = work;
	c->dirty_last = work;
	loop_task_queue(c->cache->loop, &c->turn);
}

void queue_remove(struct work *work)
{
	struct control *c = work->control;
	struct work **link = &c->dirty, *before = NULL;

	if (!work->reconcile.dirty)
		return;
	while (*link != work) {
		before = *link;
		link = &(*link)->reconcile.dirty_next;
	}
	*link = work->reconcile.dirty_next;
	if (c->dirty_last == work)
		c->dirty_last = before;
	work->reconcile.dirty = false;
	c->dirty_count--;
}
