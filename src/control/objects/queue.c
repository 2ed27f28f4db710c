/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that wait to be reconciled, first come first served, each once. */
#include <utlist.h>

#include "control/objects/work.h"

void queue_mark(struct work *work)
{
	struct control *c = work->control;

	loop_timer_cancel(&work->reconcile.again);
	if (work->reconcile.dirty)
		return;
	work->reconcile.dirty = true;
	c->dirty_count++;
	DL_APPEND2(c->dirty, work, reconcile.dirty_prev, reconcile.dirty_next);
	loop_task_queue(c->cache->loop, &c->turn);
}

void queue_remove(struct work *work)
{
	struct control *c = work->control;

	if (!work->reconcile.dirty)
		return;
	work->reconcile.dirty = false;
	c->dirty_count--;
	DL_DELETE2(c->dirty, work, reconcile.dirty_prev, reconcile.dirty_next);
}
