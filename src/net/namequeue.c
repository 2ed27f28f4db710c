/* SPDX-License-Identifier: Apache-2.0 */
#include "net/namequeue.h"

#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"

/* What waits of one namespace; gone with the last. */
struct namequeue_lane {
	struct namequeue *queue;
	char *namespace_; /* owned; the key */
	size_t count;
	struct namequeue_entry *waiting;    /* oldest first */
	struct namequeue_lane *prev, *next; /* whose turn it was last is last */
	UT_hash_handle hh;
};

static struct namequeue_lane *lane_find(const struct namequeue *q, const char *namespace_)
{
	struct namequeue_lane *lane;

	HASH_FIND_STR(q->by_namespace, namespace_, lane);
	return lane;
}

static struct namequeue_lane *lane_new(struct namequeue *q, const char *namespace_)
{
	struct namequeue_lane *lane = mem_zalloc(sizeof(*lane));

	lane->queue = q;
	lane->namespace_ = mem_dup(namespace_);
	HASH_ADD_KEYPTR(hh, q->by_namespace, lane->namespace_, strlen(lane->namespace_), lane);
	DL_APPEND(q->lanes, lane);
	return lane;
}

void namequeue_put(struct namequeue *q, struct namequeue_entry *e, const char *namespace_)
{
	struct namequeue_lane *lane = lane_find(q, namespace_);

	if (e->lane && lane && lane->count >= e->lane->count)
		return;
	namequeue_leave(e);
	if (!lane)
		lane = lane_new(q, namespace_);
	DL_APPEND(lane->waiting, e);
	lane->count++;
	e->lane = lane;
}

void namequeue_leave(struct namequeue_entry *e)
{
	struct namequeue_lane *lane = e->lane;

	if (!lane)
		return;
	e->lane = NULL;
	DL_DELETE(lane->waiting, e);
	if (--lane->count > 0)
		return;
	DL_DELETE(lane->queue->lanes, lane);
	HASH_DEL(lane->queue->by_namespace, lane);
	mem_free_ptr(&lane->namespace_);
	mem_free_ptr(&lane);
}

struct namequeue_entry *namequeue_take(struct namequeue *q)
{
	struct namequeue_lane *lane;
	struct namequeue_entry *e;

	DL_FOREACH (q->lanes, lane) {
		e = lane->waiting;
		if (!shares_take(&q->shares, &e->share, lane->namespace_, 1))
			continue;
		DL_DELETE(q->lanes, lane);
		DL_APPEND(q->lanes, lane);
		namequeue_leave(e);
		return e;
	}
	return NULL;
}

void namequeue_answered(struct namequeue_entry *e)
{
	shares_give(&e->share, e->share.has);
}
