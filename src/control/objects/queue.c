/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that wait to be reconciled, first come first served, each once. */
#include "control/objects/object.h"

void queue_mark(struct object *o)
{
	struct control *c = o->control;

	loop_timer_cancel(&o->reconcile.again);
	if (o->reconcile.dirty)
		return;
	o->reconcile.dirty = true;
	c->dirty_count++;
	o->reconcile.dirty_next = NULL;
	if (c->dirty_last)
		c->dirty_last->reconcile.dirty_next = o;
	else
		c->dirty = o;
	c->dirty_last = o;
	loop_task_queue(c->cache->loop, &c->turn);
}

void queue_remove(struct object *o)
{
	struct control *c = o->control;
	struct object **link = &c->dirty, *before = NULL;

	if (!o->reconcile.dirty)
		return;
	while (*link != o) {
		before = *link;
		link = &(*link)->reconcile.dirty_next;
	}
	*link = o->reconcile.dirty_next;
	if (c->dirty_last == o)
		c->dirty_last = before;
	o->reconcile.dirty = false;
	c->dirty_count--;
}
