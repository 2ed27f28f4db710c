/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fairqueue.h"

#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"

/* The entries of one namespace that wait; freed with the last one. */
struct fairqueue_lane {
	struct fairqueue *queue;
	char *namespace_; /* owned; the key */
	size_t count;
	struct fairqueue_entry *waiting;    /* oldest first */
	struct fairqueue_lane *prev, *next; /* ordered by whose turn is next */
	UT_hash_handle hh;
};

static struct fairqueue_lane *lane_find(const struct fairqueue *q, const char *namespace_)
{
	struct fairqueue_lane *lane;

	HASH_FIND_STR(q->by_namespace, namespace_, lane);
	return lane;
}

static struct fairqueue_lane *lane_new(struct fairqueue *q, const char *namespace_)
{
	struct fairqueue_lane *lane = mem_zalloc(sizeof(*lane));

	lane->queue = q;
	lane->namespace_ = mem_dup(namespace_);
	HASH_ADD_KEYPTR(hh, q->by_namespace, lane->namespace_, strlen(lane->namespace_), lane);
	DL_APPEND(q->lanes, lane);
	return lane;
}

void fairqueue_put(struct fairqueue *q, struct fairqueue_entry *e, const char *namespace_)
{
	struct fairqueue_lane *lane = lane_find(q, namespace_);

	if (e->lane && lane && lane->count >= e->lane->count)
		return;
	fairqueue_leave(e);
	if (!lane)
		lane = lane_new(q, namespace_);
	DL_APPEND(lane->waiting, e);
	lane->count++;
	e->lane = lane;
}

void fairqueue_leave(struct fairqueue_entry *e)
{
	struct fairqueue_lane *lane = e->lane;

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

void fairqueue_clear(struct fairqueue *q)
{
	while (q->lanes)
		fairqueue_leave(q->lanes->waiting);
}

static void go_last(struct fairqueue *q, struct fairqueue_lane *lane)
{
	DL_DELETE(q->lanes, lane);
	DL_APPEND(q->lanes, lane);
}

struct fairqueue_entry *fairqueue_take(struct fairqueue *q)
{
	struct fairqueue_lane *lane;
	struct fairqueue_entry *e;

	DL_FOREACH (q->lanes, lane) {
		e = lane->waiting;
		if (q->shares.total && !shares_take(&q->shares, &e->share, lane->namespace_, 1))
			continue;
		go_last(q, lane);
		fairqueue_leave(e);
		return e;
	}
	return NULL;
}

struct fairqueue_entry *fairqueue_turn(struct fairqueue *q)
{
	struct fairqueue_lane *lane = q->lanes;

	if (!lane)
		return NULL;
	go_last(q, lane);
	return lane->waiting;
}

void fairqueue_end(struct fairqueue_entry *e)
{
	shares_give(&e->share, e->share.has);
}
