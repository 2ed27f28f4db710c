/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that wait to be reconciled, each once. Namespaces take turns, because one with
 * hundreds of large objects would keep the others waiting for seconds; within a namespace it is
 * first come, first served.
 */
#include "control/objects/queue.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "control/objects/work.h"

static struct work *work_of(struct fairqueue_entry *e)
{
	return e ? (struct work *)((char *)e - offsetof(struct work, dirty)) : NULL;
}

void queue_mark(struct work *work)
{
	struct control *c = work->control;
	MEM_AUTO char *namespace_ = NULL;

	loop_timer_cancel(&work->write.again);
	if (work->dirty.lane)
		return;
	namespace_ = work_namespace(work);
	c->dirty_count++;
	fairqueue_put(&c->dirty, &work->dirty, namespace_);
	loop_task_queue(c->cache->loop, &c->turn);
}

void queue_remove(struct work *work)
{
	if (!work->dirty.lane)
		return;
	work->control->dirty_count--;
	fairqueue_leave(&work->dirty);
}

struct work *queue_take(struct control *c)
{
	struct work *work = work_of(fairqueue_take(&c->dirty));

	c->dirty_count -= work != NULL;
	return work;
}
